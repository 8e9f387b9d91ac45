package facts

// The kinds of ID. A kind is never instantiated.
type (
	accountKind              struct{}
	deploymentKind           struct{}
	epochKind                struct{}
	credentialGenerationKind struct{}
	barrierSetKind           struct{}
	activationAttemptKind    struct{}
	ownerBarrierKind         struct{}
	bindingKind              struct{}
	receiptKind              struct{}
	componentKind            struct{}
	eventKind                struct{}
	projectionKind           struct{}
	laneKind                 struct{}
	windowKind               struct{}
	executionKind            struct{}
	dependencyKind           struct{}
	commandKind              struct{}
	resultKind               struct{}
	outboundCommandKind      struct{}
	effectGenerationKind     struct{}
	effectKind               struct{}
	attemptKind              struct{}
	permitKind               struct{}
	linkKind                 struct{}
	holderKind               struct{}
	subjectKind              struct{}
	replayRequestKind        struct{}
)

// The typed ids of the durable model, in the order of the two chains of the spec.
type (
	AccountID              = ID[accountKind]
	DeploymentID           = ID[deploymentKind]
	EpochID                = ID[epochKind]
	CredentialGenerationID = ID[credentialGenerationKind]
	BarrierSetID           = ID[barrierSetKind]
	ActivationAttemptID    = ID[activationAttemptKind]
	OwnerBarrierID         = ID[ownerBarrierKind]
	BindingID              = ID[bindingKind] // one Catalog binding in one epoch
	ReceiptID              = ID[receiptKind]
	ComponentID            = ID[componentKind]
	EventID                = ID[eventKind]
	ProjectionID           = ID[projectionKind]
	LaneID                 = ID[laneKind]
	WindowID               = ID[windowKind]
	ExecutionID            = ID[executionKind]
	DependencyID           = ID[dependencyKind]
	CommandID              = ID[commandKind] // Runtime's command, one an Execution
	ResultID               = ID[resultKind]
	OutboundCommandID      = ID[outboundCommandKind]
	EffectGenerationID     = ID[effectGenerationKind] // stable across retries; only an authorised successor has another
	EffectID               = ID[effectKind]
	AttemptID              = ID[attemptKind]
	PermitID               = ID[permitKind]
	LinkID                 = ID[linkKind]
	ReplayRequestID        = ID[replayRequestKind]
	HolderID               = ID[holderKind]  // one process start, which holders, leases and drivers name
	SubjectID              = ID[subjectKind] // whatever a ledger row is about
)

// Fence is the token of a guard: 1 at its birth, advanced by each edge and by nothing else (R04). The ledger row of
// a transition carries as its seq the fence that the transition consumed. The zero Fence matches no guard.
type Fence uint64

// The digests that are themselves names. Each is the whole 32 bytes, since uniqueness never stands on 16 (R15).
type (
	// CanonicalProjectionDigest names one application input under every epoch, execution and replay.
	CanonicalProjectionDigest struct{ Digest }
	// EffectRootID names the application's original intent. It is the same under every epoch, execution and replay
	// (R17), so that a replay correlates with the effect which the first run had.
	EffectRootID struct{ Digest }
	// IdempotencyKey is the digest of the logical-effect key: scope, root, slot and generation.
	IdempotencyKey struct{ Digest }
	// ExecutionRefDigest is what Runtime's result is addressed by, beside its command.
	ExecutionRefDigest struct{ Digest }
	// EpochDigest is the digest of a serving epoch's whole preimage.
	EpochDigest struct{ Digest }
)
