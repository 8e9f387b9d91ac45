package facts

import "time"

// EpochRef names one exact ServingEpoch: its id and the digest of its complete preimage. The zero EpochRef is the
// absence of an epoch.
type EpochRef struct {
	ID     EpochID
	Digest Digest
}

// IsZero tells whether no epoch is named.
func (r EpochRef) IsZero() bool { return r == EpochRef{} }

// AccountServingGate is the birth of an account's gate. A gate is born once and nobody can delete it.
//
// Spec: Ownership boundaries, "V2 account admission and protocol mode".
type AccountServingGate struct {
	Account    AccountID
	Deployment DeploymentID
}

// Gate is what an account's gate carries beside its mode and fence: the epoch under which it serves, none before the
// first activation.
type Gate struct {
	Account AccountID
	Epoch   EpochRef
}

// ServingEpoch is the immutable identity of one frozen generation. The account shares that belong to it are counted
// and digested here, so that a transition which locks them all knows that it has them all (R07).
//
// Spec: Ownership boundaries, "Verified execution generation".
type ServingEpoch struct {
	ID           EpochID
	Profile      Profile
	Digest       Digest
	ShareCount   uint64
	SharesDigest Digest
}

// EpochGuard is the guard of an epoch's state.
type EpochGuard struct{ Epoch EpochID }

// EpochShare is one account's share of an epoch: a production transaction holds its own account's share, a
// transition of the epoch holds them all (R07).
type EpochShare struct {
	Epoch   EpochID
	Account AccountID
}

// CredentialGenerationDispatchGate is the birth of the dispatch gate of one immutable credential generation.
//
// Spec: Ownership boundaries, "Credential dispatch eligibility".
type CredentialGenerationDispatchGate struct{ Generation CredentialGenerationID }

// CredentialGate is the guard of a credential generation's eligibility.
type CredentialGate struct{ Generation CredentialGenerationID }

// ServingPublicationBarrierSet is the birth of the evidence that one activation attempt holds every owner's barrier.
//
// Spec: Ownership boundaries, "Activation-time external-owner freeze".
type ServingPublicationBarrierSet struct {
	ID      BarrierSetID
	Scope   Digest
	Attempt ActivationAttemptID
}

// BarrierSetGuard is what a barrier set carries beside its state and fence.
type BarrierSetGuard struct {
	BarrierSet BarrierSetID
	OpenScope  Digest // the scope while the set is not released, zero from then on: one set of a scope at a time
	Holder     Fence  // of the attempt's present coordinator; it only rises, and every other one is stale
}

// Instant is a point in the database's time, to the microsecond that it stores.
type Instant = time.Time
