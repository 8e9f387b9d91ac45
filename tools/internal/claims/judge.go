package claims

import (
	"fmt"
	"strings"

	"connectorcore/tools/internal/gotest"
)

// Word is the judgement that is printed behind a claim's id.
type Word string

// The four judgements. Failed is in capitals because it is the one to find in a long list.
const (
	Passed  Word = "pass"
	InPart  Word = "part"
	NoProof Word = "missing"
	Failed  Word = "FAIL"
)

// Verdict is the judgement of one claim.
type Verdict struct {
	Claim Claim
	Word  Word
	Why   string // of Failed: what to look at; of InPart: what is not proved yet
}

// Judge decides one claim by the run of its tests. A claim passes only if it is proved whole and each of its tests
// passed, skipped nothing, and spoke to TiDB unless it is marked pure. A claim proved in part must keep what it
// proves: it fails for the same reasons.
func Judge(claim Claim, run *gotest.Run) Verdict {
	if claim.State == Missing {
		return Verdict{Claim: claim, Word: NoProof}
	}
	var faults []string
	for _, test := range claim.Tests {
		if fault := judgeTest(test, run); fault != "" {
			faults = append(faults, test.String()+": "+fault)
		}
	}
	switch {
	case len(faults) > 0:
		return Verdict{claim, Failed, strings.Join(faults, "; ")}
	case claim.State == Part:
		return Verdict{claim, InPart, claim.Unproved}
	}
	return Verdict{Claim: claim, Word: Passed}
}

// judgeTest returns "" for a test that proves something, and otherwise what is wrong with it.
func judgeTest(test Test, run *gotest.Run) string {
	top := run.Tests[gotest.Name{Package: test.ImportPath(), Test: test.Name}]
	if top == nil {
		return absence(test, run)
	}
	statements := 0
	skipped, unfinished, failed := "", "", ""
	for name, one := range run.Tests {
		if name.Package != test.ImportPath() || name.Test != test.Name && !strings.HasPrefix(name.Test, test.Name+"/") {
			continue
		}
		statements += one.Statements
		switch one.Outcome {
		case gotest.Skip:
			skipped = least(skipped, name.Test)
		case gotest.Fail:
			failed = least(failed, name.Test)
		case gotest.Unfinished:
			unfinished = least(unfinished, name.Test)
		}
	}
	switch {
	case failed != "":
		return failed + " failed"
	case unfinished != "":
		return unfinished + " began and did not end (its process panicked, was killed or ran out of time)"
	case skipped != "":
		return skipped + " was skipped, and what is skipped is not proved"
	case statements == 0 && !test.Pure:
		return "passed without one statement on TiDB: prove it on the database, or mark the test `pure`"
	}
	return ""
}

// absence tells why a test left no trace.
func absence(test Test, run *gotest.Run) string {
	pack := run.Packages[test.ImportPath()]
	if pack == nil {
		pack = run.Packages["./"+test.Package] // how the go command names a folder that it cannot load
	}
	switch {
	case pack == nil:
		return fmt.Sprintf("the package %s was not run, or does not exist", test.Package)
	case pack.FailedBuild:
		return fmt.Sprintf("the package %s or its tests do not build", test.Package)
	case pack.Outcome == gotest.Fail:
		return fmt.Sprintf("did not run: the package %s ended before it, or it does not exist", test.Package)
	}
	return "no such test"
}

// least keeps the first name in order, so that the same run always gives the same sentence.
func least(have, next string) string {
	if have == "" || next < have {
		return next
	}
	return have
}
