package turn

import (
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"

	"github.com/cockroachdb/errors"
)

// derived is a component as rows. What an event in it becomes is decided when it is known whether the event is new.
type derived struct {
	component inbound.Component // its verdict is that of an event that agrees
	event     *inbound.Event
	inputs    []derivedInput
	joins     []derivedJoin
}

// derivedInput is an input with the one Execution that it may mint.
type derivedInput struct {
	projection inbound.Projection
	execution  inbound.Execution
	command    facts.CommandID
	needs      []inbound.ProjectionNeed
	order      *Order               // nil if it is order-independent: then there is no lane
	lane       inbound.OrderingLane // if it is not there yet
	head       inbound.ProjectionHead
}

// room is rows and bytes, as a component takes them and as a turn has them left.
type room struct{ rows, bytes int }

func (r room) holds(other room) bool { return other.rows <= r.rows && other.bytes <= r.bytes }

func (r room) less(other room) room { return room{r.rows - other.rows, r.bytes - other.bytes} }

const (
	inputRows = 5 // projection, execution, its head, its attempt, and one for what ends it
	needRows  = 3 // dependency, its head, and its transition; the execution's own takes the place of its attempt
	laneRows  = 4 // the lane's birth, guard and transitions
	joinRows  = 4 // a member, and its window's birth, head, and change
)

// takes is how much an input is at most.
func (o *Order) takes(input []byte, needs int) room {
	takes := room{inputRows + needRows*needs, len(input)}
	if o != nil {
		takes.rows += laneRows
	}
	return takes
}

// takes is how much the component is at most.
func (d derived) takes() room {
	takes := room{rows: 2 + joinRows*len(d.joins)}
	if d.event != nil {
		takes.bytes = len(d.event.Payload)
	}
	for _, input := range d.inputs {
		one := input.order.takes(input.projection.Input, len(input.needs))
		takes = room{takes.rows + one.rows, takes.bytes + one.bytes}
	}
	return takes
}

// Fits tells whether an event can be written with everything that follows from it. One that cannot is to be quarantined: an
// input that no row holds would fail every turn that brings it, and its neighbours with it, and what no turn holds would
// stay pending for ever.
func (e *Event) Fits() bool {
	takes := room{rows: 2 + joinRows*len(e.Joins), bytes: len(e.Payload)}
	for _, input := range e.Inputs {
		one := input.Order.takes(input.Bytes, len(input.Needs))
		takes = room{takes.rows + one.rows, takes.bytes + one.bytes}
		if len(input.Bytes) > MaxInput {
			return false
		}
	}
	return len(e.Payload) <= MaxInput && room{MaxRows, MaxBytes}.holds(takes)
}

// derive makes the rows of a content. Each id follows from its exact parents, so that whoever derives them again finds
// the same (R15).
func (c Content) derive(account facts.AccountID, epoch facts.EpochRef, receipt facts.ReceiptID) ([]derived, error) {
	author, err := c.Profile.Author()
	if err != nil {
		return nil, err
	}
	all := make([]derived, len(c.Components))
	for i, component := range c.Components {
		d := &all[i]
		d.component = inbound.Component{Receipt: receipt, Ordinal: uint64(i), Account: account, Verdict: inbound.ComponentQuarantined, Reason: component.Reason}
		if (component.Event == nil) == (component.Reason == 0) {
			return nil, errors.AssertionFailedf("component %d of receipt %s has neither an event nor a reason, or both", i, receipt)
		}
		if component.Event == nil {
			continue
		}
		content := component.Event.EventContent
		content.Payload = author.EventPayload(component.Event.Payload)
		d.component.Verdict, d.component.Content = inbound.ComponentEvent, author.EventContent(content)
		d.component.Event = author.Event(account, component.Event.Key, facts.LiveGeneration).ID
		d.event = &inbound.Event{ID: d.component.Event, Account: account, Epoch: epoch.ID, Receipt: receipt, Ordinal: uint64(i),
			Key: component.Event.Key, Kind: content.Kind, Locator: content.Locator, Occurrence: content.Occurrence,
			Contract: content.Contract, Partition: content.Partition, Order: content.Order,
			Content: d.component.Content, Payload: component.Event.Payload, Unwritten: component.Event.Unwritten + uint64(len(component.Event.Joins))}
		var projections []facts.ProjectionID
		for _, input := range component.Event.Inputs {
			one, err := sourceOf(*d.event).input(author, epoch, input)
			if err != nil {
				return nil, err
			}
			d.inputs, projections = append(d.inputs, one), append(projections, one.projection.ID)
		}
		for _, join := range component.Event.Joins {
			d.joins = append(d.joins, joinOf(c.Profile, author, epoch.ID, *d.event, join))
		}
		d.event.Follows = inbound.FollowsOf(projections)
	}
	return all, nil
}

// source is what an input is made of: an event, or members of a window.
type source struct {
	event    inbound.Event // whose place the input takes
	window   facts.WindowID
	grouping facts.GroupingKey
	members  []facts.SourceEventKey
}

func sourceOf(event inbound.Event) source {
	return source{event: event, members: []facts.SourceEventKey{event.Key}}
}

// input derives an input with the one Execution that it may mint.
func (s source) input(author facts.Author, epoch facts.EpochRef, input Input) (one derivedInput, err error) {
	e := s.event
	canonical := author.CanonicalProjection(facts.CanonicalProjection{Account: e.Account, Route: input.Route, Grouping: s.grouping, Members: s.members})
	projection := author.Projection(canonical, epoch.ID, input.Version, facts.LiveGeneration).ID
	execution := author.Execution(projection, 0).ID
	ref := author.ExecutionRef(facts.ExecutionRef{Execution: execution, PackGeneration: input.PackGeneration, Epoch: facts.EpochDigest{Digest: epoch.Digest},
		Definition: input.Command, Version: input.CommandVersion, Input: author.ExecutionInput(input.Bytes)})
	one = derivedInput{command: author.Command(execution).ID, order: input.Order,
		projection: inbound.Projection{ID: projection, Account: e.Account, Epoch: epoch.ID, Event: e.ID, Route: input.Route, Version: input.Version,
			Canonical: canonical, Input: input.Bytes, Window: s.window, Ref: ref, Needs: uint64(len(input.Needs)), Birth: inbound.BornWhole},
		execution: inbound.Execution{ID: execution, Account: e.Account, Projection: projection, Epoch: epoch.ID, Ref: ref}}
	if len(input.Needs) > MaxNeeds {
		return one, errors.AssertionFailedf("an input of route %s has %d requirements, and %d are allowed", input.Route, len(input.Needs), MaxNeeds)
	}
	for i, need := range input.Needs {
		if need.Deadline <= 0 || need.Deadline%time.Microsecond != 0 {
			return one, errors.AssertionFailedf("an input of route %s waits for %s, which is no time in whole microseconds", input.Route, need.Deadline)
		}
		one.needs = append(one.needs, inbound.ProjectionNeed{Projection: projection, Ordinal: uint64(i), Account: e.Account,
			Event: author.Event(e.Account, need.Event, facts.LiveGeneration).ID, Key: need.Event, Micros: uint64(need.Deadline / time.Microsecond)})
	}
	if input.Order != nil {
		lane := author.Lane(e.Account, epoch.ID, input.Route, input.Version, e.Partition)
		one.projection.Lane, one.execution.Lane = lane.ID, lane.ID
		one.lane = inbound.OrderingLane{ID: lane.ID, Digest: lane.Digest, Account: e.Account, Epoch: epoch.ID, Route: input.Route, Version: input.Version,
			Partition: e.Partition, Contract: e.Contract, Baseline: inbound.BaselineEmpty, First: input.Order.First}
		one.head = inbound.ProjectionHead{Account: e.Account, Projection: projection, Lane: lane.ID, Sort: input.Follows.Encoded(),
			Place: inbound.Place{Order: e.Order, Content: e.Content}}
		if !input.Order.strict() {
			one.head.Sort = append(e.Order.Position.Encoded(), e.Order.TieBreaker.Encoded()...)
		}
	}
	return one, nil
}

func (i *derivedInput) born(attempt uint64) Born {
	return Born{Execution: i.execution.ID, Projection: i.projection.ID, Event: i.projection.Event, Command: i.command, Ref: i.execution.Ref, Attempt: attempt,
		Lane: i.projection.Lane, Route: i.projection.Route, Version: i.projection.Version, Input: i.projection.Input}
}
