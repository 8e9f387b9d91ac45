package ledger

import (
	"context"
	"database/sql"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"

	"github.com/cockroachdb/errors"
)

// The application's own part of a transaction, and how it ends one.
type (
	// Handle is what the application's code may do; see its methods.
	Handle = txn.Handle
	// Row is one row of a Query.
	Row = txn.Row
	// HandlerFailure is an attempt that the application's code has ended. Nothing of it stands.
	HandlerFailure = txn.HandlerFailure
)

// Application is where commands are applied: the application's own database, in the same cluster as ours.
type Application struct {
	ledger *Ledger
	host   *txn.Application
	queue  Queue
}

// Queue gives an account's place in the one queue of this process, and calls take when it has come (R13). It returns after
// take has, or without having called it.
type Queue func(ctx context.Context, account facts.AccountID, take func(context.Context) error) error

// Hosting is what an Application needs to be told.
type Hosting struct {
	// Database is the application's own.
	Database string
	// Deadline bounds the application's code in one transaction, and then the wait for the queue. Default 10 s, which is
	// below the server's limit for an idle transaction.
	Deadline time.Duration
	// Queue is where every transaction of this process waits that takes an account's gate. None is no queue.
	Queue Queue
}

// Host makes an Application over a pool that schema.Connect opened in schema.RoleApplication. The pool stays the caller's
// and is for this alone: the application's code may keep a connection for as long as its deadline.
func (l *Ledger) Host(ctx context.Context, pool *sql.DB, hosting Hosting) (*Application, error) {
	host, err := l.db.Host(ctx, pool, txn.Hosting{Database: hosting.Database, Deadline: hosting.Deadline})
	if err != nil {
		return nil, err
	}
	return &Application{l, host, hosting.Queue}, nil
}

// Apply is one command for the application, and what it was claimed under.
type Apply struct {
	inbound.CommandRef
	inbound.Premise
	Profile facts.Profile // of the execution's epoch
	Code    func(context.Context, *Handle) (Answer, error)
}

// Answer is what the application's code says of its command: applied, noop or rejected. The payload is at most MaxPayload
// bytes.
type Answer struct {
	Outcome machines.ApplicationResultState
	Payload []byte
}

// MaxPayload bounds an application's answer, in bytes.
const MaxPayload = 1 << 20

// ErrApart tells that commands cannot share a transaction as they stand, because one of them has its result already.
// Nothing was written; each is to be applied alone.
var ErrApart = errors.New("one of the commands has its result: apply each alone")

var (
	kindApply = txn.NewKind("apply commands")
	kindClose = txn.NewKind("close command")
)

// ApplyOnce runs the application's code of each command, and commits what it wrote together with the command's one
// ApplicationResult. A command that has its result gets that one, and its code does not run, or what it wrote is undone.
//
// Several commands, of different executions of one account, share one transaction: the code of all first, then one lock
// phase, then all results. Any failure or refusal rolls all of them back and is returned; a failure that another run might
// cure is returned too, so that the caller runs each alone (R29).
//
// The code must be repeatable, as in any transaction that is tried again: it runs again after a deadlock, a lost connection,
// and a commit that surely did not happen.
//
// Locks:   application rows; gate, share and epoch; execution heads.
// Refuses: the refusals of txn.LockServing, StaleFence, EpochMismatch, SubjectMissing, ContentDiffers (another execution
// reference or command than the execution's), SubjectEnded, WrongState.
// Unknown: apply the same command again; its result is found, or its code runs and is the only one that ever commits.
//
// INVARIANT: a result and the application's writes commit together or not at all, while the execution's head is ready. So
// whoever ends that head under the gate finds the result, or makes this transaction refuse (R26).
//
// Spec: Runtime-owned result.
func (a *Application) ApplyOnce(ctx context.Context, account facts.AccountID, applies []Apply) ([]inbound.ApplicationResult, error) {
	b, err := newBatch(account, applies)
	if err != nil || len(applies) == 0 {
		return nil, err
	}
	there, err := a.ledger.results(ctx, b.refs())
	if err != nil {
		return nil, err
	}
	if len(there) > 0 && len(applies) > 1 {
		return nil, ErrApart
	}
	if len(there) > 0 {
		return there, nil
	}
	code := func(host *txn.Host) (func(*txn.Tx) ([]inbound.ApplicationResult, error), error) {
		answers := make([]Answer, len(applies))
		for i := range applies {
			if answers[i], err = txn.Call(host, answering(applies[i].Code)); err != nil {
				return nil, err
			}
		}
		return func(tx *txn.Tx) ([]inbound.ApplicationResult, error) { return b.commit(tx, answers) }, nil
	}
	return a.run(ctx, kindApply, b, code)
}

// answering refuses an answer that is none, while it is still the code's own failure.
func answering(code func(context.Context, *Handle) (Answer, error)) func(context.Context, *Handle) (Answer, error) {
	return func(ctx context.Context, h *Handle) (Answer, error) {
		answer, err := code(ctx, h)
		switch {
		case err != nil:
			return Answer{}, err
		case answer.Outcome != machines.ApplicationResultApplied && answer.Outcome != machines.ApplicationResultNoop && answer.Outcome != machines.ApplicationResultRejected:
			return Answer{}, errors.Newf("its outcome is %s: want applied, noop or rejected, or an error", answer.Outcome)
		case len(answer.Payload) > MaxPayload:
			return Answer{}, errors.Newf("its answer has %d bytes, more than %d", len(answer.Payload), MaxPayload)
		}
		return answer, nil
	}
}

// CloseCommand commits the result failed for a command without running its code, so that nothing of it can commit later; or
// it returns the result that the command has. It is how attempts that are used up end (R27).
//
// Locks, Refuses, Unknown: as ApplyOnce.
func (a *Application) CloseCommand(ctx context.Context, apply Apply) (inbound.ApplicationResult, error) {
	b, err := newBatch(apply.Account, []Apply{apply})
	if err != nil {
		return inbound.ApplicationResult{}, err
	}
	failed := []Answer{{Outcome: machines.ApplicationResultFailed}}
	results, err := a.run(ctx, kindClose, b, func(*txn.Host) (func(*txn.Tx) ([]inbound.ApplicationResult, error), error) {
		return func(tx *txn.Tx) ([]inbound.ApplicationResult, error) { return b.commit(tx, failed) }, nil
	})
	if err != nil {
		return inbound.ApplicationResult{}, err
	}
	return results[0], nil
}

func (a *Application) run(ctx context.Context, kind *txn.Kind, b *batch, code func(*txn.Host) (func(*txn.Tx) ([]inbound.ApplicationResult, error), error)) ([]inbound.ApplicationResult, error) {
	hosted := txn.Hosted[[]inbound.ApplicationResult]{Code: code, Settle: b.settle, Once: len(b.applies) > 1}
	if a.queue != nil {
		hosted.Turn = func(ctx context.Context, take func(context.Context) error) error {
			return a.queue(ctx, b.account, take)
		}
	}
	return txn.RunHosted(ctx, a.host, kind, hosted)
}

// FindResult reads the result of a command by its exact reference. Another reference finds nothing. That nothing is found
// proves nothing: the command may be committing now.
//
// Refuses: ResultMissing.
func (l *Ledger) FindResult(ctx context.Context, ref inbound.CommandRef) (inbound.ApplicationResult, error) {
	found, err := l.results(ctx, []inbound.CommandRef{ref})
	if err != nil {
		return inbound.ApplicationResult{}, err
	}
	if len(found) == 0 {
		return inbound.ApplicationResult{}, facts.Refuse(facts.ResultMissing, facts.OfExecution(facts.ExecutionKey{Account: ref.Account, Subject: ref.Execution}), "")
	}
	return found[0], nil
}
