package txn

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/cockroachdb/errors"
)

// Host calls the application's code in one attempt at a transaction.
type Host struct {
	tx         *Tx
	ctx        context.Context
	rules      language
	statements atomic.Int64
	failure    error  // of the first code that failed
	rerun      string // why the same code may succeed in another attempt
	abandoned  bool   // code still has the connection, or may: it ends when the code lets go of it
}

// HandlerFailure is an attempt that the application's own code has ended: it returned an error, panicked, ran past its
// deadline, or ran a statement that was refused or failed. Everything that it wrote was rolled back.
//
// It does not unwrap to its cause: an application's error is none of ours, whatever it wraps.
type HandlerFailure struct{ Cause error }

// Error says what the code did.
func (f *HandlerFailure) Error() string {
	return fmt.Sprintf("the application's handler failed: %v", f.Cause)
}

// errTime ends code that does not return.
var errTime = errors.New("it did not return before its deadline; its transaction was rolled back without it")

// Call runs the application's code with a handle of its own, on a goroutine of its own, and waits for it, but no longer
// than its deadline: code that does not return is left to itself, with a dead handle. A panic is caught; one on a
// goroutine that the code has started is not, as everywhere in Go.
//
// After a failure every further Call fails at once, and nothing is committed whatever the caller does with the error.
func Call[U any](host *Host, code func(context.Context, *Handle) (U, error)) (U, error) {
	var none U
	if host.failure != nil {
		return none, host.failure
	}
	h := &Handle{raw: host.tx.raw, ctx: host.ctx, rules: host.rules, count: func() { host.statements.Add(1) }}
	done := make(chan answer[U], 1)
	go func() {
		got := answer[U]{err: errors.New("its goroutine ended")}
		defer func() {
			if cause := recover(); cause != nil { // its value may be anything, a secret too
				got.err = errors.Newf("it panicked: %v\n%s", errors.Safe(fmt.Sprintf("%T", cause)), debug.Stack())
			}
			done <- got
		}()
		got.value, got.err = code(host.ctx, h)
	}()
	var got answer[U]
	select {
	case got = <-done:
	case <-host.ctx.Done():
		got.err, host.abandoned = errTime, true
	}
	running, poison := h.kill()
	switch {
	case host.tx.caller.Err() != nil:
		host.failure = errors.Wrapf(host.tx.caller.Err(), "transaction %q: the caller gave up; nothing was written", host.tx.kind)
	case host.abandoned:
		host.failure = &HandlerFailure{errTime}
	case running:
		host.failure = &HandlerFailure{errors.New("it returned while another goroutine of it runs a statement")}
	case poison != nil:
		host.failure, host.rerun = &HandlerFailure{poison}, codeRerun(poison)
	case got.err != nil:
		host.failure = &HandlerFailure{got.err}
	}
	host.abandoned = host.abandoned || running
	if host.failure != nil {
		return none, host.failure
	}
	return got.value, nil
}

type answer[U any] struct {
	value U
	err   error
}

// codeRerun tells why the application's code may succeed if it runs again. Unlike ours it never brings a key back that
// it had read as missing: a key that is taken is the code's own business, and so is a time that it set itself.
func codeRerun(err error) string {
	if hasCode(err, codeDuplicateKey) || errors.IsAny(err, context.Canceled, context.DeadlineExceeded) {
		return ""
	}
	return rerunReason(err)
}
