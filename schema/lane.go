package schema

import (
	"database/sql/driver"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/machines"
)

var baselines = []string{"", inbound.BaselineEmpty.String()}

var laneFact = &Table{
	Name: "ordering_lane", Kind: Fact,
	Says: "The birth of the lane of a partition under one exact route, with its immutable baseline.",
	Columns: []Column{
		{Name: "lane_id", Type: typeID},
		{Name: "lane_digest", Type: typeDigest},
		{Name: "account_id", Type: typeID},
		{Name: "epoch_id", Type: typeID},
		{Name: "route", Type: typeKey},
		{Name: "route_version", Type: typeKey},
		{Name: "partition_key", Type: typeKey},
		{Name: "contract_digest", Type: typeDigest},
		{Name: "baseline", Type: typeState},
		{Name: "first_position", Type: typePosition, Nullable: true},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"lane_id"},
	Reader:  "an operator and the auditor, by exact lane",
	Indexes: []Index{{Name: "ordering_lane_digest", Columns: []string{"lane_digest"}, Unique: true,
		Reader: "R15: one lane an epoch, exact route and partition, by the whole digest of them"}},
	Checks: []Check{{"ordering_lane_baseline", "baseline IN (" + quoted(baselines[1:]) + ")"}},
}

var laneGuard = guardTable(machines.OrderingLane, Guard, RankLane, Table{
	Says: "Where a lane stands: the place that was completed last, and the one execution that has it.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "lane_id", Type: typeID},
		{Name: "high_position", Type: typePosition, Nullable: true},
		{Name: "high_tie_breaker", Type: typePosition, Nullable: true},
		{Name: "high_content", Type: typeDigest, Nullable: true},
		{Name: "active_execution", Type: typeID, Nullable: true},
		{Name: "active_position", Type: typePosition, Nullable: true},
		{Name: "active_tie_breaker", Type: typePosition, Nullable: true},
		{Name: "active_content", Type: typeDigest, Nullable: true},
	},
	Primary: []string{"account_id", "lane_id"},
	Reader:  "claims and completions, by exact lane, locked",
	Checks: []Check{
		{"ordering_lane_guard_active", "state = 'free' OR active_execution IS NOT NULL"},
		{"ordering_lane_guard_place", "(active_execution IS NULL) = (active_position IS NULL) AND (active_execution IS NULL) = (active_content IS NULL)"},
		{"ordering_lane_guard_high", "(high_position IS NULL) = (high_content IS NULL)"},
	},
})

var laneLedger = ledgerTable(machines.OrderingLane)

var projectionHead = guardTable(machines.Projection, Head, RankProjection, Table{
	Says: "A Projection that waits in its lane and is not decided yet.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "projection_id", Type: typeID},
		{Name: "lane_id", Type: typeID},
		{Name: "sort_key", Type: typeKey},
		{Name: "position", Type: typePosition},
		{Name: "tie_breaker", Type: typePosition, Nullable: true},
		{Name: "content_digest", Type: typeDigest},
		{Name: "deadline_at", Type: typeInstant, Nullable: true},
		{Name: "due_at", Type: typeInstant},
	},
	Primary: []string{"account_id", "projection_id"},
	Reader:  "minting and superseding, by exact Projection, locked; the account's undecided Projections",
	Indexes: []Index{
		{Name: "projection_head_lane", Columns: []string{"lane_id", "sort_key"}, Reader: "what waits in a lane, the next one first"},
		{Name: "projection_head_due", Columns: []string{"due_at"}, Reader: "the sweep for gaps, for what settled, and for what a dead process left, from a moving lower bound"},
	},
})

// Rows of lanes.
var (
	OrderingLanes = Rows[inbound.OrderingLane]{laneFact, func(r *inbound.OrderingLane) []any {
		return []any{&r.ID, &r.Digest, &r.Account, &r.Epoch, &r.Route, &r.Version, &r.Partition, &r.Contract, wordColumn[inbound.Baseline]{&r.Baseline, baselines, "baseline"},
			optional[facts.SourcePosition]{&r.First}}
	}}
	Lanes = GuardRows[facts.LaneKey, inbound.Lane, machines.OrderingLaneState, machines.OrderingLaneEdge]{
		Machine: machines.OrderingLane, Table: laneGuard, Ledger: laneLedger,
		Key: func(k *facts.LaneKey) []any { return []any{&k.Account, &k.Subject} },
		Fields: func(g *inbound.Lane) []any {
			return append(append([]any{&g.Account, &g.ID}, optionalPlace(&g.High)...),
				append([]any{optional[facts.ExecutionID]{&g.Active}}, optionalPlace(&g.At)...)...)
		},
		KeyOf:   func(g *inbound.Lane) facts.LaneKey { return facts.LaneKey{Account: g.Account, Subject: g.ID} },
		Subject: func(k facts.LaneKey) facts.SubjectID { return facts.SubjectID(k.Subject) },
		Start:   machines.OrderingLaneFree,
	}
	ProjectionHeads = heads(machines.ProjectionWaiting, machines.ProjectionMint, projectionHead, projectionLedger,
		func(g *inbound.ProjectionHead) (*facts.AccountID, *facts.ProjectionID) {
			return &g.Account, &g.Projection
		},
		func(g *inbound.ProjectionHead) []any {
			return []any{&g.Lane, blob{&g.Sort}, &g.Place.Order.Position, optional[facts.SourcePosition]{&g.Place.Order.TieBreaker}, &g.Place.Content,
				optionalInstant{&g.Deadline}, instant{&g.Due}}
		})
)

func optionalPlace(p *inbound.Place) []any {
	return []any{optional[facts.SourcePosition]{&p.Order.Position}, optional[facts.SourcePosition]{&p.Order.TieBreaker}, optional[facts.Digest]{&p.Content}}
}

// optionalInstant stores an absent time as NULL.
type optionalInstant struct{ at *facts.Instant }

func (o optionalInstant) Value() (driver.Value, error) {
	if o.at.IsZero() {
		return nil, nil
	}
	return instant{o.at}.Value()
}

func (o optionalInstant) Scan(source any) error {
	if source == nil {
		*o.at = facts.Instant{}
		return nil
	}
	return instant{o.at}.Scan(source)
}
