package serving

import "connectorcore/facts/digest"

// The closed shapes of profile v2 on the serving side. A shape is frozen from its first day: a change of meaning is a
// new label.
var (
	scopeShape = digest.Declare("serving-scope",
		digest.OfID("deployment"), digest.OfText("class"),
		digest.OfText("organization"), digest.OfText("installation"), digest.OfText("workload"),
		digest.OfGroup("destinations", digest.OfText("destination")))
	barrierShape = digest.Declare("owner-barrier",
		digest.OfSum("serving_scope"), digest.OfText("owner"))
	generationShape = digest.Declare("owner-generation",
		digest.OfSum("serving_scope"), digest.OfText("owner"), digest.OfText("name"))
	selectorShape = digest.Declare("owner-selector",
		digest.OfSum("serving_scope"), digest.OfText("owner"), digest.OfText("line"))
	bindingIdentityShape = digest.Declare("binding-identity", bindingFields...)
	bindingRowShape      = digest.Declare("epoch-binding",
		digest.OfID("epoch"), digest.OfSum("identity"))
	epochShape = digest.Declare("serving-epoch",
		// 1. the domain prefix holds the profile; then what the epoch is and for what it is
		digest.OfID("epoch"), digest.OfSum("serving_scope"),
		// 2. the Catalog attestation
		digest.OfText("organization"), digest.OfText("installation"), digest.OfText("workload"),
		digest.OfText("lineage"), digest.OfUint("revision"), digest.OfSum("source_snapshot"), digest.OfSum("view"),
		digest.OfText("catalog_receipt_protocol"), digest.OfText("receipt_lineage"), digest.OfUint("receipt_revision"),
		digest.OfUint("security_epoch"), digest.OfText("capability_version"),
		// 3. the configuration proof
		digest.OfText("generation_protocol"), digest.OfText("configuration_receipt_protocol"),
		digest.OfText("configuration_generation"), digest.OfSum("configuration_digest"),
		digest.OfBytes("configuration_receipt"), digest.OfSum("configuration_receipt_digest"),
		// 4. the bindings, each followed by its owner's proof
		digest.OfGroup("bindings", bindingItem()...),
		// 5. the credential generations
		digest.OfGroup("credential_generations",
			digest.OfID("generation"), digest.OfText("receipt_protocol"), digest.OfSum("transport_configuration"),
			digest.OfBytes("owner_receipt"), digest.OfSum("owner_receipt_digest")))
)

// bindingFields are the complete identity of a Catalog binding.
var bindingFields = []digest.Field{
	digest.OfText("kind"), digest.OfText("owner_pack"), digest.OfText("pack_installation"), digest.OfSum("pack_payload"),
	digest.OfText("business_key"), digest.OfText("definition_version"), digest.OfBytes("credential_refs"),
	digest.OfGroup("runtime", digest.OfText("command"), digest.OfText("version")), // no item or one
}

func bindingItem() []digest.Field {
	item := append([]digest.Field{digest.OfID("row"), digest.OfSum("identity")}, bindingFields...)
	return append(item,
		digest.OfText("pack_generation"), digest.OfText("envelope_version"), digest.OfText("receipt_version"),
		digest.OfSum("definition"), digest.OfBytes("owner_receipt"), digest.OfSum("owner_receipt_digest"))
}

// Shapes lists every declared shape, for docs/digests.md and its test.
func Shapes() []*digest.Shape {
	return []*digest.Shape{
		scopeShape, barrierShape, generationShape, selectorShape, bindingIdentityShape, bindingRowShape, epochShape,
	}
}
