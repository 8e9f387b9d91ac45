package inbound

import (
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// ProjectionNeed is a requirement of the Execution that a waiting Projection may mint. It is kept until then, because only
// an Execution has dependencies and their deadlines begin with it.
//
// Spec: Inbound facts (ExecutionDependency).
type ProjectionNeed struct {
	Projection facts.ProjectionID
	Ordinal    uint64 // from 0, without a gap
	Account    facts.AccountID
	Event      facts.EventID        // that is required, of the same account
	Key        facts.SourceEventKey // that the event is derived from
	Micros     uint64               // how long it is waited for
}

// Wait is how long the fact is waited for.
func (n ProjectionNeed) Wait() time.Duration { return time.Duration(n.Micros) * time.Microsecond }

// ExecutionDependency is the birth of a requirement of an execution: that an event of the same account is completed. Its
// deadline never moves.
//
// Spec: Inbound facts (ExecutionDependency).
type ExecutionDependency struct {
	ID        facts.DependencyID
	Account   facts.AccountID
	Execution facts.ExecutionID
	Ordinal   uint64 // from 0, without a gap: the others of the execution are derived from it
	Needs     uint64 // how many the execution has
	Event     facts.EventID
	Key       facts.SourceEventKey
	Deadline  facts.Instant
}

// DependencyHead is a requirement that still waits. Due is when it is looked at, whatever else happens.
type DependencyHead struct {
	Account    facts.AccountID
	Dependency facts.DependencyID
	Execution  facts.ExecutionID
	Event      facts.EventID
	Due        facts.Instant
}

// FollowsOf is what an Event keeps of the Projections that follow from it.
func FollowsOf(projections []facts.ProjectionID) []byte {
	var follows []byte
	for _, id := range projections {
		follows = append(follows, id[:]...)
	}
	return follows
}

// Projections are those that follow from the event.
func (e Event) Projections() ([]facts.ProjectionID, error) {
	var size = len(facts.ProjectionID{})
	if len(e.Follows)%size != 0 {
		return nil, errors.AssertionFailedf("event %s names its projections with %d bytes", e.ID, len(e.Follows))
	}
	projections := make([]facts.ProjectionID, len(e.Follows)/size)
	for i := range projections {
		copy(projections[i][:], e.Follows[i*size:])
	}
	return projections, nil
}
