package schema

import (
	"database/sql/driver"

	"connectorcore/facts"
	"connectorcore/facts/serving"
)

var epochAttestation = &Table{
	Name: "serving_epoch_attestation", Kind: Fact,
	Says: "What an epoch froze once: its scope, the Catalog's attestation and the proof of the configuration.",
	Columns: []Column{
		{Name: "epoch_id", Type: typeID},
		{Name: "scope_digest", Type: typeDigest},
		{Name: "organization", Type: typeKey},
		{Name: "installation", Type: typeKey},
		{Name: "workload", Type: typeKey},
		{Name: "lineage", Type: typeKey},
		{Name: "revision", Type: typeCount},
		{Name: "source_snapshot", Type: typeDigest},
		{Name: "view_digest", Type: typeDigest},
		{Name: "catalog_receipt_protocol", Type: typeKey},
		{Name: "receipt_lineage", Type: typeKey},
		{Name: "receipt_revision", Type: typeCount},
		{Name: "security_epoch", Type: typeCount},
		{Name: "capability_version", Type: typeKey},
		{Name: "generation_protocol", Type: typeKey},
		{Name: "configuration_generation", Type: typeKey},
		{Name: "configuration_digest", Type: typeDigest},
		{Name: "configuration_receipt_protocol", Type: typeKey},
		{Name: "configuration_receipt", Type: typeEvidence},
		{Name: "configuration_receipt_digest", Type: typeDigest},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"epoch_id"},
	Reader:  "judgement and activation of the epoch, and whoever needs its scope or configuration, by exact epoch",
}

var epochBinding = &Table{
	Name: "serving_epoch_binding", Kind: Fact,
	Says: "One Catalog binding of an epoch, with the proof of the owner of its definition.",
	Columns: []Column{
		{Name: "epoch_id", Type: typeID},
		{Name: "ordinal", Type: typeCount},
		{Name: "binding_id", Type: typeID},
		{Name: "identity_digest", Type: typeDigest},
		{Name: "kind", Type: typeState},
		{Name: "owner_pack", Type: typeKey},
		{Name: "pack_installation", Type: typeKey},
		{Name: "pack_payload", Type: typeDigest},
		{Name: "business_key", Type: typeKey},
		{Name: "definition_version", Type: typeKey},
		{Name: "credential_refs", Type: typeEvidence},
		{Name: "runtime_command", Type: typeKey, Nullable: true},
		{Name: "runtime_version", Type: typeKey, Nullable: true},
		{Name: "pack_generation", Type: typeKey},
		{Name: "envelope_version", Type: typeKey},
		{Name: "definition_digest", Type: typeDigest},
		{Name: "receipt_version", Type: typeKey},
		{Name: "owner_receipt", Type: typeEvidence},
		{Name: "owner_receipt_digest", Type: typeDigest},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"epoch_id", "ordinal"},
	Reader:  "judgement and activation of the epoch, all bindings of one epoch; work under it, by ordinal",
	Checks: []Check{
		{"serving_epoch_binding_kind", "kind IN (" + quoted(kindWords()) + ")"},
		{"serving_epoch_binding_runtime", "(runtime_command IS NULL) = (runtime_version IS NULL)"},
	},
}

var epochCredential = &Table{
	Name: "serving_epoch_credential", Kind: Fact,
	Says: "The credential authority's proof of one credential generation of an epoch. It holds no secret.",
	Columns: []Column{
		{Name: "epoch_id", Type: typeID},
		{Name: "ordinal", Type: typeCount},
		{Name: "generation_id", Type: typeID},
		{Name: "transport_digest", Type: typeDigest},
		{Name: "receipt_protocol", Type: typeKey},
		{Name: "owner_receipt", Type: typeEvidence},
		{Name: "owner_receipt_digest", Type: typeDigest},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"epoch_id", "ordinal"},
	Reader:  "judgement and activation of the epoch, all credential generations of one epoch",
}

var barrierReceipt = &Table{
	Name: "serving_publication_barrier_receipt", Kind: Fact,
	Says: "One owner's fenced receipt that it holds its publication barrier for a barrier set's attempt.",
	Columns: []Column{
		{Name: "barrier_set_id", Type: typeID},
		{Name: "owner", Type: typeState},
		{Name: "hold_fence", Type: typeCount},
		{Name: "receipt_protocol", Type: typeKey},
		{Name: "receipt", Type: typeEvidence},
		{Name: "receipt_digest", Type: typeDigest},
		{Name: "recorded_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"barrier_set_id", "owner"},
	Reader:  "the activation coordinator, all receipts of one set: at most one an owner",
	Checks:  []Check{{"serving_publication_barrier_receipt_owner", ownerCheck}},
}

func kindWords() (all []string) {
	for _, k := range serving.BindingKinds() {
		all = append(all, k.String())
	}
	return all
}

var epochTables = []*Table{epochAttestation, epochBinding, epochCredential, barrierReceipt}

// Rows of a candidate epoch, and of the receipts of a barrier set.
var (
	EpochAttestations = Rows[serving.EpochAttestation]{epochAttestation, func(r *serving.EpochAttestation) []any {
		c, p := &r.Catalog, &r.Configuration
		return []any{&r.Epoch, &r.Scope, &c.Organization, &c.Installation, &c.Workload, &c.Revision.Lineage, &c.Revision.Number,
			&c.SourceSnapshot, &c.View, &c.ReceiptProtocol, &c.ReceiptRevision.Lineage, &c.ReceiptRevision.Number,
			&c.SecurityEpoch, &c.CapabilityVersion, &p.Protocol, &p.Generation, &p.Digest,
			&p.Receipt.Protocol, &p.Receipt.Bytes, &p.Receipt.Digest}
	}}
	EpochBindings = Rows[serving.EpochBinding]{epochBinding, func(r *serving.EpochBinding) []any {
		return []any{&r.Epoch, &r.Ordinal, &r.Row, &r.Identity, bindingKindColumn{&r.Kind}, &r.OwnerPack, &r.Installation, &r.PackPayload,
			&r.BusinessKey, &r.Version, &r.CredentialRefs,
			optional[facts.DefinitionID]{&r.Runtime.Command}, optional[facts.DefinitionVersion]{&r.Runtime.Version},
			&r.PackGeneration, &r.EnvelopeVersion, &r.Definition, &r.Receipt.Protocol, &r.Receipt.Bytes, &r.Receipt.Digest}
	}}
	EpochCredentials = Rows[serving.EpochCredential]{epochCredential, func(r *serving.EpochCredential) []any {
		return []any{&r.Epoch, &r.Ordinal, &r.Generation, &r.Transport, &r.Receipt.Protocol, &r.Receipt.Bytes, &r.Receipt.Digest}
	}}
	BarrierReceipts = Rows[serving.BarrierReceipt]{barrierReceipt, func(r *serving.BarrierReceipt) []any {
		return []any{&r.Set, &r.Owner, &r.Fence, &r.Receipt.Protocol, &r.Receipt.Bytes, &r.Receipt.Digest}
	}}
)

// bindingKindColumn stores a binding kind by its stable name.
type bindingKindColumn struct{ at *serving.BindingKind }

func (k bindingKindColumn) Value() (driver.Value, error) { return k.at.MarshalText() }

func (k bindingKindColumn) Scan(source any) error {
	raw, ok := source.([]byte)
	if !ok {
		return misread("a binding kind", source)
	}
	return k.at.UnmarshalText(raw)
}
