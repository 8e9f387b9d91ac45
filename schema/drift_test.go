package schema_test

import (
	"database/sql"
	"strings"
	"testing"

	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// A server that repeats an optimistic transaction by itself repeats its writes from old reads. No connection of a pool lets it:
// each is pessimistic and reads what is committed, by its own settings and not by the server's defaults; and a pool whose
// sessions are made otherwise gives no connection at all, however often it is asked.
func TestScenario109NoConnectionOfAPoolIsOptimistic(t *testing.T) {
	store := world.Converged(t)
	pool := store.Pool(t, schema.RoleLedger)
	var held []*sql.Conn
	for range 4 {
		conn, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
		var mode, isolation string
		if err := conn.QueryRowContext(t.Context(), "SELECT @@tidb_txn_mode, @@transaction_isolation").Scan(&mode, &isolation); err != nil {
			t.Fatal(err)
		}
		if mode != "pessimistic" || isolation != "READ-COMMITTED" {
			t.Errorf("a connection is %s and %s", mode, isolation)
		}
	}
	for _, conn := range held {
		_ = conn.Close()
	}
	for name, value := range map[string]string{"tidb_txn_mode": "optimistic", "transaction_isolation": "REPEATABLE-READ"} {
		config := store.Login.Config()
		config.DBName, config.Params = store.Name, map[string]string{name: "'" + value + "'"}
		connector, err := schema.Connector(schema.DSN(config.FormatDSN()), schema.RoleLedger)
		if err != nil {
			t.Fatal(err)
		}
		drifted := sql.OpenDB(connector)
		t.Cleanup(func() { _ = drifted.Close() })
		for range 3 {
			if err := drifted.PingContext(t.Context()); !errors.Is(err, schema.ErrSession) || !strings.Contains(err.Error(), name) {
				t.Errorf("a session with %s=%s: %v", name, value, err)
			}
		}
	}
}
