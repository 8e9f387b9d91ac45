package facts

// HeadKey is the exact key of a head: its account, then its subject, so that "what is still open on this account" is
// one range of the primary key.
type HeadKey[K any] struct {
	Account AccountID
	Subject ID[K]
}

// The keys of the heads.
type (
	ReceiptKey    = HeadKey[receiptKind]
	ProjectionKey = HeadKey[projectionKind]
	LaneKey       = HeadKey[laneKind]
	WindowKey     = HeadKey[windowKind]
	ExecutionKey  = HeadKey[executionKind]
	DependencyKey = HeadKey[dependencyKind]
	EffectKey     = HeadKey[effectKind]
	PermitKey     = HeadKey[permitKind]
	LinkKey       = HeadKey[linkKind]
)
