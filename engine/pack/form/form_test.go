package form

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func node(depth int) *rapid.Generator[*Node] {
	return rapid.Custom(func(t *rapid.T) *Node {
		kind := Scalar
		if depth > 0 {
			kind = rapid.SampledFrom([]Kind{Scalar, List, Map}).Draw(t, "kind")
		}
		n := &Node{Kind: kind}
		switch kind {
		case List:
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				n.Items = append(n.Items, node(depth-1).Draw(t, "item"))
			}
		case Map:
			for _, name := range rapid.SliceOfNDistinct(rapid.StringN(0, 5, -1), 0, 3, rapid.ID).Draw(t, "names") {
				n.Members = append(n.Members, Member{Name: name, Value: node(depth-1).Draw(t, "value")})
			}
		default:
			n.Text = rapid.String().Draw(t, "text")
		}
		return n
	})
}

func TestOneValueHasOneCanonicalFormAndIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := node(4).Draw(t, "node")
		form := AppendCanonical(nil, n)
		read, err := ReadCanonical(form)
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if again := AppendCanonical(nil, read); !bytes.Equal(again, form) {
			t.Fatalf("%s became %s", form, again)
		}
		shuffled := *n
		shuffled.Members = rapid.Permutation(n.Members).Draw(t, "members")
		if other := AppendCanonical(nil, &shuffled); !bytes.Equal(other, form) {
			t.Fatalf("another order of members gives %s", other)
		}
	})
}

func TestTheCanonicalFormIsTheOneOfThePage(t *testing.T) {
	n := &Node{Kind: Map, Members: []Member{
		{Name: "b", Value: &Node{Kind: List, Items: []*Node{{Text: "1"}, {Text: "é\n\"<&\u2028"}}}}, {Name: "a", Value: &Node{Kind: Map}}}}
	if got := string(AppendCanonical(nil, n)); got != "{\"a\":{},\"b\":[\"1\",\"é\\n\\\"<&\u2028\"]}" {
		t.Errorf("%s", got)
	}
	for _, text := range []string{`{"b":"1","a":"2"}`, `{"a":"1","a":"2"}`, `{"a":1}`, `{"a":null}`, `{"a": "1"}`, `{"a":"\u00e9"}`, `["a"`, `"a" `, ``, "\"\xff\""} {
		if n, err := ReadCanonical([]byte(text)); err == nil {
			t.Errorf("%s was read as %+v", text, n)
		}
	}
}

func TestAPlaceIsThatOfTheNearestPathAbove(t *testing.T) {
	report := &Report{}
	var into struct {
		Items []struct {
			Name string `pack:"name,required"`
		} `pack:"items"`
	}
	places := Decode(ReadYAML("f.yaml", []byte("# x\nitems:\n  - name: a\n  -\n    name: b\n"), report), &into, report)
	for path, line := range map[string]int{"": 2, "items": 3, "items[0]": 3, "items[0].name": 3, "items[1].name": 5, "items[1].name.more": 5, "items[7]": 3, "other": 2} {
		if got := places.Of(path); got.Line != line || got.File != "f.yaml" {
			t.Errorf("%q stands at %s, want line %d", path, got, line)
		}
	}
	if report.Err() != nil || len(into.Items) != 2 || into.Items[1].Name != "b" || !places.Written("items[1].name") || places.Written("items[2]") {
		t.Errorf("%v %+v", report.Err(), into)
	}
}

func TestTheNearestWordIsTheOneThatWasMeant(t *testing.T) {
	known := []string{"title", "tie_breaker", "position", "partition"}
	for word, want := range map[string]string{"titel": "title", "tiebreaker": "tie_breaker", "positions": "position", "xyz": "", "": ""} {
		if got := nearest(word, known); got != want {
			t.Errorf("%q is taken for %q, want %q", word, got, want)
		}
	}
}
