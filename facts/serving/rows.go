package serving

import (
	"fmt"
	"math"

	"connectorcore/facts"
)

// EpochAttestation is what an epoch froze once: its scope, what the Catalog said of its view, and the proof of the
// configuration.
type EpochAttestation struct {
	Epoch         facts.EpochID
	Scope         Scope
	Catalog       CatalogAttestation
	Configuration ConfigurationProof
}

// EpochBinding is one binding of an epoch together with its owner's proof. The proof repeats the binding's ordinal, row
// and identity in the candidate; they are stored once.
type EpochBinding struct {
	Epoch facts.EpochID
	Binding
	PackGeneration  facts.PackGenerationID
	EnvelopeVersion facts.Protocol
	Definition      facts.Digest
	Receipt         Receipt
}

// EpochCredential is the proof of one credential generation of an epoch.
type EpochCredential struct {
	Epoch facts.EpochID
	CredentialProof
}

// EpochRows is a candidate as it is stored: written with the epoch and never after.
//
// Spec: Identity rules ("Its complete reproducibility graph is required").
type EpochRows struct {
	Attestation EpochAttestation
	Bindings    []EpochBinding    // by ordinal, from 0
	Credentials []EpochCredential // by ordinal, from 0
}

// Rows is the candidate as it is stored. Nothing of it is lost, so that Candidate gives the same candidate again.
//
// Refuses: GenerationMalformed (a number that the store cannot hold, or a proof that is not its binding's, whose own
// ordinal, row and identity would be lost).
func (c Candidate) Rows() (EpochRows, error) {
	for name, number := range map[string]uint64{
		"revision": c.Catalog.Revision.Number, "receipt revision": c.Catalog.ReceiptRevision.Number, "security epoch": c.Catalog.SecurityEpoch,
	} {
		if number > math.MaxInt64 {
			return EpochRows{}, malformed("catalog attestation", "its %s %d does not fit into 63 bits", name, number)
		}
	}
	if len(c.Bindings) != len(c.Definitions) {
		return EpochRows{}, malformed("bindings", "there are %d, and %d definition proofs", len(c.Bindings), len(c.Definitions))
	}
	rows := EpochRows{Attestation: EpochAttestation{c.Epoch, c.Scope, c.Catalog, c.Configuration}}
	for i, b := range c.Bindings {
		d := c.Definitions[i]
		if b.Ordinal != uint64(i) || d.Ordinal != b.Ordinal || d.Row != b.Row || d.Identity != b.Identity {
			return EpochRows{}, malformed(fmt.Sprintf("binding %d", i), "it or the proof in its place is of another ordinal, row or identity")
		}
		rows.Bindings = append(rows.Bindings, EpochBinding{c.Epoch, b, d.PackGeneration, d.EnvelopeVersion, d.Definition, d.Receipt})
	}
	for i, p := range c.Credentials {
		if p.Ordinal != uint64(i) {
			return EpochRows{}, malformed(fmt.Sprintf("credential generation %s", p.Generation), "it has the ordinal %d in place %d", p.Ordinal, i)
		}
		rows.Credentials = append(rows.Credentials, EpochCredential{c.Epoch, p})
	}
	return rows, nil
}

// Candidate is the candidate of which the rows are.
func (r EpochRows) Candidate() Candidate {
	a := r.Attestation
	c := Candidate{Epoch: a.Epoch, Scope: a.Scope, Catalog: a.Catalog, Configuration: a.Configuration}
	for _, b := range r.Bindings {
		c.Bindings = append(c.Bindings, b.Binding)
		c.Definitions = append(c.Definitions, DefinitionProof{b.Ordinal, b.Row, b.Identity, b.PackGeneration, b.EnvelopeVersion, b.Definition, b.Receipt})
	}
	for _, p := range r.Credentials {
		c.Credentials = append(c.Credentials, p.CredentialProof)
	}
	return c
}

// String names the binding for a person.
func (b EpochBinding) String() string {
	return fmt.Sprintf("binding %d, %s %s of pack %s", b.Ordinal, b.Kind, b.BusinessKey, b.OwnerPack)
}

// String names the proof for a person.
func (c EpochCredential) String() string {
	return fmt.Sprintf("credential generation %s", c.Generation)
}

// String names the row for a person.
func (a EpochAttestation) String() string { return "attestation" }

// BarrierReceipt is one owner's statement in a barrier set that it holds its barrier for the set's attempt.
//
// Spec: Identity rules ("exactly one fenced receipt").
type BarrierReceipt struct {
	Set     facts.BarrierSetID
	Owner   Owner
	Fence   facts.Fence // the owner's barrier's own, at the hold
	Receipt Receipt
}
