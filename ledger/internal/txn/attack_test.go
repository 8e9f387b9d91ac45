package txn

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/outbound"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// A goroutine that ends inside the closure, or a panic in a boundary's hook, still ends the transaction: nobody waits
// for its connection for ever, and nobody waits for its locks.
func TestEveryWayOutOfAnAttemptEndsItsTransaction(t *testing.T) {
	store := world.Converged(t)
	hook := func(b Boundary) {
		if b == (Boundary{"test: grant", BeforeCommit}) {
			panic("in the hook")
		}
	}
	for name, c := range map[string]struct {
		options Options
		inside  func(int, string)
	}{
		"the closure's goroutine ends": {inside: func(_ int, step string) {
			if step == "permit loaded" {
				runtime.Goexit()
			}
		}},
		"a hook panics": {options: Options{At: hook}},
	} {
		db := openKernel(t, store, c.options)
		g := newGranting(t, openKernel(t, store, Options{}))
		g.inside = c.inside
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer func() { _ = recover() }()
			_, _ = g.run(context.Background(), db)
		}()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: the run does not end", name)
		}
		if n := db.pool.Stats().InUse; n != 0 {
			t.Errorf("%s: %d connections are still in use", name, n)
		}
		_ = lockRow(t, store.Admin, lockEffect+" NOWAIT", g.effect.Account, g.effect.Subject).Rollback()
		if left := g.left(t, store.Admin); left != [3]int{0, 0, 0} {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
}

// An error that the closure makes is its own, whatever it looks like: it is returned at once and nothing is tried
// again under the account's locks.
func TestClosuresOwnErrorIsReturnedAndNotTakenForTheServers(t *testing.T) {
	store := world.Converged(t)
	for _, own := range []error{io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded, mysql.ErrInvalidConn, &mysql.MySQLError{Number: 1213}} {
		runs := 0
		var outcome Outcome
		db := openKernel(t, store, Options{Budget: Budget{Rerun: 200 * time.Millisecond}, Observe: func(r Report) { outcome = r.Outcome }})
		_, err := Run(t.Context(), db, kindPhase, func(*Tx) (bool, error) {
			runs++
			return false, errors.Wrap(own, "reading stored evidence")
		})
		if !errors.Is(err, own) || runs != 1 || outcome != Failed {
			t.Errorf("%v: %d runs, outcome %s, %v", own, runs, outcome, err)
		}
	}
}

// What the server refuses and no rerun can cure is our own bug, and says so.
func TestUnlistedServerErrorIsAnAssertion(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	for _, statement := range []string{"INSERT INTO no_such_table VALUES (1)", "UPDATE dispatch_permit SET gate_fence=1"} {
		runs := 0
		_, err := Run(t.Context(), db, kindPhase, func(tx *Tx) (bool, error) {
			runs++
			return false, tx.exec(statement, nil, 1)
		})
		if !errors.HasAssertionFailure(err) || runs != 1 {
			t.Errorf("%s: %d runs, %v", statement, runs, err)
		}
	}
}

// Writes that another goroutine still runs when the closure returns are not committed by half.
func TestWritesOfAnotherGoroutineAreNotCommittedByHalf(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	g := newGranting(t, db)
	begun, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	_, err := Run(t.Context(), db, kindPhase, func(tx *Tx) (bool, error) {
		heads, err := Lock(tx, schema.EffectHeads, []facts.EffectKey{g.effect})
		if err != nil {
			return false, err
		}
		loaded, err := Load(tx, schema.DispatchPermits, []outbound.DispatchPermit{g.permit})
		if err != nil {
			return false, err
		}
		move := Move(heads, []effectStep{{Key: g.effect, Edge: machines.RemoteEffectDispatch, Evidence: show(t, machines.RemoteEffectDispatch.Proof())}})
		go func() { done <- tx.Apply(move, pausing{begun, goOn}, Append(loaded)) }()
		<-begun
		return true, nil
	})
	close(goOn)
	if late := <-done; late == nil {
		t.Error("the late writes say that they were carried out")
	}
	if !errors.HasAssertionFailure(err) {
		t.Errorf("the closure left its writes to another goroutine: %v", err)
	}
	if standing := effects.standing(t, store.Admin, g.effect); standing != "prepared at 1 after []" {
		t.Errorf("half of the writes were committed: the effect is %s", standing)
	}
}

// pausing is a write that waits between two others.
type pausing struct{ begun, goOn chan struct{} }

func (pausing) check(*Tx) error { return nil }
func (p pausing) run(*Tx) error {
	close(p.begun)
	<-p.goOn
	return nil
}

// A transaction that was kept past its closure writes nothing, and spoils no later one.
func TestTransactionIsDeadOnceItsClosureReturned(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	g := newGranting(t, db)
	var kept *Tx
	var held *heldEffects
	mustRun(t, db, func(tx *Tx) (err error) {
		kept = tx
		held, err = Lock(tx, schema.EffectHeads, []facts.EffectKey{g.effect})
		return err
	})
	step := []effectStep{{Key: g.effect, Edge: machines.RemoteEffectDispatch, Evidence: show(t, machines.RemoteEffectDispatch.Proof())}}
	if err := kept.Apply(Move(held, step)); !errors.HasAssertionFailure(err) {
		t.Errorf("kept: %v", err)
	}
	if standing := effects.standing(t, store.Admin, g.effect); standing != "prepared at 1 after []" {
		t.Errorf("the effect is %s", standing)
	}
}

// A fact bears its own guard and no other's: otherwise any fresh fact could bring back what has ended (R02).
func TestR02FactBearsNoOthersGuard(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	ended := links.bear(t, db)
	links.mustMove(t, db, ended, machines.RemoteLinkRetire)
	before := links.standing(t, store.Admin, ended)
	fresh := links.fresh()
	_, err := Run(t.Context(), db, kindBear, func(tx *Tx) (bool, error) {
		if _, err := Lock(tx, schema.LinkHeads, []facts.LinkKey{{Account: fresh.Account, Subject: fresh.ID}}); err != nil {
			return false, err
		}
		loaded, err := Load(tx, schema.RemoteLinks, []outbound.RemoteLink{fresh})
		if err != nil {
			return false, err
		}
		return true, tx.Apply(Born(loaded, schema.LinkHeads, func(f outbound.RemoteLink) outbound.LinkHead {
			return outbound.LinkHead{Account: ended.Account, Link: ended.Subject, RemoteIdentity: f.RemoteIdentity, OwnerSlot: f.OwnerSlot}
		}))
	})
	if !errors.HasAssertionFailure(err) || !strings.Contains(err.Error(), "another's guard") {
		t.Errorf("a fact bore another's guard: %v", err)
	}
	if after := links.standing(t, store.Admin, ended); after != before {
		t.Errorf("the ended link came back: %s, was %s", after, before)
	}
}

// One guard moves in one Move: two of them would each start from where the lock found it, and the second would look
// like a lost lock and be tried again for the whole budget.
func TestGuardIsNotMovedTwiceByOneApply(t *testing.T) {
	store := world.Converged(t)
	var reasons []string
	db := openKernel(t, store, Options{Budget: Budget{Rerun: 200 * time.Millisecond}, OnRerun: func(r string) { reasons = append(reasons, r) }})
	k := effects.bear(t, db)
	_, err := Run(t.Context(), db, kindMove, func(tx *Tx) (bool, error) {
		held, err := Lock(tx, schema.EffectHeads, []facts.EffectKey{k})
		if err != nil {
			return false, err
		}
		to := func(e machines.RemoteEffectEdge) Write {
			return Move(held, []effectStep{{Key: k, Edge: e, Evidence: show(t, e.Proof())}})
		}
		return true, tx.Apply(to(machines.RemoteEffectDispatch), to(machines.RemoteEffectQuarantinePrepared))
	})
	if !errors.HasAssertionFailure(err) || len(reasons) > 0 {
		t.Errorf("reruns for %v, %v", reasons, err)
	}
	if standing := effects.standing(t, store.Admin, k); standing != "prepared at 1 after []" {
		t.Errorf("the effect is %s", standing)
	}
}

// As many shares as the epoch was prepared with, one of them another's: the account that lost its own would be outside.
func TestR07EpochWithASwappedShareIsRefused(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	s := newServing(t, db)
	if _, err := store.Admin.ExecContext(t.Context(), "UPDATE serving_epoch_share SET account_id=REPEAT('x', 16) WHERE epoch_id=? LIMIT 1", s.epoch.ID); err != nil {
		t.Fatal(err)
	}
	if err := epochs.move(t, db, s.epoch.ID, machines.ServingEpochDrain); !errors.Is(err, facts.ShareSetDiffers) {
		t.Errorf("a swapped share: %v", err)
	}
}
