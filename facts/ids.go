package facts

// The kinds of ID. A kind is never instantiated.
type (
	accountKind              struct{}
	deploymentKind           struct{}
	epochKind                struct{}
	credentialGenerationKind struct{}
	barrierSetKind           struct{}
	activationAttemptKind    struct{}
	receiptKind              struct{}
	eventKind                struct{}
	projectionKind           struct{}
	windowKind               struct{}
	executionKind            struct{}
	dependencyKind           struct{}
	commandKind              struct{}
	resultKind               struct{}
	outboundCommandKind      struct{}
	effectKind               struct{}
	attemptKind              struct{}
	permitKind               struct{}
	linkKind                 struct{}
	holderKind               struct{}
	subjectKind              struct{}
)

// The typed ids of the durable model, in the order of the two chains of the spec.
type (
	AccountID              = ID[accountKind]
	DeploymentID           = ID[deploymentKind]
	EpochID                = ID[epochKind]
	CredentialGenerationID = ID[credentialGenerationKind]
	BarrierSetID           = ID[barrierSetKind]
	ActivationAttemptID    = ID[activationAttemptKind]
	ReceiptID              = ID[receiptKind]
	EventID                = ID[eventKind]
	ProjectionID           = ID[projectionKind]
	WindowID               = ID[windowKind]
	ExecutionID            = ID[executionKind]
	DependencyID           = ID[dependencyKind]
	CommandID              = ID[commandKind] // Runtime's command, one an Execution
	ResultID               = ID[resultKind]
	OutboundCommandID      = ID[outboundCommandKind]
	EffectID               = ID[effectKind]
	AttemptID              = ID[attemptKind]
	PermitID               = ID[permitKind]
	LinkID                 = ID[linkKind]
	HolderID               = ID[holderKind]  // one process start, which holders, leases and drivers name
	SubjectID              = ID[subjectKind] // whatever a ledger row is about
)

// Fence is the token of a guard: 1 at its birth, advanced by each edge and by nothing else (R04). The ledger row of
// a transition carries as its seq the fence that the transition consumed. The zero Fence matches no guard.
type Fence uint64
