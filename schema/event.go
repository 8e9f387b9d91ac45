package schema

import (
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/machines"
)

var eventFact = &Table{
	Name: "event", Kind: Fact,
	Says: "One immutable normalized event of the source, under the digest of its account and source event key.",
	Columns: []Column{
		{Name: "event_id", Type: typeID},
		{Name: "account_id", Type: typeID},
		{Name: "epoch_id", Type: typeID},
		{Name: "receipt_id", Type: typeID},
		{Name: "ordinal", Type: typeCount},
		{Name: "source_event_key", Type: typeKey},
		{Name: "kind", Type: typeKey},
		{Name: "locator", Type: typeKey},
		{Name: "occurrence", Type: typePosition, Nullable: true},
		{Name: "contract_digest", Type: typeDigest, Nullable: true},
		{Name: "partition_key", Type: typeKey, Nullable: true},
		{Name: "position", Type: typePosition, Nullable: true},
		{Name: "tie_breaker", Type: typePosition, Nullable: true},
		{Name: "content_digest", Type: typeDigest},
		{Name: "payload", Type: typeEvidence},
		{Name: "follows", Type: typeEvidence},
		{Name: "unwritten", Type: typeCount},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"event_id"},
	Reader:  "materialization, by exact event: a second component with the key is compared with it",
	Checks: []Check{
		{"event_order", "(contract_digest IS NULL) = (partition_key IS NULL) AND (contract_digest IS NULL) = (position IS NULL)"},
		{"event_tie", "tie_breaker IS NULL OR position IS NOT NULL"},
	},
}

var projectionFact = &Table{
	Name: "projection", Kind: Fact,
	Says: "One application input under one exact route.",
	Columns: []Column{
		{Name: "projection_id", Type: typeID},
		{Name: "account_id", Type: typeID},
		{Name: "epoch_id", Type: typeID},
		{Name: "event_id", Type: typeID},
		{Name: "route", Type: typeKey},
		{Name: "route_version", Type: typeKey},
		{Name: "canonical_digest", Type: typeDigest},
		{Name: "input", Type: typeEvidence},
		{Name: "window_id", Type: typeID, Nullable: true},
		{Name: "lane_id", Type: typeID, Nullable: true},
		{Name: "execution_ref_digest", Type: typeDigest},
		{Name: "needs", Type: typeCount},
		{Name: "birth", Type: typeState},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"projection_id"},
	Reader:  "execution, by exact Projection",
	Checks:  []Check{{"projection_birth", "birth IN (" + quoted(births[1:]) + ")"}},
}

var projectionLedger = ledgerTable(machines.Projection)

// Rows of events and of what the application gets of them.
var (
	Events = Rows[inbound.Event]{eventFact, func(r *inbound.Event) []any {
		return []any{&r.ID, &r.Account, &r.Epoch, &r.Receipt, &r.Ordinal, &r.Key, &r.Kind, &r.Locator,
			optional[facts.SourcePosition]{&r.Occurrence}, optional[facts.Digest]{&r.Contract},
			optional[facts.OrderingPartition]{&r.Partition}, optional[facts.SourcePosition]{&r.Order.Position},
			optional[facts.SourcePosition]{&r.Order.TieBreaker}, &r.Content, blob{&r.Payload}, blob{&r.Follows}, &r.Unwritten}
	}}
	Projections = Rows[inbound.Projection]{projectionFact, func(r *inbound.Projection) []any {
		return []any{&r.ID, &r.Account, &r.Epoch, &r.Event, &r.Route, &r.Version, &r.Canonical, blob{&r.Input},
			optional[facts.WindowID]{&r.Window}, optional[facts.LaneID]{&r.Lane}, &r.Ref, &r.Needs, wordColumn[inbound.Birth]{&r.Birth, births, "birth"}}
	}}
)
