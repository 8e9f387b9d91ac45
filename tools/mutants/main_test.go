package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectorcore/tools/internal/claims"
	"connectorcore/tools/internal/mutant"
	"connectorcore/tools/internal/repo"
	"connectorcore/tools/internal/throwaway"
)

const (
	product = "package ledger\n\n// Add adds.\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"
	tests   = `package ledger

import "testing"

func TestAdds(t *testing.T) {
	if Add(2, 2) != 4 {
		t.Fatal("wrong")
	}
}

func TestAddsOnTheDatabase(t *testing.T) {
	t.Log("proof: 1 statements on TiDB")
}
`
)

func patch(file, was, is string) string {
	return "--- a/" + file + "\n+++ b/" + file + "\n@@ -1,6 +1,6 @@\n package ledger\n \n // Add adds.\n func Add(a, b int) int {\n-\t" +
		was + "\n+\t" + is + "\n }\n"
}

func repository(t *testing.T) throwaway.Repository {
	t.Helper()
	return throwaway.New(t, map[string]string{
		"ledger/a.go":      product,
		"ledger/a_test.go": tests,
		repo.Claims: claims.Header + "\n" + strings.Join([]string{
			"K01\t1\ta\twhole\tledger.TestAdds pure\tK01.patch, K01.quiet.patch",
			"K02\t1\ta\tpart: more\tledger.TestAdds pure\tK02.patch",
			"K03\t1\ta\twhole\tledger.TestAdds pure\tK03.patch",
			"K04\t1\ta\twhole\tledger.TestAdds pure\tK04.patch",
			"K05\t1\ta\twhole\tledger.TestAdds\tK05.patch",
			"K06\t1\ta\twhole\tledger.TestAddsOnTheDatabase\t-",
			"K07\t1\ta\twhole\tledger.TestAddsOnTheDatabase\tK07.patch",
		}, "\n") + "\n",
		repo.Mutants + "/K01.patch":       patch("ledger/a.go", "return a + b", "return a - b"),
		repo.Mutants + "/K01.quiet.patch": patch("ledger/a.go", "return a + b", "return b + a"),
		repo.Mutants + "/K02.patch":       patch("ledger/a.go", "return a + b", "return undefined"),
		repo.Mutants + "/K03.patch":       patch("ledger/a.go", "return a * b", "return a - b"),
		repo.Mutants + "/K04.patch": "--- a/ledger/a_test.go\n+++ b/ledger/a_test.go\n@@ -5,3 +5,3 @@\n func TestAdds(t *testing.T) {\n" +
			"-\tif Add(2, 2) != 4 {\n+\tif Add(2, 2) != 5 {\n \t\tt.Fatal(\"wrong\")\n",
		repo.Mutants + "/K05.patch": patch("ledger/a.go", "return a + b", "return 0"),
		repo.Mutants + "/K07.patch": patch("ledger/a.go", "return a + b", "for {}"),
	})
}

func try(t *testing.T, dirty bool, ids ...string) (string, bool, error) {
	t.Helper()
	var out bytes.Buffer
	held, err := mutants(context.Background(), &out, dirty, "1m", ids)
	return out.String(), held, err
}

// wordOf is what proof would show beside a claim.
func wordOf(t *testing.T, r throwaway.Repository, id string) mutant.Word {
	t.Helper()
	all, err := claims.Load(r.Root)
	if err != nil {
		t.Fatal(err)
	}
	picked, err := claims.Pick(all, []string{id})
	if err != nil {
		t.Fatal(err)
	}
	results, err := mutant.Load(r.Root)
	if err != nil {
		t.Fatal(err)
	}
	word, err := mutant.Of(r.Root, picked[0], results)
	if err != nil {
		t.Fatal(err)
	}
	return word
}

// untouched asserts that a run left nothing but its results.
func untouched(t *testing.T, r throwaway.Repository) {
	t.Helper()
	if list := r.Git(t, "worktree", "list"); strings.Count(list, "\n") != 0 {
		t.Fatalf("a worktree stayed:\n%s", list)
	}
	if _, err := os.Stat(filepath.Join(r.Root, ".proof/mutants")); !os.IsNotExist(err) {
		t.Fatalf("its folder stayed: %v", err)
	}
	if status := r.Git(t, "status", "--porcelain", "--", ".", ":(exclude)"+repo.Results); status != "" {
		t.Fatalf("the tree changed:\n%s", status)
	}
	if branches := r.Git(t, "branch", "--list"); strings.Count(branches, "\n") != 0 {
		t.Fatalf("a branch stayed:\n%s", branches)
	}
}

func TestEachMutantGetsItsWord(t *testing.T) {
	r := repository(t)
	out, held, err := try(t, false)
	if err != nil || held {
		t.Fatalf("held %t, %v\n%s", held, err, out)
	}
	for _, want := range []string{
		"K01 killed K01.patch: ledger.TestAdds: TestAdds failed\n",
		"K01 survived K01.quiet.patch: the promise is broken and ledger.TestAdds did not notice\n",
		"K02 broken K02.patch: the mutant does not compile",
		"undefined: undefined",
		"K03 stale K03.patch: the patch no longer applies",
		"K04 broken K04.patch: it touches ledger/a_test.go",
		"K05 FAIL without its mutant, so nothing was tried: ledger.TestAdds: passed without one statement",
		"K07 survived K07.patch",
		"mutants: 1 killed, 2 survived, 2 broken, 1 stale; 1 claims FAIL anyway\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not printed:\n%s", want, out)
		}
	}
	untouched(t, r)
	for id, want := range map[string]mutant.Word{
		"K01": mutant.Survived, "K02": mutant.None, "K03": mutant.Stale, "K04": mutant.None, "K05": mutant.None,
		"K06": mutant.None, "K07": mutant.Survived,
	} {
		if got := wordOf(t, r, id); got != want {
			t.Errorf("beside %s stands %s, want %s", id, got, want)
		}
	}
}

func TestAResultHoldsForWhatItWasTriedOn(t *testing.T) {
	r := repository(t)
	r.Write(t, repo.Claims, claims.Header+"\nK01\t1\ta\twhole\tledger.TestAdds pure\tK01.patch\n")
	r.Commit(t)
	if out, held, err := try(t, false, "K01"); err != nil || !held || wordOf(t, r, "K01") != mutant.Killed {
		t.Fatalf("held %t, %v\n%s", held, err, out)
	}
	r.Write(t, "ledger/other.go", "package ledger\n")
	if got := wordOf(t, r, "K01"); got != mutant.Killed {
		t.Fatalf("a file that the mutant never touched made it %s", got)
	}
	r.Write(t, "ledger/a.go", product+"\nvar more = 1\n")
	if got := wordOf(t, r, "K01"); got != mutant.Stale {
		t.Fatalf("the touched file changed, and the mutant is %s", got)
	}
	r.Write(t, "ledger/a.go", product)
	r.Write(t, repo.Mutants+"/K01.patch", patch("ledger/a.go", "return a + b", "return 0"))
	if got := wordOf(t, r, "K01"); got != mutant.Stale {
		t.Fatalf("the patch changed, and the mutant is %s", got)
	}
}

func TestADirtyTreeIsTriedOnlyIfAsked(t *testing.T) {
	r := repository(t)
	r.Write(t, repo.Claims, claims.Header+"\nK01\t1\ta\twhole\tledger.TestAdds pure\tK01.quiet.patch\n")
	r.Write(t, "ledger/b_test.go", "package ledger\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) {}\n")
	if _, _, err := try(t, false); err == nil || !strings.Contains(err.Error(), "ledger/b_test.go") || !strings.Contains(err.Error(), "-dirty") {
		t.Fatalf("got %v, want an error that names the file and -dirty", err)
	}
	before := r.Git(t, "status", "--porcelain")
	if out, held, err := try(t, true); err != nil || held || !strings.Contains(out, "mutants: 0 killed, 1 survived") {
		t.Fatalf("held %t, %v\n%s", held, err, out)
	}
	os.Remove(filepath.Join(r.Root, repo.Results))
	if after := r.Git(t, "status", "--porcelain"); after != before {
		t.Fatalf("the person's own work changed from\n%s\nto\n%s", before, after)
	}
	if list := r.Git(t, "worktree", "list"); strings.Count(list, "\n") != 0 {
		t.Fatalf("a worktree stayed:\n%s", list)
	}
}

// interrupter ends the run when the first result is printed.
type interrupter struct {
	bytes.Buffer
	cancel func()
}

func (i *interrupter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("killed")) {
		i.cancel()
	}
	return i.Buffer.Write(p)
}

func TestAnInterruptLeavesNothingBehind(t *testing.T) {
	r := repository(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := &interrupter{cancel: cancel}
	_, err := mutants(ctx, out, false, "1m", []string{"K01"})
	if err == nil {
		t.Fatalf("an interrupted run is said to be whole:\n%s", out)
	}
	if results, err := mutant.Load(r.Root); err != nil || len(results) != 1 {
		t.Fatalf("kept %v (%v), want the one result from before the interrupt", results, err)
	}
	untouched(t, r)
}

func TestWhatAKilledRunLeftIsCleared(t *testing.T) {
	r := repository(t)
	r.Git(t, "worktree", "add", "--quiet", "--detach", filepath.Join(r.Root, ".proof/mutants"), "HEAD")
	r.Write(t, ".proof/mutants/ledger/a.go", "not Go at all")
	if out, _, err := try(t, false, "K07"); err != nil || !strings.Contains(out, "K07 survived") {
		t.Fatalf("%v\n%s", err, out)
	}
	untouched(t, r)
}

func TestAClaimWithoutAMutantIsRefused(t *testing.T) {
	repository(t)
	if _, _, err := try(t, false, "K06"); err == nil || !strings.Contains(err.Error(), "K06: no mutant is named") {
		t.Fatalf("got %v", err)
	}
}

func TestTwoRunsAtOnceAreRefused(t *testing.T) {
	r := repository(t)
	yard, err := mutant.Open(context.Background(), r.Root, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := try(t, false, "K07"); err == nil || !strings.Contains(err.Error(), "already") {
		t.Fatalf("a second run began: %v", err)
	}
	if _, err := os.Stat(filepath.Join(yard.Dir, "ledger/a.go")); err != nil {
		t.Fatalf("the second run cleared the first one's worktree: %v", err)
	}
	if err := yard.Close(); err != nil {
		t.Fatal(err)
	}
	untouched(t, r)
}

func TestARewriteIsNoMutant(t *testing.T) {
	r := repository(t)
	added := "--- /dev/null\n+++ b/ledger/b.go\n@@ -0,0 +1,21 @@\n+package ledger\n" + strings.Repeat("+\n", 20)
	r.Write(t, repo.Mutants+"/K07.patch", added)
	r.Commit(t)
	if out, held, err := try(t, false, "K07"); err != nil || held || !strings.Contains(out, "K07 broken K07.patch: it changes 21 lines, at most 20") {
		t.Fatalf("held %t, %v\n%s", held, err, out)
	}
}
