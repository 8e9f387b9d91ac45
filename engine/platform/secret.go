package platform

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// Secret is the bytes of one secret. No format verb, logger, encoder or error prints them. They stand behind a function,
// because fmt follows every pointer when a verb does not fit, also in a struct that only has a Secret in a hidden field;
// of a function it prints the address.
//
// Copies share the bytes, and Wipe zeroes them for all copies.
type Secret struct{ held func() *[]byte }

// NewSecret takes the bytes over: the caller keeps no other use of them.
func NewSecret(raw []byte) Secret { return Secret{func() *[]byte { return &raw }} }

const hiddenSecret = "(secret)"

// Reveal is the bytes themselves, for the one call that uses them. They are zeroed by Wipe.
func (s Secret) Reveal() []byte {
	if s.held == nil {
		return nil
	}
	return *s.held()
}

// IsZero tells whether there is no byte, or none any more.
func (s Secret) IsZero() bool { return len(s.Reveal()) == 0 }

// Wipe zeroes the bytes and lets them go. What was copied out of them before is beyond its reach.
func (s Secret) Wipe() {
	if s.held != nil {
		clear(*s.held())
		*s.held() = nil
	}
}

// Format hides the bytes from every verb of fmt.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, hiddenSecret) }

// LogValue hides the bytes from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hiddenSecret) }

// MarshalText hides the bytes from encoders of text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hiddenSecret), nil }

// MarshalBinary refuses, because what is encoded this way is meant to be read back.
func (s Secret) MarshalBinary() ([]byte, error) {
	return nil, errors.AssertionFailedf("a secret was handed to an encoder")
}

// SecretKey names one member of a secret set.
type SecretKey = facts.DefinitionID

// SecretMember is one secret of a version.
type SecretMember struct {
	Name     SecretKey
	Secret   Secret
	Outbound bool // the one that outbound calls use
}

// SecretSet is what one immutable version holds: several secrets, closed when it was made, at most one of them for
// outbound use. Inbound verification may match any member.
//
// Rule R43.
type SecretSet struct{ members []SecretMember }

// The limits of a set. A secret longer than that is no secret.
const (
	secretMembersMax = 16
	secretBytesMax   = 64 << 10
	secretSetMax     = 1 << 20 // of the encoded set, and of what a backend may answer
)

// NewSecretSet makes a set.
//
// Refuses: SecretUnusable (no member or too many, an empty or overlong secret, a name twice, two for outbound use).
func NewSecretSet(members []SecretMember) (SecretSet, error) {
	if fault := setFault(members); fault != "" {
		return SecretSet{}, facts.Refuse(facts.SecretUnusable, facts.OfInput("secret set"), "%s", fault)
	}
	return SecretSet{slices.Clone(members)}, nil
}

func setFault(members []SecretMember) string {
	if len(members) == 0 || len(members) > secretMembersMax {
		return fmt.Sprintf("it has %d members, want 1 to %d", len(members), secretMembersMax)
	}
	outbound := 0
	for i, m := range members {
		switch {
		case m.Name.IsZero():
			return fmt.Sprintf("member %d has no name", i)
		case slices.ContainsFunc(members[:i], func(other SecretMember) bool { return other.Name == m.Name }):
			return fmt.Sprintf("member %s stands twice", m.Name)
		case m.Secret.IsZero():
			return fmt.Sprintf("member %s is empty", m.Name)
		case len(m.Secret.Reveal()) > secretBytesMax:
			return fmt.Sprintf("member %s is longer than %d bytes", m.Name, secretBytesMax)
		}
		if m.Outbound {
			outbound++
		}
	}
	if outbound > 1 {
		return "two members are for outbound use"
	}
	return ""
}

// Members are all members, in their order.
func (s SecretSet) Members() []SecretMember { return slices.Clone(s.members) }

// Outbound is the member for outbound calls; a set for verification alone has none.
func (s SecretSet) Outbound() (Secret, bool) {
	for _, m := range s.members {
		if m.Outbound {
			return m.Secret, true
		}
	}
	return Secret{}, false
}

// Wipe zeroes every member.
func (s SecretSet) Wipe() {
	for _, m := range s.members {
		m.Secret.Wipe()
	}
}

// SecretBackend keeps encoded secret sets by their immutable versions.
type SecretBackend interface {
	// Fetch gives the encoded set of exactly this version. The caller zeroes it.
	//
	// Refuses: SecretUnusable (there is no such version, or it is not what the version says), OwnerUnavailable (nobody
	// could say; ask again).
	Fetch(ctx context.Context, version facts.SecretVersion) ([]byte, error)
}

// Secrets resolves immutable secret versions at the moment of their use. It keeps none.
type Secrets struct {
	backends map[facts.OwnerName]SecretBackend
}

// OpenSecrets makes the resolver of these backends, by the names that credential generations use.
func OpenSecrets(backends map[facts.OwnerName]SecretBackend) *Secrets {
	known := make(map[facts.OwnerName]SecretBackend, len(backends))
	for name, backend := range backends {
		known[name] = backend
	}
	return &Secrets{known}
}

// Resolve gives the set of exactly this version. The caller wipes it after use.
//
// Refuses: SecretUnusable, OwnerUnavailable. No refusal holds a byte of a secret.
func (s *Secrets) Resolve(ctx context.Context, backend facts.OwnerName, version facts.SecretVersion) (SecretSet, error) {
	at, known := s.backends[backend]
	if !known {
		return SecretSet{}, unusable(backend, version, "no backend of this name is configured: file needs secrets.dir and secrets.identity_file, vault secrets.vault_address and secrets.vault_token_file")
	}
	encoded, err := at.Fetch(ctx, version)
	if err != nil {
		return SecretSet{}, err
	}
	defer clear(encoded)
	members, fault := decodeSecrets(encoded)
	if fault == "" {
		fault = setFault(members)
	}
	if fault != "" {
		SecretSet{members}.Wipe()
		return SecretSet{}, unusable(backend, version, fault)
	}
	return SecretSet{members}, nil
}

func unusable(backend facts.OwnerName, version facts.SecretVersion, fault string) error {
	return facts.Refuse(facts.SecretUnusable, facts.OfInput(fmt.Sprintf("secret version %s at %s", version, backend)), "%s", fault)
}

func unavailable(backend string, version facts.SecretVersion, fault string) error {
	return facts.Refuse(facts.OwnerUnavailable, facts.OfInput(fmt.Sprintf("secret version %s at %s", version, backend)), "%s", fault)
}
