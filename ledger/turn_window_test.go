package ledger_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/readers"
	"connectorcore/schema"
)

// gather is a window of a grouping key for so many members, which closes after an hour.
func gather(t testing.TB, grouping string, members uint64) turn.Join {
	t.Helper()
	return turn.Join{Route: keyOf[facts.RouteID](t, "batches"), Version: keyOf[facts.DefinitionVersion](t, "1"), Grouping: keyOf[facts.GroupingKey](t, grouping),
		Members: members, Close: time.Hour}
}

// joining is the content of a body with one event for each key, all of which go into one window.
func joining(t testing.TB, join turn.Join, keys ...string) *turn.Content {
	t.Helper()
	return into(join, eventsOf(t, true, keys...))
}

func into(join turn.Join, content *turn.Content) *turn.Content {
	for _, component := range content.Components {
		component.Event.Inputs, component.Event.Joins = nil, []turn.Join{join}
	}
	return content
}

// takes admits a delivery whose events go into a window.
func (s *scene) takes(premise inbound.Premise, content *turn.Content) {
	s.t.Helper()
	if born := s.brings(premise, content); born != nil {
		s.t.Fatalf("%+v was born of what a window gathers", born)
	}
}

// sealing is how the oldest window of a grouping key is closed, as it was read now: its input is the sum of its members.
func (s *scene) sealing(premise inbound.Premise, grouping string) *turn.Seal {
	return s.sealingBy(premise, grouping, nil, false)
}

func (s *scene) sealingBy(premise inbound.Premise, grouping string, order *turn.Order, latest bool) *turn.Seal {
	s.t.Helper()
	var id facts.WindowID
	ok(s.t, s.store.Admin.QueryRowContext(s.t.Context(), "SELECT w.window_id FROM projection_window w JOIN projection_window_head h USING (window_id) WHERE w.grouping_key=? ORDER BY h.grouping_digest IS NULL DESC, w.born_at LIMIT 1", []byte(grouping)).Scan(&id))
	return s.sealingOf(premise, id, order, latest)
}

func (s *scene) sealingOf(premise inbound.Premise, id facts.WindowID, order *turn.Order, latest bool) *turn.Seal {
	s.t.Helper()
	reader := readers.Open(s.store.Pool(s.t, schema.RoleReader))
	window, there, err := readers.One(s.t.Context(), reader, schema.ProjectionWindows, func(w *inbound.ProjectionWindow) { w.ID = id })
	ok(s.t, err)
	members, err := readers.Many(s.t.Context(), reader, schema.WindowMembers, []inbound.WindowMember{{Window: id}}, 1)
	ok(s.t, err)
	if !there || len(members) == 0 {
		s.t.Fatalf("window %s has %d members", id, len(members))
	}
	ask := &turn.Seal{Premise: premise, Profile: facts.ProfileV2, Window: id, Grouping: window.Key, Latest: latest, Claim: &turn.Holding{Holder: holder, Lease: time.Minute},
		Input: turn.Input{Route: window.Route, Version: window.Version, PackGeneration: keyOf[facts.PackGenerationID](s.t, "g-1"), Command: keyOf[facts.DefinitionID](s.t, "upsert"),
			CommandVersion: keyOf[facts.DefinitionVersion](s.t, "2"), Order: order}}
	for _, member := range members {
		event, there, err := readers.One(s.t.Context(), reader, schema.Events, func(e *inbound.Event) { e.ID = member.Event })
		ok(s.t, err)
		if !there {
			s.t.Fatalf("event %s is a member and is not stored", member.Event)
		}
		ask.Members = append(ask.Members, event)
	}
	makes, _ := inbound.Arrange(ask.Members, order != nil, latest)
	ask.Input.Bytes = []byte("input of " + strings.Join(payloads(makes), "+"))
	return ask
}

func payloads(events []inbound.Event) (all []string) {
	for _, event := range events {
		all = append(all, string(event.Payload))
	}
	return all
}

// ripens makes every window's time come, as an administrator who moves clocks.
func (s *scene) ripens() {
	s.t.Helper()
	_, err := s.store.Admin.ExecContext(s.t.Context(), "UPDATE projection_window_head SET deadline_at=NOW(6) - INTERVAL 1 SECOND, due_at=NOW(6) - INTERVAL 1 SECOND")
	ok(s.t, err)
}

// seals seals and gives what was born.
func (s *scene) seals(ask *turn.Seal) []turn.Born {
	s.t.Helper()
	v := s.turn(turn.Item{Seal: ask})[0]
	if v.Refusal != nil || v.Pending || v.Aside != 0 {
		s.t.Fatalf("%+v", v)
	}
	return v.Born
}

func inputs(born []turn.Born) (all []string) {
	for _, b := range born {
		all = append(all, strings.TrimPrefix(string(b.Input), "input of "))
	}
	return all
}

// gathered says how many windows there are, open, full, sealed and set aside, with how many members and projections.
func (s *scene) gathered() string {
	s.t.Helper()
	return fmt.Sprintf("open %d, full %d, sealed %d, aside %d: %d members, %d projections",
		s.count("SELECT COUNT(*) FROM projection_window_head WHERE grouping_digest IS NOT NULL"), s.count("SELECT COUNT(*) FROM projection_window_head WHERE grouping_digest IS NULL"),
		s.count("SELECT COUNT(*) FROM projection_window_ledger WHERE to_state='sealed'"), s.count("SELECT COUNT(*) FROM projection_window_ledger WHERE to_state='quarantined'"),
		s.count("SELECT COUNT(*) FROM window_member"), s.count("SELECT COUNT(*) FROM projection WHERE window_id IS NOT NULL"))
}

func (s *scene) stands(want string) {
	s.t.Helper()
	if got := s.gathered(); got != want {
		s.t.Errorf("%s, want %s", got, want)
	}
}

func TestU13AGroupingHasOneWindowThatTakesInput(t *testing.T) {
	s, premise := turnScene(t)
	s.takes(premise, joining(t, gather(t, "g", 10), "a", "b"))
	s.takes(premise, joining(t, gather(t, "g", 10), "c"))
	s.stands("open 1, full 0, sealed 0, aside 0: 3 members, 0 projections")
	s.takes(premise, joining(t, gather(t, "h", 10), "d"))
	other := gather(t, "g", 10)
	other.Version = keyOf[facts.DefinitionVersion](t, "2")
	s.takes(premise, joining(t, other, "e"))
	// An epoch serves all accounts, and their windows are apart.
	far := delivery(t, premise, "far", "a body", joining(t, gather(t, "g", 10), "a"))
	got, err := s.ledger.TakeTurn(t.Context(), s.accounts[1], []turn.Item{{Admit: far}})
	ok(t, err)
	if got[0].Refusal != nil {
		t.Fatal(got[0].Refusal)
	}
	s.stands("open 4, full 0, sealed 0, aside 0: 6 members, 0 projections")
	columns := schema.WindowHeads.Table.ColumnNames()
	_, err = s.store.Admin.ExecContext(t.Context(), "INSERT INTO projection_window_head ("+strings.Join(columns, ",")+") SELECT account_id, REPEAT('x', 16), "+
		strings.Join(columns[2:], ",")+" FROM projection_window_head LIMIT 1")
	if err == nil || !strings.Contains(err.Error(), "projection_window_head_grouping") {
		t.Errorf("a second open window of a grouping: %v", err)
	}
}

// Whatever comes between the preparation of a closing and the closing is in the window, and the closing is prepared again;
// what comes after it opens a successor.
func TestK03Scenario155InputIsInTheWindowOrInItsSuccessor(t *testing.T) {
	join := func(t testing.TB) turn.Join { return gather(t, "g", 10) }
	for name, c := range map[string]struct {
		order func(s *scene, premise inbound.Premise, late *turn.Admission, prepared *turn.Seal) []turn.Verdict // the seal's last
		first string
	}{
		"input before the closing": {func(s *scene, premise inbound.Premise, late *turn.Admission, prepared *turn.Seal) []turn.Verdict {
			return append(s.admit(late), s.turn(turn.Item{Seal: prepared})...)
		}, "a+b"},
		"input with the closing": {func(s *scene, premise inbound.Premise, late *turn.Admission, prepared *turn.Seal) []turn.Verdict {
			got := s.turn(turn.Item{Seal: prepared}, turn.Item{Admit: late})
			return []turn.Verdict{got[1], got[0]}
		}, "a+b"},
		"input after the closing": {func(s *scene, premise inbound.Premise, late *turn.Admission, prepared *turn.Seal) []turn.Verdict {
			got := s.turn(turn.Item{Seal: prepared})
			return append(s.admit(late), got...)
		}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			s, premise := turnScene(t)
			s.takes(premise, joining(t, join(t), "a"))
			s.ripens()
			prepared := s.sealing(premise, "g")
			got := c.order(s, premise, delivery(t, premise, "late", "a body", joining(t, join(t), "b")), prepared)
			if got[0].Refusal != nil {
				t.Fatalf("the input: %v", got[0].Refusal)
			}
			sealed := inputs(got[1].Born)
			if c.first != "a" {
				if codeOf(got[1]) != facts.WrongState || sealed != nil {
					t.Errorf("a closing that knows nothing of a member: %+v", got[1])
				}
				s.stands("open 1, full 0, sealed 0, aside 0: 2 members, 0 projections")
				sealed = inputs(s.seals(s.sealing(premise, "g")))
			}
			if fmt.Sprint(sealed) != "["+c.first+"]" {
				t.Errorf("sealed %v, want %s", sealed, c.first)
			}
			if c.first == "a" {
				s.ripens()
				if next := inputs(s.seals(s.sealing(premise, "g"))); fmt.Sprint(next) != "[b]" {
					t.Errorf("the successor has %v", next)
				}
			}
			if v := s.turn(turn.Item{Seal: prepared})[0]; codeOf(v) != facts.SubjectEnded {
				t.Errorf("closed again: %+v", v)
			}
		})
	}
}

// gatherers are two daemons that take input and close windows at once, on connections of their own.
type gatherers struct {
	*scene
	premise inbound.Premise
	pools   []*ledger.Ledger
	mutex   sync.Mutex
	born    map[string]int // how many inputs each event is in
}

func (g *gatherers) take(nth int, one turn.Item) turn.Verdict {
	got, err := g.pools[nth%2].TakeTurn(g.t.Context(), g.accounts[0], []turn.Item{one})
	if err != nil {
		g.t.Error(err)
		return turn.Verdict{}
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, b := range got[0].Born {
		for _, event := range strings.Split(inputs([]turn.Born{b})[0], "+") {
			g.born[event]++
		}
	}
	return got[0]
}

// closing closes whatever windows there are, until the input is over and there is none.
func (g *gatherers) closing(nth int, over <-chan struct{}) {
	for last := false; ; {
		select {
		case <-over:
			last = true
		default:
		}
		var ids []facts.WindowID
		rows, err := g.store.Admin.QueryContext(g.t.Context(), "SELECT window_id FROM projection_window_head")
		if err != nil {
			g.t.Error(err)
			return
		}
		for rows.Next() {
			var id facts.WindowID
			_ = rows.Scan(&id)
			ids = append(ids, id)
		}
		_ = rows.Close()
		if last && len(ids) == 0 {
			return
		}
		for _, id := range ids {
			g.take(nth, turn.Item{Seal: g.sealingOf(g.premise, id, nil, false)})
		}
	}
}

// race brings so many events to windows of a size while both close them.
func (g *gatherers) race(events int, members uint64) {
	key := fmt.Sprint("g", members)
	var closers, senders sync.WaitGroup
	over := make(chan struct{})
	for i := range 2 {
		closers.Go(func() { g.closing(i, over) })
	}
	for i := range 4 {
		senders.Go(func() {
			for n := range events / 4 {
				name := fmt.Sprintf("%s.%d.%d", key, i, n)
				join := gather(g.t, key, members)
				join.Close = time.Microsecond // its time has come at once
				if v := g.take(i, turn.Item{Admit: delivery(g.t, g.premise, name, "a body", joining(g.t, join, name))}); v.Refusal != nil {
					g.t.Error(v.Refusal)
				}
			}
		})
	}
	senders.Wait()
	close(over)
	closers.Wait()
}

// Each event is in one window, each window that is sealed has one Projection with one execution, and its input has every
// member once, whatever input and closings meet.
func TestK03P19ConcurrentInputAndClosings(t *testing.T) {
	s, premise := turnScene(t)
	g := &gatherers{scene: s, premise: premise, pools: []*ledger.Ledger{s.ledger, s.open(s.store.Pool(t, schema.RoleLedger))}, born: map[string]int{}}
	const events = 60
	g.race(events, 4)
	g.race(events, 1000)
	for event, n := range g.born {
		if n != 1 {
			t.Errorf("%s is in %d inputs", event, n)
		}
	}
	windows := s.count("SELECT COUNT(*) FROM projection_window")
	s.stands(fmt.Sprintf("open 0, full 0, sealed %d, aside 0: %d members, %d projections", windows, 2*events, windows))
	if len(g.born) != 2*events {
		t.Errorf("%d events are in an input, want %d", len(g.born), 2*events)
	}
	for query, want := range map[string]int{
		"SELECT COUNT(DISTINCT event_id) FROM window_member":                                                     2 * events,
		"SELECT COUNT(DISTINCT window_id) FROM projection":                                                       windows,
		"SELECT COUNT(*) FROM execution e JOIN projection p USING (projection_id) WHERE p.window_id IS NOT NULL": windows,
	} {
		if n := s.count(query); n != want {
			t.Errorf("%s gives %d, want %d", query, n, want)
		}
	}
}

// The same closing, prepared by several processes, is carried out once and mints once.
func TestP19ConcurrentClosingsMintOneExecution(t *testing.T) {
	for _, order := range []*turn.Order{nil, {}} {
		s, premise := turnScene(t)
		for round := range 10 {
			key := fmt.Sprint("g", round)
			s.takes(premise, into(gather(t, key, 2), placed(t, latest, key, key+"a@1", key+"b@2")))
			asks := make([]*turn.Seal, 8)
			for i := range asks {
				asks[i] = s.sealingBy(premise, key, order, false)
				asks[i].Claim = &turn.Holding{Holder: facts.Mint[facts.HolderID](), Lease: time.Minute}
			}
			pools := []*ledger.Ledger{s.ledger, s.open(s.store.Pool(t, schema.RoleLedger))}
			verdicts := make([]turn.Verdict, len(asks))
			var group sync.WaitGroup
			for i, ask := range asks {
				group.Go(func() {
					got, err := pools[i%2].TakeTurn(t.Context(), s.accounts[0], []turn.Item{{Seal: ask}})
					if err != nil {
						t.Error(err)
						return
					}
					verdicts[i] = got[0]
				})
			}
			group.Wait()
			born := 0
			for _, v := range verdicts {
				born += len(v.Born)
				if len(v.Born) == 0 && codeOf(v) != facts.SubjectEnded {
					t.Errorf("%+v", v)
				}
			}
			if born != 1 || s.count("SELECT COUNT(*) FROM execution") != round+1 || s.count("SELECT COUNT(*) FROM execution_head") != round+1 {
				t.Fatalf("round %d: %d told, stored %s", round, born, s.written())
			}
		}
		asked := s.sealedTwice(premise, order)
		if len(asked[0].Born) != 1 || codeOf(asked[1]) != facts.WrongState {
			t.Errorf("twice in one turn: %+v", asked)
		}
	}
}

func (s *scene) sealedTwice(premise inbound.Premise, order *turn.Order) []turn.Verdict {
	s.takes(premise, into(gather(s.t, "twice", 1), placed(s.t, latest, "twice", "twice@1")))
	ask := s.sealingBy(premise, "twice", order, false)
	return s.turn(turn.Item{Seal: ask}, turn.Item{Seal: ask})
}

func TestR19MembershipIsWrittenOnce(t *testing.T) {
	s, premise := turnScene(t)
	s.takes(premise, joining(t, gather(t, "g", 10), "a", "b"))
	s.ripens()
	s.seals(s.sealing(premise, "g"))
	const want = "open 0, full 0, sealed 1, aside 0: 2 members, 1 projections"
	s.stands(want)
	// The event again, in another delivery, under another grouping, in a pending Receipt: it opens no window and joins none.
	s.takes(premise, joining(t, gather(t, "g", 10), "a"))
	s.takes(premise, joining(t, gather(t, "h", 10), "b"))
	bare := delivery(t, premise, "bare", "a body", nil)
	s.admit(bare)
	if v := s.turn(turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: *joining(t, gather(t, "g", 10), "a")}})[0]; v.Refusal != nil || v.Pending {
		t.Errorf("%+v", v)
	}
	s.stands(want)
	_, err := s.store.Admin.ExecContext(t.Context(), "INSERT INTO window_member (window_id, ordinal, account_id, event_id, route_digest) SELECT REPEAT('x', 16), ordinal, account_id, event_id, route_digest FROM window_member LIMIT 1")
	if err == nil || !strings.Contains(err.Error(), "window_member_event") {
		t.Errorf("an event in a second window of its route: %v", err)
	}
}
