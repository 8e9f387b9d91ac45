package pack

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cockroachdb/errors"

	"connectorcore/facts"
)

// shop is the page's example with a channel of the given shape.
func shop(t testing.TB, channelKeys string, edits ...func(fstest.MapFS)) *Pack {
	t.Helper()
	folder, _ := example(t)
	edit(t, folder, channel, "content_types: [application/json]\n", channelKeys)
	for _, e := range edits {
		e(folder)
	}
	return compiledPack(t, folder)
}

func order(id, version string) string {
	return `{"id":` + id + `,"version":` + version + `,"status":"paid","total":1,"changed":"2026-01-31T09:00:00Z"}`
}

// verdicts is what became of each component: its key, or its closed code.
func verdicts(t testing.TB, made *Pack, body string) string {
	t.Helper()
	reading := made.Channels()[0].Read(Delivery{Body: []byte(body)})
	components, err := reading.Extract()
	if err != nil {
		return "all " + reasonOf(err)
	}
	var all []string
	for i, component := range components {
		if component.Ordinal != uint64(i) {
			t.Errorf("component %d has the ordinal %d", i, component.Ordinal)
		}
		event, err := reading.Normalize(component, made.Routes())
		if err != nil {
			all = append(all, reasonOf(err))
			continue
		}
		if !strings.Contains(body, string(event.Payload)) {
			t.Errorf("the payload %s does not stand in the body", event.Payload)
		}
		all = append(all, event.Key.String())
	}
	return strings.Join(all, ", ")
}

func TestComponentsAreCutOutAndEachIsJudgedAlone(t *testing.T) {
	single := shop(t, "")
	array := shop(t, "components: {form: array}\nlimits: {components: 3, depth: 4, body_bytes: 1000}\n")
	nested := shop(t, "components: {form: array, at: /data/items}\n")
	lines := shop(t, "components: {form: lines}\n")
	deep := strings.Repeat("[", 5) + strings.Repeat("]", 5)
	for _, c := range []struct {
		name string
		made *Pack
		body string
		want string
	}{
		{"single", single, order("1", "2"), "1/2"},
		{"big id", single, order("9007199254740993", "1"), "9007199254740993/1"},
		{"blanks around", single, " \n" + order("1", "2") + "\n", "1/2"},
		{"scenario 031, no bytes", single, "", "all body_unreadable at input body"},
		{"a name twice", single, `{"id":1,"id":2}`, "all body_unreadable at input body"},
		{"two values", single, order("1", "2") + order("1", "3"), "all body_unreadable at input body"},
		{"scenario 027, another spelling", single, order("1", "1.0"), "position_unreadable at input ordering.position"},
		{"scenario 027, an exponent", single, order("1", "1e0"), "position_unreadable at input ordering.position"},
		{"scenario 029", single, strings.Repeat("[", 200_000), "all body_too_deep at input body"},
		{"scenario 029, objects", single, strings.Repeat(`{"a":`, 200_000), "all body_too_deep at input body"},
		{"array", array, "[" + order("1", "1") + "," + order("2", "1") + "]", "1/1, 2/1"},
		{"no item", array, "[]", ""},
		{"poison beside good ones", array, `[` + order("1", "1") + `,{"id":1,"id":2},` + order("3", "1") + `]`, "1/1, body_unreadable at input body, 3/1"},
		{"bad text beside a good one", array, "[{\"a\":\"\xff\"}," + order("2", "1") + "]", "body_unreadable at input body, 2/1"},
		{"a deep one beside a good one", array, "[" + deep + "," + order("2", "1") + "]", "body_too_deep at input body, 2/1"},
		{"an odd one beside a good one", array, "[7," + order("2", "1") + "]", "expression_failed at input channel.events[0].kind, 2/1"},
		{"as many as may be", array, "[" + strings.Repeat("1,", 2) + "1]", strings.Repeat("expression_failed at input channel.events[0].kind, ", 2) + "expression_failed at input channel.events[0].kind"},
		{"one too many", array, "[" + strings.Repeat("1,", 3) + "1]", "all components_too_many at input body"},
		{"no list", array, "{}", "all components_missing at input components.at"},
		{"cut", array, "[1,", "all body_unreadable at input body"},
		{"something behind the list", array, "[1] x", "all body_unreadable at input body"},
		{"scenario 033, a byte too many", array, strings.Repeat(" ", 999) + "[]", "all body_too_large at input body"},
		{"scenario 033, the last byte", array, strings.Repeat(" ", 998) + "[]", ""},
		{"nested", nested, `{"data":{"x":[],"items":[` + order("1", "1") + `]}}`, "1/1"},
		{"nested, missing", nested, `{"data":{"x":[]}}`, "all components_missing at input components.at"},
		{"nested, no list", nested, `{"data":{"items":{}}}`, "all components_missing at input components.at"},
		{"nested, no object", nested, `{"data":[]}`, "all components_missing at input components.at"},
		{"nested, two lists", nested, `{"data":{"items":[],"items":[` + order("1", "1") + `]}}`, "all body_unreadable at input body"},
		{"lines", lines, order("1", "1") + "\r\n\n" + `{"id":` + "\n" + order("3", "1"), "1/1, body_unreadable at input body, 3/1"},
	} {
		if got := verdicts(t, c.made, c.body); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// R18: what a redelivery changes is no part of what it is compared by, and nothing else is left out.
func TestR18VolatileMembersAreLeftOutOfTheComparisonOnly(t *testing.T) {
	made := shop(t, "volatile_members: [/*/attempt, /meta/sent, /*/deep/*/n]\ncomponents: {form: array}\n")
	admitted := func(body string) string {
		return string(made.Channels()[0].Read(Delivery{Body: []byte(body)}).Admitted())
	}
	for _, pair := range [][2]string{
		{`[{"attempt":0,"id":1},{"id":2,"attempt": 7}]`, `[{"attempt":15,"id":1},{"id":2,"attempt":{"a":[1]}}]`},
		{`{"meta":{"sent":"now","x":1}}`, `{"meta":{"sent":"then","x":1}}`},
		{`[{"deep":[{"n":1},{"n":2}]}]`, `[{"deep":[{"n":3},{"n":4}]}]`},
	} {
		if a, b := admitted(pair[0]), admitted(pair[1]); a != b || a == pair[0] {
			t.Errorf("%s and %s are compared as %s and %s", pair[0], pair[1], a, b)
		}
	}
	for _, pair := range [][2]string{
		{`[{"attempt":0,"id":1}]`, `[{"attempt":0,"id":2}]`},
		{`[{"attempt":0}]`, `[{}]`},
		{`[{"attempts":0}]`, `[{"attempts":1}]`},
		{`{"attempt":0}`, `{"attempt":1}`},
		{`[{"x":{"attempt":0}}]`, `[{"x":{"attempt":1}}]`},
		{`[{"attempt":0`, `[{"attempt":1`},
	} {
		if a, b := admitted(pair[0]), admitted(pair[1]); a == b {
			t.Errorf("%s and %s are both compared as %s", pair[0], pair[1], a)
		}
	}
	none := shop(t, "")
	if body := []byte(`{"attempt":0}`); !bytes.Equal(none.Channels()[0].Read(Delivery{Body: body}).Admitted(), body) {
		t.Error("a channel without volatile members changed a body")
	}
}

func TestABatchThatIsDeliveredAgainHasTheSameTransportKey(t *testing.T) {
	for _, name := range shipped(t) {
		made := compiledPack(t, folderOf(name))
		for _, ch := range made.Channels() {
			if len(ch.Volatile) == 0 || ch.TransportKey.ScalarText() != "body_digest" {
				continue
			}
			member := ch.Volatile[0][strings.LastIndex(ch.Volatile[0], "/")+1:]
			body := `[{"objectId":1,"` + member + `":%d}]`
			first, err := ch.Read(Delivery{Body: fmt.Appendf(nil, body, 0)}).TransportKey()
			if err != nil {
				t.Fatal(err)
			}
			again, err := ch.Read(Delivery{Body: fmt.Appendf(nil, body, 1)}).TransportKey()
			if err != nil || again != first {
				t.Errorf("%s: %s and %s, %v", name, first, again, err)
			}
			return
		}
	}
	t.Error("no shipped pack names deliveries by their bytes")
}

func TestADeliveryWithoutItsTransportKeyIsRefused(t *testing.T) {
	made := shop(t, "identity_headers: [x-b, x-a, x-c]\n")
	read := func(lines ...Line) *Reading {
		return made.Channels()[0].Read(Delivery{Header: lines, Body: []byte(order("1", "1"))})
	}
	if _, err := read().TransportKey(); !errors.Is(err, facts.ExpressionFailed) {
		t.Errorf("no header: %v", err)
	}
	for _, value := range []string{"", " a", "a\x00b", strings.Repeat("x", 513), "e\u0301"} {
		if _, err := read(Line{"x-shop-delivery", value}).TransportKey(); !errors.Is(err, facts.KeyNotCanonical) {
			t.Errorf("%.20q: %v", value, err)
		}
	}
	if key, err := read(Line{"X-Shop-Delivery", "a"}, Line{"x-shop-DELIVERY", "b"}).TransportKey(); !errors.Is(err, facts.KeyNotCanonical) {
		t.Errorf("two lines: %q, %v", key, err)
	}
	if got := fmt.Sprint(read(Line{"X-A", "1"}, Line{"x-b", "2"}).Identity()); got != "[{x-a 1} {x-b 2}]" {
		t.Errorf("the identity headers are %s", got)
	}
	inBody := shop(t, "", func(folder fstest.MapFS) { edit(t, folder, channel, `headers["x-shop-delivery"]`, "body.id") })
	if _, err := inBody.Channels()[0].Read(Delivery{Body: []byte("{")}).TransportKey(); !errors.Is(err, facts.BodyUnreadable) {
		t.Errorf("a key in a body that cannot be read: %v", err)
	}
}

func TestOneComponentNeverReadsItsNeighbour(t *testing.T) {
	made := shop(t, "components: {form: array}\n", func(folder fstest.MapFS) {
		edit(t, folder, channel, `'"orders/" + text(component.id)'`, `'body == null ? "alone" : "together"'`)
	})
	reading := made.Channels()[0].Read(Delivery{Body: []byte("[" + order("1", "1") + "]")})
	components, err := reading.Extract()
	if err != nil {
		t.Fatal(err)
	}
	event, err := reading.Normalize(components[0], nil)
	if err != nil || event.Locator.String() != "alone" {
		t.Errorf("%+v, %v", event, err)
	}
}

func event(t testing.TB, made *Pack, body string) *Event {
	t.Helper()
	reading := made.Channels()[0].Read(Delivery{Body: []byte(body)})
	components, err := reading.Extract()
	if err != nil {
		t.Fatal(err)
	}
	e, err := reading.Normalize(components[0], made.Routes())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestARouteThatFailsQuarantinesItselfOnly(t *testing.T) {
	made := shop(t, "", func(folder fstest.MapFS) {
		text := strings.NewReplacer("name: orders\nversion", "name: broken\nversion", "ordering:", "when: payload.nothing == null\nordering:").Replace(string(folder[route].Data))
		folder["broken.yaml"] = &fstest.MapFile{Data: []byte(text)}
	})
	e := event(t, made, order("1", "1"))
	if len(e.Matches) != 2 || !errors.Is(e.Matches[0].Refusal, facts.ExpressionFailed) || e.Matches[1].Refusal != nil || e.Contract.IsZero() {
		t.Errorf("%+v", e.Matches)
	}
}

func TestDisabledRoutesGiveAnEventNoPlace(t *testing.T) {
	made := shop(t, "")
	reading := made.Channels()[0].Read(Delivery{Body: []byte(order("1", "1"))})
	components, err := reading.Extract()
	if err != nil {
		t.Fatal(err)
	}
	e, err := reading.Normalize(components[0], nil)
	if err != nil || !e.Contract.IsZero() || !e.Order.Position.IsZero() || len(e.Matches) != 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestAStoredEventGivesTheInputOfTheFirstReading(t *testing.T) {
	made := shop(t, "")
	e := event(t, made, order("1", "1"))
	again, err := ReadEvent(e.Kind, e.Key, e.Locator, e.Payload, 64)
	if err != nil {
		t.Fatal(err)
	}
	mapping, _ := made.Mapping(e.Matches[0].Route.Mapping)
	one, err := mapping.Project([]*Event{e})
	if err != nil {
		t.Fatal(err)
	}
	if other, err := mapping.Project([]*Event{again}); err != nil || !bytes.Equal(one.Bytes(), other.Bytes()) {
		t.Errorf("%s and %s, %v", one.Bytes(), other.Bytes(), err)
	}
	author, err := facts.ProfileV2.Author()
	if err != nil {
		t.Fatal(err)
	}
	if sum := author.EventContent(e.Content(author)); sum.IsZero() {
		t.Error("the event's content has no digest")
	}
}

func TestAWindowsInputIsMadeOfAllItsMembers(t *testing.T) {
	made := shop(t, "", func(folder fstest.MapFS) {
		edit(t, folder, mapping, "value: payload.total", "value: 'members.map(m, m.payload.version)'")
	})
	m, _ := made.Mapping(made.Routes()[0].Mapping)
	input, err := m.Project([]*Event{event(t, made, order("1", "1")), event(t, made, order("1", "2"))})
	if err != nil || !strings.Contains(string(input.Bytes()), `"total":[1,2]`) {
		t.Errorf("%s, %v", input.Bytes(), err)
	}
	if _, err := m.Project(nil); !errors.HasAssertionFailure(err) {
		t.Errorf("no member: %v", err)
	}
}

func TestDependenciesAndPredecessorsAreReadFromTheEvent(t *testing.T) {
	made := shop(t, "", func(folder fstest.MapFS) {
		edit(t, folder, route, "rule: increment", "rule: predecessor, predecessor: integer(payload.after)")
		edit(t, folder, route, "mapping: order", `mapping: order
dependencies:
  - {requires: completed_event, when: has(payload.needs), event: payload.needs, deadline_seconds: 60}
  - {requires: remote_link, owner_slot: event.locator, deadline_seconds: 30}`)
	})
	r := made.Routes()[0]
	with := event(t, made, strings.Replace(order("1", "5"), "{", `{"after":4,"needs":"0/9",`, 1))
	needs, err := r.Needs(with)
	if err != nil || fmt.Sprint(needs) != "[{0/9  60} { orders/1 30}]" {
		t.Errorf("%v, %v", needs, err)
	}
	before, err := r.Follows(with)
	if whole, ok := before.Integer(); err != nil || !ok || whole.Int64() != 4 {
		t.Errorf("%v, %v", before, err)
	}
	without := event(t, made, order("1", "5"))
	if needs, err := r.Needs(without); err != nil || len(needs) != 1 {
		t.Errorf("%v, %v", needs, err)
	}
	if _, err := r.Follows(without); !errors.Is(err, facts.ExpressionFailed) {
		t.Errorf("%v", err)
	}
}

func TestAnExpressionThatCostsTooMuchQuarantinesItsComponent(t *testing.T) {
	made := shop(t, "limits: {expression_cost: 50}\n", func(folder fstest.MapFS) {
		edit(t, folder, channel, `'"order." + component.status'`, `'"order"'`)
		edit(t, folder, channel, `'"orders/" + text(component.id)'`, `'sha256(component.status)'`)
	})
	body := strings.Replace(order("1", "1"), `"paid"`, `"`+strings.Repeat("x", 5000)+`"`, 1)
	if got := verdicts(t, made, body); got != "expression_too_costly at input channel.events[0].locator" {
		t.Errorf("%s", got)
	}
	if got := verdicts(t, made, order("1", "1")); got != "1/1" {
		t.Errorf("a cheap one: %s", got)
	}
}

func FuzzReadingNeverFailsOpen(f *testing.F) {
	packs := map[string]*Pack{}
	for _, name := range shipped(f) {
		packs[name] = compiledPack(f, folderOf(name))
		err := samples(folderOf(name), func(_ string, request sampleRequest, body []byte) error {
			header := ""
			for _, line := range request.Headers {
				header += line.Name + ": " + line.Value + "\n"
			}
			f.Add(header, body)
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.Fatal(err)
		}
	}
	f.Add("", []byte(strings.Repeat("[", 70)))
	f.Add("x: \xff", []byte("[{\"a\":\"\xff\"},{\"a\":1,\"a\":2}]"))
	author, err := facts.ProfileV2.Author()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		delivery := Delivery{Body: body}
		for _, line := range strings.Split(header, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			delivery.Header = append(delivery.Header, Line{name, value})
		}
		for _, made := range packs {
			once, again := traced(t, author, made, delivery), traced(t, author, made, delivery)
			if once != again {
				t.Fatalf("two readings differ:\n%s\n%s", once, again)
			}
		}
	})
}

// traced reads a delivery whole and gives everything that came of it. What is no closed refusal fails the test.
func traced(t *testing.T, author facts.Author, made *Pack, delivery Delivery) string {
	var out strings.Builder
	for _, ch := range made.Channels() {
		reading := ch.Read(delivery)
		key, err := reading.TransportKey()
		fmt.Fprintln(&out, key, code(t, err), len(reading.Admitted()))
		components, err := reading.Extract()
		fmt.Fprintln(&out, len(components), code(t, err))
		for _, component := range components {
			event, err := reading.Normalize(component, made.Routes())
			fmt.Fprintln(&out, code(t, err))
			if err != nil {
				continue
			}
			if event.Kind.IsZero() || event.Key.IsZero() || event.Locator.IsZero() || author.EventContent(event.Content(author)).IsZero() {
				t.Fatalf("an incomplete event: %+v", event)
			}
			for _, m := range event.Matches {
				mapping, _ := made.Mapping(m.Route.Mapping)
				input, err := mapping.Project([]*Event{event})
				_, needs := m.Route.Needs(event)
				fmt.Fprintln(&out, m.Route.Name, code(t, m.Refusal), code(t, err), code(t, needs), string(input.Bytes()))
			}
		}
	}
	return out.String()
}

func code(t *testing.T, err error) string {
	if err == nil {
		return "ok"
	}
	return closed(t, "a delivery", err)
}

// A header that the key is read from names nothing if it stands twice: the lines together would be another key than each, and
// the same delivery another one.
func TestAHeaderThatNamesADeliveryStandsOnce(t *testing.T) {
	for key, doubled := range map[string]map[string]string{
		`headers["x-shop-delivery"]`:                                      {"X-Shop-Delivery": "key_not_canonical", "x-kind": "key_not_canonical", "x-other": "d-1"},
		`has(headers.trace) ? headers.trace : headers["x-shop-delivery"]`: {"x-shop-delivery": "key_not_canonical", "Trace": "key_not_canonical", "x-kind": "key_not_canonical", "x-other": "d-1"},
		`concat(["d", "-", "1"])`:                                         {"x-shop-delivery": "d-1", "x-kind": "key_not_canonical"},
	} {
		made := shop(t, "identity_headers: [x-kind]\n", func(folder fstest.MapFS) {
			edit(t, folder, channel, `transport_key: headers["x-shop-delivery"]`, "transport_key: '"+key+"'")
		})
		for name, want := range doubled {
			header := []Line{{"x-shop-delivery", "d-1"}, {"x-kind", "order"}, {"x-other", "o"}, {name, "d-1"}}
			if strings.EqualFold(name, "trace") {
				header = append(header, Line{"trace", "d-1"})
			}
			got, err := made.Channels()[0].Read(Delivery{Header: header, Body: []byte(order("1", "1"))}).TransportKey()
			if err == nil && got.String() != want || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s with %s twice: %s, %v, want %s", key, name, got, err, want)
			}
		}
	}
}
