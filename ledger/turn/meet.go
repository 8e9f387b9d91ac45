package turn

import (
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// dependentsMax bounds the dependencies that one turn finds to wait for what it completes. The others look for themselves.
const dependentsMax = 256

func (t *turn) ends(d inbound.ExecutionDependency, edge machines.ExecutionDependencyEdge, body facts.EvidenceBody) (dependencyStep, error) {
	evidence, err := facts.Prove(body)
	return dependencyStep{Key: t.dependencyKey(d.ID), Edge: edge, Evidence: evidence}, err
}

func (t *turn) dependencyKey(id facts.DependencyID) facts.DependencyKey {
	return facts.DependencyKey{Account: t.account, Subject: id}
}

// lockDependents locks the dependencies that items name and those that wait for what items complete, and gives the
// executions that they are of.
func (t *turn) lockDependents() (executions []facts.ExecutionKey, err error) {
	named := txn.Query{Columns: []string{"account_id", "dependency_id"}, Order: "dependency_id", Limit: waitingMax}
	waits := txn.Query{Columns: []string{"event_id"}, Order: "event_id, dependency_id", Limit: dependentsMax}
	for _, item := range t.items {
		switch {
		case item.Meet != nil:
			executions = append(executions, t.executionKey(item.Meet.Execution))
			for _, id := range item.Meet.Dependencies {
				named.Tuples = append(named.Tuples, []any{t.account, id})
			}
		case item.Complete != nil && !item.Complete.Event.IsZero() && item.Complete.Next != nil:
			waits.Tuples = append(waits.Tuples, []any{item.Complete.Event})
		}
	}
	if len(named.Tuples)+len(waits.Tuples) == 0 {
		return executions, nil
	}
	if t.dependents, _, err = txn.LockFound(t.tx, schema.DependencyHeads, named, waits); err != nil {
		return nil, err
	}
	for guard := range t.dependents.All() {
		executions = append(executions, t.executionKey(guard.Row.Execution))
	}
	return executions, nil
}

// dependent is an execution that waits for other facts, with those of its dependencies that this turn looks at.
type dependent struct {
	execution facts.ExecutionID
	by        mover
	ask       *Meet // nil if only a completion has found it: then nothing expires
	heads     []inbound.DependencyHead

	facts  []inbound.ExecutionDependency
	last   facts.DependencyID // that was satisfied
	failed facts.DependencyID
	code   facts.Code
}

// meet decides the dependencies that are due, and those that wait for what is completed here. It comes after the
// completions of the turn: whatever satisfies a dependency in the turn that would expire it has satisfied it (R23).
func (t *turn) meet() error {
	all := t.looked()
	if len(all) == 0 {
		return nil
	}
	author, err := all[0].by.profile.Author() // of the one epoch that serves
	if err != nil {
		return err
	}
	stored, err := t.deadlines(all)
	if err != nil {
		return err
	}
	var events []facts.EventID
	for _, d := range all {
		for _, head := range d.heads {
			events = append(events, head.Event)
		}
	}
	stand, err := t.stand(author, events)
	if err != nil {
		return err
	}
	for _, d := range all {
		for _, head := range d.heads {
			if err := t.decide(d, stored[head.Dependency], head, stand[head.Event]); err != nil {
				return err
			}
		}
	}
	return t.moveOn(author, all)
}

// looked are the executions whose dependencies are looked at, by the item that asks first.
func (t *turn) looked() (all []*dependent) {
	if t.dependents == nil {
		return nil
	}
	found := map[facts.ExecutionID]*dependent{}
	one := func(id facts.ExecutionID, by mover, ask *Meet) *dependent {
		if found[id] == nil {
			found[id] = &dependent{execution: id, by: by, ask: ask}
			all = append(all, found[id])
		}
		return found[id]
	}
	named, completed := map[facts.DependencyID]*dependent{}, map[facts.EventID]mover{}
	for i, item := range t.items {
		switch {
		case item.Meet != nil && !t.refuses(i, t.serves(item.Meet.Premise)):
			ask := item.Meet
			for _, id := range ask.Dependencies {
				named[id] = one(ask.Execution, mover{i, ask.Claim, ask.Fence, ask.Profile}, ask)
			}
		case item.Complete != nil && item.Complete.Next != nil && t.verdicts[i].Refusal == nil:
			if next := item.Complete.Next; t.serves(next.Premise) == nil {
				completed[item.Complete.Event] = mover{i, &next.Holding, next.Fence, item.Complete.Profile}
			}
		}
	}
	heads := slices.Collect(t.dependents.All())
	slices.SortFunc(heads, func(a, b txn.Guard[inbound.DependencyHead, machines.ExecutionDependencyState]) int {
		return a.Row.Dependency.Compare(b.Row.Dependency)
	})
	for _, guard := range heads {
		head := guard.Row
		d := named[head.Dependency]
		if by, done := completed[head.Event]; d == nil && done {
			d = one(head.Execution, by, nil)
		}
		if d != nil && t.room.rows >= dependentRows {
			t.room.rows -= dependentRows
			d.heads = append(d.heads, head)
		}
	}
	return slices.DeleteFunc(all, func(d *dependent) bool { return len(d.heads) == 0 })
}

// dependentRows is what a dependency that is looked at may write: its own transition, that of its execution with an
// attempt, and that of its lane.
const dependentRows = 5

// deadlines reads the facts of the dependencies: a deadline is read where nothing can move it.
func (t *turn) deadlines(all []*dependent) (map[facts.DependencyID]inbound.ExecutionDependency, error) {
	var parents []inbound.ExecutionDependency
	for _, d := range all {
		for _, head := range d.heads {
			if head.Execution != d.execution {
				return nil, errors.AssertionFailedf("dependency %s is of execution %s, and it is looked at for execution %s", head.Dependency, head.Execution, d.execution)
			}
			parents = append(parents, inbound.ExecutionDependency{ID: head.Dependency})
		}
	}
	stored := map[facts.DependencyID]inbound.ExecutionDependency{}
	there, err := txn.Children(t.tx, schema.ExecutionDependencies, parents, 1)
	for _, d := range there {
		stored[d.ID] = d
	}
	if err == nil && len(stored) != len(parents) {
		return nil, errors.AssertionFailedf("%d dependencies have a head, and %d a fact", len(parents), len(stored))
	}
	return stored, err
}

// decide ends a dependency, or leaves it waiting. It expires only if the deadline has passed by the database's time and
// nothing that has come is still to be read.
func (t *turn) decide(d *dependent, fact inbound.ExecutionDependency, head inbound.DependencyHead, stands met) error {
	d.facts = append(d.facts, fact)
	var step dependencyStep
	var err error
	switch {
	case stands == isMet:
		step, err = t.ends(fact, machines.ExecutionDependencySatisfy, inbound.Satisfied{Event: fact.Event[:]})
		d.last = fact.ID
	case d.ask == nil:
		return nil
	case stands == isImpossible:
		step, err = t.ends(fact, machines.ExecutionDependencyReject, inbound.Rejected{Event: fact.Event[:]})
		d.failed, d.code = fact.ID, facts.DependencyRejected
	default:
		open, asked := true, !fact.Deadline.After(t.held.Now)
		if asked {
			open, err = t.backlog()
		}
		if err != nil {
			return err
		}
		if open {
			head.Due = t.look(fact.Deadline)
			t.rows.unmet = append(t.rows.unmet, head)
			return nil
		}
		step, err = t.ends(fact, machines.ExecutionDependencyExpire, inbound.Expired{Event: fact.Event[:], Found: t.held.Now.UnixMicro()})
		d.failed, d.code = fact.ID, facts.DependencyExpired
	}
	if err == nil {
		t.rows.met = append(t.rows.met, step)
	}
	return err
}

// moveOn moves the executions of which a dependency has ended: one whose dependency failed is set aside, and one that waits
// for nothing any more is ready. An execution that another dependency has set aside before stays where it is.
func (t *turn) moveOn(author facts.Author, all []*dependent) error {
	var moved []*dependent
	var parents []inbound.Execution
	for _, d := range all {
		_, state, live := t.head(d.execution)
		switch {
		case d.last.IsZero() && d.failed.IsZero() || !live:
			continue
		case state != machines.ExecutionWaitingDependency:
			return errors.AssertionFailedf("execution %s is %s, and it has a dependency that waits", d.execution, state)
		}
		moved, parents = append(moved, d), append(parents, inbound.Execution{ID: d.execution})
	}
	if len(moved) == 0 {
		return nil
	}
	waits, err := t.siblings(author, moved)
	if err != nil {
		return err
	}
	executions := map[facts.ExecutionID]inbound.Execution{}
	there, err := txn.Children(t.tx, schema.Executions, parents, 1)
	if err != nil {
		return err
	}
	for _, execution := range there {
		executions[execution.ID] = execution
	}
	var ready []*dependent
	for _, d := range moved {
		switch {
		case !d.failed.IsZero():
			err = t.setAside(d, executions[d.execution])
		case !waits[d.execution]:
			ready = append(ready, d)
		}
		if err != nil {
			return err
		}
	}
	return t.resume(author, ready, executions)
}

// siblings tells which executions have a dependency that goes on waiting. Under the gate nobody else ends one.
func (t *turn) siblings(author facts.Author, moved []*dependent) (map[facts.ExecutionID]bool, error) {
	ended := map[facts.DependencyKey]bool{}
	for _, step := range t.rows.met {
		ended[step.Key] = true
	}
	of := map[facts.DependencyKey]facts.ExecutionID{}
	var keys []facts.DependencyKey
	for _, d := range moved {
		for n := range d.facts[0].Needs {
			if key := t.dependencyKey(author.Dependency(d.execution, n).ID); !ended[key] {
				of[key], keys = d.execution, append(keys, key)
			}
		}
	}
	waits := map[facts.ExecutionID]bool{}
	if len(keys) == 0 {
		return waits, nil
	}
	there, err := txn.Standing(t.tx, schema.DependencyHeads, keys)
	for key := range there {
		waits[of[key]] = true
	}
	return waits, err
}

// setAside quarantines an execution of which a dependency failed. Its lane is held: a failure releases nothing (R22).
func (t *turn) setAside(d *dependent, execution inbound.Execution) error {
	t.verdicts[d.by.item].Failed = d.code
	evidence, err := facts.Prove(inbound.DependencyFailed{Execution: d.execution[:], Dependency: d.failed[:], Reason: d.code.String()})
	if err != nil {
		return err
	}
	t.rows.executed = append(t.rows.executed, executionStep{Key: t.executionKey(d.execution), Edge: machines.ExecutionQuarantineWaiting, Evidence: evidence})
	if execution.Lane != d.ask.Lane {
		return errors.AssertionFailedf("execution %s has lane %s, and its dependency is looked at with %s", d.execution, execution.Lane, d.ask.Lane)
	}
	if execution.Lane.IsZero() {
		return nil
	}
	l := t.lanes[execution.Lane]
	if l.state != machines.OrderingLaneTaken || l.row.Active != d.execution {
		return errors.AssertionFailedf("lane %s is %s with execution %s, and execution %s waits in it", execution.Lane, l.state, l.row.Active, d.execution)
	}
	l.step(machines.OrderingLaneHoldUnmet, evidence, l.row)
	return nil
}

// resume makes executions ready that wait for nothing any more, and claims them if their item does.
func (t *turn) resume(author facts.Author, ready []*dependent, executions map[facts.ExecutionID]inbound.Execution) error {
	if len(ready) == 0 {
		return nil
	}
	var parents []inbound.Projection
	for _, d := range ready {
		parents = append(parents, inbound.Projection{ID: executions[d.execution].Projection})
	}
	projections := map[facts.ProjectionID]inbound.Projection{}
	there, err := txn.Children(t.tx, schema.Projections, parents, 1)
	if err != nil {
		return err
	}
	for _, projection := range there {
		projections[projection.ID] = projection
	}
	for _, d := range ready {
		evidence, err := facts.Prove(inbound.Resumed{Dependency: d.last[:]})
		if err != nil {
			return err
		}
		head, _, _ := t.head(d.execution)
		head.Due = t.held.Now
		if claim := d.by.claim; claim != nil {
			head.Attempt, head.Holder, head.Due = head.Attempt+1, claim.Holder, t.held.Now.Add(claim.Lease)
			t.rows.attempts = append(t.rows.attempts, inbound.ExecutionAttempt{Execution: d.execution, Ordinal: head.Attempt, Account: t.account,
				Holder: claim.Holder, GateFence: d.by.fence})
		}
		t.rows.executed = append(t.rows.executed, executionStep{Key: t.executionKey(d.execution), Edge: machines.ExecutionResume, Evidence: evidence, Row: &head})
		execution := executions[d.execution]
		brief := derivedInput{execution: execution, projection: projections[execution.Projection], command: author.Command(execution.ID).ID}
		t.verdicts[d.by.item].Born = append(t.verdicts[d.by.item].Born, brief.born(head.Attempt))
	}
	return nil
}
