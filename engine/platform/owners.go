package platform

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/machines"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Owners is our reference implementation of the seven owners, in the deployment's own database: immutable generations,
// what is current of them, and a publication barrier for each owner. It is safe for concurrent use.
//
// What it publishes takes effect with a successor epoch and changes nothing that serves now (R44).
type Owners struct {
	ledger     *ledger.Ledger
	reader     *readers.Reader
	author     serving.Author
	deployment serving.Founded
}

// OpenOwners opens the owners of the deployment that this database was founded as.
//
// Refuses: ConfigurationInvalid (none was founded).
func OpenOwners(ctx context.Context, l *ledger.Ledger, r *readers.Reader) (*Owners, error) {
	author, err := serving.AuthorOf(facts.ProfileV2)
	if err != nil {
		return nil, err
	}
	founded, found, err := standing(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("deployment"), "this database was not founded yet: run 'connector deployment found'")
	case author.Scope(founded.Deployment) != founded.Scope:
		return nil, errors.AssertionFailedf("the stored scope %s of deployment %s is not the one that it derives to", founded.Scope, founded.ID)
	}
	return &Owners{l, r, author, founded}, nil
}

// Deployment is what this database was founded as.
func (o *Owners) Deployment() serving.Deployment { return o.deployment.Deployment }

// Scope is the deployment's scope.
func (o *Owners) Scope() serving.Scope { return o.deployment.Scope }

// Set is the owners behind their ports.
func (o *Owners) Set() owners.Set {
	definitions := func(kind serving.BindingKind) owners.Definitions {
		return definitionOwner{barrier{o, kind.Owner()}}
	}
	return owners.Set{
		Catalog:         catalogOwner{barrier{o, serving.Catalog}},
		InboundRoutes:   definitions(serving.InboundRoute),
		CalloutProfiles: definitions(serving.CalloutProfile),
		FieldMappings:   definitions(serving.FieldMapping),
		PushContracts:   definitions(serving.PushContract),
		Configuration:   configurationOwner{barrier{o, serving.Configuration}},
		Credentials:     credentialOwner{barrier{o, serving.Credentials}},
	}
}

// The lines of generations of which one is current.
const (
	viewLine          = "view"
	configurationLine = "configuration"
)

// line names a line of an owner.
func (o *Owners) line(owner serving.Owner, name string) (serving.SelectorDigest, error) {
	key, err := facts.ParseKey[serving.Name](name)
	return o.author.Selector(o.Scope(), owner, key), err
}

// credentialLine is the line of one credential of one account: its generations follow each other by rotation.
func (o *Owners) credentialLine(c owners.CredentialGeneration) (serving.SelectorDigest, error) {
	sum := owners.Sum(owners.CredentialProtocol, []byte(c.Account.String()+"\x00"+c.Provider.String()+"\x00"+c.Identity.String()))
	return o.line(serving.Credentials, "credential/"+sum.String())
}

// generation is the stored form of what an owner seals.
func (o *Owners) generation(owner serving.Owner, line serving.SelectorDigest, e owners.Exact) serving.Generation {
	return serving.Generation{
		ID: o.author.Generation(o.Scope(), owner, e.Name), Scope: o.Scope(), Owner: owner, Name: e.Name, Selector: line,
		Protocol: e.Protocol, Digest: e.Digest, Canonical: e.Canonical, Receipt: e.Receipt,
	}
}

func exactOf(g serving.Generation) owners.Exact {
	return owners.Exact{Name: g.Name, Protocol: g.Protocol, Canonical: g.Canonical, Digest: g.Digest, Receipt: g.Receipt}
}

// exact answers for one generation by its digest. The standing is read last, so that what is answered as found was
// there when it was asked for.
func (o *Owners) exact(ctx context.Context, id serving.GenerationDigest) owners.Answer[owners.Exact] {
	row, found, err := readers.One(ctx, o.reader, schema.OwnerGenerations, func(g *serving.Generation) { g.ID = id })
	if err != nil {
		return owners.Nobody[owners.Exact](err)
	}
	standing, known, err := readers.Last(ctx, o.reader, schema.OwnerStandings, 1, func(s *serving.Standing) { s.Generation = id })
	switch {
	case err != nil:
		return owners.Nobody[owners.Exact](err)
	case !known || !standing.Present:
		return owners.None[owners.Exact]()
	case !found:
		return owners.Nobody[owners.Exact](errors.AssertionFailedf("generation %s can be read and has no bytes", id))
	}
	return owners.Have(exactOf(row))
}

// named answers for one generation by its owner's name of it, in whatever scope was asked for.
func (o *Owners) named(ctx context.Context, scope serving.Scope, owner serving.Owner, name serving.Name, err error) owners.Answer[owners.Exact] {
	if err != nil {
		return owners.None[owners.Exact]() // what cannot be named was never published
	}
	return o.exact(ctx, o.author.Generation(scope, owner, name))
}

// exacts answers for many generations by their digests, each as exact does, with two statements for each 256 of them.
func (o *Owners) exacts(ctx context.Context, ids []serving.GenerationDigest) []owners.Answer[owners.Exact] {
	all := make([]owners.Answer[owners.Exact], len(ids))
	asked, standings := make([]serving.Generation, len(ids)), make([]serving.Standing, len(ids))
	for i, id := range ids {
		asked[i].ID, standings[i].Generation = id, id
	}
	rows, err := readers.Many(ctx, o.reader, schema.OwnerGenerations, asked, 1)
	if err == nil {
		standings, err = readers.Many(ctx, o.reader, schema.OwnerStandings, standings, 1) // last, as in exact
	}
	if err != nil {
		for i := range all {
			all[i] = owners.Nobody[owners.Exact](err)
		}
		return all
	}
	present := map[serving.GenerationDigest]bool{}
	for _, s := range standings { // in the order of their seq
		present[s.Generation] = s.Present
	}
	known := map[serving.GenerationDigest]serving.Generation{}
	for _, row := range rows {
		known[row.ID] = row
	}
	for i, id := range ids {
		row, found := known[id]
		switch {
		case !present[id]:
			all[i] = owners.None[owners.Exact]()
		case !found:
			all[i] = owners.Nobody[owners.Exact](errors.AssertionFailedf("generation %s can be read and has no bytes", id))
		default:
			all[i] = owners.Have(exactOf(row))
		}
	}
	return all
}

// manyNamed answers for many generations by their owner's names of them. One that cannot be named was never published.
func (o *Owners) manyNamed(ctx context.Context, scope serving.Scope, owner serving.Owner, count int, name func(int) (serving.Name, error)) []owners.Answer[owners.Exact] {
	all := make([]owners.Answer[owners.Exact], count)
	var ids []serving.GenerationDigest
	var places []int
	for i := range all {
		named, err := name(i)
		if err != nil {
			all[i] = owners.None[owners.Exact]()
			continue
		}
		ids, places = append(ids, o.author.Generation(scope, owner, named)), append(places, i)
	}
	for i, answer := range o.exacts(ctx, ids) {
		all[places[i]] = answer
	}
	return all
}

// current is the present selection of a line; none has the seq 0.
func (o *Owners) current(ctx context.Context, line serving.SelectorDigest) (serving.Selection, error) {
	last, _, err := readers.Last(ctx, o.reader, schema.OwnerSelections, 1, func(s *serving.Selection) { s.Selector = line })
	return last, err
}

type catalogOwner struct{ barrier }

func (c catalogOwner) CurrentView(ctx context.Context, scope serving.Scope, least serving.Revision) owners.Answer[owners.Exact] {
	lineage, err := c.owners.lineage()
	if err != nil {
		return owners.Nobody[owners.Exact](err)
	}
	name, err := facts.ParseKey[serving.Name](viewLine)
	if err != nil {
		return owners.Nobody[owners.Exact](err)
	}
	last, err := c.owners.current(ctx, c.owners.author.Selector(scope, serving.Catalog, name))
	switch {
	case err != nil:
		return owners.Nobody[owners.Exact](err)
	case least.Lineage != lineage || last.Seq == 0:
		return owners.None[owners.Exact]()
	case last.Seq < least.Number:
		return owners.Nobody[owners.Exact](errors.Newf("the Catalog stands at revision %d, and %d was asked for", last.Seq, least.Number))
	}
	return c.owners.exact(ctx, last.Generation)
}

type definitionOwner struct{ barrier }

func (d definitionOwner) Definition(ctx context.Context, scope serving.Scope, identity serving.BindingIdentity) owners.Answer[owners.Exact] {
	name, err := owners.DefinitionName(identity)
	return d.owners.named(ctx, scope, d.owner, name, err)
}

// SeveralDefinitions implements owners.SeveralDefinitions.
func (d definitionOwner) SeveralDefinitions(ctx context.Context, scope serving.Scope, identities []serving.BindingIdentity) []owners.Answer[owners.Exact] {
	return d.owners.manyNamed(ctx, scope, d.owner, len(identities), func(i int) (serving.Name, error) { return owners.DefinitionName(identities[i]) })
}

type configurationOwner struct{ barrier }

func (c configurationOwner) Configuration(ctx context.Context, scope serving.Scope, generation facts.ServiceConfigurationGeneration) owners.Answer[owners.Exact] {
	name, err := owners.ConfigurationName(generation)
	return c.owners.named(ctx, scope, c.owner, name, err)
}

type credentialOwner struct{ barrier }

func (c credentialOwner) Credential(ctx context.Context, scope serving.Scope, generation facts.CredentialGenerationID) owners.Answer[owners.Exact] {
	name, err := owners.CredentialName(generation)
	return c.owners.named(ctx, scope, c.owner, name, err)
}

// SeveralCredentials implements owners.SeveralCredentials.
func (c credentialOwner) SeveralCredentials(ctx context.Context, scope serving.Scope, generations []facts.CredentialGenerationID) []owners.Answer[owners.Exact] {
	return c.owners.manyNamed(ctx, scope, c.owner, len(generations), func(i int) (serving.Name, error) { return owners.CredentialName(generations[i]) })
}

// barrier is one owner's publication barrier.
type barrier struct {
	owners *Owners
	owner  serving.Owner
}

func (b barrier) ask(ask owners.Ask) []ledger.BarrierAsk {
	return []ledger.BarrierAsk{{Scope: ask.Scope, Owner: b.owner, Attempt: ask.Attempt, Fence: ask.Fence}}
}

// Acquire implements owners.Barrier.
func (b barrier) Acquire(ctx context.Context, ask owners.Ask) (owners.Hold, error) {
	verdicts, err := b.owners.ledger.HoldBarriers(ctx, b.ask(ask))
	switch {
	case err != nil:
		return owners.Hold{}, errors.Wrapf(err, "platform: the barrier of %s", b.owner)
	case verdicts[0].Refusal != nil:
		return owners.Hold{}, verdicts[0].Refusal
	}
	return owners.SealHold(b.owner, ask.Scope, ask.Attempt, verdicts[0].Barrier.HeldAt)
}

// Verify implements owners.Barrier.
func (b barrier) Verify(ctx context.Context, hold owners.Hold) owners.Answer[owners.Hold] {
	guard, born, err := readers.Standing(ctx, b.owners.reader, schema.OwnerBarrierGuards, b.owners.author.Barrier(hold.Scope, b.owner).ID)
	if err != nil {
		return owners.Nobody[owners.Hold](err)
	}
	if !born || guard.State != machines.OwnerPublicationBarrierHeld {
		return owners.None[owners.Hold]()
	}
	stands, err := owners.SealHold(b.owner, hold.Scope, guard.Row.Attempt, guard.Row.HeldAt)
	switch {
	case err != nil:
		return owners.Nobody[owners.Hold](err)
	case stands != hold:
		return owners.None[owners.Hold]()
	}
	return owners.Have(hold)
}

// Release implements owners.Barrier.
func (b barrier) Release(ctx context.Context, ask owners.Ask) error {
	verdicts, err := b.owners.ledger.ReleaseBarriers(ctx, b.ask(ask))
	switch {
	case err != nil:
		return errors.Wrapf(err, "platform: the barrier of %s", b.owner)
	case verdicts[0].Refusal != nil:
		return verdicts[0].Refusal
	}
	return nil
}

// lineage is the line of the Catalog's revisions: a database that was founded anew has another one.
func (o *Owners) lineage() (facts.Lineage, error) {
	return facts.ParseKey[facts.Lineage]("deployment-" + o.deployment.ID.String())
}
