package schema

import (
	"database/sql/driver"

	"connectorcore/facts"
	"connectorcore/machines"
)

var gateFact = &Table{
	Name: "account_serving_gate", Kind: Fact,
	Says: "The birth of an account's gate.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "deployment_id", Type: typeID},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"account_id"},
	Reader:  "the gate's own transactions, by exact account",
}

var gateGuard = guardTable(machines.AccountServingGate, Guard, RankGate, Table{
	Says: "An account's gate: its mode, its fence and the epoch under which it serves.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "epoch_id", Type: typeID, Nullable: true},
		{Name: "epoch_digest", Type: typeDigest, Nullable: true},
	},
	Primary: []string{"account_id"},
	Reader:  "every transaction that admits, claims, authors or acquires, by exact account, locked",
	Checks: []Check{
		{"account_serving_gate_guard_epoch", "(epoch_id IS NULL) = (epoch_digest IS NULL)"},
		{"account_serving_gate_guard_serving", "epoch_id IS NOT NULL OR state NOT IN ('v2_serving', 'halting_v2', 'v2_halted')"},
	},
})

var epochFact = &Table{
	Name: "serving_epoch", Kind: Fact,
	Says: "The immutable identity of one frozen generation.",
	Columns: []Column{
		{Name: "epoch_id", Type: typeID},
		{Name: "digest_profile", Type: typeProfile},
		{Name: "epoch_digest", Type: typeDigest},
		{Name: "share_count", Type: typeCount},
		{Name: "shares_digest", Type: typeDigest},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"epoch_id"},
	Reader:  "whoever holds an exact epoch reference",
}

var epochGuard = guardTable(machines.ServingEpoch, Guard, RankEpoch, Table{
	Says:    "An epoch's state, stored once.",
	Columns: []Column{{Name: "epoch_id", Type: typeID}},
	Primary: []string{"epoch_id"},
	Reader:  "transitions of the epoch, locked; production transactions, by a current read under their share; the activation coordinator, all of them",
})

var epochShare = &Table{
	Name: "serving_epoch_share", Kind: Fact, Rank: RankShare,
	Says: "One account's share of an epoch, made with the candidate, never added or removed.",
	Columns: []Column{
		{Name: "epoch_id", Type: typeID},
		{Name: "account_id", Type: typeID},
	},
	Primary: []string{"epoch_id", "account_id"},
	Reader:  "production transactions, by exact epoch and account, locked; transitions of the epoch, all of one epoch",
}

var credentialFact = &Table{
	Name: "credential_generation_dispatch_gate", Kind: Fact,
	Says: "The birth of the dispatch gate of one credential generation.",
	Columns: []Column{
		{Name: "generation_id", Type: typeID},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"generation_id"},
	Reader:  "the gate's own transactions, by exact generation",
}

var credentialGuard = guardTable(machines.CredentialGenerationDispatchGate, Guard, RankCredentialGate, Table{
	Says:    "Whether a credential generation may be used for dispatch, and its fence.",
	Columns: []Column{{Name: "generation_id", Type: typeID}},
	Primary: []string{"generation_id"},
	Reader:  "acquisition and begin-send, revocation and reenablement, by exact generation, locked",
})

var barrierFact = &Table{
	Name: "serving_publication_barrier_set", Kind: Fact,
	Says: "The birth of one activation attempt's barrier set.",
	Columns: []Column{
		{Name: "barrier_set_id", Type: typeID},
		{Name: "scope_digest", Type: typeDigest},
		{Name: "attempt_id", Type: typeID},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"barrier_set_id"},
	Reader:  "the activation coordinator, by exact set, and all of them when it goes on from what another process left",
}

// ColumnOpenScope is the scope of a barrier set that is not released.
const ColumnOpenScope = "open_scope"

var barrierGuard = guardTable(machines.ServingPublicationBarrierSet, Guard, RankBarrierSet, Table{
	Says: "How far a barrier set has come, who coordinates it, and its fence.",
	Columns: []Column{
		{Name: "barrier_set_id", Type: typeID},
		{Name: ColumnOpenScope, Type: typeDigest, Nullable: true},
		{Name: "holder_fence", Type: typeCount},
	},
	Primary: []string{"barrier_set_id"},
	Reader:  "acquire, activate and release, by exact set, locked",
	Indexes: []Index{{Name: "serving_publication_barrier_set_guard_scope", Columns: []string{ColumnOpenScope}, Unique: true,
		Reader: "U07: at most one set of a scope that is not released; opening one reads it"}},
})

var (
	gateLedger       = ledgerTable(machines.AccountServingGate)
	epochLedger      = ledgerTable(machines.ServingEpoch)
	credentialLedger = ledgerTable(machines.CredentialGenerationDispatchGate)
	barrierLedger    = ledgerTable(machines.ServingPublicationBarrierSet)
)

var servingTables = []*Table{
	gateFact, gateGuard, gateLedger,
	epochFact, epochGuard, epochLedger, epochShare,
	credentialFact, credentialGuard, credentialLedger,
	barrierFact, barrierGuard, barrierLedger,
}

// Rows of the serving side.
var (
	AccountServingGates = Rows[facts.AccountServingGate]{gateFact, func(r *facts.AccountServingGate) []any {
		return []any{&r.Account, &r.Deployment}
	}}
	ServingEpochs = Rows[facts.ServingEpoch]{epochFact, func(r *facts.ServingEpoch) []any {
		return []any{&r.ID, (*profileColumn)(&r.Profile), &r.Digest, &r.ShareCount, &r.SharesDigest}
	}}
	EpochShares = Rows[facts.EpochShare]{epochShare, func(r *facts.EpochShare) []any {
		return []any{&r.Epoch, &r.Account}
	}}
	CredentialGenerationDispatchGates = Rows[facts.CredentialGenerationDispatchGate]{credentialFact,
		func(r *facts.CredentialGenerationDispatchGate) []any { return []any{&r.Generation} }}
	ServingPublicationBarrierSets = Rows[facts.ServingPublicationBarrierSet]{barrierFact,
		func(r *facts.ServingPublicationBarrierSet) []any { return []any{&r.ID, &r.Scope, &r.Attempt} }}
)

// Guards of the serving side.
var (
	Gates = GuardRows[facts.AccountID, facts.Gate, machines.AccountServingGateState, machines.AccountServingGateEdge]{
		Machine: machines.AccountServingGate, Table: gateGuard, Ledger: gateLedger,
		Key: func(k *facts.AccountID) []any { return []any{k} },
		Fields: func(g *facts.Gate) []any {
			return []any{&g.Account, optional[facts.EpochID]{&g.Epoch.ID}, optional[facts.Digest]{&g.Epoch.Digest}}
		},
		KeyOf:   func(g *facts.Gate) facts.AccountID { return g.Account },
		Subject: func(k facts.AccountID) facts.SubjectID { return facts.SubjectID(k) },
		Start:   machines.AccountServingGateV1Serving,
	}
	Epochs = standing(machines.ServingEpochPrepared, machines.ServingEpochVerify, epochGuard, epochLedger,
		func(g *facts.EpochGuard) *facts.EpochID { return &g.Epoch })
	CredentialGates = standing(machines.CredentialGenerationDispatchGateEnabled, machines.CredentialGenerationDispatchGateRevoke,
		credentialGuard, credentialLedger, func(g *facts.CredentialGate) *facts.CredentialGenerationID { return &g.Generation })
	BarrierSets = GuardRows[facts.BarrierSetID, facts.BarrierSetGuard, machines.ServingPublicationBarrierSetState, machines.ServingPublicationBarrierSetEdge]{
		Machine: machines.ServingPublicationBarrierSet, Table: barrierGuard, Ledger: barrierLedger,
		Key: func(k *facts.BarrierSetID) []any { return []any{k} },
		Fields: func(g *facts.BarrierSetGuard) []any {
			return []any{&g.BarrierSet, optional[facts.Digest]{&g.OpenScope}, &g.Holder}
		},
		KeyOf:   func(g *facts.BarrierSetGuard) facts.BarrierSetID { return g.BarrierSet },
		Subject: func(k facts.BarrierSetID) facts.SubjectID { return facts.SubjectID(k) },
		Start:   machines.ServingPublicationBarrierSetAcquiring,
	}
)

// profileColumn stores a profile as its exact id. What has no id is never written, and an unknown id is never read.
type profileColumn facts.Profile

func (p *profileColumn) Value() (driver.Value, error) {
	if _, err := facts.ParseProfile(facts.Profile(*p).String()); err != nil {
		return nil, unbound("a digest profile without an id")
	}
	return []byte(facts.Profile(*p).String()), nil
}

func (p *profileColumn) Scan(source any) error {
	raw, ok := source.([]byte)
	if !ok {
		return misread("a digest profile id", source)
	}
	profile, err := facts.ParseProfile(string(raw))
	*p = profileColumn(profile)
	return err
}
