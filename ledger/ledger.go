package ledger

import (
	"database/sql"

	"connectorcore/facts"
	"connectorcore/ledger/internal/txn"
	"connectorcore/readers"

	"github.com/prometheus/client_golang/prometheus"
)

// Ledger runs protocol transactions over one pool of the ledger role. It is safe for concurrent use.
type Ledger struct {
	db    *txn.DB
	reads *readers.Reader // over the same pool, for what is found without a lock
}

// Open makes a Ledger over a pool that schema.Connect opened in schema.RoleLedger. The pool stays the caller's.
func Open(pool *sql.DB, options ...Option) (*Ledger, error) {
	var o txn.Options
	for _, option := range options {
		option(&o)
	}
	db, err := txn.Open(pool, o)
	if err != nil {
		return nil, err
	}
	return &Ledger{db, readers.Open(pool)}, nil
}

// Option changes how a Ledger runs, never what it decides.
type Option func(*txn.Options)

// WithClock paces reruns by another clock than the system's.
func WithClock(clock facts.Clock) Option { return func(o *txn.Options) { o.Clock = clock } }

// WithMetrics registers the metrics of the transactions.
func WithMetrics(registerer prometheus.Registerer) Option {
	return func(o *txn.Options) { o.Registerer = registerer }
}

// AtBoundary calls a function at every named boundary, synchronously. A test stops or ends the process there.
func AtBoundary(at func(Boundary)) Option { return func(o *txn.Options) { o.At = at } }

// Boundary is one named place of one transaction at which a process can die.
type Boundary = txn.Boundary

// Boundaries are all boundaries of all transactions of this room. A transaction cannot be left out: its name is made by
// registering it.
func Boundaries() []Boundary { return txn.Boundaries() }
