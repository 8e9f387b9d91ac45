package serving

import "connectorcore/facts"

// Name is an owner's own name of a generation or of a line of them: a canonical key of 1 to 512 bytes.
type Name = facts.OwnerName

// Generation is one immutable generation of one owner, as the reference owners store it.
//
// Spec: Ownership boundaries; Existing foundations and schema ownership ("deterministic, byte-stable receipt").
type Generation struct {
	ID        GenerationDigest // derived from scope, owner and name
	Scope     Scope
	Owner     Owner
	Name      Name
	Selector  SelectorDigest // the line to which it belongs
	Protocol  facts.Protocol // how the owner wrote the canonical bytes
	Digest    facts.Digest   // the owner's own digest of the canonical bytes
	Canonical Opaque
	Receipt   Receipt
}

// Standing is whether a generation can be read. The greatest seq of a generation is its present standing.
type Standing struct {
	Generation GenerationDigest
	Seq        uint64 // from 1
	Present    bool   // false: removed by its owner
}

// Selection is which generation of a line is current. The greatest seq of a line is its present selection.
type Selection struct {
	Selector   SelectorDigest
	Seq        uint64 // from 1
	Generation GenerationDigest
}

// Reference says that an epoch froze an owner's exact generation. Until that epoch is rejected or retired the
// generation cannot be removed.
type Reference struct {
	Generation GenerationDigest
	Epoch      facts.EpochID
}

// Barrier is the birth of an owner's publication barrier in a scope.
type Barrier struct {
	ID     facts.OwnerBarrierID
	Digest facts.Digest // of scope and owner; the id is cut from it
	Scope  Scope
	Owner  Owner
}

// BarrierGuard is what an owner's barrier carries beside state and fence: who holds it. All of it is zero while the
// barrier is open.
type BarrierGuard struct {
	Barrier facts.OwnerBarrierID
	Attempt facts.ActivationAttemptID
	Holder  facts.Fence // the coordinator's own fence; a lower one is stale
	HeldAt  facts.Fence // the barrier's fence that the hold consumed; it stays the same through a take-over
}

// BarrierHold says that an activation attempt came to an owner's barrier. It holds it once at most: after its release
// the attempt is over there, so that a request which was on its way cannot close the barrier again.
type BarrierHold struct {
	Barrier facts.OwnerBarrierID
	Attempt facts.ActivationAttemptID
}
