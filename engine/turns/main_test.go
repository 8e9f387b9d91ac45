package turns

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

const (
	completion Kind = iota
	claim
	admission
)

var threeKinds = []KindRule{{Name: "completion", Weight: 16}, {Name: "claim", Weight: 4}, {Name: "admission", Weight: 1}}

// patience bounds every wait of a test; it is never waited for when things go well.
const patience = 20 * time.Second

// job is an item of the tests.
type job struct {
	name string
	kind Kind
	size Size
}

func (j job) Size() Size { return j.size }

// stop is one try of a turn that stands still until the test lets it end.
type stop struct {
	ctx     context.Context
	account facts.AccountID
	items   []job
	end     chan func() ([]string, error)
}

// names are the items of the try.
func (s *stop) names() []string {
	names := make([]string, len(s.items))
	for i, item := range s.items {
		names[i] = item.name
	}
	return names
}

// ok ends the try with a verdict for each item.
func (s *stop) ok() {
	s.end <- func() ([]string, error) { return verdicts(s.items), nil }
}

func (s *stop) fail(err error) { s.end <- func() ([]string, error) { return nil, err } }

func verdicts(items []job) []string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = "did " + item.name
	}
	return all
}

// bench is a queue whose turns the test ends by hand.
type bench struct {
	*Turns[job, string]
	t     *testing.T
	began chan *stop
	over  chan struct{} // closed when the test is: turns that stand still go on
	shut  func()
	clock *handClock
}

func newBench(t *testing.T, options Options) *bench {
	t.Helper()
	b := &bench{t: t, began: make(chan *stop, 1000), over: make(chan struct{}), clock: newHandClock()}
	b.shut = sync.OnceFunc(b.end)
	if options.Kinds == nil {
		options.Kinds = threeKinds
	}
	options.Clock = b.clock
	turns, err := New(options, b.take)
	if err != nil {
		t.Fatal(err)
	}
	b.Turns = turns
	t.Cleanup(b.shut)
	return b
}

func (b *bench) take(ctx context.Context, account facts.AccountID, items []job) ([]string, error) {
	s := &stop{ctx, account, items, make(chan func() ([]string, error), 1)}
	b.began <- s
	select {
	case end := <-s.end:
		return end()
	case <-b.over:
		return verdicts(items), nil
	}
}

// end lets whatever a test left running go on, so that no test leaves a goroutine behind.
func (b *bench) end() {
	close(b.over)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- b.Close(ctx) }()
	for {
		select {
		case <-b.began:
		case r := <-b.clock.alarms:
			r.ring()
		case err := <-closed:
			if err != nil {
				b.t.Error("close at the test's end:", err)
			}
			return
		}
	}
}

// next waits for a turn to begin.
func (b *bench) next() *stop {
	b.t.Helper()
	return receive(b.t, b.began, "a turn begins")
}

// none asserts that no turn has begun. Turns begin inside of the call that makes them possible, and what is announced
// late would be met by the next call of next, which names what it got.
func (b *bench) none() {
	b.t.Helper()
	b.mu.Lock()
	running := b.running
	b.mu.Unlock()
	if running != 0 {
		b.t.Fatalf("%d turns run, want none", running)
	}
}

func (b *bench) post(account facts.AccountID, kind Kind, name string) <-chan answer {
	b.t.Helper()
	return b.postSized(account, job{name: name, kind: kind})
}

func (b *bench) postSized(account facts.AccountID, item job) <-chan answer {
	b.t.Helper()
	answers := make(chan answer, 2)
	err := b.Post(account, item.kind, item, func(verdict string, err error) { answers <- answer{verdict, err} })
	if err != nil {
		b.t.Fatal("post:", err)
	}
	return answers
}

type answer struct {
	verdict string
	err     error
}

// do runs Do in a goroutine and returns once its item waits or runs.
func (b *bench) do(ctx context.Context, account facts.AccountID, kind Kind, name string) <-chan answer {
	b.t.Helper()
	return b.begin(func() (string, error) { return b.Do(ctx, account, kind, job{name: name, kind: kind}) })
}

func (b *bench) exclusive(ctx context.Context, account facts.AccountID, fn func(context.Context) error) <-chan answer {
	b.t.Helper()
	return b.begin(func() (string, error) { return "", b.Exclusive(ctx, account, fn) })
}

func (b *bench) begin(call func() (string, error)) <-chan answer {
	b.t.Helper()
	before := b.arrivals()
	answers := make(chan answer, 1)
	go func() {
		verdict, err := call()
		answers <- answer{verdict, err}
	}()
	eventually(b.t, "the item is taken in", func() bool { return b.arrivals() > before })
	return answers
}

func (b *bench) arrivals() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

func receive[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(patience):
		t.Fatalf("waited %s until %s", patience, what)
		panic("unreachable")
	}
}

func (b *bench) wantVerdict(answers <-chan answer, verdict string) {
	b.t.Helper()
	if got := receive(b.t, answers, "there is a verdict"); got.err != nil || got.verdict != verdict {
		b.t.Fatalf("got %q and error %v, want %q", got.verdict, got.err, verdict)
	}
}

func (b *bench) wantError(answers <-chan answer, target error) {
	b.t.Helper()
	if got := receive(b.t, answers, "there is an error"); !errors.Is(got.err, target) || got.verdict != "" {
		b.t.Fatalf("got %q and error %v, want %v", got.verdict, got.err, target)
	}
}

func (b *bench) wantSilence(answers <-chan answer) {
	b.t.Helper()
	select {
	case got := <-answers:
		b.t.Fatalf("got %q and error %v, want nothing yet", got.verdict, got.err)
	default:
	}
}

func wantNames(t *testing.T, s *stop, want ...string) {
	t.Helper()
	if !slices.Equal(s.names(), want) {
		t.Fatalf("the turn holds %q, want %q", s.names(), want)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s until %s", patience, what)
		}
	}
}

// accountNumber is an account that a failure can name.
func accountNumber(n int) facts.AccountID {
	var id facts.AccountID
	copy(id[:], fmt.Sprintf("account %08d", n))
	return id
}

var one, two, three = accountNumber(1), accountNumber(2), accountNumber(3)

// handClock stands still, and its alarms ring when the test rings them.
type handClock struct {
	mu     sync.Mutex
	now    time.Time
	alarms chan alarm
}

type alarm struct {
	delay time.Duration
	bell  chan time.Time
}

func newHandClock() *handClock {
	return &handClock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), alarms: make(chan alarm, 1000)}
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *handClock) Alarm(delay time.Duration) (<-chan time.Time, func()) {
	a := alarm{delay, make(chan time.Time, 1)}
	c.alarms <- a
	return a.bell, func() {}
}

func (a alarm) ring() { a.bell <- time.Time{} }

// wantGoroutines waits until there are no more goroutines than before.
func wantGoroutines(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, before the test %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
