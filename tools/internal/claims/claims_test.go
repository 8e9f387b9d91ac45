package claims_test

import (
	"slices"
	"strings"
	"testing"

	"connectorcore/tools/internal/claims"
)

func TestParseRefusesRowsThatMeanNothing(t *testing.T) {
	cases := []struct{ name, row, want string }{
		{"too few cells", "K01\t1\ttext\twhole\tledger.TestA", "5 cells, want 6"},
		{"odd id", "k1\t1\ttext\tmissing\t-\t-", "id \"k1\""},
		{"odd state", "K01\t1\ttext\tmostly\tledger.TestA\t-", "state \"mostly\""},
		{"part of nothing", "K01\t1\ttext\tpart: \tledger.TestA\t-", "what is not proved yet"},
		{"missing with a test", "K01\t1\ttext\tmissing\tledger.TestA\t-", "a missing claim has `-`"},
		{"whole without a test", "K01\t1\ttext\twhole\t-\t-", "at least one test"},
		{"a test without its package", "K01\t1\ttext\twhole\tTestA\t-", "test \"TestA\""},
		{"a subtest", "K01\t1\ttext\twhole\tledger.TestA/second\t-", "test \"ledger.TestA/second\""},
		{"a test twice", "K01\t1\ttext\twhole\tledger.TestA, ledger.TestA pure\t-", "stands twice"},
		{"another claim's mutant", "K01\t1\ttext\twhole\tledger.TestA\tK02.patch", "mutant \"K02.patch\""},
		{"a mutant that nothing could kill", "K01\t1\ttext\tmissing\t-\tK01.patch", "no test that could kill it"},
		{"an id twice", "K01\t1\ttext\tmissing\t-\t-\nK01\t1\ttext\tmissing\t-\t-", "claims.tsv:3: the id K01 stands twice"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := claims.Parse(strings.NewReader(claims.Header + "\n" + c.row + "\n"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	if _, err := claims.Parse(strings.NewReader("id\tstage\n")); err == nil {
		t.Fatal("a wrong header was taken")
	}
}

func TestParseReadsWhatARowSays(t *testing.T) {
	row := "U03r\t2\ttext\tpart: the rest\tledger/internal/txn.TestA, machines.TestB pure\tU03r.patch, U03r.late.patch"
	claim := parse(t, row)[0]
	if claim.State != claims.Part || claim.Unproved != "the rest" || claim.Stage != "2" {
		t.Fatalf("read %+v", claim)
	}
	if claim.Names() != "ledger/internal/txn.TestA, machines.TestB" || claim.Tests[0].Pure || !claim.Tests[1].Pure {
		t.Fatalf("read the tests %+v", claim.Tests)
	}
	if !slices.Equal(claim.Mutants, []string{"U03r.patch", "U03r.late.patch"}) {
		t.Fatalf("read the mutants %v", claim.Mutants)
	}
	want := []string{"-run", "^(TestA|TestB)$", "./ledger/internal/txn", "./machines"}
	if got := claims.Arguments([]claims.Claim{claim, claim}); !slices.Equal(got, want) {
		t.Fatalf("go test would get %q, want %q", got, want)
	}
}

func TestAFifthClaimOverusesATest(t *testing.T) {
	var rows []string
	for _, id := range []string{"K01", "K02", "K03", "K04"} {
		rows = append(rows, id+"\t1\ttext\twhole\tledger.TestA\t-")
	}
	if over := claims.Overused(parse(t, rows...)); over != nil {
		t.Fatalf("four claims are allowed, got %q", over)
	}
	over := claims.Overused(parse(t, append(rows, "K05\t1\ttext\tpart: x\tledger.TestA\t-")...))
	if len(over) != 1 || !strings.Contains(over[0], "ledger.TestA is named by 5 claims (K01 K02 K03 K04 K05)") {
		t.Fatalf("got %q", over)
	}
}

func TestPickKeepsOrderAndRefusesTheUnknown(t *testing.T) {
	all := parse(t, "K01\t1\ttext\tmissing\t-\t-", "K02\t1\ttext\tmissing\t-\t-", "K03\t1\ttext\tmissing\t-\t-")
	picked, err := claims.Pick(all, []string{"K03", "K01"})
	if err != nil || len(picked) != 2 || picked[0].ID != "K01" || picked[1].ID != "K03" {
		t.Fatalf("picked %v, %v", picked, err)
	}
	if _, err := claims.Pick(all, []string{"K01", "K09"}); err == nil || !strings.Contains(err.Error(), `"K09"`) {
		t.Fatalf("got %v, want an error that names K09", err)
	}
}
