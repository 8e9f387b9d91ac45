package turns

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/prometheus/client_golang/prometheus"
)

// Take carries one batch of one account out, as one transaction, and returns one verdict an item, in their order.
//
// It is called again with equal items in the same order after an error that matches facts.ErrOutcomeUnknown, so it must
// be repeatable with the ids that the items carry. The items are grouped by kind, in the order of Options.Kinds. The
// slice is the callee's. The context is of the process, not of a caller; it ends when Close has waited long enough.
type Take[I Sized, V any] func(ctx context.Context, account facts.AccountID, items []I) ([]V, error)

// Sized is an item that says what it adds to a turn. The answer never changes.
type Sized interface{ Size() Size }

// Size is how much something is, in the three measures that bound a turn (R12).
type Size struct {
	Items int
	Rows  int // rows that are derived and written
	Bytes int // payload bytes that are held and sent
}

// Kind is a position in Options.Kinds.
type Kind uint8

// KindRule is one kind of the closed set.
type KindRule struct {
	Name   string // a metric label; unique
	Weight int    // its part of an account's turns while others wait too, 1 to 1000
	Alone  bool   // its turns hold no other kind, because they are a transaction of their own
}

// Options are what a process decides about its turns. A field that is zero has its default.
type Options struct {
	Kinds           []KindRule // in the order of what they free, 1 to 32; no default
	ExclusiveWeight int        // the weight of Exclusive, each counted as a whole turn; default: the largest of Kinds
	Concurrent      int        // turns at once in this process, at most the pool's connections; default 8

	Turn    Size // the most of one turn; default 500 items, 5,000 rows, 16 MiB
	Account Size // the most that waits of one kind on one account; default 10 turns in items and rows, 4 in bytes
	Process Size // the most that is held of one kind in the process until its verdict; default 40 turns, 16 in bytes

	Clock   facts.Clock           // default: the machine's
	Log     *slog.Logger          // default: none
	Metrics prometheus.Registerer // default: none
}

// exclusiveName is how what Exclusive waits for is called beside the kinds.
const exclusiveName = "exclusive"

// Turns is the queues of all accounts of one process. It is safe for concurrent use. Close it.
type Turns[I Sized, V any] struct {
	options Options
	rules   []KindRule // exclusive, then the kinds in their order
	take    Take[I, V]
	metrics *metrics
	root    context.Context // of every take; ends when Close has waited long enough
	cancel  context.CancelFunc
	closing chan struct{} // closed by the first Close
	drained chan struct{} // closed when nothing runs, waits or is in doubt any more

	mu       sync.Mutex
	accounts map[facts.AccountID]*account[I, V] // only those with items, a turn or a pause
	ready    order[I, V]                        // those that have items and may have a turn
	running  int                                // turns
	paused   int                                // accounts that wait for an alarm
	held     []Size                             // by kind: from its acceptance to its verdict
	seq      uint64                             // of the last item
	pace     time.Duration                      // how long a turn takes these days
}

// New makes the queues. Nothing runs until there are items.
func New[I Sized, V any](options Options, take Take[I, V]) (*Turns[I, V], error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	rules := append([]KindRule{{Name: exclusiveName, Weight: options.ExclusiveWeight, Alone: true}}, options.Kinds...)
	metrics, err := newMetrics(options.Metrics, rules)
	if err != nil {
		return nil, err
	}
	t := &Turns[I, V]{options: options, rules: rules, take: take, metrics: metrics,
		closing: make(chan struct{}), drained: make(chan struct{}),
		accounts: map[facts.AccountID]*account[I, V]{}, held: make([]Size, len(rules))}
	t.root, t.cancel = context.WithCancel(context.Background())
	return t, nil
}

// complete fills the defaults in and refuses what cannot work.
func (o *Options) complete() error {
	if err := o.completeKinds(); err != nil {
		return err
	}
	o.Turn = o.Turn.or(Size{Items: 500, Rows: 5000, Bytes: 16 << 20})
	o.Account = o.Account.or(Size{10 * o.Turn.Items, 10 * o.Turn.Rows, 4 * o.Turn.Bytes})
	o.Process = o.Process.or(Size{40 * o.Turn.Items, 40 * o.Turn.Rows, 16 * o.Turn.Bytes})
	if o.Concurrent == 0 {
		o.Concurrent = 8
	}
	if o.Clock == nil {
		o.Clock = facts.SystemClock{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case !(Size{1, 1, 1}).within(o.Turn):
		return errors.Newf("turns: Options.Turn is %+v: each of its bounds must be at least 1", o.Turn)
	case !o.Turn.within(o.Account) || !o.Turn.within(o.Process):
		return errors.Newf("turns: Options.Account %+v and Options.Process %+v must each have room for one whole turn, %+v",
			o.Account, o.Process, o.Turn)
	case o.Concurrent < 0:
		return errors.Newf("turns: Options.Concurrent is %d: at least one turn must be able to run", o.Concurrent)
	}
	return nil
}

func (o *Options) completeKinds() error {
	if len(o.Kinds) == 0 || len(o.Kinds) > 32 {
		return errors.Newf("turns: Options.Kinds has %d kinds, want 1 to 32", len(o.Kinds))
	}
	names := map[string]bool{"": true, exclusiveName: true}
	largest := 0
	for i, rule := range o.Kinds {
		if names[rule.Name] {
			return errors.Newf("turns: Options.Kinds[%d]: the name %q is empty, taken or reserved", i, rule.Name)
		}
		if rule.Weight < 1 || rule.Weight > 1000 {
			return errors.Newf("turns: Options.Kinds[%d] (%s): its weight is %d, want 1 to 1000", i, rule.Name, rule.Weight)
		}
		names[rule.Name] = true
		largest = max(largest, rule.Weight)
	}
	if o.ExclusiveWeight == 0 {
		o.ExclusiveWeight = largest
	}
	if o.ExclusiveWeight < 1 || o.ExclusiveWeight > 1000 {
		return errors.Newf("turns: Options.ExclusiveWeight is %d, want 1 to 1000", o.ExclusiveWeight)
	}
	return nil
}

func (s Size) or(standard Size) Size {
	pick := func(given, otherwise int) int {
		if given == 0 {
			return otherwise
		}
		return given
	}
	return Size{pick(s.Items, standard.Items), pick(s.Rows, standard.Rows), pick(s.Bytes, standard.Bytes)}
}

func (s Size) plus(other Size) Size {
	return Size{s.Items + other.Items, s.Rows + other.Rows, s.Bytes + other.Bytes}
}

func (s Size) minus(other Size) Size {
	return Size{s.Items - other.Items, s.Rows - other.Rows, s.Bytes - other.Bytes}
}

func (s Size) within(bound Size) bool {
	return s.Items <= bound.Items && s.Rows <= bound.Rows && s.Bytes <= bound.Bytes
}

// share is which part of a bound a size is, by its scarcest measure.
func (s Size) share(bound Size) float64 {
	part := func(of, whole int) float64 { return float64(of) / float64(whole) }
	return max(part(s.Items, bound.Items), part(s.Rows, bound.Rows), part(s.Bytes, bound.Bytes))
}
