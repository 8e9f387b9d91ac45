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

// Command is one thing that an application must be asked to do because of a delivery, unless a command of a greater order
// has overtaken it.
type Command struct {
	Route      facts.RouteID
	Version    facts.DefinitionVersion // of the route
	Event      facts.SourceEventKey
	Grouping   facts.GroupingKey // of the window that gathers it; absent of an immediate route
	Definition facts.DefinitionID
	Record     facts.OwnerSlot   // of the application
	Order      facts.SourceOrder // among the commands of its definition and record; zero where order does not matter
	Input      []byte            // exactly as the application gets it, if a window gathers nothing else with it
	Needs      []pack.Need       // other facts that must be there first
}

// ID is the id under which an application gets a command, or the one command into which a window has gathered several. It
// follows from what it is about and from the account's epoch alone (docs/digests.md).
func ID(account facts.AccountID, epoch facts.EpochID, gathered ...Command) (facts.CommandID, error) {
	author, err := facts.ProfileV2.Author()
	if err != nil {
		return facts.CommandID{}, errors.Wrap(err, "provider: an id")
	}
	c := gathered[0]
	of := facts.CanonicalProjection{Account: account, Route: c.Route, Grouping: c.Grouping}
	for _, one := range gathered {
		of.Members = append(of.Members, one.Event)
	}
	canonical := author.CanonicalProjection(of)
	projection := author.Projection(canonical, epoch, c.Version, facts.LiveGeneration).ID
	return author.Command(author.Execution(projection, 0).ID).ID, nil
}

// Expect gives the commands that a delivery means by its pack, in an account that enables every route. They are derived
// from the pack and the delivery alone, so that what a daemon did can be held against them. A component that is no event
// means none.
//
// The order is that of the source's partition. It is one of the record too where each record is in one partition, which
// is so in every pack of this tree.
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
		one := Command{Route: m.Route.Name, Version: m.Route.Version, Event: event.Key, Grouping: m.Grouping, Definition: m.Route.Command.Definition}
		mapping, known := p.Mapping(m.Route.Mapping)
		if !known {
			return nil, errors.Newf("provider: route %s has no mapping %s", m.Route.Name, m.Route.Mapping)
		}
		input, err := mapping.Project([]*pack.Event{event})
		if err != nil {
			return nil, err
		}
		one.Record, one.Input = input.Record, input.Bytes()
		if !m.Route.Ordering.Independent() {
			one.Order = event.Order
		}
		if one.Needs, err = m.Route.Needs(event); err != nil {
			return nil, err
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
