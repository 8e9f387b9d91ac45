package owners

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/serving"
)

// Exact is one generation as its owner wrote it.
type Exact struct {
	Name      serving.Name // the owner's own name of it
	Protocol  facts.Protocol
	Canonical serving.Opaque
	Digest    facts.Digest // the owner's own digest of the canonical bytes
	Receipt   serving.Receipt
}

// Ask names who wants to hold or to release an owner's publication barrier.
type Ask struct {
	Scope   serving.Scope
	Attempt facts.ActivationAttemptID
	// Fence is the coordinator's own. A later coordinator of the same attempt has a greater one, and from its first
	// request on the owner refuses the earlier one.
	Fence facts.Fence
}

// Hold is an owner's statement that an attempt holds its barrier. It is the same, byte for byte, in every answer to
// that attempt, a take-over by a later coordinator included.
type Hold struct {
	Owner   serving.Owner
	Scope   serving.Scope
	Attempt facts.ActivationAttemptID
	Fence   facts.Fence // the barrier's own, at the hold
	Receipt serving.Receipt
}

// Barrier is an owner's publication barrier. While an attempt holds it, every write of that owner which publishes,
// selects, retains or revokes something of the scope is refused with facts.PublicationBarred. No time ends a hold.
//
// Spec: Ownership boundaries (ServingPublicationBarrierSet).
type Barrier interface {
	// Acquire holds the barrier for the attempt, or finds that it does. An error that is no refusal leaves open
	// whether it is held: ask again with the same Ask.
	//
	// Refuses: PublicationBarred (another attempt holds it), StaleHolder (a later coordinator has come), SubjectEnded
	// (it was released for this attempt, which comes once).
	Acquire(ctx context.Context, ask Ask) (Hold, error)
	// Verify tells whether this very hold stands now.
	Verify(ctx context.Context, hold Hold) Answer[Hold]
	// Release opens the barrier, or finds that it was opened. For an attempt that never came it makes sure that no
	// request of it which is still on its way closes the barrier later.
	//
	// Refuses: StaleHolder.
	Release(ctx context.Context, ask Ask) error
}

// Catalog authorises bindings.
type Catalog interface {
	Barrier
	// CurrentView is the scope's whole view, which is the current one or nothing: a revision is the least that the
	// caller accepts and selects nothing. A view of the same lineage that is older is Unavailable, one of another
	// lineage Absent.
	CurrentView(ctx context.Context, scope serving.Scope, least serving.Revision) Answer[Exact]
}

// Definitions owns the definitions behind the bindings of one kind.
type Definitions interface {
	Barrier
	// Definition is the exact definition of a binding, by its complete identity, the pack's payload digest included.
	Definition(ctx context.Context, scope serving.Scope, identity serving.BindingIdentity) Answer[Exact]
}

// Configurations owns the tenant's configuration generations.
type Configurations interface {
	Barrier
	// Configuration is the exact generation.
	Configuration(ctx context.Context, scope serving.Scope, generation facts.ServiceConfigurationGeneration) Answer[Exact]
}

// Credentials owns credential generations. It shows what identifies them, never a secret.
type Credentials interface {
	Barrier
	// Credential is the exact generation.
	Credential(ctx context.Context, scope serving.Scope, generation facts.CredentialGenerationID) Answer[Exact]
}

// Set is every owner that an epoch needs.
type Set struct {
	Catalog         Catalog
	InboundRoutes   Definitions
	CalloutProfiles Definitions
	FieldMappings   Definitions
	PushContracts   Definitions
	Configuration   Configurations
	Credentials     Credentials
}

// Definitions is the owner of a kind; nil for no kind.
func (s Set) Definitions(kind serving.BindingKind) Definitions {
	switch kind {
	case serving.InboundRoute:
		return s.InboundRoutes
	case serving.CalloutProfile:
		return s.CalloutProfiles
	case serving.FieldMapping:
		return s.FieldMappings
	case serving.PushContract:
		return s.PushContracts
	}
	return nil
}

// Barrier is an owner's barrier; nil for no owner. A barrier set acquires them in the order of serving.Owners.
func (s Set) Barrier(owner serving.Owner) Barrier {
	switch owner {
	case serving.Catalog:
		return s.Catalog
	case serving.InboundRoutes:
		return s.InboundRoutes
	case serving.CalloutProfiles:
		return s.CalloutProfiles
	case serving.FieldMappings:
		return s.FieldMappings
	case serving.PushContracts:
		return s.PushContracts
	case serving.Configuration:
		return s.Configuration
	case serving.Credentials:
		return s.Credentials
	}
	return nil
}
