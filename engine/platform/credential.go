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

// PublishCredential publishes a credential generation with its dispatch gate, enabled, and makes it the current one of
// its account, provider and identity. That is how a credential is rotated: what is frozen to an earlier generation stays
// so, and a configuration generation and a successor epoch bring the new one into use.
//
// Refuses: GenerationMalformed, ContentDiffers (the id stands for something else), WrongState (another rotation came
// first), PublicationBarred.
func (o *Owners) PublishCredential(ctx context.Context, c owners.CredentialGeneration) error {
	sealed, err := owners.SealCredential(o.Scope(), c)
	if err != nil {
		return err
	}
	line, err := o.credentialLine(c)
	if err != nil {
		return err
	}
	last, err := o.current(ctx, line)
	if err != nil {
		return errors.Wrap(err, "platform: the current credential generation")
	}
	publication := ledger.Publication{Scope: o.Scope(), Credentials: []facts.CredentialGenerationID{c.ID},
		Generations: []serving.Generation{o.generation(serving.Credentials, line, sealed)}}
	before, err := o.wasSelected(ctx, line, publication.Generations[0].ID)
	if err != nil {
		return err
	}
	if !before {
		publication.Selects = []ledger.Select{{Line: ledger.Line{Owner: serving.Credentials, Selector: line, At: last.Seq},
			Generation: ledger.GenerationName{Owner: serving.Credentials, Name: sealed.Name}}}
	}
	return errors.Wrapf(o.ledger.PublishGenerations(ctx, publication), "platform: credential generation %s", c.ID)
}

// wasSelected tells whether a generation was ever current in its line: a publication that comes twice must not undo the
// rotation that followed it.
func (o *Owners) wasSelected(ctx context.Context, line serving.SelectorDigest, id serving.GenerationDigest) (bool, error) {
	history, err := readers.Many(ctx, o.reader, schema.OwnerSelections, []serving.Selection{{Selector: line}}, 1)
	return slices.ContainsFunc(history, func(s serving.Selection) bool { return s.Generation == id }), errors.Wrap(err, "platform: the history of a credential")
}

// Credential opens one credential generation.
//
// Refuses: SubjectMissing.
func (o *Owners) Credential(ctx context.Context, id facts.CredentialGenerationID) (owners.CredentialGeneration, error) {
	name, err := owners.CredentialName(id)
	if err != nil {
		return owners.CredentialGeneration{}, err
	}
	exact, err := found(o.named(ctx, o.Scope(), serving.Credentials, name, nil), "credential generation "+id.String(), o.author.Generation(o.Scope(), serving.Credentials, name))
	if err != nil {
		return owners.CredentialGeneration{}, err
	}
	return owners.OpenCredential(o.Scope(), exact)
}

// RemoveCredential ends the reading of a credential generation. Its dispatch gate stays.
//
// Refuses: SubjectMissing, GenerationReferenced (it is the current one, the current configuration maps it, or an epoch
// that may still serve froze it), WrongState (the configuration moved meanwhile), PublicationBarred.
func (o *Owners) RemoveCredential(ctx context.Context, id facts.CredentialGenerationID) error {
	name, err := owners.CredentialName(id)
	if err != nil {
		return err
	}
	premise, configuration, err := o.currentConfiguration(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(configuration.Generations(), id) {
		return facts.Refuse(facts.GenerationReferenced, facts.OfGeneration("credential generation "+id.String(), o.author.Generation(o.Scope(), serving.Credentials, name).Digest),
			"the current configuration maps it")
	}
	removal := ledger.Removal{Scope: o.Scope(), Premises: []ledger.Line{premise}, Generations: []ledger.GenerationName{{Owner: serving.Credentials, Name: name}}}
	return errors.Wrapf(o.ledger.RemoveGenerations(ctx, removal), "platform: credential generation %s", id)
}

// Authority is who authorised a revocation or a reenablement, and why.
type Authority struct {
	Principal facts.OwnerName
	Reason    facts.OwnerName
}

// RevokeCredential revokes a generation whose gate stands at this fence, and gives the fence after it.
//
// Refuses: SubjectMissing, StaleCredentialFence, WrongState, PublicationBarred.
func (o *Owners) RevokeCredential(ctx context.Context, id facts.CredentialGenerationID, at facts.Fence, by Authority) (facts.Fence, error) {
	return moveCredential(ctx, o.ledger.RevokeCredentials, ledger.CredentialMove{Scope: o.Scope(), Generation: id, Fence: at, Principal: by.Principal, Reason: by.Reason})
}

// ReenableCredential enables a revoked generation whose gate stands at this fence, and gives the fence after it.
//
// Refuses: SubjectMissing, StaleCredentialFence, WrongState, PublicationBarred.
func (o *Owners) ReenableCredential(ctx context.Context, id facts.CredentialGenerationID, at facts.Fence, by Authority) (facts.Fence, error) {
	return moveCredential(ctx, o.ledger.ReenableCredentials, ledger.CredentialMove{Scope: o.Scope(), Generation: id, Fence: at, Principal: by.Principal, Reason: by.Reason})
}

func moveCredential(ctx context.Context, move func(context.Context, []ledger.CredentialMove) ([]ledger.CredentialVerdict, error), ask ledger.CredentialMove) (facts.Fence, error) {
	verdicts, err := move(ctx, []ledger.CredentialMove{ask})
	switch {
	case err != nil:
		return 0, errors.Wrapf(err, "platform: credential generation %s", ask.Generation)
	case verdicts[0].Refusal != nil:
		return 0, verdicts[0].Refusal
	}
	return verdicts[0].Fence, nil
}
