package txn

import (
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var (
	kindPhase = NewKind("test: phase")
	kindBatch = NewKind("test: batch")
)

// Each misuse of a transaction is an assertion that names what was wrong, and leaves nothing behind.
func TestMisuseOfATransactionIsAnAssertionAndWritesNothing(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	g := newGranting(t, db)
	stray := newGranting(t, db)
	var foreign *Guards[facts.EffectKey, facts.EffectHead, machines.RemoteEffectState, machines.RemoteEffectEdge]
	var foreignLoad *Loaded[facts.DispatchPermit]
	mustRun(t, db, func(tx *Tx) (err error) {
		if foreign, err = Lock(tx, schema.EffectHeads, []facts.EffectKey{g.effect}); err == nil {
			foreignLoad, err = Load(tx, schema.DispatchPermits, []facts.DispatchPermit{g.permit})
		}
		return err
	})
	step := func(evidence facts.Evidence) []Step[facts.EffectKey, facts.EffectHead, machines.RemoteEffectEdge] {
		return []Step[facts.EffectKey, facts.EffectHead, machines.RemoteEffectEdge]{{Key: g.effect, Edge: machines.RemoteEffectDispatch, Evidence: evidence}}
	}
	good := show(t, machines.RemoteEffectDispatch.Proof())
	lock := func(tx *Tx) *Guards[facts.EffectKey, facts.EffectHead, machines.RemoteEffectState, machines.RemoteEffectEdge] {
		held, err := Lock(tx, schema.EffectHeads, []facts.EffectKey{g.effect})
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	misuses := map[string]struct {
		says string
		do   func(tx *Tx) error
	}{
		"a lock of lower rank": {"after rank", func(tx *Tx) error {
			lock(tx)
			_, err := Lock(tx, schema.CredentialGates, []facts.CredentialGenerationID{g.permit.Generation})
			return err
		}},
		"the same table locked twice": {"after rank", func(tx *Tx) error {
			lock(tx)
			_, err := Lock(tx, schema.EffectHeads, []facts.EffectKey{stray.effect})
			return err
		}},
		"a load before any lock": {"before any lock", func(tx *Tx) error {
			_, err := Load(tx, schema.DispatchPermits, []facts.DispatchPermit{g.permit})
			return err
		}},
		"a read after the writes": {"after its writes", func(tx *Tx) error {
			held := lock(tx)
			if err := tx.Apply(Move(held, step(good))); err != nil {
				return err
			}
			_, err := Load(tx, schema.DispatchPermits, []facts.DispatchPermit{g.permit})
			return err
		}},
		"a second Apply": {"after its writes", func(tx *Tx) error {
			held := lock(tx)
			if err := tx.Apply(Move(held, step(good))); err != nil {
				return err
			}
			return tx.Apply()
		}},
		"guards of another transaction": {"another transaction holds", func(tx *Tx) error {
			lock(tx)
			return tx.Apply(Move(foreign, step(good)))
		}},
		"facts that another transaction loaded": {"another transaction loaded", func(tx *Tx) error {
			lock(tx)
			return tx.Apply(Append(foreignLoad))
		}},
		"a subject that is not held": {"does not hold", func(tx *Tx) error {
			held := lock(tx)
			steps := step(good)
			steps[0].Key = stray.effect
			return tx.Apply(Move(held, steps))
		}},
		"no evidence": {"demands proof", func(tx *Tx) error { return tx.Apply(Move(lock(tx), step(facts.Evidence{}))) }},
		"evidence of another proof": {"demands proof", func(tx *Tx) error {
			return tx.Apply(Move(lock(tx), step(show(t, machines.RemoteEffectConfirm.Proof()))))
		}},
		"no edge": {"no edge", func(tx *Tx) error {
			steps := step(good)
			steps[0].Edge = 0
			return tx.Apply(Move(lock(tx), steps))
		}},
		"a refusal after the writes": {"refused after its writes", func(tx *Tx) error {
			if err := tx.Apply(Move(lock(tx), step(good))); err != nil {
				return err
			}
			return facts.Refuse(facts.WrongState, facts.OfInput("a test"), "")
		}},
		"a panic": {"panicked", func(tx *Tx) error {
			if err := tx.Apply(Move(lock(tx), step(good))); err != nil {
				return err
			}
			panic("a secret that must not be printed")
		}},
		"an error that was swallowed": {"after rank", func(tx *Tx) error {
			held := lock(tx)
			_, _ = Lock(tx, schema.CredentialGates, []facts.CredentialGenerationID{g.permit.Generation})
			_ = tx.Apply(Move(held, step(good)))
			return nil
		}},
	}
	for name, misuse := range misuses {
		t.Run(name, func(t *testing.T) {
			_, err := Run(t.Context(), db, kindPhase, func(tx *Tx) (bool, error) { return true, misuse.do(tx) })
			if !errors.HasAssertionFailure(err) || !strings.Contains(err.Error(), misuse.says) {
				t.Errorf("got %v, want an assertion that says %q", err, misuse.says)
			}
			if err != nil && strings.Contains(err.Error(), "a secret") {
				t.Errorf("the panic's value was printed: %v", err)
			}
		})
	}
	if left := g.left(t, store.Admin); left != [3]int{0, 0, 0} {
		t.Errorf("left behind: %v", left)
	}
	if standing := effects.standing(t, store.Admin, g.effect); standing != "prepared at 1 after []" {
		t.Errorf("the effect is %s", standing)
	}
}

func mustRun(t testing.TB, db *DB, fn func(*Tx) error) {
	t.Helper()
	if _, err := Run(t.Context(), db, kindPhase, func(tx *Tx) (bool, error) { return true, fn(tx) }); err != nil {
		t.Fatal(err)
	}
}

// A server error that the closure swallows still rolls everything back: past it the rest would run on its own.
func TestSwallowedServerErrorPoisonsTheTransaction(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	g := newGranting(t, db)
	_, err := Run(t.Context(), db, kindPhase, func(tx *Tx) (bool, error) {
		held, err := Lock(tx, schema.EffectHeads, []facts.EffectKey{g.effect})
		if err != nil {
			return false, err
		}
		_ = tx.exec("INSERT INTO no_such_table VALUES (1)", nil, 1)
		_ = tx.Apply(Move(held, []Step[facts.EffectKey, facts.EffectHead, machines.RemoteEffectEdge]{
			{Key: g.effect, Edge: machines.RemoteEffectDispatch, Evidence: show(t, machines.RemoteEffectDispatch.Proof())}}))
		return true, nil
	})
	if err == nil || !strings.Contains(err.Error(), "no_such_table") {
		t.Errorf("the swallowed error came back as %v", err)
	}
	if standing := effects.standing(t, store.Admin, g.effect); standing != "prepared at 1 after []" {
		t.Errorf("the effect is %s", standing)
	}
}

// A head that ended is not born again, and the fact that was there is compared whole (R02, R09, R12).
func TestR02WhatHasEndedIsNotBornAgain(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	fact := links.fresh()
	k := facts.LinkKey{Account: fact.Account, Subject: fact.ID}
	bear := func(brings ...facts.RemoteLink) []Match {
		t.Helper()
		matches, err := Run(t.Context(), db, kindBear, func(tx *Tx) ([]Match, error) {
			if _, err := Lock(tx, schema.LinkHeads, []facts.LinkKey{k}); err != nil {
				return nil, err
			}
			loaded, err := Load(tx, schema.RemoteLinks, brings)
			if err != nil {
				return nil, err
			}
			return loaded.match, tx.Apply(Born(loaded, schema.LinkHeads, links.guard))
		})
		if err != nil {
			t.Fatal(err)
		}
		return matches
	}
	other := fact
	other.OwnerSlot = anyDigest()
	twin := links.fresh()
	if got := bear(fact, fact, other, twin); got[0] != Missing || got[1] != Equal || got[2] != Different || got[3] != Missing {
		t.Errorf("a batch with a repeated and a conflicting fact: %v", got)
	}
	if err := links.move(t, db, k, machines.RemoteLinkRetire); err != nil {
		t.Fatal(err)
	}
	before := links.standing(t, store.Admin, k)
	if before != "gone at 0 after [1 retire retired]" {
		t.Fatalf("the link is %s", before)
	}
	if got := bear(fact, other); got[0] != Equal || got[1] != Different {
		t.Errorf("after its end: %v", got)
	}
	if after := links.standing(t, store.Admin, k); after != before {
		t.Errorf("the ended link came back: %s", after)
	}
}

// A batch answers for each item or not at all, and is bounded.
func TestBatchAnswersEveryItem(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	none, err := Batch(t.Context(), db, kindBatch, []int(nil), func(*Tx) ([]bool, error) { t.Error("ran for nothing"); return nil, nil })
	if none != nil || err != nil {
		t.Errorf("no item: %v, %v", none, err)
	}
	for _, answers := range []int{1, 3} {
		_, err = Batch(t.Context(), db, kindBatch, []int{1, 2}, func(*Tx) ([]bool, error) { return make([]bool, answers), nil })
		if !errors.HasAssertionFailure(err) {
			t.Errorf("%d verdicts for 2 items: %v", answers, err)
		}
	}
	_, err = Batch(t.Context(), db, kindBatch, make([]int, MaxItems+1), func(*Tx) ([]bool, error) { return nil, nil })
	if !errors.HasAssertionFailure(err) {
		t.Errorf("%d items: %v", MaxItems+1, err)
	}
}
