package turns

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// ErrBusy matches every *Busy.
var ErrBusy = errors.New("too much work is waiting")

// ErrClosed is what items get that were not begun when the queue was closed, and those that come after. Nothing of
// them was done.
var ErrClosed = errors.New("turns: this process is ending and takes no more work: send the same item again, to the process that follows")

// Busy says that an item was not taken in, because too much of its kind is waiting already. Nothing of it was done.
type Busy struct {
	Account facts.AccountID
	Kind    string        // the kind's name
	Process bool          // it is the whole process that is full, not only the account
	Wait    time.Duration // a guess of when there is room again, from how long turns take these days; never negative
}

// Error says what is full and when to come again.
func (b *Busy) Error() string {
	where := "the account"
	if b.Process {
		where = "the process"
	}
	return fmt.Sprintf("account %s: %s has too much %q waiting: send the same item again in about %s", b.Account, where, b.Kind, b.Wait)
}

// Is matches ErrBusy.
func (b *Busy) Is(target error) bool { return target == ErrBusy }

// Do puts an item into its account's queue and returns its verdict.
//
// A caller whose context ends leaves. An item that no turn has taken yet is withdrawn: nothing of it was done, and the
// error is the context's. An item in a running turn goes on, and the caller is told that its outcome is unknown
// (facts.ErrOutcomeUnknown): the same item, sent again with the same ids, finds out.
//
// Errors: *Busy, ErrClosed, facts.BatchTooLarge for an item that no turn could hold, and whatever Take returned.
func (t *Turns[I, V]) Do(ctx context.Context, account facts.AccountID, kind Kind, item I) (V, error) {
	type answer struct {
		verdict V
		err     error
	}
	var none V
	if ctx.Err() != nil {
		return none, t.left(ctx, account)
	}
	answers := make(chan answer, 1)
	e := &entry[I, V]{item: item, done: func(verdict V, err error) { answers <- answer{verdict, err} }}
	if err := t.submitItem(account, kind, e); err != nil {
		return none, err
	}
	select {
	case a := <-answers:
		return a.verdict, a.err
	case <-ctx.Done():
	}
	if t.withdraw(e) {
		return none, t.left(ctx, account)
	}
	select {
	case a := <-answers:
		return a.verdict, a.err
	default:
		return none, facts.UnknownOutcome("turn of "+t.rules[e.line].Name, context.Cause(ctx))
	}
}

// Post puts an item into its account's queue and returns. If it returns no error, done is called exactly once, with
// what Do would have returned, before the account's next turn begins. It must return, and soon: the account, and one of
// the process's concurrent turns, wait for it. It may post.
//
// Errors, after which done is never called: *Busy, ErrClosed, facts.BatchTooLarge.
func (t *Turns[I, V]) Post(account facts.AccountID, kind Kind, item I, done func(V, error)) error {
	return t.submitItem(account, kind, &entry[I, V]{item: item, done: done})
}

// Exclusive runs a function in the account's queue, as a turn of its own, and returns what it returned: a transaction
// that is no batch takes the account's place with it, so that no two transactions of this process meet at one gate.
//
// The function gets the caller's context, which also ends when Close has waited long enough. A caller whose context ends
// before the function has begun leaves with the context's error; after that Exclusive waits for the function.
//
// Unlike a batch it is never run again from here, since only its caller can make the same transaction once more. The
// place is held for as long as the function runs: what must be settled before anything else of the account is settled
// inside of it (R05). If it returns an unknown outcome, the account goes on, and the rows that it left decide.
//
// Errors: *Busy, ErrClosed, and whatever the function returned; a panic of it is an assertion.
func (t *Turns[I, V]) Exclusive(ctx context.Context, account facts.AccountID, fn func(ctx context.Context) error) error {
	if ctx.Err() != nil {
		return t.left(ctx, account)
	}
	ended := make(chan error, 1)
	e := &entry[I, V]{size: Size{Items: 1}, cost: 1, done: func(_ V, err error) { ended <- err }}
	e.alone = func(root context.Context) error {
		if ctx.Err() != nil {
			return t.left(ctx, account)
		}
		own, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(root, cancel)()
		return fn(own)
	}
	if err := t.submit(account, e); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if t.withdraw(e) {
		return t.left(ctx, account)
	}
	return <-ended
}

func (t *Turns[I, V]) left(ctx context.Context, account facts.AccountID) error {
	return errors.Wrapf(context.Cause(ctx), "account %s: the caller left before its item was begun; nothing of it was done", account)
}

func (t *Turns[I, V]) submitItem(account facts.AccountID, kind Kind, e *entry[I, V]) error {
	e.line = int(kind) + 1
	if e.line >= len(t.rules) {
		return errors.AssertionFailedf("turns: kind %d is none of the %d that New was given", kind, len(t.rules)-1)
	}
	e.size = e.item.Size()
	e.size.Items = 1
	if e.size.Rows < 0 || e.size.Bytes < 0 {
		return errors.AssertionFailedf("turns: an item of kind %q says that its size is %+v", t.rules[e.line].Name, e.size)
	}
	if !e.size.within(t.options.Turn) {
		return facts.Refuse(facts.BatchTooLarge, facts.OfInput("item of kind "+t.rules[e.line].Name),
			"%d rows and %d bytes, where a turn holds %d and %d", e.size.Rows, e.size.Bytes, t.options.Turn.Rows, t.options.Turn.Bytes)
	}
	e.cost = e.size.share(t.options.Turn)
	return t.submit(account, e)
}

// submit takes an entry in, or refuses it. The bounds are of one kind each, so that a flood of new work never keeps out
// what would end work.
func (t *Turns[I, V]) submit(id facts.AccountID, e *entry[I, V]) error {
	if id.IsZero() || e.done == nil {
		return errors.AssertionFailedf("turns: an item needs an account and somebody who is told its verdict")
	}
	e.arrived = t.options.Clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed() {
		return ErrClosed
	}
	a := t.accounts[id]
	if a == nil {
		a = newAccount[I, V](id, t.rules, t.options.Turn)
	}
	held := t.held[e.line].plus(e.size)
	full := !held.within(t.options.Process)
	if full || !a.lines[e.line].size.plus(e.size).within(t.options.Account) {
		t.metrics.refused[e.line].Inc()
		return &Busy{Account: id, Kind: t.rules[e.line].Name, Process: full, Wait: t.guess(a, full)}
	}
	t.seq++
	e.seq = t.seq
	t.held[e.line] = held
	t.accounts[id] = a
	a.push(e)
	t.metrics.waiting[e.line].Inc()
	if a.stage == idle {
		t.place(a)
		t.dispatch()
	}
	return nil
}

// guess is how long it takes to work off what waits on an account, or in the whole process, at the present pace.
func (t *Turns[I, V]) guess(a *account[I, V], process bool) time.Duration {
	turns, crowd := 0.0, 1.0
	if process {
		for _, held := range t.held {
			turns += held.share(t.options.Turn)
		}
		turns /= float64(t.options.Concurrent)
	} else {
		turns = a.size.share(t.options.Turn) + float64(a.lines[0].size.Items)
		crowd = max(crowd, float64(t.running+len(t.ready))/float64(t.options.Concurrent))
	}
	return time.Duration(math.Ceil(turns) * crowd * float64(t.pace))
}

// withdraw takes an entry back that no turn has taken yet, and tells whether it did.
func (t *Turns[I, V]) withdraw(e *entry[I, V]) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !e.waiting {
		return false
	}
	a := e.account
	a.remove(e)
	t.held[e.line] = t.held[e.line].minus(e.size)
	t.metrics.waiting[e.line].Dec()
	if a.stage == ready {
		heap.Remove(&t.ready, a.place)
		a.stage = idle
		t.place(a)
	}
	return true
}
