package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectorcore/engine/pack"
	"connectorcore/examples/provider"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
)

// announcing is a writer that tells of its first line.
type announcing struct {
	strings.Builder
	line func()
}

func (a *announcing) Write(text []byte) (int, error) {
	n, err := a.Builder.Write(text)
	if a.line != nil && strings.Contains(a.String(), "\n") {
		a.line()
		a.line = nil
	}
	return n, err
}

// A small run, with a double that is planted: so the counting sees one, and no other one is there. Exactly one line comes
// out, and what was kept running ends when it is told to.
func TestTheDemoLosesNothingAndAppliesNothingTwiceButWhatWasPlanted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, said := &announcing{line: cancel}, &strings.Builder{} // as ^C would, once the counts are there
	if err := run(ctx, []string{"--json", "--plant-double", "--keep", "--payloads", "40", "--dir", dir}, out, said); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if strings.Count(out.String(), "\n") != 1 || !strings.HasSuffix(out.String(), "}\n") {
		t.Errorf("standard output is no single line: %q", out)
	}
	var r result
	if err := json.Unmarshal([]byte(out.String()), &r, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// How many are applied and how many wait depends on what others publish.
	got := []int{r.Received, r.Duplicates, r.Refused, r.Lost, r.AppliedTwice, r.CalledTwice, r.Calls, r.Kills}
	if want := []int{40, 8, 24, 0, 1, 0, 0, 2}; !slices.Equal(got, want) || r.Applied < 15 || r.Waiting < 5 || r.Seconds <= 0 {
		t.Errorf("received, duplicates, refused, lost, applied twice, called twice, calls, kills are %d, want %d: %+v", got, want, r)
	}
	withdrawn(t, dir)
}

// withdrawn tells whether the store ended in order: then its DSNs are gone.
func withdrawn(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "store", "*.dsn"))
	if err != nil || len(left) > 0 {
		t.Errorf("the store did not end in order: %v, %v", left, err)
	}
}

func TestADirectoryInUseIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), []string{"--dir", dir}, &strings.Builder{}, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("told as: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "mine")); err != nil {
		t.Errorf("what was in it is gone: %v", err)
	}
}

// Whoever is offline learns what is missing, and sees the samples instead.
func TestWithoutPublishedPayloadsTheSamplesAreSent(t *testing.T) {
	var accounts []*account
	folders, err := filepath.Glob("../../packs/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		compiled, err := pack.Compile(os.DirFS(folder))
		if err != nil {
			t.Fatal(err)
		}
		accounts = append(accounts, &account{id: facts.Mint[facts.AccountID](), folder: folder, pack: compiled})
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	var said []string
	p, err := planned(t.Context(), accounts, 0, 1, func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) })
	if err != nil {
		t.Fatal(err)
	}
	if p.real != 0 || p.honest < 10 || len(p.parcels) < p.honest {
		t.Errorf("%d deliveries, %d of them real", p.honest, p.real)
	}
	if len(said) != 1 || !strings.Contains(said[0], "is not in the cache") || !strings.Contains(said[0], "is not in the module cache") {
		t.Errorf("told as: %q", said)
	}
}

func key[T facts.AnyKey](t *testing.T, text string) T {
	t.Helper()
	made, err := facts.ParseKey[T](text)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Each way in which the job can go wrong has its own count.
func TestEveryWrongOutcomeIsCounted(t *testing.T) {
	of := &account{id: facts.Mint[facts.AccountID]()}
	about := func(record string, waits provider.Waiting) *matter {
		return &matter{account: of, delivery: provider.Delivery{Name: record},
			commands: []provider.Command{{Definition: key[facts.DefinitionID](t, "note"), Record: key[facts.OwnerSlot](t, record), Waits: waits}}}
	}
	first, second, later := about("first", provider.Nothing), about("second", provider.Nothing), about("later", provider.ForOrder)
	parcels := []*parcel{{matter: first, status: 202}, {matter: first, status: 200}, {matter: second, status: 202}, {matter: later, status: 202},
		{matter: about("bad", provider.Nothing), trick: forged, status: 401, code: "signature_invalid"}}
	line := func(record string) done { return done{of.id, "note", record} }
	once := func() map[facts.CommandID]int { return map[facts.CommandID]int{facts.Mint[facts.CommandID](): 1} }
	two := map[facts.CommandID]int{facts.Mint[facts.CommandID](): 1, facts.Mint[facts.CommandID](): 1}
	for name, c := range map[string]struct {
		log   map[done]map[facts.CommandID]int
		fails string
	}{
		"nothing wrong":            {map[done]map[facts.CommandID]int{line("first"): once(), line("second"): once()}, ""},
		"one is lost":              {map[done]map[facts.CommandID]int{line("first"): once()}, "lost 1, applied twice 0"},
		"one command twice":        {map[done]map[facts.CommandID]int{line("first"): {facts.Mint[facts.CommandID](): 2}, line("second"): once()}, "applied twice 1"},
		"two commands for one":     {map[done]map[facts.CommandID]int{line("first"): two, line("second"): once()}, "applied twice 1"},
		"a forged one was applied": {map[done]map[facts.CommandID]int{line("first"): once(), line("second"): once(), line("bad"): once()}, "without being asked 1"},
	} {
		r := counted(parcels, owedFor(parcels), logged{commands: c.log})
		err := r.verdict(0)
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if r.Received != 3 || r.Duplicates != 1 || r.Refused != 1 || r.owed.later[provider.ForOrder] != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	parcels[4].status = 202
	if err := counted(parcels, owedFor(parcels), logged{}).verdict(0); err == nil || !strings.Contains(err.Error(), "1 deliveries were taken in that had to be refused, such as bad (signed with another secret)") {
		t.Errorf("a forged one that was taken in: %v", err)
	}
}

// Whoever waits for the daemon learns that there is none.
func TestADaemonThatEndsByItselfIsTold(t *testing.T) {
	p, err := launch(t.TempDir(), "short", "go", os.Environ(), "version")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.says(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	if err := (&keeper{daemon: p}).alive(); err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("told as: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("told to end"))
	if _, err := newDoor().find(ctx); err == nil || err.Error() != "told to end" {
		t.Errorf("a shut door is told as: %v", err)
	}
}
