package turns

import (
	"context"
	"slices"
	"time"

	"connectorcore/facts"
)

// entry is one item on its way, or one call of Exclusive.
type entry[I Sized, V any] struct {
	account *account[I, V]
	line    int // its kind's place in Turns.rules
	item    I
	alone   func(context.Context) error // what Exclusive runs instead of an item's take
	size    Size
	cost    float64 // the part of a turn that it is counted as
	seq     uint64  // its place among all items of the process
	arrived time.Time
	done    func(V, error) // called once, without the lock
	waiting bool           // in its line, from which it may still be withdrawn

	before, after *entry[I, V]
}

// line is what waits of one kind, in the order of arrival.
type line[I Sized, V any] struct {
	first, last *entry[I, V]
	size        Size
	spent       float64 // what this kind was given, in turns, divided by its weight
}

// stage is what an account's next turn depends on.
type stage uint8

const (
	idle    stage = iota // on nobody's list
	ready                // in the order of accounts
	running              // its turn runs
	paused               // an alarm will ring: it is in doubt, or rests after an assertion
)

// account is what waits on one account. It exists only while that is something.
type account[I Sized, V any] struct {
	id    facts.AccountID
	rules []KindRule
	bound Size // of a turn
	lines []line[I, V]
	size  Size // of all lines
	stage stage
	place int         // in the order of accounts, while ready
	doubt *turn[I, V] // the turn whose outcome is unknown: it comes before everything that waits
}

func newAccount[I Sized, V any](id facts.AccountID, rules []KindRule, bound Size) *account[I, V] {
	return &account[I, V]{id: id, rules: rules, bound: bound, lines: make([]line[I, V], len(rules))}
}

// push puts an item at the end of its line. A kind that waited for nothing has saved nothing: it begins level with the
// one that was given least.
func (a *account[I, V]) push(e *entry[I, V]) {
	own := &a.lines[e.line]
	if own.first == nil {
		if least := a.least(anyLine); least >= 0 {
			own.spent = max(own.spent, a.lines[least].spent)
		}
		own.first = e
	} else {
		e.before, own.last.after = own.last, e
	}
	own.last = e
	own.size, a.size = own.size.plus(e.size), a.size.plus(e.size)
	e.account, e.waiting = a, true
}

// remove takes an item out of its line.
func (a *account[I, V]) remove(e *entry[I, V]) {
	own := &a.lines[e.line]
	if e.before == nil {
		own.first = e.after
	} else {
		e.before.after = e.after
	}
	if e.after == nil {
		own.last = e.before
	} else {
		e.after.before = e.before
	}
	e.before, e.after, e.waiting = nil, nil, false
	own.size, a.size = own.size.minus(e.size), a.size.minus(e.size)
	if a.empty() {
		for i := range a.lines { // nobody waits, so nobody is behind; and the sums stay small
			a.lines[i].spent = 0
		}
	}
}

func (a *account[I, V]) empty() bool { return a.size.Items == 0 }

func anyLine(int) bool { return true }

// least is the line that waits and was given least, the earlier one of two; -1 if none of those allowed waits.
func (a *account[I, V]) least(allowed func(line int) bool) int {
	least := -1
	for i := range a.lines {
		if a.lines[i].first != nil && allowed(i) && (least < 0 || a.lines[i].spent < a.lines[least].spent) {
			least = i
		}
	}
	return least
}

// fill takes the next turn out of the lines: at least one item if any waits.
//
// It goes on with the kind that was given least until that kind's first item does not fit. It does not look past this
// item: what is large would otherwise wait for as long as there is something small, and next time it comes first.
func (a *account[I, V]) fill() []*entry[I, V] {
	first := a.least(anyLine)
	if first < 0 {
		return nil
	}
	allowed := func(line int) bool { return line == first || !a.rules[first].Alone && !a.rules[line].Alone }
	var batch []*entry[I, V]
	var sum Size
	for next := first; next >= 0; next = a.least(allowed) {
		e := a.lines[next].first
		sum = sum.plus(e.size)
		if len(batch) > 0 && (e.alone != nil || !sum.within(a.bound)) {
			break
		}
		a.lines[next].spent += e.cost / float64(a.rules[next].Weight)
		a.remove(e)
		batch = append(batch, e)
	}
	slices.SortStableFunc(batch, func(x, y *entry[I, V]) int { return x.line - y.line })
	return batch
}

// oldest is the place of the account's oldest item among all items of the process.
func (a *account[I, V]) oldest() uint64 {
	if a.doubt != nil {
		return a.doubt.oldest
	}
	oldest := ^uint64(0)
	for i := range a.lines {
		if e := a.lines[i].first; e != nil {
			oldest = min(oldest, e.seq)
		}
	}
	return oldest
}

// order is the accounts that may have a turn, as a heap by their oldest item.
type order[I Sized, V any] []*account[I, V]

func (o order[I, V]) Len() int           { return len(o) }
func (o order[I, V]) Less(i, j int) bool { return o[i].oldest() < o[j].oldest() }
func (o order[I, V]) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].place, o[j].place = i, j
}

// Push is of heap.Interface.
func (o *order[I, V]) Push(x any) {
	a, ok := x.(*account[I, V])
	if !ok {
		return // nothing else is ever pushed
	}
	a.place = len(*o)
	*o = append(*o, a)
}

// Pop is of heap.Interface.
func (o *order[I, V]) Pop() any {
	end := len(*o) - 1
	last := (*o)[end]
	(*o)[end] = nil // what has left must be free to go
	*o = (*o)[:end]
	return last
}
