package pack

import (
	"bytes"
	"slices"

	"github.com/cockroachdb/errors"

	"connectorcore/engine/pack/expr"
	"connectorcore/engine/pack/form"
	"connectorcore/facts"
)

// Head is what a pack says of itself, in pack.yaml.
type Head struct {
	Format   string             `pack:"format,required,oneof=1"`
	Name     facts.DefinitionID `pack:"name,required"`
	Title    string             `pack:"title,required,as=line"`
	Requires []string           `pack:"requires,required,oneof=webhook|callout|query,max=8"`
}

// Pack is one compiled generation. It never changes, and any number of goroutines may read it.
type Pack struct {
	head        Head
	routes      []*Route
	callouts    []*Callout
	mappings    []*Mapping
	pushes      []*Push
	definitions []Definition
	canonical   []byte
	payload     facts.Digest
	generation  facts.PackGenerationID
}

// Definition is one definition as its owner publishes it: what it is, its digest, and the exact bytes.
//
// Spec: Existing foundations and schema ownership (the exact definition generation and its receipt).
type Definition struct {
	facts.DigestedDefinition
	canonical []byte
}

// Canonical is the definition's canonical bytes, in a copy of the caller's own.
func (d Definition) Canonical() []byte { return bytes.Clone(d.canonical) }

// Head is what the pack says of itself.
func (p *Pack) Head() Head {
	head := p.head
	head.Requires = slices.Clone(head.Requires)
	return head
}

// Canonical is the whole pack's canonical bytes, of which Load makes the same Pack.
func (p *Pack) Canonical() []byte { return bytes.Clone(p.canonical) }

// Digest is the pack's payload digest under profile v2.
func (p *Pack) Digest() facts.Digest { return p.payload }

// Generation is the pack's storage id: the same for the same folder on every machine.
func (p *Pack) Generation() facts.PackGenerationID { return p.generation }

// Definitions are all definitions, ordered by kind and name.
func (p *Pack) Definitions() []Definition { return slices.Clone(p.definitions) }

// Routes are the inbound routes, ordered by name.
func (p *Pack) Routes() []*Route { return slices.Clone(p.routes) }

// Pushes are the push contracts, ordered by name.
func (p *Pack) Pushes() []*Push { return slices.Clone(p.pushes) }

// Channels are the channels of the pack's routes, each once, ordered by name.
func (p *Pack) Channels() []*Channel {
	var all []*Channel
	for _, route := range p.routes {
		if !slices.ContainsFunc(all, func(c *Channel) bool { return c.Name == route.Channel.Name }) {
			all = append(all, &route.Channel)
		}
	}
	slices.SortFunc(all, func(a, b *Channel) int { return a.Name.Compare(b.Name) })
	return all
}

// Channel finds a channel.
func (p *Pack) Channel(name facts.Channel) (*Channel, bool) {
	for _, channel := range p.Channels() {
		if channel.Name == name {
			return channel, true
		}
	}
	return nil, false
}

// Mapping finds a field mapping.
func (p *Pack) Mapping(name facts.DefinitionID) (*Mapping, bool) {
	return found(p.mappings, func(m *Mapping) bool { return m.Name == name })
}

// Callout finds a callout profile.
func (p *Pack) Callout(name facts.DefinitionID) (*Callout, bool) {
	return found(p.callouts, func(c *Callout) bool { return c.Name == name })
}

// Push finds a push contract.
func (p *Pack) Push(name facts.DefinitionID) (*Push, bool) {
	return found(p.pushes, func(c *Push) bool { return c.Name == name })
}

func found[T any](list []*T, is func(*T) bool) (*T, bool) {
	at := slices.IndexFunc(list, is)
	if at < 0 {
		return nil, false
	}
	return list[at], true
}

// finish makes the canonical bytes and digests of a pack that was found sound, and readies its expressions.
func (p *Pack) finish(all []*definition) error {
	author, err := facts.ProfileV2.Author()
	if err != nil {
		return err
	}
	headNode, err := form.Encode(&p.head)
	if err != nil {
		return err
	}
	list, digested, err := p.digest(author, all)
	if err != nil {
		return err
	}
	p.canonical = form.AppendCanonical(nil, &form.Node{Kind: form.Map, Members: []form.Member{
		{Name: "pack", Value: headNode}, {Name: "definitions", Value: list}}})
	p.payload = author.PackPayload(form.AppendCanonical(nil, headNode), digested)
	p.generation = author.PackGeneration(p.payload)
	if p.payload.IsZero() {
		return errors.AssertionFailedf("the pack %s has no digest", p.head.Name)
	}
	return p.contracts(author)
}

// digest gives each definition its canonical bytes and digest, and readies its expressions.
func (p *Pack) digest(author facts.Author, all []*definition) (*form.Node, []facts.DigestedDefinition, error) {
	list := &form.Node{Kind: form.List}
	digested := make([]facts.DigestedDefinition, 0, len(all))
	for _, d := range all {
		node, err := form.Encode(d.body)
		if err != nil {
			return nil, nil, errors.Wrapf(err, "definition %s", d.identity.ID)
		}
		canonical := form.AppendCanonical(nil, node)
		one := facts.DigestedDefinition{PackDefinition: d.identity, Digest: author.PackDefinition(d.identity, canonical)}
		list.Items, digested = append(list.Items, node), append(digested, one)
		p.definitions = append(p.definitions, Definition{one, canonical})
		if err := d.bind(); err != nil {
			return nil, nil, err
		}
	}
	return list, digested, nil
}

// contracts digests the ordering contract of each route that depends on order.
func (p *Pack) contracts(author facts.Author) error {
	for _, route := range p.routes {
		if route.Ordering.Independent() {
			continue
		}
		canonical, err := orderingBytes(route)
		if err != nil {
			return err
		}
		route.contract = author.OrderingContract(canonical)
	}
	return nil
}

func orderingBytes(route *Route) ([]byte, error) {
	node, err := form.Encode(&route.Ordering)
	if err != nil {
		return nil, errors.Wrapf(err, "the ordering of route %s", route.Name)
	}
	return form.AppendCanonical(nil, node), nil
}

// bind readies every expression of a definition under its own limit; those of a channel have the channel's.
func (d *definition) bind() error {
	cost := int64(0)
	switch body := d.body.(type) {
	case *Route:
		cost = body.Limits.Cost
	case *Mapping:
		cost = body.Limits.Cost
	case *Push:
		cost = body.Limits.Cost
	}
	if err := bindAll(d.body, cost); err != nil {
		return err
	}
	if route, ok := d.body.(*Route); ok {
		return bindAll(&route.Channel, route.Channel.Limits.Cost)
	}
	return nil
}

func bindAll(in any, cost int64) error {
	return form.EachReader(in, func(reader form.Reader) error {
		expression, ok := reader.(*expr.Expression)
		if !ok {
			return errors.AssertionFailedf("a definition holds %T", reader)
		}
		return expression.Bind(cost)
	})
}
