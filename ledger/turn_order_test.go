package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/turn"
	"connectorcore/machines"
	"connectorcore/schema"
)

// latest is what a latest_source_position route without a settle time says of its lanes.
var latest = turn.Order{}

// strict is what a strict_source_sequence route says of its lanes that counts from 1, by ones.
func strict(t testing.TB) turn.Order {
	t.Helper()
	return turn.Order{First: orderOf(t, "1", "-").Position, Wait: time.Hour}
}

// placed is an event of partition p at a position with a tie-breaker, written "key@position/tie=content"; without a content
// it is its key.
func placed(t testing.TB, order turn.Order, partition string, all ...string) *turn.Content {
	t.Helper()
	var keys []string
	var orders []facts.SourceOrder
	for _, one := range all {
		name, says, same := strings.Cut(one, "=")
		key, place, _ := strings.Cut(name, "@")
		position, tie, _ := strings.Cut(place, "/")
		if tie == "" {
			tie = "-"
		}
		if same {
			key += "=" + says
		}
		keys, orders = append(keys, key), append(orders, orderOf(t, position, tie))
	}
	content := eventsOf(t, true, keys...)
	for i, component := range content.Components {
		e := component.Event
		e.Contract, e.Partition, e.Order = facts.Digest{9}, keyOf[facts.OrderingPartition](t, partition), orders[i]
		e.Locator = keyOf[facts.SourceLocator](t, partition)
		e.Inputs[0].Order = &order
		if number, whole := orders[i].Position.Integer(); order.First != (facts.SourcePosition{}) && whole && orders[i].Position != order.First {
			e.Inputs[0].Follows = orderOf(t, fmt.Sprint(number.Int64()-1), "-").Position
		}
	}
	return content
}

// brings admits a delivery and gives what it brought to be applied.
func (s *scene) brings(premise inbound.Premise, content *turn.Content) []turn.Born {
	s.t.Helper()
	key := facts.Mint[facts.ReceiptID]().String()
	v := s.admit(delivery(s.t, premise, key, "body "+key, content))[0]
	if v.Refusal != nil {
		s.t.Fatal(v.Refusal)
	}
	return v.Born
}

// completes records that an execution was applied, and gives what has its lane next.
func (s *scene) completes(premise inbound.Premise, order turn.Order, born turn.Born, outcome machines.ApplicationResultState) []turn.Born {
	s.t.Helper()
	v := s.turn(turn.Item{Complete: laneCompletion(premise, order, born, outcome)})[0]
	if v.Refusal != nil {
		s.t.Fatal(v.Refusal)
	}
	return v.Born
}

func laneCompletion(premise inbound.Premise, order turn.Order, born turn.Born, outcome machines.ApplicationResultState) *turn.Completion {
	ask := completion(born)
	ask.Outcome, ask.Lane, ask.Order = outcome, born.Lane, order
	ask.Next = &turn.Next{Premise: premise, Holding: turn.Holding{Holder: holder, Lease: time.Minute}}
	return ask
}

// applies completes whatever has a lane until nothing has, and gives the inputs in the order in which they were applied.
func (s *scene) applies(premise inbound.Premise, order turn.Order, born ...turn.Born) (applied []string) {
	s.t.Helper()
	for len(born) > 0 {
		applied = append(applied, strings.TrimPrefix(string(born[0].Input), "input of "))
		born = append(s.completes(premise, order, born[0], machines.ApplicationResultApplied), born[1:]...)
	}
	return applied
}

// fates says how many projections stand how.
func (s *scene) fates() string {
	s.t.Helper()
	return fmt.Sprintf("minted %d, superseded %d, quarantined %d, waiting %d",
		s.count("SELECT COUNT(*) FROM projection WHERE birth='whole'")+s.count("SELECT COUNT(*) FROM projection_ledger WHERE to_state='minted'"),
		s.count("SELECT COUNT(*) FROM projection_ledger WHERE to_state='superseded'"),
		s.count("SELECT COUNT(*) FROM projection_ledger WHERE to_state='quarantined'"), s.count("SELECT COUNT(*) FROM projection_head"))
}

func (s *scene) stand(want, fates string, applied []string) {
	s.t.Helper()
	if got := fmt.Sprint(applied); got != want || s.fates() != fates {
		s.t.Errorf("applied %s with %s, want %s with %s", got, s.fates(), want, fates)
	}
}

func TestP15TheLatestPositionIsTakenAndTheOvertakenAreSupersededWithoutRuntime(t *testing.T) {
	s, premise := turnScene(t)
	first := s.brings(premise, placed(t, latest, "p", "a@5"))
	if len(first) != 1 || first[0].Attempt != 1 {
		t.Fatalf("the first input of a lane: %+v", first)
	}
	for _, one := range []string{"b@7", "c@9", "d@8"} { // while it is applied
		if born := s.brings(premise, placed(t, latest, "p", one)); born != nil {
			t.Errorf("%s took a lane that is taken: %+v", one, born)
		}
	}
	applied := s.applies(premise, latest, first...)
	if born := s.brings(premise, placed(t, latest, "p", "e@8", "f@2")); born != nil { // late
		t.Errorf("a late input took the lane: %+v", born)
	}
	s.stand("[a c]", "minted 2, superseded 4, quarantined 0, waiting 0", applied)
	if n := s.count("SELECT COUNT(*) FROM execution"); n != 2 {
		t.Errorf("%d executions", n)
	}
}

// Two events in one body: the lane is theirs alone, and the greater one is taken at once.
func TestR21OfWhatComesTogetherTheLatestIsTaken(t *testing.T) {
	s, premise := turnScene(t)
	applied := s.applies(premise, latest, s.brings(premise, placed(t, latest, "p", "a@1", "b@3", "c@2"))...)
	s.stand("[b]", "minted 1, superseded 2, quarantined 0, waiting 0", applied)
}

func TestScenario043APositionBelowTheCompletedOneIsSuperseded(t *testing.T) {
	s, premise := turnScene(t)
	applied := s.applies(premise, latest, s.brings(premise, placed(t, latest, "p", "updated@2"))...)
	applied = append(applied, s.applies(premise, latest, s.brings(premise, placed(t, latest, "p", "created@1"))...)...)
	s.stand("[updated]", "minted 1, superseded 1, quarantined 0, waiting 0", applied)
}

func TestScenario045WhatTiesAndDiffersIsSetAsideAndArrivalDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		together    []string
		after       string
		want, fates string
	}{
		"a tie with what was completed":         {[]string{"a@5/x"}, "b@5/x=else", "[a]", "minted 1, superseded 0, quarantined 1, waiting 0"},
		"the same once more under another key":  {[]string{"a@5/x=same"}, "b@5/x=same", "[same]", "minted 1, superseded 1, quarantined 0, waiting 0"},
		"a tie of two that wait":                {[]string{"a@5/x", "b@5/x=else", "c@4/x"}, "", "[c]", "minted 1, superseded 0, quarantined 2, waiting 0"},
		"the tie-breaker decides":               {[]string{"a@5/x", "b@5/y=else"}, "", "[else]", "minted 1, superseded 1, quarantined 0, waiting 0"},
		"two of one content that wait together": {[]string{"a@5/x=same", "b@5/x=same"}, "", "[same]", "minted 1, superseded 1, quarantined 0, waiting 0"},
	} {
		t.Run(name, func(t *testing.T) {
			s, premise := turnScene(t)
			applied := s.applies(premise, latest, s.brings(premise, placed(t, latest, "p", c.together...))...)
			if c.after != "" {
				applied = append(applied, s.applies(premise, latest, s.brings(premise, placed(t, latest, "p", c.after))...)...)
			}
			s.stand(c.want, c.fates, applied)
		})
	}
}

func TestP15AStrictSequenceIsAppliedInItsOrderAndNeverAcrossAGap(t *testing.T) {
	s, premise := turnScene(t)
	order := strict(t)
	var applied []string
	for _, one := range []string{"b@2", "e@5", "c@3"} {
		if born := s.brings(premise, placed(t, order, "p", one)); born != nil {
			t.Errorf("%s was taken before its predecessor: %+v", one, born)
		}
	}
	if n := s.count("SELECT COUNT(*) FROM execution_attempt"); n != 0 {
		t.Errorf("what waits for a gap has %d attempts", n)
	}
	applied = append(applied, s.applies(premise, order, s.brings(premise, placed(t, order, "p", "a@1"))...)...)
	s.stand("[a b c]", "minted 3, superseded 0, quarantined 0, waiting 1", applied)
	applied = append(applied, s.applies(premise, order, s.brings(premise, placed(t, order, "p", "d@4", "z@0", "c2@3=else"))...)...)
	s.stand("[a b c d e]", "minted 5, superseded 1, quarantined 1, waiting 0", applied)
}

// The same set of events in a hundred orders of arrival ends in the same order of application.
func TestU11P15AnyArrivalOrderIsAppliedInTheSourcesOrder(t *testing.T) {
	s, premise := turnScene(t)
	order := strict(t)
	const events, partitions = 6, 100
	random := rand.New(rand.NewPCG(11, 15))
	for p := range partitions {
		arrival := random.Perm(events)
		var all []string
		for _, n := range arrival {
			all = append(all, fmt.Sprintf("p%d.%d@%d", p, n+1, n+1))
		}
		cut := random.IntN(events)
		partition := fmt.Sprintf("p%d", p)
		born := s.brings(premise, placed(t, order, partition, all[:cut]...))
		applied := s.applies(premise, order, born...)
		applied = append(applied, s.applies(premise, order, s.brings(premise, placed(t, order, partition, all[cut:]...))...)...)
		var want []string
		for n := range events {
			want = append(want, fmt.Sprintf("p%d.%d", p, n+1))
		}
		if !slices.Equal(applied, want) {
			t.Errorf("arrival %v: applied %v", arrival, applied)
		}
	}
	if n := s.count("SELECT COUNT(*) FROM ordering_lane"); n != partitions {
		t.Errorf("%d lanes", n)
	}
}

// due makes every waiting projection's time come, as an administrator who moves clocks.
func (s *scene) due() (ids []facts.ProjectionID) {
	s.t.Helper()
	_, err := s.store.Admin.ExecContext(s.t.Context(), "UPDATE projection_head SET deadline_at=NOW(6) - INTERVAL 1 SECOND, due_at=NOW(6) - INTERVAL 1 SECOND")
	ok(s.t, err)
	rows, err := s.store.Admin.QueryContext(s.t.Context(), "SELECT projection_id FROM projection_head ORDER BY sort_key")
	ok(s.t, err)
	for rows.Next() {
		var id facts.ProjectionID
		ok(s.t, rows.Scan(&id))
		ids = append(ids, id)
	}
	ok(s.t, rows.Close())
	return ids
}

// lane is the one lane that there is.
func (s *scene) lane() (id facts.LaneID) {
	s.t.Helper()
	ok(s.t, s.store.Admin.QueryRowContext(s.t.Context(), "SELECT lane_id FROM ordering_lane").Scan(&id))
	return id
}

// looks is the item that a sweep brings for what is due in a lane.
func (s *scene) looks(premise inbound.Premise, order turn.Order, lane facts.LaneID, due []facts.ProjectionID) turn.Item {
	s.t.Helper()
	return turn.Item{Advance: &turn.Advance{Premise: premise, Profile: facts.ProfileV2, Lane: lane, Order: order, Projections: due,
		Claim: &turn.Holding{Holder: holder, Lease: time.Minute}}}
}

func TestR23AGapIsActedOnAtItsDeadlineWhenNoReceiptIsLeftToRead(t *testing.T) {
	for _, holds := range []bool{true, false} {
		t.Run(fmt.Sprintf("hold %t", holds), func(t *testing.T) {
			s, premise := turnScene(t)
			order := strict(t)
			order.GapHolds = holds
			s.brings(premise, placed(t, order, "p", "b@2", "d@4"))
			bare := delivery(t, premise, "d-1", "a body", nil)
			s.admit(bare) // it may hold what the lane waits for
			looks := s.looks(premise, order, s.lane(), s.due())
			if v := s.turn(looks)[0]; v.Refusal != nil || v.Born != nil || v.Gaps != nil {
				t.Errorf("with a receipt that is not read: %+v", v)
			}
			s.stand("[]", "minted 0, superseded 0, quarantined 0, waiting 2", nil)
			if v := s.turn(turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: *eventsOf(t, true, "e-1")}})[0]; v.Refusal != nil {
				t.Fatal(v.Refusal)
			}
			s.due()
			v := s.turn(looks)[0]
			if v.Refusal != nil || v.Born != nil || (len(v.Gaps) == 2) != holds {
				t.Errorf("%+v", v)
			}
			if fates := map[bool]string{true: "minted 1, superseded 0, quarantined 0, waiting 2", false: "minted 1, superseded 0, quarantined 2, waiting 0"}[holds]; s.fates() != fates {
				t.Errorf("%s, want %s", s.fates(), fates)
			}
			// Neither has moved the lane: what it waits for may still come, and what was held follows it.
			want := map[bool]string{true: "[a b]", false: "[a]"}[holds]
			if applied := s.applies(premise, order, s.brings(premise, placed(t, order, "p", "a@1"))...); fmt.Sprint(applied) != want {
				t.Errorf("applied %v, want %s", applied, want)
			}
		})
	}
}

// The missing event comes in the very turn in which the deadline is acted on: it closes the gap.
func TestR23WhatComesWithTheDeadlineClosesTheGap(t *testing.T) {
	s, premise := turnScene(t)
	order := strict(t)
	s.brings(premise, placed(t, order, "p", "b@2"))
	late := delivery(t, premise, "d-1", "a body", placed(t, order, "p", "a@1"))
	got := s.turn(s.looks(premise, order, s.lane(), s.due()), turn.Item{Admit: late})
	born := append(got[0].Born, got[1].Born...)
	if len(born) != 1 {
		t.Fatalf("%+v", got)
	}
	s.stand("[a b]", "minted 2, superseded 0, quarantined 0, waiting 0", s.applies(premise, order, born...))
}

func TestP15WhatHasNotSettledIsNotTaken(t *testing.T) {
	s, premise := turnScene(t)
	order := turn.Order{Wait: time.Hour}
	if born := s.brings(premise, placed(t, order, "p", "b@2", "a@1")); born != nil {
		t.Fatalf("%+v", born)
	}
	if v := s.turn(s.looks(premise, order, s.lane(), nil))[0]; v.Refusal != nil || v.Born != nil {
		t.Fatalf("looked at too early: %+v", v)
	}
	v := s.turn(s.looks(premise, order, s.lane(), s.due()))[0]
	s.stand("[b]", "minted 1, superseded 1, quarantined 0, waiting 0", s.applies(premise, order, v.Born...))
}

func TestR22AFailedResultReleasesNothingUnlessItsRouteSaysSo(t *testing.T) {
	for _, advances := range []bool{false, true} {
		t.Run(fmt.Sprintf("advances %t", advances), func(t *testing.T) {
			s, premise := turnScene(t)
			order := strict(t)
			order.FailedAdvances = advances
			first := s.brings(premise, placed(t, order, "p", "a@1", "b@2"))
			next := s.completes(premise, order, first[0], machines.ApplicationResultFailed)
			if (len(next) == 1) != advances {
				t.Errorf("after a failure %+v has the lane", next)
			}
			state := map[bool]string{false: "held", true: "taken"}[advances]
			if n := s.count("SELECT COUNT(*) FROM ordering_lane_guard WHERE state=? AND (high_position IS NULL) = ?", state, !advances); n != 1 {
				t.Errorf("the lane is not %s, or its high-water is wrong", state)
			}
			if born := s.brings(premise, placed(t, order, "p", "c@3")); born != nil {
				t.Errorf("%+v took it", born)
			}
		})
	}
}

// A lease that lapses is a new attempt of the execution that has the lane, and frees nothing.
func TestP15ALapsedLeaseReleasesNothing(t *testing.T) {
	s, premise := turnScene(t)
	first := s.brings(premise, placed(t, latest, "p", "a@1"))
	_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE execution_head SET due_at=NOW(6) - INTERVAL 1 HOUR")
	ok(t, err)
	if born := s.brings(premise, placed(t, latest, "p", "b@2")); born != nil {
		t.Errorf("%+v took the lane of a lapsed lease", born)
	}
	claim := turn.Claim{Premise: premise, Holding: turn.Holding{Holder: facts.Mint[facts.HolderID](), Lease: time.Minute}, Execution: first[0].Execution}
	if v := s.turn(turn.Item{Claim: &claim})[0]; v.Refusal != nil || v.Attempt != 2 {
		t.Fatalf("%+v", v)
	}
	s.stand("[a b]", "minted 2, superseded 0, quarantined 0, waiting 0", s.applies(premise, latest, first...))
}

// One turn completes in a hundred lanes and claims the next of each, by as many statements as in one lane.
func TestR12ManyLanesAdvanceInOneTurn(t *testing.T) {
	s, premise := turnScene(t)
	l, wires := s.tapped()
	for _, order := range []turn.Order{strict(t), latest} {
		var born []turn.Born
		var asks []*turn.Admission
		for n := range 100 {
			kind := fmt.Sprintf("%t.%d", order.First.IsZero(), n)
			asks = append(asks, delivery(t, premise, kind, "body "+kind, placed(t, order, kind, kind+"a@1")), delivery(t, premise, kind+"x", "body "+kind, placed(t, order, kind, kind+"b@2")))
		}
		for _, v := range s.admit(asks...) {
			born = append(born, v.Born...)
		}
		if order.First.IsZero() { // of what came together the latest was taken: something newer comes
			asks = nil
			for n := range 100 {
				kind := fmt.Sprintf("true.%d", n)
				asks = append(asks, delivery(t, premise, kind+"y", "body "+kind, placed(t, order, kind, kind+"c@3")))
			}
			s.admit(asks...)
		}
		if len(born) != 100 {
			t.Fatalf("%d lanes were taken", len(born))
		}
		wires.watch(nil)
		s.turnBy(l, turn.Item{Complete: laneCompletion(premise, order, born[0], machines.ApplicationResultApplied)})
		one := wires.count()
		var items []turn.Item
		for _, b := range born[1:] {
			items = append(items, turn.Item{Complete: laneCompletion(premise, order, b, machines.ApplicationResultApplied)})
		}
		wires.watch(nil)
		next := 0
		for _, v := range s.turnBy(l, items...) {
			next += len(v.Born)
		}
		many := wires.count()
		if next != 99 || many != one {
			t.Errorf("%d lanes went on; %d statements for 99 of them and %d for one", next, many, one)
		}
	}
}

// U11: a lane is born once, whoever comes first, and the database knows it by its whole digest.
func TestU11APartitionOfAnExactRouteHasOneLane(t *testing.T) {
	s, premise := turnScene(t)
	s.brings(premise, placed(t, latest, "p", "a@1"))
	s.brings(premise, placed(t, latest, "q", "b@1"))
	other := placed(t, latest, "p", "c@1")
	other.Components[0].Event.Inputs[0].Version = keyOf[facts.DefinitionVersion](t, "2")
	s.brings(premise, other)
	if n := s.count("SELECT COUNT(*) FROM ordering_lane WHERE baseline='empty'"); n != 3 {
		t.Errorf("%d lanes, want one for each partition and version", n)
	}
	_, err := s.store.Admin.ExecContext(t.Context(), "INSERT INTO ordering_lane ("+strings.Join(schema.OrderingLanes.Table.ColumnNames(), ",")+
		") SELECT UNHEX(REPEAT('ab', 16)), "+strings.Join(schema.OrderingLanes.Table.ColumnNames()[1:], ",")+" FROM ordering_lane LIMIT 1")
	if err == nil || !strings.Contains(err.Error(), "ordering_lane_digest") {
		t.Errorf("a second lane of a partition: %v", err)
	}
}

// R26: a result is committed only for the execution that its lane names.
func TestR26AnExecutionThatItsLaneDoesNotNameIsNotApplied(t *testing.T) {
	a := newApplying(t)
	a.born = a.brings(a.premise, placed(t, latest, "p", "a@1"))
	_, err := a.store.Admin.ExecContext(t.Context(), "UPDATE ordering_lane_guard SET active_execution=UNHEX(REPEAT('ab', 16))")
	ok(t, err)
	_, err = a.once(a.app, a.create)
	refused(t, "the lane names another", err, facts.StaleHolder)
	a.expect("after the refusal", "0 contacts, results none")
	_, err = a.store.Admin.ExecContext(t.Context(), "UPDATE ordering_lane_guard SET active_execution=?", a.born[0].Execution)
	ok(t, err)
	_, err = a.once(a.app, a.create)
	ok(t, err)
	a.expect("in its lane", "1 contacts, results applied")
}

// Two kinds of positions have no order. Which of them a lane takes first decides nothing of the other one but that it has no
// place there.
func TestP15PositionsOfTwoKindsAreNotOverwrittenSilently(t *testing.T) {
	s, premise := turnScene(t)
	content := placed(t, latest, "p", "a@1", "b@2", "c@3")
	content.Components[2].Event.Order.Position = orderOf(t, "1", "3").TieBreaker
	applied := s.applies(premise, latest, s.brings(premise, content)...)
	if n := s.count("SELECT COUNT(*) FROM projection_ledger WHERE to_state='quarantined' AND LOCATE('position_kinds_differ', evidence) > 0"); n != 2 || len(applied) != 1 {
		t.Errorf("applied %v; of the others %d are set aside: %s", applied, n, s.fates())
	}
}

// What says something else at a position of a sequence is a contradiction, whether it comes before that position is completed
// or after, and whatever its tie-breaker is.
func TestP15APositionOfASequenceIsOnePlaceWhateverBreaksTies(t *testing.T) {
	for _, tie := range []string{"w", "x", "y"} {
		s, premise := turnScene(t)
		order := strict(t)
		applied := s.applies(premise, order, s.brings(premise, placed(t, order, "p", "a@1/x"))...)
		applied = append(applied, s.applies(premise, order, s.brings(premise, placed(t, order, "p", "b@1/"+tie+"=else", "c@2"))...)...)
		s.stand("[a c]", "minted 2, superseded 0, quarantined 1, waiting 0", applied)
	}
}

// An input that comes while its lane is taken is looked at when its own time comes, though nothing else happens then.
func TestP15WhatWaitsBehindATakenLaneIsLookedAtInItsTime(t *testing.T) {
	s, premise := turnScene(t)
	order := turn.Order{Wait: 2 * time.Minute}
	s.brings(premise, placed(t, order, "p", "a@1"))
	first := s.turn(s.looks(premise, order, s.lane(), s.due()))[0].Born
	s.brings(premise, placed(t, order, "p", "b@2"))
	if next := s.completes(premise, order, first[0], machines.ApplicationResultApplied); next != nil {
		t.Fatalf("%+v has not settled", next)
	}
	if n := s.count("SELECT COUNT(*) FROM projection_head WHERE due_at <= deadline_at"); n != 1 {
		t.Error("the lane is free, and nobody looks at it when its input has settled")
	}
}

// A turn reads a bounded number of waiting inputs, those of the lanes with the greatest ids first. What it did not read may be
// greater than what it knows: such a lane takes nothing, whatever else was read of another one, and loses nothing.
func TestR12ALaneThatTheLimitCutsOffIsNotDecided(t *testing.T) {
	s, premise := servingScene(t)
	held := map[facts.LaneID]string{}
	var lanes []facts.LaneID
	active := map[facts.LaneID]turn.Born{}
	for _, p := range []string{"p", "q", "r"} {
		born := s.brings(premise, placed(t, latest, p, p+"1@5"))[0]
		s.brings(premise, placed(t, latest, p, p+"2@9"))
		held[born.Lane], active[born.Lane], lanes = p, born, append(lanes, born.Lane)
	}
	slices.SortFunc(lanes, facts.LaneID.Compare)
	least, cut, full := lanes[0], lanes[1], lanes[2]
	_, err := s.store.Admin.ExecContext(t.Context(), "INSERT INTO projection_head SELECT h.account_id, UNHEX(MD5(CONCAT('copy', a.n, '.', b.n))), h.lane_id, 0x018101, 0x018101, "+
		"h.tie_breaker, h.content_digest, NULL, h.due_at, 'waiting', 1, 0 FROM projection_head h, ("+numbers(70)+") a, ("+numbers(70)+") b WHERE h.lane_id=?", full)
	ok(t, err)
	var named facts.ProjectionID
	ok(t, s.store.Admin.QueryRowContext(t.Context(), "SELECT projection_id FROM projection_head WHERE lane_id=?", least).Scan(&named))
	look := s.looks(premise, latest, least, []facts.ProjectionID{named})
	late := delivery(t, premise, "late", "a body", placed(t, latest, held[cut], "late@7"))
	got := s.turn(look, turn.Item{Complete: laneCompletion(premise, latest, active[cut], machines.ApplicationResultApplied)},
		turn.Item{Complete: laneCompletion(premise, latest, active[full], machines.ApplicationResultApplied)}, turn.Item{Admit: late})
	for i, want := range []string{"", "", "input of " + held[full] + "2", ""} {
		brought := ""
		for _, b := range got[i].Born {
			brought += string(b.Input)
		}
		if got[i].Refusal != nil || brought != want {
			t.Errorf("item %d brings %q, want %q: %v", i, brought, want, got[i].Refusal)
		}
	}
	next := s.turn(s.looks(premise, latest, cut, nil))[0].Born
	if len(next) != 1 || string(next[0].Input) != "input of "+held[cut]+"2" {
		t.Errorf("looked at again, the lane takes %+v", next)
	}
	if n := s.count("SELECT COUNT(*) FROM projection_ledger WHERE to_state='superseded'"); n < 4000 {
		t.Errorf("%d were superseded", n)
	}
}

// numbers are so many rows of a column n.
func numbers(count int) string {
	all := "SELECT 0 n"
	for n := 1; n < count; n++ {
		all += fmt.Sprintf(" UNION ALL SELECT %d", n)
	}
	return all
}
