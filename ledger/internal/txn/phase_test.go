package txn

import (
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/outbound"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var (
	kindPhase = NewKind("test: phase")
	kindBatch = NewKind("test: batch")
)

type (
	heldEffects = Guards[facts.EffectKey, outbound.EffectHead, machines.RemoteEffectState, machines.RemoteEffectEdge]
	effectStep  = Step[facts.EffectKey, outbound.EffectHead, machines.RemoteEffectEdge]
)

// misuse is a closure that does one thing wrong, and what the assertion must say of it.
type misuse struct {
	name, says string
	do         func(tx *Tx) error
}

// misused are a transaction's own material and another's, for closures that mix them up.
type misused struct {
	g, stray    *granting
	foreign     *heldEffects
	foreignLoad *Loaded[outbound.DispatchPermit]
	steps       func(evidence facts.Evidence) []effectStep
	good        facts.Evidence
}

func newMisused(t *testing.T, db *DB) *misused {
	m := &misused{g: newGranting(t, db), stray: newGranting(t, db), good: show(t, machines.RemoteEffectDispatch.Proof())}
	mustRun(t, db, func(tx *Tx) (err error) {
		if m.foreign, err = m.lock(tx); err == nil {
			m.foreignLoad, err = Load(tx, schema.DispatchPermits, []outbound.DispatchPermit{m.g.permit})
		}
		return err
	})
	m.steps = func(evidence facts.Evidence) []effectStep {
		return []effectStep{{Key: m.g.effect, Edge: machines.RemoteEffectDispatch, Evidence: evidence}}
	}
	return m
}

func (m *misused) lock(tx *Tx) (*heldEffects, error) {
	return Lock(tx, schema.EffectHeads, []facts.EffectKey{m.g.effect})
}

func (m *misused) lockLower(tx *Tx) error {
	_, err := Lock(tx, schema.CredentialGates, []facts.CredentialGenerationID{m.g.permit.Generation})
	return err
}

// applied locks and writes what is right, so that what comes after it is what is wrong.
func (m *misused) applied(tx *Tx) error {
	held, err := m.lock(tx)
	if err != nil {
		return err
	}
	return tx.Apply(Move(held, m.steps(m.good)))
}

// locked locks, then does something.
func (m *misused) locked(do func(tx *Tx, held *heldEffects) error) func(*Tx) error {
	return func(tx *Tx) error {
		held, err := m.lock(tx)
		if err != nil {
			return err
		}
		return do(tx, held)
	}
}

// then writes what is right, then does something.
func (m *misused) then(do func(tx *Tx) error) func(*Tx) error {
	return func(tx *Tx) error {
		if err := m.applied(tx); err != nil {
			return err
		}
		return do(tx)
	}
}

func (m *misused) orders() []misuse {
	load := func(tx *Tx) error {
		_, err := Load(tx, schema.DispatchPermits, []outbound.DispatchPermit{m.g.permit})
		return err
	}
	return []misuse{
		{"a lock of lower rank", "after rank", m.locked(func(tx *Tx, _ *heldEffects) error { return m.lockLower(tx) })},
		{"the same table locked twice", "after rank", m.locked(func(tx *Tx, _ *heldEffects) error {
			_, err := Lock(tx, schema.EffectHeads, []facts.EffectKey{m.stray.effect})
			return err
		})},
		{"a load before any lock", "before any lock", load},
		{"a read after the writes", "after its writes", m.then(load)},
		{"a lock after the writes", "after its writes", m.then(func(tx *Tx) error {
			_, err := Lock(tx, schema.PermitHeads, []facts.PermitKey{{Account: m.g.permit.Account, Subject: m.g.permit.ID}})
			return err
		})},
		{"a second Apply", "after its writes", m.then(func(tx *Tx) error { return tx.Apply() })},
		{"a refusal after the writes", "refused after its writes", m.then(func(*Tx) error {
			return facts.Refuse(facts.WrongState, facts.OfInput("a test"), "")
		})},
		{"a panic", "panicked", m.then(func(*Tx) error { panic("a secret that must not be printed") })},
		{"an error that was swallowed", "after rank", m.locked(func(tx *Tx, held *heldEffects) error {
			_ = m.lockLower(tx)
			_ = tx.Apply(Move(held, m.steps(m.good)))
			return nil
		})},
	}
}

func (m *misused) writes(t *testing.T) []misuse {
	return []misuse{
		{"guards of another transaction", "another transaction holds", m.locked(func(tx *Tx, _ *heldEffects) error {
			return tx.Apply(Move(m.foreign, m.steps(m.good)))
		})},
		{"facts that another transaction loaded", "another transaction loaded", m.locked(func(tx *Tx, _ *heldEffects) error {
			return tx.Apply(Append(m.foreignLoad))
		})},
		{"a subject that is not held", "does not hold", m.locked(func(tx *Tx, held *heldEffects) error {
			steps := m.steps(m.good)
			steps[0].Key = m.stray.effect
			return tx.Apply(Move(held, steps))
		})},
		{"no evidence", "demands proof", m.locked(func(tx *Tx, held *heldEffects) error {
			return tx.Apply(Move(held, m.steps(facts.Evidence{})))
		})},
		{"evidence of another proof", "demands proof", m.locked(func(tx *Tx, held *heldEffects) error {
			return tx.Apply(Move(held, m.steps(show(t, machines.RemoteEffectFinalize.Proof()))))
		})},
		{"no edge", "no edge", m.locked(func(tx *Tx, held *heldEffects) error {
			steps := m.steps(m.good)
			steps[0].Edge = 0
			return tx.Apply(Move(held, steps))
		})},
		{"another's row", "another's row", m.locked(func(tx *Tx, held *heldEffects) error {
			steps := m.steps(m.good)
			steps[0].Row = &outbound.EffectHead{Account: m.stray.effect.Account, Effect: m.stray.effect.Subject}
			return tx.Apply(Move(held, steps))
		})},
	}
}

// Each misuse of a transaction is an assertion that names what was wrong, and leaves nothing behind.
func TestMisuseOfATransactionIsAnAssertionAndWritesNothing(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	m := newMisused(t, db)
	for _, wrong := range append(m.orders(), m.writes(t)...) {
		t.Run(wrong.name, func(t *testing.T) {
			_, err := Run(t.Context(), db, kindPhase, func(tx *Tx) (bool, error) { return true, wrong.do(tx) })
			if !errors.HasAssertionFailure(err) || !strings.Contains(err.Error(), wrong.says) {
				t.Errorf("got %v, want an assertion that says %q", err, wrong.says)
			}
			if err != nil && strings.Contains(err.Error(), "a secret") {
				t.Errorf("the panic's value was printed: %v", err)
			}
		})
	}
	if left := m.g.left(t, store.Admin); left != [3]int{0, 0, 0} {
		t.Errorf("left behind: %v", left)
	}
	if standing := effects.standing(t, store.Admin, m.g.effect); standing != "prepared at 1 after []" {
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
		_ = tx.Apply(Move(held, []Step[facts.EffectKey, outbound.EffectHead, machines.RemoteEffectEdge]{
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
	bear := func(brings ...outbound.RemoteLink) []Match {
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
