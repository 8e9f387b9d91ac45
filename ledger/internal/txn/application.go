package txn

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Application is where transactions begin with the application's own code. It shares the clock, the boundaries, the
// metrics and the doubts of its DB, and has a pool of its own, so that slow code takes no connection from the ledger.
type Application struct {
	db       *DB
	pool     *sql.DB
	rules    language
	deadline time.Duration
	// the statements that take a session from one side to the other; none of them ends a transaction
	toTheirs, asLedger, toOurs, asApplication string
}

// Hosting is what an Application needs to be told.
type Hosting struct {
	// Database is the application's own, in which its code's plain names are looked up. It stands in the same cluster,
	// and is not ours.
	Database string
	// Deadline bounds the application's code in one transaction, and then the wait for the account's place. Default
	// 10 s; it must be below schema.IdleLimit, after which the server ends the transaction by itself.
	Deadline time.Duration
}

const deadlineDefault = 10 * time.Second

// guardSavepoint stands while the application's code runs. Whatever ends the transaction takes it away.
const guardSavepoint = "application_code"

// Host makes an Application over a pool whose every connection was opened by schema.Connect in the application's role,
// with our database selected.
//
// Fails if the database cannot be the application's, or its role may not use it.
func (db *DB) Host(ctx context.Context, pool *sql.DB, hosting Hosting) (*Application, error) {
	if hosting.Deadline == 0 {
		hosting.Deadline = deadlineDefault
	}
	if hosting.Deadline < 0 || hosting.Deadline >= schema.IdleLimit {
		return nil, errors.Newf("the application's deadline is %s: want more than nothing and less than %s, when the server ends an idle transaction",
			hosting.Deadline, schema.IdleLimit)
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Wrap(err, "the application's pool")
	}
	defer release(conn, false) // its session stands elsewhere from here on
	var ours string
	if err := conn.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&ours); err != nil {
		return nil, errors.Wrap(err, "the application's pool")
	}
	if err := schema.CheckApplication(ours, hosting.Database); err != nil {
		return nil, err
	}
	a := &Application{
		db: db, pool: pool, deadline: hosting.Deadline,
		rules:    language{names: append(slices.Clone(schema.ServerDatabases), strings.ToLower(ours))},
		toTheirs: "USE `" + hosting.Database + "`", toOurs: "USE `" + ours + "`",
		asLedger: schema.RoleLedger.Take(ours), asApplication: schema.RoleApplication.Take(ours),
	}
	for _, statement := range []string{a.asApplication, a.toTheirs} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return nil, errors.Wrapf(err, "the application's database %s: make it, and grant its tables to the application's role of %s", hosting.Database, ours)
		}
	}
	return a, nil
}

// Hosted is a transaction that begins with the application's code.
type Hosted[T any] struct {
	// Code calls the application's code by Call, and gives what the ledger does after it, in the same transaction.
	Code func(*Host) (func(*Tx) (T, error), error)
	// Settle runs in place of both after a commit whose outcome is unknown. It takes the same first guard, writes
	// nothing, and returns what was found or refused; if there is nothing of either it fails with ErrCodeDue, and the
	// application's code runs again.
	Settle func(*Tx) (T, error)
	// Turn gives the account's place in this process's queue (R13), from after the application's code until the commit.
	// Without one there is no queue.
	Turn Turn
	// Once gives up where a rerun of the code could help, after everything was rolled back. A doubt is settled all the same.
	Once bool
}

// Turn calls take once, when its turn has come, and returns after it; or it fails without calling it.
type Turn func(ctx context.Context, take func(context.Context) error) error

// ErrCodeDue tells the kernel that nothing was committed and nothing is refused: the application's code is due.
var ErrCodeDue = errors.New("the application's code is due")

// RunHosted runs the application's code and then the ledger's part as one transaction, and returns what the ledger's
// part returned, once that is certain. Its ends and its reruns are those of Run; whatever reruns, runs the
// application's code again, so that the code must be repeatable: what it does outside this transaction is its own to
// guard. The ledger's part that returns without Apply rolls the application's writes back.
//
// The code runs under the application's role, in the application's database, behind a savepoint; the ledger's part runs
// under the ledger's role, in ours. A *HandlerFailure is the code's own end of the attempt, and left nothing behind.
func RunHosted[T any](ctx context.Context, app *Application, kind *Kind, hosted Hosted[T]) (T, error) {
	r := newRun[T](app.db, kind)
	r.pool, r.app, r.hosted = app.pool, app, &hosted
	return r.all(ctx)
}

// host runs one attempt: the application's code, then the ledger's part in the account's turn.
func (r *run[T]) host(conn *sql.Conn, tx *Tx) ending[T] {
	then := r.hosted.Settle
	if !r.settling {
		var end *ending[T]
		if then, end = r.code(tx); end != nil {
			return *end
		}
	}
	end := r.turn(tx, func() ending[T] {
		for _, statement := range []string{r.app.asLedger, r.app.toOurs} {
			if err := tx.command(statement); err != nil {
				return failed[T](assertListed(err))
			}
		}
		end := r.decide(tx, then)
		// The next code that runs in this session must not find it in the ledger's role.
		if end.ended {
			_, err := conn.ExecContext(tx.statement, r.app.asApplication)
			end.ended = err == nil
		}
		return end
	})
	return end
}

// turn waits for the account's place. A wait is bounded like the code is: the server ends what idles.
func (r *run[T]) turn(tx *Tx, take func() ending[T]) (end ending[T]) {
	if r.hosted.Turn == nil {
		return take()
	}
	ctx, cancel := context.WithTimeout(tx.caller, r.app.deadline)
	defer cancel()
	entered, left := make(chan struct{}, 1), make(chan struct{})
	entered <- struct{}{}
	err := r.hosted.Turn(ctx, func(context.Context) error {
		select {
		case <-entered:
		default:
			return errors.AssertionFailedf("transaction %q: its turn came twice, or too late", r.kind)
		}
		defer close(left)
		end = take()
		return nil
	})
	select {
	case <-entered: // it did not come, and from here on it cannot
		end = ending[T]{err: errors.Wrapf(err, "transaction %q: its account's turn did not come", r.kind), outcome: Failed}
		if err == nil {
			end.err = errors.AssertionFailedf("transaction %q: its account's turn was skipped", r.kind)
		}
		if r.settling {
			end.rerun = "turn"
		}
		return r.rollback(tx, end)
	default:
	}
	<-left // a queue may give its caller up while the turn goes on
	return end
}

// code runs the application's code behind a savepoint. An ending is given if the attempt ends here.
func (r *run[T]) code(tx *Tx) (then func(*Tx) (T, error), end *ending[T]) {
	ends := func(e ending[T]) (func(*Tx) (T, error), *ending[T]) { return nil, &e }
	for _, statement := range []string{r.app.toTheirs, "SAVEPOINT " + guardSavepoint} {
		if err := tx.command(statement); err != nil {
			return ends(failed[T](assertListed(err)))
		}
	}
	ctx, cancel := context.WithTimeout(tx.caller, r.app.deadline)
	defer cancel()
	host := &Host{tx: tx, ctx: ctx, rules: r.app.rules}
	then, err := protect(host, tx, r.hosted.Code)
	tx.statements += int(host.statements.Load())
	switch {
	case host.abandoned:
		return ends(ending[T]{err: host.failure, outcome: Failed, abandoned: true})
	case host.failure != nil:
		return ends(r.rollback(tx, ending[T]{err: host.failure, outcome: Failed, rerun: host.rerun}))
	case err != nil:
		return ends(r.rollback(tx, ending[T]{err: err, outcome: Failed}))
	}
	err = tx.command("RELEASE SAVEPOINT " + guardSavepoint)
	switch {
	case hasCode(err, codeNoSavepoint):
		err = errors.AssertionFailedf("transaction %q: it was ended while the application's code ran, and what the code wrote before that may stand", r.kind)
		return ends(ending[T]{err: err, outcome: Failed})
	case err != nil:
		return ends(failed[T](assertListed(err)))
	}
	return then, nil
}
