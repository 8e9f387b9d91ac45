package txn

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"connectorcore/facts"

	"github.com/prometheus/client_golang/prometheus"
)

// DB runs transactions over one pool of the ledger role. It is safe for concurrent use.
type DB struct {
	pool    *sql.DB
	options Options
	metrics *metrics
	// doubts are the guards under which a call ended unknown. Whoever holds one next writes on it: its caller may be the
	// one that comes back with the same ids, and all that it brings may be refused.
	doubts sync.Map
}

// Options are what a DB may be told. The zero Options are the defaults.
type Options struct {
	// Clock paces reruns. It never decides.
	Clock facts.Clock
	// At is called on every named boundary, synchronously: a test may stop or end the process there.
	At func(Boundary)
	// Observe is called once for each run, after its outcome is fixed.
	Observe func(Report)
	// OnRerun is called before each rerun of a closure, with its reason.
	OnRerun func(reason string)
	// Registerer takes the metrics of this room. Without one they are counted and not exported.
	Registerer prometheus.Registerer
	// Budget bounds the reruns of one call.
	Budget Budget
}

// Budget bounds how long a call may rerun its closure. When it ends, the call fails; nothing is decided by it.
type Budget struct {
	// Rerun is how long a transaction that surely did not commit is tried again. Default 20 s.
	Rerun time.Duration
	// Settle is how long an unknown commit is tried to be settled. It outlasts the time after which TiDB lets go of a
	// dead transaction's locks. Default 60 s.
	Settle time.Duration
}

const (
	rerunDefault  = 20 * time.Second
	settleDefault = 60 * time.Second
)

// Report is what one run cost and how it ended.
type Report struct {
	Transaction string
	Outcome     Outcome
	Attempts    int
	Statements  int // of the last attempt, BEGIN and COMMIT included
}

// Outcome is how a run ended.
type Outcome string

// The outcomes. Refused wrote nothing; failed wrote nothing and may be tried again; unknown is R05's.
const (
	Done    Outcome = "done"
	Refused Outcome = "refused"
	Failed  Outcome = "failed"
	Unknown Outcome = "unknown"
)

// Open makes a DB over a pool whose every connection was opened by schema.Connect in the ledger role.
func Open(pool *sql.DB, options Options) (*DB, error) {
	if options.Clock == nil {
		options.Clock = facts.SystemClock{}
	}
	if options.Budget.Rerun == 0 {
		options.Budget.Rerun = rerunDefault
	}
	if options.Budget.Settle == 0 {
		options.Budget.Settle = settleDefault
	}
	m, err := newMetrics(options.Registerer)
	if err != nil {
		return nil, err
	}
	return &DB{pool: pool, options: options, metrics: m}, nil
}

// Kind names one protocol transaction. Each is a package variable, so that the list of boundaries is complete before
// a test asks for it.
type Kind struct{ name string }

var registry struct {
	sync.Mutex
	names []string
}

// NewKind registers a transaction's name: a verb and a fact, such as "acquire permits".
func NewKind(name string) *Kind {
	registry.Lock()
	defer registry.Unlock()
	registry.names = append(registry.names, name)
	return &Kind{name}
}

// String is the name.
func (k *Kind) String() string { return k.name }

// Point is a place in a transaction at which a process can die.
type Point string

// The points around a commit. Before it everything is written and nothing is committed; after it the
// acknowledgement has arrived and nobody was told.
const (
	BeforeCommit Point = "before commit"
	AfterCommit  Point = "after commit"
)

// Boundary is one named place at which a crash is possible and must be harmless.
type Boundary struct {
	Transaction string
	Point       Point
}

// String is "acquire permits: before commit".
func (b Boundary) String() string { return b.Transaction + ": " + string(b.Point) }

// Boundaries are the boundaries of every registered transaction, sorted by name.
func Boundaries() []Boundary {
	registry.Lock()
	defer registry.Unlock()
	names := slices.Clone(registry.names)
	slices.Sort(names)
	all := make([]Boundary, 0, 2*len(names))
	for _, name := range names {
		all = append(all, Boundary{name, BeforeCommit}, Boundary{name, AfterCommit})
	}
	return all
}

func (db *DB) doubt(guard *touch) {
	if guard != nil {
		db.doubts.Store(guard.name, true)
	}
}

// trust ends the doubt about a guard that a committed transaction has written on.
func (db *DB) trust(tx *Tx) {
	if tx.settling && tx.first != nil {
		db.doubts.Delete(tx.first.name)
	}
}

func (db *DB) at(kind *Kind, point Point) {
	if db.options.At != nil {
		db.options.At(Boundary{kind.name, point})
	}
}

func (db *DB) rerun(reason string) {
	db.metrics.reruns.WithLabelValues(reason).Inc()
	if db.options.OnRerun != nil {
		db.options.OnRerun(reason)
	}
}

// wait lets a delay pass or the caller's context end.
func (db *DB) wait(ctx context.Context, delay time.Duration) error {
	ring, stop := db.options.Clock.Alarm(delay)
	defer stop()
	select {
	case <-ring:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
