package drive

import (
	"context"
	"database/sql/driver"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"connectorcore/engine/pack"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

const (
	// failureWait bounds what follows a failure, before the execution is left to its lease.
	failureWait = time.Minute
	// unknownFirst and unknownMost are the delays after an attempt of which nobody knows what became.
	unknownFirst = time.Second
	unknownMost  = 5 * time.Minute
	// detailMax bounds what is kept of a failure, in bytes.
	detailMax = 4096
)

// failed ends an attempt that brought no result. Only what the application itself did is counted against it; whatever
// happened to us on the way uses no attempt up (R27).
func (d *Driver) failed(w work, err error) {
	// It goes on while the driver closes, so that a stop loses no failure that was counted.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.root), failureWait)
	defer cancel()
	about := []slog.Attr{slog.String("execution", w.command.Execution.String()), slog.Uint64("attempt", w.attempt)}
	var refusal *facts.Refusal
	var failure *ledger.HandlerFailure
	switch {
	case errors.As(err, &failure) && !isOurs(failure.Cause):
		d.charge(ctx, w, failure.Cause, about)
	case errors.As(err, &refusal) && refusal.Code == facts.RemoteIntentsRefused:
		// Its behaviour stands, and nothing of it may be used until the application is mended: it is asked again.
		d.warn("the application's answer was refused", refusal, about...)
		d.end(w, refusal.Code, refusal, unknownMost)
	case errors.As(err, &refusal):
		d.moved(w.command.Account, refusal)
		d.executions.drop(w.command.Execution)
		d.log.LogAttrs(ctx, slog.LevelInfo, "an execution was not applied", append(about, slog.String("refusal", refusal.Code.String()))...)
	default:
		d.warn("it is not known what became of an attempt, and the same command is submitted again", err, about...)
		delay := unknownMost
		if w.attempt < 10 {
			delay = min(delay, unknownFirst<<(w.attempt-1))
		}
		d.end(w, facts.ResultMissing, err, delay)
	}
}

// isOurs tells that an attempt ended because the connection or the store was gone, and not by what the application did.
func isOurs(cause error) bool {
	var server *mysql.MySQLError
	if errors.As(cause, &server) {
		return slices.Contains(away, server.Number)
	}
	return errors.Is(cause, driver.ErrBadConn) || errors.Is(cause, mysql.ErrInvalidConn)
}

// away are the server's errors that say that it, or its storage, cannot answer anybody now.
var away = []uint16{1040, 8027, 8028, 8229, 9001, 9002, 9003, 9004, 9005, 9010, 9011}

// charge counts a failure of the application. On the last allowed one the Runtime closes the command for good, and the
// execution completes from that.
func (d *Driver) charge(ctx context.Context, w work, cause error, about []slog.Attr) {
	ends, err := readers.Many(ctx, d.reader, schema.AttemptEnds, []inbound.AttemptEnd{{Execution: w.command.Execution}}, 1)
	if err != nil {
		d.executions.drop(w.command.Execution)
		d.warn("an execution waits for its lease", err, about...)
		return
	}
	failures := 0
	for _, end := range ends {
		if end.Reason == facts.ExecutionFailing && end.Ordinal != w.attempt {
			failures++
		}
	}
	d.warn("the application failed", cause, append(about, slog.Int("failures", failures+1), slog.Int("allowed", w.policy.Retry.Attempts()))...)
	if failures+1 < w.policy.Retry.Attempts() {
		d.end(w, facts.ExecutionFailing, cause, delayOf(w.policy.Retry, failures))
		return
	}
	result, err := d.runtime.Close(ctx, w.command)
	if err != nil {
		d.executions.drop(w.command.Execution)
		d.warn("an exhausted execution waits for its lease", err, about...)
		return
	}
	d.complete(w, result.Receipt)
}

// end lets an execution go until its delay is over.
func (d *Driver) end(w work, reason facts.Code, cause error, delay time.Duration) {
	about := slog.String("execution", w.command.Execution.String())
	ask := &turn.End{Execution: w.command.Execution, Attempt: w.attempt, Holder: d.holder, Reason: reason, Detail: detailOf(cause), Delay: delay}
	err := d.turns.Post(w.command.Account, ending, sized(turn.Item{End: ask}, 2), func(verdict turn.Verdict, err error) {
		d.executions.drop(w.command.Execution)
		switch {
		case err != nil:
			d.warn("an execution waits for its lease", err, about)
		case verdict.Refusal != nil: // another process has the next attempt, or has ended it
			d.log.LogAttrs(context.Background(), slog.LevelInfo, "an attempt was overtaken", about, slog.String("refusal", verdict.Refusal.Code.String()))
		case delay < d.options.Sweep:
			d.wake()
		}
	})
	if err != nil {
		d.executions.drop(w.command.Execution)
		d.warn("an execution waits for its lease", err, about)
	}
}

// safeOf is what may be told of a failure. The words of a store or of a handler may hold what it was given; the number of
// a database's error does not, and without it a table that is not there would look like every other failure.
func safeOf(failure error) string {
	text := errors.Redact(failure)
	var server *mysql.MySQLError
	if errors.As(failure, &server) {
		return fmt.Sprintf("error %d of the database: %s", server.Number, text)
	}
	return text
}

// detailOf is what is kept of a failure.
func detailOf(failure error) []byte {
	text := safeOf(failure)
	return []byte(text[:min(len(text), detailMax)])
}

// delayOf is the frozen delay before the attempt that follows so many failures, spread by the frozen jitter.
func delayOf(retry pack.Retry, failures int) time.Duration {
	delay := time.Duration(retry.Delays[min(failures, len(retry.Delays)-1)]) * time.Second
	if spread := int64(delay) / 100 * retry.Jitter; spread > 0 {
		delay += time.Duration(rand.Int64N(2*spread+1) - spread)
	}
	return delay.Truncate(time.Microsecond)
}
