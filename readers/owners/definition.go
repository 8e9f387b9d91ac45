package owners

import (
	"fmt"
	"slices"
	"strings"

	"connectorcore/facts"
	"connectorcore/facts/serving"
)

// CredentialRef is what a binding says of a credential that it needs: which one, and for which provider.
type CredentialRef struct {
	Name     facts.CredentialIdentity `json:"name"`
	Provider facts.ProviderScope      `json:"provider"`
}

// String is "name at provider".
func (r CredentialRef) String() string { return r.Name.String() + " at " + r.Provider.String() }

func compareRefs(a, b CredentialRef) int {
	if by := a.Name.Compare(b.Name); by != 0 {
		return by
	}
	return a.Provider.Compare(b.Provider)
}

// EncodeRefs writes the canonical blob of a binding's references, in ascending order.
//
// Refuses: GenerationMalformed (a reference twice or incomplete).
func EncodeRefs(refs []CredentialRef) (serving.Opaque, error) {
	refs = slices.Clone(refs)
	slices.SortFunc(refs, compareRefs)
	for i, ref := range refs {
		fault := ""
		switch {
		case ref.Name.IsZero() || ref.Provider.IsZero():
			fault = "it has no name or no provider"
		case i > 0 && refs[i-1] == ref:
			fault = "it stands twice"
		}
		if fault != "" {
			return serving.Opaque{}, facts.Refuse(facts.GenerationMalformed, facts.OfInput("credential reference "+ref.String()), "%s", fault)
		}
	}
	if refs == nil {
		refs = []CredentialRef{}
	}
	raw, err := encode(refs)
	return serving.OpaqueOf(raw), err
}

// DecodeRefs reads a canonical blob and refuses every other.
func DecodeRefs(blob serving.Opaque) ([]CredentialRef, error) {
	refs, err := decode[[]CredentialRef](blob.Bytes(), "credential references")
	if err != nil {
		return nil, err
	}
	again, err := EncodeRefs(refs)
	if err == nil && again != blob {
		err = facts.Refuse(facts.GenerationMalformed, facts.OfInput("credential references"), "they are not in ascending order")
	}
	return refs, err
}

// bindingForm is a binding's identity in a canonical form.
type bindingForm struct {
	Kind         serving.BindingKind      `json:"kind"`
	OwnerPack    facts.PackName           `json:"owner_pack"`
	Installation facts.PackInstallationID `json:"pack_installation"`
	PackPayload  hexDigest                `json:"pack_payload"`
	BusinessKey  facts.DefinitionID       `json:"business_key"`
	Version      facts.DefinitionVersion  `json:"version"`
	Credentials  []CredentialRef          `json:"credentials"`
	Runtime      *runtimeForm             `json:"runtime,omitempty"`
}

type runtimeForm struct {
	Command facts.DefinitionID      `json:"command"`
	Version facts.DefinitionVersion `json:"version"`
}

func formOf(b serving.BindingIdentity) (bindingForm, error) {
	refs, err := DecodeRefs(b.CredentialRefs)
	form := bindingForm{b.Kind, b.OwnerPack, b.Installation, hexDigest(b.PackPayload), b.BusinessKey, b.Version, refs, nil}
	if !b.Runtime.IsZero() {
		form.Runtime = &runtimeForm{b.Runtime.Command, b.Runtime.Version}
	}
	return form, err
}

func (f bindingForm) identity() (serving.BindingIdentity, error) {
	refs, err := EncodeRefs(f.Credentials)
	b := serving.BindingIdentity{Kind: f.Kind, OwnerPack: f.OwnerPack, Installation: f.Installation, PackPayload: facts.Digest(f.PackPayload),
		BusinessKey: f.BusinessKey, Version: f.Version, CredentialRefs: refs}
	if f.Runtime != nil {
		b.Runtime = serving.RuntimeCommand{Command: f.Runtime.Command, Version: f.Runtime.Version}
	}
	return b, err
}

// Definition is the definition behind one binding.
type Definition struct {
	Binding        serving.BindingIdentity
	PackGeneration facts.PackGenerationID
	Content        serving.Opaque // the pack's own canonical bytes of the definition
	ContentDigest  facts.Digest   // the pack's own digest of them
}

type definitionForm struct {
	Binding        bindingForm            `json:"binding"`
	PackGeneration facts.PackGenerationID `json:"pack_generation"`
	Content        []byte                 `json:"content"`
	ContentDigest  hexDigest              `json:"content_digest"`
}

// DefinitionName is the name of a binding's definition at its owner: the digest of the complete identity.
//
// Refuses: GenerationMalformed (the identity is incomplete).
func DefinitionName(identity serving.BindingIdentity) (serving.Name, error) {
	author, err := serving.AuthorOf(facts.ProfileV2)
	if err != nil {
		return serving.Name{}, err
	}
	sum := author.BindingIdentity(identity)
	if sum.IsZero() {
		return serving.Name{}, facts.Refuse(facts.GenerationMalformed, facts.OfInput(bindingNoun(identity)), "its identity is incomplete")
	}
	return facts.ParseKey[serving.Name](sum.String())
}

func bindingNoun(b serving.BindingIdentity) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s of pack %s", b.Kind, b.BusinessKey, b.OwnerPack))
}

// SealDefinition makes the generation of a definition.
//
// Refuses: GenerationMalformed.
func SealDefinition(scope serving.Scope, d Definition) (Exact, error) {
	name, err := DefinitionName(d.Binding)
	if err != nil {
		return Exact{}, err
	}
	form, err := formOf(d.Binding)
	if err != nil {
		return Exact{}, err
	}
	if d.PackGeneration.IsZero() || d.Content.IsZero() {
		return Exact{}, facts.Refuse(facts.GenerationMalformed, facts.OfInput(bindingNoun(d.Binding)), "it has no pack generation or no content")
	}
	raw, err := encode(definitionForm{form, d.PackGeneration, d.Content.Bytes(), hexDigest(d.ContentDigest)})
	if err != nil {
		return Exact{}, err
	}
	return seal(d.Binding.Kind.Owner(), scope, name, DefinitionProtocol, raw, nil)
}

// OpenDefinition takes an owner's answer apart and checks all of it.
//
// Refuses: GenerationMalformed.
func OpenDefinition(scope serving.Scope, e Exact) (Definition, error) {
	form, err := decode[definitionForm](e.Canonical.Bytes(), "definition")
	if err != nil {
		return Definition{}, err
	}
	identity, err := form.Binding.identity()
	if err != nil {
		return Definition{}, err
	}
	d := Definition{identity, form.PackGeneration, serving.OpaqueOf(form.Content), facts.Digest(form.ContentDigest)}
	want, err := SealDefinition(scope, d)
	if err != nil {
		return Definition{}, err
	}
	return d, same(e, want, bindingNoun(identity))
}
