package bench

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"sync"

	"connectorcore/engine/execute"
	"connectorcore/facts"
	"connectorcore/ledger"

	"github.com/cockroachdb/errors"
)

// database is the application's own.
const database = "w1"

// tables are the application's. A change has no key of its own making, so that one that was applied twice is there twice.
var tables = []string{
	"CREATE TABLE w1.change_applied (id BINARY(16) NOT NULL, delivery VARBINARY(64) NOT NULL, account BINARY(16) NOT NULL, " +
		"name VARBINARY(64) NOT NULL, seq BIGINT NOT NULL, pad VARBINARY(2000) NOT NULL, PRIMARY KEY (id) CLUSTERED)",
	"CREATE TABLE w1.state (account BINARY(16) NOT NULL, name VARBINARY(64) NOT NULL, seq BIGINT NOT NULL, changes BIGINT NOT NULL, " +
		"late BIGINT NOT NULL, PRIMARY KEY (account, name) CLUSTERED)",
}

// application is the handler of W1, and what it notes beside the database: which delivery an execution applies.
type application struct {
	mu         sync.Mutex
	deliveries map[facts.ExecutionID]string
	completed  []completed
}

// completed is when the completion of a delivery was durable.
type completed struct {
	Delivery string `json:"delivery"`
	At       int64  `json:"at"` // microseconds of the epoch
}

// input is what the mapping of the pack gives.
type input struct {
	Source struct {
		Delivery string `json:"delivery"`
		Key      string `json:"key"`
		Seq      int64  `json:"seq"`
		Pad      string `json:"pad"`
	} `json:"source"`
}

// handle applies one change: one INSERT, and one UPDATE of its key's row, which counts what came out of order.
func (a *application) handle(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
	var in input
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return execute.Answer{}, errors.Wrap(err, "bench: an input")
	}
	s := in.Source
	a.mu.Lock()
	a.deliveries[c.Execution] = s.Delivery
	a.mu.Unlock()
	if _, err := h.Exec(ctx, "INSERT INTO change_applied (id, delivery, account, name, seq, pad) VALUES (?, ?, ?, ?, ?, ?)",
		facts.Mint[facts.HolderID](), s.Delivery, c.Account, s.Key, s.Seq, s.Pad); err != nil {
		return execute.Answer{}, err
	}
	result, err := h.Exec(ctx, "UPDATE state SET late = late + (seq > ?), seq = GREATEST(seq, ?), changes = changes + 1 WHERE account = ? AND name = ?",
		s.Seq, s.Seq, c.Account, s.Key)
	if err != nil {
		return execute.Answer{}, err
	}
	if rows, err := result.RowsAffected(); err != nil || rows != 1 {
		return execute.Answer{}, errors.Newf("bench: the key %s has %d rows", s.Key, rows)
	}
	return execute.Answer{Outcome: execute.Applied}, nil
}

// ended notes a completion.
func (a *application) ended(execution facts.ExecutionKey) {
	at := facts.SystemClock{}.Now().UnixMicro()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.completed = append(a.completed, completed{a.deliveries[execution.Subject], at})
}

// prepare makes the application's tables and the row of each key, by the login that owns the application.
func prepare(ctx context.Context, db *sql.DB, w Workload, accounts []facts.AccountID) error {
	for _, statement := range tables {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return errors.Wrap(err, "bench: the application's tables")
		}
	}
	for _, account := range accounts {
		var rows []string
		var values []any
		for key := range w.Keys {
			rows = append(rows, "(?, ?, 0, 0, 0)")
			values = append(values, account, keyName(key))
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO w1.state (account, name, seq, changes, late) VALUES "+strings.Join(rows, ", "), values...); err != nil {
			return errors.Wrap(err, "bench: the application's keys")
		}
	}
	return nil
}

// applied is what the application's tables say.
type applied struct{ duplicates, late, lost int }

func count(ctx context.Context, db *sql.DB, n int) (applied, error) {
	var rows, deliveries, late int
	err := db.QueryRowContext(ctx, "SELECT COUNT(*), COUNT(DISTINCT delivery) FROM w1.change_applied").Scan(&rows, &deliveries)
	if err == nil {
		err = db.QueryRowContext(ctx, "SELECT COALESCE(SUM(late), 0) FROM w1.state").Scan(&late)
	}
	return applied{rows - deliveries, late, n - deliveries}, errors.Wrap(err, "bench: the application's tables")
}
