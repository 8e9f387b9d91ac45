package platform

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Found founds the database as a deployment, whose id is drawn here, and gives the deployment that stands. If it was
// founded as the same before, nothing changes: the id is not part of the question.
//
// Refuses: ConfigurationInvalid (the deployment is not complete), ContentDiffers (it was founded as another one).
func Found(ctx context.Context, l *ledger.Ledger, r *readers.Reader, wanted serving.Deployment) (serving.Deployment, error) {
	stands, found, err := standing(ctx, r)
	if err != nil {
		return serving.Deployment{}, err
	}
	wanted.ID = stands.ID
	if !found {
		wanted.ID = facts.Mint[facts.DeploymentID]()
	}
	_, err = l.FoundDeployment(ctx, wanted)
	if !found && errors.Is(err, facts.ContentDiffers) {
		// Somebody founded it since it was read, perhaps as the same.
		if stands, _, err = standing(ctx, r); err != nil {
			return serving.Deployment{}, err
		}
		wanted.ID = stands.ID
		_, err = l.FoundDeployment(ctx, wanted)
	}
	return wanted, errors.Wrap(err, "platform: the deployment")
}

func standing(ctx context.Context, r *readers.Reader) (serving.Founded, bool, error) {
	stands, found, err := readers.One(ctx, r, schema.Deployments, func(*serving.Founded) {})
	return stands, found, errors.Wrap(err, "platform: the deployment")
}

// Installed tells whether a pack generation is installed now.
func (o *Owners) Installed(ctx context.Context, generation facts.PackGenerationID) (bool, error) {
	_, _, err := o.manifest(ctx, generation)
	if errors.Is(err, facts.SubjectMissing) {
		return false, nil
	}
	return err == nil, err
}

// versions refuses a pack that gives a version of a definition other bytes than the generation which brought that
// version first: whoever names a version means one content. The line of a version selects that first generation and
// never moves on, also when it is uninstalled, since an epoch may have frozen it. What the pack brings first is
// returned, to be selected in the transaction of its publication; of two packs that bring one version at once, one
// finds that the line has moved.
func (o *Owners) versions(ctx context.Context, p Pack, sealed []owners.Exact) ([]ledger.Select, error) {
	lines := make([]serving.Selection, len(p.Definitions))
	for i, d := range p.Definitions {
		sum := owners.Sum(owners.DefinitionProtocol, []byte(p.Name.String()+"\x00"+d.Name.String()+"\x00"+d.Version.String()))
		line, err := o.line(d.Kind.Owner(), "version/"+sum.String())
		if err != nil {
			return nil, err
		}
		lines[i].Selector = line
	}
	taken, err := readers.Many(ctx, o.reader, schema.OwnerSelections, lines, 1)
	if err != nil {
		return nil, errors.Wrapf(err, "platform: pack %s", p.Name)
	}
	first := map[serving.SelectorDigest]serving.GenerationDigest{}
	var asked []serving.Generation
	for _, s := range taken {
		first[s.Selector] = s.Generation
		asked = append(asked, serving.Generation{ID: s.Generation})
	}
	rows, err := readers.Many(ctx, o.reader, schema.OwnerGenerations, asked, 1)
	if err != nil {
		return nil, errors.Wrapf(err, "platform: pack %s", p.Name)
	}
	known := map[serving.GenerationDigest]serving.Generation{}
	for _, row := range rows {
		known[row.ID] = row
	}
	var selects []ledger.Select
	for i, d := range p.Definitions {
		generation, before := first[lines[i].Selector]
		if !before {
			selects = append(selects, ledger.Select{Line: ledger.Line{Owner: d.Kind.Owner(), Selector: lines[i].Selector},
				Generation: ledger.GenerationName{Owner: d.Kind.Owner(), Name: sealed[i].Name}})
			continue
		}
		was, err := owners.OpenDefinition(o.Scope(), exactOf(known[generation]))
		if err != nil {
			return nil, err
		}
		if was.Content != serving.OpaqueOf(d.Canonical) || was.ContentDigest != d.Digest {
			return nil, facts.Refuse(facts.ContentDiffers, facts.OfInput("pack "+p.Name.String()+", "+d.Kind.String()+" "+d.Name.String()+" "+d.Version.String()),
				"pack generation %s has other bytes under this version: give what changed another version", was.PackGeneration)
		}
	}
	return selects, nil
}
