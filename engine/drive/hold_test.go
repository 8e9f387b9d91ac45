package drive_test

import (
	"context"
	"crypto/rand"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/engine/execute"
	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/proptest/stage"
)

// blocking is a handler that waits until it is let go, and counts how often it was entered.
type blocking struct {
	entered atomic.Int64
	go_     chan struct{}
}

func (b *blocking) handle(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
	b.entered.Add(1)
	select {
	case <-b.go_:
	case <-ctx.Done():
		return execute.Answer{}, ctx.Err()
	}
	return noting(ctx, h, c)
}

// Scenarios 069 and 073. An application takes several times the lease. Its own process does not start the execution again;
// another one may, and that is a second attempt of the same execution: the one result is whichever comes first.
func TestP21Scenario069And073ALapsedLeaseIsTakenOverByAnotherProcessAlone(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	app, slow := s.Store.Hosted(t, notes), &blocking{go_: make(chan struct{})}
	options := drive.Options{Lease: 300 * time.Millisecond, Sweep: 20 * time.Millisecond}
	one := open(t, s, app, slow.handle, options)
	account := s.Accounts[0]
	if status, body := one.send(account, batch(t, account, 1)); status != 202 {
		t.Fatalf("%d %s", status, body)
	}
	one.until(1, "SELECT COUNT(*) FROM execution_head WHERE due_at < NOW(6) - INTERVAL 1500000 MICROSECOND")
	if n := slow.entered.Load(); n != 1 || s.Count(t, "SELECT COUNT(*) FROM execution_attempt") != 1 {
		t.Errorf("with its lease long over, its own process has begun it %d times", n)
	}
	two := open(t, s, app, slow.handle, options)
	two.until(2, "SELECT attempt FROM execution_head")
	for deadline := time.After(10 * time.Second); slow.entered.Load() < 2; {
		select {
		case <-deadline:
			t.Fatal("the second attempt did not begin")
		case <-time.After(10 * time.Millisecond):
		}
	}
	close(slow.go_)
	one.ends(1)
	one.counts(map[string]int{"SELECT COUNT(DISTINCT holder_id) FROM execution_attempt": 2, "SELECT COUNT(*) FROM execution_attempt": 2})
	two.close()
	one.close()
}

// Scenarios 061, 063 and 067. What was left due a long time ago is found by a process that knows nothing but the tables,
// whatever stands before it and cannot be moved.
func TestScenario061TenThousandHeadsThatCannotBeMovedHideNothing(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	app, account := s.Store.Hosted(t, notes), s.Accounts[0]
	door := open(t, s, app, noting, drive.Options{Hand: -1}) // takes in, and claims nothing
	if status, body := door.send(account, batch(t, account, 3)); status != 202 {
		t.Fatalf("%d %s", status, body)
	}
	door.close()
	door.counts(map[string]int{"SELECT COUNT(*) FROM execution_head WHERE attempt = 0 AND holder_id IS NULL": 3, "SELECT COUNT(*) FROM execution_attempt": 0})
	stranger := facts.Mint[facts.AccountID]()
	const stuck = 10001
	for rest := stuck; rest > 0; {
		n := min(rest, 1000)
		var rows []string
		var args []any
		for range n {
			rows = append(rows, "(?, ?, ?, 0, 'ready', 1, NOW(6) - INTERVAL 9 MINUTE)")
			args = append(args, stranger[:], []byte(rand.Text()[:16]), []byte(rand.Text()[:16]))
		}
		if _, err := s.Store.Admin.ExecContext(t.Context(), "INSERT INTO execution_head (account_id, execution_id, projection_id, attempt, state, fence, due_at) VALUES "+strings.Join(rows, ","), args...); err != nil {
			t.Fatal(err)
		}
		rest -= n
	}
	next := open(t, s, app, noting, drive.Options{})
	next.until(stuck, "SELECT COUNT(*) FROM execution_head")
	next.close()
	if _, err := s.Store.Admin.ExecContext(t.Context(), "DELETE FROM execution_head WHERE account_id = ?", stranger[:]); err != nil {
		t.Fatal(err)
	}
	next.ends(3)
}

// A Receipt that waits for what cannot be written yet is not derived again by every sweep: its head is due later.
func TestAReceiptThatWaitsIsLeftAlone(t *testing.T) {
	s := stage.ServingPacks(t, patched(t, stage.Batched, "changes", "dependencies: [{requires: remote_link, owner_slot: event.locator, deadline_seconds: 60}]"))
	account := s.Accounts[0]
	one := open(t, s, s.Store.Hosted(t, notes), noting, drive.Options{Sweep: 20 * time.Millisecond})
	if status, body := one.send(account, batch(t, account, 2)); status != 202 {
		t.Fatalf("%d %s", status, body)
	}
	one.age()
	one.until(1, "SELECT COUNT(*) FROM receipt_head WHERE due_at > NOW(6) + INTERVAL 9 MINUTE")
	one.counts(map[string]int{"SELECT COUNT(*) FROM receipt_component WHERE verdict = 'event'": 2, "SELECT COUNT(*) FROM receipt_ledger": 0})
	one.q01()
}
