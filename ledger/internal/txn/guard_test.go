package txn

import (
	"fmt"
	"sync"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/outbound"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

// Many writers on one gate, from two kernels with pools of their own: each sees what the one before it left, so every
// transition consumes its own fence and none is lost.
func TestTwoWritersOnOneGateTakeTurns(t *testing.T) {
	store := world.Converged(t)
	kernels := []*DB{openKernel(t, store, Options{}), openKernel(t, store, Options{})}
	k := credentials.bear(t, kernels[0])
	const writers, turns = 8, 5
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for range turns {
				if err := toggle(t, kernels[w%2], k); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	want := "enabled at 41 after ["
	for i := range writers * turns / 2 {
		want += fmt.Sprintf("%d revoke revoked,%d reenable enabled,", 2*i+1, 2*i+2)
	}
	want = want[:len(want)-1] + "]"
	if got := credentials.standing(t, store.Admin, k); got != want {
		t.Errorf("the gate is %s, want %s", got, want)
	}
}

// toggle moves a credential gate over whichever edge leaves the state in which the lock found it.
func toggle(t testing.TB, db *DB, k facts.CredentialGenerationID) error {
	_, err := Run(t.Context(), db, kindMove, func(tx *Tx) (bool, error) {
		held, err := Lock(tx, schema.CredentialGates, []facts.CredentialGenerationID{k})
		if err != nil {
			return false, err
		}
		edge := machines.CredentialGenerationDispatchGateRevoke
		if gate, _ := held.Find(k); gate.State == machines.CredentialGenerationDispatchGateRevoked {
			edge = machines.CredentialGenerationDispatchGateReenable
		}
		evidence, err := facts.Prove(shown{edge.Proof(), "toggle"})
		if err != nil {
			return false, err
		}
		return true, tx.Apply(Move(held, []Step[facts.CredentialGenerationID, facts.CredentialGate, machines.CredentialGenerationDispatchGateEdge]{
			{Key: k, Edge: edge, Evidence: evidence}}))
	})
	return err
}

// A guarded write compares the fence that its lock returned, so even a lock that was lost on the way moves nothing.
func TestR04MoveComparesTheFenceOfItsLock(t *testing.T) {
	store := world.Converged(t)
	var reasons []string
	db := openKernel(t, store, Options{OnRerun: func(reason string) { reasons = append(reasons, reason) }})
	k := credentials.bear(t, db)
	runs := 0
	_, err := Run(t.Context(), db, kindMove, func(tx *Tx) (bool, error) {
		held, err := Lock(tx, schema.CredentialGates, []facts.CredentialGenerationID{k})
		if err != nil {
			return false, err
		}
		if runs++; runs == 1 { // as if another had moved the gate while this transaction believed to hold it
			gate := held.held[k]
			gate.Fence++
			held.held[k] = gate
		}
		return true, tx.Apply(Move(held, []Step[facts.CredentialGenerationID, facts.CredentialGate, machines.CredentialGenerationDispatchGateEdge]{
			{Key: k, Edge: machines.CredentialGenerationDispatchGateRevoke, Evidence: show(t, machines.CredentialGenerationDispatchGateRevoke.Proof())}}))
	})
	if err != nil || len(reasons) != 1 || reasons[0] != "fence" {
		t.Errorf("%v, reruns for %v, want one for the fence", err, reasons)
	}
	if got := credentials.standing(t, store.Admin, k); got != "revoked at 2 after [1 revoke revoked]" {
		t.Errorf("the gate is %s", got)
	}
}

// A head is locked by both columns of its key: while one account's is held, another writer of it waits, and a
// neighbour's does not.
func TestHeadLockHoldsExactlyItsKeys(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	mine, neighbour := effects.bear(t, db), effects.bear(t, db)
	mustRun(t, db, func(tx *Tx) error {
		held, err := Lock(tx, schema.EffectHeads, []facts.EffectKey{mine})
		if err != nil || held.Len() != 1 {
			t.Errorf("held %d heads, %v", held.Len(), err)
		}
		const nowait = lockEffect + " NOWAIT"
		other, err := store.Admin.BeginTx(t.Context(), nil)
		if err != nil {
			return err
		}
		defer func() { _ = other.Rollback() }()
		if _, err := other.ExecContext(t.Context(), nowait, mine.Account, mine.Subject); !hasCode(err, 3572) {
			t.Errorf("a second lock of a held head: %v", err)
		}
		if _, err := other.ExecContext(t.Context(), nowait, neighbour.Account, neighbour.Subject); err != nil {
			t.Errorf("a lock of a neighbour's head: %v", err)
		}
		return nil
	})
}

// What a transition costs does not depend on how many subjects take it together, up to the size of one statement.
func TestStatementsDependOnTheSizeClassAlone(t *testing.T) {
	store := world.Converged(t)
	var last Report
	db := openKernel(t, store, Options{Observe: func(r Report) { last = r }})
	for _, c := range []struct{ items, birth, move int }{{1, 6, 5}, {2, 6, 5}, {8, 6, 5}, {256, 6, 5}, {257, 10, 8}, {500, 10, 8}} {
		var born []outbound.RemoteEffect
		var keys []facts.EffectKey
		for range c.items {
			f := effects.fresh()
			born, keys = append(born, f), append(keys, facts.EffectKey{Account: f.Account, Subject: f.ID})
		}
		_, err := Batch(t.Context(), db, kindBatch, born, func(tx *Tx) ([]Match, error) {
			if _, err := Lock(tx, schema.EffectHeads, keys); err != nil {
				return nil, err
			}
			loaded, err := Load(tx, schema.RemoteEffects, born)
			if err != nil {
				return nil, err
			}
			return loaded.match, tx.Apply(Born(loaded, schema.EffectHeads, effects.guard))
		})
		if err != nil || last.Statements != c.birth {
			t.Errorf("%d births: %d statements, want %d (%v)", c.items, last.Statements, c.birth, err)
		}
		_, err = Batch(t.Context(), db, kindBatch, keys, func(tx *Tx) ([]bool, error) {
			held, err := Lock(tx, schema.EffectHeads, keys)
			if err != nil {
				return nil, err
			}
			var steps []Step[facts.EffectKey, outbound.EffectHead, machines.RemoteEffectEdge]
			for _, k := range keys {
				steps = append(steps, Step[facts.EffectKey, outbound.EffectHead, machines.RemoteEffectEdge]{Key: k, Edge: machines.RemoteEffectDispatch,
					Evidence: show(t, machines.RemoteEffectDispatch.Proof())})
			}
			return make([]bool, len(keys)), tx.Apply(Move(held, steps))
		})
		if err != nil || last.Statements != c.move {
			t.Errorf("%d moves: %d statements, want %d (%v)", c.items, last.Statements, c.move, err)
		}
	}
}

// The ledger role's own connection, past the kernel: TiDB itself refuses to rewrite a fact or to delete a gate.
func TestLedgerRoleCannotRewriteAFactOrDeleteAGate(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	gate := gates.bear(t, db)
	g := newGranting(t, db)
	if _, err := g.run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	ledger := store.Pool(t, schema.RoleLedger)
	for _, statement := range []string{
		"UPDATE dispatch_permit SET gate_fence = gate_fence + 1",
		"DELETE FROM dispatch_permit",
		"UPDATE remote_effect_ledger SET evidence = ''",
		"DELETE FROM remote_effect_ledger",
		"DELETE FROM account_serving_gate_guard",
		"DELETE FROM account_serving_gate",
		"DELETE FROM credential_generation_dispatch_gate_guard",
		"DELETE FROM serving_epoch_guard",
		"DELETE FROM serving_epoch_share",
		"TRUNCATE TABLE account_serving_gate_guard",
		"REPLACE INTO account_serving_gate (account_id, deployment_id) VALUES (REPEAT('a', 16), REPEAT('b', 16))",
	} {
		if _, err := ledger.ExecContext(t.Context(), statement); !hasCode(err, codeTableDenied) && !hasCode(err, codeColumnDenied) {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if got := gates.standing(t, store.Admin, gate); got != "v1_serving at 1 after []" {
		t.Errorf("the gate is %s", got)
	}
}
