package facts

import (
	"slices"
	"time"

	"github.com/cockroachdb/errors"
)

//go:generate go run ./internal/refusalsdoc -out ../docs/refusals.md

// Reason is one row of the closed table of refusals and of reasons to halt or to quarantine.
//
// Spec: Operational liveness and maintenance admission ("closed reason code").
type Reason struct {
	Code     Code
	Text     string        // stable; stored, exported as a metric label and shown
	Class    Class         // what the code does to its subject
	Owner    Owner         // who must act
	Subjects []SubjectKind // what it can be about
	Evidence EvidenceQuery // the exact read that shows it
	Alert    time.Duration // how long it may stand before an alert: NoAlert, or zero for at once
	Remedies []Remedy      // the only ways out, the usual one first
	Meaning  string        // what happened, as a clause
}

// NoAlert marks a reason that nobody needs to be woken for.
const NoAlert time.Duration = -1

// Class says what a code does.
type Class uint8

// The classes of a Reason.
const (
	Unstarted   Class = iota // the process does not start; nothing was changed
	Refused                  // one item of a transaction is refused; its neighbours go on
	Halted                   // the subject stands still in a nonterminal state until its owner acts
	Quarantined              // the subject is set aside for good; remediation makes a new fact and never edits it
)

// String is the word that docs and operators read.
func (c Class) String() string {
	return word(int(c), "not started", "refused", "halted", "quarantined")
}

// Owner is who is responsible for a reason.
type Owner uint8

// The owners of reasons. The last five are outside of this project; it verifies their receipts and never acts for
// them.
const (
	Caller Owner = iota // whoever handed the item in
	LedgerOwner
	DispatchOwner
	Operator
	RuntimeOwner
	CatalogOwner
	ConfigurationOwner
	CredentialAuthority
	PackAuthor
)

// String is the words that docs and operators read.
func (o Owner) String() string {
	return word(int(o), "caller", "ledger", "dispatch", "operator", "runtime", "catalog",
		"service configuration", "credential authority", "pack author")
}

// Remedy is a verb of the closed list of what may be done about a reason. There is no other: nothing here cancels,
// edits or reopens a fact.
type Remedy uint8

// The allowed remedies.
const (
	CorrectInput Remedy = iota
	RepairStore
	PrepareAgain
	RunAgain
	LetDrain
	AppendEvidence
	Reconcile
	CorrectGeneration
	AuthoriseReplay
	AuthoriseSuccessor
	HaltGate
	RevokeCredential
	ReleaseBarrier
	ReenableCredential
	IsolateHolder
	RetireLink
	LeaveUnsupported
	ReportDefect
)

var remedyRows = [...]struct{ verb, sentence string }{
	CorrectInput:       {"correct_input", "correct what was given, and give it again"},
	RepairStore:        {"repair_store", "set the store or the configuration right, then start again"},
	PrepareAgain:       {"prepare_again", "read the account's gate and epoch, prepare the item under them, and submit it again"},
	RunAgain:           {"run_again", "submit the same item again with the same ids when the named condition has passed"},
	LetDrain:           {"let_drain", "let the open work reach its end; nothing is cancelled by time"},
	AppendEvidence:     {"append_evidence", "append the owner's authoritative evidence; the fact itself stays as it is"},
	Reconcile:          {"reconcile", "ask the remote side under a ReadPermit and settle from its answer"},
	CorrectGeneration:  {"correct_generation", "mint a corrected generation at its owner and serve it through a successor epoch"},
	AuthoriseReplay:    {"authorise_replay", "authorise a replay, which makes new facts and no external effect"},
	AuthoriseSuccessor: {"authorise_successor", "authorise a successor effect generation, which asks for proof that the former had no effect"},
	HaltGate:           {"halt_gate", "halt the account's gate and let its permits drain"},
	RevokeCredential:   {"revoke_credential", "revoke the credential generation, after which its granted permits can never be sent and may be abandoned"},
	ReleaseBarrier:     {"release_barrier", "abort and release the barrier set by its fence"},
	ReenableCredential: {"reenable_credential", "let the credential authority enable the generation again, or serve another one through a successor epoch"},
	IsolateHolder:      {"isolate_holder", "record the receipt which proves that the holder has ended and cannot send, then abandon its permits"},
	RetireLink:         {"retire_link", "authorise the retirement of the other link"},
	LeaveUnsupported:   {"leave_unsupported", "leave the route explicitly unsupported"},
	ReportDefect:       {"report_defect", "report it with both digests: one of the two authors broke its contract"},
}

// String is the stable verb.
func (r Remedy) String() string { return remedyRows[r].verb }

// Sentence says what the verb means to whoever does it.
func (r Remedy) Sentence() string { return remedyRows[r].sentence }

// Remedies is the closed list, in the order of the docs.
func Remedies() []Remedy {
	all := make([]Remedy, len(remedyRows))
	for i := range all {
		all[i] = Remedy(i)
	}
	return all
}

// Reasons is the whole table. Its order is the order of precedence: where an item could be refused by several
// codes, the first of them is the answer.
func Reasons() []Reason {
	all := make([]Reason, 0, codes-1)
	for code := Code(1); code < codes; code++ {
		all = append(all, code.Reason())
	}
	return all
}

// Reason is the code's row of the table. An undeclared Code is our own bug and reads as an unnamed row.
func (c Code) Reason() Reason {
	if c == 0 || c >= codes {
		return Reason{Code: c, Text: "undeclared_code", Meaning: "a code outside the closed table was used"}
	}
	reason := reasons[c]
	reason.Subjects = slices.Clone(reason.Subjects)
	reason.Remedies = slices.Clone(reason.Remedies)
	return reason
}

// String is the code's stable text.
func (c Code) String() string { return c.Reason().Text }

// Error makes a Code a target of errors.Is. What is returned to a caller is a Refusal, which also says where.
func (c Code) Error() string { return c.String() }

// SafeValue marks a code as free of secrets for redactable errors.
func (c Code) SafeValue() {}

// Precedes tells whether this code is the answer where both apply.
func (c Code) Precedes(other Code) bool { return c < other }

// ParseCode reads a code's stable text.
func ParseCode(text string) (Code, error) {
	for code := Code(1); code < codes; code++ {
		if reasons[code].Text == text {
			return code, nil
		}
	}
	return 0, errors.Newf("reason code %q: no row of the table has it; docs/refusals.md lists all", text)
}

func word(index int, words ...string) string {
	if index >= len(words) {
		return "undeclared"
	}
	return words[index]
}
