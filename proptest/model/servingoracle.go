package model

import "connectorcore/facts/serving"

// ServingScope is the preimage of a deployment's scope.
func ServingScope(d serving.Deployment) Preimage {
	destinations := make([]string, len(d.Destinations))
	for i, one := range d.Destinations {
		destinations[i] = words(one.String())
	}
	return preimage("serving-scope", name(d.ID), words(d.Class.String()), words(d.Organization.String()),
		words(d.Installation.String()), words(d.Workload.String()), list(destinations))
}

// Owned is the preimage of something of an owner in a scope, under a label: owner-barrier without a name,
// owner-generation and owner-selector with one.
func Owned(label string, scope serving.Scope, owner string, names ...string) Preimage {
	fields := []string{sum(scope.Digest), words(owner)}
	for _, one := range names {
		fields = append(fields, words(one))
	}
	return preimage(label, fields...)
}

func bindingFields(b serving.BindingIdentity) string {
	runtime := []string{}
	if b.Runtime != (serving.RuntimeCommand{}) {
		runtime = append(runtime, words(b.Runtime.Command.String())+words(b.Runtime.Version.String()))
	}
	return words(b.Kind.String()) + words(b.OwnerPack.String()) + words(b.Installation.String()) + sum(b.PackPayload) +
		words(b.BusinessKey.String()) + words(b.Version.String()) + opaque(b.CredentialRefs.Bytes()) + list(runtime)
}

// BindingIdentity is the preimage of a binding's identity.
func BindingIdentity(b serving.BindingIdentity) Preimage {
	return preimage("binding-identity", bindingFields(b))
}

// BindingRow is the preimage of a binding's row in an epoch.
func BindingRow(epoch [16]byte, b serving.Binding) Preimage {
	return preimage("epoch-binding", name(epoch), sum(b.Identity))
}

// Epoch is the preimage of a serving epoch, in the nested order of the spec: scope, Catalog attestation, configuration
// proof, bindings with their definitions, credential generations.
func Epoch(c serving.Candidate) Preimage {
	a, p := c.Catalog, c.Configuration
	bindings := make([]string, len(c.Bindings))
	for i, b := range c.Bindings {
		d := c.Definitions[i]
		bindings[i] = name(b.Row) + sum(b.Identity) + bindingFields(b.BindingIdentity) +
			words(d.PackGeneration.String()) + words(d.EnvelopeVersion.String()) + words(d.Receipt.Protocol.String()) +
			sum(d.Definition) + opaque(d.Receipt.Bytes.Bytes()) + sum(d.Receipt.Digest)
	}
	credentials := make([]string, len(c.Credentials))
	for i, g := range c.Credentials {
		credentials[i] = name(g.Generation) + words(g.Receipt.Protocol.String()) + sum(g.Transport) +
			opaque(g.Receipt.Bytes.Bytes()) + sum(g.Receipt.Digest)
	}
	return preimage("serving-epoch",
		name(c.Epoch), sum(c.Scope.Digest),
		words(a.Organization.String()), words(a.Installation.String()), words(a.Workload.String()),
		words(a.Revision.Lineage.String()), count(a.Revision.Number), sum(a.SourceSnapshot), sum(a.View),
		words(a.ReceiptProtocol.String()), words(a.ReceiptRevision.Lineage.String()), count(a.ReceiptRevision.Number),
		count(a.SecurityEpoch), words(a.CapabilityVersion.String()),
		words(p.Protocol.String()), words(p.Receipt.Protocol.String()), words(p.Generation.String()), sum(p.Digest),
		opaque(p.Receipt.Bytes.Bytes()), sum(p.Receipt.Digest),
		list(bindings), list(credentials))
}
