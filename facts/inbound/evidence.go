package inbound

import "connectorcore/machines"

// The evidence that the ledgers of the inbound chain keep of each transition. A field is never removed or moved; another
// shape is another version.

// Completed is what the ledger keeps of the Runtime's receipt: the correlation, never the result itself.
type Completed struct {
	Command []byte
	Ref     []byte
	Outcome string
	Result  []byte
	Receipt []byte
}

// Proof is the Runtime's receipt.
func (Completed) Proof() machines.Proof { return machines.ExecutionComplete.Proof() }

// Version is 1.
func (Completed) Version() uint16 { return 1 }

// Materialized is what the ledger keeps of a materialization.
type Materialized struct{ Components uint64 }

// Proof is that every component has its row.
func (Materialized) Proof() machines.Proof { return machines.ReceiptMaterialize.Proof() }

// Version is 1.
func (Materialized) Version() uint16 { return 1 }

// Taken is what the ledgers of a lane and of a Projection keep of an execution that takes the lane.
type Taken struct{ Lane, Projection, Execution, Position, TieBreaker []byte }

// Proof is that the execution is born in the same transaction.
func (Taken) Proof() machines.Proof { return machines.ProjectionMint.Proof() }

// Version is 1.
func (Taken) Version() uint16 { return 1 }

// Released is what the ledger of a lane keeps of the Runtime's receipt.
type Released struct {
	Execution, Receipt []byte
	Outcome            string
}

// Proof is the Runtime's receipt.
func (Released) Proof() machines.Proof { return machines.OrderingLaneRelease.Proof() }

// Version is 1.
func (Released) Version() uint16 { return 1 }

// Superseded names the place that is newer: the execution's that takes the lane, or the high-water.
type Superseded struct{ Lane, Position, TieBreaker []byte }

// Proof is that the lane has taken a greater position, or completed this one.
func (Superseded) Proof() machines.Proof { return machines.ProjectionSupersede.Proof() }

// Version is 1.
func (Superseded) Version() uint16 { return 1 }

// SetAside says why a Projection is set aside.
type SetAside struct {
	Reason string
	Lane   []byte
}

// Proof is a closed reason.
func (SetAside) Proof() machines.Proof { return machines.ProjectionQuarantine.Proof() }

// Version is 1.
func (SetAside) Version() uint16 { return 1 }

// Sealed is what the ledger of a window keeps of its closing.
type Sealed struct {
	Closed     string // what was reached: size, quiet or deadline
	Members    uint64
	Membership []byte // the digest of the ordered members
	Projection []byte // of the window's one input
}

// Proof is that the close policy was reached.
func (Sealed) Proof() machines.Proof { return machines.ProjectionWindowSeal.Proof() }

// Version is 1.
func (Sealed) Version() uint16 { return 1 }

// WindowSetAside says why a window makes no input.
type WindowSetAside struct {
	Reason     string
	Closed     string
	Members    uint64
	Membership []byte
}

// Proof is a closed reason.
func (WindowSetAside) Proof() machines.Proof { return machines.ProjectionWindowQuarantine.Proof() }

// Version is 1.
func (WindowSetAside) Version() uint16 { return 1 }

// Unmet names a dependency that is not met: one that makes an execution wait.
type Unmet struct{ Dependency []byte }

// Proof is that it waits.
func (Unmet) Proof() machines.Proof { return machines.ExecutionWait.Proof() }

// Version is 1.
func (Unmet) Version() uint16 { return 1 }

// Resumed names the dependency that was satisfied last.
type Resumed struct{ Dependency []byte }

// Proof is that each dependency of the execution is satisfied.
func (Resumed) Proof() machines.Proof { return machines.ExecutionResume.Proof() }

// Version is 1.
func (Resumed) Version() uint16 { return 1 }

// DependencyFailed says which dependency of an execution failed, and how.
type DependencyFailed struct {
	Execution, Dependency []byte
	Reason                string
}

// Proof is that a dependency expired or was rejected.
func (DependencyFailed) Proof() machines.Proof { return machines.ExecutionQuarantineWaiting.Proof() }

// Version is 1.
func (DependencyFailed) Version() uint16 { return 1 }

// Satisfied names the event that was found completed.
type Satisfied struct{ Event []byte }

// Proof is that the required fact exists.
func (Satisfied) Proof() machines.Proof { return machines.ExecutionDependencySatisfy.Proof() }

// Version is 1.
func (Satisfied) Version() uint16 { return 1 }

// Expired names the event that was not completed, and when by the database's time that was found, in microseconds.
type Expired struct {
	Event []byte
	Found int64
}

// Proof is that the deadline had passed in the transaction that found the requirement unmet.
func (Expired) Proof() machines.Proof { return machines.ExecutionDependencyExpire.Proof() }

// Version is 1.
func (Expired) Version() uint16 { return 1 }

// Rejected names the event that can never be completed.
type Rejected struct{ Event []byte }

// Proof is that the required fact can never exist.
func (Rejected) Proof() machines.Proof { return machines.ExecutionDependencyReject.Proof() }

// Version is 1.
func (Rejected) Version() uint16 { return 1 }
