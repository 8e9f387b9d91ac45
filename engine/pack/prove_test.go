package pack

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"connectorcore/facts"
)

// independent is the page's example with an order-independent route, and samples of the given orders.
func independent(t testing.TB, proof, record, fields string, orders ...string) fstest.MapFS {
	t.Helper()
	folder, _ := example(t)
	text := string(folder[route].Data)
	begin, end := strings.Index(text, "ordering:"), strings.Index(text, "mapping:")
	folder[route] = &fstest.MapFile{Data: []byte(text[:begin] + "ordering: {contract: order_independent, proof: " + proof + "}\n" + text[end:])}
	edit(t, folder, mapping, "record: event.locator", "record: "+record)
	if fields != "" {
		text := string(folder[mapping].Data)
		folder[mapping] = &fstest.MapFile{Data: []byte(text[:strings.Index(text, "fields:")] + "fields:\n" + fields)}
	}
	for i, body := range orders {
		name := fmt.Sprintf("samples/s%d", i)
		folder[name+".json"] = &fstest.MapFile{Data: []byte(body)}
		folder[name+".request.yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, "channel: orders\nheaders: [{name: x-shop-delivery, value: d%d}]\nbody: s%d.json\n", i, i)}
	}
	return folder
}

func tried(t testing.TB, folder fstest.MapFS) TestReport {
	t.Helper()
	report, err := Test(folder)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Q05: an order-independent route is held to its proof by its samples.
func TestQ05AnOrderIndependentRouteIsHeldToItsProof(t *testing.T) {
	paid, sent := order("1", "1"), strings.Replace(order("1", "2"), "paid", "sent", 1)
	other := order("2", "1")
	const constant, status = "  - {name: refresh, owner: source, value: 'true'}\n", "  - {name: status, owner: source, value: payload.status}\n"
	const initial = "  - {name: status, owner: application, value: payload.status}\n"
	for _, c := range []struct {
		name, proof, record, fields string
		orders                      []string
		want                        string
	}{
		{"a record for each event", "append_only", "event.key", "", []string{paid, sent, other}, ""},
		{"a redelivery is no second input", "append_only", "event.key", "", []string{paid, paid}, ""},
		{"two events of one record", "append_only", "event.locator", "", []string{paid, sent}, `route orders claims append_only: samples s0 and s1 are two inputs of one record, "orders/1"`},
		{"keyed by event", "keyed_upsert_by_event", "event.key", "", []string{paid, sent}, ""},
		{"keyed by something else", "keyed_upsert_by_event", "event.locator", "", []string{paid}, `route orders claims keyed_upsert_by_event: sample s0: the record "orders/1" is not the event's key "1/1"`},
		{"the same in any order", "commutes", "event.locator", constant, []string{paid, sent}, ""},
		{"the last one wins", "commutes", "event.locator", status, []string{paid, sent}, `route orders claims commutes: samples s0 and s1 leave different values in the field "status" of the record "orders/1", by which comes last`},
		{"the first one wins", "commutes", "event.locator", initial, []string{paid, sent}, `route orders claims commutes: samples s0 and s1 leave different values in the field "status" of the record "orders/1", by which comes last`},
		{"other records", "commutes", "event.locator", status, []string{paid, other}, ""},
	} {
		report := tried(t, independent(t, c.proof, c.record, c.fields, c.orders...))
		if got := strings.Join(report.Refutations, "\n"); got != c.want || report.Failed() == (c.want == "" && len(report.Differences) == 0) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
	lonely := tried(t, independent(t, "commutes", "event.locator", constant, paid, other))
	if len(lonely.WithoutProof) != 1 {
		t.Errorf("a proof that no two samples try is not named: %v", lonely.WithoutProof)
	}
}

// The pairwise verdict is that of all orders: a set of inputs without a clash ends in one state whatever the order,
// and a clash has two orders with different ends.
func TestQ05ClashesAreExactlyWhatTheOrderDecides(t *testing.T) {
	field := rapid.Custom(func(t *rapid.T) Set {
		return Set{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), "", []byte(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "value"))}
	})
	owners := map[string]string{"a": "source", "b": "application", "c": "source"}
	rapid.Check(t, func(t *rapid.T) {
		inputs := make([]Input, rapid.IntRange(2, 4).Draw(t, "inputs"))
		for i := range inputs {
			fields := rapid.SliceOfNDistinct(field, 0, 3, func(s Set) string { return s.Name }).Draw(t, "fields")
			for j := range fields {
				fields[j].Owner = owners[fields[j].Name]
			}
			inputs[i].Fields = fields
		}
		ends := map[string]bool{}
		permute(inputs, 0, func(order []Input) { ends[applied(order)] = true })
		clashing := false
		for i := range inputs {
			for _, other := range inputs[i+1:] {
				clashing = clashing || clash(inputs[i], other) != ""
			}
		}
		if clashing != (len(ends) > 1) {
			t.Fatalf("clash %v, and %d ends of %v", clashing, len(ends), inputs)
		}
	})
}

func permute(inputs []Input, from int, visit func([]Input)) {
	if from == len(inputs) {
		visit(inputs)
		return
	}
	for i := from; i < len(inputs); i++ {
		inputs[from], inputs[i] = inputs[i], inputs[from]
		permute(inputs, from+1, visit)
		inputs[from], inputs[i] = inputs[i], inputs[from]
	}
}

// applied is what an application does with inputs in their order.
func applied(inputs []Input) string {
	record := map[string]string{}
	for _, input := range inputs {
		for _, set := range input.Fields {
			if _, there := record[set.Name]; set.Owner == "source" || !there {
				record[set.Name] = string(set.Value)
			}
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(record)) {
		out = append(out, name+"="+record[name])
	}
	return strings.Join(out, " ")
}

func TestAGoldenFileThatDiffersIsShownByItsLine(t *testing.T) {
	folder := independent(t, "append_only", "event.key", "", order("1", "1"))
	report := tried(t, folder)
	if len(report.Differences) != 1 || !strings.Contains(report.Differences[0], "samples/s0.golden.yaml: there is no golden file") {
		t.Errorf("without a golden file: %q", report.Differences)
	}
	for file, text := range report.Goldens {
		folder[file] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, "\n", "\r\n"))}
	}
	if again := tried(t, folder); again.Failed() || again.Samples != 1 || again.Components != 1 || again.Inputs != 1 {
		t.Errorf("after a rewrite: %+v", again)
	}
	edit(t, folder, mapping, "value: payload.total", "value: text(payload.total)")
	if got := tried(t, folder).Differences; len(got) != 1 || !strings.HasPrefix(got[0], "samples/s0.golden.yaml:11: it is ") {
		t.Errorf("another input: %q", got)
	}
}

func TestASampleThatCannotBeReadIsAFaultWithItsLine(t *testing.T) {
	folder := independent(t, "append_only", "event.key", "", order("1", "1"))
	edit(t, folder, "samples/s0.request.yaml", "body: s0.json", "body: nowhere.json")
	if _, err := Test(folder); err == nil || !strings.Contains(err.Error(), "samples/s0.request.yaml:3: body: the body's file cannot be read") {
		t.Errorf("%v", err)
	}
	edit(t, folder, "samples/s0.request.yaml", "channel: orders", "channel: order")
	edit(t, folder, "samples/s0.request.yaml", "body: nowhere.json", "body: s0.json")
	if _, err := Test(folder); err == nil || !strings.Contains(err.Error(), `sample s0: there is no channel "order"`) {
		t.Errorf("%v", err)
	}
	empty, _ := example(t)
	if _, err := Test(empty); err == nil || !strings.Contains(err.Error(), "it has no samples") {
		t.Errorf("%v", err)
	}
}

func TestAnOrderedRouteHasAContractDigestAndAnIndependentOneHasNone(t *testing.T) {
	folder, _ := example(t)
	strict := compiledPack(t, folder).Routes()[0]
	changed, _ := example(t)
	edit(t, changed, route, "disposition: hold", "disposition: quarantine")
	if other := compiledPack(t, changed).Routes()[0]; strict.contract.IsZero() || strict.contract == other.contract {
		t.Errorf("contracts %s and %s", strict.contract, other.contract)
	}
	loose := compiledPack(t, independent(t, "append_only", "event.key", "")).Routes()[0]
	if loose.contract != (facts.Digest{}) || !loose.Ordering.Independent() || loose.Execution.Retry.Attempts() != 1 {
		t.Errorf("%+v", loose)
	}
}
