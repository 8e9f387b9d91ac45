package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/proptest/world"
)

// traces are the forms in which a secret might stand somewhere: its bytes, hexadecimal in both cases, and base64 in
// both alphabets, at each of the three places that it can have in what is encoded together with it.
func traces(secret string) [][]byte {
	upper := strings.ToUpper(hex.EncodeToString([]byte(secret)))
	all := [][]byte{[]byte(secret), []byte(strings.ToLower(upper)), []byte(upper)}
	for shift := range 3 {
		// The characters at the edges also depend on the neighbours.
		padded := append(make([]byte, shift), secret...)
		from, to := (shift*8+5)/6, len(padded)*8/6
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all = append(all, []byte(alphabet.EncodeToString(padded)[from:to]))
		}
	}
	return all
}

// search is a hunt for secrets.
type search struct {
	t      *testing.T
	traces [][]byte
	bytes  int
}

// in tells whether a secret stands in a text.
func (s *search) in(text []byte) bool {
	s.bytes += len(text)
	return slices.ContainsFunc(s.traces, func(trace []byte) bool { return bytes.Contains(text, trace) })
}

// database names the tables of a database that hold a secret in some column.
func (s *search) database(running *serving) (found []string) {
	s.t.Helper()
	root := world.Open(s.t, running.root)
	var names strings.Builder
	appendRows(s.t, &names, root, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'")
	tables := strings.Fields(strings.ReplaceAll(names.String(), "|", " "))
	if len(tables) < 20 {
		s.t.Fatalf("only %d tables are searched", len(tables))
	}
	for _, table := range tables {
		var rows strings.Builder
		appendRows(s.t, &rows, root, "SELECT * FROM `"+table+"`")
		if s.in([]byte(rows.String())) {
			found = append(found, table)
		}
	}
	return found
}

// folder names the files below a folder that hold a secret.
func (s *search) folder(dir string) (found []string) {
	s.t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		files++
		if s.in(text) {
			found = append(found, path)
		}
		return err
	})
	if err != nil || files < 10 {
		s.t.Fatalf("%d files of %s are searched: %v", files, dir, err)
	}
	return found
}

// G04: the whole life of credentials of two packs that are unlike each other, over real processes. No secret stands in a
// table, in a file of the store, its logs included, or in anything that a command says. The hunt finds what is planted.
func TestG04NoSecretStandsAnywhereAfterTheLifeOfCredentials(t *testing.T) {
	secrets := make([]string, 2)
	for i := range secrets {
		raw := make([]byte, 24)
		if _, err := rand.Read(raw); err != nil {
			t.Fatal(err)
		}
		secrets[i] = "marker-" + hex.EncodeToString(raw)
	}
	hunt := &search{t: t, traces: slices.Concat(traces(secrets[0]), traces(secrets[1]))}
	sh := newShell(t).withSecrets(secrets[0])
	running := sh.serve("--apply", "--store-dir", filepath.Join(sh.dir, "store"), "--log-level", "debug")
	daemon := *running.daemon
	daemon.environ = append(slices.Clone(daemon.environ), "CONNECTOR_LOG_LEVEL=debug", "CONNECTORCORE_SECRET_BROKEN="+secrets[1], "CONNECTORCORE_SECRET_OUT_1="+setOf(t, secrets[1], true))
	sealedFrom := filepath.Join(t.TempDir(), "member") // the one file that holds a secret; it is not searched
	write(t, sealedFrom, secrets[1])
	var said bytes.Buffer
	run := func(code int, args ...string) answer {
		t.Helper()
		a := daemon.run(args...)
		said.WriteString(a.out + a.err)
		if a.code != code {
			t.Fatalf("%v: exit code %d: %s%s", args, a.code, a.out, a.err)
		}
		return a
	}
	lifeOfCredentials(t, run, sealedFrom, &daemon)
	said.WriteString(running.said(t))
	if hunt.in(said.Bytes()) || said.Len() < 2000 {
		t.Errorf("a command says a secret: %s", said.String())
	}
	if found := hunt.database(running); found != nil {
		t.Errorf("tables hold a secret: %v", found)
	}
	if found := hunt.folder(sh.dir); found != nil {
		t.Errorf("files hold a secret: %v", found)
	}
	t.Logf("%d bytes were searched", hunt.bytes)

	// The hunt can fail: what is planted is found, in each form.
	root := world.Open(t, running.root)
	execute(t, root, "CREATE TABLE planted (id INT PRIMARY KEY, v VARBINARY(200))")
	for i, form := range []string{secrets[0], hex.EncodeToString([]byte(secrets[1])), base64.StdEncoding.EncodeToString([]byte("x" + secrets[0] + "y")), base64.URLEncoding.EncodeToString([]byte("xy" + secrets[1]))} {
		execute(t, root, fmt.Sprintf("REPLACE INTO planted VALUES (1, '%s')", form))
		if found := hunt.database(running); !slices.Equal(found, []string{"planted"}) {
			t.Errorf("form %d, planted in a table, is found in %v", i, found)
		}
		path := filepath.Join(sh.dir, "store", "planted.log")
		write(t, path, "a line\n"+form+"\n")
		if found := hunt.folder(sh.dir); !slices.Contains(found, path) || len(found) < 2 {
			t.Errorf("form %d, planted in a file and in a table, is found in %v", i, found)
		}
	}
}

// lifeOfCredentials installs, authorises and configures two packs, and moves their credentials through all that a
// command can do with them, with commands in between that fail.
func lifeOfCredentials(t *testing.T, run func(code int, args ...string) answer, sealedFrom string, sh *shell) {
	t.Helper()
	run(exitDone, found...)
	folders, err := filepath.Glob("../../packs/*")
	if err != nil || len(folders) < 2 {
		t.Fatalf("two packs are wanted: %v, %v", folders, err)
	}
	var packs []string
	for _, folder := range folders {
		path, err := filepath.Abs(folder)
		if err != nil {
			t.Fatal(err)
		}
		run(exitDone, "pack", "install", path)
		packs = append(packs, filepath.Base(folder))
	}
	run(exitDone, append([]string{"catalog", "authorise"}, packs...)...)
	template := run(exitDone, "tenant", "template").out
	lines := strings.Split(template, "\n")
	account := ""
	for i, line := range lines {
		if strings.Contains(line, "organization:") {
			lines[i] = "    organization: acme"
		}
	}
	file := filepath.Join(sh.dir, "tenant.yaml")
	write(t, file, strings.Join(lines, "\n"))
	run(exitFailed, "tenant", "publish", file)
	version := decode[sealed](t, run(exitDone, "credential", "seal", "--name", "all-1", "--member", "2026="+sealedFrom, "--outbound", "2026", "--output", "json").out).Version
	var last []string
	generation := ""
	for _, line := range lines {
		words := strings.Fields(strings.NewReplacer("{", " ", "}", " ", ",", " ").Replace(line))
		switch {
		case len(words) == 3 && words[1] == "id:":
			account = words[2]
		case len(words) == 7 && words[1] == "name:":
			backend, at := "file", version
			if words[2] != "outbound" {
				backend, at = "env", "SHOP_1"
			}
			last = []string{"--account", account, "--provider", words[4], "--identity", words[2], "--backend", backend, "--version"}
			run(exitFailed, append(slices.Concat([]string{"credential", "publish"}, last[:6], []string{"--backend", "env", "--version"}), "BROKEN")...)
			generation = strings.TrimSpace(run(exitDone, append(slices.Concat([]string{"credential", "publish"}, last), at)...).out)
		}
	}
	run(exitDone, "tenant", "publish", file)
	by := []string{"--principal", "alice", "--reason", "it leaked"}
	run(exitDone, slices.Concat([]string{"credential", "revoke", generation}, by)...)
	run(exitConflict, slices.Concat([]string{"credential", "revoke", generation}, by)...)
	run(exitDone, slices.Concat([]string{"credential", "reenable", generation}, by)...)
	run(exitNotFound, slices.Concat([]string{"credential", "revoke", facts.Mint[facts.CredentialGenerationID]().String()}, by)...)
	run(exitDone, slices.Concat([]string{"credential", "rotate"}, last[:6], []string{"--backend", "env", "--version", "OUT_1"})...)
	run(exitDone, "tenant", "publish", file)
	for _, form := range outputs {
		run(exitDone, "credential", "list", "--output", form)
		run(exitDone, "tenant", "show", "--output", form)
		run(exitDone, "catalog", "show", "--output", form)
		run(exitDone, "config", "view", "--output", form)
	}
	run(exitUsage, "credential", "seal", "--name", "all-1", "--member", "2026="+sealedFrom, "--outbound", "other")
	run(exitConflict, "credential", "seal", "--name", "all-1", "--member", "2026="+sealedFrom)
}
