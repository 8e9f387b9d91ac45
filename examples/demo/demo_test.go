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

// A small run, with a double and a disorder that are planted: so the counting sees one of each, and no other one is there.
// Exactly one line comes out, and what was kept running ends when it is told to.
func TestTheDemoLosesNothingAndAppliesNothingTwiceOrOutOfOrderButWhatWasPlanted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, said := &announcing{line: cancel}, &strings.Builder{} // as ^C would, once the counts are there
	if err := run(ctx, []string{"--json", "--plant-double", "--plant-disorder", "--keep", "--payloads", "40", "--dir", dir}, out, said); err != nil {
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
	got := []int{r.Received, r.Duplicates, r.Refused, r.Lost, r.AppliedTwice, r.OutOfOrder, r.Stale, r.CalledTwice, r.Calls, r.Kills}
	if want := []int{40, 8, 24, 0, 1, 1, 1, 0, 0, 2}; !slices.Equal(got, want) || r.Applied < 20 || r.SetAside < 5 || r.Waiting != 0 || r.Seconds <= 0 {
		t.Errorf("received, duplicates, refused, lost, applied twice, out of order, stale, called twice, calls, kills are %d, want %d: %+v", got, want, r)
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
