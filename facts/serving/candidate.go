package serving

import (
	"connectorcore/facts"
	"connectorcore/facts/digest"
)

// Revision is where a catalog stands in its lineage. A greater number is later; numbers of two lineages have no order.
type Revision struct {
	Lineage facts.Lineage
	Number  uint64
}

// CatalogAttestation is what the Catalog says of its whole view.
type CatalogAttestation struct {
	Organization      facts.Organization
	Installation      facts.ApplicationInstallation
	Workload          facts.Workload
	Revision          Revision
	SourceSnapshot    facts.Digest
	View              facts.Digest
	ReceiptProtocol   facts.Protocol
	ReceiptRevision   Revision // the same tuple again, as the receipt states it
	SecurityEpoch     uint64
	CapabilityVersion facts.Protocol
}

// ConfigurationProof is what the configuration owner says of one exact generation.
type ConfigurationProof struct {
	Protocol   facts.Protocol // of the generation's canonical bytes
	Generation facts.ServiceConfigurationGeneration
	Digest     facts.Digest
	Receipt    Receipt
}

// RuntimeCommand is the exact command of the Runtime that a binding leads to. The zero RuntimeCommand is none.
type RuntimeCommand struct {
	Command facts.DefinitionID
	Version facts.DefinitionVersion
}

// IsZero tells whether a binding leads to no command.
func (r RuntimeCommand) IsZero() bool { return r == RuntimeCommand{} }

// BindingIdentity is the complete identity of a Catalog binding.
type BindingIdentity struct {
	Kind           BindingKind
	OwnerPack      facts.PackName
	Installation   facts.PackInstallationID
	PackPayload    facts.Digest
	BusinessKey    facts.DefinitionID
	Version        facts.DefinitionVersion
	CredentialRefs Opaque // the canonical blob, as its owner wrote it
	Runtime        RuntimeCommand
}

func (b BindingIdentity) write(w *digest.Writer) *digest.Writer {
	if b.Kind.Owner() == 0 {
		w.Null("kind")
	} else {
		w.Text("kind", b.Kind.String())
	}
	text(w, "owner_pack", b.OwnerPack)
	text(w, "pack_installation", b.Installation)
	w.Sum("pack_payload", b.PackPayload)
	text(w, "business_key", b.BusinessKey)
	text(w, "definition_version", b.Version)
	w.Bytes("credential_refs", b.CredentialRefs.Bytes())
	runtimes := 1
	if b.Runtime.IsZero() {
		runtimes = 0
	}
	return w.Group("runtime", runtimes, func(item *digest.Writer, _ int) {
		text(text(item, "command", b.Runtime.Command), "version", b.Runtime.Version)
	})
}

// Binding is one row of the Catalog view in an epoch.
type Binding struct {
	Ordinal  uint64
	Row      facts.BindingID
	Identity facts.Digest // of the fields below
	BindingIdentity
}

// DefinitionProof is what the owner of a binding's kind says of the exact definition behind it.
type DefinitionProof struct {
	Ordinal         uint64 // of its binding
	Row             facts.BindingID
	Identity        facts.Digest
	PackGeneration  facts.PackGenerationID
	EnvelopeVersion facts.Protocol
	Definition      facts.Digest
	Receipt         Receipt // its protocol is the definition-receipt version
}

// CredentialProof is what the credential authority says of one exact generation. It holds no secret.
type CredentialProof struct {
	Ordinal    uint64
	Generation facts.CredentialGenerationID
	Transport  facts.Digest // of the transport configuration, which holds no secret either
	Receipt    Receipt
}

// Candidate is a complete prepared epoch: everything that its digest is taken over.
//
// Spec: Identity rules ("The V2 ServingEpoch preimage has one closed nested order").
type Candidate struct {
	Epoch         facts.EpochID
	Scope         Scope
	Catalog       CatalogAttestation
	Configuration ConfigurationProof
	Bindings      []Binding
	Definitions   []DefinitionProof // one for each binding, in the same order
	Credentials   []CredentialProof // in ascending order of their generations
}

func (c Candidate) write(w *digest.Writer) *digest.Writer {
	w.ID("epoch", c.Epoch).Sum("serving_scope", c.Scope.Digest)
	c.Catalog.write(w)
	proof := c.Configuration
	text(w, "generation_protocol", proof.Protocol)
	text(w, "configuration_receipt_protocol", proof.Receipt.Protocol)
	text(w, "configuration_generation", proof.Generation)
	w.Sum("configuration_digest", proof.Digest)
	w.Bytes("configuration_receipt", proof.Receipt.Bytes.Bytes()).Sum("configuration_receipt_digest", proof.Receipt.Digest)
	bindings := len(c.Bindings)
	if len(c.Definitions) != bindings {
		bindings = -1 // no count is right, and the writer says so
	}
	w.Group("bindings", bindings, func(item *digest.Writer, at int) {
		c.Bindings[at].write(item.ID("row", c.Bindings[at].Row).Sum("identity", c.Bindings[at].Identity))
		c.Definitions[at].write(item)
	})
	return w.Group("credential_generations", len(c.Credentials), func(item *digest.Writer, at int) {
		one := c.Credentials[at]
		text(item.ID("generation", one.Generation), "receipt_protocol", one.Receipt.Protocol)
		item.Sum("transport_configuration", one.Transport)
		item.Bytes("owner_receipt", one.Receipt.Bytes.Bytes()).Sum("owner_receipt_digest", one.Receipt.Digest)
	})
}

func (a CatalogAttestation) write(w *digest.Writer) {
	text(w, "organization", a.Organization)
	text(w, "installation", a.Installation)
	text(w, "workload", a.Workload)
	text(w, "lineage", a.Revision.Lineage).Uint("revision", a.Revision.Number)
	w.Sum("source_snapshot", a.SourceSnapshot).Sum("view", a.View)
	text(w, "catalog_receipt_protocol", a.ReceiptProtocol)
	text(w, "receipt_lineage", a.ReceiptRevision.Lineage).Uint("receipt_revision", a.ReceiptRevision.Number)
	text(w.Uint("security_epoch", a.SecurityEpoch), "capability_version", a.CapabilityVersion)
}

func (d DefinitionProof) write(w *digest.Writer) {
	text(w, "pack_generation", d.PackGeneration)
	text(w, "envelope_version", d.EnvelopeVersion)
	text(w, "receipt_version", d.Receipt.Protocol)
	w.Sum("definition", d.Definition)
	w.Bytes("owner_receipt", d.Receipt.Bytes.Bytes()).Sum("owner_receipt_digest", d.Receipt.Digest)
}
