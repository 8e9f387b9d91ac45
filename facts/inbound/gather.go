package inbound

import (
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/digest"
)

// The closed shapes of windows.
var (
	groupingShape = digest.Declare("window-grouping",
		digest.OfID("account"), digest.OfID("epoch"), digest.OfText("route"), digest.OfText("route_version"), digest.OfText("grouping_key"))
	windowMembersShape = digest.Declare("window-members",
		digest.OfGroup("members", digest.OfID("event")))
	routeDefinitionShape = digest.Declare("route-definition",
		digest.OfID("epoch"), digest.OfText("route"), digest.OfText("route_version"))
)

// GroupingDigest is what at most one window takes input of: an account's grouping key under an epoch and an exact route. An
// epoch serves all accounts, and two of them with one key gather apart. It is zero if a field of the window is absent.
func (w ProjectionWindow) GroupingDigest(profile facts.Profile) facts.Digest {
	writer := groupingShape.Begin(profile.String()).ID("account", w.Account).ID("epoch", w.Epoch)
	text(writer, "route", w.Route)
	text(writer, "route_version", w.Version)
	text(writer, "grouping_key", w.Key)
	return sum(writer)
}

// RouteDefinition is an exact route of an epoch: an event is in one window of it (R19).
func RouteDefinition(profile facts.Profile, epoch facts.EpochID, route facts.RouteID, version facts.DefinitionVersion) facts.Digest {
	writer := routeDefinitionShape.Begin(profile.String()).ID("epoch", epoch)
	text(writer, "route", route)
	text(writer, "route_version", version)
	return sum(writer)
}

// WindowMembers is the digest of a window's membership, in its order. No members have no digest: a window is born with its
// first one.
func WindowMembers(profile facts.Profile, events []facts.EventID) facts.Digest {
	if len(events) == 0 {
		return facts.Digest{}
	}
	return sum(windowMembersShape.Begin(profile.String()).Group("members", len(events), func(item *digest.Writer, ordinal int) {
		item.ID("event", events[ordinal])
	}))
}

// text writes a key. An absent one breaks the preimage, since it is never the same as an empty text.
func text(w *digest.Writer, name string, key interface {
	IsZero() bool
	String() string
}) {
	if key.IsZero() {
		w.Null(name)
		return
	}
	w.Text(name, key.String())
}

// Arrange gives the members of a window that make its input, in the order in which a mapping reads them: the order of
// their source, and of a latest window the greatest alone. Where a route does not depend on order they come by their keys.
// So the input follows from the set of the members, and never from the order of their arrival.
//
// Instead it gives the reason why they make no input: members of one place that differ, or that stand in no common order.
func Arrange(members []Event, ordered, latest bool) ([]Event, facts.Code) {
	all := slices.Clone(members)
	if !ordered {
		slices.SortFunc(all, func(a, b Event) int { return a.Key.Compare(b.Key) })
		return all, 0
	}
	comparable := true
	slices.SortFunc(all, func(a, b Event) int {
		order, err := a.Order.Compare(b.Order)
		comparable = comparable && err == nil
		if order == 0 {
			return a.Key.Compare(b.Key)
		}
		return order
	})
	if !comparable {
		return nil, facts.PositionKindsDiffer
	}
	greatest := all[len(all)-1]
	for i, m := range all {
		if m.Partition != greatest.Partition {
			return nil, facts.WindowAmbiguous // they wait in no one lane
		}
		if i > 0 && m.Order == all[i-1].Order && m.Content != all[i-1].Content && (!latest || m.Order == greatest.Order) {
			return nil, facts.WindowAmbiguous
		}
	}
	if latest {
		return all[len(all)-1:], 0
	}
	return all, 0
}
