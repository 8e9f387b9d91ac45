package pack

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"connectorcore/engine/pack/form"
	"connectorcore/facts"
)

// beside checks what only shows when the definitions stand beside each other. The first definition of a name is the
// one that others mean.
func (c *compiler) beside() {
	for i, d := range c.all {
		if i > 0 && !d.identity.ID.IsZero() && c.all[i-1].identity.Compare(d.identity) == 0 {
			d.check.fault("name", fmt.Sprintf("there are two definitions %s %q", d.identity.Kind, d.identity.ID), "rename one of the two")
		}
		switch body := d.body.(type) {
		case *Route:
			c.refers(d, "mapping", facts.FieldMapping, body.Mapping)
			c.requires(d, "webhook")
		case *Push:
			c.requires(d, "callout")
			c.refers(d, "callout", facts.CalloutProfile, body.Callout)
			callout, _ := c.pack.Callout(body.Callout)
			var query *Callout
			if body.Reconcile != nil {
				c.refers(d, "reconcile.callout", facts.CalloutProfile, body.Reconcile.Callout)
				c.requires(d, "query")
				query, _ = c.pack.Callout(body.Reconcile.Callout)
			}
			d.check.push(body, callout, query)
		}
	}
	c.orders()
}

func (c *compiler) requires(d *definition, what string) {
	if len(c.pack.head.Requires) > 0 && !slices.Contains(c.pack.head.Requires, what) {
		d.check.fault("kind", fmt.Sprintf("the pack does not require %q", what), "add it to requires in pack.yaml")
	}
}

func (c *compiler) refers(d *definition, path string, kind facts.BindingKind, name facts.DefinitionID) {
	var known []string
	for _, other := range c.all {
		if other.identity.Kind == kind && !other.identity.ID.IsZero() {
			known = append(known, other.identity.ID.String())
		}
	}
	if !name.IsZero() && !slices.Contains(known, name.String()) {
		d.check.fault(path, fmt.Sprintf("there is no %s %q", kind, name), form.Among(name.String(), known))
	}
}

// orders demands that an event has one place in one order: routes which depend on order and take the same events have
// the same contract, byte for byte. It also finds two channels of one name, which only canonical bytes can hold.
func (c *compiler) orders() {
	type known struct {
		route   *Route
		order   []byte
		channel []byte
	}
	var before []known
	for _, d := range c.all {
		route, ok := d.body.(*Route)
		if !ok {
			continue
		}
		order, err := orderingBytes(route)
		node, fault := form.Encode(&route.Channel)
		if err != nil || fault != nil {
			continue // a fault that was reported left it incomplete
		}
		now := known{route, order, form.AppendCanonical(nil, node)}
		for _, was := range before {
			if was.route.Channel.Name != route.Channel.Name {
				continue
			}
			if !bytes.Equal(was.channel, now.channel) {
				d.check.fault("channel", fmt.Sprintf("the routes %q and %q hold two channels of one name", was.route.Name, route.Name), "")
			}
			if !was.route.Ordering.Independent() && !route.Ordering.Independent() && overlap(was.route, route) && !bytes.Equal(was.order, now.order) {
				d.check.fault("ordering", fmt.Sprintf("the route %q takes the same events in another order", was.route.Name),
					"give both routes the same ordering, or let them take different events")
			}
		}
		before = append(before, now)
	}
}

func overlap(a, b *Route) bool {
	if len(a.Take) == 0 || len(b.Take) == 0 {
		return true
	}
	return slices.ContainsFunc(a.Take, func(one facts.EventKind) bool {
		return slices.ContainsFunc(b.Take, func(other facts.EventKind) bool { return takes(one, other) || takes(other, one) })
	})
}

// takes tells whether a route's pattern covers a kind: the kind itself, or every kind that begins with what stands
// before the star at the pattern's end.
func takes(pattern, kind facts.EventKind) bool {
	prefix, open := strings.CutSuffix(pattern.String(), "*")
	return pattern == kind || open && strings.HasPrefix(kind.String(), prefix)
}
