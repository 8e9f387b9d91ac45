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

// advance moves on every lane that an item brings something to, releases, or names. An execution that is completed and
// the next one of its lane so share a turn.
func (t *turn) advance() error {
	for i, item := range t.items {
		switch {
		case item.Advance != nil:
			ask := item.Advance
			l := t.lanes[ask.Lane]
			switch {
			case t.refuses(i, t.serves(ask.Premise)):
			case !l.there():
				t.verdicts[i].Refusal = facts.Refuse(facts.SubjectMissing, facts.OfLane(l.key), "nothing ever waited in it")
			default:
				l.movers = append(l.movers, mover{i, ask.Claim, ask.Fence, ask.Profile})
			}
		case item.Complete != nil && item.Complete.Next != nil && t.verdicts[i].Refusal == nil && !item.Complete.Lane.IsZero():
			next := item.Complete.Next
			if t.serves(next.Premise) == nil {
				l := t.lanes[item.Complete.Lane]
				l.movers = append(l.movers, mover{i, &next.Holding, next.Fence, item.Complete.Profile})
			}
		}
	}
	taken := map[*lane]*candidate{}
	var stored []inbound.Projection
	for _, l := range t.inOrder() {
		if !l.there() {
			continue
		}
		if taken[l] = t.choose(l); taken[l] != nil && taken[l].brief == nil {
			stored = append(stored, inbound.Projection{ID: taken[l].head.Projection})
		}
	}
	inputs, err := t.waited(stored)
	if err != nil {
		return err
	}
	for _, l := range t.inOrder() {
		if !l.there() {
			continue
		}
		if err := t.settle(l, taken[l], inputs); err != nil {
			return err
		}
	}
	return nil
}

// waitedFor is a Projection that has waited, with what its Execution requires.
type waitedFor struct {
	inbound.Projection
	needs []inbound.ProjectionNeed
}

// waited reads Projections, and what the Executions of those require that require anything.
func (t *turn) waited(stored []inbound.Projection) (map[facts.ProjectionID]*waitedFor, error) {
	inputs := map[facts.ProjectionID]*waitedFor{}
	if len(stored) == 0 {
		return inputs, nil
	}
	there, err := txn.Children(t.tx, schema.Projections, stored, 1)
	if err != nil {
		return nil, err
	}
	var requiring []inbound.ProjectionNeed
	for _, projection := range there {
		inputs[projection.ID] = &waitedFor{Projection: projection}
		if projection.Needs > 0 {
			requiring = append(requiring, inbound.ProjectionNeed{Projection: projection.ID})
		}
	}
	if len(requiring) == 0 {
		return inputs, nil
	}
	needs, err := txn.Children(t.tx, schema.ProjectionNeeds, requiring, 1)
	for _, need := range needs {
		inputs[need.Projection].needs = append(inputs[need.Projection].needs, need)
	}
	return inputs, err
}

// choose decides a lane, as far as there is an item under which it may be moved on.
func (t *turn) choose(l *lane) *candidate {
	if len(l.movers) == 0 {
		return nil
	}
	takes := l.order.takes(nil, l.order.Needs)
	chosen := l.decide(t.held.Now, l.claimer() != nil && t.room.holds(takes))
	if chosen != nil && chosen.brief == nil {
		t.room = t.room.less(takes)
	}
	return chosen
}

// claimer is the first item that claims.
func (l *lane) claimer() *mover {
	for i := range l.movers {
		if l.movers[i].claim != nil {
			return &l.movers[i]
		}
	}
	return nil
}

// settle writes what was decided of a lane.
func (t *turn) settle(l *lane, chosen *candidate, inputs map[facts.ProjectionID]*waitedFor) error {
	mark := l.row.High.Order
	if chosen != nil {
		mark = chosen.head.Place.Order
		if err := t.occupy(l, chosen, inputs); err != nil {
			return err
		}
	}
	for _, c := range l.waiting {
		var err error
		switch c.fate {
		case isSuperseded:
			err = t.over(c, machines.ProjectionSupersede, inbound.Superseded{Lane: l.key.Subject[:], Position: mark.Position.Encoded(), TieBreaker: mark.TieBreaker.Encoded()})
		case isQuarantined:
			err = t.over(c, machines.ProjectionQuarantine, inbound.SetAside{Reason: c.code.String(), Lane: l.key.Subject[:]})
		case staysWaiting:
			err = t.stays(l, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// occupy mints the execution of an input, which takes the lane.
func (t *turn) occupy(l *lane, c *candidate, inputs map[facts.ProjectionID]*waitedFor) error {
	by := l.claimer()
	brief := c.brief
	if brief == nil {
		projection, known := inputs[c.head.Projection]
		author, err := by.profile.Author()
		switch {
		case err != nil:
			return err
		case !known || projection.Epoch != t.held.Serving.Epoch().ID || uint64(len(projection.needs)) != projection.Needs:
			return errors.AssertionFailedf("projection %s waits in lane %s, and it is no input of epoch %s", c.head.Projection, l.key.Subject, t.held.Serving.Epoch().ID)
		}
		execution := author.Execution(projection.ID, 0).ID
		brief = &derivedInput{projection: projection.Projection, needs: projection.needs, command: author.Command(execution).ID, execution: inbound.Execution{ID: execution, Account: t.account,
			Projection: projection.ID, Epoch: projection.Epoch, Ref: projection.Ref, Lane: projection.Lane}}
	}
	place := c.head.Place
	evidence, err := facts.Prove(inbound.Taken{Lane: l.key.Subject[:], Projection: brief.projection.ID[:], Execution: brief.execution.ID[:], Position: place.Order.Position.Encoded(), TieBreaker: place.Order.TieBreaker.Encoded()})
	if err != nil {
		return err
	}
	l.step(machines.OrderingLaneTake, evidence, inbound.Lane{Account: t.account, ID: l.key.Subject, High: l.row.High, Active: brief.execution.ID, At: place})
	if c.brief != nil {
		t.rows.minted = append(t.rows.minted, brief.projection)
	} else {
		t.rows.decided = append(t.rows.decided, projectionStep{Key: t.projectionKey(c), Edge: machines.ProjectionMint, Evidence: evidence})
	}
	t.begins(brief, *by)
	if len(brief.needs) == 0 {
		t.verdicts[by.item].Born = append(t.verdicts[by.item].Born, brief.born(1))
	}
	return nil
}

func (t *turn) projectionKey(c *candidate) facts.ProjectionKey {
	return facts.ProjectionKey{Account: t.account, Subject: c.head.Projection}
}

// over ends an input that is never applied. One that this turn brings is born and ended at once, and never has a head.
func (t *turn) over(c *candidate, edge machines.ProjectionEdge, body facts.EvidenceBody) error {
	evidence, err := facts.Prove(body)
	if err != nil {
		return err
	}
	step := projectionStep{Key: t.projectionKey(c), Edge: edge, Evidence: evidence}
	switch {
	case c.brief != nil:
		t.waiting(c, t.held.Now)
		t.rows.settled = append(t.rows.settled, step)
	case t.room.rows > 0: // what there is no room for waits, and is below the lane's mark whenever it is looked at again
		t.room.rows--
		t.rows.decided = append(t.rows.decided, step)
	}
	return nil
}

// waiting bears an input that is not minted by this turn.
func (t *turn) waiting(c *candidate, due facts.Instant) {
	projection := c.brief.projection
	projection.Birth = inbound.BornOpen
	c.head.Due = due
	t.rows.waiting, t.rows.places[projection.ID] = append(t.rows.waiting, projection), c.head
}

// stays leaves an input waiting. It is not looked at again before there is a reason: its lane is released, its time has
// come, or its lane was free and nobody claimed it.
func (t *turn) stays(l *lane, c *candidate) error {
	now := t.held.Now
	if c.brief != nil {
		t.waiting(c, l.later(c, now))
		t.rows.needs = append(t.rows.needs, c.brief.needs...)
		return nil
	}
	due := c.head.Due
	switch soon := l.state == machines.OrderingLaneFree && !l.unread && l.takes(c, now); {
	case c.due && !soon && l.gap(c, now):
		open, err := t.backlog()
		switch {
		case err != nil:
			return err
		case open: // an input that has come already may close the gap (R23)
			due = now.Add(handOver)
		case !l.order.GapHolds:
			return t.over(c, machines.ProjectionQuarantine, inbound.SetAside{Reason: facts.SequenceGap.String(), Lane: l.key.Subject[:]})
		default:
			due = now.Add(gapHeld)
			t.verdicts[l.movers[0].item].Gaps = append(t.verdicts[l.movers[0].item].Gaps, c.head.Projection)
		}
	case c.due:
		due = l.later(c, now)
	case soon && due.After(now.Add(handOver)):
		due = now.Add(handOver)
	}
	if !due.Equal(c.head.Due) {
		c.head.Due = due
		t.rows.delayed = append(t.rows.delayed, c.head)
	}
	return nil
}

// gapHeld is how long a held gap is left alone before it is told of again.
const gapHeld = time.Hour

// gap tells whether the lane waits for a position that has not come by the input's deadline.
func (l *lane) gap(c *candidate, now facts.Instant) bool {
	return len(l.movers) > 0 && l.order.strict() && l.state == machines.OrderingLaneFree && !l.unread && !c.head.Deadline.After(now)
}

// backlog tells whether the account has a Receipt of which not everything is written.
func (t *turn) backlog() (bool, error) {
	if t.backlogged == nil {
		open := len(t.rows.open) > 0
		if !open {
			var err error
			if open, err = txn.Any(t.tx, schema.ReceiptHeads, t.account); err != nil {
				return false, err
			}
		}
		t.backlogged = &open
	}
	return *t.backlogged, nil
}
