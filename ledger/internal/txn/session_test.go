package txn

import (
	"database/sql"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// R06: a session may be changed after its connection was opened and read back. A transaction that holds a gate finds it, and
// its connection is never used again.
func TestR06ASessionThatChangedIsFoundUnderTheGateAndClosed(t *testing.T) {
	store := world.Converged(t)
	pool := store.Pool(t, schema.RoleLedger)
	pool.SetMaxOpenConns(1)
	db, err := Open(pool, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := newServing(t, db)
	s.carrying(s.epoch).mustMove(t, db, s.accounts[1], machines.AccountServingGateBeginV2Halt)
	lock := func(account facts.AccountID) error {
		_, err := Run(t.Context(), db, kindPhase, func(tx *Tx) (bool, error) {
			held, err := LockAccount(tx, account)
			return err == nil && held.Serving != nil, err
		})
		return err
	}
	for _, account := range s.accounts[:2] { // one that serves, and one that halts
		for name, value := range map[string]string{"tidb_txn_mode": "optimistic", "transaction_isolation": "REPEATABLE-READ"} {
			if err := lock(account); err != nil {
				t.Fatalf("before anything was changed: %v", err)
			}
			change(t, pool, "SET SESSION "+name+"='"+value+"'")
			if err := lock(account); !errors.Is(err, schema.ErrSession) || !strings.Contains(err.Error(), name) {
				t.Errorf("with %s=%s: %v", name, value, err)
			}
		}
	}
	if err := lock(s.accounts[0]); err != nil {
		t.Errorf("on another connection: %v", err)
	}
}

// change runs a statement on the one connection of a pool, and gives it back.
func change(t *testing.T, pool *sql.DB, statement string) {
	t.Helper()
	conn, err := pool.Conn(t.Context())
	if err == nil {
		_, err = conn.ExecContext(t.Context(), statement)
	}
	if err == nil {
		err = conn.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
