package materialize

import (
	"time"

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

// eventOf is the event of a component with its inputs and the windows that gather it, and whether something follows from it
// that is not written yet: an execution that is to wait for another fact.
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
		case len(match.Route.Dependencies) > 0:
			open = true
			continue
		case !match.Route.Window.Immediate():
			w := &match.Route.Window
			made.Joins = append(made.Joins, turn.Join{Route: match.Route.Name, Version: match.Route.Version, Grouping: match.Grouping,
				Members: uint64(w.Members), Close: time.Duration(w.Close) * time.Second, Quiet: time.Duration(w.Quiet) * time.Second})
			continue
		}
		route := inputs[match.Route]
		one, err := inputOf(route, []*pack.Event{event})
		if err != nil {
			return nil, false, err
		}
		if route.Ordering.Strict() {
			if one.Follows, err = route.Follows(event); err != nil {
				return nil, false, err
			}
		}
		made.Inputs = append(made.Inputs, one)
	}
	if !made.Fits() {
		return nil, false, facts.Refuse(facts.InputTooLarge, facts.OfInput("component"), "%d inputs follow from it", len(made.Inputs))
	}
	return made, open, nil
}

// inputOf is the input that a route makes of events.
func inputOf(route frozen.Route, members []*pack.Event) (turn.Input, error) {
	input, err := route.Mapping.Project(members)
	if err != nil {
		return turn.Input{}, err
	}
	one := turn.Input{Route: route.Name, Version: route.Version, PackGeneration: route.Generation,
		Command: route.Command.Definition, CommandVersion: route.Command.Version, Bytes: input.Bytes()}
	one.Order, err = Order(route.Route)
	return one, err
}

// Order is what a route says of its lanes; nil for one that is order-independent.
func Order(route *pack.Route) (*turn.Order, error) {
	o := &route.Ordering
	if o.Independent() {
		return nil, nil
	}
	order := &turn.Order{Wait: time.Duration(o.Settle) * time.Second, FailedAdvances: route.Execution.Disposition == "advance"}
	if !o.Strict() {
		return order, nil
	}
	var err error
	order.First, err = route.First()
	order.Wait, order.GapHolds = time.Duration(o.Gap.Deadline)*time.Second, o.Gap.Disposition == "hold"
	return order, err
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
