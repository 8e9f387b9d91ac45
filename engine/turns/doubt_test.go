package turns

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/prometheus/client_golang/prometheus"
)

// lines are what was logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) log() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func TestR05TheVerySameBatchIsTakenAgainAndNothingElseBefore(t *testing.T) {
	said := &lines{}
	b := newBench(t, Options{Concurrent: 1, Log: said.log()})
	b.post(one, claim, "before")
	turn := b.next()
	batch := []<-chan answer{b.post(one, claim, "a"), b.post(one, admission, "b"), b.post(one, claim, "c")}
	turn.ok()
	turn = b.next()
	wantNames(t, turn, "a", "c", "b")
	after := b.post(one, completion, "after")
	entered := make(chan bool, 1)
	apply := b.exclusive(t.Context(), one, func(context.Context) error { entered <- true; return nil })
	slices.Reverse(turn.items) // what a take does to its slice stays its own
	turn.fail(facts.UnknownOutcome("admit", errors.Newf("a store repeats %s", "s3cret")))

	// While the account waits, another one has its place among the turns.
	pause := receive(t, b.clock.alarms, "the account waits")
	if pause.delay <= 0 || pause.delay > 2*doubtFirst {
		t.Fatalf("the first pause is %s", pause.delay)
	}
	other := b.post(two, claim, "other")
	b.next().ok()
	b.wantVerdict(other, "did other")

	// Neither another failure nor an assertion nor a cancellation says anything of the original.
	for _, failure := range []error{facts.UnknownOutcome("admit", nil), errors.New("no connection"), errors.AssertionFailedf("defect"), context.Canceled,
		errors.WithAssertionFailure(facts.Refuse(facts.NotServing, facts.OfAccount(one), "refused after its writes"))} {
		pause.ring()
		turn = b.next()
		wantNames(t, turn, "a", "c", "b")
		turn.fail(failure)
		pause = receive(t, b.clock.alarms, "the account waits")
	}
	for _, answers := range append(batch, after) {
		b.wantSilence(answers)
	}
	if len(entered) != 0 {
		t.Fatal("Exclusive ran while the account was in doubt")
	}
	pause.ring()
	turn = b.next()
	wantNames(t, turn, "a", "c", "b")
	turn.ok()
	for i, name := range []string{"a", "b", "c"} {
		b.wantVerdict(batch[i], "did "+name)
	}
	receive(t, entered, "Exclusive begins")
	b.next().ok()
	b.wantVerdict(after, "did after")
	b.wantVerdict(apply, "")
	text := said.String()
	for _, want := range []string{"account is in doubt", one.String(), "items=3", "tries=6", "level=ERROR", "no longer in doubt"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "s3cret") {
		t.Errorf("the log shows what an error was given:\n%s", text)
	}
}

func TestR05ARefusalEndsTheDoubt(t *testing.T) {
	b := newBench(t, Options{})
	answers := b.post(one, claim, "a")
	b.next().fail(facts.UnknownOutcome("claim", nil))
	receive(t, b.clock.alarms, "the account waits").ring()
	b.next().fail(errors.Wrap(facts.Refuse(facts.NotServing, facts.OfAccount(one), "halted"), "claim"))
	b.wantError(answers, facts.NotServing)
	next := b.post(one, claim, "b")
	b.next().ok()
	b.wantVerdict(next, "did b")
}

func TestR05ACallerMayLeaveADoubtAndItsItemStays(t *testing.T) {
	b := newBench(t, Options{})
	ctx, leave := context.WithCancel(t.Context())
	gone := b.do(ctx, one, claim, "a")
	b.next().fail(facts.UnknownOutcome("claim", nil))
	pause := receive(t, b.clock.alarms, "the account waits")
	waiting := b.do(ctx, one, claim, "never begun")
	leave()
	b.wantError(gone, facts.ErrOutcomeUnknown)
	b.wantError(waiting, context.Canceled)
	pause.ring()
	turn := b.next()
	wantNames(t, turn, "a")
	turn.ok()
	eventually(t, "the account is forgotten", func() bool { return b.size() == 0 })
}

func TestR05AnAccountInDoubtIsAsOldAsItsDoubt(t *testing.T) {
	b := newBench(t, Options{Concurrent: 1})
	doubtful := b.post(one, claim, "a")
	b.next().fail(facts.UnknownOutcome("claim", nil))
	pause := receive(t, b.clock.alarms, "the account waits")
	b.post(two, claim, "holds the only place")
	turn := b.next()
	later := b.post(three, claim, "later")
	b.post(one, claim, "latest")
	pause.ring()
	eventually(t, "the account may go on", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.paused == 0
	})
	turn.ok()
	turn = b.next()
	wantNames(t, turn, "a")
	turn.ok()
	b.wantVerdict(doubtful, "did a")
	turn = b.next()
	wantNames(t, turn, "later")
	turn.ok()
	b.wantVerdict(later, "did later")
	b.next().ok()
}

func TestAnAssertionFailsItsTurnAndLetsTheAccountRest(t *testing.T) {
	said := &lines{}
	b := newBench(t, Options{Log: said.log()})
	bad := b.post(one, claim, "bad")
	turn := b.next()
	good := b.post(one, claim, "good")
	defect := errors.AssertionFailedf("a head without a fact: %s", "s3cret")
	turn.fail(defect)
	b.wantError(bad, defect)
	pause := receive(t, b.clock.alarms, "the account rests")
	if pause.delay != rest {
		t.Fatalf("it rests %s, want %s", pause.delay, rest)
	}
	other := b.post(two, claim, "other")
	b.next().ok()
	b.wantVerdict(other, "did other")
	b.wantSilence(good)
	pause.ring()
	b.next().ok()
	b.wantVerdict(good, "did good")
	for _, want := range []string{"level=ERROR", one.String(), "a head without a fact", "kinds=[claim]", "doubt_test.go"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said.String(), "s3cret") {
		t.Errorf("the log shows what an error was given:\n%s", said)
	}
}

func TestNothingThatATakeDoesReachesItsNeighbours(t *testing.T) {
	for name, end := range map[string]func() ([]string, error){
		"a panic":              func() ([]string, error) { panic("s3cret") },
		"a fault":              func() ([]string, error) { var none map[string]int; none["x"]++; return nil, nil },
		"a goroutine's end":    func() ([]string, error) { runtime.Goexit(); return nil, nil },
		"too few verdicts":     func() ([]string, error) { return nil, nil },
		"too many verdicts":    func() ([]string, error) { return make([]string, 2), nil },
		"an error that panics": func() ([]string, error) { panic(errors.New("s3cret")) },
	} {
		t.Run(name, func(t *testing.T) {
			said := &lines{}
			b := newBench(t, Options{Concurrent: 1, Log: said.log()})
			bad := b.post(one, claim, "bad")
			b.next().end <- end
			if got := receive(t, bad, "the item fails"); !errors.HasAssertionFailure(got.err) || strings.Contains(fmt.Sprintf("%+v", got.err), "s3cret") {
				t.Fatalf("got %+v, want an assertion that does not show the value", got.err)
			}
			receive(t, b.clock.alarms, "the account rests").ring()
			good := b.post(one, claim, "good")
			b.next().ok()
			b.wantVerdict(good, "did good")
			if strings.Contains(said.String(), "s3cret") {
				t.Fatalf("the log shows the value:\n%s", said)
			}
		})
	}
}

func TestAPanicOfExclusiveIsContained(t *testing.T) {
	b := newBench(t, Options{Concurrent: 1})
	for _, fn := range []func(context.Context) error{
		func(context.Context) error { panic("x") },
		func(context.Context) error { runtime.Goexit(); return nil },
		nil,
	} {
		if err := b.Exclusive(t.Context(), one, fn); !errors.HasAssertionFailure(err) {
			t.Fatalf("got %v, want an assertion", err)
		}
		receive(t, b.clock.alarms, "the account rests").ring()
	}
	answers := b.post(one, claim, "good")
	b.next().ok()
	b.wantVerdict(answers, "did good")
}

func TestAPanicOfOneDoneKeepsNoNeighbourFromItsVerdict(t *testing.T) {
	said := &lines{}
	b := newBench(t, Options{Log: said.log()})
	holding := b.post(one, claim, "holding")
	turn := b.next()
	if err := b.Post(one, claim, job{name: "bad"}, func(string, error) { panic("s3cret") }); err != nil {
		t.Fatal(err)
	}
	good := b.post(one, claim, "good")
	turn.ok()
	b.wantVerdict(holding, "did holding")
	b.next().ok()
	b.wantVerdict(good, "did good")
	if text := said.String(); !strings.Contains(text, "given to Post panicked") || strings.Contains(text, "s3cret") {
		t.Fatalf("the log says\n%s", text)
	}
}

func TestADoneMayPost(t *testing.T) {
	b := newBench(t, Options{Concurrent: 1})
	answers := make(chan answer, 1)
	err := b.Post(one, claim, job{name: "claim"}, func(string, error) {
		if err := b.Post(one, completion, job{name: "completion"}, func(v string, err error) { answers <- answer{v, err} }); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.next().ok()
	b.next().ok()
	b.wantVerdict(answers, "did completion")
}

func TestCloseFinishesWhatRunsAndFailsTheRest(t *testing.T) {
	before := runtime.NumGoroutine()
	b := newBench(t, Options{Concurrent: 2})
	first := b.post(one, claim, "running")
	turn := b.next()
	doubtful := b.post(two, claim, "doubtful")
	b.next().fail(facts.UnknownOutcome("claim", nil))
	pause := receive(t, b.clock.alarms, "the account waits")
	resting := b.post(three, claim, "resting")
	defect := errors.AssertionFailedf("defect")
	b.next().fail(defect)
	b.wantError(resting, defect)
	receive(t, b.clock.alarms, "the account rests")
	waiting := []<-chan answer{b.post(one, claim, "w"), b.post(two, claim, "w"), b.post(three, claim, "w")}
	apply := b.exclusive(t.Context(), one, func(context.Context) error { t.Error("it ran after the close"); return nil })

	closed := make(chan error, 1)
	go func() { closed <- b.Close(context.Background()) }()
	for _, answers := range append(waiting, apply) {
		b.wantError(answers, ErrClosed)
	}
	if _, err := b.Do(t.Context(), one, claim, job{}); !errors.Is(err, ErrClosed) {
		t.Fatalf("after the close: %v", err)
	}
	if len(closed) != 0 {
		t.Fatal("Close has not waited")
	}
	pause.ring()
	b.next().ok()
	b.wantVerdict(doubtful, "did doubtful")
	if turn.ctx.Err() != nil {
		t.Fatal("a running turn was cancelled although Close still waits")
	}
	turn.ok()
	b.wantVerdict(first, "did running")
	if err := receive(t, closed, "Close returns"); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal("again:", err)
	}
	wantGoroutines(t, before)
}

func TestCloseForgetsWhoWaitsForAPlaceAndKeepsWhoIsInDoubt(t *testing.T) {
	b := newBench(t, Options{Concurrent: 1})
	doubtful := b.post(two, claim, "doubtful")
	b.next().fail(facts.UnknownOutcome("claim", nil))
	pause := receive(t, b.clock.alarms, "the account waits")
	running := b.post(one, claim, "running")
	turn := b.next()
	pause.ring()
	eventually(t, "the account may go on", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.paused == 0
	})
	var waiting []<-chan answer
	for n := 2; n < 12; n++ {
		waiting = append(waiting, b.post(accountNumber(n), claim, "waiting"))
	}
	closed := make(chan error, 1)
	go func() { closed <- b.Close(context.Background()) }()
	for _, answers := range waiting {
		b.wantError(answers, ErrClosed)
	}
	turn.ok()
	b.wantVerdict(running, "did running")
	turn = b.next()
	wantNames(t, turn, "doubtful")
	turn.ok()
	b.wantVerdict(doubtful, "did doubtful")
	if err := receive(t, closed, "Close returns"); err != nil {
		t.Fatal(err)
	}
}

func TestCloseThatMayWaitNoLongerCancelsAndSaysWhatIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	b := newBench(t, Options{})
	running := b.post(one, claim, "running")
	turn := b.next()
	doubtful := b.post(two, claim, "doubtful")
	b.next().fail(facts.UnknownOutcome("claim", nil))
	receive(t, b.clock.alarms, "the account waits")
	entered := make(chan bool, 1)
	apply := b.exclusive(t.Context(), three, func(ctx context.Context) error {
		entered <- true
		<-ctx.Done()
		return ctx.Err()
	})
	receive(t, entered, "Exclusive begins")

	ctx, cancel := context.WithCancelCause(context.Background())
	late := errors.New("thirty seconds are over")
	cancel(late)
	if err := b.Close(ctx); !errors.Is(err, late) || !strings.Contains(err.Error(), "3 accounts") {
		t.Fatalf("got %v, want the cause and the number of accounts", err)
	}
	b.wantError(doubtful, facts.ErrOutcomeUnknown) // without another try
	b.wantError(apply, context.Canceled)
	receive(t, turn.ctx.Done(), "the running turn is cancelled")
	turn.fail(facts.UnknownOutcome("claim", turn.ctx.Err()))
	b.wantError(running, facts.ErrOutcomeUnknown)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal("again:", err)
	}
	wantGoroutines(t, before)
}

func TestTheMetricsTellWaitingBatchesTimesRefusalsAndDoubts(t *testing.T) {
	registry := prometheus.NewRegistry()
	b := newBench(t, Options{Metrics: registry, Turn: Size{Items: 2}, Account: Size{Items: 2}})
	b.post(one, claim, "a")
	turn := b.next()
	b.post(one, claim, "b")
	b.post(one, claim, "c")
	_ = b.Post(one, claim, job{}, func(string, error) {})
	want(t, registry, "connector_turns_waiting claim", 2)
	want(t, registry, "connector_turns_refused_total claim", 1)
	b.clock.pass(time.Second)
	turn.ok()
	b.next().fail(facts.UnknownOutcome("claim", nil))
	pause := receive(t, b.clock.alarms, "the account waits")
	want(t, registry, "connector_turns_waiting claim", 0)
	want(t, registry, "connector_turns_items", 3) // of a sum: two turns, of one and of two items
	want(t, registry, "connector_turns_wait_seconds claim", 2)
	want(t, registry, "connector_turns_seconds", 1)
	want(t, registry, "connector_turns_unknown_total", 1)
	want(t, registry, "connector_turns_doubtful", 1)
	pause.ring()
	b.next().ok()
	b.post(two, claim, "d")
	b.next().fail(errors.AssertionFailedf("defect"))
	receive(t, b.clock.alarms, "the account rests").ring()
	want(t, registry, "connector_turns_assertions_total", 1)
	eventually(t, "the account is forgotten", func() bool { return b.size() == 0 })
	want(t, registry, "connector_turns_doubtful", 0)
}

// want compares one series, named by its family and label value; of a histogram its sum.
func want(t *testing.T, registry *prometheus.Registry, series string, value float64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			if name != series {
				continue
			}
			if got := m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetHistogram().GetSampleSum(); got != value {
				t.Errorf("%s is %v, want %v", series, got, value)
			}
			return
		}
	}
	t.Errorf("%s is not exported", series)
}
