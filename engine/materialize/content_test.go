package materialize_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"connectorcore/engine/frozen"
	"connectorcore/engine/materialize"
	"connectorcore/engine/pack"
	"connectorcore/facts"
	"connectorcore/ledger/turn"
	"connectorcore/proptest/stage"
)

// channels are the channels of every pack of the tree, with all their routes.
func channels(t testing.TB) []*frozen.Channel {
	t.Helper()
	var all []*frozen.Channel
	for _, shape := range []stage.Shape{stage.Single, stage.Batched, stage.Stamped} {
		p, err := pack.Compile(os.DirFS(stage.Folder(t, shape)))
		if err != nil {
			t.Fatal(err)
		}
		for _, definition := range p.Channels() {
			channel := &frozen.Channel{Definition: definition}
			for _, route := range p.Routes() {
				if route.Channel.Name == definition.Name {
					mapping, _ := p.Mapping(route.Mapping)
					channel.Routes = append(channel.Routes, frozen.Route{Route: route, Mapping: mapping, Generation: p.Generation()})
				}
			}
			all = append(all, channel)
		}
	}
	return all
}

// sound asserts what holds for the content of any body: it has one, the same each time, and every component is an event or
// says why not.
func sound(t *testing.T, channel *frozen.Channel, header []facts.HeaderLine, body []byte) *turn.Content {
	t.Helper()
	content := materialize.Content(facts.ProfileV2, channel, header, body)
	if again := materialize.Content(facts.ProfileV2, channel, slices.Clone(header), bytes.Clone(body)); !reflect.DeepEqual(content, again) {
		t.Errorf("%s, %q: two contents of one body", channel.Definition.Name, body)
	}
	if int64(len(content.Components)) > max(1, channel.Definition.Limits.Components) {
		t.Errorf("%s: %d components", channel.Definition.Name, len(content.Components))
	}
	for i, c := range content.Components {
		if (c.Event == nil) == (c.Reason == 0) || c.Reason != 0 && c.Reason.String() == "" {
			t.Errorf("%s, %q: component %d is %+v", channel.Definition.Name, body, i, c)
		}
		if c.Event != nil && (c.Event.Key.IsZero() || c.Event.Kind.IsZero() || !bytes.Contains(body, c.Event.Payload)) {
			t.Errorf("%s, %q: component %d is an event without a key or a kind, or of other bytes", channel.Definition.Name, body, i)
		}
	}
	return content
}

// Whatever a body is, its Receipt has a content: nothing that was accepted is dropped, and nothing panics.
func FuzzContent(f *testing.F) {
	all := channels(f)
	for _, shape := range []stage.Shape{stage.Single, stage.Batched, stage.Stamped} {
		files, err := filepath.Glob(filepath.Join(stage.Folder(f, shape), "samples", "*.json"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(body, "some-event", "some-id")
		}
	}
	for _, body := range []string{"", "null", "[]", "{}", "[[]]", "{\"a\":1,\"a\":2}", "\xff", "[1e999]", "{\"id\":18446744073709551616}", "[{},{},7,\"x\",null]"} {
		f.Add([]byte(body), "", "")
	}
	names := headerNames(all)
	f.Fuzz(func(t *testing.T, body []byte, one, other string) {
		var header []facts.HeaderLine
		for i, name := range names {
			header = append(header, facts.HeaderLine{Name: name, Value: []string{one, other}[i%2]})
		}
		for _, channel := range all {
			sound(t, channel, header, body)
		}
	})
}

// headerNames are the identity headers of the channels, and a few that nobody names.
func headerNames(all []*frozen.Channel) []string {
	names := []string{"x-other", "x-delivery"}
	for _, channel := range all {
		names = append(names, channel.Definition.Identity...)
	}
	return names
}

func TestABodyThatGivesNoComponentHasOneThatSaysWhy(t *testing.T) {
	for _, channel := range channels(t) {
		for body, want := range map[string]facts.Code{"": facts.BodyUnreadable, "\xff": facts.BodyUnreadable} {
			content := sound(t, channel, nil, []byte(body))
			if len(content.Components) != 1 || content.Components[0].Reason != want {
				t.Errorf("%s, %q: %+v", channel.Definition.Name, body, content.Components)
			}
		}
	}
}

// Scenario 051: of five components the third is no event, and takes none of the others with it.
func TestScenario051AComponentThatCannotBeReadIsQuarantinedAlone(t *testing.T) {
	batched := channels(t)[1]
	sample, err := os.ReadFile(filepath.Join(stage.Folder(t, stage.Batched), "samples", "one-poison-component.json"))
	if err != nil {
		t.Fatal(err)
	}
	components := sound(t, batched, nil, sample).Components
	at := slices.IndexFunc(components, func(c turn.Component) bool { return c.Event != nil })
	good := components[at].Event.Payload
	body := append([]byte("["), bytes.Join([][]byte{good, good, []byte(`{"odd":1}`), good, good}, []byte(","))...)
	content := sound(t, batched, nil, append(body, ']'))
	if len(content.Components) != 5 {
		t.Fatalf("%d components", len(content.Components))
	}
	for i, c := range content.Components {
		if quarantined := c.Event == nil; quarantined != (i == 2) {
			t.Errorf("component %d: %+v", i, c)
		}
	}
}
