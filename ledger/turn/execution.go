package turn

import (
	"bytes"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// head is an execution's head as it stands in this turn, an earlier item's change included.
func (t *turn) head(id facts.ExecutionID) (inbound.ExecutionHead, machines.ExecutionState, bool) {
	guard, live := t.executions.Find(t.executionKey(id))
	return guard.Row, guard.State, live
}

// carry changes a head once; a second change of one head in one turn is refused by the caller.
func (t *turn) carry(head inbound.ExecutionHead) { t.rows.carried = append(t.rows.carried, head) }

func (t *turn) changed(id facts.ExecutionID) bool {
	for _, head := range t.rows.carried {
		if head.Execution == id {
			return true
		}
	}
	return false
}

// claim decides every claim: an execution that is ready, due, and held by nobody, gets its next attempt.
func (t *turn) claim() error {
	for i, item := range t.items {
		if item.Claim == nil {
			continue
		}
		ask := item.Claim
		subject := facts.OfExecution(t.executionKey(ask.Execution))
		head, state, live := t.head(ask.Execution)
		refusal := t.serves(ask.Premise)
		switch {
		case refusal != nil:
		case !live:
			refusal = facts.Refuse(facts.SubjectEnded, subject, "it has no head")
		case state != machines.ExecutionReady:
			refusal = facts.Refuse(facts.WrongState, subject, "it is %s", state)
		case t.changed(ask.Execution):
			refusal = facts.Refuse(facts.LeaseHeld, subject, "an earlier item of this turn has it")
		case head.Due.After(t.held.Now) && head.Holder == ask.Holder && !head.Holder.IsZero():
			t.verdicts[i].Attempt = head.Attempt // the same process asked before, and does not know what became of it
			continue
		case head.Due.After(t.held.Now):
			refusal = facts.Refuse(facts.LeaseHeld, subject, "it is due at %s, and it is %s", head.Due.Format(instantForm), t.held.Now.Format(instantForm))
		}
		if t.refuses(i, refusal) {
			continue
		}
		head.Attempt, head.Holder, head.Due = head.Attempt+1, ask.Holder, t.held.Now.Add(ask.Lease)
		t.carry(head)
		t.rows.attempts = append(t.rows.attempts, inbound.ExecutionAttempt{Execution: ask.Execution, Ordinal: head.Attempt, Account: t.account,
			Holder: ask.Holder, GateFence: ask.Fence})
		t.verdicts[i].Attempt = head.Attempt
	}
	return nil
}

const instantForm = "2006-01-02T15:04:05.000000Z"

// end lets executions go whose attempt brought no result. It is legal in every mode: it opens nothing.
//
// An attempt that another one has overtaken lets nothing go, and how it ended is kept all the same: else an application
// that outlasts every lease would never be found to fail (R27, R45).
func (t *turn) end() error {
	var overtaken []*End
	for i, item := range t.items {
		if item.End == nil {
			continue
		}
		ask := item.End
		subject := facts.OfExecution(t.executionKey(ask.Execution))
		head, state, live := t.head(ask.Execution)
		refusal := t.second()
		switch {
		case refusal != nil:
		case !live:
			refusal = facts.Refuse(facts.SubjectEnded, subject, "it has no head")
		case state != machines.ExecutionReady:
			refusal = facts.Refuse(facts.WrongState, subject, "it is %s", state)
		case head.Attempt == ask.Attempt && head.Holder.IsZero():
			continue // it was ended before
		case head.Attempt != ask.Attempt || head.Holder != ask.Holder || t.changed(ask.Execution):
			refusal = facts.Refuse(facts.StaleHolder, subject, "attempt %d is its last one, and attempt %d was ended", head.Attempt, ask.Attempt)
			if ask.Attempt < head.Attempt || t.changed(ask.Execution) { // perhaps by a claim of this turn
				overtaken = append(overtaken, ask)
			}
		}
		if t.refuses(i, refusal) {
			continue
		}
		head.Holder, head.Due = facts.HolderID{}, t.held.Now.Add(ask.Delay)
		t.carry(head)
		t.rows.ends = append(t.rows.ends, t.endOf(ask))
	}
	return t.overtaken(overtaken)
}

func (t *turn) endOf(ask *End) inbound.AttemptEnd {
	return inbound.AttemptEnd{Execution: ask.Execution, Ordinal: ask.Attempt, Account: t.account, Reason: ask.Reason, Detail: ask.Detail}
}

// overtaken keeps the ends of earlier attempts that these holders really made and that have none yet.
func (t *turn) overtaken(asks []*End) error {
	if len(asks) == 0 {
		return nil
	}
	type attempt struct {
		execution facts.ExecutionID
		ordinal   uint64
	}
	made, ended := map[attempt]facts.HolderID{}, map[attempt]bool{}
	attempts, ends := make([]inbound.ExecutionAttempt, len(asks)), make([]inbound.AttemptEnd, len(asks))
	for i, ask := range asks {
		attempts[i], ends[i] = inbound.ExecutionAttempt{Execution: ask.Execution, Ordinal: ask.Attempt}, t.endOf(ask)
	}
	there, err := txn.Children(t.tx, schema.ExecutionAttempts, attempts, 2)
	if err != nil {
		return err
	}
	for _, one := range there {
		made[attempt{one.Execution, one.Ordinal}] = one.Holder
	}
	before, err := txn.Children(t.tx, schema.AttemptEnds, ends, 2)
	if err != nil {
		return err
	}
	for _, one := range append(before, t.rows.ends...) {
		ended[attempt{one.Execution, one.Ordinal}] = true
	}
	for i, ask := range asks {
		if at := (attempt{ask.Execution, ask.Attempt}); made[at] == ask.Holder && !ask.Holder.IsZero() && !ended[at] {
			ended[at] = true
			t.rows.ends = append(t.rows.ends, ends[i])
		}
	}
	return nil
}

// complete ends executions by the Runtime's receipts.
func (t *turn) complete() error {
	gone, stored, err := t.completing()
	if err != nil {
		return err
	}
	for i, item := range t.items {
		if item.Complete == nil {
			continue
		}
		ask := item.Complete
		evidence, err := facts.Prove(inbound.Completed{Command: ask.Command[:], Ref: ask.Ref.Digest[:], Outcome: ask.Outcome.String(), Result: ask.Result[:], Receipt: ask.Receipt[:]})
		if err != nil {
			return err
		}
		author, err := ask.Profile.Author()
		if err != nil {
			return err
		}
		key := t.executionKey(ask.Execution)
		subject := facts.OfExecution(key)
		_, state, live := t.head(ask.Execution)
		fact, known := stored[ask.Execution]
		last, moved := gone[key]
		switch {
		case t.refuses(i, t.second()):
		case !known || fact.Account != t.account:
			t.verdicts[i].Refusal = facts.Refuse(facts.SubjectMissing, subject, "")
		case author.Command(ask.Execution).ID != ask.Command:
			t.verdicts[i].Refusal = facts.Refuse(facts.ContentDiffers, subject, "the receipt is for command %s, which is not its own", ask.Command)
		case fact.Ref != ask.Ref:
			t.verdicts[i].Refusal = facts.Refuse(facts.ContentDiffers, subject, "the receipt is for another execution reference")
		case moved && last.Edge == machines.ExecutionComplete.String() && bytes.Equal(last.Evidence, evidence.Bytes()):
		case moved && last.Edge == machines.ExecutionComplete.String():
			t.verdicts[i].Refusal = facts.Refuse(facts.ResultContradicts, subject, "it was completed by another receipt")
		case moved:
			t.verdicts[i].Refusal = facts.Refuse(facts.SubjectEnded, subject, "its last transition is %s", last.Edge)
		case !live:
			return errors.AssertionFailedf("execution %s has neither a head nor a transition", ask.Execution)
		case state != machines.ExecutionReady:
			t.verdicts[i].Refusal = facts.Refuse(facts.WrongState, subject, "it is %s", state)
		case fact.Lane != ask.Lane:
			return errors.AssertionFailedf("execution %s has lane %s, and its receipt is brought with %s", ask.Execution, fact.Lane, ask.Lane)
		case t.changed(ask.Execution):
			t.verdicts[i].Refusal = facts.Refuse(facts.WrongState, subject, "another item of this turn changes it; bring the receipt again")
		default:
			gone[key] = txn.Transition{Edge: machines.ExecutionComplete.String(), Evidence: evidence.Bytes()} // for another item (R12)
			t.rows.executed = append(t.rows.executed, executionStep{Key: key, Edge: machines.ExecutionComplete, Evidence: evidence})
			t.results[ask.Execution] = ask.Outcome
			if err := t.release(ask); err != nil {
				return err
			}
		}
	}
	return nil
}

// completing reads the executions that are completed, and how those without a head ended.
func (t *turn) completing() (map[facts.ExecutionKey]txn.Transition, map[facts.ExecutionID]inbound.Execution, error) {
	var parents []inbound.Execution
	var gone []facts.ExecutionKey
	for _, item := range t.items {
		if item.Complete == nil {
			continue
		}
		key := t.executionKey(item.Complete.Execution)
		parents = append(parents, inbound.Execution{ID: key.Subject})
		if _, live := t.executions.Find(key); !live {
			gone = append(gone, key)
		}
	}
	stored := map[facts.ExecutionID]inbound.Execution{}
	ended := map[facts.ExecutionKey]txn.Transition{}
	if len(parents) == 0 {
		return ended, stored, nil
	}
	there, err := txn.Children(t.tx, schema.Executions, parents, 1)
	if err != nil {
		return nil, nil, err
	}
	for _, execution := range there {
		stored[execution.ID] = execution
	}
	if len(gone) > 0 {
		ended, err = txn.Ended(t.tx, schema.ExecutionHeads, gone)
	}
	return ended, stored, err
}
