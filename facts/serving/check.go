package serving

import (
	"fmt"

	"connectorcore/facts"
)

// Check refuses a candidate that is incomplete, names something twice, or is not what its own parts derive to. The
// configured generations are those that the configuration generation references, each at least once, in any order: the
// candidate's set must be exactly theirs.
//
// It proves nothing about any owner. A candidate that agrees with itself is verified by reading every owner afresh.
//
// Refuses: GenerationMalformed, which names the part.
func (c Candidate) Check(author Author, configured []facts.CredentialGenerationID) error {
	switch {
	case c.Epoch.IsZero():
		return malformed("epoch id", "it is absent")
	case c.Scope.IsZero():
		return malformed("serving scope", "it is absent")
	}
	for _, check := range []func() error{
		c.checkCatalog, c.checkConfiguration,
		func() error { return c.checkBindings(author) },
		func() error { return c.checkCredentials(configured) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	if author.Epoch(c).IsZero() {
		return malformed("preimage", "a required value is absent")
	}
	return nil
}

func malformed(where, detail string, args ...any) error {
	return facts.Refuse(facts.GenerationMalformed, facts.OfInput("candidate epoch, "+where), detail, args...)
}

func (c Candidate) checkCatalog() error {
	a := c.Catalog
	switch {
	case a.Organization.IsZero() || a.Installation.IsZero() || a.Workload.IsZero():
		return malformed("catalog attestation", "it names no organization, no installation or no workload")
	case a.Revision.Lineage.IsZero():
		return malformed("catalog attestation", "it names no lineage")
	case a.Revision != a.ReceiptRevision:
		return malformed("catalog attestation", "its receipt repeats revision %s/%d, and the view is of %s/%d",
			a.ReceiptRevision.Lineage, a.ReceiptRevision.Number, a.Revision.Lineage, a.Revision.Number)
	case a.SourceSnapshot.IsZero() || a.View.IsZero():
		return malformed("catalog attestation", "its snapshot or its view has no digest")
	case a.ReceiptProtocol.IsZero() || a.CapabilityVersion.IsZero():
		return malformed("catalog attestation", "it names no receipt protocol or no capability version")
	}
	return nil
}

func (c Candidate) checkConfiguration() error {
	p := c.Configuration
	fault := p.Receipt.fault()
	switch {
	case p.Protocol.IsZero() || p.Generation.IsZero() || p.Digest.IsZero():
		fault = "it names no protocol, no generation or no digest"
	}
	if fault != "" {
		return malformed("configuration proof", "%s", fault)
	}
	return nil
}

func (c Candidate) checkBindings(author Author) error {
	if len(c.Bindings) != len(c.Definitions) {
		return malformed("bindings", "there are %d, and %d definition proofs", len(c.Bindings), len(c.Definitions))
	}
	seen := map[facts.Digest]uint64{}
	for i, b := range c.Bindings {
		where := fmt.Sprintf("binding %d, %s %s", i, b.Kind, b.BusinessKey)
		identity := author.BindingIdentity(b.BindingIdentity)
		other, twice := seen[identity]
		seen[identity] = uint64(i)
		switch {
		case b.Ordinal != uint64(i):
			return malformed(where, "it has the ordinal %d", b.Ordinal)
		case identity.IsZero():
			return malformed(where, "its identity is incomplete")
		case twice:
			return malformed(where, "it is binding %d again", other)
		case b.Identity != identity:
			return malformed(where, "its identity digest %s is not that of its fields", b.Identity)
		case b.Row != author.BindingRow(c.Epoch, identity):
			return malformed(where, "its row %s is not the one that it derives to", b.Row)
		}
		if err := c.Definitions[i].check(b, where); err != nil {
			return err
		}
	}
	return nil
}

func (d DefinitionProof) check(b Binding, where string) error {
	fault := d.Receipt.fault()
	switch {
	case d.Ordinal != b.Ordinal || d.Row != b.Row || d.Identity != b.Identity:
		fault = fmt.Sprintf("the proof in its place is of ordinal %d, row %s, identity %s", d.Ordinal, d.Row, d.Identity)
	case d.PackGeneration.IsZero() || d.EnvelopeVersion.IsZero() || d.Definition.IsZero():
		fault = "its proof names no pack generation, no envelope version or no definition digest"
	}
	if fault != "" {
		return malformed(where, "%s", fault)
	}
	return nil
}

func (c Candidate) checkCredentials(configured []facts.CredentialGenerationID) error {
	unproved := make(map[facts.CredentialGenerationID]bool, len(configured))
	for _, generation := range configured {
		unproved[generation] = true
	}
	for i, p := range c.Credentials {
		where := fmt.Sprintf("credential generation %s", p.Generation)
		fault := p.Receipt.fault()
		switch {
		case p.Ordinal != uint64(i):
			fault = fmt.Sprintf("it has the ordinal %d in place %d", p.Ordinal, i)
		case i > 0 && c.Credentials[i-1].Generation.Compare(p.Generation) >= 0:
			fault = "it stands twice or not in ascending order"
		case p.Transport.IsZero():
			fault = "its transport configuration has no digest"
		case !unproved[p.Generation]:
			fault = "the configuration generation does not reference it"
		}
		if fault != "" {
			return malformed(where, "%s", fault)
		}
		delete(unproved, p.Generation)
	}
	for _, generation := range configured {
		if unproved[generation] {
			return malformed(fmt.Sprintf("credential generation %s", generation), "the configuration generation references it, and it has no proof")
		}
	}
	return nil
}
