package facts

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
)

func TestEveryCodeHasExactlyOneRow(t *testing.T) {
	for code := Code(1); code < codes; code++ {
		rows := 0
		for _, tables := range reasonTables {
			for _, table := range tables {
				if _, ok := table[code]; ok {
					rows++
				}
			}
		}
		if rows != 1 {
			t.Errorf("code %d (%s) stands in %d tables, want 1", code, code, rows)
		}
	}
}

func TestZeroCodeIsNoCode(t *testing.T) {
	var blank Refusal
	if blank.Code.String() != "undeclared_code" || len(blank.Code.Reason().Remedies) != 0 {
		t.Errorf("a blank refusal says %q", blank.Error())
	}
	if code, err := ParseCode(""); err == nil {
		t.Errorf("no text was read as code %d", code)
	}
	if all := Reasons(); all[0].Code != ConfigurationInvalid || len(all) != int(codes)-1 {
		t.Errorf("the table has %d rows and begins with %s", len(all), all[0].Code)
	}
}

func TestEveryReasonIsComplete(t *testing.T) {
	text := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	seen := map[string]bool{}
	for _, reason := range Reasons() {
		if !text.MatchString(reason.Text) || seen[reason.Text] {
			t.Errorf("%q: want a text of its own, in lower case with underscores", reason.Text)
		}
		seen[reason.Text] = true
		if parsed, err := ParseCode(reason.Text); err != nil || parsed != reason.Code {
			t.Errorf("%s reads back as %v, %v", reason.Text, parsed, err)
		}
		if reason.Meaning == "" || len(reason.Subjects) == 0 || len(reason.Remedies) == 0 || reason.Alert < NoAlert {
			t.Errorf("%s: a column of its row is empty: %+v", reason.Text, reason)
		}
		if strings.HasSuffix(reason.Meaning, ".") {
			t.Errorf("%s: its meaning is a clause and ends without a full stop", reason.Text)
		}
	}
	if _, err := ParseCode("no_such_code"); err == nil {
		t.Error("an undeclared text was read as a code")
	}
}

func TestEveryHaltAndQuarantineHasAnExactEvidenceQueryAndAnAlert(t *testing.T) {
	for _, reason := range Reasons() {
		if reason.Class != Halted && reason.Class != Quarantined {
			continue
		}
		if reason.Alert == NoAlert {
			t.Errorf("%s: nobody would ever be told", reason.Text)
		}
		for _, kind := range reason.Subjects {
			statement := reason.Evidence.Statement(kind)
			if !regexp.MustCompile(`^SELECT .+ FROM [a-z_]+ WHERE [a-z_]+ = \?( AND [a-z_]+ = \?)?( ORDER BY seq)?$`).MatchString(statement) {
				t.Errorf("%s of %s: evidence %q is not an exact read", reason.Text, kind, statement)
			}
		}
	}
}

func TestEvidenceBindsTheSubjectsOwnKey(t *testing.T) {
	account, permit := Mint[AccountID](), Mint[PermitID]()
	key := PermitKey{Account: account, Subject: permit}
	about := map[SubjectKind]Subject{
		AccountSubject: OfAccount(account), EpochSubject: OfEpoch(Mint[EpochID]()),
		CredentialSubject: OfCredential(Mint[CredentialGenerationID]()), BarrierSubject: OfBarrier(Mint[BarrierSetID]()),
		WindowSubject: OfWindow(WindowKey{account, Mint[WindowID]()}), ExecutionSubject: OfExecution(ExecutionKey{account, Mint[ExecutionID]()}),
		DependencySubject: OfDependency(DependencyKey{account, Mint[DependencyID]()}), EffectSubject: OfEffect(EffectKey{account, Mint[EffectID]()}),
		PermitSubject: OfPermit(key), LinkSubject: OfLink(LinkKey{account, Mint[LinkID]()}),
		OwnerSubject: OfOwner("catalog", Mint[OwnerBarrierID]()), GenerationSubject: OfGeneration("catalog view 1", Digest{1}),
		InputSubject: OfInput("field data.id"), StoreSubject: OfStore("table receipt"),
	}
	for _, reason := range Reasons() {
		for _, kind := range reason.Subjects {
			statement, args, err := Refuse(reason.Code, about[kind], "").Evidence()
			if err != nil || strings.Count(statement, "?") != len(args) {
				t.Errorf("%s of %s: %q binds %d values: %v", reason.Text, kind, statement, len(args), err)
			}
		}
	}
	if _, args, _ := Refuse(WrongState, OfPermit(key), "").Evidence(); len(args) != 1 || args[0] != permit {
		t.Errorf("a permit's ledger is read by %v, want the permit's own id", args)
	}
	if _, args, _ := Refuse(PermitOpen, OfPermit(key), "").Evidence(); len(args) != 2 || args[0] != account {
		t.Errorf("a permit's head is read by %v, want account and permit", args)
	}
	if _, _, err := Refuse(PermitsOpen, OfPermit(key), "").Evidence(); !errors.HasAssertionFailure(err) {
		t.Errorf("a subject that its evidence query cannot bind gave %v, want an assertion", err)
	}
}

func TestRefusalsHaveOneOrderOfPrecedence(t *testing.T) {
	order := []Code{NotServing, StaleFence, EpochMismatch, Revoked, BindingMismatch, WrongState}
	for i := 1; i < len(order); i++ {
		if !order[i-1].Precedes(order[i]) || order[i].Precedes(order[i-1]) {
			t.Errorf("%s must precede %s", order[i-1], order[i])
		}
	}
	if !slices.IsSortedFunc(Reasons(), func(a, b Reason) int { return int(a.Code) - int(b.Code) }) {
		t.Error("the table is not in its order of precedence")
	}
}

// A code's text is stored in rows and stands in alerts, so it is never renamed and never leaves the table.
func TestCodeTextsAreNeverRenamed(t *testing.T) {
	frozen, err := os.ReadFile("testdata/codes.txt")
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Fields(string(frozen))
	for _, text := range texts {
		if _, err := ParseCode(text); err != nil {
			t.Errorf("the frozen text %q left the table: %v", text, err)
		}
	}
	for _, reason := range Reasons() {
		if !slices.Contains(texts, reason.Text) {
			t.Errorf("append %q to testdata/codes.txt: from now on it is stable", reason.Text)
		}
	}
}

func TestEveryRemedyIsAllowedSomewhere(t *testing.T) {
	allowed := map[Remedy]bool{}
	for _, reason := range Reasons() {
		for _, remedy := range reason.Remedies {
			allowed[remedy] = true
		}
	}
	for _, remedy := range Remedies() {
		if !allowed[remedy] || remedy.Sentence() == "" {
			t.Errorf("remedy %s is in the closed list and no reason allows it", remedy)
		}
	}
}

func TestRefusalIsFoundByItsCodeAlone(t *testing.T) {
	refusal := Refuse(StaleFence, OfAccount(Mint[AccountID]()), "fence %d, want %d", 3, 4)
	wrapped := errors.Wrap(refusal, "ledger")
	if !errors.Is(wrapped, StaleFence) {
		t.Error("a wrapped refusal is not found by its code")
	}
	if errors.Is(wrapped, NotServing) || errors.Is(wrapped, ErrOutcomeUnknown) || errors.HasAssertionFailure(wrapped) {
		t.Error("a refusal is taken for another code or another class")
	}
	for _, part := range []string{"stale_fence", refusal.Subject.String(), "fence 3, want 4", PrepareAgain.Sentence()} {
		if !strings.Contains(wrapped.Error(), part) {
			t.Errorf("message %q lacks %q", wrapped, part)
		}
	}
}

func TestUnknownOutcomeIsNeverTakenForItsCause(t *testing.T) {
	for _, cause := range []error{context.Canceled, Refuse(NotServing, OfAccount(Mint[AccountID]()), "")} {
		unknown := errors.Wrap(UnknownOutcome("begin sends", cause), "ledger")
		if !errors.Is(unknown, ErrOutcomeUnknown) {
			t.Errorf("%v is not of the second class", unknown)
		}
		if errors.Is(unknown, context.Canceled) || errors.Is(unknown, NotServing) {
			t.Errorf("%v lets its cause decide", unknown)
		}
		var typed *OutcomeUnknown
		if !errors.As(unknown, &typed) || typed.Transaction != "begin sends" || typed.Cause != cause {
			t.Errorf("the transaction's name or cause was lost: %+v", typed)
		}
		if !strings.Contains(unknown.Error(), `"begin sends"`) {
			t.Errorf("message %q does not name its transaction", unknown)
		}
	}
}

// Scenario 023, the part of facts: text from outside may hold NUL; it goes into an error text without stopping it.
func TestScenario023NULInADetailStopsNothing(t *testing.T) {
	refusal := Refuse(ResultMissing, OfExecution(ExecutionKey{Mint[AccountID](), Mint[ExecutionID]()}), "the handler said %q", "a\x00b")
	if strings.Contains(refusal.Error(), "\x00") || !strings.Contains(refusal.Error(), `a\x00b`) {
		t.Errorf("message %q", refusal)
	}
}
