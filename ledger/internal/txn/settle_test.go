package txn

import (
	"context"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/outbound"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// A rerun that refuses without holding a guard of the original proves nothing: the original commits afterwards.
func TestR05RefusalOfARerunThatHeldNoGuardStaysUnknown(t *testing.T) {
	store := world.Converged(t)
	for name, lockFirst := range map[string]bool{"before its first lock": false, "under a guard that never existed": true} {
		proxy := world.NewProxy(t, store.Login.Address)
		fault := proxy.Arm(world.HoldCommit, 1)
		db := impatient(t, store, proxy.Address(), 2*time.Second, Options{})
		permit := permits.fresh()
		runs := 0
		_, err := Run(t.Context(), db, kindBear, func(tx *Tx) (bool, error) {
			runs++
			refusal := facts.Refuse(facts.WrongState, facts.OfInput("a test"), "")
			if runs > 1 && !lockFirst {
				return false, refusal
			}
			if _, err := Lock(tx, schema.PermitHeads, []facts.PermitKey{{Account: permit.Account, Subject: permit.ID}}); err != nil {
				return false, err
			}
			if runs > 1 {
				return false, refusal
			}
			loaded, err := Load(tx, schema.DispatchPermits, []outbound.DispatchPermit{permit})
			if err != nil {
				return false, err
			}
			return true, tx.Apply(Born(loaded, schema.PermitHeads, permits.guard))
		})
		if !errors.Is(err, facts.ErrOutcomeUnknown) || errors.Is(err, facts.WrongState) {
			t.Errorf("refused %s: %v", name, err)
		}
		fault.Release()
		g := granting{permit: permit, effect: facts.EffectKey{Account: permit.Account, Subject: permit.Effect}}
		for deadline := time.Now().Add(10 * time.Second); g.left(t, store.Admin) != [3]int{1, 1, 0}; {
			if time.Now().After(deadline) {
				t.Fatalf("refused %s: the original did not commit after all", name)
			}
		}
	}
}

// A guard that the original held and that is gone is as good as a write on it: whoever ended it took its lock.
func TestR05RefusalUnderAGuardThatIsGoneIsCertain(t *testing.T) {
	store := world.Converged(t)
	pace := newPacer()
	db, proxy := proxied(t, store, Options{Clock: pace})
	direct := openKernel(t, store, Options{})
	link := links.bear(t, direct)
	proxy.Arm(world.CutBeforeCommit, 1)
	done := make(chan error, 1)
	go func() { done <- links.retire(t, db, link) }()
	pace.between(t, func() { links.mustMove(t, direct, link, links.edges[0]) })
	if err := <-done; !errors.Is(err, facts.SubjectMissing) || errors.Is(err, facts.ErrOutcomeUnknown) {
		t.Errorf("the retirement that was overtaken ended with %v", err)
	}
}

// retire takes a subject over its first edge, and refuses if it has ended.
func (s subject[R, K, G, S, E]) retire(t testing.TB, db *DB, k K) error {
	_, err := Run(t.Context(), db, kindMove, func(tx *Tx) (bool, error) {
		held, err := Lock(tx, s.guards, []K{k})
		if err != nil {
			return false, err
		}
		if held.Len() == 0 {
			return false, facts.Refuse(facts.SubjectMissing, facts.OfInput("a test"), "")
		}
		evidence, err := facts.Prove(shown{s.edges[0].Proof(), "retire"})
		if err != nil {
			return false, err
		}
		return true, tx.Apply(Move(held, []Step[K, G, E]{{Key: k, Edge: s.edges[0], Evidence: evidence}}))
	})
	return err
}

// The caller that was told "unknown" comes back in a call of its own. It too writes on the guard, though it is refused,
// and only then is the doubt over.
func TestR05CallerThatComesBackWritesOnTheGuard(t *testing.T) {
	store := world.Converged(t)
	pace := newPacer()
	db, proxy := proxied(t, store, Options{Clock: pace})
	direct := openKernel(t, store, Options{})
	g := newGranting(t, direct)
	proxy.Arm(world.CutBeforeCommit, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := g.run(ctx, db)
		done <- err
	}()
	pace.between(t, cancel)
	if err := <-done; !errors.Is(err, facts.ErrOutcomeUnknown) {
		t.Fatalf("told %v", err)
	}
	revoke(t, direct, g.permit.Generation)
	for range 2 {
		if _, err := g.run(t.Context(), db); !errors.Is(err, facts.Revoked) || errors.Is(err, facts.ErrOutcomeUnknown) {
			t.Errorf("coming back: %v", err)
		}
		if n := g.touched(t, store.Admin); n != 1 {
			t.Errorf("the caller that came back wrote %d times on the first guard, want once", n)
		}
	}
}
