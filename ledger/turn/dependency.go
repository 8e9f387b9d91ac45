package turn

import (
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// requiring is an execution that is born here and requires other facts.
type requiring struct {
	input *derivedInput
	by    mover
}

// begins bears the execution of an input. One that requires other facts is decided at the end of the turn, when everything
// is known that the turn brings and completes.
func (t *turn) begins(input *derivedInput, by mover) {
	if len(input.needs) == 0 {
		t.execute(input.execution, by.claim, by.fence)
		return
	}
	t.requiring = append(t.requiring, requiring{input, by})
}

// require decides whether the executions that are born here and require other facts wait. It is where satisfaction is
// pulled first: a fact that was written before the dependency, or is written with it, satisfies it at once (R23).
//
// One that waits has neither a lease nor an attempt: it waits as what it is, and its dependencies are looked at in its
// stead.
func (t *turn) require() error {
	if len(t.requiring) == 0 {
		return nil
	}
	author, err := t.requiring[0].by.profile.Author() // of the one epoch that serves
	if err != nil {
		return err
	}
	var events []facts.EventID
	for _, r := range t.requiring {
		for _, need := range r.input.needs {
			events = append(events, need.Event)
		}
	}
	stand, err := t.stand(author, events)
	if err != nil {
		return err
	}
	for _, r := range t.requiring {
		if err := t.requires(author, r, stand); err != nil {
			return err
		}
	}
	return nil
}

// requires bears the dependencies of one execution, and the execution.
func (t *turn) requires(author facts.Author, r requiring, stand map[facts.EventID]met) error {
	execution := r.input.execution
	var waitsFor facts.DependencyID
	for _, need := range r.input.needs {
		d := inbound.ExecutionDependency{ID: author.Dependency(execution.ID, need.Ordinal).ID, Account: t.account, Execution: execution.ID, Ordinal: need.Ordinal,
			Needs: uint64(len(r.input.needs)), Event: need.Event, Key: need.Key, Deadline: t.held.Now.Add(need.Wait())}
		t.rows.dependencies = append(t.rows.dependencies, d)
		t.rows.looks[d.ID] = t.look(d.Deadline)
		if stand[need.Event] == isMet {
			step, err := t.ends(d, machines.ExecutionDependencySatisfy, inbound.Satisfied{Event: d.Event[:]})
			if err != nil {
				return err
			}
			t.rows.metAtOnce = append(t.rows.metAtOnce, step)
		} else if waitsFor.IsZero() {
			waitsFor = d.ID
		}
	}
	born := r.input.born(attemptOf(r.by.claim))
	if waitsFor.IsZero() {
		t.execute(execution, r.by.claim, r.by.fence)
	} else {
		evidence, err := facts.Prove(inbound.Unmet{Dependency: waitsFor[:]})
		if err != nil {
			return err
		}
		t.execute(execution, nil, r.by.fence)
		head := t.rows.heads[execution.ID]
		head.Due, born.Attempt = t.held.Now.Add(never), 0
		t.rows.heads[execution.ID] = head
		t.rows.begun = append(t.rows.begun, executionStep{Key: t.executionKey(execution.ID), Edge: machines.ExecutionWait, Evidence: evidence})
	}
	t.verdicts[r.by.item].Born = append(t.verdicts[r.by.item].Born, born)
	return nil
}

// never is when an execution is looked at that waits for other facts: its dependencies are looked at in its stead.
const never = 100 * 365 * 24 * time.Hour

// look is when a dependency is looked at that waits: the sooner, the nearer its deadline is, and at its deadline.
func (t *turn) look(deadline facts.Instant) facts.Instant {
	now := t.held.Now
	wait := min(max((deadline.Sub(now)/4).Truncate(time.Microsecond), handOver), waiting)
	if left := deadline.Sub(now); left > 0 && left < wait {
		return deadline
	}
	return now.Add(wait)
}

// met is how an event stands as what a dependency requires.
type met uint8

const (
	isOpen       met = iota // it has not come, or not everything of it is completed
	isMet                   // it has come, and everything that follows from it is completed
	isImpossible            // something that follows from it was never applied, and never will be
)

// stand tells how events of the account stand, earlier items of this turn included.
//
// A completed event is one of which nothing is left to do and nothing failed: every Execution of every Projection that
// follows from it was completed by the Runtime's receipt, with another result than a failure. An event that no route takes
// is completed when it is written. That is exact by keys alone: an event names every Projection that follows from it, in
// its own row, and both were written by one transaction; each of these mints one Execution, whose id follows from its own,
// and which ends by one row of its ledger. What is missing stays missing under the gate.
//
// A Projection that was superseded or set aside mints nothing any more, so that its event can never be completed. A result
// that failed, and an execution that was quarantined, can still have a successor: that is waited for.
func (t *turn) stand(author facts.Author, ids []facts.EventID) (map[facts.EventID]met, error) {
	if err := t.recall(ids); err != nil {
		return nil, err
	}
	projections, executions := map[facts.EventID][]facts.ProjectionID{}, map[facts.ProjectionID]facts.ExecutionID{}
	var begun []facts.ExecutionKey
	for _, id := range ids {
		event, there := t.events[id]
		if _, seen := projections[id]; seen || !there {
			continue
		}
		all, err := event.Projections()
		if err != nil {
			return nil, err
		}
		projections[id] = all
		for _, p := range all {
			executions[p] = author.Execution(p, 0).ID
			begun = append(begun, t.executionKey(executions[p]))
		}
	}
	ended, err := t.completed(begun)
	if err != nil {
		return nil, err
	}
	stand := map[facts.EventID]met{}
	var unborn []facts.ProjectionKey
	for id, all := range projections {
		open := t.events[id].Unwritten > 0
		for _, p := range all {
			if known, fine := ended[executions[p]]; !known || !fine {
				open = true
				if !known {
					unborn = append(unborn, facts.ProjectionKey{Account: t.account, Subject: p})
				}
			}
		}
		if !open {
			stand[id] = isMet
		}
	}
	if len(unborn) == 0 {
		return stand, nil
	}
	over, err := txn.Ended(t.tx, schema.ProjectionHeads, unborn)
	for id, all := range projections {
		for _, p := range all {
			if edge := over[facts.ProjectionKey{Account: t.account, Subject: p}].Edge; edge == machines.ProjectionSupersede.String() || edge == machines.ProjectionQuarantine.String() {
				stand[id] = isImpossible
			}
		}
	}
	return stand, err
}

// recall reads those of the events that are stored and not known yet.
func (t *turn) recall(ids []facts.EventID) error {
	var parents []inbound.Event
	for _, id := range ids {
		if _, known := t.events[id]; !known {
			parents = append(parents, inbound.Event{ID: id})
		}
	}
	if len(parents) == 0 {
		return nil
	}
	there, err := txn.Children(t.tx, schema.Events, parents, 1)
	for _, event := range there {
		if event.Account != t.account {
			return errors.AssertionFailedf("event %s is of account %s, and account %s requires it", event.ID, event.Account, t.account)
		}
		t.events[event.ID] = event
	}
	return err
}

// completed tells of executions that have ended whether they were completed without a failure. One that is not in it has
// not ended, or was never born.
func (t *turn) completed(keys []facts.ExecutionKey) (map[facts.ExecutionID]bool, error) {
	fine := map[facts.ExecutionID]bool{}
	var before []facts.ExecutionKey
	for _, key := range keys {
		if outcome, here := t.results[key.Subject]; here {
			fine[key.Subject] = outcome != machines.ApplicationResultFailed
		} else {
			before = append(before, key)
		}
	}
	if len(before) == 0 {
		return fine, nil
	}
	ended, err := txn.Ended(t.tx, schema.ExecutionHeads, before)
	if err != nil {
		return nil, err
	}
	for key, last := range ended {
		switch last.Edge {
		case machines.ExecutionComplete.String():
			var body inbound.Completed
			if err := facts.ReadEvidence(last.Evidence, &body); err != nil {
				return nil, errors.Wrapf(err, "execution %s", key.Subject)
			}
			fine[key.Subject] = body.Outcome != machines.ApplicationResultFailed.String()
		case machines.ExecutionQuarantineReady.String(), machines.ExecutionQuarantineWaiting.String():
			fine[key.Subject] = false
		}
	}
	return fine, nil
}
