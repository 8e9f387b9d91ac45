package form

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cockroachdb/errors"
	"go.yaml.in/yaml/v3"
)

// Node is one value of a document. A scalar is its text; what it means is said by the place where it stands, so that
// 1, "1" and '1' are one value wherever a text is wanted.
type Node struct {
	At      At
	Kind    Kind
	Text    string   // of a scalar
	Items   []*Node  // of a list
	Members []Member // of a map, in the order of the file
}

// Kind is what a Node is.
type Kind uint8

// The kinds.
const (
	Scalar Kind = iota
	List
	Map
	Nothing  // null, or a key without a value
	Reported // a value of which a fault was reported already
)

var kindNouns = [...]string{"a single value", "a list", "a map", "nothing", "a fault"}

// String is the kind's noun.
func (k Kind) String() string { return kindNouns[k] }

// Member is one entry of a map.
type Member struct {
	At    At
	Name  string
	Value *Node
}

// Get finds a member by its name.
func (n *Node) Get(name string) *Node {
	for _, m := range n.Members {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// depthMax bounds how deep a document is nested.
const depthMax = 32

// Document is a kind of file: how it is called, how large it may be, and what a person does about one that is not read.
type Document struct {
	Noun     string // with its article, as in "a pack"
	MaxMiB   int
	TooLarge string // hints
	Second   string
	Empty    string
}

var definition = Document{"a pack", 1, "split it: one definition a file", "one definition a file", "delete it, or write a definition"}

// ReadYAML reads a file of a pack.
func ReadYAML(file string, raw []byte, report *Report) *Node {
	return definition.Read(file, raw, report)
}

// Read reads a file that holds one YAML document. It is nil if the file cannot be read, and then the report says why.
// Anchors, aliases, merge keys, tags and a second document are refused: a value stands where it is written.
func (d Document) Read(file string, raw []byte, report *Report) *Node {
	whole := At{File: file}
	switch {
	case len(raw) > d.MaxMiB<<20:
		report.Add(whole, "", fmt.Sprintf("the file is larger than %d MiB", d.MaxMiB), d.TooLarge)
		return nil
	case !utf8.Valid(raw):
		report.Add(whole, "", "the file is not UTF-8", "save it as UTF-8")
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			report.Add(whole, "", "the file is empty", d.Empty)
			return nil
		}
		at, what := whole, strings.TrimPrefix(err.Error(), "yaml: ")
		if line, rest, ok := strings.Cut(strings.TrimPrefix(what, "line "), ": "); ok && strings.HasPrefix(what, "line ") {
			at.Line, what = number(line), rest
		}
		report.Add(at, "", "this is no YAML: "+what, "check the indentation and the quotes")
		return nil
	}
	reader := yamlReader{noun: d.Noun, file: file, report: report, sound: true}
	node := reader.read(document.Content[0], 0)
	var second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		report.Add(At{file, max(second.Line, 1)}, "", "the file holds more than one document", d.Second)
		return nil
	}
	if !reader.sound {
		return nil
	}
	return node
}

func number(text string) int {
	total := 0
	for _, digit := range text {
		if digit < '0' || digit > '9' {
			return 0
		}
		total = total*10 + int(digit-'0')
	}
	return total
}

type yamlReader struct {
	noun   string
	file   string
	report *Report
	sound  bool
}

func (r *yamlReader) refuse(from *yaml.Node, what, hint string) {
	r.sound = false
	r.report.Add(At{r.file, from.Line}, "", what, hint)
}

// plainTags are those that YAML itself gives to what is written without a tag.
var plainTags = []string{"!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!map", "!!seq"}

func (r *yamlReader) read(from *yaml.Node, depth int) *Node {
	node := &Node{At: At{r.file, from.Line}}
	switch {
	case depth > depthMax:
		r.refuse(from, "the document is nested too deep", "a handful of levels is enough")
		return node
	case from.Kind == yaml.AliasNode || from.Anchor != "":
		r.refuse(from, "anchors and aliases have no place in "+r.noun, "write the value where it is used")
		return node
	case from.Style&yaml.TaggedStyle != 0 || !slices.Contains(plainTags, from.ShortTag()):
		r.refuse(from, "the tag "+from.ShortTag()+" has no place in "+r.noun, "write the plain value")
		return node
	}
	switch from.Kind {
	case yaml.SequenceNode:
		node.Kind = List
		for _, item := range from.Content {
			node.Items = append(node.Items, r.read(item, depth+1))
		}
	case yaml.MappingNode:
		node.Kind = Map
		r.readMembers(from, node, depth)
	default:
		node.Text = from.Value
		if from.ShortTag() == "!!null" {
			node.Kind = Nothing
		}
	}
	return node
}

func (r *yamlReader) readMembers(from *yaml.Node, node *Node, depth int) {
	for i := 0; i+1 < len(from.Content); i += 2 {
		name := from.Content[i]
		if name.Kind != yaml.ScalarNode || name.ShortTag() == "!!merge" || name.Anchor != "" {
			r.refuse(name, "a key is a plain word", "write it without anchors and merges")
			continue
		}
		if node.Get(name.Value) != nil {
			r.refuse(name, "the key "+name.Value+" stands twice in one map", "delete one of the two")
			continue
		}
		node.Members = append(node.Members, Member{At{r.file, name.Line}, name.Value, r.read(from.Content[i+1], depth+1)})
	}
}
