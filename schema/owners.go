package schema

import (
	"database/sql/driver"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/machines"
)

var deploymentFact = &Table{
	Name: "deployment", Kind: Fact,
	Says: "What this installation is. There is one row, and nothing changes it.",
	Columns: []Column{
		{Name: "place", Type: typeCount},
		{Name: "deployment_id", Type: typeID},
		{Name: "class", Type: typeState},
		{Name: "organization", Type: typeKey},
		{Name: "installation", Type: typeKey},
		{Name: "workload", Type: typeKey},
		{Name: "destinations", Type: typeStatement},
		{Name: "scope_digest", Type: typeDigest},
		{Name: "founded_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"place"},
	Reader:  "start-up, and whoever needs the scope or the class, by the one place",
	Checks: []Check{
		{"deployment_single", "place = 1"},
		{"deployment_class", "class IN (" + quoted([]string{serving.Conformance.String(), serving.Production.String()}) + ")"},
	},
}

var ownerBarrierFact = &Table{
	Name: "owner_publication_barrier", Kind: Fact,
	Says: "The birth of an owner's publication barrier in a scope.",
	Columns: []Column{
		{Name: "barrier_id", Type: typeID},
		{Name: "barrier_digest", Type: typeDigest},
		{Name: "scope_digest", Type: typeDigest},
		{Name: "owner", Type: typeState},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"barrier_id"},
	Reader:  "the barrier's own transactions, by exact barrier",
	Indexes: []Index{{Name: "owner_publication_barrier_digest", Columns: []string{"barrier_digest"}, Unique: true,
		Reader: "R15: one barrier an owner and scope, by the whole digest of both"}},
	Checks: []Check{{"owner_publication_barrier_closed", ownerCheck}},
}

var ownerBarrierGuard = guardTable(machines.OwnerPublicationBarrier, Guard, RankOwnerBarrier, Table{
	Says: "Whether an owner may publish, who holds its barrier or held it last, and its fence.",
	Columns: []Column{
		{Name: "barrier_id", Type: typeID},
		{Name: "attempt_id", Type: typeID, Nullable: true},
		{Name: "holder_fence", Type: typeCount},
		{Name: "held_at_fence", Type: typeCount},
	},
	Primary: []string{"barrier_id"},
	Reader:  "hold and release, and every authoring write of the owner, by exact barrier, locked",
	Checks:  []Check{{"owner_publication_barrier_guard_holder", "state = 'open' OR attempt_id IS NOT NULL"}},
})

var ownerBarrierHold = &Table{
	Name: "owner_barrier_hold", Kind: Fact,
	Says: "An activation attempt that came to a barrier: it holds it now, or is over there for good.",
	Columns: []Column{
		{Name: "barrier_id", Type: typeID},
		{Name: "attempt_id", Type: typeID},
		{Name: "came_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"barrier_id", "attempt_id"},
	Reader:  "hold and release, by exact barrier and attempt",
}

var ownerBarrierLedger = ledgerTable(machines.OwnerPublicationBarrier)

var ownerGeneration = &Table{
	Name: "owner_generation", Kind: Fact,
	Says: "One immutable generation of one owner, with its canonical bytes and its receipt.",
	Columns: []Column{
		{Name: "generation_digest", Type: typeDigest},
		{Name: "scope_digest", Type: typeDigest},
		{Name: "owner", Type: typeState},
		{Name: "name", Type: typeKey},
		{Name: "selector_digest", Type: typeDigest},
		{Name: "protocol", Type: typeKey},
		{Name: "content_digest", Type: typeDigest},
		{Name: "canonical", Type: typeEvidence},
		{Name: "receipt_protocol", Type: typeKey},
		{Name: "receipt", Type: typeEvidence},
		{Name: "receipt_digest", Type: typeDigest},
		{Name: "published_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"generation_digest"},
	Reader:  "the owner's exact-generation read",
	Checks:  []Check{{"owner_generation_owner", ownerCheck}},
}

var ownerStanding = &Table{
	Name: "owner_standing", Kind: Fact,
	Says: "That a generation can be read from here on, or that its owner removed it.",
	Columns: []Column{
		{Name: "generation_digest", Type: typeDigest},
		{Name: "seq", Type: typeCount},
		{Name: "standing", Type: typeState},
		{Name: "since", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"generation_digest", "seq"},
	Reader:  "the owner's exact-generation read and its authoring writes, the last row of a generation",
	Checks:  []Check{{"owner_standing_closed", "standing IN ('" + standsPresent + "', '" + standsRemoved + "')"}},
}

var ownerSelection = &Table{
	Name: "owner_selection", Kind: Fact,
	Says: "Which generation of a line is current from here on.",
	Columns: []Column{
		{Name: "selector_digest", Type: typeDigest},
		{Name: "seq", Type: typeCount},
		{Name: "generation_digest", Type: typeDigest},
		{Name: "since", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"selector_digest", "seq"},
	Reader:  "the owner's current read and its authoring writes, the last row of a line",
}

var ownerReference = &Table{
	Name: "owner_reference", Kind: Fact,
	Says: "An epoch that froze an owner's exact generation.",
	Columns: []Column{
		{Name: "generation_digest", Type: typeDigest},
		{Name: "epoch_id", Type: typeID},
	},
	Primary: []string{"generation_digest", "epoch_id"},
	Reader:  "removal of a generation, all epochs of it",
}

var ownerCheck = "owner IN (" + quoted(ownerWords()) + ")"

func ownerWords() (all []string) {
	for _, o := range serving.Owners() {
		all = append(all, o.String())
	}
	return all
}

var ownerTables = []*Table{
	deploymentFact, ownerBarrierFact, ownerBarrierGuard, ownerBarrierLedger, ownerBarrierHold,
	ownerGeneration, ownerStanding, ownerSelection, ownerReference,
}

// Rows of the owners.
var (
	Deployments = Rows[serving.Founded]{deploymentFact, func(r *serving.Founded) []any {
		return []any{placeColumn{}, &r.ID, &r.Class, &r.Organization, &r.Installation, &r.Workload, &r.Destinations, &r.Scope}
	}}
	OwnerBarriers = Rows[serving.Barrier]{ownerBarrierFact, func(r *serving.Barrier) []any {
		return []any{&r.ID, &r.Digest, &r.Scope, &r.Owner}
	}}
	OwnerBarrierHolds = Rows[serving.BarrierHold]{ownerBarrierHold, func(r *serving.BarrierHold) []any {
		return []any{&r.Barrier, &r.Attempt}
	}}
	OwnerGenerations = Rows[serving.Generation]{ownerGeneration, func(r *serving.Generation) []any {
		return []any{&r.ID, &r.Scope, &r.Owner, &r.Name, &r.Selector, &r.Protocol, &r.Digest, &r.Canonical,
			&r.Receipt.Protocol, &r.Receipt.Bytes, &r.Receipt.Digest}
	}}
	OwnerStandings = Rows[serving.Standing]{ownerStanding, func(r *serving.Standing) []any {
		return []any{&r.Generation, &r.Seq, (*standingColumn)(&r.Present)}
	}}
	OwnerSelections = Rows[serving.Selection]{ownerSelection, func(r *serving.Selection) []any {
		return []any{&r.Selector, &r.Seq, &r.Generation}
	}}
	OwnerReferences = Rows[serving.Reference]{ownerReference, func(r *serving.Reference) []any {
		return []any{&r.Generation, &r.Epoch}
	}}
)

// OwnerBarrierGuards are the guards of the owners' publication barriers.
var OwnerBarrierGuards = GuardRows[facts.OwnerBarrierID, serving.BarrierGuard, machines.OwnerPublicationBarrierState, machines.OwnerPublicationBarrierEdge]{
	Machine: machines.OwnerPublicationBarrier, Table: ownerBarrierGuard, Ledger: ownerBarrierLedger,
	Key: func(k *facts.OwnerBarrierID) []any { return []any{k} },
	Fields: func(g *serving.BarrierGuard) []any {
		return []any{&g.Barrier, optional[facts.ActivationAttemptID]{&g.Attempt}, &g.Holder, &g.HeldAt}
	},
	KeyOf:   func(g *serving.BarrierGuard) facts.OwnerBarrierID { return g.Barrier },
	Subject: func(k facts.OwnerBarrierID) facts.SubjectID { return facts.SubjectID(k) },
	Start:   machines.OwnerPublicationBarrierOpen,
}

// placeColumn is the constant key of a table that holds one row.
type placeColumn struct{}

const onlyPlace = int64(1)

func (placeColumn) Value() (driver.Value, error) { return onlyPlace, nil }

func (placeColumn) Scan(source any) error {
	switch place := source.(type) { // the driver reads an unsigned number as either
	case int64:
		if place == onlyPlace {
			return nil
		}
	case uint64:
		if place == uint64(onlyPlace) {
			return nil
		}
	}
	return misread("the only place", source)
}

const (
	standsPresent = "present"
	standsRemoved = "removed"
)

// standingColumn stores a standing as a word, so that a person who reads the table needs no key.
type standingColumn bool

func (s *standingColumn) Value() (driver.Value, error) {
	if *s {
		return []byte(standsPresent), nil
	}
	return []byte(standsRemoved), nil
}

func (s *standingColumn) Scan(source any) error {
	raw, ok := source.([]byte)
	if !ok || string(raw) != standsPresent && string(raw) != standsRemoved {
		return misread("a standing", source)
	}
	*s = standingColumn(string(raw) == standsPresent)
	return nil
}
