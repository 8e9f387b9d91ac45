package txn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// lockRow holds one guard row from outside the kernel until the returned function ends it.
func lockRow(t testing.TB, admin *sql.DB, query string, args ...any) (tx *sql.Tx) {
	t.Helper()
	tx, err := admin.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
	return tx
}

const (
	lockCredential = "SELECT 1 FROM credential_generation_dispatch_gate_guard WHERE generation_id=? FOR UPDATE"
	lockEffect     = "SELECT 1 FROM remote_effect_head WHERE account_id=? AND effect_id=? FOR UPDATE"
)

// A deadlock rolls the whole transaction back at the server. The kernel must not go on in what is left of it: the
// closure runs again from its first lock.
func TestDeadlockRunsTheWholeClosureAgain(t *testing.T) {
	store := world.Converged(t)
	var reasons []string
	db := openKernel(t, store, Options{OnRerun: func(reason string) { reasons = append(reasons, reason) }})
	g := newGranting(t, db)
	other := lockRow(t, store.Admin, lockEffect, g.effect.Account, g.effect.Subject)
	crossed := make(chan error, 1)
	g.inside = func(run int, step string) {
		if run == 1 && step == "credential gate locked" {
			go func() { // closes the circle from the other side
				_, err := other.ExecContext(t.Context(), lockCredential, g.permit.Generation)
				crossed <- errors.CombineErrors(err, other.Rollback())
			}()
			waitUntilBlocked(t, store.Admin)
		}
	}
	got, err := g.run(t.Context(), db)
	if err != nil || got != grantedNow {
		t.Fatalf("%q, %v", got, err)
	}
	if err := <-crossed; err != nil {
		t.Errorf("the other side: %v", err)
	}
	if !slices.Equal(reasons, []string{"1213"}) || g.runs != 2 {
		t.Errorf("reruns for %v in %d runs, want one deadlock", reasons, g.runs)
	}
	if left := g.left(t, store.Admin); left != [3]int{1, 1, 1} {
		t.Errorf("left behind: %v", left)
	}
}

// waitUntilBlocked returns when a statement of this database waits for a row lock.
func waitUntilBlocked(t testing.TB, admin *sql.DB) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		var n int
		query := "SELECT COUNT(*) FROM information_schema.tidb_trx WHERE state = 'LockWaiting' AND db = DATABASE()"
		if err := admin.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return
		}
	}
	t.Fatal("no statement came to wait for a lock")
}

// A lock wait that times out undoes only its statement; the kernel gives the other locks back before it tries again.
func TestLockWaitTimeoutRunsAgainWithoutHoldingOn(t *testing.T) {
	store := world.Converged(t)
	g := newGranting(t, openKernel(t, store, Options{}))
	other := lockRow(t, store.Admin, lockEffect, g.effect.Account, g.effect.Subject)
	var reasons []string
	db := impatient(t, store, store.Login.Address, 30*time.Second, Options{OnRerun: func(reason string) {
		if reasons = append(reasons, reason); len(reasons) == 1 {
			// The first run had locked the credential gate; between the two runs it must be free.
			_ = lockRow(t, store.Admin, lockCredential+" NOWAIT", g.permit.Generation).Rollback()
			_ = other.Rollback()
		}
	}})
	got, err := g.run(t.Context(), db)
	if err != nil || got != grantedNow || !slices.Equal(reasons, []string{"1205"}) {
		t.Fatalf("%q, %v, reruns for %v", got, err, reasons)
	}
}

// A row that appears between load and write is a lost race and not a conflict: the rerun finds it equal.
func TestR09DuplicateBelowTheLineIsALostRace(t *testing.T) {
	store := world.Converged(t)
	var reasons []string
	db := openKernel(t, store, Options{OnRerun: func(reason string) { reasons = append(reasons, reason) }})
	g := newGranting(t, db)
	g.inside = func(run int, step string) {
		if run == 1 && step == "permit loaded" {
			bound, err := values(schema.DispatchPermits.Fields(&g.permit))
			if err != nil {
				t.Fatal(err)
			}
			query := "INSERT INTO dispatch_permit (permit_id,account_id,effect_id,attempt_id,holder_id,generation_id,gate_fence,credential_fence) VALUES (?,?,?,?,?,?,?,?)"
			if _, err := store.Admin.ExecContext(t.Context(), query, flat([][]driver.Value{bound})...); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := g.run(t.Context(), db)
	if err != nil || got != grantedBefore || !slices.Equal(reasons, []string{"1062"}) {
		t.Errorf("%q, %v, reruns for %v", got, err, reasons)
	}
	if left := g.left(t, store.Admin); left != [3]int{1, 0, 0} {
		t.Errorf("left behind: %v: the first run must have been rolled back whole", left)
	}
}

// A unique key that no load can see is not a race: the call ends with an assertion instead of running for ever.
func TestR09DuplicateThatNoLoadSeesIsAnAssertionInTheEnd(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{Budget: Budget{Rerun: 200 * time.Millisecond}})
	first, second := newGranting(t, db), newGranting(t, db)
	if _, err := first.run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	second.permit.Attempt = first.permit.Attempt // two permits for one attempt
	_, err := second.run(t.Context(), db)
	if !errors.HasAssertionFailure(err) || errors.Is(err, facts.ErrOutcomeUnknown) {
		t.Errorf("a second permit of one attempt: %v", err)
	}
	if left := second.left(t, store.Admin); left != [3]int{0, 0, 0} {
		t.Errorf("left behind: %v", left)
	}
}

// A connection that breaks before COMMIT was sent has committed nothing: the closure runs again.
func TestBrokenConnectionBeforeCommitRunsAgain(t *testing.T) {
	store := world.Converged(t)
	var reasons []string
	db, proxy := proxied(t, store, Options{OnRerun: func(reason string) { reasons = append(reasons, reason) }})
	g := newGranting(t, db)
	g.inside = func(run int, step string) {
		if run == 1 && step == "permit loaded" {
			proxy.CutAll()
		}
	}
	got, err := g.run(t.Context(), db)
	if err != nil || got != grantedNow || !slices.Equal(reasons, []string{"connection"}) {
		t.Errorf("%q, %v, reruns for %v", got, err, reasons)
	}
	if n := g.touched(t, store.Admin); n != 0 {
		t.Errorf("touched %d times, but no commit was unknown", n)
	}
}

// A caller that gives up before the commit leaves nothing; one that gives up during it changes nothing any more.
func TestCancelledContextTearsNoCommit(t *testing.T) {
	store := world.Converged(t)
	ctx, cancel := context.WithCancel(t.Context())
	db := openKernel(t, store, Options{At: func(b Boundary) {
		if b == (Boundary{"test: grant", BeforeCommit}) {
			cancel()
		}
	}})
	g := newGranting(t, db)
	got, err := g.run(ctx, db)
	if err != nil || got != grantedNow {
		t.Errorf("cancelled at the commit: %q, %v", got, err)
	}
	if left := g.left(t, store.Admin); left != [3]int{1, 1, 1} {
		t.Errorf("left behind: %v", left)
	}

	ctx, cancel = context.WithCancel(t.Context())
	early := newGranting(t, openKernel(t, store, Options{}))
	early.inside = func(_ int, step string) {
		if step == "permit loaded" {
			cancel()
		}
	}
	_, err = early.run(ctx, db)
	if !errors.Is(err, context.Canceled) || errors.Is(err, facts.ErrOutcomeUnknown) {
		t.Errorf("cancelled before the writes: %v", err)
	}
	if left := early.left(t, store.Admin); left != [3]int{0, 0, 0} {
		t.Errorf("left behind: %v", left)
	}
}

// A test can stop at every named boundary, and the list has each transaction's two.
func TestBoundariesAreNamedAndCanBeStoppedAt(t *testing.T) {
	store := world.Converged(t)
	var met []string
	db := openKernel(t, store, Options{At: func(b Boundary) { met = append(met, b.String()) }})
	g := newGranting(t, db)
	met = nil
	if _, err := g.run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	want := []string{"test: grant: before commit", "test: grant: after commit"}
	if !slices.Equal(met, want) {
		t.Errorf("met %q, want %q", met, want)
	}
	for _, name := range want {
		if !slices.ContainsFunc(Boundaries(), func(b Boundary) bool { return b.String() == name }) {
			t.Errorf("%q is not listed", name)
		}
	}
	names := map[string]bool{}
	for _, b := range Boundaries() {
		if names[b.String()] {
			t.Errorf("two transactions are called %q", b.Transaction)
		}
		names[b.String()] = true
	}
}
