package ledger

import (
	"context"

	"connectorcore/facts"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var kindReleaseSet = txn.NewKind("release barrier set")

// Activated is the epoch that an attempt activated, or may have, with its whole account set in ascending order. The zero
// Activated is none.
type Activated struct {
	Epoch    facts.EpochRef
	Accounts []facts.AccountID
}

// abortBody is what the ledger keeps of an attempt that was given up. A conformance deployment has no cutover decision:
// its local state stands for it.
type abortBody struct {
	proof   machines.Proof
	Attempt string
	Holder  uint64
}

// Proof is that of the edge.
func (b abortBody) Proof() machines.Proof { return b.proof }

// Version is 1.
func (abortBody) Version() uint16 { return 1 }

// readBackBody is what the ledger keeps of a readback.
type readBackBody struct {
	Attempt string
	Holder  uint64
	Epoch   string
	Digest  []byte
	Gates   uint64
}

// Proof is that the activation was read back.
func (readBackBody) Proof() machines.Proof {
	return machines.ServingPublicationBarrierSetReleaseAfterReadback.Proof()
}

// Version is 1.
func (readBackBody) Version() uint16 { return 1 }

// ReleaseBarrierSet ends a barrier set by the proof that fits where it stands. Before an activation was committed, the
// attempt is given up. After that, this very transaction reads back, under all their locks, that the epoch is active and
// every gate serves under exactly it; until that is seen, the set stays. The owners' own barriers are released after it.
//
// A coordinator that does not know whether its activation was committed names what it would have activated: the state
// of the set, under its lock, says which it is.
//
// Locks:   gates, epoch and shares of what was activated, then the barrier set.
// Refuses: SubjectMissing, ShareSetDiffers, EpochMismatch, ContentDiffers, StaleHolder, WrongState (an activation was
// committed, of an epoch that was not named), EpochNotActive, NotServing. Nothing is written then.
// Unknown: release it again.
//
// Spec: State machines ("release only after exact activation readback"); rule R39.
func (l *Ledger) ReleaseBarrierSet(ctx context.Context, c Coordinator, activated Activated) (BarrierSetStanding, error) {
	if err := c.complete(); err != nil {
		return BarrierSetStanding{}, err
	}
	return txn.Run(ctx, l.db, kindReleaseSet, func(tx *txn.Tx) (BarrierSetStanding, error) {
		readback, err := activated.lock(tx)
		if err != nil {
			return BarrierSetStanding{}, err
		}
		guards, guard, err := c.lockSet(tx)
		if err != nil {
			return BarrierSetStanding{}, err
		}
		if err := c.holds(guard); err != nil || guard.State == releasedState {
			return standingSet(guard), err
		}
		edge, evidence, err := c.proveRelease(tx, guard, activated, readback)
		if err != nil {
			return BarrierSetStanding{}, err
		}
		guard.State, guard.Fence, guard.Row.OpenScope = edge.To(), guard.Fence+1, facts.Digest{}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return standingSet(guard), tx.Apply(txn.Move(guards, []setStep{{Key: c.Set, Edge: edge, Evidence: evidence, Row: &guard.Row}}))
	})
}

// readback is what an activation left, held by this transaction: why it is not all there, if it is not.
type readback struct{ fault error }

// lock locks what was activated, in the order of the ranks, and reads it back. Nothing is locked for the zero Activated.
func (a Activated) lock(tx *txn.Tx) (readback, error) {
	if a.Epoch.IsZero() {
		return readback{}, nil
	}
	gates, err := txn.Lock(tx, schema.Gates, a.Accounts)
	if err != nil {
		return readback{}, err
	}
	epochs, err := txn.LockEpochs(tx, []facts.EpochID{a.Epoch.ID})
	if err != nil {
		return readback{}, err
	}
	prepared, err := preparedEpoch(tx, a.Epoch)
	if err != nil {
		return readback{}, err
	}
	if err := exactly(prepared, a.Accounts); err != nil {
		return readback{}, err
	}
	epoch, _ := epochs.Find(a.Epoch.ID)
	if epoch.State != machines.ServingEpochActive {
		return readback{facts.Refuse(facts.EpochNotActive, facts.OfEpoch(a.Epoch.ID), "it is %s", epoch.State)}, nil
	}
	for _, account := range a.Accounts {
		gate, _ := gates.Find(account)
		switch {
		case gate.State != machines.AccountServingGateV2Serving:
			return readback{facts.Refuse(facts.NotServing, facts.OfAccount(account), "its gate is in %s", gate.State)}, nil
		case gate.Row.Epoch != a.Epoch:
			return readback{facts.Refuse(facts.EpochMismatch, facts.OfAccount(account), "its gate names epoch %s", gate.Row.Epoch.ID)}, nil
		}
	}
	return readback{}, nil
}

// proveRelease chooses the edge by the state in which the set stands under its lock, never by what the caller believes.
func (c Coordinator) proveRelease(tx *txn.Tx, guard setGuard, activated Activated, seen readback) (setEdge, facts.Evidence, error) {
	edge := machines.ServingPublicationBarrierSetReleaseAcquiringOpen
	switch guard.State {
	case machines.ServingPublicationBarrierSetHeld:
		edge = machines.ServingPublicationBarrierSetReleaseHeldOpen
	case machines.ServingPublicationBarrierSetActivationCommitted:
		edge = machines.ServingPublicationBarrierSetReleaseAfterReadback
		if err := c.committed(tx, guard, activated); err != nil {
			return edge, facts.Evidence{}, err
		}
		if seen.fault != nil {
			return edge, facts.Evidence{}, seen.fault
		}
		evidence, err := facts.Prove(readBackBody{c.Attempt.String(), uint64(c.Fence), activated.Epoch.ID.String(), activated.Epoch.Digest[:], uint64(len(activated.Accounts))})
		return edge, evidence, err
	}
	if edge.From() != guard.State {
		return edge, facts.Evidence{}, errors.AssertionFailedf("no release leaves %s", guard.State)
	}
	evidence, err := facts.Prove(abortBody{edge.Proof(), c.Attempt.String(), uint64(c.Fence)})
	return edge, evidence, err
}

// committed refuses unless the activation that the set committed is of exactly this epoch.
func (c Coordinator) committed(tx *txn.Tx, guard setGuard, activated Activated) error {
	evidence, err := c.proveActivation(commitEdge.Proof(), activated.Epoch)
	if err != nil {
		return err
	}
	same, err := txn.Taken(tx, schema.BarrierSets, c.Set, guard.Fence-1, commitEdge, evidence)
	if err != nil || same {
		return err
	}
	return facts.Refuse(facts.WrongState, facts.OfBarrier(c.Set), "an activation was committed, and not of epoch %q; name the one that was activated, so that it is read back", activated.Epoch.ID)
}
