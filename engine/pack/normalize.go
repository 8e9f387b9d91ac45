package pack

import (
	"math/big"
	"slices"

	"connectorcore/engine/pack/expr"
	"connectorcore/facts"
)

// Event is a normalized component, with the routes that it takes.
//
// Spec: Inbound facts (Event).
type Event struct {
	Rule       string // the event rule that described it
	Kind       facts.EventKind
	Key        facts.SourceEventKey
	Locator    facts.SourceLocator
	Occurrence facts.SourcePosition // absent where the source does not say
	Payload    []byte               // the component, exactly as received

	Contract  facts.Digest // zero, and the two below absent, if no route of it depends on order
	Partition facts.OrderingPartition
	Order     facts.SourceOrder

	Matches []Match // the routes that take it, in the order of their names

	value expr.Value
}

// Match is one route's verdict on an event that is of its kinds.
type Match struct {
	Route    *Route
	Grouping facts.GroupingKey // absent for an immediate route
	Refusal  error             // why the route cannot take it, though it may be meant to
}

// Content is what two components with one key must agree on to be duplicates (R16).
func (e *Event) Content(author facts.Author) facts.EventContent {
	return facts.EventContent{
		Kind: e.Kind, Payload: author.EventPayload(e.Payload), Locator: e.Locator, Occurrence: e.Occurrence,
		Contract: e.Contract, Partition: e.Partition, Order: e.Order,
	}
}

// ReadEvent opens an event that was stored, so that it can be matched and projected again. The depth is that of its
// channel's limits.
func ReadEvent(kind facts.EventKind, key facts.SourceEventKey, locator facts.SourceLocator, payload []byte, depth int64) (*Event, error) {
	value, err := expr.Decode(payload, int(depth))
	if err != nil {
		return nil, err
	}
	return &Event{Kind: kind, Key: key, Locator: locator, Payload: payload, value: value}, nil
}

// Normalize makes the event of a component under the routes that are enabled, or gives the closed reason why the
// component is quarantined. Whatever is wrong with one route's own condition or grouping is that route's verdict; an
// order that cannot be read is the component's, since an event without its place would be applied in another one.
func (r *Reading) Normalize(component Component, routes []*Route) (*Event, error) {
	if component.Refusal != nil {
		return nil, component.Refusal
	}
	around := r.value
	if f := r.channel.Components; f.Form == "lines" || f.Form == "array" && f.At == "" {
		around = expr.Value{} // nothing stands around the components, and one must not read its neighbours
	}
	in := expr.Inputs{"headers": r.headers, "body": around, "component": component.value, "ordinal": expr.Whole(int64(component.Ordinal))}
	rule, err := r.channel.describe(in)
	if err != nil {
		return nil, err
	}
	event := &Event{Rule: rule.Name, Payload: component.Body, value: component.value}
	longest := r.channel.Limits.KeyBytes
	if event.Kind, err = expr.EvalKey[facts.EventKind](&rule.Kind, in, longest); err != nil {
		return nil, err
	}
	if event.Key, err = expr.EvalKey[facts.SourceEventKey](&rule.Key, in, longest); err != nil {
		return nil, err
	}
	if event.Locator, err = expr.EvalKey[facts.SourceLocator](&rule.Locator, in, longest); err != nil {
		return nil, err
	}
	if !rule.OccurredAt.IsZero() {
		if event.Occurrence, err = rule.OccurredAt.Position(in); err != nil {
			return nil, err
		}
	}
	for _, route := range routes {
		if route.Channel.Name != r.channel.Name {
			continue
		}
		if err := event.match(route, longest); err != nil {
			return nil, err
		}
	}
	return event, nil
}

func (ch *Channel) describe(in expr.Inputs) (*EventRule, error) {
	for i := range ch.Events {
		holds, err := ch.Events[i].When.Bool(in)
		if err != nil {
			return nil, err
		}
		if holds {
			return &ch.Events[i], nil
		}
	}
	return nil, facts.Refuse(facts.EventUnmatched, facts.OfInput("component"), "%d events were tried", len(ch.Events))
}

// inputs are the variables of an event's own scope.
func (e *Event) inputs() expr.Inputs {
	return expr.Inputs{
		"event.kind": expr.Text(e.Kind.String()), "event.key": expr.Text(e.Key.String()),
		"event.locator": expr.Text(e.Locator.String()), "payload": e.value,
	}
}

func (e *Event) match(route *Route, longest int64) error {
	if len(route.Take) > 0 && !slices.ContainsFunc(route.Take, func(pattern facts.EventKind) bool { return takes(pattern, e.Kind) }) {
		return nil
	}
	in := e.inputs()
	taken, err := route.When.Bool(in)
	if err == nil && !taken {
		return nil
	}
	m := Match{Route: route, Refusal: err}
	if err == nil && !route.Window.Immediate() {
		m.Grouping, m.Refusal = expr.EvalKey[facts.GroupingKey](&route.Window.Grouping, in, longest)
	}
	e.Matches = append(e.Matches, m)
	if m.Refusal != nil || route.Ordering.Independent() || !e.Contract.IsZero() {
		return nil
	}
	return e.place(route, in, longest)
}

// place gives the event its place in the order of its source.
func (e *Event) place(route *Route, in expr.Inputs, longest int64) (err error) {
	o := &route.Ordering
	if e.Partition, err = expr.EvalKey[facts.OrderingPartition](&o.Partition, in, longest); err != nil {
		return err
	}
	if e.Order.Position, err = o.Position.Position(in); err != nil {
		return err
	}
	if e.Order.TieBreaker, err = o.TieBreaker.Position(in); err != nil {
		return err
	}
	e.Contract = route.contract
	return nil
}

// First is the position with which a strict sequence begins.
func (r *Route) First() (facts.SourcePosition, error) {
	return r.Ordering.Successor.First.Position(nil)
}

// Follows is the position before an event's own in a strict sequence; absent where the sequence begins.
//
// Refuses: PositionUnreadable (nothing can come before the event's position, or what it names does not); what the
// expression refuses.
func (r *Route) Follows(event *Event) (facts.SourcePosition, error) {
	none, s, own := facts.SourcePosition{}, r.Ordering.Successor, event.Order.Position
	first, err := r.First()
	if err != nil || own == first {
		return none, err
	}
	refuse := func(detail string) error {
		return facts.Refuse(facts.PositionUnreadable, facts.OfInput("source position"), "%s", detail)
	}
	var before facts.SourcePosition
	if s.Rule == "increment" {
		number, whole := own.Integer()
		if !whole {
			return none, refuse("a " + own.Kind().String() + " has no position before it by decrement")
		}
		before, err = facts.IntegerPosition(number.Sub(number, big.NewInt(s.Step)))
	} else {
		before, err = s.Predecessor.Position(event.inputs())
	}
	if err != nil {
		return none, err
	}
	if order, err := before.Compare(own); err != nil || order >= 0 {
		return none, refuse("the position that it names before its own is not before it")
	}
	return before, nil
}

// Need is one requirement of an event's execution.
//
// Spec: Inbound facts (ExecutionDependency).
type Need struct {
	Event     facts.SourceEventKey // of a completed event; absent for a link
	OwnerSlot facts.OwnerSlot      // of an active link; absent for an event
	Deadline  int64                // seconds
}

// Needs are the requirements that hold for an event, in the order of the route.
func (r *Route) Needs(event *Event) ([]Need, error) {
	var needs []Need
	in, longest := event.inputs(), r.Channel.Limits.KeyBytes
	for i := range r.Dependencies {
		d := &r.Dependencies[i]
		holds, err := d.When.Bool(in)
		if err != nil {
			return nil, err
		}
		if !holds {
			continue
		}
		need := Need{Deadline: d.Deadline}
		if d.Requires == "completed_event" {
			need.Event, err = expr.EvalKey[facts.SourceEventKey](&d.Event, in, longest)
		} else {
			need.OwnerSlot, err = expr.EvalKey[facts.OwnerSlot](&d.OwnerSlot, in, longest)
		}
		if err != nil {
			return nil, err
		}
		needs = append(needs, need)
	}
	return needs, nil
}
