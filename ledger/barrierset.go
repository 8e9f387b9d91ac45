package ledger

import (
	"context"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var (
	kindOpenSet   = txn.NewKind("open barrier set")
	kindReceipts  = txn.NewKind("record barrier receipts")
	kindHoldSet   = txn.NewKind("hold barrier set")
	kindTakeOver  = txn.NewKind("take over barrier set")
	holdEdge      = machines.ServingPublicationBarrierSetHold
	commitEdge    = machines.ServingPublicationBarrierSetCommitActivation
	releasedState = machines.ServingPublicationBarrierSetReleased
)

// Coordinator is who carries out an activation attempt: a barrier set, and the fence of the process that coordinates it
// now. A process that takes over has a greater fence, and from then on every other one is stale, for good. Time does
// nothing to a barrier set.
//
// INVARIANT: no two processes have one fence of one attempt. The first is 1 and belongs to whoever minted the set's id;
// every other one is given by TakeOverBarrierSet, which never gives one twice. So a call with the present fence is the
// same process asking again.
//
// REQUIRES: who did not mint the set's id takes over before it asks anything else.
//
// Spec: Ownership boundaries ("The barrier set is crash-recoverable rather than lease-healed").
type Coordinator struct {
	Set     facts.BarrierSetID
	Scope   serving.Scope
	Attempt facts.ActivationAttemptID
	Fence   facts.Fence
}

// BarrierSetStanding is where a barrier set stands after a transaction.
type BarrierSetStanding struct {
	Set    facts.BarrierSetID
	Holder facts.Fence
	State  machines.ServingPublicationBarrierSetState
	Fence  facts.Fence
}

type (
	setEdge   = machines.ServingPublicationBarrierSetEdge
	setGuards = txn.Guards[facts.BarrierSetID, facts.BarrierSetGuard, machines.ServingPublicationBarrierSetState, setEdge]
	setGuard  = txn.Guard[facts.BarrierSetGuard, machines.ServingPublicationBarrierSetState]
	setStep   = txn.Step[facts.BarrierSetID, facts.BarrierSetGuard, setEdge]
)

// firstFence is the fence of the coordinator that opens a set.
const firstFence facts.Fence = 1

func (c Coordinator) fact() facts.ServingPublicationBarrierSet {
	return facts.ServingPublicationBarrierSet{ID: c.Set, Scope: c.Scope.Digest, Attempt: c.Attempt}
}

func (c Coordinator) complete() error {
	if c.Set.IsZero() || c.Scope.IsZero() || c.Attempt.IsZero() || c.Fence == 0 {
		return errors.AssertionFailedf("a coordinator without a set, a scope, an attempt or a fence: %+v", c)
	}
	return nil
}

func standingSet(guard setGuard) BarrierSetStanding {
	return BarrierSetStanding{guard.Row.BarrierSet, guard.Row.Holder, guard.State, guard.Fence}
}

// lockSet locks the coordinator's barrier set.
//
// Refuses: SubjectMissing, ContentDiffers (it is of another scope or attempt).
func (c Coordinator) lockSet(tx *txn.Tx) (*setGuards, setGuard, error) {
	guards, err := txn.Lock(tx, schema.BarrierSets, []facts.BarrierSetID{c.Set})
	if err != nil {
		return nil, setGuard{}, err
	}
	guard, born := guards.Find(c.Set)
	if !born {
		return nil, guard, facts.Refuse(facts.SubjectMissing, facts.OfBarrier(c.Set), "")
	}
	fact, _, err := txn.ReadOne(tx, schema.ServingPublicationBarrierSets, func(s *facts.ServingPublicationBarrierSet) { s.ID = c.Set })
	if err != nil {
		return nil, guard, err
	}
	if fact != c.fact() {
		return nil, guard, facts.Refuse(facts.ContentDiffers, facts.OfBarrier(c.Set), "it is of attempt %s and scope %s", fact.Attempt, fact.Scope)
	}
	return guards, guard, nil
}

// holds refuses every coordinator but the present one.
func (c Coordinator) holds(guard setGuard) error {
	if guard.Row.Holder == c.Fence {
		return nil
	}
	return facts.Refuse(facts.StaleHolder, facts.OfBarrier(c.Set), "its coordinator's fence is %d, and this one's %d", guard.Row.Holder, c.Fence)
}

func (c Coordinator) ended(guard setGuard) error {
	if guard.State != releasedState {
		return nil
	}
	return facts.Refuse(facts.SubjectEnded, facts.OfBarrier(c.Set), "it was released; a new attempt has a new set")
}

// OpenBarrierSet makes the barrier set of an activation attempt, in acquiring, before the attempt asks any owner. A scope
// has one set at a time that is not released.
//
// Locks:   owner barriers, barrier set.
// Refuses: SubjectMissing (the scope), ContentDiffers, StaleHolder, SubjectEnded, WrongState (another set of the scope is
// not released, and is named). Nothing is written then.
// Unknown: open the same again.
func (l *Ledger) OpenBarrierSet(ctx context.Context, c Coordinator) (BarrierSetStanding, error) {
	if err := c.complete(); err != nil {
		return BarrierSetStanding{}, err
	}
	return txn.Run(ctx, l.db, kindOpenSet, func(tx *txn.Tx) (BarrierSetStanding, error) {
		if _, err := lockOwners(tx, c.Scope); err != nil {
			return BarrierSetStanding{}, err
		}
		guards, err := txn.Lock(tx, schema.BarrierSets, []facts.BarrierSetID{c.Set})
		if err != nil {
			return BarrierSetStanding{}, err
		}
		loaded, err := txn.Load(tx, schema.ServingPublicationBarrierSets, []facts.ServingPublicationBarrierSet{c.fact()})
		if err != nil {
			return BarrierSetStanding{}, err
		}
		if guard, born := guards.Find(c.Set); born {
			if loaded.Match(0) == txn.Different {
				return BarrierSetStanding{}, facts.Refuse(facts.ContentDiffers, facts.OfBarrier(c.Set), "it is of another attempt or scope")
			}
			if err := c.holds(guard); err != nil {
				return BarrierSetStanding{}, err
			}
			return standingSet(guard), c.ended(guard)
		}
		other, open, err := txn.FindBy(tx, schema.BarrierSets.Table, schema.BarrierSets.Fields, schema.ColumnOpenScope, c.Scope.Digest)
		switch {
		case err != nil:
			return BarrierSetStanding{}, err
		case open:
			return BarrierSetStanding{}, facts.Refuse(facts.WrongState, facts.OfBarrier(other.BarrierSet),
				"it is not released, and scope %s has one set at a time", c.Scope)
		case c.Fence != firstFence:
			return BarrierSetStanding{}, errors.AssertionFailedf("barrier set %s is opened at fence %d, and only a take-over gives another one than %d", c.Set, c.Fence, firstFence)
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return BarrierSetStanding{c.Set, c.Fence, machines.ServingPublicationBarrierSetAcquiring, 1},
			tx.Apply(txn.Born(loaded, schema.BarrierSets, func(s facts.ServingPublicationBarrierSet) facts.BarrierSetGuard {
				return facts.BarrierSetGuard{BarrierSet: s.ID, OpenScope: s.Scope, Holder: c.Fence}
			}))
	})
}

// RecordBarrierReceipts keeps what owners answered when they let the attempt hold their barriers, one receipt an owner.
//
// Locks:   barrier set.
// Refuses: SubjectMissing, ContentDiffers, StaleHolder, SubjectEnded, BarrierReceiptDiffers (an owner has another receipt
// here). Nothing is written then.
// Unknown: record the same again.
func (l *Ledger) RecordBarrierReceipts(ctx context.Context, c Coordinator, receipts []serving.BarrierReceipt) (BarrierSetStanding, error) {
	if err := c.complete(); err != nil {
		return BarrierSetStanding{}, err
	}
	for _, r := range receipts {
		if r.Set != c.Set || !slices.Contains(serving.Owners(), r.Owner) || r.Fence == 0 || r.Receipt.Protocol.IsZero() || r.Receipt.Bytes.IsZero() || r.Receipt.Digest.IsZero() {
			return BarrierSetStanding{}, errors.AssertionFailedf("the receipt of %s is incomplete, or not for barrier set %s", r.Owner, c.Set)
		}
	}
	return txn.Run(ctx, l.db, kindReceipts, func(tx *txn.Tx) (BarrierSetStanding, error) {
		_, guard, err := c.lockSet(tx)
		if err != nil {
			return BarrierSetStanding{}, err
		}
		if err := c.holds(guard); err != nil {
			return BarrierSetStanding{}, err
		}
		if err := c.ended(guard); err != nil {
			return BarrierSetStanding{}, err
		}
		loaded, err := txn.Load(tx, schema.BarrierReceipts, receipts)
		if err != nil {
			return BarrierSetStanding{}, err
		}
		missing := false
		for i, r := range receipts {
			if loaded.Match(i) == txn.Different {
				return BarrierSetStanding{}, facts.Refuse(facts.BarrierReceiptDiffers, facts.OfBarrier(c.Set), "the one of %s", r.Owner)
			}
			missing = missing || loaded.Match(i) == txn.Missing
		}
		if !missing {
			return standingSet(guard), nil
		}
		if guard.State != machines.ServingPublicationBarrierSetAcquiring {
			return BarrierSetStanding{}, errors.AssertionFailedf("barrier set %s is %s and lacks a receipt", c.Set, guard.State)
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return standingSet(guard), tx.Apply(txn.Append(loaded))
	})
}

// HoldBarrierSet says that every owner's barrier is held, which is proved by their seven receipts.
//
// Locks:   barrier set.
// Refuses: SubjectMissing, ContentDiffers, StaleHolder, SubjectEnded, BarrierNotHeld (receipts are missing, and are named).
// Unknown: hold it again.
func (l *Ledger) HoldBarrierSet(ctx context.Context, c Coordinator) (BarrierSetStanding, error) {
	if err := c.complete(); err != nil {
		return BarrierSetStanding{}, err
	}
	return txn.Run(ctx, l.db, kindHoldSet, func(tx *txn.Tx) (BarrierSetStanding, error) {
		guards, guard, err := c.lockSet(tx)
		if err != nil {
			return BarrierSetStanding{}, err
		}
		if err := c.holds(guard); err != nil {
			return BarrierSetStanding{}, err
		}
		if guard.State != machines.ServingPublicationBarrierSetAcquiring {
			return standingSet(guard), c.ended(guard) // it was held before
		}
		receipts, err := txn.Children(tx, schema.BarrierReceipts, []serving.BarrierReceipt{{Set: c.Set}}, 1)
		if err != nil {
			return BarrierSetStanding{}, err
		}
		evidence, err := c.proveHold(receipts)
		if err != nil {
			return BarrierSetStanding{}, err
		}
		guard.State, guard.Fence = holdEdge.To(), guard.Fence+1
		// Every check is above this line; below it the transaction commits whole or not at all.
		return standingSet(guard), tx.Apply(txn.Move(guards, []setStep{{Key: c.Set, Edge: holdEdge, Evidence: evidence}}))
	})
}

// heldBody is what the ledger keeps of the proof that every owner's barrier is held.
type heldBody struct {
	Attempt  string
	Holder   uint64
	Receipts []heldReceipt
}

type heldReceipt struct {
	Owner  string
	Fence  uint64
	Digest []byte
}

// Proof is that every receipt is there.
func (heldBody) Proof() machines.Proof { return holdEdge.Proof() }

// Version is 1.
func (heldBody) Version() uint16 { return 1 }

// proveHold refuses while an owner's receipt is missing.
func (c Coordinator) proveHold(receipts []serving.BarrierReceipt) (facts.Evidence, error) {
	body := heldBody{Attempt: c.Attempt.String(), Holder: uint64(c.Fence)}
	missing := ""
	for _, owner := range serving.Owners() {
		at := slices.IndexFunc(receipts, func(r serving.BarrierReceipt) bool { return r.Owner == owner })
		if at < 0 {
			missing += " " + owner.String()
			continue
		}
		body.Receipts = append(body.Receipts, heldReceipt{owner.String(), uint64(receipts[at].Fence), receipts[at].Receipt.Digest[:]})
	}
	if missing != "" {
		return facts.Evidence{}, facts.Refuse(facts.BarrierNotHeld, facts.OfBarrier(c.Set), "no receipt of%s", missing)
	}
	return facts.Prove(body)
}

// TakeOverBarrierSet makes the caller the coordinator of an attempt that another process began, and gives it with the
// fence that is its own from now on: one more than the present one, chosen under the set's lock. From then on every
// earlier coordinator is refused, whatever it asks. The set itself does not move. The fence that is handed in is not read.
//
// Locks:   barrier set.
// Refuses: SubjectMissing, ContentDiffers, SubjectEnded.
// Unknown: take over again. That gives a higher fence, which is safe: nobody was told of the fence that may have been
// taken before, so nobody asks with it, and it makes stale only those who are stale by the higher one as well.
func (l *Ledger) TakeOverBarrierSet(ctx context.Context, c Coordinator) (Coordinator, BarrierSetStanding, error) {
	c.Fence = firstFence
	if err := c.complete(); err != nil {
		return Coordinator{}, BarrierSetStanding{}, err
	}
	standing, err := txn.Run(ctx, l.db, kindTakeOver, func(tx *txn.Tx) (BarrierSetStanding, error) {
		guards, guard, err := c.lockSet(tx)
		if err != nil {
			return BarrierSetStanding{}, err
		}
		if err := c.ended(guard); err != nil {
			return BarrierSetStanding{}, err
		}
		guard.Row.Holder++
		// Every check is above this line; below it the transaction commits whole or not at all.
		return standingSet(guard), tx.Apply(txn.Carry(guards, guard.Row))
	})
	if err != nil {
		return Coordinator{}, BarrierSetStanding{}, err
	}
	c.Fence = standing.Holder
	return c, standing, nil
}
