package turn

import (
	"bytes"
	"slices"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// waitingMax bounds the waiting inputs that one turn looks at for each contract. Those of a lane come greatest first.
const waitingMax = 4096

// lane is a lane that this turn may move on, as it stands after the items before.
type lane struct {
	key    facts.LaneKey
	order  Order
	row    inbound.Lane
	state  machines.OrderingLaneState
	birth  *inbound.OrderingLane // its fact, if it is born here
	steps  []laneStep
	unread bool // what waits in it was not read whole
	ends   bool // its execution is completed here, perhaps

	waiting []*candidate // what has waited and is read, and what this turn brings
	movers  []mover
}

// candidate is an input that waits in a lane: one that has waited, or one that this turn brings.
type candidate struct {
	head  inbound.ProjectionHead
	brief *derivedInput // set if this turn brings it
	due   bool          // an item asks because its time has come
	fate  fate
	code  facts.Code // of a quarantine
}

// fate is what becomes of a candidate.
type fate uint8

const (
	staysWaiting fate = iota
	isMinted
	isSuperseded
	isQuarantined
)

// mover is an item under which a lane may be moved on.
type mover struct {
	item    int
	claim   *Holding
	fence   facts.Fence
	profile facts.Profile
}

// lockLanes locks the lanes that the items name. One that is not there is born here if something is to wait in it (R24).
func (t *turn) lockLanes() (err error) {
	t.lanes = map[facts.LaneID]*lane{}
	name := func(id facts.LaneID, order Order) *lane {
		if t.lanes[id] == nil && !id.IsZero() {
			t.lanes[id] = &lane{key: facts.LaneKey{Account: t.account, Subject: id}, order: order}
		}
		return t.lanes[id]
	}
	for i, item := range t.items {
		for _, d := range t.derived[i] {
			for _, input := range d.inputs {
				if input.order != nil {
					name(input.lane.ID, *input.order)
				}
			}
		}
		if s := t.seals[i]; s != nil && s.input != nil && s.input.order != nil {
			name(s.input.lane.ID, *s.input.order)
		}
		switch {
		case item.Complete != nil && !item.Complete.Lane.IsZero():
			name(item.Complete.Lane, item.Complete.Order).ends = true
		case item.Advance != nil:
			name(item.Advance.Lane, item.Advance.Order)
		case item.Meet != nil:
			name(item.Meet.Lane, item.Meet.Order)
		}
	}
	if len(t.lanes) == 0 {
		return nil
	}
	keys := make([]facts.LaneKey, 0, len(t.lanes))
	for _, l := range t.lanes {
		keys = append(keys, l.key)
	}
	if t.laneHeld, err = txn.Lock(t.tx, schema.Lanes, keys); err != nil {
		return err
	}
	for _, l := range t.lanes {
		if guard, there := t.laneHeld.Find(l.key); there {
			l.row, l.state = guard.Row, guard.State
		}
	}
	return nil
}

// there tells whether the lane is there already.
func (l *lane) there() bool { return l.state.Valid() }

// next is under what a strict lane's next input waits, after its execution is completed here, if it is.
func (l *lane) next() []byte {
	if l.ends && l.state == machines.OrderingLaneTaken {
		return l.row.At.Order.Position.Encoded()
	}
	return l.row.High.Order.Position.Encoded()
}

// lockWaiting locks what waits in the lanes that may be free in this turn, and what items say is due.
func (t *turn) lockWaiting() (err error) {
	latest := txn.Query{Columns: []string{"lane_id"}, Order: "lane_id DESC, sort_key DESC", Limit: waitingMax}
	strict := txn.Query{Columns: []string{"lane_id", "sort_key"}, Order: "lane_id DESC, projection_id", Limit: waitingMax}
	due := txn.Query{Columns: []string{"account_id", "projection_id"}, Order: "projection_id", Limit: waitingMax}
	for _, l := range t.inOrder() {
		switch {
		case !l.there() || l.state == machines.OrderingLaneHeld || l.state == machines.OrderingLaneTaken && !l.ends:
		case l.order.strict():
			strict.Tuples = append(strict.Tuples, []any{l.key.Subject, l.next()})
		default:
			latest.Tuples = append(latest.Tuples, []any{l.key.Subject})
		}
	}
	named := map[facts.ProjectionID]bool{}
	for _, item := range t.items {
		if item.Advance == nil {
			continue
		}
		for _, id := range item.Advance.Projections {
			named[id] = true
			due.Tuples = append(due.Tuples, []any{t.account, id})
		}
	}
	if len(latest.Tuples)+len(strict.Tuples)+len(due.Tuples) == 0 {
		return nil
	}
	var found []txn.Found[facts.ProjectionKey]
	if t.projections, found, err = txn.LockFound(t.tx, schema.ProjectionHeads, latest, strict, due); err != nil {
		return err
	}
	for guard := range t.projections.All() {
		if l := t.lanes[guard.Row.Lane]; l != nil {
			l.waiting = append(l.waiting, &candidate{head: guard.Row, due: named[guard.Row.Projection]})
		}
	}
	t.unread(latest, found[0])
	t.unread(strict, found[1])
	return nil
}

// unread marks the lanes of a contract that a limit has cut off. Of the last one that was read the greatest inputs are
// known, which is all that the latest position asks for; a strict sequence has to know every rival.
func (t *turn) unread(asked txn.Query, found txn.Found[facts.ProjectionKey]) {
	if !found.Cut {
		return
	}
	last, _ := t.projections.Find(found.Keys[len(found.Keys)-1])
	for _, tuple := range asked.Tuples { // by lane, those with the greatest ids first
		l := t.lanes[tuple[0].(facts.LaneID)]
		behind := l.key.Subject.Compare(last.Row.Lane)
		l.unread = behind < 0 || behind == 0 && l.order.strict()
	}
}

// inOrder are the lanes, those with the greatest ids first, as they are read.
func (t *turn) inOrder() []*lane {
	all := make([]*lane, 0, len(t.lanes))
	for _, l := range t.lanes {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *lane) int { return b.key.Subject.Compare(a.key.Subject) })
	return all
}

// waits puts an input of this turn into its lane.
func (t *turn) waits(c contentOf, input *derivedInput) {
	l := t.lanes[input.lane.ID]
	if !l.there() {
		l.birth, l.state = &input.lane, machines.OrderingLaneFree
		l.row = inbound.Lane{Account: t.account, ID: l.key.Subject}
		t.rows.lanes = append(t.rows.lanes, input.lane)
	}
	head := input.head
	if l.order.Wait > 0 {
		head.Deadline = t.held.Now.Add(l.order.Wait)
	}
	l.waiting = append(l.waiting, &candidate{head: head, brief: input})
	l.movers = append(l.movers, mover{c.item, c.claim, c.fence, c.profile})
}

// release takes a lane from the execution that is completed. A failed result releases nothing unless its route says so (R22).
func (t *turn) release(ask *Completion) error {
	if ask.Lane.IsZero() {
		return nil
	}
	l := t.lanes[ask.Lane]
	if l.state != machines.OrderingLaneTaken || l.row.Active != ask.Execution {
		return errors.AssertionFailedf("lane %s is %s with execution %s, and execution %s is completed in it", ask.Lane, l.state, l.row.Active, ask.Execution)
	}
	evidence, err := facts.Prove(inbound.Released{Execution: ask.Execution[:], Receipt: ask.Receipt[:], Outcome: ask.Outcome.String()})
	if err != nil {
		return err
	}
	if ask.Outcome == machines.ApplicationResultFailed && !ask.Order.FailedAdvances {
		l.step(machines.OrderingLaneHoldFailed, evidence, l.row)
		return nil
	}
	l.step(machines.OrderingLaneRelease, evidence, inbound.Lane{Account: t.account, ID: l.key.Subject, High: l.row.At})
	return nil
}

func (l *lane) step(edge machines.OrderingLaneEdge, evidence facts.Evidence, row inbound.Lane) {
	l.row, l.state = row, edge.To()
	l.steps = append(l.steps, laneStep{Key: l.key, Edge: edge, Evidence: evidence, Row: &row})
}

// laneMoves are the transitions of the lanes that are born here, and of those that were there.
func (t *turn) laneMoves() (births, moves []laneStep) {
	for _, l := range t.inOrder() {
		if l.birth != nil {
			births = append(births, l.steps...)
		} else {
			moves = append(moves, l.steps...)
		}
	}
	return births, moves
}

// decide says what becomes of the inputs that wait in a lane, and gives the one that takes it, if there is one. It needs
// the lane's state, its marks, and the time from which on an input is ready.
//
// Whatever is not above the high-water is over: it is superseded, or set aside if it ties with the high-water and differs
// from it. Of those above, a strict sequence takes the exact successor; otherwise the greatest that is ready is taken and
// every lower one is superseded, ready or not. Two that claim one place and differ are both set aside (R21, R22).
func (l *lane) decide(now facts.Instant, claims bool) *candidate {
	slices.SortFunc(l.waiting, func(a, b *candidate) int {
		if order := bytes.Compare(b.head.Sort, a.head.Sort); order != 0 {
			return order
		}
		return a.head.Projection.Compare(b.head.Projection)
	})
	for _, c := range l.waiting {
		l.pass(c)
	}
	if !claims || l.state != machines.OrderingLaneFree || l.unread {
		return nil
	}
	for _, c := range l.waiting {
		if c.fate != staysWaiting || !l.takes(c, now) {
			continue
		}
		rivals := l.rivals(c)
		if slices.ContainsFunc(rivals, func(r *candidate) bool { return r.head.Place != c.head.Place }) {
			c.fate, c.code = isQuarantined, facts.PositionTied
			for _, r := range rivals {
				r.fate, r.code = isQuarantined, facts.PositionTied
			}
			continue
		}
		c.fate = isMinted
		for _, other := range rivals {
			other.fate = isSuperseded
		}
		l.overtake(c)
		return c
	}
	return nil
}

// overtake ends what waits below the latest position. What has no order with it has no place in its lane, and is not lost
// as something older.
func (l *lane) overtake(chosen *candidate) {
	for _, c := range l.waiting {
		if c.fate != staysWaiting || l.order.strict() {
			continue
		}
		switch order, err := c.head.Place.Order.Compare(chosen.head.Place.Order); {
		case err != nil:
			c.fate, c.code = isQuarantined, facts.PositionKindsDiffer
		case order < 0:
			c.fate = isSuperseded
		}
	}
}

// pass compares an input with what the lane has completed. A place of a strict sequence is a position: a tie-breaker makes no
// second place at it, for which nothing would ever come to be the one before.
func (l *lane) pass(c *candidate) {
	var over int
	var err error
	switch mark := l.row.High.Order; {
	case !mark.Position.IsZero() && l.order.strict():
		over, err = c.head.Place.Order.Position.Compare(mark.Position)
	case !mark.Position.IsZero():
		over, err = c.head.Place.Order.Compare(mark)
	case l.order.strict(): // before its beginning there is nothing, and the beginning itself is still to come
		if over, err = c.head.Place.Order.Position.Compare(l.order.First); over == 0 {
			over = 1
		}
	default:
		return
	}
	switch {
	case err != nil:
		c.fate, c.code = isQuarantined, facts.PositionKindsDiffer
	case over == 0 && c.head.Place.Content != l.row.High.Content:
		c.fate, c.code = isQuarantined, facts.PositionTied
	case over <= 0:
		c.fate = isSuperseded
	}
}

// takes tells whether an input above the high-water may take the free lane.
func (l *lane) takes(c *candidate, now facts.Instant) bool {
	if !l.order.strict() {
		return !c.head.Deadline.After(now)
	}
	return bytes.Equal(c.head.Sort, l.row.High.Order.Position.Encoded())
}

// rivals are the others that claim the same place.
func (l *lane) rivals(c *candidate) []*candidate {
	var all []*candidate
	for _, other := range l.waiting {
		if other != c && other.fate == staysWaiting && bytes.Equal(other.head.Sort, c.head.Sort) {
			all = append(all, other)
		}
	}
	return all
}

// later is when an input that stays is looked at again, whatever else happens. A lane that is free and was not taken is
// looked at soon. One that is taken may be free again by the input's deadline.
func (l *lane) later(c *candidate, now facts.Instant) facts.Instant {
	free := l.state == machines.OrderingLaneFree && !l.unread
	switch {
	case l.state == machines.OrderingLaneHeld:
		return now.Add(time.Hour)
	case free && l.takes(c, now):
		return now.Add(handOver)
	case c.head.Deadline.After(now) && (free || c.head.Deadline.Before(now.Add(waiting))):
		return c.head.Deadline
	}
	return now.Add(waiting)
}
