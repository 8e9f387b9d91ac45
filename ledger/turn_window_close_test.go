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
)

// Seven events of one body in windows of three: two are full, whatever the turn brings more, and wait to be sealed beside
// the one that takes input.
func TestU13AFullWindowGivesWayToASuccessor(t *testing.T) {
	s, premise := turnScene(t)
	s.takes(premise, joining(t, gather(t, "g", 3), "a", "b", "c", "d", "e", "f", "g"))
	s.stands("open 1, full 2, sealed 0, aside 0: 7 members, 0 projections")
	s.takes(premise, joining(t, gather(t, "g", 3), "h", "i", "j"))
	s.stands("open 1, full 3, sealed 0, aside 0: 10 members, 0 projections")
	var all []string
	for range 3 { // they are due at once, and what is in the way of a deadline is in the way of none of them
		all = append(all, inputs(s.seals(s.sealing(premise, "g")))...)
	}
	slices.Sort(all)
	if got := strings.Join(all, " "); got != "a+b+c d+e+f g+h+i" {
		t.Errorf("sealed %s", got)
	}
	if v := s.turn(turn.Item{Seal: s.sealing(premise, "g")})[0]; codeOf(v) != facts.WrongState {
		t.Errorf("sealed before its time: %+v", v)
	}
	s.stands("open 1, full 0, sealed 3, aside 0: 10 members, 3 projections")
	if n := s.count("SELECT COUNT(*) FROM projection_window_head WHERE members != 1"); n != 0 {
		t.Error("the successor counts other members than it has")
	}
}

// The payloads of a window are bounded too, and what is larger than the bound has a window of its own.
func TestR12AWindowIsBoundedInBytes(t *testing.T) {
	s, premise := turnScene(t)
	half, whole := "h="+strings.Repeat("h", turn.WindowBytes/2), "w="+strings.Repeat("w", turn.WindowBytes+1)
	s.takes(premise, joining(t, gather(t, "g", 10), half, "a", whole, "b"))
	s.stands("open 1, full 2, sealed 0, aside 0: 4 members, 0 projections")
	if n := s.count("SELECT COUNT(*) FROM projection_window_head WHERE payload_bytes > ? AND members > 1", turn.WindowBytes); n != 0 {
		t.Errorf("%d windows of several members are over their bound", n)
	}
}

func TestASettleWindowClosesWhenItsSourceIsQuietAndNeverAfterItsDeadline(t *testing.T) {
	s, premise := turnScene(t)
	join := gather(t, "g", 10)
	join.Quiet = 40 * time.Minute
	due := func(want string) {
		t.Helper()
		if n := s.count("SELECT COUNT(*) FROM projection_window_head WHERE " + want); n != 1 {
			t.Errorf("it is not so that %s", want)
		}
	}
	s.takes(premise, joining(t, join, "a"))
	due("TIMESTAMPDIFF(MINUTE, NOW(6), due_at) = 39 AND TIMESTAMPDIFF(MINUTE, NOW(6), deadline_at) = 59")
	past := func(minutes int) {
		_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE projection_window_head SET due_at=due_at - INTERVAL ? MINUTE, deadline_at=deadline_at - INTERVAL ? MINUTE", minutes, minutes)
		ok(t, err)
	}
	past(15) // 25 minutes of quiet are left, and 45 in all
	s.takes(premise, joining(t, join, "b"))
	due("TIMESTAMPDIFF(MINUTE, NOW(6), due_at) = 39 AND due_at < deadline_at")
	past(15) // 25, and 30
	s.takes(premise, joining(t, join, "c"))
	due("due_at = deadline_at AND TIMESTAMPDIFF(MINUTE, NOW(6), due_at) = 29")
	if v := s.turn(turn.Item{Seal: s.sealing(premise, "g")})[0]; codeOf(v) != facts.WrongState {
		t.Errorf("sealed before its time: %+v", v)
	}
	past(31)
	if born := inputs(s.seals(s.sealing(premise, "g"))); fmt.Sprint(born) != "[a+b+c]" {
		t.Errorf("sealed %v", born)
	}
	if n := s.count("SELECT COUNT(*) FROM projection_window_ledger WHERE evidence LIKE '%deadline%'"); n != 1 {
		t.Error("the ledger does not say what closed it")
	}
}

// What has come before a window closes is in it, even if nobody has read it yet.
func TestR23AWindowClosesWhenNoReceiptIsLeftToRead(t *testing.T) {
	s, premise := turnScene(t)
	s.takes(premise, joining(t, gather(t, "g", 10), "a"))
	s.takes(premise, joining(t, gather(t, "full", 1), "f"))
	bare := delivery(t, premise, "d-1", "a body", nil)
	s.admit(bare)
	s.ripens()
	v := s.turn(turn.Item{Seal: s.sealing(premise, "g")}, turn.Item{Seal: s.sealing(premise, "full")})
	if v[0].Refusal != nil || !v[0].Pending || v[0].Born != nil || len(v[1].Born) != 1 {
		t.Errorf("with a receipt that is not read: %+v", v)
	}
	if n := s.count("SELECT COUNT(*) FROM projection_window_head WHERE due_at > NOW(6)"); n != 1 {
		t.Error("it is due at once, and every sweep would look at it")
	}
	if v := s.turn(turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: *joining(t, gather(t, "g", 10), "b")}})[0]; v.Refusal != nil {
		t.Fatal(v.Refusal)
	}
	s.ripens()
	if born := inputs(s.seals(s.sealing(premise, "g"))); fmt.Sprint(born) != "[a+b]" {
		t.Errorf("sealed %v", born)
	}
}

// A window of an ordered route waits in its lane at the place of its greatest member, like any other input.
func TestP15AWindowHasThePlaceOfItsGreatestMember(t *testing.T) {
	for name, c := range map[string]struct {
		latest bool
		want   string
	}{"all of them": {false, "[a+c+b d]"}, "the latest": {true, "[b d]"}} {
		t.Run(name, func(t *testing.T) {
			s, premise := turnScene(t)
			order := &turn.Order{}
			s.takes(premise, into(gather(t, "p", 3), placed(t, latest, "p", "b@9", "a@1", "c@5")))
			s.takes(premise, into(gather(t, "p", 2), placed(t, latest, "p", "e@3", "f@8")))
			first := s.seals(s.sealingBy(premise, "p", order, c.latest))
			if born := s.seals(s.sealingBy(premise, "p", order, c.latest)); born != nil {
				t.Errorf("%+v took the lane of another window", born)
			}
			s.takes(premise, into(gather(t, "p", 1), placed(t, latest, "p", "d@10")))
			if born := s.seals(s.sealingBy(premise, "p", order, c.latest)); born != nil {
				t.Errorf("%+v took the lane of another window", born)
			}
			s.stand(c.want, "minted 2, superseded 1, quarantined 0, waiting 0", s.applies(premise, latest, first...))
			if n := s.count("SELECT COUNT(*) FROM ordering_lane"); n != 1 {
				t.Errorf("%d lanes", n)
			}
		})
	}
}

// A window whose members do not make one input is set aside with its reason, and what comes later opens another one.
func TestAWindowThatIsAmbiguousIsSetAside(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		latest bool
		reason facts.Code
		aside  facts.Code
	}{
		"two of one place that differ":           {[]string{"a@5/x", "b@5/x=else"}, false, 0, facts.WindowAmbiguous},
		"the greatest two":                       {[]string{"c@1", "a@5/x", "b@5/x=else"}, true, 0, facts.WindowAmbiguous},
		"two that are not the greatest, latest":  {[]string{"c@9", "a@5/x", "b@5/x=else"}, true, 0, 0},
		"two of one place that say the same":     {[]string{"a@5/x=same", "b@5/x=same"}, true, 0, 0},
		"a mapping that fails, as its pack says": {[]string{"a@1", "b@2"}, false, facts.ExpressionFailed, facts.ExpressionFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s, premise := turnScene(t)
			s.takes(premise, into(gather(t, "p", uint64(len(c.events))), placed(t, latest, "p", c.events...)))
			ask := s.sealingBy(premise, "p", &turn.Order{}, c.latest)
			ask.Reason = c.reason
			v := s.turn(turn.Item{Seal: ask})[0]
			if v.Refusal != nil || v.Aside != c.aside || (len(v.Born) == 0) != (c.aside != 0) {
				t.Errorf("%+v", v)
			}
			sealed, aside := 1, 0
			if c.aside != 0 {
				sealed, aside = 0, 1
				if n := s.count("SELECT COUNT(*) FROM projection_window_ledger WHERE evidence LIKE ?", "%"+c.aside.String()+"%"); n != 1 {
					t.Error("the ledger does not say why")
				}
			}
			s.stands(fmt.Sprintf("open 0, full 0, sealed %d, aside %d: %d members, %d projections", sealed, aside, len(c.events), sealed))
			s.takes(premise, into(gather(t, "p", 9), placed(t, latest, "p", "later@20")))
		})
	}
}

// A window of another route, version, grouping or epoch than it says is not sealed, and neither is one of an account that
// does not serve.
func TestASealIsOfItsExactWindow(t *testing.T) {
	s, premise := turnScene(t)
	s.takes(premise, joining(t, gather(t, "g", 1), "a"))
	for name, change := range map[string]func(*turn.Seal){
		"version":  func(a *turn.Seal) { a.Input.Version = keyOf[facts.DefinitionVersion](t, "2") },
		"grouping": func(a *turn.Seal) { a.Grouping = keyOf[facts.GroupingKey](t, "h") },
		"route":    func(a *turn.Seal) { a.Input.Route = keyOf[facts.RouteID](t, "contacts") },
	} {
		ask := s.sealing(premise, "g")
		change(ask)
		if v := s.turn(turn.Item{Seal: ask})[0]; codeOf(v) != facts.ContentDiffers {
			t.Errorf("another %s: %+v", name, v)
		}
	}
	s.stands("open 0, full 1, sealed 0, aside 0: 1 members, 0 projections")
}

// Many windows take input, and are sealed, by as many statements as one.
func TestR12ManyWindowsAreSealedInOneTurn(t *testing.T) {
	s, premise := turnScene(t)
	l, wires := s.tapped()
	prepared := func(n int, name string) (joins, seals []turn.Item) {
		for i := range n {
			key := fmt.Sprint(name, i)
			joins = append(joins, turn.Item{Admit: delivery(t, premise, key, "a body", joining(t, gather(t, key, 1), key))})
		}
		wires.watch(nil)
		for _, v := range s.turnBy(l, joins...) {
			if v.Refusal != nil {
				t.Fatal(v.Refusal)
			}
		}
		for i := range n {
			seals = append(seals, turn.Item{Seal: s.sealing(premise, fmt.Sprint(name, i))})
		}
		return joins, seals
	}
	var counts [2][2]int
	for i, n := range []int{1, 100} {
		_, seals := prepared(n, fmt.Sprint("n", n, "."))
		counts[i][0] = wires.count()
		wires.watch(nil)
		for _, v := range s.turnBy(l, seals...) {
			if v.Refusal != nil || len(v.Born) != 1 {
				t.Fatalf("%+v", v)
			}
		}
		counts[i][1] = wires.count()
	}
	if counts[0] != counts[1] {
		t.Errorf("%v statements for one window, %v for a hundred", counts[0], counts[1])
	}
}

// What a window makes follows from the set of its members, in whatever order they came.
func TestU11AWindowsInputFollowsFromItsMembersAlone(t *testing.T) {
	var members []inbound.Event
	for i := range 8 {
		key := fmt.Sprint("e", i)
		members = append(members, inbound.Event{Key: keyOf[facts.SourceEventKey](t, key), Order: orderOf(t, fmt.Sprint(10-i/2), fmt.Sprint("t", i%2)),
			Partition: keyOf[facts.OrderingPartition](t, "p"), Content: facts.Digest{byte(i + 1)}, Payload: []byte(key)})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		for _, c := range []struct {
			ordered, latest bool
			want            string
		}{{true, false, "e6 e7 e4 e5 e2 e3 e0 e1"}, {true, true, "e1"}, {false, false, "e0 e1 e2 e3 e4 e5 e6 e7"}} {
			makes, code := inbound.Arrange(members, c.ordered, c.latest)
			if got := strings.Join(payloads(makes), " "); got != c.want || code != 0 {
				t.Fatalf("ordered %t, latest %t: %s (%s), want %s", c.ordered, c.latest, got, code, c.want)
			}
		}
	}
	other := slices.Clone(members)
	other[3].Partition = keyOf[facts.OrderingPartition](t, "q")
	if _, code := inbound.Arrange(other, true, false); code != facts.WindowAmbiguous {
		t.Errorf("two partitions: %s", code)
	}
	bytes, err := facts.BytesPosition([]byte("x"))
	ok(t, err)
	other = slices.Clone(members)
	other[3].Order.Position = bytes
	if _, code := inbound.Arrange(other, true, false); code != facts.PositionKindsDiffer {
		t.Errorf("two kinds of position: %s", code)
	}
}
