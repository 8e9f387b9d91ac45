package mutant_test

import (
	"strings"
	"testing"

	"connectorcore/tools/internal/claims"
	"connectorcore/tools/internal/mutant"
	"connectorcore/tools/internal/repo"
	"connectorcore/tools/internal/throwaway"
)

func result(patch string, word mutant.Word) mutant.Result {
	return mutant.Result{ID: "K01", Patch: patch, Word: word, Digest: "absent", Touched: map[string]string{"b.go": "absent", "a.go": "absent"}}
}

func TestResultsAreKeptInOrderAndReadBack(t *testing.T) {
	r := throwaway.New(t, map[string]string{repo.Mutants + "/README.md": ""})
	if results, err := mutant.Load(r.Root); err != nil || results != nil {
		t.Fatalf("without a file there are %v, %v", results, err)
	}
	if err := mutant.Save(r.Root, []mutant.Result{result("K02.patch", mutant.Survived), result("K01.patch", mutant.Killed)}); err != nil {
		t.Fatal(err)
	}
	want := "id\tpatch\tresult\tpatch digest\tfiles touched\n" +
		"K01\tK01.patch\tkilled\tabsent\ta.go=absent b.go=absent\n" +
		"K01\tK02.patch\tsurvived\tabsent\ta.go=absent b.go=absent\n"
	if got := r.Read(t, repo.Results); got != want {
		t.Fatalf("wrote\n%s\nwant\n%s", got, want)
	}
	results, err := mutant.Load(r.Root)
	if err != nil || len(results) != 2 || results[1].Word != mutant.Survived || results[0].Touched["b.go"] != "absent" {
		t.Fatalf("read %v, %v", results, err)
	}
	r.Write(t, repo.Results, want+"K03\tK03.patch\n")
	if _, err := mutant.Load(r.Root); err == nil || !strings.Contains(err.Error(), "results.tsv:4: 2 cells") {
		t.Fatalf("got %v, want an error that names line 4", err)
	}
}

func TestTheWorstMutantSpeaksForItsClaim(t *testing.T) {
	r := throwaway.New(t, nil)
	claim := claims.Claim{ID: "K01", Mutants: []string{"K01.patch", "K01.b.patch"}}
	cases := []struct {
		first, second, want mutant.Word
	}{
		{mutant.Killed, mutant.Killed, mutant.Killed},
		{mutant.Killed, mutant.Broken, mutant.None},
		{mutant.Broken, mutant.Stale, mutant.Stale},
		{mutant.Survived, mutant.Stale, mutant.Survived},
		{mutant.Killed, mutant.Survived, mutant.Survived},
	}
	for _, c := range cases {
		word, err := mutant.Of(r.Root, claim, []mutant.Result{result("K01.patch", c.first), result("K01.b.patch", c.second)})
		if err != nil || word != c.want {
			t.Errorf("%s and %s give %s (%v), want %s", c.first, c.second, word, err, c.want)
		}
	}
	if word, err := mutant.Of(r.Root, claim, []mutant.Result{result("K01.patch", mutant.Killed)}); err != nil || word != mutant.None {
		t.Errorf("one killed and one never tried give %s (%v), want none", word, err)
	}
	if word, err := mutant.Of(r.Root, claims.Claim{ID: "K01"}, nil); err != nil || word != mutant.None {
		t.Errorf("a claim without a mutant gives %s (%v), want none", word, err)
	}
}

func TestMergeForgetsWhatNoClaimNames(t *testing.T) {
	all := []claims.Claim{{ID: "K01", Mutants: []string{"K01.patch", "K01.b.patch"}}}
	old := []mutant.Result{result("K01.patch", mutant.Killed), result("K01.b.patch", mutant.Killed), result("K01.gone.patch", mutant.Killed)}
	merged := mutant.Merge(old, []mutant.Result{result("K01.patch", mutant.Survived)}, all)
	if len(merged) != 2 || merged[0].Word != mutant.Survived || merged[1].Patch != "K01.b.patch" {
		t.Fatalf("merged %v", merged)
	}
}
