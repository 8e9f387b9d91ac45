package facts

// Code is one closed refusal or reason code. The order of the constants is the order of precedence; it may change,
// the text of a code may not. The zero Code is none of them, so that a Refusal that nobody filled in says nothing.
type Code uint16

// The process does not start.
const (
	ConfigurationInvalid Code = iota + 1
	StoreUnreachable
	StoreTooOld
	StoreSessionUnsafe
	StoreSettingsUnsafe
	StoreDirectoryForeign
	StoreDirectoryInUse
	SchemaDiffers
	PrivilegesDiffer

	// An item is refused before anything is locked.
	MethodNotAllowed
	MediaTypeUnsupported
	BodyIncomplete
	SignatureInvalid
	AccountBusy
	BatchTooLarge
	BodyTooLarge
	BodyUnreadable
	BodyTooDeep
	ComponentsMissing
	ComponentsTooMany
	EventUnmatched
	ExpressionFailed
	ExpressionTypeDiffers
	ExpressionTooCostly
	InputTooLarge
	KeyNotCanonical
	NumberNotInteger
	PositionUnreadable
	PositionKindsDiffer
	ProfileUnsupported
	ProfileNotAuthored
	ProfilesDiffer
	GenerationMalformed
	SecretUnusable

	// An item is refused under its locks, in this order.
	NotServing
	StaleFence
	EpochMismatch
	EpochNotActive
	ShareMissing
	ShareSetDiffers
	Revoked
	StaleCredentialFence
	BindingMismatch
	StaleHolder
	LeaseHeld
	SubjectMissing
	SubjectEnded
	WrongState
	ContentDiffers
	ConformanceOnly
	PermitsOpen
	WorkOpen
	BarrierNotHeld
	BarrierReceiptDiffers
	OwnerUnavailable
	OwnerDisagrees
	PublicationBarred
	GenerationReferenced
	PredecessorOpen
	PredecessorHadEffect
	RepeatNotAllowed
	RepeatTooLate
	NoEffectUnproved
	IsolationUnproved
	ResultMissing
	RemoteIntentsRefused
	LinkTaken

	// A subject stands still until its owner acts.
	GateHalted
	GateDraining
	StoreBehindWitness
	EpochUnverified
	BarrierHeld
	CredentialRevoked
	ExecutionWaiting
	ExecutionFailing
	EffectUncertain
	EffectBlocked
	EffectReferenceMissing
	EvidenceContradicts
	PermitOpen
	LinkConflict

	// A subject is set aside for good.
	PositionTied
	SequenceGap
	WindowOverLimit
	WindowAmbiguous
	DependencyExpired
	DependencyRejected
	ExecutionExhausted
	ExecutionReferenceMissing
	ResultContradicts
	EffectUnresolvable
	EffectReferenceGone

	codes // one past the last
)
