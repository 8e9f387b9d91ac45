package schema

import (
	"database/sql/driver"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/machines"
)

var executionFact = &Table{
	Name: "execution", Kind: Fact,
	Says: "The birth of one execution generation of a Projection.",
	Columns: []Column{
		{Name: "execution_id", Type: typeID},
		{Name: "account_id", Type: typeID},
		{Name: "projection_id", Type: typeID},
		{Name: "epoch_id", Type: typeID},
		{Name: "execution_ref_digest", Type: typeDigest},
		{Name: "lane_id", Type: typeID, Nullable: true},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"execution_id"},
	Reader:  "claims and completions, by exact execution",
}

var executionHead = guardTable(machines.Execution, Head, RankExecution, Table{
	Says: "An execution that has not ended.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "execution_id", Type: typeID},
		{Name: "projection_id", Type: typeID},
		{Name: "attempt", Type: typeCount},
		{Name: "holder_id", Type: typeID, Nullable: true},
		{Name: "due_at", Type: typeInstant},
	},
	Primary: []string{"account_id", "execution_id"},
	Reader:  "claim and completion, by exact execution, locked; the account's open executions",
	Indexes: []Index{
		{Name: "execution_head_projection", Columns: []string{"projection_id"}, Unique: true,
			Reader: "at most one active execution generation per Projection"},
		{Name: "execution_head_due", Columns: []string{"due_at"}, Reader: "the sweep for what a dead process left, from a moving lower bound"},
	},
})

var attemptFact = &Table{
	Name: "execution_attempt", Kind: Fact,
	Says: "One claim of an execution, by one process.",
	Columns: []Column{
		{Name: "execution_id", Type: typeID},
		{Name: "ordinal", Type: typeCount},
		{Name: "account_id", Type: typeID},
		{Name: "holder_id", Type: typeID},
		{Name: "gate_fence", Type: typeCount},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"execution_id", "ordinal"},
	Reader:  "claims, by exact execution and ordinal; the history of one execution",
}

var attemptEndFact = &Table{
	Name: "execution_attempt_end", Kind: Fact,
	Says: "How an attempt that brought no result ended. It moves no state.",
	Columns: []Column{
		{Name: "execution_id", Type: typeID},
		{Name: "ordinal", Type: typeCount},
		{Name: "account_id", Type: typeID},
		{Name: "reason", Type: typeEdge},
		{Name: "detail", Type: typeStatement},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"execution_id", "ordinal"},
	Reader:  "the end of an attempt, by exact execution and ordinal; the history of one execution",
}

var resultFact = &Table{
	Name: "application_result", Kind: Fact,
	Says: "The Runtime's one terminal answer to a command.",
	Columns: []Column{
		{Name: "command_id", Type: typeID},
		{Name: "account_id", Type: typeID},
		{Name: "execution_id", Type: typeID},
		{Name: "execution_ref_digest", Type: typeDigest},
		{Name: "outcome", Type: typeState},
		{Name: "result_digest", Type: typeDigest},
		{Name: "payload", Type: typeEvidence},
		{Name: "committed_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"command_id"},
	Reader:  "the Runtime's result look-up, by exact command, comparing the execution reference",
	Indexes: []Index{{Name: "application_result_execution", Columns: []string{"execution_id"}, Unique: true,
		Reader: "one result per execution generation"}},
	Checks: []Check{{"application_result_outcome", "outcome IN (" + quoted(machines.ApplicationResult.States()) + ")"}},
}

var (
	executionLedger = ledgerTable(machines.Execution)
)

var inboundTables = []*Table{
	admissionKeyFact, receiptFact, receiptHead, receiptLedger, componentFact, redeliveryFact,
	eventFact, projectionFact, projectionHead, projectionLedger,
	laneFact, laneGuard, laneLedger,
	attemptFact, attemptEndFact,
	windowFact, memberFact, windowHead, windowLedger,
	executionFact, executionHead, executionLedger,
	needFact, dependencyFact, dependencyHead, dependencyLedger,
	resultFact,
}

// Rows of the inbound side.
var (
	Executions = Rows[inbound.Execution]{executionFact, func(r *inbound.Execution) []any {
		return []any{&r.ID, &r.Account, &r.Projection, &r.Epoch, &r.Ref, optional[facts.LaneID]{&r.Lane}}
	}}
	ExecutionAttempts = Rows[inbound.ExecutionAttempt]{attemptFact, func(r *inbound.ExecutionAttempt) []any {
		return []any{&r.Execution, &r.Ordinal, &r.Account, &r.Holder, &r.GateFence}
	}}
	AttemptEnds = Rows[inbound.AttemptEnd]{attemptEndFact, func(r *inbound.AttemptEnd) []any {
		return []any{&r.Execution, &r.Ordinal, &r.Account, codeColumn{&r.Reason}, blob{&r.Detail}}
	}}
	ApplicationResults = Rows[inbound.ApplicationResult]{resultFact, func(r *inbound.ApplicationResult) []any {
		return []any{&r.Command, &r.Account, &r.Execution, &r.ExecutionRef, &r.Outcome, &r.Result, blob{&r.Payload}}
	}}
)

// Heads of the inbound side.
var (
	ExecutionHeads = heads(machines.ExecutionReady, machines.ExecutionWait, executionHead, executionLedger,
		func(g *inbound.ExecutionHead) (*facts.AccountID, *facts.ExecutionID) { return &g.Account, &g.Execution },
		func(g *inbound.ExecutionHead) []any {
			return []any{&g.Projection, &g.Attempt, optional[facts.HolderID]{&g.Holder}, instant{&g.Due}}
		})
)

// instant stores a time in the database's own precision and refuses one that would be rounded: a deadline that
// changes on its way in would no longer compare equal to itself.
type instant struct{ at *facts.Instant }

func (i instant) Value() (driver.Value, error) {
	if i.at.IsZero() || i.at.Nanosecond()%1000 != 0 {
		return nil, unbound("a time that is zero or finer than a microsecond")
	}
	return i.at.UTC(), nil
}

func (i instant) Scan(source any) error {
	at, ok := source.(facts.Instant)
	if !ok {
		return misread("a time", source)
	}
	*i.at = at.UTC()
	return nil
}
