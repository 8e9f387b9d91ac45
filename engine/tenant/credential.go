package tenant

import (
	"context"
	"slices"
	"strings"

	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
)

// PublishCredential mints a generation of a credential, publishes it, and gives its id. With rotate it follows the one
// that is current, without it it is the first. Its secrets are resolved once before, and forgotten: what is empty,
// cannot be decoded or lacks the member that a call would use is refused while nothing refers to it.
//
// Refuses: GenerationMalformed (no binding of the current view needs such a credential), SecretUnusable,
// OwnerUnavailable (the backend), and as platform.Owners.PublishCredential.
func PublishCredential(ctx context.Context, at *platform.Owners, secrets *platform.Secrets, c owners.CredentialGeneration, rotate bool) (facts.CredentialGenerationID, error) {
	c.ID = facts.Mint[facts.CredentialGenerationID]()
	c.Transport = slices.Clone(c.Transport)
	slices.SortFunc(c.Transport, func(a, b owners.Setting) int { return a.Name.Compare(b.Name) })
	sends, err := needed(ctx, at, owners.CredentialRef{Name: c.Identity, Provider: c.Provider})
	if err != nil {
		return c.ID, err
	}
	set, err := secrets.Resolve(ctx, c.Backend, c.Version)
	if err != nil {
		return c.ID, err
	}
	_, has := set.Outbound()
	set.Wipe()
	if sends.Kind.Owner() != 0 && !has {
		return c.ID, facts.Refuse(facts.SecretUnusable, facts.OfInput("secret version "+c.Version.String()+" at "+c.Backend.String()),
			"no member is for outbound use, and %s %s of pack %s sends with this credential", sends.Kind, sends.BusinessKey, sends.OwnerPack)
	}
	return c.ID, at.PublishCredential(ctx, c, rotate)
}

// needed refuses a credential that no binding refers to, which is a slip of the hand that nobody could take back, and
// gives a binding that sends with it, if one does.
func needed(ctx context.Context, at *platform.Owners, ref owners.CredentialRef) (sends serving.BindingIdentity, err error) {
	view, err := at.View(ctx)
	if err != nil {
		return sends, err
	}
	wanted := false
	var known []string
	for _, b := range view.Bindings {
		refs, err := owners.DecodeRefs(b.CredentialRefs)
		if err != nil {
			return sends, errors.Wrap(err, "tenant: the current view")
		}
		for _, one := range refs {
			if !slices.Contains(known, one.String()) {
				known = append(known, one.String())
			}
			if one == ref {
				wanted = true
				if b.Kind != serving.InboundRoute {
					sends = b
				}
			}
		}
	}
	if wanted {
		return sends, nil
	}
	return sends, unneeded(ref, view.Revision.Number, known)
}

func unneeded(ref owners.CredentialRef, revision uint64, known []string) error {
	about := facts.OfInput("credential " + ref.String())
	switch {
	case revision == 0:
		return facts.Refuse(facts.GenerationMalformed, about, "nothing is authorised yet: authorise the packs first")
	case known == nil:
		return facts.Refuse(facts.GenerationMalformed, about, "no binding of the current view, revision %d, needs a credential", revision)
	}
	return facts.Refuse(facts.GenerationMalformed, about, "no binding of the current view, revision %d, needs it: known are %s", revision, strings.Join(known, ", "))
}
