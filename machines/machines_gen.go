// Code generated from machines/tables.txt by machines/internal/generate; DO NOT EDIT.

package machines

import "database/sql/driver"

// Machine names one of the machines of tables.txt. The zero Machine is none.
type Machine uint8

const (
	AccountServingGate               Machine = 1
	ServingEpoch                     Machine = 2
	CredentialGenerationDispatchGate Machine = 3
	ServingPublicationBarrierSet     Machine = 4
	ProjectionWindow                 Machine = 5
	Execution                        Machine = 6
	ExecutionDependency              Machine = 7
	ApplicationResult                Machine = 8
	RemoteEffect                     Machine = 9
	DispatchPermit                   Machine = 10
	RemoteLink                       Machine = 11
	CutoverDecision                  Machine = 12
	OwnerPublicationBarrier          Machine = 13
	Receipt                          Machine = 14
	Projection                       Machine = 15
	OrderingLane                     Machine = 16
)

// AccountServingGateState is a state of AccountServingGate. The zero value is no state.
type AccountServingGateState uint8

const (
	AccountServingGateV1Serving    AccountServingGateState = 1
	AccountServingGateHaltingV1    AccountServingGateState = 2
	AccountServingGateV1Stopped    AccountServingGateState = 3
	AccountServingGateV1Drained    AccountServingGateState = 4
	AccountServingGateV2Validating AccountServingGateState = 5
	AccountServingGateV2Serving    AccountServingGateState = 6
	AccountServingGateHaltingV2    AccountServingGateState = 7
	AccountServingGateV2Halted     AccountServingGateState = 8
)

func (AccountServingGateState) state() {}

// Machine is AccountServingGate.
func (s AccountServingGateState) Machine() Machine { return AccountServingGate }

// String is the state's name in the spec.
func (s AccountServingGateState) String() string { return AccountServingGate.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s AccountServingGateState) Valid() bool { return s >= 1 && s <= 8 }

// Terminal tells whether no edge leaves s.
func (s AccountServingGateState) Terminal() bool { return AccountServingGate.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s AccountServingGateState) Value() (driver.Value, error) {
	return AccountServingGate.stateValue(uint8(s))
}

// Scan reads a stored state and refuses any other bytes.
func (s *AccountServingGateState) Scan(source any) error {
	n, err := AccountServingGate.scanState(source)
	*s = AccountServingGateState(n)
	return err
}

// AccountServingGateEdge is an edge of AccountServingGate. The zero value is no edge.
type AccountServingGateEdge uint8

const (
	// v1_serving -> halting_v1
	AccountServingGateBeginV1Halt AccountServingGateEdge = 1
	// halting_v1 -> v1_serving
	AccountServingGateAbortV1Halt AccountServingGateEdge = 2
	// halting_v1 -> v1_stopped
	AccountServingGateStopV1 AccountServingGateEdge = 3
	// v1_stopped -> v1_drained
	AccountServingGateCertifyV1Drain AccountServingGateEdge = 4
	// v1_drained -> v1_serving
	AccountServingGateColdAbort AccountServingGateEdge = 5
	// v1_drained -> v1_serving
	AccountServingGateResumeRestoredV1 AccountServingGateEdge = 6
	// v1_drained -> v2_validating
	AccountServingGateBeginV2Validation AccountServingGateEdge = 7
	// v2_validating -> v1_drained
	AccountServingGateRestoreV1Point AccountServingGateEdge = 8
	// v2_validating -> v2_serving
	AccountServingGateActivateFirst AccountServingGateEdge = 9
	// v2_serving -> halting_v2
	AccountServingGateBeginV2Halt AccountServingGateEdge = 10
	// halting_v2 -> v2_halted
	AccountServingGateConfirmV2Halt AccountServingGateEdge = 11
	// v2_halted -> v2_serving
	AccountServingGateResumePredecessor AccountServingGateEdge = 12
	// v2_halted -> v2_serving
	AccountServingGateActivateSuccessor AccountServingGateEdge = 13
)

func (AccountServingGateEdge) edge() {}

// Machine is AccountServingGate.
func (e AccountServingGateEdge) Machine() Machine { return AccountServingGate }

// String is the edge's name in tables.txt.
func (e AccountServingGateEdge) String() string { return AccountServingGate.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e AccountServingGateEdge) Valid() bool { return e >= 1 && e <= 13 }

// Proof is what the edge demands.
func (e AccountServingGateEdge) Proof() Proof { return AccountServingGate.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e AccountServingGateEdge) From() AccountServingGateState {
	return AccountServingGateState(AccountServingGate.stateNumber(AccountServingGate.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e AccountServingGateEdge) To() AccountServingGateState {
	return AccountServingGateState(AccountServingGate.stateNumber(AccountServingGate.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e AccountServingGateEdge) Value() (driver.Value, error) {
	return AccountServingGate.edgeValue(uint8(e))
}

// ServingEpochState is a state of ServingEpoch. The zero value is no state.
type ServingEpochState uint8

const (
	ServingEpochPrepared ServingEpochState = 1
	ServingEpochVerified ServingEpochState = 2
	ServingEpochRejected ServingEpochState = 3
	ServingEpochActive   ServingEpochState = 4
	ServingEpochDraining ServingEpochState = 5
	ServingEpochRetired  ServingEpochState = 6
)

func (ServingEpochState) state() {}

// Machine is ServingEpoch.
func (s ServingEpochState) Machine() Machine { return ServingEpoch }

// String is the state's name in the spec.
func (s ServingEpochState) String() string { return ServingEpoch.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s ServingEpochState) Valid() bool { return s >= 1 && s <= 6 }

// Terminal tells whether no edge leaves s.
func (s ServingEpochState) Terminal() bool { return ServingEpoch.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s ServingEpochState) Value() (driver.Value, error) { return ServingEpoch.stateValue(uint8(s)) }

// Scan reads a stored state and refuses any other bytes.
func (s *ServingEpochState) Scan(source any) error {
	n, err := ServingEpoch.scanState(source)
	*s = ServingEpochState(n)
	return err
}

// ServingEpochEdge is an edge of ServingEpoch. The zero value is no edge.
type ServingEpochEdge uint8

const (
	// prepared -> verified
	ServingEpochVerify ServingEpochEdge = 1
	// prepared -> rejected
	ServingEpochRejectPrepared ServingEpochEdge = 2
	// verified -> rejected
	ServingEpochRejectVerified ServingEpochEdge = 3
	// verified -> active
	ServingEpochActivateFirst ServingEpochEdge = 4
	// verified -> active
	ServingEpochActivateSuccessor ServingEpochEdge = 5
	// active -> draining
	ServingEpochDrain ServingEpochEdge = 6
	// draining -> retired
	ServingEpochRetire ServingEpochEdge = 7
)

func (ServingEpochEdge) edge() {}

// Machine is ServingEpoch.
func (e ServingEpochEdge) Machine() Machine { return ServingEpoch }

// String is the edge's name in tables.txt.
func (e ServingEpochEdge) String() string { return ServingEpoch.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e ServingEpochEdge) Valid() bool { return e >= 1 && e <= 7 }

// Proof is what the edge demands.
func (e ServingEpochEdge) Proof() Proof { return ServingEpoch.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e ServingEpochEdge) From() ServingEpochState {
	return ServingEpochState(ServingEpoch.stateNumber(ServingEpoch.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e ServingEpochEdge) To() ServingEpochState {
	return ServingEpochState(ServingEpoch.stateNumber(ServingEpoch.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e ServingEpochEdge) Value() (driver.Value, error) { return ServingEpoch.edgeValue(uint8(e)) }

// CredentialGenerationDispatchGateState is a state of CredentialGenerationDispatchGate. The zero value is no state.
type CredentialGenerationDispatchGateState uint8

const (
	CredentialGenerationDispatchGateEnabled CredentialGenerationDispatchGateState = 1
	CredentialGenerationDispatchGateRevoked CredentialGenerationDispatchGateState = 2
)

func (CredentialGenerationDispatchGateState) state() {}

// Machine is CredentialGenerationDispatchGate.
func (s CredentialGenerationDispatchGateState) Machine() Machine {
	return CredentialGenerationDispatchGate
}

// String is the state's name in the spec.
func (s CredentialGenerationDispatchGateState) String() string {
	return CredentialGenerationDispatchGate.stateName(uint8(s))
}

// Valid tells whether s is a state of the machine.
func (s CredentialGenerationDispatchGateState) Valid() bool { return s >= 1 && s <= 2 }

// Terminal tells whether no edge leaves s.
func (s CredentialGenerationDispatchGateState) Terminal() bool {
	return CredentialGenerationDispatchGate.TerminalState(s.String())
}

// Value is the state as it is stored.
func (s CredentialGenerationDispatchGateState) Value() (driver.Value, error) {
	return CredentialGenerationDispatchGate.stateValue(uint8(s))
}

// Scan reads a stored state and refuses any other bytes.
func (s *CredentialGenerationDispatchGateState) Scan(source any) error {
	n, err := CredentialGenerationDispatchGate.scanState(source)
	*s = CredentialGenerationDispatchGateState(n)
	return err
}

// CredentialGenerationDispatchGateEdge is an edge of CredentialGenerationDispatchGate. The zero value is no edge.
type CredentialGenerationDispatchGateEdge uint8

const (
	// enabled -> revoked
	CredentialGenerationDispatchGateRevoke CredentialGenerationDispatchGateEdge = 1
	// revoked -> enabled
	CredentialGenerationDispatchGateReenable CredentialGenerationDispatchGateEdge = 2
)

func (CredentialGenerationDispatchGateEdge) edge() {}

// Machine is CredentialGenerationDispatchGate.
func (e CredentialGenerationDispatchGateEdge) Machine() Machine {
	return CredentialGenerationDispatchGate
}

// String is the edge's name in tables.txt.
func (e CredentialGenerationDispatchGateEdge) String() string {
	return CredentialGenerationDispatchGate.edgeName(uint8(e))
}

// Valid tells whether e is an edge of the machine.
func (e CredentialGenerationDispatchGateEdge) Valid() bool { return e >= 1 && e <= 2 }

// Proof is what the edge demands.
func (e CredentialGenerationDispatchGateEdge) Proof() Proof {
	return CredentialGenerationDispatchGate.transition(uint8(e)).Proof
}

// From is the state that the edge leaves.
func (e CredentialGenerationDispatchGateEdge) From() CredentialGenerationDispatchGateState {
	return CredentialGenerationDispatchGateState(CredentialGenerationDispatchGate.stateNumber(CredentialGenerationDispatchGate.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e CredentialGenerationDispatchGateEdge) To() CredentialGenerationDispatchGateState {
	return CredentialGenerationDispatchGateState(CredentialGenerationDispatchGate.stateNumber(CredentialGenerationDispatchGate.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e CredentialGenerationDispatchGateEdge) Value() (driver.Value, error) {
	return CredentialGenerationDispatchGate.edgeValue(uint8(e))
}

// ServingPublicationBarrierSetState is a state of ServingPublicationBarrierSet. The zero value is no state.
type ServingPublicationBarrierSetState uint8

const (
	ServingPublicationBarrierSetAcquiring           ServingPublicationBarrierSetState = 1
	ServingPublicationBarrierSetHeld                ServingPublicationBarrierSetState = 2
	ServingPublicationBarrierSetReleased            ServingPublicationBarrierSetState = 3
	ServingPublicationBarrierSetActivationCommitted ServingPublicationBarrierSetState = 4
)

func (ServingPublicationBarrierSetState) state() {}

// Machine is ServingPublicationBarrierSet.
func (s ServingPublicationBarrierSetState) Machine() Machine { return ServingPublicationBarrierSet }

// String is the state's name in the spec.
func (s ServingPublicationBarrierSetState) String() string {
	return ServingPublicationBarrierSet.stateName(uint8(s))
}

// Valid tells whether s is a state of the machine.
func (s ServingPublicationBarrierSetState) Valid() bool { return s >= 1 && s <= 4 }

// Terminal tells whether no edge leaves s.
func (s ServingPublicationBarrierSetState) Terminal() bool {
	return ServingPublicationBarrierSet.TerminalState(s.String())
}

// Value is the state as it is stored.
func (s ServingPublicationBarrierSetState) Value() (driver.Value, error) {
	return ServingPublicationBarrierSet.stateValue(uint8(s))
}

// Scan reads a stored state and refuses any other bytes.
func (s *ServingPublicationBarrierSetState) Scan(source any) error {
	n, err := ServingPublicationBarrierSet.scanState(source)
	*s = ServingPublicationBarrierSetState(n)
	return err
}

// ServingPublicationBarrierSetEdge is an edge of ServingPublicationBarrierSet. The zero value is no edge.
type ServingPublicationBarrierSetEdge uint8

const (
	// acquiring -> held
	ServingPublicationBarrierSetHold ServingPublicationBarrierSetEdge = 1
	// acquiring -> released
	ServingPublicationBarrierSetReleaseAcquiringOpen ServingPublicationBarrierSetEdge = 2
	// acquiring -> released
	ServingPublicationBarrierSetReleaseAcquiringRestored ServingPublicationBarrierSetEdge = 3
	// acquiring -> released
	ServingPublicationBarrierSetReleaseAcquiringEarly ServingPublicationBarrierSetEdge = 4
	// held -> activation_committed
	ServingPublicationBarrierSetCommitActivation ServingPublicationBarrierSetEdge = 5
	// held -> released
	ServingPublicationBarrierSetReleaseHeldOpen ServingPublicationBarrierSetEdge = 6
	// held -> released
	ServingPublicationBarrierSetReleaseHeldRestored ServingPublicationBarrierSetEdge = 7
	// held -> released
	ServingPublicationBarrierSetReleaseHeldEarly ServingPublicationBarrierSetEdge = 8
	// activation_committed -> released
	ServingPublicationBarrierSetReleaseAfterReadback ServingPublicationBarrierSetEdge = 9
)

func (ServingPublicationBarrierSetEdge) edge() {}

// Machine is ServingPublicationBarrierSet.
func (e ServingPublicationBarrierSetEdge) Machine() Machine { return ServingPublicationBarrierSet }

// String is the edge's name in tables.txt.
func (e ServingPublicationBarrierSetEdge) String() string {
	return ServingPublicationBarrierSet.edgeName(uint8(e))
}

// Valid tells whether e is an edge of the machine.
func (e ServingPublicationBarrierSetEdge) Valid() bool { return e >= 1 && e <= 9 }

// Proof is what the edge demands.
func (e ServingPublicationBarrierSetEdge) Proof() Proof {
	return ServingPublicationBarrierSet.transition(uint8(e)).Proof
}

// From is the state that the edge leaves.
func (e ServingPublicationBarrierSetEdge) From() ServingPublicationBarrierSetState {
	return ServingPublicationBarrierSetState(ServingPublicationBarrierSet.stateNumber(ServingPublicationBarrierSet.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e ServingPublicationBarrierSetEdge) To() ServingPublicationBarrierSetState {
	return ServingPublicationBarrierSetState(ServingPublicationBarrierSet.stateNumber(ServingPublicationBarrierSet.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e ServingPublicationBarrierSetEdge) Value() (driver.Value, error) {
	return ServingPublicationBarrierSet.edgeValue(uint8(e))
}

// ProjectionWindowState is a state of ProjectionWindow. The zero value is no state.
type ProjectionWindowState uint8

const (
	ProjectionWindowOpen        ProjectionWindowState = 1
	ProjectionWindowSealed      ProjectionWindowState = 2
	ProjectionWindowQuarantined ProjectionWindowState = 3
)

func (ProjectionWindowState) state() {}

// Machine is ProjectionWindow.
func (s ProjectionWindowState) Machine() Machine { return ProjectionWindow }

// String is the state's name in the spec.
func (s ProjectionWindowState) String() string { return ProjectionWindow.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s ProjectionWindowState) Valid() bool { return s >= 1 && s <= 3 }

// Terminal tells whether no edge leaves s.
func (s ProjectionWindowState) Terminal() bool { return ProjectionWindow.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s ProjectionWindowState) Value() (driver.Value, error) {
	return ProjectionWindow.stateValue(uint8(s))
}

// Scan reads a stored state and refuses any other bytes.
func (s *ProjectionWindowState) Scan(source any) error {
	n, err := ProjectionWindow.scanState(source)
	*s = ProjectionWindowState(n)
	return err
}

// ProjectionWindowEdge is an edge of ProjectionWindow. The zero value is no edge.
type ProjectionWindowEdge uint8

const (
	// open -> sealed
	ProjectionWindowSeal ProjectionWindowEdge = 1
	// open -> quarantined
	ProjectionWindowQuarantine ProjectionWindowEdge = 2
)

func (ProjectionWindowEdge) edge() {}

// Machine is ProjectionWindow.
func (e ProjectionWindowEdge) Machine() Machine { return ProjectionWindow }

// String is the edge's name in tables.txt.
func (e ProjectionWindowEdge) String() string { return ProjectionWindow.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e ProjectionWindowEdge) Valid() bool { return e >= 1 && e <= 2 }

// Proof is what the edge demands.
func (e ProjectionWindowEdge) Proof() Proof { return ProjectionWindow.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e ProjectionWindowEdge) From() ProjectionWindowState {
	return ProjectionWindowState(ProjectionWindow.stateNumber(ProjectionWindow.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e ProjectionWindowEdge) To() ProjectionWindowState {
	return ProjectionWindowState(ProjectionWindow.stateNumber(ProjectionWindow.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e ProjectionWindowEdge) Value() (driver.Value, error) {
	return ProjectionWindow.edgeValue(uint8(e))
}

// ExecutionState is a state of Execution. The zero value is no state.
type ExecutionState uint8

const (
	ExecutionReady             ExecutionState = 1
	ExecutionWaitingDependency ExecutionState = 2
	ExecutionCompleted         ExecutionState = 3
	ExecutionQuarantined       ExecutionState = 4
)

func (ExecutionState) state() {}

// Machine is Execution.
func (s ExecutionState) Machine() Machine { return Execution }

// String is the state's name in the spec.
func (s ExecutionState) String() string { return Execution.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s ExecutionState) Valid() bool { return s >= 1 && s <= 4 }

// Terminal tells whether no edge leaves s.
func (s ExecutionState) Terminal() bool { return Execution.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s ExecutionState) Value() (driver.Value, error) { return Execution.stateValue(uint8(s)) }

// Scan reads a stored state and refuses any other bytes.
func (s *ExecutionState) Scan(source any) error {
	n, err := Execution.scanState(source)
	*s = ExecutionState(n)
	return err
}

// ExecutionEdge is an edge of Execution. The zero value is no edge.
type ExecutionEdge uint8

const (
	// ready -> waiting_dependency
	ExecutionWait ExecutionEdge = 1
	// ready -> completed
	ExecutionComplete ExecutionEdge = 2
	// ready -> quarantined
	ExecutionQuarantineReady ExecutionEdge = 3
	// waiting_dependency -> ready
	ExecutionResume ExecutionEdge = 4
	// waiting_dependency -> quarantined
	ExecutionQuarantineWaiting ExecutionEdge = 5
)

func (ExecutionEdge) edge() {}

// Machine is Execution.
func (e ExecutionEdge) Machine() Machine { return Execution }

// String is the edge's name in tables.txt.
func (e ExecutionEdge) String() string { return Execution.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e ExecutionEdge) Valid() bool { return e >= 1 && e <= 5 }

// Proof is what the edge demands.
func (e ExecutionEdge) Proof() Proof { return Execution.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e ExecutionEdge) From() ExecutionState {
	return ExecutionState(Execution.stateNumber(Execution.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e ExecutionEdge) To() ExecutionState {
	return ExecutionState(Execution.stateNumber(Execution.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e ExecutionEdge) Value() (driver.Value, error) { return Execution.edgeValue(uint8(e)) }

// ExecutionDependencyState is a state of ExecutionDependency. The zero value is no state.
type ExecutionDependencyState uint8

const (
	ExecutionDependencyWaiting   ExecutionDependencyState = 1
	ExecutionDependencySatisfied ExecutionDependencyState = 2
	ExecutionDependencyExpired   ExecutionDependencyState = 3
	ExecutionDependencyRejected  ExecutionDependencyState = 4
)

func (ExecutionDependencyState) state() {}

// Machine is ExecutionDependency.
func (s ExecutionDependencyState) Machine() Machine { return ExecutionDependency }

// String is the state's name in the spec.
func (s ExecutionDependencyState) String() string { return ExecutionDependency.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s ExecutionDependencyState) Valid() bool { return s >= 1 && s <= 4 }

// Terminal tells whether no edge leaves s.
func (s ExecutionDependencyState) Terminal() bool {
	return ExecutionDependency.TerminalState(s.String())
}

// Value is the state as it is stored.
func (s ExecutionDependencyState) Value() (driver.Value, error) {
	return ExecutionDependency.stateValue(uint8(s))
}

// Scan reads a stored state and refuses any other bytes.
func (s *ExecutionDependencyState) Scan(source any) error {
	n, err := ExecutionDependency.scanState(source)
	*s = ExecutionDependencyState(n)
	return err
}

// ExecutionDependencyEdge is an edge of ExecutionDependency. The zero value is no edge.
type ExecutionDependencyEdge uint8

const (
	// waiting -> satisfied
	ExecutionDependencySatisfy ExecutionDependencyEdge = 1
	// waiting -> expired
	ExecutionDependencyExpire ExecutionDependencyEdge = 2
	// waiting -> rejected
	ExecutionDependencyReject ExecutionDependencyEdge = 3
)

func (ExecutionDependencyEdge) edge() {}

// Machine is ExecutionDependency.
func (e ExecutionDependencyEdge) Machine() Machine { return ExecutionDependency }

// String is the edge's name in tables.txt.
func (e ExecutionDependencyEdge) String() string { return ExecutionDependency.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e ExecutionDependencyEdge) Valid() bool { return e >= 1 && e <= 3 }

// Proof is what the edge demands.
func (e ExecutionDependencyEdge) Proof() Proof { return ExecutionDependency.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e ExecutionDependencyEdge) From() ExecutionDependencyState {
	return ExecutionDependencyState(ExecutionDependency.stateNumber(ExecutionDependency.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e ExecutionDependencyEdge) To() ExecutionDependencyState {
	return ExecutionDependencyState(ExecutionDependency.stateNumber(ExecutionDependency.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e ExecutionDependencyEdge) Value() (driver.Value, error) {
	return ExecutionDependency.edgeValue(uint8(e))
}

// ApplicationResultState is a state of ApplicationResult. The zero value is no state.
type ApplicationResultState uint8

const (
	ApplicationResultApplied  ApplicationResultState = 1
	ApplicationResultNoop     ApplicationResultState = 2
	ApplicationResultRejected ApplicationResultState = 3
	ApplicationResultFailed   ApplicationResultState = 4
)

func (ApplicationResultState) state() {}

// Machine is ApplicationResult.
func (s ApplicationResultState) Machine() Machine { return ApplicationResult }

// String is the state's name in the spec.
func (s ApplicationResultState) String() string { return ApplicationResult.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s ApplicationResultState) Valid() bool { return s >= 1 && s <= 4 }

// Terminal tells whether no edge leaves s.
func (s ApplicationResultState) Terminal() bool { return ApplicationResult.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s ApplicationResultState) Value() (driver.Value, error) {
	return ApplicationResult.stateValue(uint8(s))
}

// Scan reads a stored state and refuses any other bytes.
func (s *ApplicationResultState) Scan(source any) error {
	n, err := ApplicationResult.scanState(source)
	*s = ApplicationResultState(n)
	return err
}

// RemoteEffectState is a state of RemoteEffect. The zero value is no state.
type RemoteEffectState uint8

const (
	RemoteEffectPrepared        RemoteEffectState = 1
	RemoteEffectDispatching     RemoteEffectState = 2
	RemoteEffectQuarantined     RemoteEffectState = 3
	RemoteEffectRemoteConfirmed RemoteEffectState = 4
	RemoteEffectUncertain       RemoteEffectState = 5
	RemoteEffectNoEffect        RemoteEffectState = 6
	RemoteEffectFinalized       RemoteEffectState = 7
)

func (RemoteEffectState) state() {}

// Machine is RemoteEffect.
func (s RemoteEffectState) Machine() Machine { return RemoteEffect }

// String is the state's name in the spec.
func (s RemoteEffectState) String() string { return RemoteEffect.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s RemoteEffectState) Valid() bool { return s >= 1 && s <= 7 }

// Terminal tells whether no edge leaves s.
func (s RemoteEffectState) Terminal() bool { return RemoteEffect.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s RemoteEffectState) Value() (driver.Value, error) { return RemoteEffect.stateValue(uint8(s)) }

// Scan reads a stored state and refuses any other bytes.
func (s *RemoteEffectState) Scan(source any) error {
	n, err := RemoteEffect.scanState(source)
	*s = RemoteEffectState(n)
	return err
}

// RemoteEffectEdge is an edge of RemoteEffect. The zero value is no edge.
type RemoteEffectEdge uint8

const (
	// prepared -> dispatching
	RemoteEffectDispatch RemoteEffectEdge = 1
	// prepared -> quarantined
	RemoteEffectQuarantinePrepared RemoteEffectEdge = 2
	// dispatching -> remote_confirmed
	RemoteEffectConfirm RemoteEffectEdge = 3
	// dispatching -> uncertain
	RemoteEffectSettleUncertain RemoteEffectEdge = 4
	// dispatching -> uncertain
	RemoteEffectIsolateSending RemoteEffectEdge = 5
	// dispatching -> no_effect
	RemoteEffectEndNoEffect RemoteEffectEdge = 6
	// dispatching -> prepared
	RemoteEffectRetryNoEffect RemoteEffectEdge = 7
	// dispatching -> prepared
	RemoteEffectReturnUnsent RemoteEffectEdge = 8
	// uncertain -> remote_confirmed
	RemoteEffectReconcileConfirmed RemoteEffectEdge = 9
	// uncertain -> no_effect
	RemoteEffectReconcileNoEffect RemoteEffectEdge = 10
	// uncertain -> quarantined
	RemoteEffectQuarantineUncertain RemoteEffectEdge = 11
	// uncertain -> prepared
	RemoteEffectReconcileRetry RemoteEffectEdge = 12
	// uncertain -> prepared
	RemoteEffectRepeatExactly RemoteEffectEdge = 13
	// remote_confirmed -> finalized
	RemoteEffectFinalize RemoteEffectEdge = 14
)

func (RemoteEffectEdge) edge() {}

// Machine is RemoteEffect.
func (e RemoteEffectEdge) Machine() Machine { return RemoteEffect }

// String is the edge's name in tables.txt.
func (e RemoteEffectEdge) String() string { return RemoteEffect.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e RemoteEffectEdge) Valid() bool { return e >= 1 && e <= 14 }

// Proof is what the edge demands.
func (e RemoteEffectEdge) Proof() Proof { return RemoteEffect.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e RemoteEffectEdge) From() RemoteEffectState {
	return RemoteEffectState(RemoteEffect.stateNumber(RemoteEffect.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e RemoteEffectEdge) To() RemoteEffectState {
	return RemoteEffectState(RemoteEffect.stateNumber(RemoteEffect.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e RemoteEffectEdge) Value() (driver.Value, error) { return RemoteEffect.edgeValue(uint8(e)) }

// DispatchPermitState is a state of DispatchPermit. The zero value is no state.
type DispatchPermitState uint8

const (
	DispatchPermitGranted   DispatchPermitState = 1
	DispatchPermitSending   DispatchPermitState = 2
	DispatchPermitAbandoned DispatchPermitState = 3
	DispatchPermitReturned  DispatchPermitState = 4
)

func (DispatchPermitState) state() {}

// Machine is DispatchPermit.
func (s DispatchPermitState) Machine() Machine { return DispatchPermit }

// String is the state's name in the spec.
func (s DispatchPermitState) String() string { return DispatchPermit.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s DispatchPermitState) Valid() bool { return s >= 1 && s <= 4 }

// Terminal tells whether no edge leaves s.
func (s DispatchPermitState) Terminal() bool { return DispatchPermit.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s DispatchPermitState) Value() (driver.Value, error) {
	return DispatchPermit.stateValue(uint8(s))
}

// Scan reads a stored state and refuses any other bytes.
func (s *DispatchPermitState) Scan(source any) error {
	n, err := DispatchPermit.scanState(source)
	*s = DispatchPermitState(n)
	return err
}

// DispatchPermitEdge is an edge of DispatchPermit. The zero value is no edge.
type DispatchPermitEdge uint8

const (
	// granted -> sending
	DispatchPermitBeginSend DispatchPermitEdge = 1
	// granted -> abandoned
	DispatchPermitAbandonIsolated DispatchPermitEdge = 2
	// granted -> abandoned
	DispatchPermitAbandonRevoked DispatchPermitEdge = 3
	// sending -> returned
	DispatchPermitSettle DispatchPermitEdge = 4
	// sending -> abandoned
	DispatchPermitAbandonSending DispatchPermitEdge = 5
)

func (DispatchPermitEdge) edge() {}

// Machine is DispatchPermit.
func (e DispatchPermitEdge) Machine() Machine { return DispatchPermit }

// String is the edge's name in tables.txt.
func (e DispatchPermitEdge) String() string { return DispatchPermit.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e DispatchPermitEdge) Valid() bool { return e >= 1 && e <= 5 }

// Proof is what the edge demands.
func (e DispatchPermitEdge) Proof() Proof { return DispatchPermit.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e DispatchPermitEdge) From() DispatchPermitState {
	return DispatchPermitState(DispatchPermit.stateNumber(DispatchPermit.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e DispatchPermitEdge) To() DispatchPermitState {
	return DispatchPermitState(DispatchPermit.stateNumber(DispatchPermit.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e DispatchPermitEdge) Value() (driver.Value, error) { return DispatchPermit.edgeValue(uint8(e)) }

// RemoteLinkState is a state of RemoteLink. The zero value is no state.
type RemoteLinkState uint8

const (
	RemoteLinkActive  RemoteLinkState = 1
	RemoteLinkRetired RemoteLinkState = 2
)

func (RemoteLinkState) state() {}

// Machine is RemoteLink.
func (s RemoteLinkState) Machine() Machine { return RemoteLink }

// String is the state's name in the spec.
func (s RemoteLinkState) String() string { return RemoteLink.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s RemoteLinkState) Valid() bool { return s >= 1 && s <= 2 }

// Terminal tells whether no edge leaves s.
func (s RemoteLinkState) Terminal() bool { return RemoteLink.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s RemoteLinkState) Value() (driver.Value, error) { return RemoteLink.stateValue(uint8(s)) }

// Scan reads a stored state and refuses any other bytes.
func (s *RemoteLinkState) Scan(source any) error {
	n, err := RemoteLink.scanState(source)
	*s = RemoteLinkState(n)
	return err
}

// RemoteLinkEdge is an edge of RemoteLink. The zero value is no edge.
type RemoteLinkEdge uint8

const (
	// active -> retired
	RemoteLinkRetire RemoteLinkEdge = 1
)

func (RemoteLinkEdge) edge() {}

// Machine is RemoteLink.
func (e RemoteLinkEdge) Machine() Machine { return RemoteLink }

// String is the edge's name in tables.txt.
func (e RemoteLinkEdge) String() string { return RemoteLink.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e RemoteLinkEdge) Valid() bool { return e >= 1 && e <= 1 }

// Proof is what the edge demands.
func (e RemoteLinkEdge) Proof() Proof { return RemoteLink.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e RemoteLinkEdge) From() RemoteLinkState {
	return RemoteLinkState(RemoteLink.stateNumber(RemoteLink.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e RemoteLinkEdge) To() RemoteLinkState {
	return RemoteLinkState(RemoteLink.stateNumber(RemoteLink.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e RemoteLinkEdge) Value() (driver.Value, error) { return RemoteLink.edgeValue(uint8(e)) }

// CutoverDecisionState is a state of CutoverDecision. The zero value is no state.
type CutoverDecisionState uint8

const (
	CutoverDecisionRollbackOpen CutoverDecisionState = 1
	CutoverDecisionActivatingV2 CutoverDecisionState = 2
	CutoverDecisionV2Committed  CutoverDecisionState = 3
	CutoverDecisionRestoringV1  CutoverDecisionState = 4
	CutoverDecisionV1Restored   CutoverDecisionState = 5
)

func (CutoverDecisionState) state() {}

// Machine is CutoverDecision.
func (s CutoverDecisionState) Machine() Machine { return CutoverDecision }

// String is the state's name in the spec.
func (s CutoverDecisionState) String() string { return CutoverDecision.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s CutoverDecisionState) Valid() bool { return s >= 1 && s <= 5 }

// Terminal tells whether no edge leaves s.
func (s CutoverDecisionState) Terminal() bool { return CutoverDecision.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s CutoverDecisionState) Value() (driver.Value, error) {
	return CutoverDecision.stateValue(uint8(s))
}

// Scan reads a stored state and refuses any other bytes.
func (s *CutoverDecisionState) Scan(source any) error {
	n, err := CutoverDecision.scanState(source)
	*s = CutoverDecisionState(n)
	return err
}

// CutoverDecisionEdge is an edge of CutoverDecision. The zero value is no edge.
type CutoverDecisionEdge uint8

const (
	// rollback_open -> activating_v2
	CutoverDecisionChooseActivation CutoverDecisionEdge = 1
	// activating_v2 -> v2_committed
	CutoverDecisionCommitActivation CutoverDecisionEdge = 2
	// rollback_open -> restoring_v1
	CutoverDecisionChooseRestore CutoverDecisionEdge = 3
	// restoring_v1 -> v1_restored
	CutoverDecisionCommitRestore CutoverDecisionEdge = 4
)

func (CutoverDecisionEdge) edge() {}

// Machine is CutoverDecision.
func (e CutoverDecisionEdge) Machine() Machine { return CutoverDecision }

// String is the edge's name in tables.txt.
func (e CutoverDecisionEdge) String() string { return CutoverDecision.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e CutoverDecisionEdge) Valid() bool { return e >= 1 && e <= 4 }

// Proof is what the edge demands.
func (e CutoverDecisionEdge) Proof() Proof { return CutoverDecision.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e CutoverDecisionEdge) From() CutoverDecisionState {
	return CutoverDecisionState(CutoverDecision.stateNumber(CutoverDecision.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e CutoverDecisionEdge) To() CutoverDecisionState {
	return CutoverDecisionState(CutoverDecision.stateNumber(CutoverDecision.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e CutoverDecisionEdge) Value() (driver.Value, error) {
	return CutoverDecision.edgeValue(uint8(e))
}

// OwnerPublicationBarrierState is a state of OwnerPublicationBarrier. The zero value is no state.
type OwnerPublicationBarrierState uint8

const (
	OwnerPublicationBarrierOpen OwnerPublicationBarrierState = 1
	OwnerPublicationBarrierHeld OwnerPublicationBarrierState = 2
)

func (OwnerPublicationBarrierState) state() {}

// Machine is OwnerPublicationBarrier.
func (s OwnerPublicationBarrierState) Machine() Machine { return OwnerPublicationBarrier }

// String is the state's name in the spec.
func (s OwnerPublicationBarrierState) String() string {
	return OwnerPublicationBarrier.stateName(uint8(s))
}

// Valid tells whether s is a state of the machine.
func (s OwnerPublicationBarrierState) Valid() bool { return s >= 1 && s <= 2 }

// Terminal tells whether no edge leaves s.
func (s OwnerPublicationBarrierState) Terminal() bool {
	return OwnerPublicationBarrier.TerminalState(s.String())
}

// Value is the state as it is stored.
func (s OwnerPublicationBarrierState) Value() (driver.Value, error) {
	return OwnerPublicationBarrier.stateValue(uint8(s))
}

// Scan reads a stored state and refuses any other bytes.
func (s *OwnerPublicationBarrierState) Scan(source any) error {
	n, err := OwnerPublicationBarrier.scanState(source)
	*s = OwnerPublicationBarrierState(n)
	return err
}

// OwnerPublicationBarrierEdge is an edge of OwnerPublicationBarrier. The zero value is no edge.
type OwnerPublicationBarrierEdge uint8

const (
	// open -> held
	OwnerPublicationBarrierHold OwnerPublicationBarrierEdge = 1
	// held -> open
	OwnerPublicationBarrierRelease OwnerPublicationBarrierEdge = 2
)

func (OwnerPublicationBarrierEdge) edge() {}

// Machine is OwnerPublicationBarrier.
func (e OwnerPublicationBarrierEdge) Machine() Machine { return OwnerPublicationBarrier }

// String is the edge's name in tables.txt.
func (e OwnerPublicationBarrierEdge) String() string {
	return OwnerPublicationBarrier.edgeName(uint8(e))
}

// Valid tells whether e is an edge of the machine.
func (e OwnerPublicationBarrierEdge) Valid() bool { return e >= 1 && e <= 2 }

// Proof is what the edge demands.
func (e OwnerPublicationBarrierEdge) Proof() Proof {
	return OwnerPublicationBarrier.transition(uint8(e)).Proof
}

// From is the state that the edge leaves.
func (e OwnerPublicationBarrierEdge) From() OwnerPublicationBarrierState {
	return OwnerPublicationBarrierState(OwnerPublicationBarrier.stateNumber(OwnerPublicationBarrier.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e OwnerPublicationBarrierEdge) To() OwnerPublicationBarrierState {
	return OwnerPublicationBarrierState(OwnerPublicationBarrier.stateNumber(OwnerPublicationBarrier.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e OwnerPublicationBarrierEdge) Value() (driver.Value, error) {
	return OwnerPublicationBarrier.edgeValue(uint8(e))
}

// ReceiptState is a state of Receipt. The zero value is no state.
type ReceiptState uint8

const (
	ReceiptPending      ReceiptState = 1
	ReceiptMaterialized ReceiptState = 2
)

func (ReceiptState) state() {}

// Machine is Receipt.
func (s ReceiptState) Machine() Machine { return Receipt }

// String is the state's name in the spec.
func (s ReceiptState) String() string { return Receipt.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s ReceiptState) Valid() bool { return s >= 1 && s <= 2 }

// Terminal tells whether no edge leaves s.
func (s ReceiptState) Terminal() bool { return Receipt.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s ReceiptState) Value() (driver.Value, error) { return Receipt.stateValue(uint8(s)) }

// Scan reads a stored state and refuses any other bytes.
func (s *ReceiptState) Scan(source any) error {
	n, err := Receipt.scanState(source)
	*s = ReceiptState(n)
	return err
}

// ReceiptEdge is an edge of Receipt. The zero value is no edge.
type ReceiptEdge uint8

const (
	// pending -> materialized
	ReceiptMaterialize ReceiptEdge = 1
)

func (ReceiptEdge) edge() {}

// Machine is Receipt.
func (e ReceiptEdge) Machine() Machine { return Receipt }

// String is the edge's name in tables.txt.
func (e ReceiptEdge) String() string { return Receipt.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e ReceiptEdge) Valid() bool { return e >= 1 && e <= 1 }

// Proof is what the edge demands.
func (e ReceiptEdge) Proof() Proof { return Receipt.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e ReceiptEdge) From() ReceiptState {
	return ReceiptState(Receipt.stateNumber(Receipt.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e ReceiptEdge) To() ReceiptState {
	return ReceiptState(Receipt.stateNumber(Receipt.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e ReceiptEdge) Value() (driver.Value, error) { return Receipt.edgeValue(uint8(e)) }

// ProjectionState is a state of Projection. The zero value is no state.
type ProjectionState uint8

const (
	ProjectionWaiting     ProjectionState = 1
	ProjectionMinted      ProjectionState = 2
	ProjectionSuperseded  ProjectionState = 3
	ProjectionQuarantined ProjectionState = 4
)

func (ProjectionState) state() {}

// Machine is Projection.
func (s ProjectionState) Machine() Machine { return Projection }

// String is the state's name in the spec.
func (s ProjectionState) String() string { return Projection.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s ProjectionState) Valid() bool { return s >= 1 && s <= 4 }

// Terminal tells whether no edge leaves s.
func (s ProjectionState) Terminal() bool { return Projection.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s ProjectionState) Value() (driver.Value, error) { return Projection.stateValue(uint8(s)) }

// Scan reads a stored state and refuses any other bytes.
func (s *ProjectionState) Scan(source any) error {
	n, err := Projection.scanState(source)
	*s = ProjectionState(n)
	return err
}

// ProjectionEdge is an edge of Projection. The zero value is no edge.
type ProjectionEdge uint8

const (
	// waiting -> minted
	ProjectionMint ProjectionEdge = 1
	// waiting -> superseded
	ProjectionSupersede ProjectionEdge = 2
	// waiting -> quarantined
	ProjectionQuarantine ProjectionEdge = 3
)

func (ProjectionEdge) edge() {}

// Machine is Projection.
func (e ProjectionEdge) Machine() Machine { return Projection }

// String is the edge's name in tables.txt.
func (e ProjectionEdge) String() string { return Projection.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e ProjectionEdge) Valid() bool { return e >= 1 && e <= 3 }

// Proof is what the edge demands.
func (e ProjectionEdge) Proof() Proof { return Projection.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e ProjectionEdge) From() ProjectionState {
	return ProjectionState(Projection.stateNumber(Projection.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e ProjectionEdge) To() ProjectionState {
	return ProjectionState(Projection.stateNumber(Projection.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e ProjectionEdge) Value() (driver.Value, error) { return Projection.edgeValue(uint8(e)) }

// OrderingLaneState is a state of OrderingLane. The zero value is no state.
type OrderingLaneState uint8

const (
	OrderingLaneFree  OrderingLaneState = 1
	OrderingLaneTaken OrderingLaneState = 2
	OrderingLaneHeld  OrderingLaneState = 3
)

func (OrderingLaneState) state() {}

// Machine is OrderingLane.
func (s OrderingLaneState) Machine() Machine { return OrderingLane }

// String is the state's name in the spec.
func (s OrderingLaneState) String() string { return OrderingLane.stateName(uint8(s)) }

// Valid tells whether s is a state of the machine.
func (s OrderingLaneState) Valid() bool { return s >= 1 && s <= 3 }

// Terminal tells whether no edge leaves s.
func (s OrderingLaneState) Terminal() bool { return OrderingLane.TerminalState(s.String()) }

// Value is the state as it is stored.
func (s OrderingLaneState) Value() (driver.Value, error) { return OrderingLane.stateValue(uint8(s)) }

// Scan reads a stored state and refuses any other bytes.
func (s *OrderingLaneState) Scan(source any) error {
	n, err := OrderingLane.scanState(source)
	*s = OrderingLaneState(n)
	return err
}

// OrderingLaneEdge is an edge of OrderingLane. The zero value is no edge.
type OrderingLaneEdge uint8

const (
	// free -> taken
	OrderingLaneTake OrderingLaneEdge = 1
	// taken -> free
	OrderingLaneRelease OrderingLaneEdge = 2
	// taken -> held
	OrderingLaneHoldFailed OrderingLaneEdge = 3
	// taken -> held
	OrderingLaneHoldClosed OrderingLaneEdge = 4
	// taken -> held
	OrderingLaneHoldUnmet OrderingLaneEdge = 5
)

func (OrderingLaneEdge) edge() {}

// Machine is OrderingLane.
func (e OrderingLaneEdge) Machine() Machine { return OrderingLane }

// String is the edge's name in tables.txt.
func (e OrderingLaneEdge) String() string { return OrderingLane.edgeName(uint8(e)) }

// Valid tells whether e is an edge of the machine.
func (e OrderingLaneEdge) Valid() bool { return e >= 1 && e <= 5 }

// Proof is what the edge demands.
func (e OrderingLaneEdge) Proof() Proof { return OrderingLane.transition(uint8(e)).Proof }

// From is the state that the edge leaves.
func (e OrderingLaneEdge) From() OrderingLaneState {
	return OrderingLaneState(OrderingLane.stateNumber(OrderingLane.transition(uint8(e)).From))
}

// To is the state that the edge enters.
func (e OrderingLaneEdge) To() OrderingLaneState {
	return OrderingLaneState(OrderingLane.stateNumber(OrderingLane.transition(uint8(e)).To))
}

// Value is the edge as it is stored.
func (e OrderingLaneEdge) Value() (driver.Value, error) { return OrderingLane.edgeValue(uint8(e)) }

var definitions = [...]definition{
	{
		name:    "AccountServingGate",
		outside: false,
		states:  []string{"v1_serving", "halting_v1", "v1_stopped", "v1_drained", "v2_validating", "v2_serving", "halting_v2", "v2_halted"},
		starts:  []string{"v1_serving"},
		transitions: []Transition{
			{"begin_v1_halt", "v1_serving", "halting_v1", "readiness_under_closed_barriers"},
			{"abort_v1_halt", "halting_v1", "v1_serving", "barriers_restored_before_termination"},
			{"stop_v1", "halting_v1", "v1_stopped", "termination_and_isolation_receipts"},
			{"certify_v1_drain", "v1_stopped", "v1_drained", "shutdown_certificate"},
			{"cold_abort", "v1_drained", "v1_serving", "new_generation_of_certified_release"},
			{"resume_restored_v1", "v1_drained", "v1_serving", "restore_completed"},
			{"begin_v2_validation", "v1_drained", "v2_validating", "recovery_point"},
			{"restore_v1_point", "v2_validating", "v1_drained", "recovery_point_restored"},
			{"activate_first", "v2_validating", "v2_serving", "first_activation"},
			{"begin_v2_halt", "v2_serving", "halting_v2", "authorized_halt"},
			{"confirm_v2_halt", "halting_v2", "v2_halted", "open_set_empty"},
			{"resume_predecessor", "v2_halted", "v2_serving", "no_handoff_committed"},
			{"activate_successor", "v2_halted", "v2_serving", "succession_activation"},
		},
	},
	{
		name:    "ServingEpoch",
		outside: false,
		states:  []string{"prepared", "verified", "rejected", "active", "draining", "retired"},
		starts:  []string{"prepared"},
		transitions: []Transition{
			{"verify", "prepared", "verified", "owners_reread_and_equal"},
			{"reject_prepared", "prepared", "rejected", "owner_fact_absent_or_mismatched"},
			{"reject_verified", "verified", "rejected", "owner_fact_absent_or_mismatched"},
			{"activate_first", "verified", "active", "first_activation"},
			{"activate_successor", "verified", "active", "succession_activation"},
			{"drain", "active", "draining", "succession_activation"},
			{"retire", "draining", "retired", "retention_satisfied"},
		},
	},
	{
		name:    "CredentialGenerationDispatchGate",
		outside: false,
		states:  []string{"enabled", "revoked"},
		starts:  []string{"enabled"},
		transitions: []Transition{
			{"revoke", "enabled", "revoked", "authorized_revocation"},
			{"reenable", "revoked", "enabled", "authorized_reenablement"},
		},
	},
	{
		name:    "ServingPublicationBarrierSet",
		outside: false,
		states:  []string{"acquiring", "held", "released", "activation_committed"},
		starts:  []string{"acquiring"},
		transitions: []Transition{
			{"hold", "acquiring", "held", "every_owner_receipt_verified"},
			{"release_acquiring_open", "acquiring", "released", "rollback_open_abort"},
			{"release_acquiring_restored", "acquiring", "released", "restore_won_no_commit"},
			{"release_acquiring_early", "acquiring", "released", "succession_not_begun"},
			{"commit_activation", "held", "activation_committed", "activation_in_this_transaction"},
			{"release_held_open", "held", "released", "rollback_open_abort"},
			{"release_held_restored", "held", "released", "restore_won_no_commit"},
			{"release_held_early", "held", "released", "succession_not_begun"},
			{"release_after_readback", "activation_committed", "released", "activation_read_back"},
		},
	},
	{
		name:    "ProjectionWindow",
		outside: false,
		states:  []string{"open", "sealed", "quarantined"},
		starts:  []string{"open"},
		transitions: []Transition{
			{"seal", "open", "sealed", "close_policy_reached"},
			{"quarantine", "open", "quarantined", "closed_reason"},
		},
	},
	{
		name:    "Execution",
		outside: false,
		states:  []string{"ready", "waiting_dependency", "completed", "quarantined"},
		starts:  []string{"ready"},
		transitions: []Transition{
			{"wait", "ready", "waiting_dependency", "unmet_dependency"},
			{"complete", "ready", "completed", "runtime_receipt"},
			{"quarantine_ready", "ready", "quarantined", "runtime_closed_command"},
			{"resume", "waiting_dependency", "ready", "every_dependency_satisfied"},
			{"quarantine_waiting", "waiting_dependency", "quarantined", "dependency_failed"},
		},
	},
	{
		name:    "ExecutionDependency",
		outside: false,
		states:  []string{"waiting", "satisfied", "expired", "rejected"},
		starts:  []string{"waiting"},
		transitions: []Transition{
			{"satisfy", "waiting", "satisfied", "requirement_met"},
			{"expire", "waiting", "expired", "deadline_passed_unmet"},
			{"reject", "waiting", "rejected", "requirement_impossible"},
		},
	},
	{
		name:        "ApplicationResult",
		outside:     false,
		states:      []string{"applied", "noop", "rejected", "failed"},
		starts:      []string{"applied", "noop", "rejected", "failed"},
		transitions: []Transition{},
	},
	{
		name:    "RemoteEffect",
		outside: false,
		states:  []string{"prepared", "dispatching", "quarantined", "remote_confirmed", "uncertain", "no_effect", "finalized"},
		starts:  []string{"prepared"},
		transitions: []Transition{
			{"dispatch", "prepared", "dispatching", "permit_granted"},
			{"quarantine_prepared", "prepared", "quarantined", "closed_reason"},
			{"confirm", "dispatching", "remote_confirmed", "remote_success"},
			{"settle_uncertain", "dispatching", "uncertain", "outcome_ambiguous"},
			{"isolate_sending", "dispatching", "uncertain", "sending_holder_isolated"},
			{"end_no_effect", "dispatching", "no_effect", "no_effect_and_no_further_attempt"},
			{"retry_no_effect", "dispatching", "prepared", "no_effect_and_retry_permitted"},
			{"return_unsent", "dispatching", "prepared", "granted_permit_abandoned"},
			{"reconcile_confirmed", "uncertain", "remote_confirmed", "remote_success"},
			{"reconcile_no_effect", "uncertain", "no_effect", "no_effect_and_no_further_attempt"},
			{"quarantine_uncertain", "uncertain", "quarantined", "closed_reason"},
			{"reconcile_retry", "uncertain", "prepared", "no_effect_and_retry_permitted"},
			{"repeat_exactly", "uncertain", "prepared", "exact_repeat_is_idempotent"},
			{"finalize", "remote_confirmed", "finalized", "link_settled"},
		},
	},
	{
		name:    "DispatchPermit",
		outside: false,
		states:  []string{"granted", "sending", "abandoned", "returned"},
		starts:  []string{"granted"},
		transitions: []Transition{
			{"begin_send", "granted", "sending", "holder_and_credential_fence"},
			{"abandon_isolated", "granted", "abandoned", "granted_holder_isolated"},
			{"abandon_revoked", "granted", "abandoned", "credential_fence_advanced"},
			{"settle", "sending", "returned", "provider_evidence"},
			{"abandon_sending", "sending", "abandoned", "sending_holder_isolated"},
		},
	},
	{
		name:    "RemoteLink",
		outside: false,
		states:  []string{"active", "retired"},
		starts:  []string{"active"},
		transitions: []Transition{
			{"retire", "active", "retired", "authorized_retirement"},
		},
	},
	{
		name:    "CutoverDecision",
		outside: true,
		states:  []string{"rollback_open", "activating_v2", "v2_committed", "restoring_v1", "v1_restored"},
		starts:  []string{"rollback_open"},
		transitions: []Transition{
			{"choose_activation", "rollback_open", "activating_v2", "activation_chosen"},
			{"commit_activation", "activating_v2", "v2_committed", "activation_read_back"},
			{"choose_restore", "rollback_open", "restoring_v1", "restore_chosen"},
			{"commit_restore", "restoring_v1", "v1_restored", "restore_completed"},
		},
	},
	{
		name:    "OwnerPublicationBarrier",
		outside: false,
		states:  []string{"open", "held"},
		starts:  []string{"open"},
		transitions: []Transition{
			{"hold", "open", "held", "activation_attempt_asked"},
			{"release", "held", "open", "fenced_release"},
		},
	},
	{
		name:    "Receipt",
		outside: false,
		states:  []string{"pending", "materialized"},
		starts:  []string{"pending"},
		transitions: []Transition{
			{"materialize", "pending", "materialized", "every_component_written"},
		},
	},
	{
		name:    "Projection",
		outside: false,
		states:  []string{"waiting", "minted", "superseded", "quarantined"},
		starts:  []string{"waiting"},
		transitions: []Transition{
			{"mint", "waiting", "minted", "execution_born"},
			{"supersede", "waiting", "superseded", "newer_position_taken"},
			{"quarantine", "waiting", "quarantined", "closed_reason"},
		},
	},
	{
		name:    "OrderingLane",
		outside: false,
		states:  []string{"free", "taken", "held"},
		starts:  []string{"free"},
		transitions: []Transition{
			{"take", "free", "taken", "execution_born"},
			{"release", "taken", "free", "runtime_receipt"},
			{"hold_failed", "taken", "held", "runtime_receipt"},
			{"hold_closed", "taken", "held", "runtime_closed_command"},
			{"hold_unmet", "taken", "held", "dependency_failed"},
		},
	},
}

var proofs = map[Proof]string{
	"readiness_under_closed_barriers":      "The exact readiness certificate, and a receipt of each owner that its root barrier is closed.",
	"barriers_restored_before_termination": "The owners' barriers are restored and V2 is stopped, while no termination or isolation receipt exists.",
	"termination_and_isolation_receipts":   "Receipts that the exact V1 process generation cannot run again and cannot reach a provider.",
	"shutdown_certificate":                 "The one shutdown certificate over the inventory taken after isolation.",
	"new_generation_of_certified_release":  "No V2 mutation happened, and a new process generation of the exact certified V1 release was started.",
	"restore_completed":                    "The recovery receipt of the winning restore attempt, kept outside the restored database.",
	"recovery_point":                       "A rehearsed recovery point of the complete database, taken after the drain was certified.",
	"recovery_point_restored":              "The complete recovery point was restored and each of its bindings verified.",
	"first_activation":                     "The first activation: this epoch, every gate and the held barrier set move in one commit.",
	"authorized_halt":                      "An authorised request to halt, with its reason and principal.",
	"open_set_empty":                       "Under the gate's own lock, no permit of either kind is open.",
	"no_handoff_committed":                 "No ordering handoff was committed, so the predecessor may resume.",
	"succession_activation":                "A successor's activation: both epochs, every gate and the held barrier set move in one commit.",
	"owners_reread_and_equal":              "Fresh reads of every owner reproduce each prepared byte.",
	"owner_fact_absent_or_mismatched":      "An owner answered with authority that a fact is absent, or different from what was prepared.",
	"retention_satisfied":                  "Every fact of the epoch is terminal and its retention is met.",
	"authorized_revocation":                "An authorised revocation of this credential generation.",
	"authorized_reenablement":              "An authorised reenablement of this credential generation.",
	"every_owner_receipt_verified":         "One fenced receipt of each required owner, verified.",
	"rollback_open_abort":                  "A first activation given up while the cutover decision is still open.",
	"restore_won_no_commit":                "A restore won the cutover decision and no activation was committed.",
	"succession_not_begun":                 "A succession given up before its activation transaction began.",
	"activation_in_this_transaction":       "The activation itself, committed together with this transition.",
	"activation_read_back":                 "A fresh read shows the epoch and the whole gate set active.",
	"close_policy_reached":                 "The frozen close policy of the window is reached.",
	"closed_reason":                        "A code of the closed reason table, with its evidence.",
	"unmet_dependency":                     "A dependency of this execution is waiting.",
	"runtime_receipt":                      "The exact receipt of the Runtime for this command and execution reference.",
	"runtime_closed_command":               "The Runtime closed the command for good: nothing can commit under it later.",
	"every_dependency_satisfied":           "Each dependency of this execution is satisfied.",
	"dependency_failed":                    "A dependency of this execution expired or was rejected.",
	"requirement_met":                      "The required fact exists.",
	"deadline_passed_unmet":                "In the transaction that found the requirement unmet, its immutable deadline had passed.",
	"requirement_impossible":               "The required fact can never exist.",
	"permit_granted":                       "A permit for this attempt is granted in the same transaction.",
	"remote_success":                       "Evidence that the provider performed the effect.",
	"outcome_ambiguous":                    "A settlement that can neither confirm the effect nor rule it out.",
	"sending_holder_isolated":              "The holder of the sending permit is terminated and cut off from the provider.",
	"no_effect_and_no_further_attempt":     "Proof that nothing was done at the provider; the frozen policy ends here.",
	"no_effect_and_retry_permitted":        "Proof that nothing was done at the provider; the frozen policy permits another attempt.",
	"granted_permit_abandoned":             "The permit was abandoned before it could send.",
	"exact_repeat_is_idempotent":           "The frozen contract makes a byte-identical repeat under the same provider key harmless.",
	"link_settled":                         "The remote link stands, or the frozen contract needs none.",
	"holder_and_credential_fence":          "The permit's own holder, its credential gate enabled at the fence that the permit copied.",
	"granted_holder_isolated":              "The holder of the granted permit is terminated and cut off from the provider.",
	"credential_fence_advanced":            "The credential gate moved past the fence that the permit copied, so the permit can never send.",
	"provider_evidence":                    "What the one call brought back, or that nothing was written.",
	"authorized_retirement":                "An authorised retirement of this link.",
	"activation_chosen":                    "The activation branch won the one durable decision.",
	"restore_chosen":                       "The restore branch won the one durable decision.",
	"every_component_written":              "Every component that the frozen pack makes of the body has its row, with all that follows from it.",
	"execution_born":                       "The execution that applies this input is born in the same transaction.",
	"newer_position_taken":                 "The lane has taken a greater position of the same partition, or completed this one.",
	"activation_attempt_asked":             "The activation attempt that asked, with the fence of its coordinator.",
	"fenced_release":                       "An explicit release for the holding attempt, by a coordinator that is not stale.",
}
