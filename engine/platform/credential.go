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

// PublishCredentials publishes credential generations, at most 500, each with its dispatch gate, enabled, and makes each
// the current one of its account, provider and identity: all of them or none. That is how a credential is rotated: what
// is frozen to an earlier generation stays so, and a configuration generation and a successor epoch bring the new one
// into use. A publication that comes twice does not undo the rotation that followed it.
//
// Refuses: GenerationMalformed, ContentDiffers (the id stands for something else), WrongState (another rotation came
// first), PublicationBarred.
func (o *Owners) PublishCredentials(ctx context.Context, all []owners.CredentialGeneration) error {
	return o.publishCredentials(ctx, all, func(bool) error { return nil })
}

// PublishCredential publishes one generation: with rotate one that follows another, without it the first of its account,
// provider and identity. So a person who takes the one for the other is told, and two of them do not overtake each other
// unseen.
//
// Refuses: as PublishCredentials, and WrongState (there is a current generation, or none to follow).
func (o *Owners) PublishCredential(ctx context.Context, c owners.CredentialGeneration, rotate bool) error {
	about := facts.OfInput("credential " + c.Identity.String() + " at " + c.Provider.String() + " of account " + c.Account.String())
	return o.publishCredentials(ctx, []owners.CredentialGeneration{c}, func(follows bool) error {
		switch {
		case follows && !rotate:
			return facts.Refuse(facts.WrongState, about, "it has a current generation already: rotate it instead")
		case rotate && !follows:
			return facts.Refuse(facts.WrongState, about, "it has no current generation to follow: publish the first one instead")
		}
		return nil
	})
}

func (o *Owners) publishCredentials(ctx context.Context, all []owners.CredentialGeneration, judge func(follows bool) error) error {
	publication := ledger.Publication{Scope: o.Scope()}
	var lines []serving.Selection
	for _, c := range all {
		sealed, err := owners.SealCredential(o.Scope(), c)
		if err != nil {
			return err
		}
		line, err := o.credentialLine(c)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(lines, func(s serving.Selection) bool { return s.Selector == line }) {
			return facts.Refuse(facts.GenerationMalformed, facts.OfInput("credential generation "+c.ID.String()),
				"another generation of credential %s of the same account and provider is published beside it", c.Identity)
		}
		lines = append(lines, serving.Selection{Selector: line})
		publication.Credentials = append(publication.Credentials, c.ID)
		publication.Generations = append(publication.Generations, o.generation(serving.Credentials, line, sealed))
	}
	history, err := readers.Many(ctx, o.reader, schema.OwnerSelections, lines, 1)
	if err != nil {
		return errors.Wrap(err, "platform: the history of credentials")
	}
	for _, g := range publication.Generations {
		last, was := uint64(0), false
		for _, s := range history {
			if s.Selector == g.Selector {
				last, was = max(last, s.Seq), was || s.Generation == g.ID
			}
		}
		if was {
			continue
		}
		if err := judge(last > 0); err != nil {
			return err
		}
		publication.Selects = append(publication.Selects, ledger.Select{Line: ledger.Line{Owner: serving.Credentials, Selector: g.Selector, At: last},
			Generation: ledger.GenerationName{Owner: serving.Credentials, Name: g.Name}})
	}
	return errors.Wrapf(o.ledger.PublishGenerations(ctx, publication), "platform: %d credential generations", len(all))
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
