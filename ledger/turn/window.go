package turn

import (
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/internal/txn"
	"connectorcore/schema"
)

// WindowBytes bounds the payloads that a window gathers, beside its frozen size: whoever makes its input holds them all.
// An event that is larger has a window of its own.
const WindowBytes = 1 << 20

// derivedJoin is a join with the rows that it may bring.
type derivedJoin struct {
	Join
	member inbound.WindowMember     // less its window and ordinal
	opens  inbound.ProjectionWindow // less its deadline: the window that the event opens, if none is open
}

func joinOf(profile facts.Profile, author facts.Author, epoch facts.EpochID, event inbound.Event, join Join) derivedJoin {
	opens := inbound.ProjectionWindow{ID: author.Window(epoch, join.Route, join.Version, join.Grouping, event.ID).ID, Account: event.Account, Epoch: epoch,
		Route: join.Route, Version: join.Version, Key: join.Grouping}
	opens.Grouping = opens.GroupingDigest(profile)
	return derivedJoin{Join: join, opens: opens,
		member: inbound.WindowMember{Account: event.Account, Event: event.ID, Route: inbound.RouteDefinition(profile, epoch, join.Route, join.Version)}}
}

// window is a window that has a head, as it stands after the items before.
type window struct {
	row     inbound.WindowHead
	stood   inbound.WindowHead // as it was locked
	born    bool               // here
	decided bool               // sealed or set aside here
}

func (w *window) full() bool { return w.row.Grouping.IsZero() }

// lockWindows locks the windows that take what the items bring, and those that items seal.
func (t *turn) lockWindows() (err error) {
	t.windows, t.inputOf = map[facts.WindowKey]*window{}, map[facts.Digest]*window{}
	joins := txn.Query{Columns: []string{schema.ColumnGrouping}, Order: schema.ColumnGrouping}
	seals := txn.Query{Columns: schema.WindowHeads.Table.Primary, Order: "window_id"}
	named := map[facts.Digest]bool{}
	for i, item := range t.items {
		for _, d := range t.derived[i] {
			for _, j := range d.joins {
				if !named[j.opens.Grouping] {
					named[j.opens.Grouping] = true
					joins.Tuples = append(joins.Tuples, []any{j.opens.Grouping})
				}
			}
		}
		if item.Seal != nil {
			seals.Tuples = append(seals.Tuples, []any{t.account, item.Seal.Window})
		}
	}
	if len(joins.Tuples)+len(seals.Tuples) == 0 {
		return nil
	}
	joins.Limit, seals.Limit = len(joins.Tuples)+1, len(seals.Tuples)+1 // each tuple has one at most
	if t.windowHeld, _, err = txn.LockFound(t.tx, schema.WindowHeads, joins, seals); err != nil {
		return err
	}
	for guard := range t.windowHeld.All() {
		w := &window{row: guard.Row, stood: guard.Row}
		t.windows[schema.WindowHeads.KeyOf(&w.row)] = w
		if !w.full() {
			t.inputOf[w.row.Grouping] = w
		}
	}
	return nil
}

// join puts a new event into the window of its grouping that takes input, or opens one with it. One that is full by that
// takes no more, and is due.
//
// INVARIANT: nothing joins a window but under its account's gate. So a window that is sealed under the gate has the
// membership that was compared with it, and what comes later opens a successor.
func (t *turn) join(event *inbound.Event, j *derivedJoin) {
	now, size := t.held.Now, uint64(len(event.Payload))
	w := t.inputOf[j.opens.Grouping]
	if w != nil && w.row.Bytes+size > WindowBytes {
		t.fill(w)
		w = nil
	}
	if w == nil {
		opens := j.opens
		opens.Deadline = now.Add(j.Close)
		w = &window{born: true, row: inbound.WindowHead{Account: t.account, Window: opens.ID, Grouping: opens.Grouping, Deadline: opens.Deadline, Due: opens.Deadline}}
		if j.Quiet > 0 {
			w.row.Due = now // it is moved on below, as by every member
		}
		t.rows.windows = append(t.rows.windows, opens)
		t.windows[schema.WindowHeads.KeyOf(&w.row)], t.inputOf[opens.Grouping] = w, w
	}
	member := j.member
	member.Window, member.Ordinal = w.row.Window, w.row.Members
	t.rows.members = append(t.rows.members, member)
	w.row.Members, w.row.Bytes = w.row.Members+1, w.row.Bytes+size
	if j.Quiet > 0 {
		w.row.Due = later(w.row.Due, earlier(now.Add(j.Quiet), w.row.Deadline))
	}
	if w.row.Members >= j.Members {
		t.fill(w)
	}
}

// fill closes a window to further input.
func (t *turn) fill(w *window) {
	delete(t.inputOf, w.row.Grouping)
	w.row.Grouping, w.row.Due = facts.Digest{}, earlier(w.row.Due, t.held.Now)
}

func earlier(a, b facts.Instant) facts.Instant {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b facts.Instant) facts.Instant {
	if a.Before(b) {
		return b
	}
	return a
}

// windowMoves writes what became of windows. Those that are full give their groupings up before their successors are born.
func (t *turn) windowMoves(w *txn.Collected) {
	var changed []inbound.WindowHead
	for _, one := range t.windows {
		if !one.born && !one.decided && one.row != one.stood {
			changed = append(changed, one.row)
		}
	}
	slices.SortFunc(changed, func(a, b inbound.WindowHead) int { return a.Window.Compare(b.Window) })
	txn.AddCarry(w, t.windowHeld, changed)
	txn.AddBorn(w, schema.ProjectionWindows, t.rows.windows, schema.WindowHeads, func(f inbound.ProjectionWindow) inbound.WindowHead {
		return t.windows[facts.WindowKey{Account: f.Account, Subject: f.ID}].row
	})
	txn.AddFresh(w, schema.WindowMembers, t.rows.members)
	txn.AddMove(w, t.windowHeld, t.rows.sealed)
}
