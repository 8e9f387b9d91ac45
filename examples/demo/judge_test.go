package main

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"connectorcore/engine/pack"
	"connectorcore/examples/provider"
	"connectorcore/facts"
)

func key[T facts.AnyKey](t *testing.T, text string) T {
	t.Helper()
	made, err := facts.ParseKey[T](text)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// told is a story: what a provider published, and what the application wrote down.
type told struct {
	t       *testing.T
	of      *account
	epoch   facts.EpochID
	parcels []*parcel
}

func tell(t *testing.T) *told {
	return &told{t: t, of: &account{id: facts.Mint[facts.AccountID]()}, epoch: facts.Mint[facts.EpochID]()}
}

func inputSaying(what string) []byte { return fmt.Appendf(nil, `{"source":{"says":%q}}`, what) }

// publishes adds an accepted delivery that says something about a record, at a place of its source if it has one.
func (s *told) publishes(record, what string, place int64) {
	s.t.Helper()
	c := provider.Command{Route: key[facts.RouteID](s.t, "notes"), Version: key[facts.DefinitionVersion](s.t, "1"),
		Event: key[facts.SourceEventKey](s.t, fmt.Sprint(record, place)), Definition: key[facts.DefinitionID](s.t, "note"),
		Record: key[facts.OwnerSlot](s.t, record), Input: inputSaying(what)}
	if place > 0 {
		var err error
		if c.Order.Position, err = facts.IntegerPosition(big.NewInt(place)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.parcels = append(s.parcels, &parcel{matter: &matter{account: s.of, delivery: provider.Delivery{Name: fmt.Sprint(record, place)}, commands: []provider.Command{c}}, status: 202})
}

// wrote gives the application's log, of entries RECORD PLACE, and what it holds then. Behind an entry, + is for another
// command of the same, and ! is for another input with the same command.
func (s *told) wrote(entries ...string) logged {
	s.t.Helper()
	l := logged{map[done][]line{}, map[held][]string{}}
	for _, entry := range entries {
		name := strings.TrimRight(entry, "+!")
		made, about := input{command: facts.Mint[facts.CommandID](), digest: facts.Digest{1}}, done{s.of.id, "note", name[:1]}
		for _, one := range s.parcels {
			if one.delivery.Name == name {
				var err error
				if made, err = one.input(one.commands[0], s.epoch); err != nil {
					s.t.Fatal(err)
				}
			}
		}
		switch {
		case strings.HasSuffix(entry, "+"):
			made.command = facts.Mint[facts.CommandID]()
		case strings.HasSuffix(entry, "!"):
			made.digest = facts.Digest{1}
		}
		l.lines[about] = append(l.lines[about], line{made.command, made.digest})
		l.holds[held{s.of.id, about.record}] = []string{made.source}
	}
	return l
}

// Each way in which the job can go wrong has its own count. Record b says: open, then reviewed, then open again, then
// closed; and a, which no order rules, says hello.
func TestEveryWrongOutcomeIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		log       string
		applied   int
		overtaken int
		fails     string
	}{
		"everything in order":              {"a0 b1 b2 b3 b4", 5, 0, ""},
		"the greatest alone":               {"b4 a0", 2, 3, ""},
		"some were overtaken":              {"b2 b4 a0", 3, 2, ""},
		"nothing is there":                 {"", 0, 0, "lost 5, applied twice 0"},
		"what needs no order is lost":      {"b4", 1, 3, "lost 1, applied twice 0"},
		"the greatest is lost":             {"a0 b2 b3", 3, 1, "lost 1, applied twice 0"},
		"one command twice":                {"a0 a0 b4", 2, 3, "lost 0, applied twice 1"},
		"two commands for one":             {"a0 a0+ b4", 2, 3, "lost 0, applied twice 1"},
		"twice, and overtaken":             {"a0 b1 b1 b4", 3, 2, "lost 0, applied twice 1"},
		"a forged one was applied":         {"a0 b4 x1", 2, 3, "without being asked 1"},
		"nobody said that":                 {"a0 b4 b9", 2, 3, "without being asked 1"},
		"it was told otherwise":            {"a0 b4 b3!", 2, 3, "without being asked 1"},
		"an older one behind a newer one":  {"a0 b4 b2", 3, 2, "applied out of order 1, records that hold something stale 1"},
		"two behind a newer one":           {"a0 b4 b1 b2", 4, 1, "applied out of order 2, records that hold something stale 1"},
		"in disorder, but well in the end": {"a0 b2 b1 b4", 4, 1, "applied out of order 1, records that hold something stale 0"},
		"in disorder of equal ones":        {"a0 b3 b1 b4", 4, 1, "applied out of order 1, records that hold something stale 0"},
	} {
		s := tell(t)
		s.publishes("b", "open", 3)
		s.publishes("a", "hello", 0)
		s.publishes("b", "closed", 4)
		s.publishes("b", "open", 1)
		s.publishes("b", "reviewed", 2)
		s.publishes("b", "reviewed", 2) // another delivery of the same
		again := *s.parcels[0]
		again.status = 200
		forged := &parcel{matter: &matter{account: s.of, delivery: provider.Delivery{Name: "bad"}}, trick: forged, status: 401, code: "signature_invalid"}
		waits := &parcel{matter: &matter{account: s.of, commands: []provider.Command{{Needs: []pack.Need{{Deadline: 1}}}}}, status: 202}
		parcels := append(s.parcels, &again, forged, waits)
		owed, err := owedFor(parcels, s.epoch)
		if err != nil {
			t.Fatal(err)
		}
		r := counted(parcels, owed, s.wrote(strings.Fields(c.log)...))
		r.ended = r.Superseded
		err = r.verdict(planted{})
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if r.Applied != c.applied || r.Superseded != c.overtaken {
			t.Errorf("%s: applied %d, superseded %d", name, r.Applied, r.Superseded)
		}
		if r.Received != 7 || r.Duplicates != 1 || r.Refused != 1 || r.owed.needy != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// What the application wrote down is not all that is asked: a record may hold something else than its log says, the ledger
// may have superseded another number, a forged delivery may have been taken in, and a defect that was planted may not show.
func TestTheVerdictSeesWhatNoLogTells(t *testing.T) {
	s := tell(t)
	s.publishes("b", "open", 1)
	s.publishes("b", "closed", 2)
	owed, err := owedFor(s.parcels, s.epoch)
	if err != nil {
		t.Fatal(err)
	}
	judged := func(l logged, parcels []*parcel, ended int, p planted, want string) {
		t.Helper()
		r := counted(parcels, owed, l)
		r.ended = ended
		if err := r.verdict(p); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("judged as: %v, want %q", err, want)
		}
	}
	closed := s.wrote("b2")
	judged(closed, s.parcels, 1, planted{}, "")
	judged(closed, s.parcels, 0, planted{}, "1 inputs were overtaken by the application's log, and the ledger has superseded 0")
	judged(closed, s.parcels, 1, planted{double: 1}, "applied twice 0 (planted 1)")
	judged(closed, s.parcels, 1, planted{disorder: 1}, "applied out of order 0, records that hold something stale 0 (planted 1)")
	judged(s.wrote("b2", "b1"), s.parcels, 0, planted{disorder: 1}, "")
	stuck := counted(s.parcels, owed, closed)
	stuck.ended, stuck.Waiting = 1, 1
	if err := stuck.verdict(planted{}); err == nil || !strings.Contains(err.Error(), "1 deliveries, windows or inputs wait still, and by the packs 0 may") {
		t.Errorf("what waits for nothing: %v", err)
	}
	bad := &parcel{matter: &matter{account: s.of, delivery: provider.Delivery{Name: "bad"}}, trick: forged, status: 202}
	judged(closed, append(s.parcels, bad), 1, planted{}, "1 deliveries were taken in that had to be refused, such as bad (signed with another secret)")
	closed.holds[held{s.of.id, "b"}] = []string{`{"says":"open"}`}
	judged(closed, s.parcels, 1, planted{}, "records that hold something stale 1 (planted 0)")
}

// Of what windows gather, each event is in one of the inputs that were applied, whichever and however many windows there
// were.
func TestEachEventThatWindowsGatherIsAppliedOnce(t *testing.T) {
	s := tell(t)
	for _, what := range []int64{1, 2, 3} {
		s.publishes("w", "look", what)
		s.parcels[what-1].commands[0].Grouping = key[facts.GroupingKey](t, "w")
		s.parcels[what-1].commands[0].Order = facts.SourceOrder{}
	}
	s.publishes("w", "look", 3) // another delivery of the same
	s.parcels[3].commands[0] = s.parcels[2].commands[0]
	owed, err := owedFor(s.parcels, s.epoch)
	if err != nil {
		t.Fatal(err)
	}
	window := func(members ...int) line {
		var gathered []provider.Command
		for _, i := range members {
			gathered = append(gathered, s.parcels[i-1].commands[0])
		}
		command, err := provider.ID(s.of.id, s.epoch, gathered...)
		if err != nil {
			t.Fatal(err)
		}
		return line{command: command}
	}
	for name, c := range map[string]struct {
		lines []line
		holds string
		want  tally
	}{
		"one window of all":      {[]line{window(3, 1, 2)}, "look", tally{applied: 1, gathered: 2}},
		"two windows":            {[]line{window(2), window(1, 3)}, "look", tally{applied: 2, gathered: 1}},
		"one event is in none":   {[]line{window(1, 3)}, "look", tally{applied: 1, gathered: 1, lost: 1}},
		"one event is in two":    {[]line{window(1, 3), window(3, 2)}, "look", tally{applied: 1, gathered: 1, twice: 1, lost: 1}},
		"one window twice":       {[]line{window(1, 2, 3), window(1, 2, 3)}, "look", tally{applied: 1, gathered: 2, twice: 1}},
		"a window of nobody":     {[]line{window(1, 2, 3), {}}, "look", tally{applied: 1, gathered: 2, unasked: 1}},
		"nothing":                {nil, "", tally{lost: 3}},
		"the record says others": {[]line{window(1, 2, 3)}, "away", tally{applied: 1, gathered: 2, stale: 1}},
	} {
		l := logged{map[done][]line{{s.of.id, "note", "w"}: c.lines}, map[held][]string{{s.of.id, "w"}: {fmt.Sprintf(`{"says":%q}`, c.holds)}}}
		if got := owed.against(l); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	for i := range gatheredMost {
		s.publishes("w", "look", int64(i+4))
		s.parcels[i+4].commands[0].Grouping = key[facts.GroupingKey](t, "w")
	}
	if _, err := owedFor(s.parcels, s.epoch); err == nil || !strings.Contains(err.Error(), "can tell of 12 at most") {
		t.Errorf("too many: %v", err)
	}
}

// The record of a planted disorder is sent in three parts, whatever else is sent: its least input, then its greatest, then
// the rest; each with its redeliveries.
func TestAPlantedDisorderIsSentInParts(t *testing.T) {
	s := tell(t)
	for i, what := range []string{"third", "first", "last", "second", "first"} { // its last says what its first says
		s.publishes("unclear", what, int64([]int{3, 1, 5, 2, 6}[i]))
	}
	s.publishes("alone", "hello", 1)
	s.publishes("any", "hello", 0)
	s.publishes("pair", "first", 1) // of its two inputs one comes with something else
	s.publishes("pair", "last", 2)
	pair := s.parcels[len(s.parcels)-1].matter
	pair.commands = append(pair.commands, s.parcels[len(s.parcels)-3].commands...)
	from := len(s.parcels)
	for i, what := range []string{"third", "first", "last", "second"} {
		s.publishes("b", what, int64([]int{3, 1, 4, 2}[i]))
	}
	s.parcels = append(s.parcels, s.parcels[from+2], s.parcels[from+1])
	p := &plan{parcels: s.parcels}
	before := len(p.all())
	record, err := p.disorder(s.epoch)
	if err != nil || record != "b" {
		t.Fatalf("%q, %v", record, err)
	}
	says := func(parcels []*parcel) (all []string) {
		for _, one := range parcels {
			if c := one.commands[0]; c.Record.String() == "b" {
				all = append(all, string(c.Input))
			}
		}
		return all
	}
	for part, c := range map[string]struct{ got, want []string }{
		"at once":     {says(p.parcels), []string{"first", "first"}},
		"then":        {says(p.newest), []string{"last", "last"}},
		"and at last": {says(p.rest), []string{"third", "second"}},
	} {
		for i, what := range c.want {
			c.want[i] = string(inputSaying(what))
		}
		if fmt.Sprint(c.got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %s, want %s", part, c.got, c.want)
		}
	}
	if len(p.all()) != before {
		t.Errorf("%d parcels are sent, want %d", len(p.all()), before)
	}
	if _, err := (&plan{parcels: s.parcels[5:9]}).disorder(s.epoch); err == nil || !strings.Contains(err.Error(), "ask for more --payloads") {
		t.Errorf("without such a record: %v", err)
	}
}
