package txn

import (
	"testing"

	"connectorcore/facts"
	owned "connectorcore/facts/serving"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var ownerBarriers = subject[owned.Barrier, facts.OwnerBarrierID, owned.BarrierGuard,
	machines.OwnerPublicationBarrierState, machines.OwnerPublicationBarrierEdge]{
	rows: schema.OwnerBarriers, guards: schema.OwnerBarrierGuards,
	edges: edgesOf[machines.OwnerPublicationBarrierEdge](machines.OwnerPublicationBarrier),
	fresh: func() owned.Barrier {
		return owned.Barrier{ID: facts.Mint[facts.OwnerBarrierID](), Digest: anyDigest(), Scope: owned.Scope{Digest: anyDigest()}, Owner: owned.Catalog}
	},
	guard: func(f owned.Barrier) owned.BarrierGuard { return owned.BarrierGuard{Barrier: f.ID} },
	carry: func(k facts.OwnerBarrierID) *owned.BarrierGuard {
		return &owned.BarrierGuard{Barrier: k, Attempt: someAttempt, Holder: 1, HeldAt: 1}
	},
}

var someAttempt = facts.Mint[facts.ActivationAttemptID]()

func TestOwnerBarrierTakesExactlyItsEdges(t *testing.T) { ownerBarriers.wholeProduct(t) }

// Facts below one parent are read whole and in the order of their counts, past 9 and past 256 too.
func TestChildrenAreReadByTheirParentInOrder(t *testing.T) {
	db := openKernel(t, world.Converged(t), Options{})
	k := credentials.bear(t, db)
	mine, other := owned.SelectorDigest{Digest: anyDigest()}, owned.SelectorDigest{Digest: anyDigest()}
	var rows []owned.Selection
	for seq := uint64(300); seq > 0; seq-- {
		rows = append(rows, owned.Selection{Selector: mine, Seq: seq, Generation: owned.GenerationDigest{Digest: anyDigest()}})
	}
	rows = append(rows, owned.Selection{Selector: other, Seq: 1, Generation: rows[0].Generation})
	_, err := Run(t.Context(), db, kindPhase, func(tx *Tx) ([]owned.Selection, error) {
		return Children(tx, schema.OwnerSelections, rows[:1], 1)
	})
	if !errors.HasAssertionFailure(err) {
		t.Errorf("read before any lock: %v", err)
	}
	mustRun(t, db, func(tx *Tx) error {
		if _, err := Lock(tx, schema.CredentialGates, []facts.CredentialGenerationID{k}); err != nil {
			return err
		}
		loaded, err := Load(tx, schema.OwnerSelections, rows)
		if err != nil {
			return err
		}
		return tx.Apply(Append(loaded))
	})
	mustRun(t, db, func(tx *Tx) error {
		if _, err := Lock(tx, schema.CredentialGates, []facts.CredentialGenerationID{k}); err != nil {
			return err
		}
		all, err := Children(tx, schema.OwnerSelections, []owned.Selection{{Selector: mine}}, 1)
		if err != nil {
			return err
		}
		for i, row := range all {
			if row.Selector != mine || row.Seq != uint64(i+1) {
				t.Fatalf("row %d is %d", i, row.Seq)
			}
		}
		one, found, err := ReadOne(tx, schema.OwnerSelections, func(s *owned.Selection) { s.Selector, s.Seq = mine, 10 })
		if err != nil || !found || one != rows[290] || len(all) != 300 {
			t.Errorf("%d rows, the tenth %v %+v, %v", len(all), found, one, err)
		}
		last, found, err := Last(tx, schema.OwnerSelections, owned.Selection{Selector: mine}, 1)
		if err != nil || !found || last != all[299] {
			t.Errorf("the last is %v %+v, %v", found, last, err)
		}
		if _, found, err := Last(tx, schema.OwnerSelections, owned.Selection{Selector: owned.SelectorDigest{Digest: anyDigest()}}, 1); found || err != nil {
			t.Errorf("an empty line has a last: %v", err)
		}
		return nil
	})
}

// A transition is found by the fence that it consumed, and is the same only with the same edge and evidence.
func TestTakenComparesTheTransitionThatConsumedTheFence(t *testing.T) {
	db := openKernel(t, world.Converged(t), Options{})
	k := credentials.bear(t, db)
	revoke, reenable := machines.CredentialGenerationDispatchGateRevoke, machines.CredentialGenerationDispatchGateReenable
	if err := credentials.move(t, db, k, revoke); err != nil {
		t.Fatal(err)
	}
	same := show(t, revoke.Proof())
	other, err := facts.Prove(shown{revoke.Proof(), "another"})
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, db, func(tx *Tx) error {
		if _, err := Lock(tx, schema.CredentialGates, []facts.CredentialGenerationID{k}); err != nil {
			return err
		}
		for _, c := range []struct {
			fence    facts.Fence
			edge     machines.CredentialGenerationDispatchGateEdge
			evidence facts.Evidence
			want     bool
		}{{1, revoke, same, true}, {1, revoke, other, false}, {1, reenable, show(t, reenable.Proof()), false}, {2, revoke, same, false}} {
			if got, err := Taken(tx, schema.CredentialGates, k, c.fence, c.edge, c.evidence); got != c.want || err != nil {
				t.Errorf("%s at %d: %v, %v", c.edge, c.fence, got, err)
			}
		}
		return nil
	})
}
