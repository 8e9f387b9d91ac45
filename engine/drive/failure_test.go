package drive_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/engine/execute"
	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/proptest/stage"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// trouble is a Runtime that stands before another one. A command that it has been told of gets its errors first.
type trouble struct {
	execute.Runtime
	mutex sync.Mutex
	next  []error                     // of the next command that it does not know
	left  map[facts.CommandID][]error // of those that it knows
}

// say tells what becomes of the next new command, before it comes to the Runtime behind.
func (r *trouble) say(all ...error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.next = all
}

func (r *trouble) Submit(ctx context.Context, account facts.AccountID, commands []execute.Command) []execute.Verdict {
	var verdicts []execute.Verdict
	for i, c := range commands {
		if err := r.error(c.Command); err != nil {
			verdicts = append(verdicts, execute.Verdict{Err: err})
		} else {
			verdicts = append(verdicts, r.Runtime.Submit(ctx, account, commands[i:i+1])...)
		}
	}
	return verdicts
}

func (r *trouble) error(command facts.CommandID) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	left, known := r.left[command]
	if !known {
		left, r.next = r.next, nil
	}
	if len(left) == 0 {
		r.left[command] = nil
		return nil
	}
	r.left[command] = left[1:]
	return left[0]
}

// mend makes an end of all errors.
func (r *trouble) mend() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for command := range r.left {
		r.left[command] = nil
	}
}

// journal is a log that tests read.
type journal struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.text.String()
}

// aged waits for a count while time passes for what is open.
func (s *scene) aged(want int, query string) {
	s.t.Helper()
	deadline := time.After(time.Minute)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for s.Count(s.t, query) != want {
		s.age()
		select {
		case <-ticker.C:
		case <-deadline:
			s.t.Fatalf("%s gives %d, want %d", query, s.Count(s.t, query), want)
		}
	}
}

const payload = "payload-of-a-delivery"

// failures is a scene whose application does what a test sets, with three attempts for each command.
type failures struct {
	*scene
	runtime *trouble
	log     *journal
	handle  execute.Handler
}

func failing(t *testing.T) *failures {
	t.Helper()
	s := stage.ServingPacks(t, patched(t, stage.Batched, "changes", "execution: {retry: {delays_seconds: [0, 0]}}"))
	app := s.Store.Hosted(t, notes)
	f := &failures{runtime: &trouble{left: map[facts.CommandID][]error{}}, log: &journal{}, handle: noting}
	options := drive.Options{Sweep: 20 * time.Millisecond, Log: slog.New(slog.NewTextHandler(f.log, nil))}
	f.scene = openRuntime(t, s, app, options, func(queue ledger.Queue) (execute.Runtime, error) {
		var err error
		f.runtime.Runtime, err = hosted(t, s, app, func(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
			return f.handle(ctx, h, c)
		},
			ledger.Hosting{Queue: queue, Deadline: 300 * time.Millisecond})
		return f.runtime, err
	})
	return f
}

func (f *failures) sends() {
	f.t.Helper()
	if status, body := f.send(f.Accounts[0], batch(f.t, f.Accounts[0], 1)); status != 202 {
		f.t.Fatalf("%d %s", status, body)
	}
}

func fails(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
	_, _ = noting(ctx, h, c)
	return execute.Answer{}, errors.Newf("it cannot take %s", payload)
}

const completed = "SELECT COUNT(*) FROM execution_ledger WHERE edge = 'complete'"

// An application that fails, panics or hangs has the frozen number of attempts; then its command is closed for good, with
// the result failed. No word of its failure is kept or logged that may be a payload.
func TestR27AnApplicationThatFailsHasTheFrozenNumberOfAttempts(t *testing.T) {
	f, failed := failing(t), 0
	for name, is := range map[string]execute.Handler{
		"it fails": fails,
		"it panics": func(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
			_, _ = noting(ctx, h, c)
			panic(payload)
		},
		"it hangs": func(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
			_, _ = noting(ctx, h, c)
			<-ctx.Done()
			return execute.Answer{}, ctx.Err()
		},
		"a table is not there": func(ctx context.Context, h *ledger.Handle, _ execute.Command) (execute.Answer, error) {
			_, err := h.Exec(ctx, "INSERT INTO absent (words) VALUES (?)", payload)
			return execute.Answer{}, err
		},
		"its words break a text": func(context.Context, *ledger.Handle, execute.Command) (execute.Answer, error) {
			return execute.Answer{}, errors.Newf("%s", "\x00\xff"+strings.Repeat(payload, 1000))
		},
	} {
		f.handle = is
		f.sends()
		failed++
		f.aged(failed, completed)
		if n := f.Count(t, "SELECT COUNT(*) FROM application_result WHERE outcome = 'failed'"); n != failed {
			t.Errorf("%s: %d results are failed, want %d", name, n, failed)
		}
		if n := f.Count(t, "SELECT COUNT(*) FROM execution_attempt"); n != 3*failed {
			t.Errorf("%s: %d attempts, want three each", name, n)
		}
	}
	f.counts(map[string]int{"SELECT COUNT(*) FROM " + f.app.Name + ".note": 0, "SELECT COUNT(*) FROM execution_attempt_end WHERE reason = 'execution_failing'": 2 * failed,
		"SELECT COUNT(*) FROM execution_attempt_end WHERE LOCATE(CAST('" + payload + "' AS BINARY), detail) > 0": 0})
	if text := f.log.String(); strings.Contains(text, payload) || !strings.Contains(text, "the application failed") || !strings.Contains(text, "error 1146 of the database") {
		t.Errorf("the log tells of a payload, of no failure, or not which error the database gave: %s", text)
	}
	f.q01()
}

// Whatever happens to us on the way uses no attempt up, and is tried again as often as it takes, and no other command of
// the account waits for it.
func TestR27P21WhatHappenedToUsUsesNoAttemptUp(t *testing.T) {
	f := failing(t)
	away := []error{&ledger.HandlerFailure{Cause: errors.Wrap(mysql.ErrInvalidConn, "a statement INSERT")}, &ledger.HandlerFailure{Cause: &mysql.MySQLError{Number: 9005, Message: "Region is unavailable"}},
		facts.UnknownOutcome("apply commands", errors.New("no answer")), errors.New("no connection"), errors.New("no connection")}
	f.runtime.say(away...)
	f.sends()
	f.aged(1, completed)
	f.counts(map[string]int{"SELECT COUNT(*) FROM application_result WHERE outcome = 'applied'": 1, "SELECT COUNT(*) FROM " + f.app.Name + ".note": 1,
		"SELECT COUNT(*) FROM execution_attempt_end WHERE reason = 'result_missing'": len(away), "SELECT COUNT(*) FROM execution_attempt": len(away) + 1})

	// What was not its doing is not counted when it fails afterwards.
	f.handle = fails
	f.runtime.say(away...)
	f.sends()
	f.aged(2, completed)
	f.counts(map[string]int{"SELECT COUNT(*) FROM application_result WHERE outcome = 'failed'": 1, "SELECT COUNT(*) FROM execution_attempt_end WHERE reason = 'execution_failing'": 2})
	f.handle = noting

	// One command of which nobody knows what became, again and again.
	forever := make([]error, 100)
	for i := range forever {
		forever[i] = facts.UnknownOutcome("submission", errors.New("no answer"))
	}
	f.runtime.say(forever...)
	f.sends()
	f.until(2*len(away)+1, "SELECT COUNT(*) FROM execution_attempt_end WHERE reason = 'result_missing'")
	f.sends()
	f.aged(3, completed)
	f.counts(map[string]int{"SELECT COUNT(*) FROM execution_head": 1})
	f.runtime.mend()
	f.aged(4, completed)
	f.q01()
}
