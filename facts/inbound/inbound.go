// Package inbound holds the facts and heads of the inbound chain, from the admission key of a delivery to the
// application's result.
//
// Spec: Inbound facts; Runtime-owned result.
package inbound

import (
	"connectorcore/facts"
	"connectorcore/machines"
)

// Execution is the birth of one immutable execution generation of a Projection.
//
// Spec: Inbound facts.
type Execution struct {
	ID         facts.ExecutionID
	Account    facts.AccountID
	Projection facts.ProjectionID
	Epoch      facts.EpochID
	Ref        facts.ExecutionRefDigest // everything that its command says of it
	Lane       facts.LaneID             // the lane that it has taken; zero for an order-independent route
}

// ExecutionHead is an execution that has not ended. There is at most one for a Projection.
//
// Attempt is the ordinal of the last claim, zero before the first one. Holder has the execution until Due; without a
// holder it may be claimed from Due on.
type ExecutionHead struct {
	Account    facts.AccountID
	Execution  facts.ExecutionID
	Projection facts.ProjectionID
	Attempt    uint64
	Holder     facts.HolderID
	Due        facts.Instant
}

// ApplicationResult is the Runtime's one terminal answer to a command under an exact ExecutionRef.
//
// Spec: Runtime-owned result.
type ApplicationResult struct {
	Command      facts.CommandID
	Account      facts.AccountID
	Execution    facts.ExecutionID
	ExecutionRef facts.Digest
	Outcome      machines.ApplicationResultState
	Result       facts.Digest
	Payload      []byte // the application's own answer, whose digest Result is; the Runtime keeps it, no fact of ours does
}
