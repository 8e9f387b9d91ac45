package claims_test

import (
	"strings"
	"testing"

	"connectorcore/tools/internal/claims"
	"connectorcore/tools/internal/gotest"
)

// Streams as the go command prints them, with times and unneeded lines left out.
const (
	start     = `{"Action":"start","Package":"connectorcore/ledger"}` + "\n"
	begins    = `{"Action":"run","Package":"connectorcore/ledger","Test":"TestA"}` + "\n"
	subBegins = `{"Action":"run","Package":"connectorcore/ledger","Test":"TestA/second"}` + "\n"
	speaks    = `{"Action":"output","Package":"connectorcore/ledger","Test":"TestA","Output":"    world.go:9: proof: 12 statements on TiDB\n"}` + "\n"
	subSpeaks = `{"Action":"output","Package":"connectorcore/ledger","Test":"TestA/second","Output":"    world.go:9: proof: 1 statements on TiDB\n"}` + "\n"
	silent    = `{"Action":"output","Package":"connectorcore/ledger","Test":"TestA","Output":"    world.go:9: proof: 0 statements on TiDB\n"}` + "\n"
	passes    = `{"Action":"pass","Package":"connectorcore/ledger","Test":"TestA","Elapsed":0.1}` + "\n"
	fails     = `{"Action":"fail","Package":"connectorcore/ledger","Test":"TestA","Elapsed":0.1}` + "\n"
	skips     = `{"Action":"skip","Package":"connectorcore/ledger","Test":"TestA","Elapsed":0}` + "\n"
	subSkips  = `{"Action":"skip","Package":"connectorcore/ledger","Test":"TestA/second","Elapsed":0}` + "\n"
	subPasses = `{"Action":"pass","Package":"connectorcore/ledger","Test":"TestA/second","Elapsed":0}` + "\n"
	good      = `{"Action":"pass","Package":"connectorcore/ledger","Elapsed":0.2}` + "\n"
	bad       = `{"Action":"fail","Package":"connectorcore/ledger","Elapsed":0.2}` + "\n"
	other     = `{"Action":"output","Package":"connectorcore/ledger","Test":"TestAB","Output":"proof: 5 statements on TiDB\n"}` + "\n" +
		`{"Action":"skip","Package":"connectorcore/ledger","Test":"TestAB"}` + "\n"
	unbuilt = `{"ImportPath":"connectorcore/ledger [connectorcore/ledger.test]","Action":"build-output","Output":"ledger/a_test.go:3:31: declared and not used: x\n"}` + "\n" +
		`{"ImportPath":"connectorcore/ledger [connectorcore/ledger.test]","Action":"build-fail"}` + "\n" + start +
		`{"Action":"output","Package":"connectorcore/ledger","Output":"FAIL\tconnectorcore/ledger [build failed]\n"}` + "\n" +
		`{"Action":"fail","Package":"connectorcore/ledger","Elapsed":0,"FailedBuild":"connectorcore/ledger [connectorcore/ledger.test]"}` + "\n"
	unloaded = `{"ImportPath":"./ledger","Action":"build-output","Output":"stat /src/ledger: directory not found\n"}` + "\n" +
		`{"Action":"output","Package":"./ledger","Output":"FAIL\t./ledger [setup failed]\n"}` + "\n" +
		`{"Action":"fail","Package":"./ledger","Elapsed":0,"FailedBuild":"./ledger"}` + "\n"
	panics = `{"Action":"output","Package":"connectorcore/ledger","Test":"TestA","Output":"panic: 1 [recovered, repanicked]\n"}` + "\n"
	late   = `{"Action":"output","Package":"connectorcore/ledger","Test":"TestA","Output":"panic: test timed out after 1s\n"}` + "\n"
)

func TestJudge(t *testing.T) {
	whole, part, pure := "whole\tledger.TestA\t-", "part: the other half\tledger.TestA\t-", "whole\tledger.TestA pure\t-"
	cases := []struct {
		name, row, stream string
		word              claims.Word
		why               string
	}{
		{"passed on TiDB", whole, start + begins + speaks + passes + good, claims.Passed, ""},
		{"a subtest spoke to TiDB", whole, begins + subBegins + subSpeaks + subPasses + passes + good, claims.Passed, ""},
		{"the package failed for another test", whole, begins + speaks + passes + bad, claims.Passed, ""},
		{"proved in part", part, begins + speaks + passes + good, claims.InPart, "the other half"},
		{"pure", pure, begins + passes + good, claims.Passed, ""},
		{"no statement", whole, begins + passes + good, claims.Failed, "without one statement on TiDB"},
		{"zero statements", whole, begins + silent + passes + good, claims.Failed, "without one statement on TiDB"},
		{"a namesake's statements and skip do not count", whole, begins + passes + other + good, claims.Failed, "without one statement"},
		{"failed", whole, begins + speaks + fails + bad, claims.Failed, "ledger.TestA: TestA failed"},
		{"failed once of two runs", whole, begins + speaks + fails + begins + passes + bad, claims.Failed, "TestA failed"},
		{"part that fails", part, begins + speaks + fails + bad, claims.Failed, "TestA failed"},
		{"pure that fails", pure, begins + fails + bad, claims.Failed, "TestA failed"},
		{"skipped", whole, begins + speaks + skips + good, claims.Failed, "TestA was skipped"},
		{"skip in a subtest", whole, begins + speaks + subBegins + subSkips + passes + good, claims.Failed, "TestA/second was skipped"},
		{"no such test", whole, start + good, claims.Failed, "no such test"},
		{"package not run", whole, "", claims.Failed, "was not run, or does not exist"},
		{"does not build", whole, unbuilt, claims.Failed, "do not build"},
		{"does not load", whole, unloaded, claims.Failed, "do not build"},
		{"panic in the test", whole, start + begins + speaks + panics + fails + bad, claims.Failed, "TestA failed"},
		{"process died in the test", whole, start + begins + speaks + bad, claims.Failed, "did not end"},
		{"process died in a subtest", whole, start + begins + speaks + subBegins + bad, claims.Failed, "did not end"},
		{"timeout", whole, start + begins + speaks + late + bad, claims.Failed, "did not end"},
		{"process died before the test", whole, start + bad, claims.Failed, "did not run"},
		{"missing", "missing\t-\t-", begins + fails, claims.NoProof, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			verdict := claims.Judge(parse(t, "K01\t1\tsomething holds\t"+c.row)[0], load(t, c.stream))
			if verdict.Word != c.word || !strings.Contains(verdict.Why, c.why) || (c.why == "") != (verdict.Why == "") {
				t.Fatalf("judged %s %q, want %s %q", verdict.Word, verdict.Why, c.word, c.why)
			}
		})
	}
}

func TestEveryTestOfAClaimCounts(t *testing.T) {
	claim := parse(t, "K01\t1\tsomething holds\twhole\tledger.TestA, ledger.TestGone pure\t-")[0]
	verdict := claims.Judge(claim, load(t, begins+speaks+passes+good))
	if verdict.Word != claims.Failed || !strings.Contains(verdict.Why, "ledger.TestGone: no such test") {
		t.Fatalf("judged %s %q, want FAIL for TestGone", verdict.Word, verdict.Why)
	}
	if strings.Contains(verdict.Why, "TestA:") {
		t.Fatalf("%q blames TestA, which passed", verdict.Why)
	}
}

func parse(t *testing.T, rows ...string) []claims.Claim {
	t.Helper()
	all, err := claims.Parse(strings.NewReader(claims.Header + "\n" + strings.Join(rows, "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func load(t *testing.T, stream string) *gotest.Run {
	t.Helper()
	run, err := gotest.Load(strings.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	return run
}
