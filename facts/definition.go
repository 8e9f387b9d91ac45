package facts

import (
	"encoding/hex"
	"strings"

	"connectorcore/facts/digest"
)

// BindingKind is the closed list of what a pack defines and a catalog binds.
//
// Spec: Existing foundations and schema ownership ("the four closed binding kinds").
type BindingKind uint8

// The kinds. Zero is none of them.
const (
	InboundRoute BindingKind = iota + 1
	CalloutProfile
	FieldMapping
	PushContract
	bindingKinds
)

var bindingKindTexts = [bindingKinds]string{"", "inbound_route", "callout_profile", "field_mapping", "push_contract"}

// BindingKinds lists all kinds.
func BindingKinds() []BindingKind {
	return []BindingKind{InboundRoute, CalloutProfile, FieldMapping, PushContract}
}

// String is the kind's stable text.
func (k BindingKind) String() string {
	if k == 0 || k >= bindingKinds {
		return "no binding kind"
	}
	return bindingKindTexts[k]
}

// ParseBindingKind reads a kind's stable text.
func ParseBindingKind(text string) (BindingKind, error) {
	for _, kind := range BindingKinds() {
		if kind.String() == text {
			return kind, nil
		}
	}
	return 0, Refuse(ConfigurationInvalid, OfInput("binding kind"), "%q is not one of the four", text)
}

// PackDefinition is the identity of one definition of a pack. A name is unique within its kind and pack.
type PackDefinition struct {
	Kind    BindingKind
	ID      DefinitionID
	Version DefinitionVersion
}

// Compare orders the definitions of one pack: by the text of their kinds, then by name.
func (d PackDefinition) Compare(other PackDefinition) int {
	if order := strings.Compare(d.Kind.String(), other.Kind.String()); order != 0 {
		return order
	}
	return d.ID.Compare(other.ID)
}

func (d PackDefinition) write(w *digest.Writer) {
	if d.Kind == 0 || d.Kind >= bindingKinds {
		w.Null("kind") // breaks the preimage
		return
	}
	w.Text("kind", d.Kind.String())
	text(w, "definition", d.ID)
	text(w, "definition_version", d.Version)
}

// PackDefinition is the digest of a definition's identity and canonical bytes.
func (a Author) PackDefinition(definition PackDefinition, canonical []byte) Digest {
	w := a.begin(packDefinitionShape)
	definition.write(w)
	return end(w.Bytes("canonical", canonical))
}

// DigestedDefinition is a definition with its PackDefinition digest.
type DigestedDefinition struct {
	PackDefinition
	Digest Digest
}

// PackPayload is the digest of a whole pack: what it says of itself, and its definitions in ascending order, each
// once. Definitions in another order, or one twice, have no digest.
func (a Author) PackPayload(pack []byte, definitions []DigestedDefinition) Digest {
	for i := 1; i < len(definitions); i++ {
		if definitions[i-1].Compare(definitions[i].PackDefinition) >= 0 {
			return Digest{}
		}
	}
	return end(a.begin(packPayloadShape).Bytes("pack", pack).
		Group("definitions", len(definitions), func(item *digest.Writer, ordinal int) {
			definitions[ordinal].write(item)
			item.Sum("digest", definitions[ordinal].Digest)
		}))
}

// PackGeneration is the storage id of an installed pack: its payload digest in hex, so that the same folder has the
// same id on every machine. It is absent for the zero digest.
func (a Author) PackGeneration(payload Digest) PackGenerationID {
	if payload.IsZero() || a.profile == "" {
		return PackGenerationID{}
	}
	return PackGenerationID{hex.EncodeToString(payload[:])}
}

// OrderingContract is the digest of a route's frozen ordering contract in its canonical form.
func (a Author) OrderingContract(canonical []byte) Digest {
	return end(a.begin(orderingContractShape).Bytes("canonical", canonical))
}
