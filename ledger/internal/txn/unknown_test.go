package txn

import (
	"context"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/proptest/world"

	"github.com/cockroachdb/errors"
)

// The COMMIT was carried out and its answer was lost: the rerun finds the permit and does not bear another.
func TestR05UnknownCommitThatWasDoneIsFoundDone(t *testing.T) {
	store := world.Converged(t)
	var reports []Report
	db, proxy := proxied(t, store, Options{Observe: func(r Report) { reports = append(reports, r) }})
	g := newGranting(t, db)
	reports = nil
	fault := proxy.Arm(world.CutAfterCommit, 1)
	got, err := g.run(t.Context(), db)
	if err != nil || got != grantedBefore || !fault.Committed() {
		t.Fatalf("%q, %v, committed %v", got, err, fault.Committed())
	}
	if left := g.left(t, store.Admin); left != [3]int{1, 1, 1} {
		t.Errorf("left behind: %v", left)
	}
	if n := g.touched(t, store.Admin); n != 1 {
		t.Errorf("the rerun wrote %d times on the first guard, want once, although it had nothing else to write", n)
	}
	if len(reports) != 1 || reports[0].Attempts != 2 || reports[0].Outcome != Done {
		t.Errorf("reports: %+v", reports)
	}
}

// The COMMIT never arrived: the rerun with the same minted ids does the work, once.
func TestR05UnknownCommitThatWasLostIsDoneNow(t *testing.T) {
	store := world.Converged(t)
	db, proxy := proxied(t, store, Options{})
	g := newGranting(t, db)
	proxy.Arm(world.CutBeforeCommit, 1)
	got, err := g.run(t.Context(), db)
	if err != nil || got != grantedNow || g.runs != 2 {
		t.Fatalf("%q, %v after %d runs", got, err, g.runs)
	}
	if left := g.left(t, store.Admin); left != [3]int{1, 1, 1} {
		t.Errorf("left behind: %v", left)
	}
	if n := g.touched(t, store.Admin); n != 1 {
		t.Errorf("touched %d times", n)
	}
}

// The COMMIT never arrived and a revocation came between: the rerun is refused, and because it commits a write on the
// first guard the refusal is certain and not merely what a read found.
func TestR05UnknownCommitThatWasOvertakenIsRefusedForCertain(t *testing.T) {
	store := world.Converged(t)
	pace := newPacer()
	var reports []Report
	db, proxy := proxied(t, store, Options{Clock: pace, Observe: func(r Report) { reports = append(reports, r) }})
	direct := openKernel(t, store, Options{})
	g := newGranting(t, direct)
	proxy.Arm(world.CutBeforeCommit, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := g.run(t.Context(), db)
		if !errors.Is(err, facts.Revoked) || errors.Is(err, facts.ErrOutcomeUnknown) {
			t.Errorf("the overtaken grant ended with %v", err)
		}
	}()
	pace.between(t, func() { revoke(t, direct, g.permit.Generation) })
	<-done
	if left := g.left(t, store.Admin); left != [3]int{0, 0, 0} {
		t.Errorf("left behind: %v", left)
	}
	if n := g.touched(t, store.Admin); n != 1 {
		t.Errorf("the refused rerun wrote %d times on the first guard, want once", n)
	}
	if len(reports) != 1 || reports[0].Outcome != Refused {
		t.Errorf("reports: %+v", reports)
	}
}

// The client gives up while its COMMIT is still on the way, and the COMMIT arrives later: the rerun waits for the
// first guard until then, and finds the work done.
func TestR05LateCommitIsWaitedForAndNotDoubled(t *testing.T) {
	store := world.Converged(t)
	proxy := world.NewProxy(t, store.Login.Address)
	g := newGranting(t, openKernel(t, store, Options{}))
	fault := proxy.Arm(world.HoldCommit, 1)
	var reasons []string
	db := impatient(t, store, proxy.Address(), 2*time.Second, Options{OnRerun: func(reason string) {
		// A lock wait of the rerun shows that it stands behind the original. Only now does the COMMIT arrive.
		if reasons = append(reasons, reason); reason == "1205" {
			fault.Release()
		}
	}})
	got, err := g.run(t.Context(), db)
	if err != nil || got != grantedBefore {
		t.Fatalf("%q, %v", got, err)
	}
	if left := g.left(t, store.Admin); left != [3]int{1, 1, 1} {
		t.Errorf("left behind: %v", left)
	}
	if len(reasons) < 2 || reasons[0] != "unknown commit" {
		t.Errorf("reruns for %v, want the unknown commit and then a wait behind it", reasons)
	}
}

// A caller that gives up while the outcome is unknown is told just that, and keeps its items.
func TestR05UnknownStaysUnknownForACallerThatGivesUp(t *testing.T) {
	store := world.Converged(t)
	pace := newPacer()
	db, proxy := proxied(t, store, Options{Clock: pace})
	g := newGranting(t, openKernel(t, store, Options{}))
	proxy.Arm(world.CutAfterCommit, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := g.run(ctx, db)
		done <- err
	}()
	pace.between(t, cancel)
	if err := <-done; !errors.Is(err, facts.ErrOutcomeUnknown) || errors.Is(err, context.Canceled) {
		t.Errorf("the outcome is unknown, and the caller was told %v", err)
	}
	got, err := g.run(t.Context(), openKernel(t, store, Options{})) // the caller comes back with the same ids
	if err != nil || got != grantedBefore {
		t.Errorf("coming back: %q, %v", got, err)
	}
}
