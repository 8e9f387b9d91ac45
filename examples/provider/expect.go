package provider

import (
	"slices"

	"connectorcore/engine/pack"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// Key is the name under which the provider knows a delivery again: its transport key.
//
// Errors: whatever the channel has against a delivery that carries none. The door refuses it too.
func Key(channel *pack.Channel, d Delivery) (facts.TransportKey, error) {
	return channel.Read(pack.Delivery{Header: d.Header, Body: d.Body}).TransportKey()
}

// Waiting is why a command is not asked for as soon as its delivery was accepted.
type Waiting string

// What commands wait for.
const (
	Nothing    Waiting = ""
	ForOrder   Waiting = "order"
	ForWindow  Waiting = "window"
	ForAnother Waiting = "another fact"
)

// Command is one thing that an application must be asked to do because of a delivery.
type Command struct {
	Definition facts.DefinitionID
	Record     facts.OwnerSlot // of the application; empty behind a window, which decides it
	Waits      Waiting
}

// Expect gives the commands that a delivery means by its pack, in an account that enables every route. They are derived
// from the pack and the delivery alone, so that what a daemon did can be held against them. A component that is no event
// means none.
func Expect(p *pack.Pack, channel *pack.Channel, d Delivery) ([]Command, error) {
	reading := channel.Read(pack.Delivery{Header: d.Header, Body: d.Body})
	components, err := reading.Extract()
	if err != nil {
		return nil, unlessRefused(err)
	}
	var all []Command
	for _, component := range components {
		event, err := reading.Normalize(component, p.Routes())
		var commands []Command
		if err == nil {
			commands, err = ask(p, event)
		}
		if err := unlessRefused(err); err != nil {
			return nil, err
		}
		all = append(all, commands...)
	}
	return all, nil
}

// unlessRefused passes on what is no verdict on a component.
func unlessRefused(err error) error {
	var refusal *facts.Refusal
	if errors.As(err, &refusal) {
		return nil
	}
	return errors.Wrap(err, "provider: a component")
}

// ask gives the commands of an event, all or none: a route that cannot read its part sets the whole component aside.
func ask(p *pack.Pack, event *pack.Event) ([]Command, error) {
	var commands []Command
	for _, m := range event.Matches {
		if m.Refusal != nil {
			return nil, m.Refusal
		}
		one := Command{Definition: m.Route.Command.Definition}
		if !m.Route.Window.Immediate() {
			one.Waits = ForWindow
			commands = append(commands, one)
			continue
		}
		mapping, known := p.Mapping(m.Route.Mapping)
		if !known {
			return nil, errors.Newf("provider: route %s has no mapping %s", m.Route.Name, m.Route.Mapping)
		}
		input, err := mapping.Project([]*pack.Event{event})
		if err != nil {
			return nil, err
		}
		one.Record = input.Record
		needs, err := m.Route.Needs(event)
		switch {
		case err != nil:
			return nil, err
		case len(needs) > 0:
			one.Waits = ForAnother
		case !m.Route.Ordering.Independent():
			one.Waits = ForOrder
		}
		commands = append(commands, one)
	}
	return commands, nil
}

// Renamed is a delivery under another id, where the id is a header of its own.
func Renamed(d Delivery, name string) Delivery {
	from := "delivery-" + d.Name
	d.Name, d.Header = name, slices.Clone(d.Header)
	for i := range d.Header {
		if d.Header[i].Value == from {
			d.Header[i].Value = "delivery-" + name
		}
	}
	return d
}
