package drive

import (
	"context"
	"testing"
	"time"

	"connectorcore/engine/pack"
	"connectorcore/facts"
)

// stepped is a clock that stands still until a test steps it.
type stepped struct{ now time.Time }

func (c *stepped) Now() time.Time { return c.now }
func (c *stepped) Alarm(time.Duration) (<-chan time.Time, func()) {
	return nil, func() {}
}

// R14: the bound is nothing at the start and again every few minutes, and never passes a due time that is younger than the
// longest transaction, counted from when a round began. Between two pages of a round it does not move.
func TestR14TheBoundOfASweepIsAHintThatForgets(t *testing.T) {
	var r round
	clock, base := time.Unix(1_000_000, 0), time.Unix(2_000_000, 0)
	if got := r.begins(clock); !got.IsZero() {
		t.Fatalf("the first round begins at %s", got)
	}
	r.read(base, base.Add(-time.Hour)) // a full page
	if got := r.begins(clock); !got.Equal(base.Add(-time.Hour)) {
		t.Errorf("the second page begins at %s", got)
	}
	r.read(base.Add(30*time.Minute), facts.Instant{}) // the last page of a slow round
	if got := r.begins(clock.Add(time.Second)); !got.Equal(base.Add(-longest)) {
		t.Errorf("the second round begins at %s", got)
	}
	if longest < 10*time.Minute || afresh > 5*time.Minute {
		t.Errorf("longest is %s, afresh %s", longest, afresh)
	}
	r.read(base.Add(31*time.Minute), facts.Instant{})
	if got := r.begins(clock.Add(afresh)); !got.IsZero() {
		t.Errorf("after a while a round begins at %s", got)
	}
}

func TestPatienceDoublesUpToAMinuteAndForgetsOnSuccess(t *testing.T) {
	clock := &stepped{time.Unix(1, 0)}
	p, id := newPatience(clock), [16]byte{1}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		p.later(id)
		p.later(id) // another one of the same subject, that was on its way already
		clock.now = clock.now.Add(want*time.Second - 1)
		if p.due(id) {
			t.Errorf("due before %d s", want)
		}
		clock.now = clock.now.Add(1)
		if !p.due(id) || !p.due([16]byte{2}) {
			t.Errorf("not due after %d s", want)
		}
	}
	p.well(id)
	p.later(id)
	if clock.now = clock.now.Add(time.Second); !p.due(id) {
		t.Error("it is not forgotten")
	}
	for n := range 3 * pausesMost {
		p.later([16]byte{3, byte(n), byte(n >> 8), byte(n >> 16)})
	}
	if len(p.waits) > pausesMost {
		t.Errorf("it remembers %d subjects", len(p.waits))
	}
}

func TestAHandHoldsEachOnceAndCallsWhenThereIsRoom(t *testing.T) {
	calls := 0
	h := newHand[int](4, func() { calls++ })
	ended, end := context.WithCancel(t.Context())
	end()
	if err := h.wait(ended); err != nil {
		t.Error("an empty hand is waited for")
	}
	for k := range 4 {
		if h.full() || !h.take(k) || h.take(k) {
			t.Fatalf("%d", k)
		}
	}
	if !h.full() || h.wait(ended) == nil {
		t.Error("four of four are not all")
	}
	h.drop(0)
	h.drop(0)
	if calls != 0 {
		t.Error("called for one place")
	}
	if h.drop(1); calls != 1 {
		t.Errorf("%d calls when half is free", calls)
	}
	h.drop(2)
	h.drop(3)
	if err := h.wait(t.Context()); err != nil || calls != 1 {
		t.Errorf("%v, %d calls", err, calls)
	}
}

func TestTheDelayIsTheFrozenOneWithinItsJitter(t *testing.T) {
	retry := pack.Retry{Delays: []int64{10, 100}, Jitter: 20}
	for failures, want := range []time.Duration{10 * time.Second, 100 * time.Second, 100 * time.Second} {
		for range 100 {
			if got := delayOf(retry, failures); got < want*8/10 || got > want*12/10 || got%time.Microsecond != 0 {
				t.Fatalf("after %d failures: %s", failures, got)
			}
		}
	}
	if got := delayOf(pack.Retry{Delays: []int64{0}, Jitter: 50}, 0); got != 0 {
		t.Errorf("no delay is %s", got)
	}
}
