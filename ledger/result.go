package ledger

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// batch are commands of one account that share a transaction.
type batch struct {
	account facts.AccountID
	applies []Apply
}

// newBatch asserts what a caller of ours owes.
func newBatch(account facts.AccountID, applies []Apply) (*batch, error) {
	seen := map[facts.ExecutionID]bool{}
	for _, apply := range applies {
		author, err := apply.Profile.Author()
		switch {
		case err != nil:
			return nil, err
		case apply.Account != account:
			return nil, errors.AssertionFailedf("command %s of account %s among those of %s", apply.Command, apply.Account, account)
		case seen[apply.Execution]:
			return nil, errors.AssertionFailedf("execution %s twice in one transaction", apply.Execution)
		case author.Command(apply.Execution).ID != apply.Command:
			return nil, facts.Refuse(facts.ContentDiffers, apply.subject(), "command %s is not its own", apply.Command)
		}
		seen[apply.Execution] = true
	}
	return &batch{account, applies}, nil
}

func (a Apply) subject() facts.Subject {
	return facts.OfExecution(facts.ExecutionKey{Account: a.Account, Subject: a.Execution})
}

func (b *batch) refs() []inbound.CommandRef {
	refs := make([]inbound.CommandRef, len(b.applies))
	for i, apply := range b.applies {
		refs[i] = apply.CommandRef
	}
	return refs
}

// settle is what is found, or refused, where it is not known whether the commands committed.
func (b *batch) settle(tx *txn.Tx) ([]inbound.ApplicationResult, error) {
	stood, err := b.stand(tx)
	if err != nil {
		return nil, err
	}
	if err := stood.read(tx, b); err != nil {
		return nil, err
	}
	results, refusal := stood.decide(b)
	switch {
	case refusal != nil:
		return nil, refusal
	case results == nil:
		return nil, txn.ErrCodeDue
	}
	return results, nil
}

// commit writes the results, unless there is something that says otherwise.
func (b *batch) commit(tx *txn.Tx, answers []Answer) ([]inbound.ApplicationResult, error) {
	stood, err := b.stand(tx)
	if err != nil {
		return nil, err
	}
	brings := make([]inbound.ApplicationResult, len(b.applies))
	for i, apply := range b.applies {
		brings[i] = inbound.ApplicationResult{Command: apply.Command, Account: b.account, Execution: apply.Execution, ExecutionRef: apply.Ref.Digest,
			Outcome: answers[i].Outcome, Result: inbound.ResultDigest(apply.Profile, answers[i].Payload), Payload: answers[i].Payload}
	}
	loaded, err := txn.Load(tx, schema.ApplicationResults, brings)
	if err != nil {
		return nil, err
	}
	for i := range brings {
		if loaded.Match(i) == txn.Missing {
			continue
		}
		if err := stood.read(tx, b); err != nil {
			return nil, err
		}
		break
	}
	results, refusal := stood.decide(b)
	switch {
	case refusal != nil:
		return nil, refusal
	case results != nil:
		return results, nil // and what the code wrote is rolled back
	case len(stood.results) > 0:
		return nil, ErrApart
	}
	// Every check is above this line; below it the transaction commits whole or not at all.
	return brings, tx.Apply(txn.Append(loaded))
}

// stood is what an attempt at the transaction has found under the account's gate.
type stood struct {
	account    *txn.Account
	heads      *txn.Guards[facts.ExecutionKey, inbound.ExecutionHead, machines.ExecutionState, machines.ExecutionEdge]
	executions map[facts.ExecutionID]inbound.Execution
	results    map[facts.CommandID]inbound.ApplicationResult
	lanes      map[facts.LaneKey]txn.Guard[inbound.Lane, machines.OrderingLaneState]
}

func (b *batch) stand(tx *txn.Tx) (*stood, error) {
	account, err := txn.LockAccount(tx, b.account)
	if err != nil {
		return nil, err
	}
	found := &stood{account: account, executions: map[facts.ExecutionID]inbound.Execution{}, results: map[facts.CommandID]inbound.ApplicationResult{}}
	var keys []facts.ExecutionKey
	var executions []inbound.Execution
	for _, apply := range b.applies {
		keys = append(keys, facts.ExecutionKey{Account: b.account, Subject: apply.Execution})
		executions = append(executions, inbound.Execution{ID: apply.Execution})
	}
	if found.heads, err = txn.Lock(tx, schema.ExecutionHeads, keys); err != nil {
		return nil, err
	}
	births, err := txn.Children(tx, schema.Executions, executions, 1)
	if err != nil {
		return nil, err
	}
	var lanes []facts.LaneKey
	for _, birth := range births {
		found.executions[birth.ID] = birth
		if !birth.Lane.IsZero() {
			lanes = append(lanes, facts.LaneKey{Account: b.account, Subject: birth.Lane})
		}
	}
	if len(lanes) > 0 { // whoever writes a lane holds the account's gate
		found.lanes, err = txn.Standing(tx, schema.Lanes, lanes)
	}
	return found, err
}

// read reads the results that the commands have.
func (s *stood) read(tx *txn.Tx, b *batch) error {
	var parents []inbound.ApplicationResult
	for _, apply := range b.applies {
		parents = append(parents, inbound.ApplicationResult{Command: apply.Command})
	}
	there, err := txn.Children(tx, schema.ApplicationResults, parents, 1)
	for _, result := range there {
		s.results[result.Command] = result
	}
	return err
}

// decide gives the results if all commands have theirs, or the first refusal of one that has none. Neither means that they
// are to be written.
//
// A command under another reference than its execution's is refused before it is looked at whether it has a result, so
// that the one cannot be told from the other (P22).
func (s *stood) decide(b *batch) ([]inbound.ApplicationResult, *facts.Refusal) {
	var results []inbound.ApplicationResult
	for _, apply := range b.applies {
		birth, born := s.executions[apply.Execution]
		if !born || birth.Account != b.account {
			return nil, facts.Refuse(facts.SubjectMissing, apply.subject(), "")
		}
		if birth.Ref != apply.Ref {
			return nil, facts.Refuse(facts.ContentDiffers, apply.subject(), "the command names another execution reference")
		}
		if result, there := s.results[apply.Command]; there {
			results = append(results, result)
		} else if refusal := s.refuse(apply, birth); refusal != nil {
			return nil, refusal
		}
	}
	if len(results) < len(b.applies) {
		return nil, nil
	}
	return results, nil
}

// refuse tells why a command without a result may get none now (R26).
func (s *stood) refuse(apply Apply, birth inbound.Execution) *facts.Refusal {
	if s.account.Serving == nil {
		return s.account.Refusal
	}
	if refusal := s.account.Serving.Premise(apply.Fence, apply.Epoch); refusal != nil {
		return refusal
	}
	if birth.Epoch != apply.Epoch.ID { // nothing is carried out under another epoch than the one that admitted it
		return facts.Refuse(facts.EpochMismatch, apply.subject(), "it was born under epoch %s, and epoch %s serves", birth.Epoch, apply.Epoch.ID)
	}
	head, live := s.heads.Find(facts.ExecutionKey{Account: apply.Account, Subject: apply.Execution})
	switch {
	case !live:
		return facts.Refuse(facts.SubjectEnded, apply.subject(), "it has no head")
	case head.State != machines.ExecutionReady:
		return facts.Refuse(facts.WrongState, apply.subject(), "it is %s", head.State)
	}
	if lane := s.lanes[facts.LaneKey{Account: apply.Account, Subject: birth.Lane}]; !birth.Lane.IsZero() && lane.Row.Active != apply.Execution {
		return facts.Refuse(facts.StaleHolder, apply.subject(), "its lane is %s, and names execution %s", lane.State, lane.Row.Active)
	}
	return nil
}

// results reads the results of commands by their exact references. One under another reference is as good as missing (P22).
func (l *Ledger) results(ctx context.Context, refs []inbound.CommandRef) ([]inbound.ApplicationResult, error) {
	parents := make([]inbound.ApplicationResult, len(refs))
	asked := map[facts.CommandID]facts.Digest{}
	for i, ref := range refs {
		parents[i] = inbound.ApplicationResult{Command: ref.Command}
		asked[ref.Command] = ref.Ref.Digest
	}
	all, err := readers.Many(ctx, l.reads, schema.ApplicationResults, parents, 1)
	var exact []inbound.ApplicationResult
	for _, result := range all {
		if result.ExecutionRef == asked[result.Command] {
			exact = append(exact, result)
		}
	}
	return exact, errors.Wrap(err, "application results")
}
