package pack

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"

	"connectorcore/engine/pack/form"
	"connectorcore/facts"
)

// The names of a pack's folder.
const (
	headFile      = "pack.yaml"
	samplesFolder = "samples"
	channelKind   = "channel"
)

// Compile reads a pack's folder whole. If anything is wrong with it the error is a form.Faults that holds every
// fault, each with file, line and what to do.
func Compile(folder fs.FS) (*Pack, error) {
	report := &form.Report{}
	documents, err := readFolder(folder, report)
	if err != nil {
		return nil, err
	}
	c := compiler{report: report, pack: &Pack{}}
	c.head(documents)
	bodies := c.joinChannels(documents)
	for _, node := range bodies {
		c.define(node)
	}
	return c.finish()
}

// Load makes the Pack of canonical bytes, and refuses all bytes that Compile did not make.
func Load(canonical []byte) (*Pack, error) {
	root, err := form.ReadCanonical(canonical)
	if err != nil {
		return nil, errors.Wrap(err, "pack")
	}
	head, list := root.Get("pack"), root.Get("definitions")
	if len(root.Members) != 2 || head == nil || list == nil || list.Kind != form.List {
		return nil, errors.New("pack: this is no canonical pack: it has a pack and definitions")
	}
	report := &form.Report{}
	c := compiler{report: report, pack: &Pack{}}
	form.Decode(head, &c.pack.head, report)
	for _, node := range list.Items {
		c.define(node)
	}
	made, err := c.finish()
	if err != nil {
		return nil, errors.Wrap(err, "pack")
	}
	if string(made.canonical) != string(canonical) {
		return nil, errors.New("pack: this is no canonical pack: a default is missing, or the definitions have another order")
	}
	return made, nil
}

// Open makes definitions of one pack usable again, of the exact canonical bytes that their owners gave: all of them, or
// those that a deployment authorised. The Pack has no head, and no digest or generation of a whole: to check those was
// its owners' business.
func Open(definitions [][]byte) (*Pack, error) {
	c := compiler{report: &form.Report{}, pack: &Pack{}}
	for _, canonical := range definitions {
		root, err := form.ReadCanonical(canonical)
		if err != nil {
			return nil, errors.Wrap(err, "pack: a definition")
		}
		c.define(root)
	}
	p := c.pack
	c.order()
	c.beside()
	if err := c.report.Err(); err != nil {
		return nil, errors.Wrap(err, "pack: its definitions")
	}
	author, err := facts.ProfileV2.Author()
	if err != nil {
		return nil, err
	}
	if _, _, err := p.digest(author, c.all); err != nil {
		return nil, err
	}
	for _, canonical := range definitions {
		if !slices.ContainsFunc(p.definitions, func(d Definition) bool { return string(d.canonical) == string(canonical) }) {
			return nil, errors.New("pack: a definition is not in its canonical form")
		}
	}
	return p, p.contracts(author)
}

// Validate finds every fault of a folder; nil if there is none.
func Validate(folder fs.FS) error {
	_, err := Compile(folder)
	return err
}

type document struct {
	file string
	node *form.Node
}

// readFolder reads every YAML file outside of the samples, in the order of their names.
func readFolder(folder fs.FS, report *form.Report) ([]document, error) {
	var documents []document
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name == samplesFolder:
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".yaml" && path.Ext(name) != ".yml":
			return nil
		case path.Ext(name) == ".yml":
			report.Add(form.At{File: name}, "", "a definition's file ends in .yaml", "rename it")
			return nil
		}
		raw, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		if node := form.ReadYAML(name, raw, report); node != nil {
			documents = append(documents, document{name, node})
		}
		return nil
	})
	return documents, errors.Wrap(err, "pack: reading its folder")
}

// definition is one decoded definition.
type definition struct {
	identity facts.PackDefinition
	body     any
	check    check
}

type compiler struct {
	report *form.Report
	pack   *Pack
	all    []*definition
}

func (c *compiler) head(documents []document) {
	for _, d := range documents {
		if d.file == headFile {
			form.Decode(d.node, &c.pack.head, c.report)
			return
		}
	}
	if slices.ContainsFunc(c.report.Faults(), func(f form.Fault) bool { return f.At.File == headFile }) {
		return
	}
	c.report.Add(form.At{File: headFile}, "", "the pack does not say what it is", "write the file pack.yaml with format, name, title and requires")
}

// joinChannels puts the body of a channel where a route names it, and gives the nodes of all definitions.
func (c *compiler) joinChannels(documents []document) []*form.Node {
	channels, used := map[string]*form.Node{}, map[string]bool{}
	var known []string
	var bodies []*form.Node
	broken := false // a route names a channel that there is not; one that none names may be the one that was meant
	for _, d := range documents {
		kind := d.node.Get("kind")
		switch {
		case d.file == headFile:
		case kind != nil && kind.Text == channelKind:
			name := d.node.Get("name")
			if name == nil {
				c.report.Add(d.node.At, "name", "the key is missing", "a route names its channel")
				continue
			}
			if channels[name.Text] != nil {
				c.report.Add(name.At, "name", fmt.Sprintf("there are two channels %q", name.Text), "rename one of the two")
				continue
			}
			channels[name.Text], known = without(d.node, "kind"), append(known, name.Text)
		default:
			bodies = append(bodies, d.node)
		}
	}
	for _, body := range bodies {
		at := slices.IndexFunc(body.Members, func(m form.Member) bool { return m.Name == "channel" })
		if at < 0 {
			continue
		}
		named := body.Members[at].Value
		channel := channels[named.Text]
		switch {
		case named.Kind != form.Scalar:
			c.report.Add(named.At, "channel", "a route names its channel", "move the channel into a file of its own, with kind: channel")
		case channel == nil:
			c.report.Add(named.At, "channel", fmt.Sprintf("there is no channel %q", named.Text), form.Among(named.Text, known))
		default:
			used[named.Text] = true
			body.Members[at].Value = channel
			continue
		}
		body.Members[at].Value, broken = &form.Node{At: named.At, Kind: form.Reported}, true
	}
	for _, name := range known {
		if !used[name] && !broken {
			c.report.Add(channels[name].At, "name", fmt.Sprintf("no route uses the channel %q", name), "write a route, or delete the channel")
		}
	}
	return bodies
}

func without(node *form.Node, name string) *form.Node {
	copied := *node
	copied.Members = slices.DeleteFunc(slices.Clone(node.Members), func(m form.Member) bool { return m.Name == name })
	return &copied
}

// define decodes and checks one definition by itself.
func (c *compiler) define(node *form.Node) {
	kind := node.Get("kind")
	if kind == nil || kind.Kind != form.Scalar {
		c.report.Add(node.At, "kind", "the key is missing", "write one of "+strings.Join(kindTexts(), ", "))
		return
	}
	binding, err := facts.ParseBindingKind(kind.Text)
	if err != nil {
		c.report.Add(kind.At, "kind", fmt.Sprintf("%q is no kind of definition", kind.Text), form.Among(kind.Text, kindTexts()))
		return
	}
	d := &definition{identity: facts.PackDefinition{Kind: binding}}
	switch binding {
	case facts.InboundRoute:
		route := &Route{}
		d.check = check{c.report, form.Decode(node, route, c.report)}
		d.check.route(route)
		d.body, d.identity.Version = route, route.Version
		if !route.Name.IsZero() {
			d.identity.ID, _ = facts.ParseKey[facts.DefinitionID](route.Name.String())
		}
		c.pack.routes = append(c.pack.routes, route)
	case facts.CalloutProfile:
		callout := &Callout{}
		d.check = check{c.report, form.Decode(node, callout, c.report)}
		d.check.callout(callout)
		d.body, d.identity.ID, d.identity.Version = callout, callout.Name, callout.Version
		c.pack.callouts = append(c.pack.callouts, callout)
	case facts.FieldMapping:
		mapping := &Mapping{}
		d.check = check{c.report, form.Decode(node, mapping, c.report)}
		d.check.mapping(mapping)
		d.body, d.identity.ID, d.identity.Version = mapping, mapping.Name, mapping.Version
		c.pack.mappings = append(c.pack.mappings, mapping)
	case facts.PushContract:
		push := &Push{}
		d.check = check{c.report, form.Decode(node, push, c.report)}
		d.body, d.identity.ID, d.identity.Version = push, push.Name, push.Version
		c.pack.pushes = append(c.pack.pushes, push)
	}
	c.all = append(c.all, d)
}

func kindTexts() []string {
	texts := []string{channelKind}
	for _, kind := range facts.BindingKinds() {
		texts = append(texts, kind.String())
	}
	return texts
}

// finish checks the definitions beside each other and orders them.
func (c *compiler) finish() (*Pack, error) {
	c.order()
	c.beside()
	if err := c.report.Err(); err != nil {
		return nil, err
	}
	return c.pack, c.pack.finish(c.all)
}

// order puts definitions into the order that does not depend on files.
func (c *compiler) order() {
	p := c.pack
	slices.SortStableFunc(c.all, func(a, b *definition) int { return a.identity.Compare(b.identity) })
	slices.SortFunc(p.routes, func(a, b *Route) int { return a.Name.Compare(b.Name) })
	slices.SortFunc(p.callouts, func(a, b *Callout) int { return a.Name.Compare(b.Name) })
	slices.SortFunc(p.mappings, func(a, b *Mapping) int { return a.Name.Compare(b.Name) })
	slices.SortFunc(p.pushes, func(a, b *Push) int { return a.Name.Compare(b.Name) })
}
