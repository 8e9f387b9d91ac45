package facts

// RemoteEffect is the birth of the one lifecycle of a logical external effect.
//
// Spec: Outbound facts.
type RemoteEffect struct {
	ID            EffectID
	Account       AccountID
	Command       OutboundCommandID
	LogicalEffect Digest
}

// EffectHead is an effect that has not ended.
type EffectHead struct {
	Account AccountID
	Effect  EffectID
}

// DispatchPermit is the birth of the one-shot authorisation of one attempt, with the fences that its acquisition saw.
//
// Spec: Outbound facts.
type DispatchPermit struct {
	ID              PermitID
	Account         AccountID
	Effect          EffectID
	Attempt         AttemptID
	Holder          HolderID
	Generation      CredentialGenerationID
	GateFence       Fence
	CredentialFence Fence
}

// PermitHead is an open permit: a member of its gate's open set for as long as it exists.
type PermitHead struct {
	Account AccountID
	Permit  PermitID
}

// RemoteLink is the birth of the authority that connects an owner slot of ours with a proven remote identity. Both
// are digests of their canonical, account-scoped keys.
//
// Spec: Outbound facts.
type RemoteLink struct {
	ID             LinkID
	Account        AccountID
	RemoteIdentity Digest
	OwnerSlot      Digest
}

// LinkHead is an active link: one for a remote identity, and one for an owner slot.
type LinkHead struct {
	Account        AccountID
	Link           LinkID
	RemoteIdentity Digest
	OwnerSlot      Digest
}
