package pack

import (
	"fmt"
)

func (c check) route(r *Route) {
	c.channel(&r.Channel, "channel")
	c.ordering(&r.Ordering)
	c.window(r)
	for i, d := range r.Dependencies {
		at := fmt.Sprintf("dependencies[%d]", i)
		const why = "a completed_event is named by event, a remote_link by owner_slot"
		c.together(!d.Event.IsZero(), d.Requires == "completed_event", at+".event", why)
		c.together(!d.OwnerSlot.IsZero(), d.Requires == "remote_link", at+".owner_slot", why)
	}
	var kinds []string
	for _, kind := range r.Take {
		kinds = append(kinds, kind.String())
	}
	c.unique(kinds, "events", "event kind")
}

// ordering refuses a route that depends on order and does not say everything about it: such a route would be applied
// in the order of arrival.
func (c check) ordering(o *Ordering) {
	if o.Contract == "" {
		return // reported already
	}
	dependent := !o.Independent()
	c.together(o.Proof != "", !dependent, "ordering.proof", "order_independent is proved; the other contracts are ordered instead")
	const complete = "an order-dependent route has a partition, a position and a tie-breaker"
	c.together(!o.Partition.IsZero(), dependent, "ordering.partition", complete)
	c.together(!o.Position.IsZero(), dependent, "ordering.position", complete)
	c.together(!o.TieBreaker.IsZero(), dependent, "ordering.tie_breaker", complete)
	c.bans(o.Settle > 0 && o.Contract != latestSourcePosition, "ordering.settle_seconds", "only latest_source_position settles")
	const sequence = "strict_source_sequence, and no other contract, has a successor rule and a gap deadline"
	c.together(o.Successor != nil, o.Strict(), "ordering.successor", sequence)
	c.together(o.Gap != nil, o.Strict(), "ordering.gap", sequence)
	if s := o.Successor; s != nil {
		c.first(s)
		c.together(!s.Predecessor.IsZero(), s.Rule == "predecessor", "ordering.successor.predecessor", "rule: predecessor names the position before")
	}
}

// first evaluates the first position once, which no input can change.
func (c check) first(s *Successor) {
	const path = "ordering.successor.first"
	if s.First.IsZero() {
		return
	}
	if err := s.First.Bind(constantCost); err != nil {
		c.fault(path, err.Error(), "")
		return
	}
	first, err := s.First.Position(nil)
	if err != nil {
		c.fault(path, err.Error(), `write a position, like integer("1")`)
		return
	}
	if _, whole := first.Integer(); s.Rule == "increment" && !whole {
		c.fault(path, fmt.Sprintf("a %s has no successor by increment", first.Kind()), `write integer("1")`)
	}
}

// constantCost is enough for any expression without an input.
const constantCost = 1000

func (c check) window(r *Route) {
	w := &r.Window
	if w.Immediate() {
		const why = "policy: immediate gathers nothing"
		c.bans(!w.Grouping.IsZero(), "window.grouping", why)
		c.bans(w.Members > 1, "window.members_max", why)
		c.bans(w.Close > 0, "window.close_after_seconds", why)
		c.bans(w.Quiet > 0, "window.quiet_seconds", why)
		return
	}
	c.wants(!w.Grouping.IsZero(), "window.grouping", "a window gathers the events of one grouping key")
	c.wants(w.Members > 1, "window.members_max", "a window has a frozen size of two events at least")
	c.wants(w.Close > 0, "window.close_after_seconds", "a window that nothing closes keeps its events for ever")
	c.together(w.Quiet > 0, w.Policy == "settle", "window.quiet_seconds", "a settle window, and no other, closes when its source is quiet")
	if w.Quiet > w.Close {
		c.fault("window.quiet_seconds", "the window would close before its source is quiet", "let close_after_seconds be longer")
	}
	if w.Policy == "latest" && r.Ordering.Independent() {
		c.fault("window.policy", "which event is the latest is not said by an order_independent route", "give the route an ordering contract")
	}
	if r.Ordering.Strict() {
		c.fault("window.policy", "a strict sequence is applied one by one", "write policy: immediate")
	}
}

func (c check) mapping(m *Mapping) {
	var names []string
	for _, field := range m.Fields {
		names = append(names, field.Name)
	}
	c.unique(names, "fields", "field")
}
