package ledger_test

import (
	"fmt"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
)

// drift is one change at an owner between preparation and a later reading: of a byte, a row, a mapping, a receipt or a
// version. The number chooses the row and the byte.
type drift struct {
	name   string
	change func(c *ledger.EpochContent, n int)
	want   string // what the message must name
}

func flip(d *facts.Digest, n int) { d[n%len(d)] ^= 1 << (n % 8) }

func flipOpaque(o *serving.Opaque, n int) {
	raw := o.Bytes()
	raw[n%len(raw)] ^= 1 << (n % 8)
	*o = serving.OpaqueOf(raw)
}

// other is another key of the same kind.
func other[T facts.AnyKey](k T) T {
	parsed, err := facts.ParseKey[T](fmt.Sprint(k) + "-other")
	if err != nil {
		panic(err)
	}
	return parsed
}

// attested are the drifts of what stands once in an epoch.
func attested() []drift {
	catalog := func(column string, change func(a *serving.CatalogAttestation, n int)) drift {
		return drift{column, func(c *ledger.EpochContent, n int) { change(&c.Candidate.Catalog, n) }, "attestation: " + column}
	}
	proof := func(column string, change func(p *serving.ConfigurationProof, n int)) drift {
		return drift{column, func(c *ledger.EpochContent, n int) { change(&c.Candidate.Configuration, n) }, "attestation: " + column}
	}
	return []drift{
		{"scope", func(c *ledger.EpochContent, n int) { flip(&c.Candidate.Scope.Digest, n) }, "attestation: scope_digest"},
		catalog("organization", func(a *serving.CatalogAttestation, n int) { a.Organization = other(a.Organization) }),
		catalog("installation", func(a *serving.CatalogAttestation, n int) { a.Installation = other(a.Installation) }),
		catalog("workload", func(a *serving.CatalogAttestation, n int) { a.Workload = other(a.Workload) }),
		catalog("lineage", func(a *serving.CatalogAttestation, n int) { a.Revision.Lineage = other(a.Revision.Lineage) }),
		catalog("revision", func(a *serving.CatalogAttestation, n int) { a.Revision.Number += uint64(n + 1) }),
		catalog("source_snapshot", func(a *serving.CatalogAttestation, n int) { flip(&a.SourceSnapshot, n) }),
		catalog("view_digest", func(a *serving.CatalogAttestation, n int) { flip(&a.View, n) }),
		catalog("catalog_receipt_protocol", func(a *serving.CatalogAttestation, n int) { a.ReceiptProtocol = other(a.ReceiptProtocol) }),
		catalog("receipt_lineage", func(a *serving.CatalogAttestation, n int) {
			a.ReceiptRevision.Lineage = other(a.ReceiptRevision.Lineage)
		}),
		catalog("receipt_revision", func(a *serving.CatalogAttestation, n int) { a.ReceiptRevision.Number += uint64(n + 1) }),
		catalog("security_epoch", func(a *serving.CatalogAttestation, n int) { a.SecurityEpoch += uint64(n + 1) }),
		catalog("capability_version", func(a *serving.CatalogAttestation, n int) { a.CapabilityVersion = other(a.CapabilityVersion) }),
		proof("generation_protocol", func(p *serving.ConfigurationProof, n int) { p.Protocol = other(p.Protocol) }),
		proof("configuration_generation", func(p *serving.ConfigurationProof, n int) { p.Generation = other(p.Generation) }),
		proof("configuration_digest", func(p *serving.ConfigurationProof, n int) { flip(&p.Digest, n) }),
		proof("configuration_receipt_protocol", func(p *serving.ConfigurationProof, n int) { p.Receipt.Protocol = other(p.Receipt.Protocol) }),
		proof("configuration_receipt", func(p *serving.ConfigurationProof, n int) { flipOpaque(&p.Receipt.Bytes, n) }),
		proof("configuration_receipt_digest", func(p *serving.ConfigurationProof, n int) { flip(&p.Receipt.Digest, n) }),
	}
}

// bound are the drifts of one binding and its proof. A changed identity keeps its old digest: the store compares every
// column by itself and trusts no digest for the others.
func bound() []drift {
	binding := func(column string, change func(b *serving.Binding, n int)) drift {
		return drift{"binding " + column, func(c *ledger.EpochContent, n int) {
			change(&c.Candidate.Bindings[n%len(c.Candidate.Bindings)], n)
		}, ": " + column}
	}
	proof := func(column string, change func(d *serving.DefinitionProof, n int)) drift {
		return drift{"binding " + column, func(c *ledger.EpochContent, n int) {
			change(&c.Candidate.Definitions[n%len(c.Candidate.Definitions)], n)
		}, ": " + column}
	}
	return []drift{
		binding("kind", func(b *serving.Binding, n int) { b.Kind = serving.BindingKinds()[int(b.Kind)%4] }),
		binding("owner_pack", func(b *serving.Binding, n int) { b.OwnerPack = other(b.OwnerPack) }),
		binding("pack_installation", func(b *serving.Binding, n int) { b.Installation = other(b.Installation) }),
		binding("pack_payload", func(b *serving.Binding, n int) { flip(&b.PackPayload, n) }),
		binding("business_key", func(b *serving.Binding, n int) { b.BusinessKey = other(b.BusinessKey) }),
		binding("definition_version", func(b *serving.Binding, n int) { b.Version = other(b.Version) }),
		binding("credential_refs", func(b *serving.Binding, n int) { flipOpaque(&b.CredentialRefs, n) }),
		binding("runtime_command", func(b *serving.Binding, n int) {
			if b.Runtime.IsZero() {
				b.Runtime = serving.RuntimeCommand{Command: other(b.BusinessKey), Version: b.Version}
			} else {
				b.Runtime = serving.RuntimeCommand{}
			}
		}),
		proof("pack_generation", func(d *serving.DefinitionProof, n int) { d.PackGeneration = other(d.PackGeneration) }),
		proof("envelope_version", func(d *serving.DefinitionProof, n int) { d.EnvelopeVersion = other(d.EnvelopeVersion) }),
		proof("definition_digest", func(d *serving.DefinitionProof, n int) { flip(&d.Definition, n) }),
		proof("receipt_version", func(d *serving.DefinitionProof, n int) { d.Receipt.Protocol = other(d.Receipt.Protocol) }),
		proof("owner_receipt", func(d *serving.DefinitionProof, n int) { flipOpaque(&d.Receipt.Bytes, n) }),
		proof("owner_receipt_digest", func(d *serving.DefinitionProof, n int) { flip(&d.Receipt.Digest, n) }),
		{"binding identity and row", func(c *ledger.EpochContent, n int) {
			i := n % len(c.Candidate.Bindings)
			flip(&c.Candidate.Bindings[i].Identity, n)
			c.Candidate.Definitions[i].Identity = c.Candidate.Bindings[i].Identity
		}, ": identity_digest"},
		{"the last binding gone", func(c *ledger.EpochContent, n int) {
			c.Candidate.Bindings, c.Candidate.Definitions = c.Candidate.Bindings[:3], c.Candidate.Definitions[:3]
		}, "row 3 of serving_epoch_binding was prepared"},
		{"a binding more", func(c *ledger.EpochContent, n int) {
			b, d := c.Candidate.Bindings[0], c.Candidate.Definitions[0]
			b.Ordinal, d.Ordinal = 4, 4
			c.Candidate.Bindings, c.Candidate.Definitions = append(c.Candidate.Bindings, b), append(c.Candidate.Definitions, d)
		}, "binding 4, inbound_route contact-000000 of pack pack was not prepared"},
		{"a binding in another place", func(c *ledger.EpochContent, n int) {
			c.Candidate.Bindings[1].Ordinal = 0
		}, "binding 1"},
		{"two proofs exchanged", func(c *ledger.EpochContent, n int) {
			slices.Reverse(c.Candidate.Definitions)
		}, "binding 0"},
	}
}

// proved are the drifts of one credential generation, and of the mapping of accounts and credentials.
func proved() []drift {
	credential := func(column string, change func(p *serving.CredentialProof, n int)) drift {
		return drift{"credential " + column, func(c *ledger.EpochContent, n int) {
			change(&c.Candidate.Credentials[n%len(c.Candidate.Credentials)], n)
		}, ": " + column}
	}
	return []drift{
		credential("generation_id", func(p *serving.CredentialProof, n int) { p.Generation[n%16] ^= 1 << (n % 8) }),
		credential("transport_digest", func(p *serving.CredentialProof, n int) { flip(&p.Transport, n) }),
		credential("receipt_protocol", func(p *serving.CredentialProof, n int) { p.Receipt.Protocol = other(p.Receipt.Protocol) }),
		credential("owner_receipt", func(p *serving.CredentialProof, n int) { flipOpaque(&p.Receipt.Bytes, n) }),
		credential("owner_receipt_digest", func(p *serving.CredentialProof, n int) { flip(&p.Receipt.Digest, n) }),
		{"a credential gone", func(c *ledger.EpochContent, n int) { c.Candidate.Credentials = c.Candidate.Credentials[:1] }, "row 1 of serving_epoch_credential was prepared"},
		{"a credential more", func(c *ledger.EpochContent, n int) {
			p := c.Candidate.Credentials[0]
			p.Ordinal, p.Generation = 2, facts.Mint[facts.CredentialGenerationID]()
			c.Candidate.Credentials = append(c.Candidate.Credentials, p)
		}, "was not prepared"},
		{"a mapping less", func(c *ledger.EpochContent, n int) { c.Configured = c.Configured[:1] }, "the configuration generation does not reference it"},
		{"a mapping more", func(c *ledger.EpochContent, n int) {
			c.Configured = append(c.Configured, facts.Mint[facts.CredentialGenerationID]())
		}, "and it has no proof"},
	}
}

// mapped are the drifts of the account set.
func mapped() []drift {
	return []drift{
		{"an account gone", func(c *ledger.EpochContent, n int) { c.Accounts = c.Accounts[:1] }, "share 1 was prepared"},
		{"an account more", func(c *ledger.EpochContent, n int) {
			c.Accounts = append(c.Accounts, facts.AccountID{255, 255, 255, 255, 255})
		}, "share 2 is not of account ffffffff"},
		{"another account", func(c *ledger.EpochContent, n int) { c.Accounts[1][15] ^= 1 << (n % 8) }, "share 1 is not of account"},
	}
}

func drifts() []drift { return slices.Concat(attested(), bound(), proved(), mapped()) }
