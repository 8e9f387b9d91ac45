package txn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"connectorcore/facts"
	"connectorcore/schema"

	"github.com/cenkalti/backoff/v5"
	"github.com/cockroachdb/errors"
)

// MaxItems bounds the items of one transaction (R12).
const MaxItems = 500

// Batch runs one transaction over items and returns one verdict an item, in their order. No item is no transaction.
func Batch[I, V any](ctx context.Context, db *DB, kind *Kind, items []I, fn func(*Tx) ([]V, error)) ([]V, error) {
	if len(items) == 0 {
		return nil, nil
	}
	if len(items) > MaxItems {
		return nil, errors.AssertionFailedf("transaction %q: %d items, more than %d", kind, len(items), MaxItems)
	}
	return Run(ctx, db, kind, func(tx *Tx) ([]V, error) {
		verdicts, err := fn(tx)
		if err == nil && len(verdicts) != len(items) {
			return nil, tx.fail(errors.AssertionFailedf("transaction %q: %d verdicts for %d items", kind, len(verdicts), len(items)))
		}
		return verdicts, err
	})
}

// Run runs a closure as one transaction and returns what it returned, once that is certain.
//
// The closure runs again, whole, when the transaction surely did not commit and may succeed on another try, and when
// its commit is unknown (R05). It must be repeatable with the same minted ids.
//
// An error of the closure rolls everything back and is returned as it is. If the outcome stays unknown past the
// budget, or past the caller's context, the error matches facts.ErrOutcomeUnknown and the caller keeps its items.
func Run[T any](ctx context.Context, db *DB, kind *Kind, fn func(*Tx) (T, error)) (T, error) {
	r := newRun[T](db, kind)
	r.fn = fn
	return r.all(ctx)
}

func newRun[T any](db *DB, kind *Kind) *run[T] {
	r := &run[T]{db: db, kind: kind, pool: db.pool, started: db.options.Clock.Now(), pace: backoff.NewExponentialBackOff()}
	r.pace.InitialInterval, r.pace.MaxInterval = 5*time.Millisecond, time.Second
	return r
}

// all attempts until the outcome is final, or nobody waits for it any more.
func (r *run[T]) all(ctx context.Context) (T, error) {
	for {
		end := r.attempt(ctx)
		switch {
		case end.outcome == Done:
			return r.finish(end)
		case end.rerun == "", r.hosted != nil && r.hosted.Once && !r.settling && end.outcome == Failed:
			return r.finish(end)
		}
		r.db.rerun(end.rerun)
		if stop := r.pause(ctx, end); stop != nil {
			return r.finish(*stop)
		}
	}
}

type run[T any] struct {
	db       *DB
	kind     *Kind
	pool     *sql.DB
	fn       func(*Tx) (T, error)
	app      *Application // of a transaction that begins with the application's code, and so is hosted
	hosted   *Hosted[T]
	started  time.Time
	pace     *backoff.ExponentialBackOff
	attempts int
	settling bool
	guard    *touch // the first guard of the commit that is unknown
	bare     bool   // an unknown commit held no guard that existed
}

// ending is how one attempt went.
type ending[T any] struct {
	value      T
	err        error
	outcome    Outcome
	rerun      string // why the closure should run again; empty if the outcome is final
	statements int
	ended      bool // the server has acknowledged the end of the transaction
	abandoned  bool // the application's code may still use the connection
}

func (r *run[T]) finish(end ending[T]) (T, error) {
	if r.settling && end.outcome != Done && end.outcome != Refused {
		end.outcome = Unknown
		if !errors.Is(end.err, facts.ErrOutcomeUnknown) {
			end.err = facts.UnknownOutcome(r.kind.name, end.err)
		}
		r.db.doubt(r.guard)
	}
	r.db.report(Report{r.kind.name, end.outcome, r.attempts, end.statements})
	return end.value, end.err
}

// pause waits before a rerun, or says why there is none.
func (r *run[T]) pause(ctx context.Context, end ending[T]) *ending[T] {
	if end.outcome == Unknown && !r.settling {
		r.settling, r.started = true, r.db.options.Clock.Now()
		r.pace.Reset()
	}
	budget := r.db.options.Budget.Rerun
	if r.settling {
		budget = r.db.options.Budget.Settle
	}
	var zero T
	end.value, end.rerun = zero, ""
	if r.db.options.Clock.Now().Sub(r.started) > budget {
		if hasCode(end.err, codeDuplicateKey) {
			end.err = errors.AssertionFailedf("transaction %q: a unique key that it did not load holds another row: %v", r.kind, end.err)
		}
		end.err = errors.Wrapf(end.err, "gave up after %d attempts", r.attempts)
		return &end
	}
	if err := r.db.wait(ctx, r.pace.NextBackOff()); err != nil {
		end.err = errors.Wrapf(err, "transaction %q: the caller gave up while it was tried again", r.kind)
		return &end
	}
	return nil
}

// attempt runs the closure once, on a connection of its own.
func (r *run[T]) attempt(ctx context.Context) (end ending[T]) {
	r.attempts++
	conn, err := r.pool.Conn(ctx)
	if err != nil {
		return failed[T](errors.Wrapf(err, "transaction %q: a connection", r.kind))
	}
	detached := context.WithoutCancel(ctx)
	raw, err := conn.BeginTx(detached, nil)
	if err != nil {
		release(conn, false)
		return failed[T](errors.Wrapf(err, "transaction %q: BEGIN", r.kind))
	}
	// For a panic of a hook and for a goroutine that ends too: the connection cannot be released before its transaction.
	defer func() {
		if end.abandoned {
			go letGo(conn, raw, false) // it waits until the application's code lets go of the connection
			return
		}
		letGo(conn, raw, end.ended)
	}()
	tx := &Tx{caller: ctx, statement: detached, raw: raw, kind: r.kind, db: r.db, settling: r.settling, statements: 1}
	if r.hosted != nil {
		end = r.host(conn, tx)
	} else {
		end = r.decide(tx, r.fn)
	}
	end.statements = tx.statements
	return end
}

// letGo ends what is left of a transaction, then releases its connection.
func letGo(conn *sql.Conn, raw *sql.Tx, ended bool) {
	_ = raw.Rollback()
	release(conn, ended)
}

// decide runs the ledger's closure and ends the transaction as its result demands.
func (r *run[T]) decide(tx *Tx, fn func(*Tx) (T, error)) ending[T] {
	value, err := protect(tx, tx, fn)
	if !tx.applying.TryLock() { // and it is never unlocked: the transaction is dead from here on
		return r.rollback(tx, failed[T](errors.AssertionFailedf("transaction %q: its closure returned while another goroutine writes", r.kind)))
	}
	var refusal *facts.Refusal
	end := ending[T]{value: value, outcome: Done}
	if errors.As(err, &refusal) {
		end = ending[T]{err: err, outcome: Refused}
	}
	due := r.hosted != nil && errors.Is(err, ErrCodeDue)
	if due {
		end = ending[T]{err: err, outcome: Failed, rerun: "settled"}
	}
	switch {
	case tx.poison != nil:
		return r.rollback(tx, failed[T](assertListed(tx.poison)))
	case err != nil && refusal == nil && !due:
		// It came from no statement, since those poison: an EOF of some decoder is no broken connection.
		return r.rollback(tx, ending[T]{err: err, outcome: Failed})
	case err != nil && tx.phase == writing:
		return r.rollback(tx, failed[T](tx.fail(errors.AssertionFailedf("transaction %q refused after its writes: %v", r.kind, err))))
	case tx.phase == writing:
		return r.commit(tx, end)
	case tx.settling && r.hosted != nil && !r.settling:
		// Another call's commit is in doubt under this guard. What settles it must not commit what the application's code
		// wrote for an item that is refused.
		r.settling = true
		return r.rollback(tx, ending[T]{err: errors.Newf("transaction %q: a doubt has to be settled first", r.kind), outcome: Failed, rerun: "doubt"})
	case tx.settling:
		return r.settle(tx, end)
	}
	return r.rollback(tx, end) // every item was refused: there is nothing to commit
}

// settle ends a rerun that has nothing to write. What it found is certain only if the original can no longer commit:
// by a write on the first guard, or because the guard that the original held is gone, which took its lock.
func (r *run[T]) settle(tx *Tx, end ending[T]) ending[T] {
	if tx.first == nil && (r.bare || tx.phase == locking) {
		return r.rollback(tx, ending[T]{err: errors.Newf("transaction %q: its rerun held no guard, so the original may still commit", r.kind), outcome: Failed})
	}
	tx.phase = writing
	if err := tx.touchFirst(); err != nil {
		return r.rollback(tx, failed[T](err))
	}
	end = r.commit(tx, end)
	if end.ended && end.rerun != "" { // the doubt is over: there was nothing, and now there cannot be
		r.settling, r.guard, r.bare = false, nil, false
	}
	return end
}

// commit ends the transaction and sorts the three outcomes.
func (r *run[T]) commit(tx *Tx, end ending[T]) ending[T] {
	if err := tx.before(); err != nil {
		return r.rollback(tx, failed[T](err))
	}
	r.db.at(r.kind, BeforeCommit)
	err := tx.raw.Commit()
	if err == nil {
		end.ended = true
		r.db.trust(tx)
		r.db.at(r.kind, AfterCommit)
		return end
	}
	err = errors.Wrapf(err, "transaction %q: COMMIT", r.kind)
	switch {
	case hasCode(err, codeInconsistent):
		return ending[T]{err: errors.WithAssertionFailure(err), outcome: Failed}
	case surelyNotCommitted(err):
		return failed[T](err)
	}
	if tx.first == nil {
		r.bare = true
	} else {
		r.guard = tx.first
	}
	return ending[T]{err: facts.UnknownOutcome(r.kind.name, err), outcome: Unknown, rerun: "unknown commit"}
}

// rollback leaves nothing behind, whether it is acknowledged or not: a connection that did not acknowledge it is
// closed, and with it the server ends the transaction.
func (r *run[T]) rollback(tx *Tx, end ending[T]) ending[T] {
	end.ended = tx.raw.Rollback() == nil && !errors.Is(tx.poison, schema.ErrSession)
	return end
}

// release gives a connection back to the pool only if its transaction has surely ended. On any other the next
// START TRANSACTION could commit what is left of this one, or meet an answer that is not its own.
func release(conn *sql.Conn, ended bool) {
	if !ended {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	_ = conn.Close() // already closed by the line above, or given back
}

// failed is an attempt that left nothing behind.
func failed[T any](err error) ending[T] {
	return ending[T]{err: err, outcome: Failed, rerun: rerunReason(err)}
}
