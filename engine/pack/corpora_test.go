package pack

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json/jsontext"

	"connectorcore/engine/pack/expr"
	"connectorcore/facts"
)

// tally runs deliveries through the interpreters: how many events each rule made, and how many components ended in
// each closed code.
func (c corpus) tally(t *testing.T, deliveries []real) (map[string]int, []*Event) {
	t.Helper()
	name, err := facts.ParseKey[facts.Channel](c.Channel)
	if err != nil {
		t.Fatal(err)
	}
	channel, ok := c.pack.Channel(name)
	if !ok {
		t.Fatalf("the pack has no channel %s", c.Channel)
	}
	counts, events := map[string]int{}, []*Event(nil)
	for _, d := range deliveries {
		reading := channel.Read(d.delivery)
		if key, err := reading.TransportKey(); err != nil || key.String() != "delivery-"+d.name {
			t.Errorf("%s: transport key %q, %v", d.name, key, err)
		}
		components, err := reading.Extract()
		if err != nil {
			counts[closed(t, d.name, err)]++
			continue
		}
		for _, component := range components {
			event, err := reading.Normalize(component, c.pack.Routes())
			if err != nil {
				counts[closed(t, d.name, err)]++
				continue
			}
			counts[event.Rule]++
			events = append(events, event)
			if !bytes.Equal(event.Payload, d.delivery.Body) {
				t.Errorf("%s: the payload is not the body as it came", d.name)
			}
		}
	}
	return counts, events
}

// closed is the code of a refusal. Anything else is a defect.
func closed(t *testing.T, name string, err error) string {
	t.Helper()
	var refusal *facts.Refusal
	if !errors.As(err, &refusal) {
		t.Errorf("%s ended in something that is no closed code: %v", name, err)
		return "?"
	}
	return refusal.Code.String()
}

func counted(counts map[string]int) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(lines, ", ")
}

func TestAllPublishedExamplesBecomeEventsOrEndInAClosedCode(t *testing.T) {
	c := corpusOf(t)
	deliveries := c.examples(t)
	counts, events := c.tally(t, deliveries)
	if got := counted(counts); len(deliveries) != 329 || got != "branch_rule 5, installation 10, issue 29, issue_comment 9, other 240, pull_request 29, push 7" {
		t.Errorf("%d deliveries became: %s", len(deliveries), got)
	}
	inputs := 0
	for _, event := range events {
		for _, m := range event.Matches {
			mapping, _ := c.pack.Mapping(m.Route.Mapping)
			if _, err := mapping.Project([]*Event{event}); err != nil || m.Refusal != nil {
				t.Errorf("%s for the route %s: %v, %v", event.Key, m.Route.Name, err, m.Refusal)
				continue
			}
			inputs++
		}
	}
	if inputs != len(events) {
		t.Errorf("%d events led to %d inputs, want one each", len(events), inputs)
	}
}

func TestAllCapturesOfEightProvidersBecomeEventsOrEndInAClosedCode(t *testing.T) {
	c := corpusOf(t)
	deliveries := c.captures(t)
	counts, _ := c.tally(t, deliveries)
	if got := counted(counts); len(deliveries) != 154 || got != "body_unreadable 1, installation 2, issue 1, issue_comment 1, other 147, pull_request 1, push 1" {
		t.Errorf("%d deliveries became: %s", len(deliveries), got)
	}
}

// Many real events of one object share a position. They must appear as ties, and the tie-breaker must still give them
// one order.
func TestTiesAppearAsTiesAndHaveOneOrder(t *testing.T) {
	c := corpusOf(t)
	_, events := c.tally(t, c.examples(t))
	lanes := map[string][]*Event{}
	for _, event := range events {
		if !event.Contract.IsZero() {
			lanes[event.Partition.String()] = append(lanes[event.Partition.String()], event)
		}
	}
	fullest, ties := "", 0
	for lane, of := range lanes {
		if fullest == "" || len(of) > len(lanes[fullest]) {
			fullest = lane
		}
		for i, a := range of {
			for _, b := range of[i+1:] {
				at, err := a.Order.Position.Compare(b.Order.Position)
				if err != nil {
					t.Fatal(err)
				}
				whole, err := a.Order.Compare(b.Order)
				if err != nil || whole == 0 {
					t.Errorf("%s and %s have no order: %v", a.Key, b.Key, err)
				}
				if at == 0 {
					ties++
				}
			}
		}
	}
	positions := map[facts.SourcePosition]bool{}
	for _, event := range lanes[fullest] {
		positions[event.Order.Position] = true
	}
	got := fmt.Sprintf("%d lanes, %d ties; the fullest has %d events on %d positions", len(lanes), ties, len(lanes[fullest]), len(positions))
	if got != "5 lanes, 214 ties; the fullest has 29 events on 5 positions" {
		t.Errorf("%s", got)
	}
}

// Every number of every real delivery keeps its digits on its way through the value model.
func TestEveryRealNumberKeepsItsDigits(t *testing.T) {
	c := corpusOf(t)
	numbers, greatest := 0, new(big.Int)
	for _, d := range slices.Concat(c.examples(t), c.captures(t)) {
		value, err := expr.Decode(d.delivery.Body, 64)
		if err != nil {
			continue
		}
		written, err := value.AppendJSON(nil)
		if err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		before, after := numbersOf(t, d.delivery.Body), numbersOf(t, written)
		if !slices.Equal(before, after) {
			t.Errorf("%s: numbers changed", d.name)
		}
		numbers += len(before)
		for _, text := range before {
			if whole, ok := new(big.Int).SetString(text, 10); ok && whole.Cmp(greatest) > 0 {
				greatest = whole
			}
		}
	}
	if got := fmt.Sprintf("%d numbers, the greatest is %s", numbers, greatest); got != "8637 numbers, the greatest is 1551433034286" {
		t.Errorf("%s", got)
	}
}

// numbersOf lists the texts of all numbers, sorted.
func numbersOf(t *testing.T, body []byte) []string {
	t.Helper()
	var all []string
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			break
		}
		if token.Kind() == '0' {
			all = append(all, token.String())
		}
	}
	slices.Sort(all)
	return all
}

// Six spellings of a time stand in one provider's deliveries. Three formats read them, and no value is read by two.
func TestEveryRealSpellingOfATimeIsReadByExactlyOneFormat(t *testing.T) {
	c := corpusOf(t)
	formats := []facts.TimeFormat{facts.RFC3339, facts.UnixSeconds, facts.SpacedUTC}
	spellings := map[string]int{}
	for _, d := range c.examples(t) {
		timesOf(t, d.delivery.Body, func(text string) {
			read := 0
			for _, format := range formats {
				if _, err := facts.ParseTimePosition(format, text); err == nil {
					read++
				}
			}
			if read != 1 {
				t.Errorf("%s: %q is read by %d formats", d.name, text, read)
			}
			spellings[strings.Map(func(r rune) rune {
				if '0' <= r && r <= '9' {
					return '9'
				}
				return r
			}, text)]++
		})
	}
	if got := counted(spellings); got != "9999-99-99 99:99:99 8, 9999-99-99T99:99:99+99:99 14, 9999-99-99T99:99:99.999-99:99 56, 9999-99-99T99:99:99.999Z 60, 9999-99-99T99:99:99Z 1806, 9999999999 30" {
		t.Errorf("%s", got)
	}
}

// timesOf visits every value of a member whose name ends in _at and that is a number or begins with a digit.
func timesOf(t *testing.T, body []byte, visit func(text string)) {
	t.Helper()
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return
		}
		name, text := string(decoder.StackPointer()), token.String()
		kind, count := decoder.StackIndex(decoder.StackDepth())
		isValue := kind == '{' && count%2 == 0
		if isValue && strings.HasSuffix(name, "_at") && (token.Kind() == '0' || token.Kind() == '"' && text != "" && text[0] >= '0' && text[0] <= '9') {
			visit(text)
		}
	}
}
