package platform

import (
	"context"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/machines"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Active is the epoch that serves now, if one does. It is for saying what a publication means: between this reading and
// the next statement another may have been activated.
func (o *Owners) Active(ctx context.Context) (facts.EpochID, bool, error) {
	guards, err := readers.Standings(ctx, o.reader, schema.Epochs)
	for _, g := range guards {
		if g.State == machines.ServingEpochActive {
			return g.Row.Epoch, true, nil
		}
	}
	return facts.EpochID{}, false, errors.Wrap(err, "platform: the active epoch")
}

// View is the Catalog's current view. One that was never made has the revision 0 and no binding.
func (o *Owners) View(ctx context.Context) (owners.View, error) {
	_, view, err := o.currentView(ctx)
	return view, err
}

// Configuration is the tenant's current configuration with its generation, which is zero if there is none.
func (o *Owners) Configuration(ctx context.Context) (facts.ServiceConfigurationGeneration, owners.Configuration, error) {
	premise, c, err := o.currentConfiguration(ctx)
	if err != nil || premise.At == 0 {
		return facts.ServiceConfigurationGeneration{}, c, err
	}
	id, _, err := owners.SealConfiguration(o.Scope(), c)
	return id, c, err
}

// manifestNames are the names that owners.ManifestName gives, from the first and below the last.
var manifestNames = [2]string{"pack/", "pack0"}

// Packs are the pack generations that are installed now, in the order of their packs. It reads all that was ever
// published.
func (o *Owners) Packs(ctx context.Context) ([]owners.Manifest, error) {
	rows, err := readers.Between(ctx, o.reader, schema.OwnerGenerations, "name", []byte(manifestNames[0]), []byte(manifestNames[1]))
	if err != nil {
		return nil, errors.Wrap(err, "platform: installed packs")
	}
	rows = slices.DeleteFunc(rows, func(g serving.Generation) bool { return g.Owner != serving.Catalog || g.Scope != o.Scope() })
	present, err := o.present(ctx, rows)
	if err != nil {
		return nil, errors.Wrap(err, "platform: installed packs")
	}
	var all []owners.Manifest
	for _, row := range rows {
		if !present[row.ID] {
			continue
		}
		m, err := owners.OpenManifest(o.Scope(), exactOf(row))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b owners.Manifest) int {
		if by := a.Pack.Compare(b.Pack); by != 0 {
			return by
		}
		return a.Generation.Compare(b.Generation)
	})
	return all, nil
}

// present tells which generations can be read.
func (o *Owners) present(ctx context.Context, rows []serving.Generation) (map[serving.GenerationDigest]bool, error) {
	asked := make([]serving.Standing, len(rows))
	for i, row := range rows {
		asked[i].Generation = row.ID
	}
	standings, err := readers.Many(ctx, o.reader, schema.OwnerStandings, asked, 1)
	present := map[serving.GenerationDigest]bool{}
	for _, s := range standings { // in the order of their seq
		present[s.Generation] = s.Present
	}
	return present, err
}

// CredentialLine is one credential of one account: its generations follow each other by rotation.
type CredentialLine struct {
	Account  facts.AccountID
	Provider facts.ProviderScope
	Identity facts.CredentialIdentity
}

// LineOf is the line of a generation.
func LineOf(c owners.CredentialGeneration) CredentialLine {
	return CredentialLine{c.Account, c.Provider, c.Identity}
}

// CurrentCredentials are the current generations of those lines that have one.
func (o *Owners) CurrentCredentials(ctx context.Context, lines []CredentialLine) (map[CredentialLine]owners.CredentialGeneration, error) {
	asked := make([]serving.Selection, len(lines))
	for i, line := range lines {
		selector, err := o.credentialLine(owners.CredentialGeneration{Account: line.Account, Provider: line.Provider, Identity: line.Identity})
		if err != nil {
			return nil, err
		}
		asked[i].Selector = selector
	}
	history, err := readers.Many(ctx, o.reader, schema.OwnerSelections, asked, 1)
	if err != nil {
		return nil, errors.Wrap(err, "platform: current credentials")
	}
	last := map[serving.SelectorDigest]serving.GenerationDigest{}
	for _, s := range history { // in the order of their seq
		last[s.Selector] = s.Generation
	}
	var wanted []serving.Generation
	for _, generation := range last {
		wanted = append(wanted, serving.Generation{ID: generation})
	}
	rows, err := readers.Many(ctx, o.reader, schema.OwnerGenerations, wanted, 1)
	if err != nil {
		return nil, errors.Wrap(err, "platform: current credentials")
	}
	current := map[CredentialLine]owners.CredentialGeneration{}
	for _, row := range rows {
		c, err := owners.OpenCredential(o.Scope(), exactOf(row))
		if err != nil {
			return nil, err
		}
		current[LineOf(c)] = c
	}
	return current, nil
}

// ListedCredential is a credential generation with what stands about it.
type ListedCredential struct {
	ID         facts.CredentialGenerationID
	Generation owners.CredentialGeneration // zero if its reading was ended
	State      machines.CredentialGenerationDispatchGateState
	Fence      facts.Fence
	Current    bool
}

// ListCredentials gives every credential generation that was ever published, in the order of their ids.
func (o *Owners) ListCredentials(ctx context.Context) ([]ListedCredential, error) {
	gates, err := readers.Standings(ctx, o.reader, schema.CredentialGates)
	if err != nil {
		return nil, errors.Wrap(err, "platform: credential generations")
	}
	ids := make([]facts.CredentialGenerationID, len(gates))
	for i, g := range gates {
		ids[i] = g.Row.Generation
	}
	generations, err := o.Credentials(ctx, ids)
	if err != nil {
		return nil, err
	}
	var lines []CredentialLine
	for _, c := range generations {
		lines = append(lines, LineOf(c))
	}
	current, err := o.CurrentCredentials(ctx, lines)
	if err != nil {
		return nil, err
	}
	all := make([]ListedCredential, len(gates))
	for i, g := range gates {
		c := generations[ids[i]]
		all[i] = ListedCredential{ids[i], c, g.State, g.Fence, !c.ID.IsZero() && current[LineOf(c)].ID == c.ID}
	}
	return all, nil
}

// CredentialFence is where the gate of a credential generation stands.
//
// Refuses: SubjectMissing.
func (o *Owners) CredentialFence(ctx context.Context, id facts.CredentialGenerationID) (facts.Fence, error) {
	gate, born, err := readers.Standing(ctx, o.reader, schema.CredentialGates, id)
	if err == nil && !born {
		err = facts.Refuse(facts.SubjectMissing, facts.OfCredential(id), "")
	}
	return gate.Fence, errors.Wrapf(err, "platform: credential generation %s", id)
}

// Current is what an epoch would freeze now: the Catalog's revision, and the configuration generation that is current.
//
// Refuses: SubjectMissing (no view or no configuration was published).
func (o *Owners) Current(ctx context.Context) (serving.Revision, facts.ServiceConfigurationGeneration, error) {
	var none facts.ServiceConfigurationGeneration
	view, _, err := o.currentView(ctx)
	if err != nil {
		return serving.Revision{}, none, err
	}
	lineage, err := o.lineage()
	if err != nil {
		return serving.Revision{}, none, err
	}
	at := serving.Revision{Lineage: lineage, Number: view.At}
	if at.Number == 0 {
		return at, none, facts.Refuse(facts.SubjectMissing, facts.OfGeneration("catalog view", view.Selector.Digest), "no view was authorised yet: run 'connector catalog authorise PACK'")
	}
	line, configuration, err := o.currentConfiguration(ctx)
	switch {
	case err != nil:
		return at, none, err
	case line.At == 0:
		return at, none, facts.Refuse(facts.SubjectMissing, facts.OfGeneration("configuration", line.Selector.Digest), "no configuration was published yet: run 'connector tenant publish FILE'")
	}
	id, _, err := owners.SealConfiguration(o.Scope(), configuration)
	return at, id, err
}
