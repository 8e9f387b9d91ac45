package turns

import (
	"container/heap"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"connectorcore/facts"

	"github.com/cenkalti/backoff/v5"
	"github.com/cockroachdb/errors"
)

const (
	// rest is how long an account has no turn after an assertion.
	rest = time.Second
	// While an account is in doubt its turn is tried again at this pace. Each try has a budget of its own in Take.
	doubtFirst = 100 * time.Millisecond
	doubtMost  = 10 * time.Second
)

// turn is one batch until it is settled, however often it is taken.
type turn[I Sized, V any] struct {
	account *account[I, V]
	entries []*entry[I, V]
	oldest  uint64 // of its entries
	tries   int
	unknown error // of the last try, if its outcome is unknown
	pace    *backoff.ExponentialBackOff
}

// ending is how one try went.
type ending[V any] struct {
	verdicts []V
	err      error
}

// place puts an account where its stage and what waits on it say. It is called with the lock, on an account that is on
// no list.
func (t *Turns[I, V]) place(a *account[I, V]) {
	switch {
	case a.doubt != nil || !a.empty():
		a.stage = ready
		heap.Push(&t.ready, a)
	default:
		a.stage = idle
		delete(t.accounts, a.id)
	}
}

// dispatch starts turns while there is work and room. It is called with the lock.
func (t *Turns[I, V]) dispatch() {
	for t.running < t.options.Concurrent && len(t.ready) > 0 {
		a := t.ready[0]
		heap.Pop(&t.ready)
		a.stage = running
		t.running++
		u := a.doubt
		if u == nil {
			u = t.form(a)
		}
		go t.carry(u)
	}
	if t.closed() && t.running+t.paused+len(t.accounts) == 0 {
		t.drain()
	}
}

// form makes the account's next turn. It is called with the lock.
func (t *Turns[I, V]) form(a *account[I, V]) *turn[I, V] {
	u := &turn[I, V]{account: a, oldest: a.oldest(), entries: a.fill()}
	now := t.options.Clock.Now()
	for _, e := range u.entries {
		t.metrics.waiting[e.line].Dec()
		t.metrics.wait[e.line].Observe(now.Sub(e.arrived).Seconds())
	}
	t.metrics.items.Observe(float64(len(u.entries)))
	return u
}

// carry makes one try of a turn, in a goroutine of its own. The try may end that goroutine, and it is finished even so.
func (t *Turns[I, V]) carry(u *turn[I, V]) {
	began, returned := t.options.Clock.Now(), false
	var end ending[V]
	defer func() {
		if !returned {
			end.err = errors.AssertionFailedf("turns: a turn ended its goroutine instead of returning")
		}
		t.finish(u, end, t.options.Clock.Now().Sub(began))
	}()
	end = t.try(u)
	returned = true
}

func (t *Turns[I, V]) try(u *turn[I, V]) (end ending[V]) {
	defer func() {
		if cause := recover(); cause != nil {
			end = ending[V]{err: errors.AssertionFailedf("turns: a turn panicked: %s", shown(cause))}
		}
	}()
	if u.unknown != nil && t.root.Err() != nil {
		return ending[V]{err: u.unknown}
	}
	u.tries++
	if alone := u.entries[0].alone; alone != nil {
		return ending[V]{verdicts: make([]V, 1), err: alone(t.root)}
	}
	items := make([]I, len(u.entries))
	for i, e := range u.entries {
		items[i] = e.item
	}
	verdicts, err := t.take(t.root, u.account.id, items)
	if err == nil && len(verdicts) != len(u.entries) {
		err = errors.AssertionFailedf("turns: %d verdicts for %d items", len(verdicts), len(u.entries))
	}
	return ending[V]{verdicts, err}
}

// shown is what a log may say of a panic: Go's own words, and of any other value only its type, since it may be a
// secret.
func shown(cause any) string {
	if fault, ok := cause.(runtime.Error); ok {
		return fault.Error()
	}
	return fmt.Sprintf("%T", cause)
}

// shownError is what a log may say of an error: a store's own words may repeat a key or a payload that it was given.
func shownError(err error) string {
	if err == nil {
		return "none"
	}
	return errors.Redact(err)
}

// safely is what is safe of an error's details: the place of each of its parts, and words that were marked so.
func safely(err error) string {
	var all []string
	for _, part := range errors.GetAllSafeDetails(err) {
		all = append(all, part.SafeDetails...)
	}
	return strings.Join(all, "\n")
}

// finish does what the end of a try demands.
func (t *Turns[I, V]) finish(u *turn[I, V], end ending[V], took time.Duration) {
	t.metrics.took.Observe(took.Seconds())
	if errors.Is(end.err, facts.ErrOutcomeUnknown) {
		t.metrics.doubts.Inc()
		t.suspect(u, end.err)
	}
	if u.unknown != nil && !settles(end.err) {
		if t.root.Err() == nil {
			t.again(u, end.err, took)
			return
		}
		end = ending[V]{err: u.unknown}
	}
	if u.unknown != nil {
		t.metrics.doubtful.Dec()
		t.options.Log.Info("account is no longer in doubt, or its process ends",
			"account", u.account.id, "items", len(u.entries), "tries", u.tries, "error", shownError(end.err))
	}
	t.tell(u, end)
	t.release(u, end.err, took)
}

// settles tells whether a try ends a doubt: the original was found or done now, or a committed change of a guard refuses
// it. Any other failure is one of the try, and says nothing of the original (R05).
func settles(err error) bool {
	var refusal *facts.Refusal
	return err == nil || errors.As(err, &refusal) && !errors.HasAssertionFailure(err)
}

// suspect remembers that a batch may have been committed. What Exclusive runs is its caller's to try again.
func (t *Turns[I, V]) suspect(u *turn[I, V], err error) {
	if u.entries[0].alone != nil {
		return
	}
	if u.unknown == nil {
		t.metrics.doubtful.Inc()
		u.pace = backoff.NewExponentialBackOff()
		u.pace.InitialInterval, u.pace.MaxInterval = doubtFirst, doubtMost
	}
	u.unknown = err
}

// again lets a turn in doubt be tried once more after a pause, and nothing else of its account before.
func (t *Turns[I, V]) again(u *turn[I, V], err error, took time.Duration) {
	delay, level := u.pace.NextBackOff(), slog.LevelWarn
	if errors.HasAssertionFailure(err) {
		t.metrics.assertions.Inc()
		level = slog.LevelError
	}
	t.options.Log.Log(t.root, level, "account is in doubt: a commit may or may not have happened; the same turn is tried again, and nothing else of the account runs before",
		"account", u.account.id, "items", len(u.entries), "tries", u.tries, "again_in", delay, "error", shownError(err))
	t.mu.Lock()
	defer t.mu.Unlock()
	u.account.doubt = u
	t.pause(u.account, delay, t.root.Done(), took)
}

// tell hands every entry its verdict.
func (t *Turns[I, V]) tell(u *turn[I, V], end ending[V]) {
	var none V
	for i, e := range u.entries {
		if end.err != nil {
			t.call(e, none, end.err)
		} else {
			t.call(e, end.verdicts[i], nil)
		}
	}
}

// call contains a caller's panic: its neighbours and the account have nothing to do with it.
func (t *Turns[I, V]) call(e *entry[I, V], verdict V, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			t.options.Log.Error("a function given to Post panicked", "account", e.account.id, "kind", t.rules[e.line].Name,
				"panic", shown(cause), "stack", string(debug.Stack()))
		}
	}()
	e.done(verdict, err)
}

// release gives the account and the place among the concurrent turns to whoever is next.
func (t *Turns[I, V]) release(u *turn[I, V], err error, took time.Duration) {
	assertion := errors.HasAssertionFailure(err)
	if assertion {
		t.metrics.assertions.Inc()
		t.options.Log.Error("a turn met a defect of this program; the account rests before its next turn",
			"account", u.account.id, "items", len(u.entries), "kinds", t.kinds(u), "rest", rest, "error", shownError(err), "detail", safely(err))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range u.entries {
		t.held[e.line] = t.held[e.line].minus(e.size)
	}
	u.account.doubt = nil
	if assertion && !t.closed() {
		t.pause(u.account, rest, t.closing, took)
		return
	}
	t.running--
	t.learn(took)
	t.place(u.account)
	t.dispatch()
}

// kinds names what a turn was made of.
func (t *Turns[I, V]) kinds(u *turn[I, V]) []string {
	var names []string
	for _, e := range u.entries {
		names = append(names, t.rules[e.line].Name)
	}
	return slices.Compact(names)
}

// pause ends the account's turn and keeps it from its next one until an alarm rings or stop is closed. It is called
// with the lock.
func (t *Turns[I, V]) pause(a *account[I, V], delay time.Duration, stop <-chan struct{}, took time.Duration) {
	a.stage = paused
	t.running--
	t.paused++
	t.learn(took)
	t.dispatch()
	go func() {
		ring, silence := t.options.Clock.Alarm(delay)
		defer silence()
		select {
		case <-ring:
		case <-stop:
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.paused--
		t.place(a)
		t.dispatch()
	}()
}

// learn keeps a sliding mean of how long a turn takes.
func (t *Turns[I, V]) learn(took time.Duration) {
	if t.pace == 0 {
		t.pace = took
	}
	t.pace += (took - t.pace) / 8
}
