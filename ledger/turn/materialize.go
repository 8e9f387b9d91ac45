package turn

import (
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"
)

// contentOf is the content that an item brings.
type contentOf struct {
	item    int
	derived []derived
	claim   *Holding
	fence   facts.Fence
	profile facts.Profile
	done    bool // it was written before: nothing is written again, and what it brought is told
}

func (c contentOf) takes() room {
	sum := room{rows: 1}
	for _, d := range c.derived {
		takes := d.takes()
		sum = room{sum.rows + takes.rows, sum.bytes + takes.bytes}
	}
	return sum
}

// load reads the stored events of contents. One that an earlier item of this turn brings stays as it is there: no row of it
// can be read yet.
func (t *turn) load(all []contentOf) error {
	var parents []inbound.Event
	for _, c := range all {
		for _, d := range c.derived {
			if d.event != nil {
				parents = append(parents, *d.event)
			}
		}
	}
	if len(parents) == 0 {
		return nil
	}
	there, err := txn.Children(t.tx, schema.Events, parents, 1)
	for _, event := range there {
		t.events[event.ID] = event
	}
	return err
}

// bring writes the components of a content that have no row yet, in their order and as far as there is room, with
// everything that follows from each. It gives how many of the components have their row then.
//
// An event that is there was written with everything that follows from it, by the same transaction: so a component that
// brings it again brings nothing else (R02, R16).
//
// What was done before is only told: an event that is not there was left to a Materialization, with its premise.
func (t *turn) bring(c contentOf, before map[uint64]inbound.Component) int {
	for i, d := range c.derived {
		if _, there := before[uint64(i)]; !c.done && !there {
			if !t.room.holds(d.takes()) {
				return i
			}
			t.room = t.room.less(d.takes())
		}
		component := d.component
		if d.event != nil {
			stored, known := t.events[d.event.ID]
			switch {
			case !known && c.done:
			case !known:
				t.events[d.event.ID] = *d.event
				t.follow(c, d)
			case stored.Receipt == d.event.Receipt && stored.Ordinal == d.event.Ordinal:
				if c.done || t.tx.Settling() { // written before, perhaps by a commit of this very turn
					t.tell(c, d)
				}
			case stored.Content != d.component.Content:
				component.Verdict, component.Reason = inbound.ComponentQuarantined, facts.ContentDiffers
			}
		}
		if _, there := before[uint64(i)]; !c.done && !there {
			t.rows.components = append(t.rows.components, component)
		}
	}
	return len(c.derived)
}

// follow writes a new event and what follows from it.
func (t *turn) follow(c contentOf, d derived) {
	t.rows.events = append(t.rows.events, *d.event)
	for i := range d.inputs {
		t.apply(c, &d.inputs[i])
	}
	for i := range d.joins {
		t.join(d.event, &d.joins[i])
	}
	t.tell(c, d)
}

// apply mints the execution of an input, or lets it wait for its lane.
func (t *turn) apply(c contentOf, input *derivedInput) {
	if input.order != nil {
		t.waits(c, input)
		return
	}
	t.rows.minted = append(t.rows.minted, input.projection)
	t.begins(input, mover{c.item, c.claim, c.fence, c.profile})
}

// execute bears an execution, claimed or due at once.
func (t *turn) execute(execution inbound.Execution, claim *Holding, fence facts.Fence) {
	t.rows.executions = append(t.rows.executions, execution)
	head := inbound.ExecutionHead{Account: t.account, Execution: execution.ID, Projection: execution.Projection, Due: t.held.Now}
	if claim != nil {
		head.Attempt, head.Holder, head.Due = 1, claim.Holder, t.held.Now.Add(claim.Lease)
		t.rows.attempts = append(t.rows.attempts, inbound.ExecutionAttempt{Execution: execution.ID, Ordinal: 1, Account: t.account,
			Holder: claim.Holder, GateFence: fence})
	}
	t.rows.heads[execution.ID] = head
}

// tell lists the executions of a component in the item's verdict that need no lane and no other fact. Whatever took a lane
// is told where it takes it, and whatever requires a fact where that is decided; in a turn of which nobody knows what
// became, its lease brings it back.
func (t *turn) tell(c contentOf, d derived) {
	for i := range d.inputs {
		if input := &d.inputs[i]; input.order == nil && len(input.needs) == 0 {
			t.verdicts[c.item].Born = append(t.verdicts[c.item].Born, input.born(attemptOf(c.claim)))
		}
	}
}

// attemptOf is the attempt of an execution that is born, claimed or not.
func attemptOf(claim *Holding) uint64 {
	if claim == nil {
		return 0
	}
	return 1
}

// materialize writes what is missing below pending Receipts. One that was materialized whole has no head, and nothing is
// derived from it again; a turn of which nobody knows what became finds what it did, and tells it (R05).
func (t *turn) materialize() error {
	if t.receipts == nil {
		return nil
	}
	var bringing []contentOf
	var parents []inbound.Component
	var gone []facts.ReceiptKey
	seen := map[facts.ReceiptID]bool{}
	for i, item := range t.items {
		if item.Materialize == nil {
			continue
		}
		ask := item.Materialize
		t.verdicts[i].Receipt = ask.Receipt
		_, pending := t.receipts.Find(t.receiptKey(ask.Receipt))
		switch {
		case t.refuses(i, t.serves(ask.Premise)):
		case !pending && !t.tx.Settling():
			t.verdicts[i].Refusal = t.childless(ask.Receipt)
		case seen[ask.Receipt]:
			t.verdicts[i].Refusal = facts.Refuse(facts.WrongState, facts.OfReceipt(t.receiptKey(ask.Receipt)), "another item of this turn materializes it")
		default:
			seen[ask.Receipt] = true
			bringing = append(bringing, contentOf{item: i, derived: t.derived[i], claim: ask.Claim, fence: ask.Fence, profile: ask.Content.Profile, done: !pending})
			parents = append(parents, inbound.Component{Receipt: ask.Receipt})
			if !pending {
				gone = append(gone, t.receiptKey(ask.Receipt))
			}
		}
	}
	if len(bringing) == 0 {
		return nil
	}
	before, ended, err := t.beneath(parents, gone)
	if err != nil {
		return err
	}
	if err := t.load(bringing); err != nil {
		return err
	}
	for _, c := range bringing {
		receipt := t.items[c.item].Materialize.Receipt
		if _, moved := ended[t.receiptKey(receipt)]; c.done && !moved {
			t.verdicts[c.item].Refusal = t.childless(receipt)
		} else if err := t.complement(c, before[receipt]); err != nil {
			return err
		}
	}
	return nil
}

// beneath reads the components of Receipts, and how those of them without a head ended.
func (t *turn) beneath(parents []inbound.Component, gone []facts.ReceiptKey) (map[facts.ReceiptID]map[uint64]inbound.Component, map[facts.ReceiptKey]txn.Transition, error) {
	there, err := txn.Children(t.tx, schema.Components, parents, 1)
	if err != nil {
		return nil, nil, err
	}
	before := map[facts.ReceiptID]map[uint64]inbound.Component{}
	for _, component := range there {
		if before[component.Receipt] == nil {
			before[component.Receipt] = map[uint64]inbound.Component{}
		}
		before[component.Receipt][component.Ordinal] = component
	}
	if len(gone) == 0 {
		return before, nil, nil
	}
	ended, err := txn.Ended(t.tx, schema.ReceiptHeads, gone)
	return before, ended, err
}

// childless refuses to materialize a Receipt that has no head.
func (t *turn) childless(id facts.ReceiptID) *facts.Refusal {
	return facts.Refuse(facts.SubjectEnded, facts.OfReceipt(t.receiptKey(id)), "it has no head: all its children stand, or it never was")
}

// complement brings what is missing of one Receipt, and ends it when nothing is.
func (t *turn) complement(c contentOf, before map[uint64]inbound.Component) error {
	ask := t.items[c.item].Materialize
	key := t.receiptKey(ask.Receipt)
	for ordinal, stood := range before {
		if ordinal >= uint64(len(c.derived)) || !sameComponent(stood, c.derived[ordinal].component) {
			t.verdicts[c.item].Refusal = facts.Refuse(facts.ContentDiffers, facts.OfReceipt(key), "component %d stands with other content than what is derived from the body now", ordinal)
			return nil
		}
	}
	written := t.bring(c, before)
	if c.done {
		return nil
	}
	if written < len(c.derived) || ask.Content.Open {
		t.verdicts[c.item].Pending = true
		t.postpone(key, written == len(c.derived))
		return nil
	}
	evidence, err := facts.Prove(inbound.Materialized{Components: uint64(len(c.derived))})
	if err != nil {
		return err
	}
	t.rows.receiptDone = append(t.rows.receiptDone, receiptStep{Key: key, Edge: machines.ReceiptMaterialize, Evidence: evidence})
	return nil
}

// postpone says when a Receipt is looked at again: soon, if its process brings more of it, and late, if something is
// waited for that cannot be written yet. Without it every sweep would derive the same again.
func (t *turn) postpone(key facts.ReceiptKey, waits bool) {
	guard, _ := t.receipts.Find(key)
	delay := handOver
	if waits {
		delay = waiting
	}
	if head := guard.Row; !head.Due.Equal(t.held.Now.Add(delay)) {
		head.Due = t.held.Now.Add(delay)
		t.rows.postponed = append(t.rows.postponed, head)
	}
}

// sameComponent tells whether a component that stands is the one that is derived again. One that was quarantined for a
// conflict keeps its verdict: it was decided when it was written.
func sameComponent(stood, derives inbound.Component) bool {
	conflict := stood.Reason == facts.ContentDiffers && derives.Verdict == inbound.ComponentEvent
	return stood.Event == derives.Event && stood.Content == derives.Content &&
		(conflict || stood.Verdict == derives.Verdict && stood.Reason == derives.Reason)
}
