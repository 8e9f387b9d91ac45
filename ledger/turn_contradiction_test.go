package ledger_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// planted is a contradiction that no transaction of ours can make: a pending Receipt of two events of which the first stands,
// and an execution that is held, with something in the tables made otherwise by hand.
type planted struct {
	plant string // what is made otherwise
	try   func(c contradiction) turn.Item
	// What a turn answers: a refusal, or an assertion, or for neither what it may have written.
	code   facts.Code
	broken bool
	writes string
}

type contradiction struct {
	premise inbound.Premise
	pending facts.ReceiptID
	whole   *turn.Content
	held    turn.Born
}

func (c contradiction) materialize() turn.Item {
	return turn.Item{Materialize: &turn.Materialization{Premise: c.premise, Receipt: c.pending, Content: *c.whole}}
}

func (c contradiction) complete() turn.Item { return turn.Item{Complete: completion(c.held)} }

func (c contradiction) end() turn.Item {
	return turn.Item{End: &turn.End{Execution: c.held.Execution, Attempt: 1, Holder: holder, Reason: facts.ExecutionFailing, Detail: []byte("no")}}
}

func (c contradiction) claim() turn.Item {
	return turn.Item{Claim: &turn.Claim{Premise: c.premise, Holding: turn.Holding{Holder: facts.Mint[facts.HolderID](), Lease: time.Minute}, Execution: c.held.Execution}}
}

var contradictions = map[string]planted{
	"nothing": {"DO 0", contradiction.materialize, 0, false, "receipt_component 1; event 1; projection 1; execution 1; execution_head 1; receipt_ledger 1; receipt_head -1"},
	"a component of other content": {"UPDATE receipt_component SET content_digest=REPEAT('x', 32) WHERE receipt_id=?",
		contradiction.materialize, facts.ContentDiffers, false, ""},
	"a component of another event": {"UPDATE receipt_component SET event_id=REPEAT('x', 16) WHERE receipt_id=?",
		contradiction.materialize, facts.ContentDiffers, false, ""},
	"a component that was set aside": {"UPDATE receipt_component SET verdict='quarantined', reason='event_unmatched', event_id=NULL, content_digest=NULL WHERE receipt_id=?",
		contradiction.materialize, facts.ContentDiffers, false, ""},
	"a component too many": {"UPDATE receipt_component SET ordinal=7 WHERE receipt_id=?", contradiction.materialize, facts.ContentDiffers, false, ""},
	"a component that is missing": {"DELETE FROM receipt_component WHERE receipt_id=?", contradiction.materialize, 0, false,
		"receipt_component 2; event 1; projection 1; execution 1; execution_head 1; receipt_ledger 1; receipt_head -1"},
	"an event of other content": {"UPDATE event SET content_digest=REPEAT('x', 32), receipt_id=REPEAT('y', 16) WHERE receipt_id=?", contradiction.materialize, 0, false,
		"receipt_component 1; event 1; projection 1; execution 1; execution_head 1; receipt_ledger 1; receipt_head -1"},
	// What follows from an event stands or falls with it: a part of it that is gone is no gap to fill.
	"an event without its projection": {"DELETE FROM projection WHERE event_id IN (SELECT event_id FROM event WHERE receipt_id=?)", contradiction.materialize, 0, false,
		"receipt_component 1; event 1; projection 1; execution 1; execution_head 1; receipt_ledger 1; receipt_head -1"},
	"an execution of another reference": {"UPDATE execution SET execution_ref_digest=REPEAT('x', 32)", contradiction.complete, facts.ContentDiffers, false, ""},
	"an execution of another account":   {"UPDATE execution SET account_id=REPEAT('x', 16)", contradiction.complete, facts.SubjectMissing, false, ""},
	"a head that is missing":            {"DELETE FROM execution_head", contradiction.complete, 0, true, ""},
	"a missing head, claimed":           {"DELETE FROM execution_head", contradiction.claim, facts.SubjectEnded, false, ""},
	"a head in another state":           {"UPDATE execution_head SET state='waiting_dependency', fence=2", contradiction.complete, facts.WrongState, false, ""},
	"a head that waits, claimed":        {"UPDATE execution_head SET state='waiting_dependency', fence=2, due_at='2020-01-01'", contradiction.claim, facts.WrongState, false, ""},
	"an attempt that ended otherwise": {"INSERT INTO execution_attempt_end (execution_id, ordinal, account_id, reason, detail) SELECT execution_id, 1, account_id, 'execution_failing', 'else' FROM execution_head",
		contradiction.end, 0, true, ""},
	// The head went on, so the end is late and no contradiction: it is kept as the end of its own attempt, and moves nothing.
	"an attempt after the last one": {"UPDATE execution_head SET attempt=2", contradiction.end, facts.StaleHolder, false, "execution_attempt_end 1"},
	"a completion of another edge": {"INSERT INTO execution_ledger (subject_id, seq, from_state, edge, to_state, evidence) SELECT execution_id, 1, 'ready', 'quarantine_ready', 'quarantined', '' FROM execution_head WHERE holder_id IS NOT NULL",
		contradiction.complete, 0, true, ""},
}

// Q12: a turn derives what is missing below exact parents, and repairs nothing: what contradicts it is refused, or stops the
// turn, and every row that was there stays as it was.
func TestQ12AContradictionIsRefusedAndNotRepaired(t *testing.T) {
	for name, p := range contradictions {
		s, premise := servingScene(t)
		bare := delivery(t, premise, "d-1", "a body", nil)
		held := s.admit(bare, delivery(t, premise, "d-2", "b body", eventsOf(t, true, "e-9")))[1].Born[0]
		whole := eventsOf(t, true, "e-1", "e-2")
		part := turn.Content{Profile: whole.Profile, Components: whole.Components[:1], Open: true}
		s.turn(turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: part}})
		var args []any
		if strings.Contains(p.plant, "?") {
			args = append(args, bare.Receipt)
		}
		_, err := s.store.Admin.ExecContext(t.Context(), p.plant, args...)
		ok(t, err)
		image, before := s.image(), s.counts()
		l := s.open(s.store.Pool(t, schema.RoleLedger), ledger.WithClock(&clock{}))
		verdicts, err := l.TakeTurn(t.Context(), s.accounts[0], []turn.Item{p.try(contradiction{premise, bare.Receipt, whole, held})})
		switch {
		case p.broken != errors.HasAssertionFailure(err) || !p.broken && err != nil:
			t.Errorf("%s: %v", name, err)
		case err == nil && codeOf(verdicts[0]) != p.code:
			t.Errorf("%s: %+v, want %s", name, verdicts[0], p.code)
		}
		if p.writes == "" && s.image() != image {
			t.Errorf("%s: the rows were\n%s\nand are\n%s", name, image, s.image())
		}
		after, wrote := s.counts(), ""
		for _, table := range []string{"receipt_component", "event", "projection", "execution", "execution_head", "receipt_ledger", "receipt_head", "execution_ledger", "execution_attempt_end"} {
			if n := after[table] - before[table]; n != 0 {
				wrote += fmt.Sprintf("%s %d; ", table, n)
			}
		}
		if wrote = strings.TrimSuffix(wrote, "; "); wrote != p.writes {
			t.Errorf("%s: wrote %s, want %s", name, wrote, p.writes)
		}
		if n := s.count("SELECT COUNT(*) FROM receipt_component WHERE reason='content_differs'"); n != 0 && name != "an event of other content" {
			t.Errorf("%s: %d components were set aside", name, n)
		}
	}
}

// What another epoch admitted is not carried out under the one that serves, whoever claimed it.
func TestR26AnExecutionOfAnotherEpochIsNotApplied(t *testing.T) {
	a := newApplying(t, "e-1")
	_, err := a.store.Admin.ExecContext(t.Context(), "UPDATE execution SET epoch_id = ?", facts.Mint[facts.EpochID]())
	ok(t, err)
	_, err = a.once(a.app, a.create)
	refused(t, "an execution of another epoch", err, facts.EpochMismatch)
	_, err = a.app.CloseCommand(t.Context(), a.apply(0, nil))
	refused(t, "its close", err, facts.EpochMismatch)
	a.expect("after both", "0 contacts, results none")
}
