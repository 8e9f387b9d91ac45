package inbound

import "connectorcore/facts"

// OrderingLane is the birth of a lane: the one place in which the inputs of a partition wait for their turn. Its baseline
// never changes.
//
// Spec: Durable source ordering (OrderingLane).
type OrderingLane struct {
	ID        facts.LaneID
	Digest    facts.Digest // the whole digest that the id is cut from: uniqueness stands on it (R15)
	Account   facts.AccountID
	Epoch     facts.EpochID
	Route     facts.RouteID
	Version   facts.DefinitionVersion
	Partition facts.OrderingPartition
	Contract  facts.Digest
	Baseline  Baseline
	First     facts.SourcePosition // of a strict sequence: where it begins
}

// Baseline is where a lane's first high-water comes from.
type Baseline uint8

// The baselines.
const (
	// BaselineEmpty has no high-water: the epoch is the first one of the route, so that nothing was completed before.
	BaselineEmpty Baseline = iota + 1
)

// String is the stored word.
func (b Baseline) String() string { return [...]string{"no baseline", "empty"}[min(b, BaselineEmpty)] }

// Place is where an input stands in the order of its source: two of one place tie, and differ if their contents do.
type Place struct {
	Order   facts.SourceOrder
	Content facts.Digest // of the event
}

// Lane is the guard of a lane. High is the place of the last input whose result is recorded, absent before the first one.
// Active is the execution that has the lane, at its place; a lane that is free has none.
type Lane struct {
	Account facts.AccountID
	ID      facts.LaneID
	High    Place
	Active  facts.ExecutionID
	At      Place
}

// ProjectionHead is a Projection that is not decided yet, and waits in a lane.
//
// Sort is by what its lane finds it: for a strict sequence the position before its own, which is empty at the sequence's
// beginning; otherwise its whole order. Deadline is until when the lane waits for it to be next, or ready. Due is when the lane is looked at for it, whatever else happens.
type ProjectionHead struct {
	Account    facts.AccountID
	Projection facts.ProjectionID
	Lane       facts.LaneID
	Sort       []byte
	Place      Place
	Deadline   facts.Instant // zero where the lane waits for nothing
	Due        facts.Instant
}
