package txn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"sync"
	"testing"
	"time"

	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// idle is how long a held guard is left alone: longer than the lease that a server gives a lock before it must renew it.
const idle = 30 * time.Second

// standing is a guard row that exists: how it is locked by its key.
type standing struct {
	table *schema.Table
	query string
	args  []any
}

// stands bears a subject and gives how its guard is locked.
func (s subject[R, K, G, S, E]) stands(t testing.TB, db *DB) standing {
	t.Helper()
	k := s.bear(t, db)
	bound, err := keyFrom(s.guards.Key(&k))
	if err != nil {
		t.Fatal(err)
	}
	return standing{s.guards.Table, selectByKey(s.guards.Table, s.guards.Table.ColumnNames(), 1) + " FOR UPDATE", flat(keyValues([]key{bound}))}
}

// A row of each guard and head table is locked as the kernel locks it, and its holder then does nothing for half a minute. A
// second session that asks for it gets it when the holder has committed, and not before.
func TestScenario075AnIdleHolderKeepsItsLock(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	all := []standing{ownerBarriers.stands(t, db), gates.stands(t, db), epochs.stands(t, db), credentials.stands(t, db), barriers.stands(t, db),
		windows.stands(t, db), receipts.stands(t, db), projections.stands(t, db), dependencies.stands(t, db), executions.stands(t, db),
		lanes.stands(t, db), effects.stands(t, db), permits.stands(t, db), links.stands(t, db)}
	for _, table := range schema.Tables() {
		locked := table.Kind == schema.Guard || table.Kind == schema.Head
		if locked && !slices.ContainsFunc(all, func(s standing) bool { return s.table == table }) {
			t.Errorf("%s is not tried: it needs a subject here", table.Name)
		}
	}
	var group sync.WaitGroup
	for _, guard := range all { // at once, so that all of it takes one idle time
		group.Go(func() {
			if err := guard.outlasts(t, store.Admin); err != nil {
				t.Errorf("%s: %v", guard.table.Name, err)
			}
		})
	}
	group.Wait()
}

// outlasts holds the guard idle while another session waits for it.
func (s standing) outlasts(t *testing.T, pool *sql.DB) error {
	holder, err := session(t, pool)
	if err != nil {
		return err
	}
	waiter, err := session(t, pool)
	if err != nil {
		return err
	}
	third, err := session(t, pool)
	if err != nil {
		return err
	}
	if err := s.lock(t.Context(), holder); err != nil {
		return err
	}
	got := make(chan error, 1)
	go func() { got <- s.lock(t.Context(), waiter) }()
	select {
	case err := <-got:
		return errors.Newf("a second session was answered while the first one held it: %v", err)
	case <-time.After(idle):
	}
	if _, err := third.ExecContext(t.Context(), s.query+" NOWAIT", s.args...); !hasCode(err, 3572) {
		return errors.Newf("after the idle time a third session gets %v", err)
	}
	if _, err := holder.ExecContext(t.Context(), "COMMIT"); err != nil {
		return errors.Wrap(err, "the holder's COMMIT")
	}
	return errors.Wrap(<-got, "after the holder's end")
}

// session is a connection in a transaction, set as the kernel's are but for the limit that would end an idle holder and the
// one that would end the waiting.
func session(t *testing.T, pool *sql.DB) (*sql.Conn, error) {
	conn, err := pool.Conn(t.Context())
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { // its settings are no one else's
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		_ = conn.Close()
	})
	const settings = "SET tidb_txn_mode='pessimistic', transaction_isolation='READ-COMMITTED', innodb_lock_wait_timeout=120, tidb_idle_transaction_timeout=0"
	for _, statement := range []string{settings, "BEGIN"} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			return nil, err
		}
	}
	return conn, nil
}

func (s standing) lock(ctx context.Context, conn *sql.Conn) error {
	rows, err := conn.QueryContext(ctx, s.query, s.args...)
	if err != nil {
		return err
	}
	found := rows.Next()
	if err := errors.CombineErrors(rows.Err(), rows.Close()); err != nil || found {
		return err
	}
	return errors.Newf("%s has no such row", s.table.Name)
}
