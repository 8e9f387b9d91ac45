package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectorcore/proptest/world"

	"github.com/go-sql-driver/mysql"
)

const sampleOf = "channel: orders\nheaders: [{name: x-shop-delivery, value: d-1}]\nbody: paid.json\n"

// shop writes a whole pack into a folder: the worked example of docs/packs.md, an outbound half, and one sample.
func (s *shell) shop(name string) (folder string) {
	s.t.Helper()
	folder = filepath.Join(s.dir, name)
	page := readText(s.t, "../../docs/packs.md")
	files := map[string]string{"samples/paid.request.yaml": sampleOf}
	for _, block := range regexp.MustCompile("(?s)```(\\S+)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		switch {
		case strings.HasSuffix(block[1], ".yaml"):
			files[block[1]] = block[2]
		case block[1] == "delivery":
			files["samples/paid.json"] = block[2]
		}
	}
	for _, file := range []string{"note.callout.yaml", "notes.callout.yaml", "note.push.yaml"} {
		files[file] = readText(s.t, "../../engine/pack/testdata/outbound/"+file) + "\n"
	}
	files["pack.yaml"] = strings.Replace(files["pack.yaml"], "[webhook]", "[webhook, callout, query]", 1)
	if err := os.MkdirAll(filepath.Join(folder, "samples"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	for file, text := range files {
		write(s.t, filepath.Join(folder, file), text)
	}
	return folder
}

// proven is a shop whose golden files say what its samples give, so that it can be installed.
func (s *shell) proven(name string) (folder string) {
	s.t.Helper()
	folder = s.shop(name)
	s.done("pack", "test", name, "--rewrite")
	return folder
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// edit replaces the one place of a file.
func edit(t *testing.T, path, old, now string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%s holds %d times %q", path, strings.Count(string(text), old), old)
	}
	write(t, path, strings.Replace(string(text), old, now, 1))
}

// storeless is a shell whose store cannot be reached: what succeeds in it has not asked for one.
func storeless(t *testing.T) *shell {
	dead := mysql.NewConfig()
	dead.Net, dead.Addr, dead.DBName, dead.User, dead.Passwd = "tcp", deadAddress(t), "connector", "daemon", "dead-secret"
	return newShell(t).dsn(dead)
}

// faulty runs a command that must end with exactly these lines of standard error, and with exitFailed.
func (s *shell) faulty(args []string, lines ...string) {
	s.t.Helper()
	a := s.run(args...)
	got := strings.Split(strings.TrimSuffix(a.err, "\n"), "\n")
	same := a.code == exitFailed && a.out == "" && len(got) == len(lines)
	for i, line := range lines {
		same = same && strings.HasPrefix(got[i], line)
	}
	if !same {
		s.t.Errorf("%v: exit code %d, printed %q, said\n%s\nwant\n%s", args, a.code, a.out, a.err, strings.Join(lines, "\n"))
	}
}

func TestAPackIsValidatedAndDigestedWithoutAStore(t *testing.T) {
	sh := storeless(t)
	sh.shop("shop")
	if got := decode[validated](t, sh.done("pack", "validate", "shop", "--output", "json").out); got != (validated{"shop", "Orders of a shop", 5}) {
		t.Errorf("got %+v", got)
	}
	first := decode[digested](t, sh.done("pack", "digest", "shop", "--output", "jsonl").out)
	if len(first.Definitions) != 5 || first.Generation != first.Digest || first.Definitions[0].Kind != "callout_profile" {
		t.Errorf("got %+v", first)
	}
	// The samples, how a value is quoted, and where the folder is are no part of what a pack is.
	sh.shop("elsewhere")
	write(t, filepath.Join(sh.dir, "elsewhere/samples/paid.json"), "{}")
	edit(t, filepath.Join(sh.dir, "elsewhere/orders.route.yaml"), "version: 1\nchannel", "version: \"1\"\n\nchannel")
	if second := decode[digested](t, sh.done("pack", "digest", "elsewhere", "--output", "json").out); !slices.Equal(second.Definitions, first.Definitions) || second.Digest != first.Digest {
		t.Errorf("the same pack in another folder is %+v", second)
	}
	if lines := strings.Count(sh.done("pack", "digest", "shop").out, "\n"); lines != 7 {
		t.Errorf("%d lines of text", lines)
	}
}

func TestEveryFaultOfAPackIsALineThatLeadsToItsPlace(t *testing.T) {
	sh := storeless(t)
	folder := sh.shop("shop")
	edit(t, filepath.Join(folder, "pack.yaml"), "title:", "titel:")
	edit(t, filepath.Join(folder, "orders.route.yaml"), "  tie_breaker: opaque(event.key)\n", "")
	edit(t, filepath.Join(folder, "note.push.yaml"), "callout: note\n", "callout: \"no\\e[31mte\"\n")
	want := []string{
		"shop/note.push.yaml:5: callout: ",
		"shop/orders.route.yaml:6: ordering.tie_breaker: the key is missing; an order-dependent route has a partition, a position and a tie-breaker",
		`shop/pack.yaml:3: titel: the key is not known here; did you mean "title"?`,
	}
	for _, command := range []string{"validate", "test", "digest"} {
		sh.faulty([]string{"pack", command, "shop"}, want...)
	}
	sh.shop("sound")
	sh.faulty([]string{"pack", "diff", "sound", "shop"}, want...)
	if a := sh.run("pack", "validate", "shop"); strings.Contains(a.err, "\x1b") {
		t.Errorf("a pack commands the terminal: %q", a.err)
	}
}

func TestGoldenFilesAreComparedAndWrittenAgainOnlyWhenAsked(t *testing.T) {
	sh := storeless(t)
	folder := sh.shop("shop")
	golden := filepath.Join(folder, "samples/paid.golden.yaml")
	sh.faulty([]string{"pack", "test", "shop"}, "shop/samples/paid.golden.yaml: there is no golden file")
	if _, err := os.Stat(golden); !os.IsNotExist(err) {
		t.Errorf("a test without --rewrite wrote: %v", err)
	}
	first := decode[tested](t, sh.done("pack", "test", "shop", "--rewrite", "--output", "json").out)
	if first.Samples != 1 || first.Inputs != 1 || !slices.Equal(first.Rewritten, []string{"shop/samples/paid.golden.yaml"}) {
		t.Errorf("got %+v", first)
	}
	if got := sh.done("pack", "test", "shop").out; got != "1 samples gave 1 components and 1 inputs, as their golden files say\n" {
		t.Errorf("got %q", got)
	}
	if again := decode[tested](t, sh.done("pack", "test", "shop", "--rewrite", "--output", "json").out); len(again.Rewritten) != 0 {
		t.Errorf("what was equal was written: %v", again.Rewritten)
	}
	edit(t, golden, "kind: order.paid", "kind: order.lost")
	sh.faulty([]string{"pack", "test", "shop"}, `shop/samples/paid.golden.yaml:4: it is "kind: order.paid" and was "kind: order.lost"`)
	a := sh.run("pack", "test", "shop", "--output", "json")
	if got := decode[tested](t, a.out); a.code != exitFailed || len(got.Differences) != 1 {
		t.Errorf("exit code %d, %+v", a.code, got)
	}
	// A sample that cannot be read is a fault like any other.
	edit(t, filepath.Join(folder, "samples/paid.request.yaml"), "body: paid.json", "body: gone.json")
	sh.faulty([]string{"pack", "test", "shop"}, "shop/samples/paid.request.yaml:3: body: ")
}

func TestARefutedProofOfOrderFailsThePackAndIsNotRewrittenAway(t *testing.T) {
	sh := storeless(t)
	folder := sh.shop("shop")
	route := filepath.Join(folder, "orders.route.yaml")
	text := readText(t, route)
	from, to := strings.Index(text, "ordering:"), strings.Index(text, "mapping:")
	write(t, route, text[:from]+"ordering: {contract: order_independent, proof: append_only}\n"+text[to:]+"\n")
	write(t, filepath.Join(folder, "samples/sent.request.yaml"), strings.NewReplacer("d-1", "d-2", "paid", "sent").Replace(sampleOf))
	body := readText(t, filepath.Join(folder, "samples/paid.json"))
	write(t, filepath.Join(folder, "samples/sent.json"), strings.NewReplacer(`"version": 1`, `"version": 2`, "paid", "sent").Replace(body))
	sh.faulty([]string{"pack", "test", "shop", "--rewrite"}, "route orders claims append_only: samples paid and sent are two inputs of one record")
	sh.faulty([]string{"pack", "test", "shop"}, "route orders claims append_only: samples paid and sent are two inputs of one record")
}

func TestTheDifferenceOfTwoPacksIsItsFrozenBytes(t *testing.T) {
	sh := storeless(t)
	sh.shop("old")
	folder := sh.shop("new")
	if a := sh.done("pack", "diff", "old", "new"); a.out != "" || a.err != "" {
		t.Errorf("equal packs differ: %s%s", a.out, a.err)
	}
	edit(t, filepath.Join(folder, "order.mapping.yaml"), `'"nobody"'`, `'"somebody"'`)
	a := sh.done("pack", "diff", "old", "new", "--output", "json")
	rows := decode[[]change](t, a.out)
	if len(rows) != 2 || rows[0].Kind != "field_mapping" || !strings.Contains(rows[0].What, "under one version") || rows[1].To != `"somebody"` || !strings.Contains(a.err, "a successor epoch") {
		t.Errorf("got %+v, %s", rows, a.err)
	}
	edit(t, filepath.Join(folder, "order.mapping.yaml"), "version: 1", "version: 2")
	if got := sh.done("pack", "diff", "old", "new").out; !strings.Contains(got, "field_mapping order: version: 1 -> 2\n") || strings.Contains(got, "under one version") {
		t.Errorf("got %s", got)
	}
}

func TestWhatIsNoFolderIsWrongUsage(t *testing.T) {
	sh := storeless(t)
	folder := sh.proven("shop")
	sh.secrets = append(sh.secrets, "typed-secret")
	sh.refused(exitUsage, []string{"pack", "validate"}, "takes 1 arguments, DIR, and was given 0")
	sh.refused(exitUsage, []string{"pack", "diff", "shop"}, "takes 2 arguments, OLD and NEW, and was given 1")
	sh.refused(exitUsage, []string{"pack", "install", "gone"}, "DIR is no folder that can be read: gone")
	sh.refused(exitUsage, []string{"pack", "test", filepath.Join(folder, "pack.yaml")}, "DIR is no folder")
	sh.refused(exitUsage, []string{"pack", "install", "root:typed-secret@tcp(h:1)/d"}, "DIR is no folder")
	sh.refused(exitUnavailable, []string{"pack", "install", "shop"}, "store_unreachable")
	sh.refused(exitUnavailable, found, "store_unreachable")
	for flag, args := range map[string][]string{
		"--class":                                {"--organization", "acme", "--installation", "crm", "--workload", "sync"},
		"--class must":                           slices.Concat(found[2:], []string{"--class", "both"}),
		"--workload must be 1 to 512":            found[2 : len(found)-2],
		"--organization must be":                 slices.Concat(found[2:], []string{"--organization", " acme"}),
		"--destination must be":                  slices.Concat(found[2:], []string{"--destination", "API.example"}),
		"--destination is for a conformance dep": slices.Concat(found[2:], []string{"--class", "production", "--destination", "loopback"}),
	} {
		sh.refused(exitUsage, append([]string{"deployment", "found"}, args...), flag)
	}
}

var found = []string{"deployment", "found", "--class", "conformance", "--organization", "acme", "--installation", "crm", "--workload", "sync"}

// owned is all that the owners of a store have written.
func owned(t *testing.T, store *world.Store) string {
	t.Helper()
	var all strings.Builder
	for _, table := range []string{"deployment", "owner_publication_barrier", "owner_publication_barrier_guard", "owner_generation", "owner_standing",
		"owner_selection", "owner_reference", "credential_generation_dispatch_gate"} {
		all.WriteString(table + "\n")
		appendRows(t, &all, store.Admin, "SELECT * FROM "+table+" ORDER BY 1, 2")
	}
	return all.String()
}

// wrote runs something and tells whether the owners' tables have changed.
func wrote(t *testing.T, store *world.Store, do func()) bool {
	t.Helper()
	before := owned(t, store)
	do()
	return owned(t, store) != before
}

func TestADeploymentIsFoundedOnce(t *testing.T) {
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name))
	sh.proven("shop")
	if wrote(t, store, func() {
		sh.refused(exitUsage, []string{"pack", "install", "shop"}, "was not founded yet: run 'connector deployment found'")
	}) {
		t.Error("a refused installation wrote")
	}
	var together sync.WaitGroup
	answers := make([]answer, 4)
	for i := range answers {
		together.Go(func() { answers[i] = sh.run(append(found, "--output", "json")...) })
	}
	together.Wait()
	want := deployment{decode[deployment](t, answers[0].out).Deployment, "conformance", "acme", "crm", "sync", []string{"loopback"}}
	for _, a := range answers {
		got := decode[deployment](t, a.out)
		if a.code != exitDone || got.Deployment != want.Deployment || got.Class != want.Class || !slices.Equal(got.Destinations, want.Destinations) {
			t.Errorf("exit code %d, %+v, %s", a.code, got, a.err)
		}
	}
	if wrote(t, store, func() {
		sh.done(found...)
		sh.refused(exitConflict, append(found, "--workload", "other"), "content_differs", want.Deployment, "founded as another deployment")
		sh.refused(exitConflict, append(found, "--destination", "127.0.0.1:8080"), "content_differs")
		sh.refused(exitConflict, append(found, "--class", "production"), "content_differs")
	}) {
		t.Error("a founded deployment was changed")
	}
}

func TestAPackIsInstalledOnceAsOneGenerationOfItsBytes(t *testing.T) {
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name))
	folder := sh.proven("shop")
	install := []string{"pack", "install", "shop", "--output", "json"}
	sh.done(found...)
	digest := decode[digested](t, sh.done("pack", "digest", "shop", "--output", "json").out)
	first := sh.done(install...)
	if got := decode[installed](t, first.out); !got.Written || got.Generation != digest.Generation || got.Deployment == "" || !slices.Equal(got.Definitions, digest.Definitions) {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(first.err, "no epoch is active. Next: 'connector catalog authorise shop'") {
		t.Errorf("said %s", first.err)
	}
	var standing int
	if err := store.Admin.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM owner_generation WHERE owner <> 'catalog'").Scan(&standing); err != nil || standing != len(digest.Definitions) {
		t.Errorf("%d definitions stand at their owners, want %d; %v", standing, len(digest.Definitions), err)
	}
	sh.proven("elsewhere")
	if wrote(t, store, func() {
		for _, place := range []string{"shop", "elsewhere"} {
			again := sh.done("pack", "install", place, "--output", "json")
			if got := decode[installed](t, again.out); got.Written || got.Generation != digest.Generation || !strings.Contains(again.err, "nothing has changed") {
				t.Errorf("%s: %+v, %s", place, got, again.err)
			}
		}
		edit(t, filepath.Join(folder, "order.mapping.yaml"), `'"nobody"'`, `'"somebody"'`)
		sh.done("pack", "test", "shop", "--rewrite")
		sh.refused(exitConflict, install, "content_differs", "pack shop, field_mapping order 1", digest.Generation, "give what changed another version")
	}) {
		t.Error("the same pack, or other bytes under one version, wrote")
	}
	edit(t, filepath.Join(folder, "order.mapping.yaml"), "version: 1", "version: 2")
	if next := decode[installed](t, sh.done(install...).out); !next.Written || next.Generation == digest.Generation {
		t.Errorf("the next version is %+v", next)
	}
	if decode[installed](t, sh.done("pack", "install", "elsewhere", "--output", "json").out).Written {
		t.Error("the earlier generation is gone after the next one came")
	}
}

func TestTwoProcessesMayInstallAtOnce(t *testing.T) {
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name))
	sh.proven("shop")
	sh.done(found...)
	var together sync.WaitGroup
	answers := make([]answer, 4)
	for i := range answers {
		together.Go(func() { answers[i] = sh.run("pack", "install", "shop", "--output", "json") })
	}
	together.Wait()
	for _, a := range answers {
		if a.code != exitDone {
			t.Errorf("exit code %d: %s", a.code, a.err)
		}
	}
	if wrote(t, store, func() { sh.done("pack", "install", "shop") }) {
		t.Error("something was missing after all were done")
	}
}

// Whatever a pack is like, the shipped ones go the same way.
func TestEveryShippedPackIsInstalled(t *testing.T) {
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name))
	sh.done(found...)
	all, err := filepath.Glob("../../packs/*")
	if err != nil || len(all) < 2 {
		t.Fatalf("%d packs, %v", len(all), err)
	}
	for _, folder := range all {
		folder, err := filepath.Abs(folder)
		if err != nil {
			t.Fatal(err)
		}
		sh.done("pack", "validate", folder)
		sh.done("pack", "test", folder)
		if got := decode[installed](t, sh.done("pack", "install", folder, "--output", "json").out); !got.Written {
			t.Errorf("%s: nothing was written", folder)
		}
	}
}

func TestABadPackIsOneSentenceWithItsPlaceAndWritesNothing(t *testing.T) {
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name))
	sh.done(found...)
	for name, one := range map[string]struct{ file, old, now, want string }{
		"malformed":                      {"pack.yaml", "format: 1", "format: [1", "pack.yaml:1: this is no YAML"},
		"a duplicate mapping":            {"order.mapping.yaml", "  - {name: status,", "  - {name: total,", "order.mapping.yaml:"},
		"no such definition":             {"orders.route.yaml", "mapping: order\n", "mapping: ordre\n", `orders.route.yaml:12: mapping: there is no field_mapping "ordre"; did you mean "order"?`},
		"no such callout":                {"note.push.yaml", "callout: note\n", "callout: gone\n", `note.push.yaml:5: callout: there is no callout_profile "gone"`},
		"order-dependent, no position":   {"orders.route.yaml", "  position: integer(payload.version)\n", "", "orders.route.yaml:6: ordering.position: the key is missing"},
		"order-independent, not proved":  {"orders.route.yaml", "strict_source_sequence", "order_independent", "orders.route.yaml:"},
		"the same mapping in two places": {},
	} {
		folder := sh.shop(strings.ReplaceAll(name, " ", "-"))
		if one.file == "" {
			write(t, filepath.Join(folder, "other.yaml"), readText(t, filepath.Join(folder, "order.mapping.yaml")))
			one.want = "other.yaml:2: name: there are two definitions field_mapping"
		} else {
			edit(t, filepath.Join(folder, one.file), one.old, one.now)
		}
		place := filepath.Base(folder)
		if wrote(t, store, func() {
			a := sh.run("pack", "install", place)
			if a.code != exitFailed || a.out != "" || !strings.HasPrefix(a.err, place+"/"+one.want) || !strings.Contains(a.err, "; ") {
				t.Errorf("%s: exit code %d: %s%s", name, a.code, a.out, a.err)
			}
			if name != "order-independent, not proved" && strings.Count(a.err, "\n") != 1 {
				t.Errorf("%s is told more than once: %s", name, a.err)
			}
		}) {
			t.Errorf("%s: something was written", name)
		}
	}
}

func TestAPackWhoseSamplesFailIsNotInstalled(t *testing.T) {
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name))
	sh.done(found...)
	folder := sh.proven("shop")
	golden := filepath.Join(folder, "samples/paid.golden.yaml")
	kept := readText(t, golden)
	const nothing = "nothing is installed: a pack is installed when its samples give what their golden files say"
	if wrote(t, store, func() {
		write(t, golden, kept+"more: 1\n")
		sh.faulty([]string{"pack", "install", "shop"}, "shop/samples/paid.golden.yaml:", nothing)
		write(t, golden, kept)
		route := filepath.Join(folder, "orders.route.yaml")
		text := readText(t, route)
		from, to := strings.Index(text, "ordering:"), strings.Index(text, "mapping:")
		write(t, route, text[:from]+"ordering: {contract: order_independent, proof: append_only}\n"+text[to:]+"\n")
		write(t, filepath.Join(folder, "samples/sent.request.yaml"), strings.NewReplacer("d-1", "d-2", "paid", "sent").Replace(sampleOf))
		body := readText(t, filepath.Join(folder, "samples/paid.json"))
		write(t, filepath.Join(folder, "samples/sent.json"), strings.NewReplacer(`"version": 1`, `"version": 2`, "paid", "sent").Replace(body))
		sh.run("pack", "test", "shop", "--rewrite")
		sh.faulty([]string{"pack", "install", "shop"}, "route orders claims append_only: ", nothing)
		write(t, route, text+"\n")
	}) {
		t.Error("something was written")
	}
	sh.done("pack", "test", "shop", "--rewrite")
	sh.done("pack", "install", "shop")
	if err := os.RemoveAll(filepath.Join(folder, "samples")); err != nil {
		t.Fatal(err)
	}
	sh.done("pack", "install", "shop") // one without samples proves nothing, and is the same generation
}
