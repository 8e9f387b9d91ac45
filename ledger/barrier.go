package ledger

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var (
	kindHold    = txn.NewKind("hold owner barriers")
	kindRelease = txn.NewKind("release owner barriers")
)

// BarrierAsk is what an activation attempt asks of one owner's publication barrier.
type BarrierAsk struct {
	Scope   serving.Scope
	Owner   serving.Owner
	Attempt facts.ActivationAttemptID
	Fence   facts.Fence // the coordinator's own; a lower one than the last is stale
}

// BarrierVerdict is where the barrier stands for one ask: what it carries, or why the ask was refused.
type BarrierVerdict struct {
	Barrier serving.BarrierGuard
	Refusal *facts.Refusal
}

// barrierBody is what the ledger keeps of a hold or a release.
type barrierBody struct {
	proof   machines.Proof
	Attempt string
	Holder  uint64
}

// Proof is that of the edge.
func (b barrierBody) Proof() machines.Proof { return b.proof }

// Version is 1.
func (barrierBody) Version() uint16 { return 1 }

type (
	barrierGuards = txn.Guards[facts.OwnerBarrierID, serving.BarrierGuard, machines.OwnerPublicationBarrierState, machines.OwnerPublicationBarrierEdge]
	barrierGuard  = txn.Guard[serving.BarrierGuard, machines.OwnerPublicationBarrierState]
	barrierStep   = txn.Step[facts.OwnerBarrierID, serving.BarrierGuard, machines.OwnerPublicationBarrierEdge]
)

// HoldBarriers lets activation attempts hold owners' publication barriers. A later coordinator of the holding attempt
// takes over, and from then on the earlier one is stale.
//
// Locks:   owner barriers.
// Refuses: SubjectMissing, PublicationBarred, StaleHolder, SubjectEnded (per ask).
// Unknown: ask again with the same attempt and fence.
//
// INVARIANT: an attempt that was released is never held again, because the row that says that it came is written with
// its hold, or by its release if that comes first.
func (l *Ledger) HoldBarriers(ctx context.Context, asks []BarrierAsk) ([]BarrierVerdict, error) {
	return l.moveBarriers(ctx, kindHold, asks, decideHold)
}

// ReleaseBarriers opens owners' publication barriers that the attempts hold. One that the attempt held before, or never
// came to, is as good as released: the attempt is over there.
//
// Locks:   owner barriers.
// Refuses: SubjectMissing, StaleHolder (per ask).
// Unknown: ask again with the same attempt and fence.
func (l *Ledger) ReleaseBarriers(ctx context.Context, asks []BarrierAsk) ([]BarrierVerdict, error) {
	return l.moveBarriers(ctx, kindRelease, asks, decideRelease)
}

// barrierDecision is what one ask does: edges to take and what the guard carries then, and whether the attempt's
// coming is recorded.
type barrierDecision struct {
	verdict BarrierVerdict
	edges   []machines.OwnerPublicationBarrierEdge
	comes   bool
}

type decideBarrier func(ask BarrierAsk, guard barrierGuard, came bool) barrierDecision

func decideHold(ask BarrierAsk, guard barrierGuard, came bool) barrierDecision {
	subject := facts.OfOwner(ask.Owner.String(), guard.Row.Barrier)
	taken := guard.Row
	taken.Attempt, taken.Holder = ask.Attempt, ask.Fence
	held := guard.State == machines.OwnerPublicationBarrierHeld
	switch {
	case held && guard.Row.Attempt != ask.Attempt:
		return refusedBarrier(facts.Refuse(facts.PublicationBarred, subject, "activation attempt %s holds it", guard.Row.Attempt))
	case held && ask.Fence < guard.Row.Holder:
		return refusedBarrier(facts.Refuse(facts.StaleHolder, subject, "the coordinator's fence is %d, and %d has come", ask.Fence, guard.Row.Holder))
	case held && ask.Fence == guard.Row.Holder:
		return barrierDecision{verdict: BarrierVerdict{Barrier: guard.Row}}
	case held:
		return barrierDecision{verdict: BarrierVerdict{Barrier: taken},
			edges: []machines.OwnerPublicationBarrierEdge{machines.OwnerPublicationBarrierRelease, machines.OwnerPublicationBarrierHold}}
	case came:
		return refusedBarrier(facts.Refuse(facts.SubjectEnded, subject, "activation attempt %s was released here; a new attempt has a new id", ask.Attempt))
	}
	taken.HeldAt = guard.Fence
	return barrierDecision{verdict: BarrierVerdict{Barrier: taken}, comes: true,
		edges: []machines.OwnerPublicationBarrierEdge{machines.OwnerPublicationBarrierHold}}
}

func decideRelease(ask BarrierAsk, guard barrierGuard, came bool) barrierDecision {
	if guard.State != machines.OwnerPublicationBarrierHeld || guard.Row.Attempt != ask.Attempt {
		return barrierDecision{verdict: BarrierVerdict{Barrier: guard.Row}, comes: !came}
	}
	if ask.Fence < guard.Row.Holder {
		return refusedBarrier(facts.Refuse(facts.StaleHolder, facts.OfOwner(ask.Owner.String(), guard.Row.Barrier),
			"the coordinator's fence is %d, and %d has come", ask.Fence, guard.Row.Holder))
	}
	released := guard.Row
	released.Holder = ask.Fence
	return barrierDecision{verdict: BarrierVerdict{Barrier: released}, edges: []machines.OwnerPublicationBarrierEdge{machines.OwnerPublicationBarrierRelease}}
}

func refusedBarrier(refusal *facts.Refusal) barrierDecision {
	return barrierDecision{verdict: BarrierVerdict{Refusal: refusal}}
}

func (l *Ledger) moveBarriers(ctx context.Context, kind *txn.Kind, asks []BarrierAsk, decide decideBarrier) ([]BarrierVerdict, error) {
	keys, err := barrierKeys(asks)
	if err != nil {
		return nil, err
	}
	return txn.Batch(ctx, l.db, kind, asks, func(tx *txn.Tx) ([]BarrierVerdict, error) {
		guards, err := txn.Lock(tx, schema.OwnerBarrierGuards, keys)
		if err != nil {
			return nil, err
		}
		came, err := cameBefore(tx, asks, keys)
		if err != nil {
			return nil, err
		}
		verdicts := make([]BarrierVerdict, len(asks))
		var steps []barrierStep
		var comes []serving.BarrierHold
		for i, ask := range asks {
			guard, born := guards.Find(keys[i])
			if !born {
				verdicts[i].Refusal = facts.Refuse(facts.SubjectMissing, facts.OfOwner(ask.Owner.String(), keys[i]), "no deployment was founded with scope %s", ask.Scope)
				continue
			}
			hold := serving.BarrierHold{Barrier: keys[i], Attempt: ask.Attempt}
			decision := decide(ask, guard, came[hold])
			verdicts[i] = decision.verdict
			if decision.comes {
				comes = append(comes, hold)
			}
			more, err := barrierSteps(ask, decision)
			if err != nil {
				return nil, err
			}
			steps = append(steps, more...)
		}
		if len(steps) == 0 && len(comes) == 0 {
			return verdicts, nil
		}
		loaded, err := txn.Load(tx, schema.OwnerBarrierHolds, comes)
		if err != nil {
			return nil, err
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return verdicts, tx.Apply(txn.Append(loaded), txn.Move(guards, steps))
	})
}

// barrierKeys are the barriers of the asks. One barrier twice in one call would be two decisions about one guard.
func barrierKeys(asks []BarrierAsk) ([]facts.OwnerBarrierID, error) {
	author, err := serving.AuthorOf(facts.ProfileV2)
	if err != nil {
		return nil, err
	}
	keys := make([]facts.OwnerBarrierID, len(asks))
	seen := map[facts.OwnerBarrierID]bool{}
	for i, ask := range asks {
		keys[i] = author.Barrier(ask.Scope, ask.Owner).ID
		if keys[i].IsZero() || ask.Attempt.IsZero() || ask.Fence == 0 || seen[keys[i]] {
			return nil, errors.AssertionFailedf("ask %d for the barrier of %s is incomplete, or stands twice", i, ask.Owner)
		}
		seen[keys[i]] = true
	}
	return keys, nil
}

// cameBefore tells which of the asking attempts have come to their barriers.
func cameBefore(tx *txn.Tx, asks []BarrierAsk, keys []facts.OwnerBarrierID) (map[serving.BarrierHold]bool, error) {
	holds := make([]serving.BarrierHold, len(asks))
	for i, ask := range asks {
		holds[i] = serving.BarrierHold{Barrier: keys[i], Attempt: ask.Attempt}
	}
	there, err := txn.Children(tx, schema.OwnerBarrierHolds, holds, 2)
	came := map[serving.BarrierHold]bool{}
	for _, hold := range there {
		came[hold] = true
	}
	return came, err
}

func barrierSteps(ask BarrierAsk, decision barrierDecision) ([]barrierStep, error) {
	var steps []barrierStep
	for _, edge := range decision.edges {
		evidence, err := facts.Prove(barrierBody{edge.Proof(), ask.Attempt.String(), uint64(ask.Fence)})
		if err != nil {
			return nil, err
		}
		steps = append(steps, barrierStep{Key: decision.verdict.Barrier.Barrier, Edge: edge, Evidence: evidence, Row: &decision.verdict.Barrier})
	}
	return steps, nil
}
