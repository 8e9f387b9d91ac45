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

// Only what the application itself did uses an attempt up; on the last one the command is closed for good, with the result
// failed. Whatever happens to us on the way is tried again as often as it takes, and no other command waits for it. No word
// of an application's failure is kept or logged that may be a payload.
func TestR27OnlyWhatTheApplicationDidUsesAttemptsUp(t *testing.T) {
	s := stage.ServingPacks(t, patched(t, stage.Batched, "changes", "execution: {retry: {delays_seconds: [0, 0]}}"))
	app, account, runtime, log := s.Store.Hosted(t, notes), s.Accounts[0], &trouble{left: map[facts.CommandID][]error{}}, &journal{}
	var handle execute.Handler
	one := openRuntime(t, s, app, drive.Options{Sweep: 20 * time.Millisecond, Log: slog.New(slog.NewTextHandler(log, nil))}, func(queue ledger.Queue) (execute.Runtime, error) {
		var err error
		runtime.Runtime, err = hosted(t, s, app, func(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
			return handle(ctx, h, c)
		},
			ledger.Hosting{Queue: queue, Deadline: 300 * time.Millisecond})
		return runtime, err
	})
	sends := func() {
		if status, body := one.send(account, batch(t, account, 1)); status != 202 {
			t.Fatalf("%d %s", status, body)
		}
	}
	exhausted := map[string]execute.Handler{
		"it fails": func(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
			_, _ = noting(ctx, h, c)
			return execute.Answer{}, errors.Newf("it cannot take %s", payload)
		},
		"it panics": func(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
			_, _ = noting(ctx, h, c)
			panic(payload)
		},
		"it hangs": func(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
			_, _ = noting(ctx, h, c)
			<-ctx.Done()
			return execute.Answer{}, ctx.Err()
		},
		"its words break a text": func(context.Context, *ledger.Handle, execute.Command) (execute.Answer, error) {
			return execute.Answer{}, errors.Newf("%s", "\x00\xff"+strings.Repeat(payload, 1000))
		},
	}
	failed := 0
	for name, is := range exhausted {
		handle = is
		sends()
		failed++
		one.aged(failed, "SELECT COUNT(*) FROM execution_ledger WHERE edge = 'complete'")
		if n := s.Count(t, "SELECT COUNT(*) FROM application_result WHERE outcome = 'failed'"); n != failed {
			t.Errorf("%s: %d results are failed, want %d", name, n, failed)
		}
		if n := s.Count(t, "SELECT COUNT(*) FROM execution_attempt"); n != 3*failed {
			t.Errorf("%s: %d attempts, want three each", name, n)
		}
	}
	one.counts(map[string]int{"SELECT COUNT(*) FROM " + app.Name + ".note": 0, "SELECT COUNT(*) FROM execution_attempt_end WHERE reason = 'execution_failing'": 2 * failed,
		"SELECT COUNT(*) FROM execution_attempt_end WHERE detail LIKE '%" + payload + "%'": 0})
	if text := log.String(); strings.Contains(text, payload) || !strings.Contains(text, "the application failed") {
		t.Errorf("the log tells of a payload, or of no failure: %s", text)
	}

	handle = noting
	away := []error{&ledger.HandlerFailure{Cause: errors.Wrap(mysql.ErrInvalidConn, "a statement INSERT")}, &ledger.HandlerFailure{Cause: &mysql.MySQLError{Number: 9005, Message: "Region is unavailable"}},
		facts.UnknownOutcome("apply commands", errors.New("no answer")), errors.New("no connection"), errors.New("no connection")}
	runtime.say(away...)
	sends()
	one.aged(failed+1, "SELECT COUNT(*) FROM execution_ledger WHERE edge = 'complete'")
	one.counts(map[string]int{"SELECT COUNT(*) FROM application_result WHERE outcome = 'applied'": 1, "SELECT COUNT(*) FROM " + app.Name + ".note": 1,
		"SELECT COUNT(*) FROM execution_attempt_end WHERE reason = 'result_missing'": len(away)})

	// What was not its doing is not counted when it fails afterwards.
	handle = exhausted["it fails"]
	runtime.say(away...)
	sends()
	failed++
	one.aged(failed+1, "SELECT COUNT(*) FROM execution_ledger WHERE edge = 'complete'")
	one.counts(map[string]int{"SELECT COUNT(*) FROM application_result WHERE outcome = 'failed'": failed, "SELECT COUNT(*) FROM execution_attempt_end WHERE reason = 'execution_failing'": 2 * failed})
	handle = noting

	// One command of which nobody knows what became, again and again, holds up no other of its account.
	forever := make([]error, 100)
	for i := range forever {
		forever[i] = facts.UnknownOutcome("submission", errors.New("no answer"))
	}
	runtime.say(forever...)
	sends()
	one.until(2*len(away)+1, "SELECT COUNT(*) FROM execution_attempt_end WHERE reason = 'result_missing'")
	sends()
	one.aged(failed+2, "SELECT COUNT(*) FROM execution_ledger WHERE edge = 'complete'")
	one.counts(map[string]int{"SELECT COUNT(*) FROM execution_head": 1})
	runtime.mend()
	one.aged(failed+3, "SELECT COUNT(*) FROM execution_ledger WHERE edge = 'complete'")
	one.q01()
}
