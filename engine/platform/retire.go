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

// UninstallPack ends the reading of a pack generation: its manifest and its definitions. What was uninstalled before is
// as good as uninstalled.
//
// Refuses: SubjectMissing (never installed), GenerationReferenced (the current view authorises it, or an epoch that may
// still serve froze it), WrongState (the view moved meanwhile), PublicationBarred.
func (o *Owners) UninstallPack(ctx context.Context, generation facts.PackGenerationID) error {
	name, err := owners.ManifestName(generation)
	if err != nil {
		return err
	}
	id := o.author.Generation(o.Scope(), serving.Catalog, name)
	// Its row, whether it can still be read or not: an uninstallation that comes twice must find the same.
	row, known, err := readers.One(ctx, o.reader, schema.OwnerGenerations, func(g *serving.Generation) { g.ID = id })
	switch {
	case err != nil:
		return errors.Wrapf(err, "platform: pack generation %s", generation)
	case !known:
		return facts.Refuse(facts.SubjectMissing, facts.OfGeneration("pack generation "+generation.String(), id.Digest), "it was never installed")
	}
	manifest, err := owners.OpenManifest(o.Scope(), exactOf(row))
	if err != nil {
		return err
	}
	premise, view, err := o.currentView(ctx)
	if err != nil {
		return err
	}
	removal := ledger.Removal{Scope: o.Scope(), Premises: []ledger.Line{premise},
		Generations: []ledger.GenerationName{{Owner: serving.Catalog, Name: name}}}
	for _, b := range manifest.Bindings {
		if slices.Contains(view.Bindings, b) {
			return facts.Refuse(facts.GenerationReferenced, facts.OfGeneration("pack generation "+generation.String(), id.Digest),
				"the current view, revision %d, authorises its %s %s", view.Revision.Number, b.Kind, b.BusinessKey)
		}
		name, err := owners.DefinitionName(b)
		if err != nil {
			return err
		}
		removal.Generations = append(removal.Generations, ledger.GenerationName{Owner: b.Kind.Owner(), Name: name})
	}
	return errors.Wrapf(o.ledger.RemoveGenerations(ctx, removal), "platform: pack generation %s", generation)
}

// currentView is the current view with the premise that it still is; no view is the zero View.
func (o *Owners) currentView(ctx context.Context) (ledger.Line, owners.View, error) {
	line, err := o.line(serving.Catalog, viewLine)
	if err != nil {
		return ledger.Line{}, owners.View{}, err
	}
	last, err := o.current(ctx, line)
	if err != nil {
		return ledger.Line{}, owners.View{}, errors.Wrap(err, "platform: the current view")
	}
	premise := ledger.Line{Owner: serving.Catalog, Selector: line, At: last.Seq}
	if last.Seq == 0 {
		return premise, owners.View{}, nil
	}
	view, err := o.view(ctx, last)
	return premise, view, err
}

// currentConfiguration is the current configuration with the premise that it still is; none is the zero Configuration.
func (o *Owners) currentConfiguration(ctx context.Context) (ledger.Line, owners.Configuration, error) {
	line, err := o.line(serving.Configuration, configurationLine)
	if err != nil {
		return ledger.Line{}, owners.Configuration{}, err
	}
	last, err := o.current(ctx, line)
	if err != nil {
		return ledger.Line{}, owners.Configuration{}, errors.Wrap(err, "platform: the current configuration")
	}
	premise := ledger.Line{Owner: serving.Configuration, Selector: line, At: last.Seq}
	if last.Seq == 0 {
		return premise, owners.Configuration{}, nil
	}
	exact, err := found(o.exact(ctx, last.Generation), "the current configuration", last.Generation)
	if err != nil {
		return premise, owners.Configuration{}, err
	}
	c, err := owners.OpenConfiguration(o.Scope(), exact)
	return premise, c, err
}

// Retained says what retention did with one generation.
type Retained struct {
	Name    serving.Name
	Removed bool
	Why     error // of one that was kept although its time had come: what still references it
}

// RetainViews removes the views that were current before the last keep ones, and RetainConfigurations likewise. What an
// epoch that may still serve references is kept and said so. At least the current one is always kept.
//
// Refuses: PublicationBarred.
func (o *Owners) RetainViews(ctx context.Context, keep int) ([]Retained, error) {
	line, err := o.line(serving.Catalog, viewLine)
	if err != nil {
		return nil, err
	}
	return o.retain(ctx, serving.Catalog, line, keep)
}

// RetainConfigurations is RetainViews for configuration generations.
func (o *Owners) RetainConfigurations(ctx context.Context, keep int) ([]Retained, error) {
	line, err := o.line(serving.Configuration, configurationLine)
	if err != nil {
		return nil, err
	}
	return o.retain(ctx, serving.Configuration, line, keep)
}

func (o *Owners) retain(ctx context.Context, owner serving.Owner, line serving.SelectorDigest, keep int) ([]Retained, error) {
	history, err := readers.Many(ctx, o.reader, schema.OwnerSelections, []serving.Selection{{Selector: line}}, 1)
	if err != nil {
		return nil, errors.Wrapf(err, "platform: retention at %s", owner)
	}
	slices.Reverse(history)
	seen := map[serving.GenerationDigest]bool{}
	var all []Retained
	for _, selection := range history {
		if seen[selection.Generation] {
			continue
		}
		seen[selection.Generation] = true
		if len(seen) <= max(keep, 1) {
			continue
		}
		// One at a time: a generation may be megabytes.
		row, known, err := readers.One(ctx, o.reader, schema.OwnerGenerations, func(g *serving.Generation) { g.ID = selection.Generation })
		if err != nil || !known {
			return all, errors.Wrapf(err, "platform: retention at %s", owner)
		}
		err = o.ledger.RemoveGenerations(ctx, ledger.Removal{Scope: o.Scope(), Generations: []ledger.GenerationName{{Owner: owner, Name: row.Name}}})
		switch {
		case err == nil:
			all = append(all, Retained{Name: row.Name, Removed: true})
		case errors.Is(err, facts.GenerationReferenced):
			all = append(all, Retained{Name: row.Name, Why: err})
		default:
			return all, errors.Wrapf(err, "platform: retention at %s", owner)
		}
	}
	return all, nil
}
