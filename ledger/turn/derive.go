package turn

import (
	"connectorcore/facts"
	"connectorcore/facts/inbound"

	"github.com/cockroachdb/errors"
)

// derived is a component as rows. What an event in it becomes is decided when it is known whether the event is new.
type derived struct {
	component   inbound.Component // its verdict is that of an event that agrees
	event       *inbound.Event
	projections []inbound.Projection
	executions  []inbound.Execution // of the independent inputs
	born        []Born              // as the executions
}

// room is rows and bytes, as a component takes them and as a turn has them left.
type room struct{ rows, bytes int }

func (r room) holds(other room) bool { return other.rows <= r.rows && other.bytes <= r.bytes }

func (r room) less(other room) room { return room{r.rows - other.rows, r.bytes - other.bytes} }

// takes is how much the component is at most, with heads and attempts.
func (d derived) takes() room {
	takes := room{rows: 2 + len(d.projections)*2 + len(d.executions)*3}
	if d.event != nil {
		takes.bytes = len(d.event.Payload)
	}
	for _, projection := range d.projections {
		takes.bytes += len(projection.Input)
	}
	return takes
}

// Fits tells whether an event can be written with everything that follows from it. One that cannot is to be quarantined: an
// input that no row holds would fail every turn that brings it, and its neighbours with it, and what no turn holds would
// stay pending for ever.
func (e *Event) Fits() bool {
	takes := room{rows: 2 + 5*len(e.Inputs), bytes: len(e.Payload)}
	for _, input := range e.Inputs {
		takes.bytes += len(input.Bytes)
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
			Content: d.component.Content, Payload: component.Event.Payload}
		for at, input := range component.Event.Inputs {
			d.input(author, epoch, input, at)
		}
	}
	return all, nil
}

func (d *derived) input(author facts.Author, epoch facts.EpochRef, input Input, at int) {
	e := d.event
	canonical := author.CanonicalProjection(facts.CanonicalProjection{Account: e.Account, Route: input.Route, Members: []facts.SourceEventKey{e.Key}})
	projection := inbound.Projection{ID: author.Projection(canonical, epoch.ID, input.Version, facts.LiveGeneration).ID,
		Account: e.Account, Epoch: epoch.ID, Event: e.ID, Route: input.Route, Version: input.Version, Canonical: canonical,
		Input: input.Bytes, Birth: inbound.BornOpen}
	if input.Independent {
		projection.Birth = inbound.BornWhole
		execution := author.Execution(projection.ID, 0).ID
		ref := author.ExecutionRef(facts.ExecutionRef{Execution: execution, PackGeneration: input.PackGeneration, Epoch: facts.EpochDigest{Digest: epoch.Digest},
			Definition: input.Command, Version: input.CommandVersion, Input: author.ExecutionInput(input.Bytes)})
		d.executions = append(d.executions, inbound.Execution{ID: execution, Account: e.Account, Projection: projection.ID, Epoch: epoch.ID, Ref: ref})
		d.born = append(d.born, Born{Execution: execution, Projection: projection.ID, Command: author.Command(execution).ID, Ref: ref,
			Component: e.Ordinal, Input: at})
	}
	d.projections = append(d.projections, projection)
}
