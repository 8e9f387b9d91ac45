package owners

import (
	"unicode/utf8"

	"connectorcore/facts"
	"connectorcore/facts/serving"
)

// Setting is one named value that is no secret.
type Setting struct {
	Name  facts.DefinitionID `json:"name"`
	Value string             `json:"value"` // at most SettingMaxBytes
}

// SettingMaxBytes bounds a setting's value.
const SettingMaxBytes = 4096

func checkSettings(settings []Setting, noun string) error {
	for i, s := range settings {
		fault := ""
		switch {
		case i > 0 && settings[i-1].Name.Compare(s.Name) >= 0:
			fault = "it stands twice or out of order"
		case len(s.Value) > SettingMaxBytes:
			fault = "its value is longer than 4096 bytes"
		case !utf8.ValidString(s.Value):
			fault = "its value is not valid UTF-8"
		}
		if fault != "" {
			return facts.Refuse(facts.GenerationMalformed, facts.OfInput(noun+", setting "+s.Name.String()), "%s", fault)
		}
	}
	return nil
}

// CredentialGeneration is the immutable identity of one generation of a credential. It refers to its secrets by one
// exact version at a backend and holds none.
//
// Spec: Existing foundations and schema ownership ("Rotation mints an immutable CredentialGeneration"). Rule R43.
type CredentialGeneration struct {
	ID        facts.CredentialGenerationID
	Identity  facts.CredentialIdentity // what stays the same when it is rotated
	Account   facts.AccountID
	Provider  facts.ProviderScope
	Backend   facts.OwnerName
	Version   facts.SecretVersion
	Transport []Setting // in ascending order of their names
}

type credentialForm struct {
	ID        facts.CredentialGenerationID `json:"generation"`
	Identity  facts.CredentialIdentity     `json:"identity"`
	Account   facts.AccountID              `json:"account"`
	Provider  facts.ProviderScope          `json:"provider"`
	Backend   facts.OwnerName              `json:"backend"`
	Version   facts.SecretVersion          `json:"version"`
	Transport []Setting                    `json:"transport"`
}

// TransportDigest is the owner's digest of the transport configuration, which an epoch freezes in its place.
func (c CredentialGeneration) TransportDigest() (facts.Digest, error) {
	raw, err := encode(listed(c.Transport))
	return Sum(TransportProtocol, raw), err
}

// listed is a list in its one form: an empty one is never null.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// CredentialName is the name of a generation at the credential authority.
func CredentialName(id facts.CredentialGenerationID) (serving.Name, error) {
	return facts.ParseKey[serving.Name](id.String())
}

// SealCredential makes the generation of a credential.
//
// Refuses: GenerationMalformed.
func SealCredential(scope serving.Scope, c CredentialGeneration) (Exact, error) {
	noun := "credential generation " + c.ID.String()
	if c.ID.IsZero() || c.Account.IsZero() {
		return Exact{}, facts.Refuse(facts.GenerationMalformed, facts.OfInput(noun), "it has no id or no account")
	}
	if err := checkSettings(c.Transport, noun); err != nil {
		return Exact{}, err
	}
	name, err := CredentialName(c.ID)
	if err != nil {
		return Exact{}, err
	}
	raw, err := encode(credentialForm{c.ID, c.Identity, c.Account, c.Provider, c.Backend, c.Version, listed(c.Transport)})
	if err != nil {
		return Exact{}, err
	}
	return seal(serving.Credentials, scope, name, CredentialProtocol, raw, nil)
}

// OpenCredential takes the credential authority's answer apart and checks all of it. It reads no secret.
//
// Refuses: GenerationMalformed.
func OpenCredential(scope serving.Scope, e Exact) (CredentialGeneration, error) {
	f, err := decode[credentialForm](e.Canonical.Bytes(), "credential generation")
	if err != nil {
		return CredentialGeneration{}, err
	}
	c := CredentialGeneration(f)
	want, err := SealCredential(scope, c)
	if err != nil {
		return CredentialGeneration{}, err
	}
	return c, same(e, want, "credential generation "+c.ID.String())
}
