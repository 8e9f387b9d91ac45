package facts

import (
	"strings"
	"testing"
)

func TestBindingKindsAreTheFourOfTheSpec(t *testing.T) {
	var texts []string
	for _, kind := range BindingKinds() {
		texts = append(texts, kind.String())
		if parsed, err := ParseBindingKind(kind.String()); err != nil || parsed != kind {
			t.Errorf("%s reads back as %v, %v", kind, parsed, err)
		}
	}
	if got := strings.Join(texts, " "); got != "inbound_route callout_profile field_mapping push_contract" {
		t.Errorf("the kinds are %s", got)
	}
	for _, text := range []string{"", "ingress_channel", "no binding kind", "Inbound_route"} {
		if kind, err := ParseBindingKind(text); err == nil {
			t.Errorf("%q was read as %s", text, kind)
		}
	}
}

func TestPackDefinitionsAreOrderedAndWithoutRepetition(t *testing.T) {
	author, sum := v2Author(t), Digest{1}
	of := func(kind BindingKind, name string) DigestedDefinition {
		return DigestedDefinition{PackDefinition{kind, DefinitionID{name}, DefinitionVersion{"1"}}, sum}
	}
	sorted := []DigestedDefinition{of(CalloutProfile, "b"), of(FieldMapping, "a"), of(InboundRoute, "a"), of(InboundRoute, "b")}
	if author.PackPayload(nil, sorted).IsZero() {
		t.Error("an ordered pack has no digest")
	}
	for _, wrong := range [][]DigestedDefinition{
		{sorted[1], sorted[0]}, {sorted[0], sorted[0]}, {sorted[3], sorted[2]}, {of(0, "a")}, {of(bindingKinds, "a")},
	} {
		if sum := author.PackPayload(nil, wrong); !sum.IsZero() {
			t.Errorf("%v has the digest %s", wrong, sum)
		}
	}
}

func TestPackGenerationIsItsPayloadInHex(t *testing.T) {
	author := v2Author(t)
	if id := author.PackGeneration(Digest{0xAB, 31: 0x01}); id.String() != "ab"+strings.Repeat("00", 30)+"01" {
		t.Errorf("the generation is %s", id)
	}
	if !author.PackGeneration(Digest{}).IsZero() || !(Author{}).PackGeneration(Digest{1}).IsZero() {
		t.Error("a pack without a payload, or nobody, made a generation")
	}
}
