package main

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectorcore/proptest/world"

	"github.com/go-sql-driver/mysql"
)

// serving is a running `connector store serve`.
type serving struct {
	served
	cmd    *exec.Cmd
	errs   string // the file of its standard error
	ended  chan struct{}
	daemon *shell // reaches it as the daemon
	root   *mysql.Config
}

// serve starts the store and waits until it says where it is.
func (s *shell) serve(args ...string) *serving {
	s.t.Helper()
	cmd := s.command(s.t.Context(), append([]string{"store", "serve", "--output", "jsonl"}, args...)...)
	errs, err := os.CreateTemp(s.t.TempDir(), "stderr")
	if err != nil {
		s.t.Fatal(err)
	}
	defer errs.Close() // the process has it too
	running := &serving{cmd: cmd, errs: errs.Name(), ended: make(chan struct{})}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n') // its end too is a line's end
	go func() { _ = cmd.Wait(); close(running.ended) }()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill() // does nothing to one that has ended
		<-running.ended
	})
	if err != nil {
		<-running.ended
		s.t.Fatalf("it does not serve: %s", running.said(s.t))
	}
	running.served = decode[served](s.t, line)
	running.daemon = s.with("CONNECTOR_STORE_DSN_FILE=" + running.DSNFile)
	if running.root, err = mysql.ParseDSN(readText(s.t, running.MigrationDSNFile)); err != nil {
		s.t.Fatal("no DSN in " + running.MigrationDSNFile)
	}
	s.checked(answer{out: line, err: running.said(s.t)})
	return running
}

// until polls for something that another process does.
func until(t *testing.T, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testWait); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come about")
		}
	}
}

// said is what it has said to a person so far.
func (s *serving) said(t *testing.T) string { return readText(t, s.errs) }

// end sends a signal and waits for the orderly end.
func (s *serving) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.ended:
	case <-time.After(testWait):
		t.Fatal("it does not end")
	}
	if code := s.cmd.ProcessState.ExitCode(); code != exitDone {
		t.Errorf("%v: exit code %d: %s", signal, code, s.said(t))
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// secretsIn are the passwords of a data directory.
func secretsIn(t *testing.T, dir string) []string {
	t.Helper()
	return []string{readText(t, filepath.Join(dir, "root.password")), readText(t, filepath.Join(dir, "daemon.password"))}
}

func TestTheEmbeddedStoreIsServedEndedAndServedAgainWithItsData(t *testing.T) {
	sh := newShell(t)
	dir := filepath.Join(sh.dir, "data", "connectorcore", "store")
	store := sh.serve("--apply")
	sh.secrets = secretsIn(t, dir)
	admin := world.Open(t, store.root)
	const deployed = "INSERT INTO account_serving_gate (account_id, deployment_id) VALUES (REPEAT('a', 16), REPEAT('d', 16))"
	execute(t, admin, deployed)
	got := decode[checked](t, store.daemon.done("store", "check", "--output", "json").out)
	if got.Kind != "embedded" || got.Login != "connector_daemon" || got.Address != store.Address {
		t.Errorf("got %+v", got)
	}
	sh.refused(exitConflict, []string{"store", "serve"}, dir+" is in use by process")
	sh.refused(exitConflict, apply, dir+" is in use by process", "in daemon.dsn or migration.dsn there")
	store.end(t, syscall.SIGTERM)
	for _, path := range []string{store.DSNFile, store.MigrationDSNFile} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s names a port that nobody serves: %v", path, err)
		}
	}

	store = sh.serve()
	var rows int
	if err := world.Open(t, store.root).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM account_serving_gate").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
	store.daemon.done(check...)
	store.end(t, syscall.SIGINT)
	secretsStayInTheirFiles(t, dir)
}

// The two ends that nobody types: a terminal that is closed, and a kill, after which the next start withdraws the DSNs.
func TestNoEndOfServeLeavesADSNForGood(t *testing.T) {
	sh := newShell(t)
	gone := func(store *serving) {
		t.Helper()
		for _, path := range []string{store.DSNFile, store.MigrationDSNFile} {
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("%s names a port that nobody serves: %v", path, err)
			}
		}
	}
	// Under nohup this test ignores the signal, and its children would; what is caught here is at its default in them.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	store := sh.serve("--apply")
	store.end(t, syscall.SIGHUP)
	gone(store)
	store = sh.serve()
	if err := store.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-store.ended
	readText(t, store.DSNFile) // or the rest would show nothing
	until(t, func() bool { return sh.run(check...).code != exitConflict })
	gone(store)
}

func TestAHangupThatIsIgnoredStaysIgnored(t *testing.T) {
	signal.Ignore(syscall.SIGHUP) // as nohup does
	t.Cleanup(func() { signal.Reset(syscall.SIGHUP) })
	if slices.Contains(endSignals(), os.Signal(syscall.SIGHUP)) {
		t.Error("a store that is served under nohup ends with its terminal")
	}
}

func TestAnInterruptedStartSaysSo(t *testing.T) {
	sh := newShell(t)
	dir := filepath.Join(sh.dir, "data", "connectorcore", "store")
	cmd := sh.command(t.Context(), "store", "serve", "--apply")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	until(t, func() bool { _, err := os.Stat(filepath.Join(dir, "tidb.toml")); return err == nil })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.HasPrefix(errs.String(), "connector: interrupted; run it again") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

// secretsStayInTheirFiles looks for the passwords in everything else that was written, the server's logs above all.
func secretsStayInTheirFiles(t *testing.T, dir string) {
	t.Helper()
	secrets, looked := secretsIn(t, dir), 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if filepath.Dir(path) == dir && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		if strings.HasSuffix(path, ".password") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, secret := range secrets {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("a password stands in %s", path)
			}
		}
		looked++
		return err
	})
	if err != nil || looked < 5 {
		t.Errorf("looked into %d files: %v", looked, err)
	}
}

func TestWithoutADSNTheCommandsRunTheEmbeddedStore(t *testing.T) {
	sh := newShell(t)
	dir := filepath.Join(sh.dir, "here")
	sh = sh.with("CONNECTOR_STORE_DIR=here") // from the working directory
	sh.refused(exitFailed, check, "schema_differs", dir, "there is no embedded store yet")
	sh.refused(exitFailed, verify, "there is no embedded store yet")
	sh.done(plan...)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Fatalf("looking has begun a store: %v", err)
	}
	sh.done(apply...)
	sh.secrets = secretsIn(t, dir)
	kept := readText(t, filepath.Join(dir, "daemon.password"))
	sh.done(apply...)
	if readText(t, filepath.Join(dir, "daemon.password")) != kept {
		t.Error("a second apply has changed the daemon's password")
	}
	sh.done(check...)
	sh.done(verify...)
	sh.refused(exitFailed, []string{"schema", "apply", "--login", "x"}, "--login is for a cluster")
}

// Without --apply a new store has no schema and no daemon's login; the migration login brings it forward.
func TestServeBeginsAnEmptyStoreThatCanBeAppliedTo(t *testing.T) {
	sh := newShell(t)
	if text := servedText(served{}); !strings.Contains(text, "store serve --apply") {
		t.Errorf("it does not say how the login is made: %s", text)
	}
	store := sh.serve()
	if store.DSNFile != "" {
		t.Errorf("%s is named before there is a daemon's login", store.DSNFile)
	}
	migration := sh.with("CONNECTOR_STORE_DSN_FILE=" + store.MigrationDSNFile)
	migration.secrets = []string{readText(t, filepath.Join(filepath.Dir(store.MigrationDSNFile), "root.password"))}
	migration.refused(exitFailed, verify, "schema_differs", "does not exist: run 'connector schema apply'")
	migration.done(apply...)
	migration.done(verify...)
	store.end(t, syscall.SIGTERM)
}

func TestAServedStoreThatIsGivenUpEndsTheCommandWithASentence(t *testing.T) {
	sh := newShell(t)
	store := sh.serve("--apply")
	// After a restart the supervisor reads the settings back, and refuses what was changed.
	execute(t, world.Open(t, store.root), "SET GLOBAL tidb_enable_1pc = ON", "SHUTDOWN")
	select {
	case <-store.ended:
	case <-time.After(testWait):
		t.Fatal("it serves on")
	}
	if code := store.cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(store.said(t), "connector: store: the embedded store has ended: ") {
		t.Errorf("exit code %d: %s", code, store.said(t))
	}
}

func TestServeRefusesADSN(t *testing.T) {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.DBName, config.User, config.Passwd = "tcp", deadAddress(t), "connector", "u", "serve-secret"
	newShell(t).dsn(config).refused(exitUsage, []string{"store", "serve"}, "store.dsn names a cluster")
}
