package pack

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"connectorcore/engine/pack/expr"
	"connectorcore/facts"
)

func page(t testing.TB) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/packs.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// example cuts the worked example out of the page: files by their names, and its other blocks.
func example(t testing.TB) (folder fstest.MapFS, blocks map[string]string) {
	t.Helper()
	folder, blocks = fstest.MapFS{}, map[string]string{}
	for _, block := range regexp.MustCompile("(?s)```(\\S+)\n(.*?)```").FindAllStringSubmatch(page(t), -1) {
		if strings.HasSuffix(block[1], ".yaml") {
			folder[block[1]] = &fstest.MapFile{Data: []byte(block[2])}
		} else {
			blocks[block[1]] = strings.TrimSuffix(block[2], "\n")
		}
	}
	if len(folder) != 4 {
		t.Fatalf("the worked example has %d files", len(folder))
	}
	return folder, blocks
}

func TestTheWorkedExampleOfThePageDoesWhatItSays(t *testing.T) {
	folder, blocks := example(t)
	made, err := Compile(folder)
	if err != nil {
		t.Fatal(err)
	}
	channel := made.Channels()[0]
	reading := channel.Read(Delivery{Header: []Line{{"X-Shop-Delivery", "d-1"}}, Body: []byte(blocks["delivery"])})
	if key, err := reading.TransportKey(); err != nil || key.String() != "d-1" {
		t.Errorf("the transport key is %q, %v", key, err)
	}
	components, err := reading.Extract()
	if err != nil {
		t.Fatal(err)
	}
	event, err := reading.Normalize(components[0], made.Routes())
	if err != nil {
		t.Fatal(err)
	}
	if event.Key.String() != "9007199254740993/1" || event.Kind.String() != "order.paid" || len(event.Matches) != 1 {
		t.Errorf("the event is %+v", event)
	}
	first, err := event.Matches[0].Route.First()
	if err != nil || first != event.Order.Position {
		t.Errorf("the event is not the first of its partition: %v, %v", first, err)
	}
	mapping, _ := made.Mapping(event.Matches[0].Route.Mapping)
	input, err := mapping.Project([]*Event{event})
	if err != nil || string(input.Bytes()) != blocks["input"] {
		t.Errorf("the input is %s, %v", input.Bytes(), err)
	}
}

func TestTheFaultThatThePageShowsIsTheOneThatIsFound(t *testing.T) {
	shown := regexp.MustCompile(`(?m)^    (issues\.route\.yaml:\d+: .*)$`).FindStringSubmatch(page(t))
	if shown == nil {
		t.Fatal("the page shows no fault")
	}
	if !strings.HasSuffix(shown[1], ": ordering.tie_breaker: the key is missing; an order-dependent route has a partition, a position and a tie-breaker") {
		t.Errorf("the page shows %q", shown[1])
	}
	folder, _ := example(t)
	route := folder["orders.route.yaml"]
	route.Data = regexp.MustCompile(`(?m)^  tie_breaker: .*\n`).ReplaceAll(route.Data, nil)
	if got := faultsOf(t, folder); len(got) != 1 || !strings.HasSuffix(got[0], shown[1][strings.Index(shown[1], ": "):]) {
		t.Errorf("found %q", got)
	}
}

func TestThePageListsEveryKeyAndNoOther(t *testing.T) {
	listed := map[string][]string{}
	_, documents, _ := strings.Cut(page(t), "## The documents")
	for _, section := range strings.Split(documents, "\n### ")[1:] {
		name := regexp.MustCompile("^`(\\w+)`").FindStringSubmatch(section)[1]
		for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1) {
			listed[name] = append(listed[name], row[1])
		}
	}
	keys := Keys()
	if !slices.Equal(slices.Sorted(maps.Keys(keys)), slices.Sorted(maps.Keys(listed))) {
		t.Errorf("the page has the documents %v", slices.Sorted(maps.Keys(listed)))
	}
	for document, want := range keys {
		slices.Sort(want)
		got := slices.Sorted(slices.Values(listed[document]))
		if !slices.Equal(got, want) {
			t.Errorf("%s: the page lists\n%v\nand the code\n%v", document, got, want)
		}
	}
}

func TestThePageListsEveryScopeAndFunction(t *testing.T) {
	text := page(t)
	for _, scope := range expr.Scopes() {
		names := "none"
		if variables := scope.Variables(); len(variables) > 0 {
			names = "`" + strings.Join(variables, "`, `") + "`"
		}
		if row := "| `" + string(scope) + "` | " + names + " |"; !strings.Contains(text, row) {
			t.Errorf("the page lacks the row %s", row)
		}
	}
	for _, name := range expr.Functions() {
		if !strings.Contains(text, "`"+name+"(") {
			t.Errorf("the page lacks the function %s", name)
		}
	}
	for _, kind := range facts.BindingKinds() {
		if !strings.Contains(text, "### `"+kind.String()+"`") {
			t.Errorf("the page lacks the kind %s", kind)
		}
	}
}

// faultsOf gives the faults of a folder, one line each.
func faultsOf(t testing.TB, folder fs.FS) []string {
	t.Helper()
	err := Validate(folder)
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}
