package platform

import (
	"context"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Pack is one pack generation to install.
type Pack struct {
	Name         facts.PackName
	Installation facts.PackInstallationID
	Generation   facts.PackGenerationID
	Payload      facts.Digest // the pack's own digest of its whole payload
	Definitions  []PackDefinition
}

// PackDefinition is one definition of a pack, in the pack's own canonical bytes.
type PackDefinition struct {
	Kind        serving.BindingKind
	Name        facts.DefinitionID
	Version     facts.DefinitionVersion
	Digest      facts.Digest // the pack's own, opaque here
	Canonical   []byte
	Credentials []owners.CredentialRef
	Runtime     serving.RuntimeCommand
}

// PublishPack installs a pack generation: the definitions at their owners and the manifest at the Catalog, all of it or
// nothing. Nothing is authorised by that. Installing the same again changes nothing.
//
// Refuses: GenerationMalformed, ContentDiffers (the same generation, or the same version of a definition, with other
// bytes), WrongState (another pack brought a version at the same moment), PublicationBarred.
func (o *Owners) PublishPack(ctx context.Context, p Pack) error {
	line, publication := o.packLine(p.Name), ledger.Publication{Scope: o.Scope()}
	manifest := owners.Manifest{Pack: p.Name, Installation: p.Installation, Payload: p.Payload, Generation: p.Generation}
	var definitions []owners.Exact
	for _, d := range p.Definitions {
		refs, err := owners.EncodeRefs(d.Credentials)
		if err != nil {
			return err
		}
		binding := serving.BindingIdentity{Kind: d.Kind, OwnerPack: p.Name, Installation: p.Installation, PackPayload: p.Payload,
			BusinessKey: d.Name, Version: d.Version, CredentialRefs: refs, Runtime: d.Runtime}
		sealed, err := owners.SealDefinition(o.Scope(), owners.Definition{Binding: binding, PackGeneration: p.Generation,
			Content: serving.OpaqueOf(d.Canonical), ContentDigest: d.Digest})
		if err != nil {
			return err
		}
		publication.Generations = append(publication.Generations, o.generation(d.Kind.Owner(), line(d.Kind.Owner()), sealed))
		manifest.Bindings, definitions = append(manifest.Bindings, binding), append(definitions, sealed)
	}
	slices.SortFunc(manifest.Bindings, owners.CompareBindings)
	sealed, err := owners.SealManifest(o.Scope(), manifest)
	if err != nil {
		return err
	}
	publication.Generations = append(publication.Generations, o.generation(serving.Catalog, line(serving.Catalog), sealed))
	if publication.Selects, err = o.versions(ctx, p, definitions); err != nil {
		return err
	}
	return errors.Wrapf(o.ledger.PublishGenerations(ctx, publication), "platform: pack %s", p.Name)
}

// packLine gives the line of a pack's generations at each owner. A line that is too long for a key has no digest, and
// no statement binds that.
func (o *Owners) packLine(pack facts.PackName) func(serving.Owner) serving.SelectorDigest {
	return func(owner serving.Owner) serving.SelectorDigest {
		sum := owners.Sum(owners.ManifestProtocol, []byte(pack.String()))
		line, err := o.line(owner, "pack/"+sum.String())
		if err != nil {
			return serving.SelectorDigest{}
		}
		return line
	}
}

// manifest reads an installed pack generation.
//
// Refuses: SubjectMissing (it is not installed).
func (o *Owners) manifest(ctx context.Context, generation facts.PackGenerationID) (owners.Manifest, owners.Exact, error) {
	name, err := owners.ManifestName(generation)
	if err != nil {
		return owners.Manifest{}, owners.Exact{}, err
	}
	exact, err := found(o.named(ctx, o.Scope(), serving.Catalog, name, nil), "pack generation "+generation.String(), o.author.Generation(o.Scope(), serving.Catalog, name))
	if err != nil {
		return owners.Manifest{}, owners.Exact{}, err
	}
	m, err := owners.OpenManifest(o.Scope(), exact)
	return m, exact, err
}

// found is what an answer of our own has, or why it has nothing.
func found(answer owners.Answer[owners.Exact], noun string, id serving.GenerationDigest) (owners.Exact, error) {
	exact, ok := answer.Value()
	switch {
	case ok:
		return exact, nil
	case answer.Standing() == owners.Absent:
		return exact, facts.Refuse(facts.SubjectMissing, facts.OfGeneration(noun, id.Digest), "")
	}
	return exact, errors.Wrapf(answer.Cause(), "platform: %s", noun)
}

// Authorise makes exactly the bindings of these installed pack generations the Catalog's current view, and gives its
// revision. If they are that already, nothing changes.
//
// Refuses: SubjectMissing (a pack generation is not installed), GenerationMalformed (two of them define the same),
// WrongState (another view came first), PublicationBarred.
func (o *Owners) Authorise(ctx context.Context, packs []facts.PackGenerationID) (serving.Revision, error) {
	lineage, err := o.lineage()
	if err != nil {
		return serving.Revision{}, err
	}
	line, err := o.line(serving.Catalog, viewLine)
	if err != nil {
		return serving.Revision{}, err
	}
	last, err := o.current(ctx, line)
	if err != nil {
		return serving.Revision{}, errors.Wrap(err, "platform: the current view")
	}
	view := owners.View{Organization: o.deployment.Organization, Installation: o.deployment.Installation, Workload: o.deployment.Workload,
		SecurityEpoch: 1, Capabilities: owners.Capabilities}
	publication := ledger.Publication{Scope: o.Scope()}
	var manifests []owners.Exact
	for _, generation := range packs {
		manifest, exact, err := o.manifest(ctx, generation)
		if err != nil {
			return serving.Revision{}, err
		}
		manifests = append(manifests, exact)
		view.Bindings = append(view.Bindings, manifest.Bindings...)
		publication.Requires = append(publication.Requires, ledger.GenerationName{Owner: serving.Catalog, Name: exact.Name})
	}
	slices.SortFunc(view.Bindings, owners.CompareBindings)
	view.SourceSnapshot = owners.Snapshot(manifests)
	if same, err := o.authorises(ctx, last, view); err != nil || same {
		return serving.Revision{Lineage: lineage, Number: last.Seq}, err
	}
	view.Revision = serving.Revision{Lineage: lineage, Number: last.Seq + 1}
	sealed, err := owners.SealView(o.Scope(), view)
	if err != nil {
		return serving.Revision{}, err
	}
	for _, b := range view.Bindings {
		name, err := owners.DefinitionName(b)
		if err != nil {
			return serving.Revision{}, err
		}
		publication.Requires = append(publication.Requires, ledger.GenerationName{Owner: b.Kind.Owner(), Name: name})
	}
	publication.Generations = []serving.Generation{o.generation(serving.Catalog, line, sealed)}
	publication.Selects = []ledger.Select{{Line: ledger.Line{Owner: serving.Catalog, Selector: line, At: last.Seq},
		Generation: ledger.GenerationName{Owner: serving.Catalog, Name: sealed.Name}}}
	return view.Revision, errors.Wrap(o.ledger.PublishGenerations(ctx, publication), "platform: the view")
}

// authorises tells whether the current view has this content.
func (o *Owners) authorises(ctx context.Context, last serving.Selection, view owners.View) (bool, error) {
	if last.Seq == 0 {
		return false, nil
	}
	current, err := o.view(ctx, last)
	return current.SourceSnapshot == view.SourceSnapshot && slices.Equal(current.Bindings, view.Bindings), err
}

// view opens the view of a selection.
func (o *Owners) view(ctx context.Context, at serving.Selection) (owners.View, error) {
	exact, err := found(o.exact(ctx, at.Generation), "the current view", at.Generation)
	if err != nil {
		return owners.View{}, err
	}
	return owners.OpenView(o.Scope(), exact)
}

// PublishConfiguration publishes a configuration generation and makes it current, after it was held against the current
// view and the credential generations that it names. Publishing what is current changes nothing.
//
// Refuses: GenerationMalformed (every fault of the relation is named), SubjectMissing (no view, or a generation went
// away), WrongState (the view or the configuration moved meanwhile), PublicationBarred.
func (o *Owners) PublishConfiguration(ctx context.Context, c owners.Configuration) (facts.ServiceConfigurationGeneration, error) {
	id, sealed, err := owners.SealConfiguration(o.Scope(), c)
	if err != nil {
		return id, err
	}
	line, err := o.line(serving.Configuration, configurationLine)
	if err != nil {
		return id, err
	}
	viewed, err := o.line(serving.Catalog, viewLine)
	if err != nil {
		return id, err
	}
	last, err := o.current(ctx, line)
	if err != nil {
		return id, errors.Wrap(err, "platform: the current configuration")
	}
	at, err := o.current(ctx, viewed)
	if err != nil {
		return id, errors.Wrap(err, "platform: the current view")
	}
	view := owners.View{}
	if at.Seq > 0 {
		if view, err = o.view(ctx, at); err != nil {
			return id, err
		}
	}
	generations, err := o.Credentials(ctx, c.Generations())
	if err != nil {
		return id, err
	}
	if err := owners.CheckConfiguration(c, view, generations); err != nil {
		return id, err
	}
	publication := ledger.Publication{Scope: o.Scope(), Generations: []serving.Generation{o.generation(serving.Configuration, line, sealed)},
		Premises: []ledger.Line{{Owner: serving.Catalog, Selector: viewed, At: at.Seq}}}
	for _, generation := range c.Generations() {
		name, err := owners.CredentialName(generation)
		if err != nil {
			return id, err
		}
		publication.Requires = append(publication.Requires, ledger.GenerationName{Owner: serving.Credentials, Name: name})
	}
	if last.Generation != publication.Generations[0].ID {
		publication.Selects = []ledger.Select{{Line: ledger.Line{Owner: serving.Configuration, Selector: line, At: last.Seq},
			Generation: ledger.GenerationName{Owner: serving.Configuration, Name: sealed.Name}}}
	}
	return id, errors.Wrap(o.ledger.PublishGenerations(ctx, publication), "platform: the configuration")
}

// Credentials are those of the generations that can be read, opened.
func (o *Owners) Credentials(ctx context.Context, ids []facts.CredentialGenerationID) (map[facts.CredentialGenerationID]owners.CredentialGeneration, error) {
	var generations []serving.Generation
	for _, id := range ids {
		name, err := owners.CredentialName(id)
		if err != nil {
			return nil, err
		}
		generations = append(generations, serving.Generation{ID: o.author.Generation(o.Scope(), serving.Credentials, name)})
	}
	rows, err := readers.Many(ctx, o.reader, schema.OwnerGenerations, generations, 1)
	if err != nil {
		return nil, errors.Wrap(err, "platform: credential generations")
	}
	present, err := o.present(ctx, rows)
	if err != nil {
		return nil, errors.Wrap(err, "platform: credential generations")
	}
	all := make(map[facts.CredentialGenerationID]owners.CredentialGeneration, len(rows))
	for _, row := range rows {
		if !present[row.ID] {
			continue
		}
		c, err := owners.OpenCredential(o.Scope(), exactOf(row))
		if err != nil {
			return nil, err
		}
		all[c.ID] = c
	}
	return all, nil
}
