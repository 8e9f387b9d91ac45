package materialize

import (
	"connectorcore/engine/frozen"
	"connectorcore/engine/pack"
	"connectorcore/facts"
	"connectorcore/ledger/turn"

	"github.com/cockroachdb/errors"
)

// Content is the content of a delivery that came over a channel.
//
// A body that gives no component at all has one that is quarantined, so that a Receipt always says what became of it. A
// component of which a route cannot read its own part is quarantined whole: what is applied of an event is everything or
// nothing.
func Content(profile facts.Profile, channel *frozen.Channel, header []facts.HeaderLine, body []byte) *turn.Content {
	content := &turn.Content{Profile: profile}
	reading := channel.Definition.Read(pack.Delivery{Header: lines(header), Body: body})
	components, err := reading.Extract()
	if err != nil {
		content.Components = []turn.Component{{Reason: reasonOf(err)}}
		return content
	}
	routes, inputs := make([]*pack.Route, len(channel.Routes)), map[*pack.Route]frozen.Route{}
	for i, route := range channel.Routes {
		routes[i], inputs[route.Route] = route.Route, route
	}
	for _, component := range components {
		event, open, err := eventOf(reading, component, routes, inputs)
		if err != nil {
			content.Components = append(content.Components, turn.Component{Reason: reasonOf(err)})
			continue
		}
		content.Open = content.Open || open
		content.Components = append(content.Components, turn.Component{Event: event})
	}
	return content
}

// eventOf is the event of a component with its inputs, and whether a window is to gather it, which is not written yet.
func eventOf(reading *pack.Reading, component pack.Component, routes []*pack.Route, inputs map[*pack.Route]frozen.Route) (*turn.Event, bool, error) {
	event, err := reading.Normalize(component, routes)
	if err != nil {
		return nil, false, err
	}
	made := &turn.Event{Key: event.Key, Payload: event.Payload, EventContent: facts.EventContent{Kind: event.Kind, Locator: event.Locator,
		Occurrence: event.Occurrence, Contract: event.Contract, Partition: event.Partition, Order: event.Order}}
	open := false
	for _, match := range event.Matches {
		switch {
		case match.Refusal != nil:
			return nil, false, match.Refusal
		case !match.Route.Window.Immediate():
			open = true
			continue
		}
		route := inputs[match.Route]
		input, err := route.Mapping.Project([]*pack.Event{event})
		if err != nil {
			return nil, false, err
		}
		made.Inputs = append(made.Inputs, turn.Input{Route: route.Name, Version: route.Version, PackGeneration: route.Generation,
			Command: route.Command.Definition, CommandVersion: route.Command.Version, Bytes: input.Bytes(),
			// What waits for a lane, or for another fact, is not born with its event.
			Independent: route.Ordering.Independent() && len(route.Dependencies) == 0})
	}
	if !made.Fits() {
		return nil, false, facts.Refuse(facts.InputTooLarge, facts.OfInput("component"), "%d inputs follow from it", len(made.Inputs))
	}
	return made, open, nil
}

// reasonOf is the closed code of why a component is no event. The interpreters give a refusal for everything that a body
// can be; anything else is a defect of ours, and the component is set aside all the same.
func reasonOf(err error) facts.Code {
	var refusal *facts.Refusal
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return facts.ExpressionFailed
}

func lines(header []facts.HeaderLine) []pack.Line {
	all := make([]pack.Line, len(header))
	for i, line := range header {
		all[i] = pack.Line(line)
	}
	return all
}
