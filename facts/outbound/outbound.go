// Package outbound holds the facts and heads of the outbound chain: effects, permits and links.
//
// Spec: Outbound facts.
package outbound

import "connectorcore/facts"

// RemoteEffect is the birth of the one lifecycle of a logical external effect.
//
// Spec: Outbound facts.
type RemoteEffect struct {
	ID            facts.EffectID
	Account       facts.AccountID
	Command       facts.OutboundCommandID
	LogicalEffect facts.Digest
}

// EffectHead is an effect that has not ended.
type EffectHead struct {
	Account facts.AccountID
	Effect  facts.EffectID
}

// DispatchPermit is the birth of the one-shot authorisation of one attempt, with the fences that its acquisition saw.
//
// Spec: Outbound facts.
type DispatchPermit struct {
	ID              facts.PermitID
	Account         facts.AccountID
	Effect          facts.EffectID
	Attempt         facts.AttemptID
	Holder          facts.HolderID
	Generation      facts.CredentialGenerationID
	GateFence       facts.Fence
	CredentialFence facts.Fence
}

// PermitHead is an open permit: a member of its gate's open set for as long as it exists.
type PermitHead struct {
	Account facts.AccountID
	Permit  facts.PermitID
}

// RemoteLink is the birth of the authority that connects an owner slot of ours with a proven remote identity. Both
// are digests of their canonical, account-scoped keys.
//
// Spec: Outbound facts.
type RemoteLink struct {
	ID             facts.LinkID
	Account        facts.AccountID
	RemoteIdentity facts.Digest
	OwnerSlot      facts.Digest
}

// LinkHead is an active link: one for a remote identity, and one for an owner slot.
type LinkHead struct {
	Account        facts.AccountID
	Link           facts.LinkID
	RemoteIdentity facts.Digest
	OwnerSlot      facts.Digest
}
