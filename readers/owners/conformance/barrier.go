package conformance

import (
	"sync"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
)

// Barred holds each owner's barrier alone, and expects that owner's write to be refused until the release.
func Barred(t *testing.T, f Fixture) {
	for _, owner := range serving.Owners() {
		barrier, attempt := f.Owners.Barrier(owner), facts.Mint[facts.ActivationAttemptID]()
		hold, err := barrier.Acquire(t.Context(), f.ask(attempt, 1))
		if err != nil {
			t.Fatalf("%s: acquire: %v", owner, err)
		}
		if hold.Owner != owner || hold.Scope != f.Scope || hold.Attempt != attempt || hold.Fence == 0 || hold.Receipt.Bytes.IsZero() || hold.Receipt.Digest.IsZero() {
			t.Errorf("%s: the hold says %+v", owner, hold)
		}
		if err := f.Author[owner](t.Context()); !errors.Is(err, facts.PublicationBarred) {
			t.Errorf("%s: an authoring write under the held barrier: %v", owner, err)
		}
		if got := barrier.Verify(t.Context(), hold); got.Standing() != owners.Found {
			t.Errorf("%s: the hold is %s after a refused write", owner, got.Standing())
		}
		if err := barrier.Release(t.Context(), f.ask(attempt, 1)); err != nil {
			t.Fatalf("%s: release: %v", owner, err)
		}
		if err := f.Author[owner](t.Context()); err != nil {
			t.Errorf("%s: an authoring write after the release: %v", owner, err)
		}
		if got := barrier.Verify(t.Context(), hold); got.Standing() != owners.Absent {
			t.Errorf("%s: the hold is %s after its release", owner, got.Standing())
		}
	}
}

// Fenced lets two coordinators of one attempt, and another attempt, come to each barrier.
func Fenced(t *testing.T, f Fixture) {
	for _, owner := range serving.Owners() {
		barrier, attempt, other := f.Owners.Barrier(owner), facts.Mint[facts.ActivationAttemptID](), facts.Mint[facts.ActivationAttemptID]()
		hold, err := barrier.Acquire(t.Context(), f.ask(attempt, 2))
		if err != nil {
			t.Fatalf("%s: acquire: %v", owner, err)
		}
		for fence := facts.Fence(2); fence <= 4; fence += 2 { // the same again, then a take-over
			if again, err := barrier.Acquire(t.Context(), f.ask(attempt, fence)); err != nil || again != hold {
				t.Errorf("%s: acquired again at %d as %+v, %v", owner, fence, again, err)
			}
		}
		if _, err := barrier.Acquire(t.Context(), f.ask(attempt, 3)); !errors.Is(err, facts.StaleHolder) {
			t.Errorf("%s: a stale coordinator acquired: %v", owner, err)
		}
		if err := barrier.Release(t.Context(), f.ask(attempt, 3)); !errors.Is(err, facts.StaleHolder) {
			t.Errorf("%s: a stale coordinator released: %v", owner, err)
		}
		if _, err := barrier.Acquire(t.Context(), f.ask(other, 9)); !errors.Is(err, facts.PublicationBarred) {
			t.Errorf("%s: another attempt acquired: %v", owner, err)
		}
		for name, change := range map[string]func(*owners.Hold){
			"attempt": func(h *owners.Hold) { h.Attempt = other }, "fence": func(h *owners.Hold) { h.Fence++ },
			"receipt": func(h *owners.Hold) { h.Receipt.Bytes = serving.OpaqueOf([]byte("{}")) },
		} {
			changed := hold
			change(&changed)
			if got := barrier.Verify(t.Context(), changed); got.Standing() != owners.Absent {
				t.Errorf("%s: a hold of another %s is %s", owner, name, got.Standing())
			}
		}
		if got, held := barrier.Verify(t.Context(), hold).Value(); !held || got != hold {
			t.Errorf("%s: after all that the hold is %v %+v", owner, held, got)
		}
		for range 2 {
			if err := barrier.Release(t.Context(), f.ask(attempt, 4)); err != nil {
				t.Errorf("%s: release: %v", owner, err)
			}
		}
	}
}

// Once shows that a released attempt cannot come back, that one which gave up before it came cannot either, and that
// of many attempts at once exactly one holds.
func Once(t *testing.T, f Fixture) {
	for _, owner := range serving.Owners() {
		barrier, attempt, early := f.Owners.Barrier(owner), facts.Mint[facts.ActivationAttemptID](), facts.Mint[facts.ActivationAttemptID]()
		if _, err := barrier.Acquire(t.Context(), f.ask(attempt, 1)); err != nil {
			t.Fatalf("%s: acquire: %v", owner, err)
		}
		for _, one := range []facts.ActivationAttemptID{early, attempt} {
			if err := barrier.Release(t.Context(), f.ask(one, 1)); err != nil {
				t.Errorf("%s: release: %v", owner, err)
			}
			if _, err := barrier.Acquire(t.Context(), f.ask(one, 2)); !errors.Is(err, facts.SubjectEnded) && !errors.Is(err, facts.PublicationBarred) {
				t.Errorf("%s: a released attempt acquired: %v", owner, err)
			}
		}
		if _, err := barrier.Acquire(t.Context(), f.ask(early, 2)); !errors.Is(err, facts.SubjectEnded) {
			t.Errorf("%s: an attempt that gave up before it came acquired the open barrier: %v", owner, err)
		}
		race(t, f, owner)
	}
}

func race(t *testing.T, f Fixture, owner serving.Owner) {
	const attempts = 6
	var group sync.WaitGroup
	outcome := make([]error, attempts)
	all := make([]owners.Ask, attempts)
	for i := range attempts {
		all[i] = f.ask(facts.Mint[facts.ActivationAttemptID](), 1)
		group.Go(func() { _, outcome[i] = f.Owners.Barrier(owner).Acquire(t.Context(), all[i]) })
	}
	group.Wait()
	winners := 0
	for i, err := range outcome {
		if err != nil && !errors.Is(err, facts.PublicationBarred) {
			t.Errorf("%s: %v", owner, err)
		}
		if err == nil {
			winners++
			if err := f.Owners.Barrier(owner).Release(t.Context(), all[i]); err != nil {
				t.Errorf("%s: release: %v", owner, err)
			}
		}
	}
	if winners != 1 {
		t.Errorf("%s: %d of %d attempts hold the barrier", owner, winners, attempts)
	}
}
