package facts

import "connectorcore/machines"

// HeadKey is the exact key of a head: its account, then its subject, so that "what is still open on this account" is
// one range of the primary key.
type HeadKey[K any] struct {
	Account AccountID
	Subject ID[K]
}

// The keys of the heads.
type (
	WindowKey     = HeadKey[windowKind]
	ExecutionKey  = HeadKey[executionKind]
	DependencyKey = HeadKey[dependencyKind]
	EffectKey     = HeadKey[effectKind]
	PermitKey     = HeadKey[permitKind]
	LinkKey       = HeadKey[linkKind]
)

// ProjectionWindow is the birth of a window. Grouping is the digest of epoch, route and canonical grouping key.
//
// Spec: Inbound facts.
type ProjectionWindow struct {
	ID       WindowID
	Account  AccountID
	Epoch    EpochID
	Grouping Digest
}

// WindowHead is an open window. There is at most one for a grouping.
type WindowHead struct {
	Account  AccountID
	Window   WindowID
	Grouping Digest
}

// Execution is the birth of one immutable execution generation of a Projection.
//
// Spec: Inbound facts.
type Execution struct {
	ID         ExecutionID
	Account    AccountID
	Projection ProjectionID
	Epoch      EpochID
}

// ExecutionHead is an execution that has not ended. There is at most one for a Projection.
type ExecutionHead struct {
	Account    AccountID
	Execution  ExecutionID
	Projection ProjectionID
}

// ExecutionDependency is the birth of a requirement of an execution. Its deadline never moves.
//
// Spec: Inbound facts.
type ExecutionDependency struct {
	ID        DependencyID
	Account   AccountID
	Execution ExecutionID
	Deadline  Instant
}

// DependencyHead is a requirement that still waits.
type DependencyHead struct {
	Account    AccountID
	Dependency DependencyID
	Execution  ExecutionID
}

// ApplicationResult is the Runtime's one terminal answer to a command under an exact ExecutionRef.
//
// Spec: Runtime-owned result.
type ApplicationResult struct {
	Command      CommandID
	Account      AccountID
	Execution    ExecutionID
	ExecutionRef Digest
	Outcome      machines.ApplicationResultState
	Result       Digest
}
