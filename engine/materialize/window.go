package materialize

import (
	"connectorcore/engine/frozen"
	"connectorcore/engine/pack"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/turn"
)

// Seal is how a window is closed whose members are all of these, in the order of its membership: with the input that its
// route makes of them, or with the closed reason why it makes none. Its premise and its claim are the caller's.
//
// Spec: Inbound facts (ProjectionWindow).
func Seal(profile facts.Profile, route frozen.Route, window inbound.ProjectionWindow, members []inbound.Event) (*turn.Seal, error) {
	order, err := Order(route.Route)
	if err != nil {
		return nil, err
	}
	seal := &turn.Seal{Profile: profile, Window: window.ID, Grouping: window.Key, Latest: route.Window.Policy == "latest",
		Input: turn.Input{Route: route.Name, Version: route.Version, Order: order}}
	for _, m := range members {
		m.Payload = nil // a turn does not read it
		seal.Members = append(seal.Members, m)
	}
	makes, reason := inbound.Arrange(members, order != nil, seal.Latest)
	if seal.Reason = reason; reason != 0 {
		return seal, nil
	}
	events := make([]*pack.Event, len(makes))
	for i, m := range makes {
		if events[i], err = pack.ReadEvent(m.Kind, m.Key, m.Locator, m.Payload, route.Channel.Limits.Depth); err != nil {
			seal.Reason = reasonOf(err)
			return seal, nil
		}
	}
	input, err := inputOf(route, events)
	switch {
	case err != nil:
		seal.Reason = reasonOf(err)
	case len(input.Bytes) > turn.MaxInput:
		seal.Reason = facts.WindowOverLimit
	default:
		seal.Input = input
	}
	return seal, nil
}
