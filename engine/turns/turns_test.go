package turns

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/prometheus/client_golang/prometheus"
)

func TestR12BatchesFormByLoadAndAnIdleAccountStartsAtOnce(t *testing.T) {
	b := newBench(t, Options{})
	first := b.post(one, admission, "a")
	turn := b.next() // no alarm was rung: nothing waited for a timer
	wantNames(t, turn, "a")
	b.post(one, admission, "b")
	b.post(one, completion, "c")
	b.post(one, admission, "d")
	turn.ok()
	b.wantVerdict(first, "did a")
	turn = b.next()
	wantNames(t, turn, "c", "b", "d") // what ends work comes first
	turn.ok()
	if len(b.clock.alarms) != 0 {
		t.Fatal("an alarm was set although every turn went well")
	}
}

func TestR12TurnsAreBoundedInItemsRowsAndBytes(t *testing.T) {
	for name, turn := range map[string]Size{"items": {Items: 3}, "rows": {Rows: 30}, "bytes": {Bytes: 300}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{Turn: turn})
			b.post(one, claim, "first")
			holding := b.next()
			for _, name := range []string{"a", "b", "c", "d"} {
				b.postSized(one, job{name, claim, Size{Items: 77, Rows: 10, Bytes: 100}}) // an item is one item, whatever it says
			}
			holding.ok()
			full := b.next()
			wantNames(t, full, "a", "b", "c")
			full.ok()
			rest := b.next()
			wantNames(t, rest, "d")
			rest.ok()
		})
	}
}

func TestR12AnItemThatNoTurnCouldHoldIsRefused(t *testing.T) {
	b := newBench(t, Options{})
	for _, size := range []Size{{Rows: 5001}, {Bytes: 16<<20 + 1}} {
		_, err := b.Do(t.Context(), one, claim, job{name: "huge", kind: claim, size: size})
		if !errors.Is(err, facts.BatchTooLarge) || !strings.Contains(err.Error(), "kind claim") {
			t.Fatalf("%+v: got %v, want batch_too_large about the kind", size, err)
		}
	}
	largest := b.postSized(one, job{"largest", claim, Size{Rows: 5000, Bytes: 16 << 20}})
	b.next().ok()
	b.wantVerdict(largest, "did largest")
}

func TestDoReturnsItsOwnItemsVerdict(t *testing.T) {
	b := newBench(t, Options{})
	x := b.do(t.Context(), one, claim, "x")
	turn := b.next()
	y, z := b.do(t.Context(), one, claim, "y"), b.do(t.Context(), one, claim, "z")
	turn.ok()
	b.wantVerdict(x, "did x")
	turn = b.next()
	wantNames(t, turn, "y", "z")
	turn.ok()
	b.wantVerdict(y, "did y")
	b.wantVerdict(z, "did z")
}

func TestAnErrorFailsItsTurnAndNothingElse(t *testing.T) {
	b := newBench(t, Options{})
	bad := b.post(one, claim, "bad")
	turn := b.next()
	good := b.post(one, claim, "good")
	turn.fail(errors.New("no connection"))
	if got := receive(t, bad, "the error arrives"); got.err == nil || got.err.Error() != "no connection" {
		t.Fatalf("got %v", got.err)
	}
	b.next().ok()
	b.wantVerdict(good, "did good")
}

func TestR13ExclusiveTakesItsPlaceInTheQueueAlone(t *testing.T) {
	b := newBench(t, Options{})
	b.post(one, claim, "before")
	turn := b.next()
	entered, leave := make(chan bool, 1), make(chan error)
	apply := b.exclusive(t.Context(), one, func(context.Context) error {
		entered <- true
		return <-leave
	})
	after := b.post(one, claim, "after")
	if len(entered) != 0 {
		t.Fatal("Exclusive runs beside a turn of its account")
	}
	turn.ok()
	receive(t, entered, "Exclusive begins")
	other := b.post(two, claim, "other")
	b.next().ok()
	b.wantVerdict(other, "did other") // another account does not wait for it
	b.wantSilence(after)
	failure := errors.New("rolled back")
	leave <- failure
	b.wantError(apply, failure)
	b.next().ok()
	b.wantVerdict(after, "did after")
}

func TestR13ExclusiveWaitsForWhatItBeganAndOnlyForThat(t *testing.T) {
	b := newBench(t, Options{})
	ctx, leave := context.WithCancel(t.Context())
	entered := make(chan bool, 1)
	began := b.exclusive(ctx, one, func(ctx context.Context) error {
		entered <- true
		<-ctx.Done()
		return errors.New("saw its caller leave")
	})
	receive(t, entered, "Exclusive begins")
	never := b.exclusive(ctx, one, func(context.Context) error { t.Error("it ran after its caller had left"); return nil })
	leave()
	b.wantError(never, context.Canceled)
	if got := receive(t, began, "Exclusive returns"); got.err == nil || got.err.Error() != "saw its caller leave" {
		t.Fatalf("got %v, want what the function returned", got.err)
	}
	if err := b.Exclusive(ctx, one, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("a caller that has left gets %v", err)
	}
}

func TestR13ExclusiveInDoubtIsItsCallersToTryAgain(t *testing.T) {
	b := newBench(t, Options{})
	runs := 0
	err := b.Exclusive(t.Context(), one, func(context.Context) error {
		runs++
		return facts.UnknownOutcome("apply once", nil)
	})
	if !errors.Is(err, facts.ErrOutcomeUnknown) || runs != 1 {
		t.Fatalf("%d runs and %v, want one run and an unknown outcome", runs, err)
	}
}

func TestACallerThatLeavesWithdrawsWhatWasNotBegun(t *testing.T) {
	b := newBench(t, Options{})
	b.post(one, claim, "running")
	turn := b.next()
	ctx, leave := context.WithCancel(t.Context())
	gone := b.do(ctx, one, claim, "gone")
	stays := b.post(one, claim, "stays")
	leave()
	b.wantError(gone, context.Canceled)
	turn.ok()
	turn = b.next()
	wantNames(t, turn, "stays")
	turn.ok()
	b.wantVerdict(stays, "did stays")
	if _, err := b.Do(ctx, one, claim, job{name: "never"}); !errors.Is(err, context.Canceled) || errors.Is(err, facts.ErrOutcomeUnknown) {
		t.Fatalf("a caller that has left gets %v", err)
	}
	eventually(t, "the account is forgotten", func() bool { return b.size() == 0 })
	b.none()
}

func TestACallerThatLeavesARunningTurnIsToldThatItDoesNotKnow(t *testing.T) {
	b := newBench(t, Options{})
	ctx, leave := context.WithCancel(t.Context())
	gone := b.do(ctx, one, claim, "gone")
	turn := b.next()
	leave()
	got := receive(t, gone, "the caller leaves")
	if !errors.Is(got.err, facts.ErrOutcomeUnknown) || errors.Is(got.err, context.Canceled) {
		t.Fatalf("got %v, want an unknown outcome that is not taken for a cancellation", got.err)
	}
	if turn.ctx.Err() != nil {
		t.Fatal("one caller's leaving has cancelled the turn")
	}
	turn.ok()
}

func TestAWholeQueueOfCallersThatLeaveIsForgotten(t *testing.T) {
	b := newBench(t, Options{Concurrent: 1})
	b.post(one, claim, "holds the only place")
	turn := b.next()
	ctx, leave := context.WithCancel(t.Context())
	x, y := b.do(ctx, two, claim, "x"), b.do(ctx, two, claim, "y")
	z := b.post(three, claim, "z")
	leave()
	b.wantError(x, context.Canceled)
	b.wantError(y, context.Canceled)
	if b.size() != 2 {
		t.Fatalf("%d accounts are kept, want the two that have items", b.size())
	}
	turn.ok()
	b.next().ok()
	b.wantVerdict(z, "did z")
}

func TestAFullAccountRefusesOneKindAndSaysWhenToComeAgain(t *testing.T) {
	b := newBench(t, Options{Turn: Size{Items: 2}, Account: Size{Items: 4}, Process: Size{Items: 100}})
	slow := b.post(one, admission, "slow")
	turn := b.next()
	b.clock.pass(3 * time.Second)
	turn.ok()
	b.wantVerdict(slow, "did slow")

	b.post(one, admission, "running")
	turn = b.next()
	for range 4 {
		b.post(one, admission, "waiting")
	}
	_, err := b.Do(t.Context(), one, admission, job{})
	var busy *Busy
	if !errors.Is(err, ErrBusy) || !errors.As(err, &busy) || busy.Process || busy.Kind != "admission" || busy.Account != one {
		t.Fatalf("got %v, want the account busy with admissions", err)
	}
	if busy.Wait != 6*time.Second { // two turns of three seconds
		t.Fatalf("the hint is %s, want 6s", busy.Wait)
	}
	if err := b.Post(one, admission, job{}, func(string, error) { t.Error("a refused item was answered") }); !errors.Is(err, ErrBusy) {
		t.Fatalf("post: %v", err)
	}
	freeing := b.post(one, completion, "freeing") // what ends work is never kept out by new work
	b.post(two, admission, "another account")
	b.next().ok()
	turn.ok()
	turn = b.next()
	turn.ok()
	b.wantVerdict(freeing, "did freeing")
	b.next().ok()
}

func TestAFullProcessRefusesUntilThereAreVerdicts(t *testing.T) {
	b := newBench(t, Options{Turn: Size{Items: 2}, Account: Size{Items: 3}, Process: Size{Items: 3}})
	first := b.post(one, claim, "1")
	turn := b.next()
	b.post(two, claim, "2")
	other := b.next()
	b.post(three, claim, "3")
	last := b.next()
	var busy *Busy
	if err := b.Post(accountNumber(4), claim, job{}, func(string, error) {}); !errors.As(err, &busy) || !busy.Process {
		t.Fatalf("got %v, want the process busy", err)
	}
	turn.ok()
	b.wantVerdict(first, "did 1")
	eventually(t, "there is room again", func() bool {
		err := b.Post(accountNumber(4), claim, job{name: "4"}, func(string, error) {})
		return err == nil
	})
	other.ok()
	last.ok()
	b.next().ok()
}

func TestAFewTurnsRunAtOnceAndTheOldestItemIsNext(t *testing.T) {
	b := newBench(t, Options{Concurrent: 2})
	b.post(one, claim, "1")
	b.post(two, claim, "2")
	first, second := b.next(), b.next()
	if first.account != one {
		first, second = second, first
	}
	b.post(three, claim, "3")
	for n := 4; n < 50; n++ {
		b.post(accountNumber(n), claim, "later")
	}
	b.post(one, claim, "last")
	first.ok()
	turn := b.next()
	if turn.account != three {
		t.Fatalf("%s is next, want the account of the oldest item", turn.account)
	}
	if len(b.began) != 0 {
		t.Fatal("more than two turns run")
	}
	second.ok()
	turn.ok()
	at := 0
	for n := 4; n < 51; n++ {
		turn = b.next()
		if turn.account == one {
			at = n
		}
		turn.ok()
	}
	if at < 49 { // two begin at a time, in any order
		t.Fatalf("the youngest item had turn %d of 50", at)
	}
}

func TestThousandsOfIdleAccountsCostNothing(t *testing.T) {
	b := newBench(t, Options{})
	before := runtime.NumGoroutine()
	for n := range 5000 {
		answers := b.post(accountNumber(n), claim, "x")
		b.next().ok()
		b.wantVerdict(answers, "did x")
	}
	eventually(t, "every account is forgotten", func() bool { return b.size() == 0 })
	wantGoroutines(t, before)
}

func (b *bench) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.accounts)
}

func TestWhatCannotWorkIsRefusedAtTheStart(t *testing.T) {
	kinds := func(rules ...KindRule) Options { return Options{Kinds: rules} }
	for want, options := range map[string]Options{
		"Options.Kinds has 0 kinds":        {},
		`the name "" is empty`:             kinds(KindRule{Weight: 1}),
		`the name "x" is empty, taken`:     kinds(KindRule{Name: "x", Weight: 1}, KindRule{Name: "x", Weight: 1}),
		`the name "exclusive"`:             kinds(KindRule{Name: "exclusive", Weight: 1}),
		"its weight is 0":                  kinds(KindRule{Name: "x"}),
		"its weight is 1001":               kinds(KindRule{Name: "x", Weight: 1001}),
		"Options.ExclusiveWeight is -1":    {Kinds: threeKinds, ExclusiveWeight: -1},
		"Options.Concurrent is -1":         {Kinds: threeKinds, Concurrent: -1},
		"Options.Turn is":                  {Kinds: threeKinds, Turn: Size{Items: -1}},
		"must each have room":              {Kinds: threeKinds, Account: Size{Bytes: 1}},
		"must each have room for one":      {Kinds: threeKinds, Process: Size{Rows: 4999}},
		"metrics of engine/turns: duplica": {Kinds: threeKinds, Metrics: registered(t)},
	} {
		if _, err := New(options, func(context.Context, facts.AccountID, []job) ([]string, error) { return nil, nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func registered(t *testing.T) prometheus.Registerer {
	t.Helper()
	registry := prometheus.NewRegistry()
	if _, err := newMetrics(registry, threeKinds); err != nil {
		t.Fatal(err)
	}
	return registry
}

func TestACallersOwnBugIsAnAssertion(t *testing.T) {
	b := newBench(t, Options{})
	done := func(string, error) { t.Error("a refused item was answered") }
	for what, err := range map[string]error{
		"zero account":  b.Post(facts.AccountID{}, claim, job{}, done),
		"unknown kind":  b.Post(one, 3, job{}, done),
		"largest kind":  b.Post(one, 255, job{}, done),
		"negative size": b.Post(one, claim, job{size: Size{Bytes: -1}}, done),
		"no done":       b.Post(one, claim, job{}, nil),
	} {
		if !errors.HasAssertionFailure(err) {
			t.Errorf("%s: got %v, want an assertion", what, err)
		}
	}
	b.none()
}
