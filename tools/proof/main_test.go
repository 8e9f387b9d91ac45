package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"connectorcore/tools/internal/claims"
	"connectorcore/tools/internal/mutant"
	"connectorcore/tools/internal/repo"
	"connectorcore/tools/internal/throwaway"
)

const room = `package ledger
import "testing"
func TestKeeps(t *testing.T) { t.Log("proof: 2 statements on TiDB") }
func TestCounts(t *testing.T) {}
`

func rows(lines ...string) string { return claims.Header + "\n" + strings.Join(lines, "\n") + "\n" }

var claimed = rows(
	"K01\t1\tone\twhole\tledger.TestKeeps\t-",
	"K02\t2\ttwo\tpart: the far end\tledger.TestKeeps\t-",
	"K03\t2\tthree\tmissing\t-\t-",
	"K04\t1\tfour\twhole\tledger.TestCounts\t-",
)

func prove(t *testing.T, ids ...string) (string, bool) {
	t.Helper()
	var out bytes.Buffer
	held, err := proof(context.Background(), &out, false, ids)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return out.String(), held
}

func TestAClaimALineAndAStageALine(t *testing.T) {
	throwaway.New(t, map[string]string{"ledger/a_test.go": room, repo.Claims: claimed})
	out, held := prove(t)
	want := strings.Join([]string{
		"K01 pass ledger.TestKeeps (mutant none)",
		"K02 part ledger.TestKeeps: the far end (mutant none)",
		"K03 missing",
		"K04 FAIL ledger.TestCounts: passed without one statement on TiDB: prove it on the database, or mark the test `pure` (mutant none)",
		"proof: 1 of 2 claims of stage 1",
		"proof: 0 of 2 claims of stage 2",
	}, "\n") + "\n"
	if held || !strings.HasSuffix(out, want) {
		t.Fatalf("held %t and printed\n%swant\n%s", held, out, want)
	}
	out, held = prove(t, "K01", "K02", "K03")
	if !held || strings.Contains(out, "K04") || !strings.Contains(out, "proof: 1 of 1 claims of stage 1 that were asked for") {
		t.Fatalf("of three good claims held %t and printed\n%s", held, out)
	}
}

func TestAStaleRecordIsRefused(t *testing.T) {
	r := throwaway.New(t, map[string]string{"ledger/a_test.go": room, repo.Claims: claimed})
	// A record that claims more than the tests would: only if it is used does K04 pass.
	var stream string
	for _, test := range []string{"TestKeeps", "TestCounts"} {
		stream += `{"Action":"output","Package":"connectorcore/ledger","Test":"` + test + `","Output":"proof: 1 statements on TiDB\n"}` + "\n" +
			`{"Action":"pass","Package":"connectorcore/ledger","Test":"` + test + `"}` + "\n"
	}
	r.Write(t, repo.Record, stream)
	digest, err := repo.Digest(context.Background(), r.Root)
	if err != nil {
		t.Fatal(err)
	}
	r.Write(t, repo.Stamp, digest+"\n")
	if out, held := prove(t, "K04"); !held || strings.Contains(out, "running") {
		t.Fatalf("the record of this tree was not used:\n%s", out)
	}
	r.Write(t, "ledger/b_test.go", "package ledger\n")
	if out, held := prove(t, "K04"); held || !strings.Contains(out, "record of `make test` is of another tree") {
		t.Fatalf("the record of another tree was used:\n%s", out)
	}
}

func TestASurvivorIsNoPass(t *testing.T) {
	r := throwaway.New(t, map[string]string{
		"ledger/a_test.go":          room,
		"ledger/a.go":               "package ledger\n",
		repo.Claims:                 rows("K01\t1\tone\twhole\tledger.TestKeeps\tK01.patch"),
		repo.Mutants + "/K01.patch": "a patch\n",
	})
	result := mutant.Result{ID: "K01", Patch: "K01.patch", Touched: map[string]string{}}
	var err error
	if result.Digest, err = repo.FileDigest(r.Root, repo.Mutants+"/K01.patch"); err != nil {
		t.Fatal(err)
	}
	if result.Touched["ledger/a.go"], err = repo.FileDigest(r.Root, "ledger/a.go"); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[mutant.Word]string{
		mutant.Killed:   "K01 pass ledger.TestKeeps (mutant killed)",
		mutant.Survived: "K01 FAIL a mutant breaks the promise and its tests still pass: sharpen them (mutant survived)",
		mutant.Stale:    "K01 pass ledger.TestKeeps (mutant stale)",
		mutant.Broken:   "K01 pass ledger.TestKeeps (mutant none)",
	} {
		result.Word = word
		if err := mutant.Save(r.Root, []mutant.Result{result}); err != nil {
			t.Fatal(err)
		}
		if out, held := prove(t); !strings.Contains(out, want+"\n") || held != (word != mutant.Survived) {
			t.Fatalf("%s: held %t and printed\n%s", word, held, out)
		}
	}
	result.Word = mutant.Survived
	if err := mutant.Save(r.Root, []mutant.Result{result}); err != nil {
		t.Fatal(err)
	}
	r.Write(t, "ledger/a.go", "package ledger // sharper now\n")
	if out, held := prove(t); !held || !strings.Contains(out, "(mutant stale)") {
		t.Fatalf("a survivor of other code still counts: held %t\n%s", held, out)
	}
}

func TestTestsThatCannotBeFoundFail(t *testing.T) {
	r := throwaway.New(t, map[string]string{"ledger/a_test.go": room, repo.Claims: rows("K01\t1\tone\twhole\tledger.TestGone\t-")})
	if out, held := prove(t); held || !strings.Contains(out, "K01 FAIL ledger.TestGone: no such test") {
		t.Fatalf("held %t\n%s", held, out)
	}
	r.Write(t, repo.Claims, rows("K01\t1\tone\twhole\tnowhere.TestGone\t-"))
	if out, held := prove(t); held || !strings.Contains(out, "K01 FAIL nowhere.TestGone: the package nowhere or its tests do not build") {
		t.Fatalf("held %t\n%s", held, out)
	}
}

func TestAnOverusedTestFailsTheProof(t *testing.T) {
	var lines []string
	for _, id := range []string{"K01", "K02", "K03", "K04", "K05"} {
		lines = append(lines, id+"\t1\ttext\twhole\tledger.TestKeeps\t-")
	}
	throwaway.New(t, map[string]string{"ledger/a_test.go": room, repo.Claims: rows(lines...)})
	if out, held := prove(t); held || !strings.Contains(out, "FAIL ledger.TestKeeps is named by 5 claims") {
		t.Fatalf("held %t\n%s", held, out)
	}
}
