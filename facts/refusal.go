package facts

import (
	"fmt"

	"github.com/cockroachdb/errors"
)

// Refusal is the first class of failure: a closed code about one exact subject. Nothing was written for that item.
//
// Branch on it with errors.Is(err, facts.StaleFence); read it with errors.As.
type Refusal struct {
	Code    Code
	Subject Subject
	Detail  string // what stood there and what was asked for; no secret and no payload
}

// Refuse makes a Refusal. The detail is a format for what stood there and what was asked for; it may be empty.
func Refuse(code Code, about Subject, detail string, args ...any) *Refusal {
	return &Refusal{Code: code, Subject: about, Detail: fmt.Sprintf(detail, args...)}
}

// Error says what happened, where, and what to do.
func (r *Refusal) Error() string {
	reason := r.Code.Reason()
	text := fmt.Sprintf("%s: %s: %s", r.Code, r.Subject, reason.Meaning)
	if r.Detail != "" {
		text += " (" + r.Detail + ")"
	}
	if len(reason.Remedies) > 0 {
		text += "; to do: " + reason.Remedies[0].Sentence()
	}
	return text
}

// Is matches the refusal's own code, so that callers branch on the code and never on text.
func (r *Refusal) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == r.Code
}

// Evidence is the exact read that shows what the refusal is about, with its arguments. A refused input has none,
// because nothing was stored; then the statement is empty.
func (r *Refusal) Evidence() (statement string, args []any, err error) {
	return r.Code.Reason().Evidence.Read(r.Subject)
}

// EvidenceQuery is how an operator sees a reason's cause with his own eyes: an exact read over the subject's key columns.
type EvidenceQuery string

const (
	// NothingStored is the evidence of a refused input: the request is still in its sender's hands.
	NothingStored EvidenceQuery = ""
	// OfGuard reads the subject's guard or head: where it stands now.
	OfGuard EvidenceQuery = "guard"
	// OfLedger reads the subject's transitions in order, each with its evidence.
	OfLedger EvidenceQuery = "ledger"
)

// Read is the statement for one subject, with one argument for each of its markers.
func (e EvidenceQuery) Read(about Subject) (statement string, args []any, err error) {
	statement = e.Statement(about.kind)
	keys := about.keys
	if e == OfLedger && len(keys) > 0 {
		keys = keys[len(keys)-1:] // a ledger's subject_id is the subject's own id, the last of its key
	}
	if statement == "" || about.kind == StoreSubject {
		return statement, nil, nil
	}
	for _, key := range keys {
		args = append(args, key)
	}
	if markers(statement) != len(args) {
		return "", nil, errors.AssertionFailedf("the evidence of a refusal binds %d keys of %s: %s", len(args), about.kind, statement)
	}
	return statement, args, nil
}

// Statement is the SQL text for a kind of subject.
func (e EvidenceQuery) Statement(kind SubjectKind) string {
	row := subjectRows[kind]
	switch e {
	case OfGuard:
		statement := "SELECT * FROM " + row.guard + " WHERE "
		for i, column := range row.columns {
			if i > 0 {
				statement += " AND "
			}
			statement += column + " = ?"
		}
		return statement
	case OfLedger:
		return "SELECT seq, from_state, edge, to_state, recorded_at, evidence FROM " + row.ledger +
			" WHERE subject_id = ? ORDER BY seq"
	default:
		return string(e)
	}
}

func markers(statement string) int {
	count := 0
	for _, char := range statement {
		if char == '?' {
			count++
		}
	}
	return count
}
