package pack

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"connectorcore/facts"
)

func compiledPack(t testing.TB, folder fs.FS) *Pack {
	t.Helper()
	made, err := Compile(folder)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// every is each pack that the tests know: the shipped ones and the page's example with its outbound half.
func every(t testing.TB) map[string]*Pack {
	all := map[string]*Pack{"whole": compiledPack(t, whole(t))}
	for _, name := range shipped(t) {
		all[name] = compiledPack(t, folderOf(name))
	}
	return all
}

// The canonical bytes are frozen: what an epoch stored must be read for as long as the epoch is.
func TestTheCanonicalBytesNeverChange(t *testing.T) {
	made := compiledPack(t, whole(t))
	const file = "testdata/whole.canonical.json"
	frozen, err := os.ReadFile(file)
	if err != nil && *rewrite {
		frozen = append(made.Canonical(), '\n')
		err = os.WriteFile(file, frozen, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(append(made.Canonical(), '\n'), frozen) {
		t.Errorf("the canonical bytes are now\n%s", made.Canonical())
	}
	if id := made.Generation().String(); id != "b7f0d60bd5e3aa266798851845bbb5df0dfac4af9ebb89227d783ebbd477c1ba" {
		t.Errorf("the generation is now %s", id)
	}
}

func TestAPackIsMadeAgainOfItsCanonicalBytesAlone(t *testing.T) {
	for name, made := range every(t) {
		again, err := Load(made.Canonical())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(again.Canonical(), made.Canonical()) || again.Digest() != made.Digest() || again.Generation() != made.Generation() {
			t.Errorf("%s: another pack was made", name)
		}
		before, after := made.Definitions(), again.Definitions()
		if !slices.EqualFunc(before, after, func(a, b Definition) bool {
			return a.DigestedDefinition == b.DigestedDefinition && bytes.Equal(a.Canonical(), b.Canonical())
		}) {
			t.Errorf("%s: other definitions were made", name)
		}
	}
}

func TestALoadedPackReadsAsTheCompiledOneDoes(t *testing.T) {
	for _, name := range shipped(t) {
		made := compiledPack(t, folderOf(name))
		again, err := Load(made.Canonical())
		if err != nil {
			t.Fatal(err)
		}
		err = samples(folderOf(name), func(sample string, request sampleRequest, body []byte) error {
			one, _, err := made.sample(sample, request, body)
			if err != nil {
				return err
			}
			other, _, err := again.sample(sample, request, body)
			if a, b := fmt.Sprint(one), fmt.Sprint(other); a != b {
				t.Errorf("%s %s: compiled %s, loaded %s", name, sample, a, b)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestNoOtherBytesAreAPack(t *testing.T) {
	made := compiledPack(t, whole(t))
	canonical := made.Canonical()
	rapid.Check(t, func(t *rapid.T) {
		at, now := rapid.IntRange(0, len(canonical)-1).Draw(t, "at"), rapid.Byte().Draw(t, "byte")
		changed := bytes.Clone(canonical)
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			changed[at] = now
		case 1:
			changed = slices.Delete(changed, at, at+1)
		default:
			changed = slices.Insert(changed, at, now)
		}
		other, err := Load(changed)
		if err != nil || bytes.Equal(changed, canonical) {
			return
		}
		if !bytes.Equal(other.Canonical(), changed) || other.Digest() == made.Digest() {
			t.Fatalf("byte %d: other bytes are the same pack", at)
		}
	})
	for _, text := range []string{"", "null", "[]", "{}", `{"definitions":[],"pack":{}}`, string(canonical) + " ", " " + string(canonical),
		strings.Replace(string(canonical), `"expression_cost":"100000"`, ``, 1), strings.Replace(string(canonical), `"100000"`, `100000`, 1)} {
		if _, err := Load([]byte(text)); err == nil {
			t.Errorf("%.60q is a pack", text)
		}
	}
}

// restyled writes a folder again in another style of YAML: other quotes, flow instead of blocks, the keys of every map
// in reverse, lines that end in CR LF, comments, and files under other names and in folders.
func restyled(t testing.TB, folder fs.FS, style yaml.Style) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" || strings.HasPrefix(name, samplesFolder) {
			return err
		}
		raw, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		var node yaml.Node
		if err := yaml.Unmarshal(raw, &node); err != nil {
			return err
		}
		restyle(&node, style)
		text, err := yaml.Marshal(&node)
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(append([]byte("# a comment\n"), text...), []byte("\n"), []byte("\r\n"))
		if name != headFile {
			name = "moved/z" + strings.ReplaceAll(name, "/", "-")
		}
		out[name] = &fstest.MapFile{Data: text}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func restyle(node *yaml.Node, style yaml.Style) {
	node.HeadComment, node.LineComment, node.FootComment = "", "", ""
	switch node.Kind {
	case yaml.MappingNode:
		node.Style = style & yaml.FlowStyle
		for i, j := 0, len(node.Content)-2; i < j; i, j = i+2, j-2 {
			node.Content[i], node.Content[i+1], node.Content[j], node.Content[j+1] = node.Content[j], node.Content[j+1], node.Content[i], node.Content[i+1]
		}
	case yaml.SequenceNode:
		node.Style = style & yaml.FlowStyle
	case yaml.ScalarNode:
		node.Tag, node.Style = "!!str", style&^yaml.FlowStyle
	}
	for _, child := range node.Content {
		restyle(child, style)
	}
}

func TestNeitherStyleNorOrderNorNamesOfFilesChangeThePack(t *testing.T) {
	for _, name := range shipped(t) {
		want := compiledPack(t, folderOf(name))
		for _, style := range []yaml.Style{yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle | yaml.FlowStyle, yaml.DoubleQuotedStyle | yaml.FlowStyle, yaml.LiteralStyle} {
			got, err := Compile(restyled(t, folderOf(name), style))
			if err != nil {
				t.Errorf("%s in style %d:\n%v", name, style, err)
			} else if got.Generation() != want.Generation() {
				t.Errorf("%s in style %d is another generation", name, style)
			}
		}
	}
}

func TestTheSameFolderGivesTheSameBytesInEveryRun(t *testing.T) {
	want := compiledPack(t, whole(t)).Canonical()
	for range 20 {
		if got := compiledPack(t, whole(t)).Canonical(); !bytes.Equal(got, want) {
			t.Fatal("another run gave other bytes")
		}
	}
}

func TestEachDefinitionHasItsOwnDigestUnderItsIdentity(t *testing.T) {
	author, err := facts.ProfileV2.Author()
	if err != nil {
		t.Fatal(err)
	}
	for name, made := range every(t) {
		seen := map[facts.Digest]bool{}
		for _, d := range made.Definitions() {
			if d.Digest != author.PackDefinition(d.PackDefinition, d.Canonical()) || d.Digest.IsZero() || seen[d.Digest] {
				t.Errorf("%s: the digest of %s %s is %s", name, d.Kind, d.ID, d.Digest)
			}
			seen[d.Digest] = true
		}
	}
}

func TestDiffListsWhatIsFrozenAndDiffers(t *testing.T) {
	before := whole(t)
	from := compiledPack(t, before)
	if changes, err := Diff(from, from); err != nil || len(changes) > 0 {
		t.Errorf("a pack differs from itself: %v, %v", changes, err)
	}
	after := whole(t)
	edit(t, after, route, "version: 1\nchannel", "version: 2\nchannel")
	edit(t, after, route, "deadline_seconds: 3600", "deadline_seconds: 7200")
	edit(t, after, channel, "encoding: hex", "encoding: base64")
	edit(t, after, mapping, "value: payload.total", "value: text(payload.total)")
	edit(t, after, "pack.yaml", "Orders of a shop", "Orders")
	delete(after, contract)
	delete(after, "notes.callout.yaml")
	after["more.yaml"] = &fstest.MapFile{Data: bytes.Replace(after[callout].Data, []byte("name: note\n"), []byte("name: more\n"), 1)}
	changes, err := Diff(from, compiledPack(t, after))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, change := range changes {
		got = append(got, change.String())
	}
	want := []string{
		"pack: title: Orders of a shop -> Orders",
		"callout_profile more: added",
		"callout_profile notes: removed",
		"field_mapping order: differs under one version: give the changed one another version",
		"field_mapping order: fields[1].value: payload.total -> text(payload.total)",
		"inbound_route orders: channel.signatures[0].encoding: hex -> base64",
		"inbound_route orders: ordering.gap.deadline_seconds: 3600 -> 7200",
		"inbound_route orders: version: 1 -> 2",
		"push_contract note: removed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
