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
		event, err := eventOf(reading, component, routes, inputs)
		if err != nil {
			content.Components = append(content.Components, turn.Component{Reason: reasonOf(err)})
			continue
		}
		content.Open = content.Open || event.Unwritten > 0
		content.Components = append(content.Components, turn.Component{Event: event})
	}
	return content
}

// eventOf is the event of a component with its inputs and the windows that gather it.
func eventOf(reading *pack.Reading, component pack.Component, routes []*pack.Route, inputs map[*pack.Route]frozen.Route) (*turn.Event, error) {
	event, err := reading.Normalize(component, routes)
	if err != nil {
		return nil, err
	}
	made := &turn.Event{Key: event.Key, Payload: event.Payload, EventContent: facts.EventContent{Kind: event.Kind, Locator: event.Locator,
		Occurrence: event.Occurrence, Contract: event.Contract, Partition: event.Partition, Order: event.Order}}
	for _, match := range event.Matches {
		if match.Refusal != nil {
			return nil, match.Refusal
		}
		input, err := ofEvent(event, inputs[match.Route])
		switch {
		case err != nil:
			return nil, err
		case input == nil:
			made.Unwritten++
		case !match.Route.Window.Immediate():
			w := &match.Route.Window
			made.Joins = append(made.Joins, turn.Join{Route: match.Route.Name, Version: match.Route.Version, Grouping: match.Grouping,
				Members: uint64(w.Members), Close: time.Duration(w.Close) * time.Second, Quiet: time.Duration(w.Quiet) * time.Second})
		default:
			made.Inputs = append(made.Inputs, *input)
		}
	}
	if !made.Fits() {
		return nil, facts.Refuse(facts.InputTooLarge, facts.OfInput("component"), "%d inputs follow from it", len(made.Inputs))
	}
	return made, nil
}

// ofEvent is what a route makes of an event; nil if it is not written yet, because its execution is to wait for a remote
// link, or a window would gather events that wait for others. What a window gathers is made when it is sealed.
func ofEvent(event *pack.Event, route frozen.Route) (*turn.Input, error) {
	needs, err := route.Needs(event)
	switch {
	case err != nil:
		return nil, err
	case !route.Window.Immediate() && len(needs) > 0:
		return nil, nil
	case !route.Window.Immediate():
		return &turn.Input{}, nil
	}
	var waits []turn.Need
	for _, need := range needs {
		if need.Event.IsZero() {
			return nil, nil
		}
		waits = append(waits, turn.Need{Event: need.Event, Deadline: time.Duration(need.Deadline) * time.Second})
	}
	one, err := inputOf(route, []*pack.Event{event})
	if err != nil {
		return nil, err
	}
	one.Needs = waits
	if route.Ordering.Strict() {
		one.Follows, err = route.Follows(event)
	}
	return &one, err
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
	order := &turn.Order{Wait: time.Duration(o.Settle) * time.Second, FailedAdvances: route.Execution.Disposition == "advance",
		Needs: len(route.Dependencies)}
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
