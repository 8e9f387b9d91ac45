package turns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"pgregory.net/rapid"
)

func noTransaction(context.Context) error { return nil }

// model is what the queue must do, said in the simplest way: it watches the turns that begin and predicts how many run.
type model struct {
	*rapid.T
	b       *bench
	options Options
	running map[facts.AccountID]*stop
	pauses  []pause
	waiting map[facts.AccountID][3][]string // by kind, in the order of arrival
	doubt   map[facts.AccountID][]string    // the batch that must come again
	paused  map[facts.AccountID]bool
	told    map[string]int
	posted  []string
	size    map[string]Size
}

// pause is an account whose alarm is set.
type pause struct {
	alarm
	account facts.AccountID
}

// ready counts the accounts that could begin a turn now.
func (m *model) ready() int {
	count := 0
	for n := range 4 {
		id := accountNumber(n)
		lines := m.waiting[id]
		has := m.doubt[id] != nil || len(lines[0])+len(lines[1])+len(lines[2]) > 0
		if has && m.running[id] == nil && !m.paused[id] {
			count++
		}
	}
	return count
}

// settle lets every turn begin that must begin, and compares each with the model.
func (m *model) settle() {
	for m.ready() > 0 && len(m.running) < m.options.Concurrent {
		m.begin(m.b.next())
	}
}

func (m *model) begin(s *stop) {
	id := s.account
	if m.running[id] != nil || m.paused[id] {
		m.Fatalf("%s has a second turn, or one during its pause", id)
	}
	if again := m.doubt[id]; again != nil && !slices.Equal(s.names(), again) {
		m.Fatalf("%s is in doubt about %q and takes %q", id, again, s.names())
	}
	m.running[id] = s
	if m.doubt[id] != nil {
		return
	}
	var sum Size
	lines := m.waiting[id]
	for _, item := range s.items {
		sum = sum.plus(m.size[item.name])
		if len(lines[item.kind]) == 0 || lines[item.kind][0] != item.name {
			m.Fatalf("%q is taken, and of its kind %q wait", item.name, lines[item.kind])
		}
		lines[item.kind] = lines[item.kind][1:]
	}
	m.waiting[id] = lines
	if len(s.items) == 0 || !sum.within(m.options.Turn) {
		m.Fatalf("a turn of %q is %+v", s.names(), sum)
	}
}

func (m *model) post(t *rapid.T) {
	id := accountNumber(rapid.IntRange(0, 3).Draw(t, "account"))
	item := job{name: fmt.Sprint("item ", len(m.posted)), kind: Kind(rapid.IntRange(0, 2).Draw(t, "kind")),
		size: Size{1, rapid.IntRange(0, 10).Draw(t, "rows"), rapid.IntRange(0, 100).Draw(t, "bytes")}}
	m.posted, m.size[item.name] = append(m.posted, item.name), item.size
	told := func(verdict string, err error) {
		if err == nil && verdict != "did "+item.name {
			t.Errorf("%s is told %q", item.name, verdict)
		}
		m.b.mu.Lock()
		m.told[item.name]++
		m.b.mu.Unlock()
	}
	if err := m.b.Post(id, item.kind, item, told); err != nil {
		t.Fatal(err)
	}
	lines := m.waiting[id]
	lines[item.kind] = append(lines[item.kind], item.name)
	m.waiting[id] = lines
	m.settle()
}

// end lets one running turn end in some way, and waits until its account has gone on.
func (m *model) end(t *rapid.T) {
	var ids []facts.AccountID
	for id := range m.running {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return
	}
	slices.SortFunc(ids, facts.AccountID.Compare)
	id := rapid.SampledFrom(ids).Draw(t, "account")
	s := m.running[id]
	how := rapid.SampledFrom([]string{"verdicts", "verdicts", "error", "assertion", "unknown"}).Draw(t, "end")
	delete(m.running, id)
	switch {
	case how == "unknown" || m.doubt[id] != nil && how != "verdicts":
		m.doubt[id], m.paused[id] = s.names(), true
	case how == "assertion":
		m.paused[id] = true
	default:
		delete(m.doubt, id)
	}
	switch how {
	case "verdicts":
		s.ok()
	case "error":
		s.fail(errors.New("no connection"))
	case "assertion":
		s.fail(errors.AssertionFailedf("defect of %s", id))
	case "unknown":
		s.fail(facts.UnknownOutcome("test", nil))
	}
	if m.paused[id] { // the next alarm is this account's, since one turn ends at a time
		m.pauses = append(m.pauses, pause{receive(m.b.t, m.b.clock.alarms, "an alarm is set"), id})
	}
	m.settle()
}

// ring ends one pause.
func (m *model) ring(t *rapid.T) {
	if len(m.pauses) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.pauses)-1).Draw(t, "alarm")
	m.pauses[i].alarm.ring()
	delete(m.paused, m.pauses[i].account)
	m.pauses = slices.Delete(m.pauses, i, i+1)
	m.settle()
}

func TestEveryItemGetsOneVerdictInOrderAndWithinBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		options := Options{Turn: Size{Items: 4, Rows: 20, Bytes: 200}, Concurrent: rapid.IntRange(1, 3).Draw(rt, "concurrent")}
		b := newBench(t, options)
		defer b.shut()
		m := &model{T: rt, b: b, options: options, running: map[facts.AccountID]*stop{}, waiting: map[facts.AccountID][3][]string{},
			doubt: map[facts.AccountID][]string{}, paused: map[facts.AccountID]bool{}, told: map[string]int{}, size: map[string]Size{}}
		rt.Repeat(map[string]func(*rapid.T){"post": m.post, "end": m.end, "ring": m.ring})
		for _, pause := range m.pauses {
			pause.ring()
		}
		clear(m.paused)
		for m.settle(); len(m.running) > 0; m.settle() {
			for id, s := range m.running {
				delete(m.running, id)
				delete(m.doubt, id)
				s.ok()
			}
		}
		eventually(t, "every item is told", func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return len(m.told) == len(m.posted) && len(b.accounts) == 0
		})
		for _, name := range m.posted {
			if m.told[name] != 1 {
				rt.Errorf("%s was told %d verdicts", name, m.told[name])
			}
		}
	})
}

// TestManyCallersAtOnce is for the race detector: callers that wait, leave, post and exclude each other, takes that
// fail in every way.
func TestManyCallersAtOnce(t *testing.T) {
	before := runtime.NumGoroutine()
	var inside [8]atomic.Int32 // of each account
	enter := func(id facts.AccountID) func() {
		slot := &inside[int(id[len(id)-1]-'0')]
		if slot.Add(1) != 1 {
			t.Error("two turns of one account overlap")
		}
		runtime.Gosched()
		return func() { slot.Add(-1) }
	}
	take := func(_ context.Context, id facts.AccountID, items []job) ([]string, error) {
		defer enter(id)()
		switch rand.IntN(20) {
		case 0:
			return nil, errors.New("no connection")
		case 1, 2:
			return nil, facts.UnknownOutcome("test", nil)
		case 3:
			return nil, errors.AssertionFailedf("defect")
		}
		return verdicts(items), nil
	}
	turns, err := New(Options{Kinds: threeKinds, Concurrent: 3, Turn: Size{Items: 7}, Clock: ringing{facts.SystemClock{}}}, take)
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	var posted, told atomic.Int64
	for n := range 16 {
		callers.Go(func() {
			for i := range 200 {
				id, item := accountNumber(rand.IntN(len(inside))), job{name: fmt.Sprint(n, " ", i), kind: Kind(rand.IntN(3))}
				switch rand.IntN(4) {
				case 0:
					ctx, leave := context.WithCancel(t.Context())
					go leave()
					_, _ = turns.Do(ctx, id, item.kind, item)
				case 1:
					_ = turns.Exclusive(t.Context(), id, func(context.Context) error { defer enter(id)(); return nil })
				case 2:
					if turns.Post(id, item.kind, item, func(string, error) { told.Add(1) }) == nil {
						posted.Add(1)
					}
				default:
					if verdict, err := turns.Do(t.Context(), id, item.kind, item); err == nil && verdict != "did "+item.name {
						t.Errorf("%q got %q", item.name, verdict)
					}
				}
			}
		})
	}
	callers.Wait()
	if err := turns.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if posted.Load() != told.Load() || posted.Load() == 0 {
		t.Fatalf("%d items were posted and %d told", posted.Load(), told.Load())
	}
	wantGoroutines(t, before)
}

// ringing is a clock whose alarms ring at once.
type ringing struct{ facts.SystemClock }

func (c ringing) Alarm(time.Duration) (<-chan time.Time, func()) { return c.SystemClock.Alarm(0) }
