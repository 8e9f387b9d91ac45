package txn

import (
	"context"
	"database/sql"
	"fmt"
	"runtime/debug"
	"sync"

	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// phase is how far a transaction has come. It only rises.
type phase uint8

const (
	locking phase = iota // nothing is held yet
	deciding
	writing
)

// Tx is one attempt at a transaction, in the hands of its closure. It is used by one goroutine and is dead when the
// closure returns.
type Tx struct {
	caller     context.Context // asked before each statement
	statement  context.Context // outlives the caller, so that no cancellation tears a statement or a commit
	raw        *sql.Tx
	kind       *Kind
	db         *DB
	settling   bool
	phase      phase
	rank       schema.Rank
	first      *touch // the first guard that was locked
	statements int
	poison     error
	applying   sync.Mutex // held by Apply, and for ever once the closure has returned
}

// touch writes on one guard row without moving it.
type touch struct {
	name  string // table and key
	query string
	args  []any
}

// Settling tells that an earlier commit of the same closure, or under the same first guard, is unknown. A decision does not need to know; a log does.
func (tx *Tx) Settling() bool { return tx.settling }

// open refuses a step that comes after the writes, or after the transaction has failed: past the first error nothing
// may be written, because after some errors the server has ended the transaction and would run the rest outside it.
func (tx *Tx) open(doing string) error {
	if tx.poison == nil && tx.phase == writing {
		return tx.fail(errors.AssertionFailedf("transaction %q: %s after its writes", tx.kind, doing))
	}
	return tx.poison
}

// fail poisons the transaction.
func (tx *Tx) fail(err error) error {
	if tx.poison == nil {
		tx.poison = err
	}
	return tx.poison
}

// climb asserts the lock order (R08). A table is locked once: all its keys in one sorted statement.
func (tx *Tx) climb(table *schema.Table) error {
	if err := tx.open("a lock of " + table.Name); err != nil {
		return err
	}
	if table.Rank == 0 || table.Rank <= tx.rank {
		return tx.fail(errors.AssertionFailedf("transaction %q: locks %s (rank %s) after rank %s", tx.kind, table.Name, table.Rank, tx.rank))
	}
	tx.rank, tx.phase = table.Rank, deciding
	return nil
}

// before counts a statement and gives up when the caller has.
func (tx *Tx) before() error {
	if tx.poison != nil {
		return tx.poison
	}
	if err := tx.caller.Err(); err != nil {
		return tx.fail(errors.Wrapf(err, "transaction %q: the caller gave up; nothing was written", tx.kind))
	}
	tx.statements++
	return nil
}

// exec runs a write that must change exactly want rows.
func (tx *Tx) exec(query string, args []any, want int) error {
	if err := tx.before(); err != nil {
		return err
	}
	result, err := tx.raw.ExecContext(tx.statement, query, args...)
	if err != nil {
		return tx.fail(errors.Wrapf(err, "transaction %q: %s", tx.kind, verb(query)))
	}
	changed, err := result.RowsAffected()
	if err != nil {
		return tx.fail(errors.Wrapf(err, "transaction %q: %s", tx.kind, verb(query)))
	}
	if changed != int64(want) {
		return tx.fail(errors.Wrapf(errLostFence, "transaction %q: %s changed %d rows instead of %d", tx.kind, verb(query), changed, want))
	}
	return nil
}

// command runs a statement that changes the session or a savepoint and no row.
func (tx *Tx) command(statement string) error {
	if err := tx.before(); err != nil {
		return err
	}
	if _, err := tx.raw.ExecContext(tx.statement, statement); err != nil {
		return tx.fail(errors.Wrapf(err, "transaction %q: %s", tx.kind, verb(statement)))
	}
	return nil
}

// query hands each row of a read over.
func (tx *Tx) query(query string, args []any, row func(*sql.Rows) error) error {
	if err := tx.before(); err != nil {
		return err
	}
	rows, err := tx.raw.QueryContext(tx.statement, query, args...)
	if err != nil {
		return tx.fail(errors.Wrapf(err, "transaction %q: %s", tx.kind, verb(query)))
	}
	for rows.Next() {
		if err := row(rows); err != nil {
			return tx.fail(errors.CombineErrors(errors.Wrapf(err, "transaction %q: %s", tx.kind, verb(query)), rows.Close()))
		}
	}
	if err := errors.CombineErrors(rows.Err(), rows.Close()); err != nil {
		return tx.fail(errors.Wrapf(err, "transaction %q: %s", tx.kind, verb(query)))
	}
	return nil
}

// verb is the first words of a statement: enough to find it, and no value in it.
func verb(query string) string {
	for i, spaces := 0, 0; i < len(query); i++ {
		if query[i] == ' ' {
			spaces++
		}
		if spaces == 3 {
			return query[:i]
		}
	}
	return query
}

// touchFirst writes on the first guard, so that an original commit that is still on its way meets a newer write.
func (tx *Tx) touchFirst() error {
	if tx.first == nil {
		return nil // no guard row existed: whoever ended it has already made the original impossible
	}
	return tx.exec(tx.first.query, tx.first.args, 1)
}

// protect turns a panic of the closure into an assertion: one broken item must not take the process with it.
func protect[G, T any](given G, tx *Tx, fn func(G) (T, error)) (value T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = tx.fail(errors.AssertionFailedf("transaction %q panicked: %v\n%s", tx.kind, errors.Safe(fmt.Sprintf("%T", cause)), debug.Stack()))
		}
	}()
	return fn(given)
}
