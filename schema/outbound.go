package schema

import (
	"connectorcore/facts"
	"connectorcore/facts/outbound"
	"connectorcore/machines"
)

var effectFact = &Table{
	Name: "remote_effect", Kind: Fact,
	Says: "The birth of the one lifecycle of a logical external effect.",
	Columns: []Column{
		{Name: "effect_id", Type: typeID},
		{Name: "account_id", Type: typeID},
		{Name: "outbound_command_id", Type: typeID},
		{Name: "logical_effect_digest", Type: typeDigest},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"effect_id"},
	Reader:  "attempts and settlements, by exact effect",
	Indexes: []Index{{Name: "remote_effect_command", Columns: []string{"outbound_command_id"}, Unique: true,
		Reader: "exactly one effect per OutboundCommand; redelivery finds it"}},
}

var effectHead = guardTable(machines.RemoteEffect, Head, RankEffect, Table{
	Says: "An effect that has not ended.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "effect_id", Type: typeID},
	},
	Primary: []string{"account_id", "effect_id"},
	Reader:  "acquisition, settlement and reconciliation, by exact effect, locked; the account's open effects",
})

var permitFact = &Table{
	Name: "dispatch_permit", Kind: Fact,
	Says: "The birth of the one-shot authorisation of one attempt, with the fences that its acquisition saw.",
	Columns: []Column{
		{Name: "permit_id", Type: typeID},
		{Name: "account_id", Type: typeID},
		{Name: "effect_id", Type: typeID},
		{Name: "attempt_id", Type: typeID},
		{Name: "holder_id", Type: typeID},
		{Name: "generation_id", Type: typeID},
		{Name: "gate_fence", Type: typeCount},
		{Name: "credential_fence", Type: typeCount},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"permit_id"},
	Reader:  "begin-send and settlement, by exact permit",
	Indexes: []Index{{Name: "dispatch_permit_attempt", Columns: []string{"attempt_id"}, Unique: true,
		Reader: "at most one permit per attempt"}},
}

// The head of a permit is its membership in the account's open set: being open and being counted are one row, so
// that no open permit can be missing from the set that a halt waits for.
var permitHead = guardTable(machines.DispatchPermit, Head, RankPermit, Table{
	Says: "An open permit: a member of its gate's open set.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "permit_id", Type: typeID},
	},
	Primary: []string{"account_id", "permit_id"},
	Reader:  "begin-send and settlement, by exact permit, locked; confirming a halt, the account's whole set",
})

var linkFact = &Table{
	Name: "remote_link", Kind: Fact,
	Says: "The birth of a link between an owner slot and a proven remote identity.",
	Columns: []Column{
		{Name: "link_id", Type: typeID},
		{Name: "account_id", Type: typeID},
		{Name: "remote_identity_digest", Type: typeDigest},
		{Name: "owner_slot_digest", Type: typeDigest},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"link_id"},
	Reader:  "whoever holds an exact link",
}

var linkHead = guardTable(machines.RemoteLink, Head, RankLink, Table{
	Says: "An active link.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "link_id", Type: typeID},
		{Name: "remote_identity_digest", Type: typeDigest},
		{Name: "owner_slot_digest", Type: typeDigest},
	},
	Primary: []string{"account_id", "link_id"},
	Reader:  "retirement, by exact link, locked",
	Indexes: []Index{
		{Name: "remote_link_head_identity", Columns: []string{"remote_identity_digest"}, Unique: true,
			Reader: "one active link per remote identity; settlement finds it"},
		{Name: "remote_link_head_slot", Columns: []string{"owner_slot_digest"}, Unique: true,
			Reader: "one active link per owner slot; authoring finds it"},
	},
})

var (
	effectLedger = ledgerTable(machines.RemoteEffect)
	permitLedger = ledgerTable(machines.DispatchPermit)
	linkLedger   = ledgerTable(machines.RemoteLink)
)

var outboundTables = []*Table{
	effectFact, effectHead, effectLedger,
	permitFact, permitHead, permitLedger,
	linkFact, linkHead, linkLedger,
}

// Rows of the outbound side.
var (
	RemoteEffects = Rows[outbound.RemoteEffect]{effectFact, func(r *outbound.RemoteEffect) []any {
		return []any{&r.ID, &r.Account, &r.Command, &r.LogicalEffect}
	}}
	DispatchPermits = Rows[outbound.DispatchPermit]{permitFact, func(r *outbound.DispatchPermit) []any {
		return []any{&r.ID, &r.Account, &r.Effect, &r.Attempt, &r.Holder, &r.Generation, &r.GateFence, &r.CredentialFence}
	}}
	RemoteLinks = Rows[outbound.RemoteLink]{linkFact, func(r *outbound.RemoteLink) []any {
		return []any{&r.ID, &r.Account, &r.RemoteIdentity, &r.OwnerSlot}
	}}
)

// Heads of the outbound side.
var (
	EffectHeads = heads(machines.RemoteEffectPrepared, machines.RemoteEffectDispatch, effectHead, effectLedger,
		func(g *outbound.EffectHead) (*facts.AccountID, *facts.EffectID) { return &g.Account, &g.Effect },
		func(*outbound.EffectHead) []any { return nil })
	PermitHeads = heads(machines.DispatchPermitGranted, machines.DispatchPermitBeginSend, permitHead, permitLedger,
		func(g *outbound.PermitHead) (*facts.AccountID, *facts.PermitID) { return &g.Account, &g.Permit },
		func(*outbound.PermitHead) []any { return nil })
	LinkHeads = heads(machines.RemoteLinkActive, machines.RemoteLinkRetire, linkHead, linkLedger,
		func(g *outbound.LinkHead) (*facts.AccountID, *facts.LinkID) { return &g.Account, &g.Link },
		func(g *outbound.LinkHead) []any { return []any{&g.RemoteIdentity, &g.OwnerSlot} })
)
