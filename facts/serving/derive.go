package serving

import (
	"connectorcore/facts"
	"connectorcore/facts/digest"
)

// Author derives the ids and digests of the serving side under one profile.
//
// INVARIANT: as with facts.Author, a digest is zero if and only if a parent was absent or zero, or the Author was. A
// zero one is never bound to a statement.
type Author struct{ profile string }

// AuthorOf gives the Author of a profile. Only facts.ProfileV2 has one; the others are refused with
// facts.ProfileNotAuthored or facts.ProfileUnsupported.
func AuthorOf(profile facts.Profile) (Author, error) {
	if _, err := profile.Author(); err != nil {
		return Author{}, err
	}
	return Author{profile.String()}, nil
}

func end(w *digest.Writer) facts.Digest {
	sum, err := w.End()
	if err != nil {
		return facts.Digest{}
	}
	return sum
}

// key is a canonical key or locator.
type key interface {
	IsZero() bool
	String() string
}

// text writes a key. An absent one breaks the preimage.
func text(w *digest.Writer, name string, value key) *digest.Writer {
	if value.IsZero() {
		return w.Null(name)
	}
	return w.Text(name, value.String())
}

// Scope is the scope digest of a deployment. A deployment that Check refuses has none.
func (a Author) Scope(of Deployment) Scope {
	if of.Check() != nil {
		return Scope{}
	}
	w := scopeShape.Begin(a.profile).ID("deployment", of.ID).Text("class", of.Class.String())
	text(w, "organization", of.Organization)
	text(w, "installation", of.Installation)
	text(w, "workload", of.Workload)
	w.Group("destinations", len(of.Destinations), func(item *digest.Writer, ordinal int) {
		item.Text("destination", of.Destinations[ordinal].text)
	})
	return Scope{end(w)}
}

// owned begins a preimage about something of an owner in a scope. No owner breaks it.
func (a Author) owned(shape *digest.Shape, scope Scope, owner Owner) *digest.Writer {
	w := shape.Begin(a.profile).Sum("serving_scope", scope.Digest)
	if owner < Catalog || owner > Credentials {
		return w.Null("owner")
	}
	return w.Text("owner", owner.String())
}

// Barrier is the publication barrier of an owner in a scope, one each.
func (a Author) Barrier(scope Scope, owner Owner) facts.Derived[facts.OwnerBarrierID] {
	return facts.DeriveID[facts.OwnerBarrierID](end(a.owned(barrierShape, scope, owner)))
}

// GenerationDigest names one exact generation of one owner in one scope.
type GenerationDigest struct{ facts.Digest }

// Generation is the digest that names an owner's exact generation. The name is the owner's own id of it.
func (a Author) Generation(scope Scope, owner Owner, name Name) GenerationDigest {
	return GenerationDigest{end(text(a.owned(generationShape, scope, owner), "name", name))}
}

// SelectorDigest names one line of generations, of which one at a time is current.
type SelectorDigest struct{ facts.Digest }

// Selector is the digest that names a line of an owner's generations.
func (a Author) Selector(scope Scope, owner Owner, line Name) SelectorDigest {
	return SelectorDigest{end(text(a.owned(selectorShape, scope, owner), "line", line))}
}

// BindingIdentity is the digest of a Catalog binding's complete identity.
func (a Author) BindingIdentity(of BindingIdentity) facts.Digest {
	return end(of.write(bindingIdentityShape.Begin(a.profile)))
}

// BindingRow is the row of a Catalog binding in an epoch.
func (a Author) BindingRow(epoch facts.EpochID, identity facts.Digest) facts.BindingID {
	return facts.DeriveID[facts.BindingID](end(bindingRowShape.Begin(a.profile).ID("epoch", epoch).Sum("identity", identity))).ID
}

// Epoch is the digest of a candidate's whole preimage. It says nothing about whether the candidate is complete: ask
// Candidate.Check first.
func (a Author) Epoch(c Candidate) facts.EpochDigest {
	return facts.EpochDigest{Digest: end(c.write(epochShape.Begin(a.profile)))}
}
