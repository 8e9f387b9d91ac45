package turns

import (
	"container/heap"
	"context"

	"github.com/cockroachdb/errors"
)

// closed tells whether Close was called.
func (t *Turns[I, V]) closed() bool {
	select {
	case <-t.closing:
		return true
	default:
		return false
	}
}

// drain says that nothing is left. It is called with the lock.
func (t *Turns[I, V]) drain() {
	select {
	case <-t.drained:
	default:
		close(t.drained)
	}
}

// Close takes no more work, fails what no turn has begun with ErrClosed, and waits for what runs. It may be called
// again, to wait again.
//
// When its context ends first, the contexts of all takes end, accounts in doubt give up (their callers get the unknown
// outcome), and the error says how many turns have not returned yet. Their rows decide, as after a crash.
func (t *Turns[I, V]) Close(ctx context.Context) error {
	for _, e := range t.abandon() {
		var none V
		t.call(e, none, ErrClosed)
	}
	select {
	case <-t.drained:
		t.cancel()
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	left := len(t.accounts)
	t.mu.Unlock()
	t.cancel()
	if left == 0 {
		return nil
	}
	return errors.Wrapf(context.Cause(ctx), "turns: %d accounts still had a turn that ran or was in doubt when the time for closing was over; "+
		"what it did is found in their rows by the process that follows", left)
}

// abandon closes the queue and empties every line. What was taken into a turn stays.
func (t *Turns[I, V]) abandon() []*entry[I, V] {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed() {
		close(t.closing)
	}
	var left []*entry[I, V]
	for _, a := range t.accounts {
		for i := range a.lines {
			for e := a.lines[i].first; e != nil; e = a.lines[i].first {
				a.remove(e)
				t.held[i] = t.held[i].minus(e.size)
				t.metrics.waiting[i].Dec()
				left = append(left, e)
			}
		}
		if a.stage == ready {
			heap.Remove(&t.ready, a.place)
			t.place(a)
		}
	}
	t.dispatch()
	return left
}
