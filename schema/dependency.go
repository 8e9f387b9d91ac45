package schema

import (
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/machines"
)

var needFact = &Table{
	Name: "projection_need", Kind: Fact,
	Says: "A requirement of the execution that a waiting Projection may mint, kept until it does.",
	Columns: []Column{
		{Name: "projection_id", Type: typeID},
		{Name: "ordinal", Type: typeCount},
		{Name: "account_id", Type: typeID},
		{Name: "event_id", Type: typeID},
		{Name: "source_event_key", Type: typeKey},
		{Name: "deadline_micros", Type: typeCount},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"projection_id", "ordinal"},
	Reader:  "minting, by exact Projection",
}

var dependencyFact = &Table{
	Name: "execution_dependency", Kind: Fact,
	Says: "The birth of a requirement of an execution, with its immutable deadline.",
	Columns: []Column{
		{Name: "dependency_id", Type: typeID},
		{Name: "account_id", Type: typeID},
		{Name: "execution_id", Type: typeID},
		{Name: "ordinal", Type: typeCount},
		{Name: "needs", Type: typeCount},
		{Name: "event_id", Type: typeID},
		{Name: "source_event_key", Type: typeKey},
		{Name: "deadline_at", Type: typeInstant},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"dependency_id"},
	Reader:  "satisfaction and expiry, by exact dependency",
}

var dependencyHead = guardTable(machines.ExecutionDependency, Head, RankDependency, Table{
	Says: "A requirement that still waits.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "dependency_id", Type: typeID},
		{Name: "execution_id", Type: typeID},
		{Name: "event_id", Type: typeID},
		{Name: "due_at", Type: typeInstant},
	},
	Primary: []string{"account_id", "dependency_id"},
	Reader:  "satisfaction and expiry, by exact dependency, locked; the account's waiting requirements",
	Indexes: []Index{
		{Name: "execution_dependency_head_event", Columns: []string{"event_id"}, Reader: "what waits for an event, in the turn that completes it"},
		{Name: "execution_dependency_head_due", Columns: []string{"due_at"}, Reader: "the sweep for what is satisfied or expired, from a moving lower bound"},
	},
})

var dependencyLedger = ledgerTable(machines.ExecutionDependency)

// Rows of dependencies.
var (
	ProjectionNeeds = Rows[inbound.ProjectionNeed]{needFact, func(r *inbound.ProjectionNeed) []any {
		return []any{&r.Projection, &r.Ordinal, &r.Account, &r.Event, &r.Key, &r.Micros}
	}}
	ExecutionDependencies = Rows[inbound.ExecutionDependency]{dependencyFact, func(r *inbound.ExecutionDependency) []any {
		return []any{&r.ID, &r.Account, &r.Execution, &r.Ordinal, &r.Needs, &r.Event, &r.Key, instant{&r.Deadline}}
	}}
	DependencyHeads = heads(machines.ExecutionDependencyWaiting, machines.ExecutionDependencySatisfy, dependencyHead, dependencyLedger,
		func(g *inbound.DependencyHead) (*facts.AccountID, *facts.DependencyID) {
			return &g.Account, &g.Dependency
		},
		func(g *inbound.DependencyHead) []any { return []any{&g.Execution, &g.Event, instant{&g.Due}} })
)
