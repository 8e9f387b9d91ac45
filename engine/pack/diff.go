package pack

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"connectorcore/engine/pack/form"
	"connectorcore/facts"
)

// Change is one difference between two generations of a pack.
type Change struct {
	Definition facts.PackDefinition // zero for what the pack says of itself
	What       string               // added, removed, or the frozen key that differs: ordering.position
	From, To   string               // its canonical text; empty where it is absent
}

const sameVersion = "differs under one version: give the changed one another version"

// String is one line.
func (c Change) String() string {
	subject := "pack"
	if c.Definition.Kind != 0 {
		subject = c.Definition.Kind.String() + " " + c.Definition.ID.String()
	}
	if c.From == "" && c.To == "" {
		return subject + ": " + c.What
	}
	return fmt.Sprintf("%s: %s: %s -> %s", subject, c.What, orAbsent(c.From), orAbsent(c.To))
}

func orAbsent(text string) string {
	if text == "" {
		return "(absent)"
	}
	return text
}

// Diff lists which frozen bytes differ between two generations, definition by definition and key by key; none if and
// only if both have one digest. Whatever it lists takes effect with a successor epoch, which begins when the work of
// its predecessor is drained: bytes that an epoch froze never change (R44). A definition that changes
// under one version is listed with that as its first line: one version names one content, so it needs another.
func Diff(from, to *Pack) ([]Change, error) {
	var changes []Change
	changes, err := compare(changes, facts.PackDefinition{}, headBytes(from), headBytes(to))
	if err != nil {
		return nil, err
	}
	for _, d := range unite(from, to) {
		before, was := canonicalOf(from, d)
		after, is := canonicalOf(to, d)
		switch {
		case !was:
			changes = append(changes, Change{Definition: d, What: "added"})
		case !is:
			changes = append(changes, Change{Definition: d, What: "removed"})
		default:
			count := len(changes)
			if changes, err = compare(changes, d, before, after); err != nil {
				return nil, err
			}
			versioned := slices.ContainsFunc(changes[count:], func(c Change) bool { return c.What == "version" })
			if len(changes) > count && !versioned {
				changes = slices.Insert(changes, count, Change{Definition: d, What: sameVersion})
			}
		}
	}
	return changes, nil
}

func headBytes(p *Pack) []byte {
	node, err := form.Encode(&p.head)
	if err != nil {
		return nil
	}
	return form.AppendCanonical(nil, node)
}

// unite lists the definitions of both packs by kind and name, without a version.
func unite(from, to *Pack) []facts.PackDefinition {
	var all []facts.PackDefinition
	for _, d := range slices.Concat(from.definitions, to.definitions) {
		all = append(all, facts.PackDefinition{Kind: d.Kind, ID: d.ID})
	}
	slices.SortFunc(all, facts.PackDefinition.Compare)
	return slices.Compact(all)
}

func canonicalOf(p *Pack, of facts.PackDefinition) ([]byte, bool) {
	for _, d := range p.definitions {
		if d.Kind == of.Kind && d.ID == of.ID {
			return d.canonical, true
		}
	}
	return nil, false
}

func compare(changes []Change, of facts.PackDefinition, before, after []byte) ([]Change, error) {
	if bytes.Equal(before, after) {
		return changes, nil
	}
	a, err := form.ReadCanonical(before)
	if err != nil {
		return nil, err
	}
	b, err := form.ReadCanonical(after)
	if err != nil {
		return nil, err
	}
	was, is := map[string]string{}, map[string]string{}
	leaves(was, a, "")
	leaves(is, b, "")
	var paths []string
	for path := range was {
		paths = append(paths, path)
	}
	for path := range is {
		if _, both := was[path]; !both {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		if was[path] != is[path] {
			changes = append(changes, Change{of, path, was[path], is[path]})
		}
	}
	return changes, nil
}

// leaves collects every single value of a node by its path.
func leaves(into map[string]string, node *form.Node, path string) {
	switch node.Kind {
	case form.List:
		for i, item := range node.Items {
			leaves(into, item, fmt.Sprintf("%s[%d]", path, i))
		}
	case form.Map:
		for _, m := range node.Members {
			leaves(into, m.Value, strings.TrimPrefix(path+"."+m.Name, "."))
		}
	default:
		into[path] = node.Text
	}
}
