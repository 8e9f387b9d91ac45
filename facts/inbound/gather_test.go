package inbound

import (
	"testing"

	"connectorcore/facts"
)

func keyOf[T facts.AnyKey](t *testing.T, text string) T {
	t.Helper()
	key, err := facts.ParseKey[T](text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Each of its parents moves a digest, the account too, and without one of them there is none.
func TestU13WindowDigestsStandOnEachParent(t *testing.T) {
	window := ProjectionWindow{Account: facts.AccountID{1}, Epoch: facts.EpochID{1}, Route: keyOf[facts.RouteID](t, "r"),
		Version: keyOf[facts.DefinitionVersion](t, "1"), Key: keyOf[facts.GroupingKey](t, "g")}
	of := func(w ProjectionWindow) [2]facts.Digest {
		return [2]facts.Digest{w.GroupingDigest(facts.ProfileV2), RouteDefinition(facts.ProfileV2, w.Epoch, w.Route, w.Version)}
	}
	base := of(window)
	if base[0].IsZero() || base[1].IsZero() {
		t.Fatalf("%v", base)
	}
	for name, c := range map[string]struct {
		other, absent func(*ProjectionWindow)
		moves         [2]bool
	}{
		"account":  {func(w *ProjectionWindow) { w.Account[0]++ }, func(w *ProjectionWindow) { w.Account = facts.AccountID{} }, [2]bool{true, false}},
		"epoch":    {func(w *ProjectionWindow) { w.Epoch[0]++ }, func(w *ProjectionWindow) { w.Epoch = facts.EpochID{} }, [2]bool{true, true}},
		"route":    {func(w *ProjectionWindow) { w.Route = keyOf[facts.RouteID](t, "s") }, func(w *ProjectionWindow) { w.Route = facts.RouteID{} }, [2]bool{true, true}},
		"version":  {func(w *ProjectionWindow) { w.Version = keyOf[facts.DefinitionVersion](t, "2") }, func(w *ProjectionWindow) { w.Version = facts.DefinitionVersion{} }, [2]bool{true, true}},
		"key":      {func(w *ProjectionWindow) { w.Key = keyOf[facts.GroupingKey](t, "h") }, func(w *ProjectionWindow) { w.Key = facts.GroupingKey{} }, [2]bool{true, false}},
		"deadline": {func(w *ProjectionWindow) { w.Deadline = w.Deadline.Add(1) }, func(*ProjectionWindow) {}, [2]bool{}},
	} {
		other, absent := window, window
		c.other(&other)
		c.absent(&absent)
		for i, got := range of(other) {
			if (got != base[i]) != c.moves[i] {
				t.Errorf("another %s moves digest %d: %t", name, i, got != base[i])
			}
			if gone := of(absent)[i]; gone.IsZero() != c.moves[i] {
				t.Errorf("without its %s digest %d is %s", name, i, gone)
			}
		}
	}
	one, two := facts.EventID{1}, facts.EventID{2}
	if members := WindowMembers(facts.ProfileV2, []facts.EventID{one, two}); members == WindowMembers(facts.ProfileV2, []facts.EventID{two, one}) || members.IsZero() {
		t.Error("the order of a membership has no part in its digest")
	}
	if !WindowMembers(facts.ProfileV2, nil).IsZero() || !WindowMembers(facts.ProfileV1, []facts.EventID{one}).IsZero() {
		t.Error("no members, or a profile that authors nothing, have a digest")
	}
}
