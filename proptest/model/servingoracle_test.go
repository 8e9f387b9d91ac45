package model

import (
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"
)

// judgeServing derives the serving side twice: with one destination and no binding, or with several of each.
func judgeServing(t fatal, in inputs) []verdict {
	author, err := serving.AuthorOf(facts.ProfileV2)
	if err != nil {
		t.Fatal(err)
	}
	deployment := deploymentOf(t, in)
	scope := author.Scope(deployment)
	owner := serving.Owners()[in.number%7]
	called := key[serving.Name](t, in.texts[3])
	candidate := candidateOf(t, author, scope, in)
	b := candidate.Bindings[0]
	return []verdict{
		{shape: "serving-scope", first: scope.Digest, model: ServingScope(deployment)},
		both("owner-barrier", author.Barrier(scope, owner), Owned("owner-barrier", scope, owner.String())),
		{shape: "owner-generation", first: author.Generation(scope, owner, called).Digest, model: Owned("owner-generation", scope, owner.String(), called.String())},
		{shape: "owner-selector", first: author.Selector(scope, owner, called).Digest, model: Owned("owner-selector", scope, owner.String(), called.String())},
		{shape: "binding-identity", first: b.Identity, model: BindingIdentity(b.BindingIdentity)},
		{shape: "epoch-binding", first: BindingRow(candidate.Epoch, b).sum(t), id: b.Row, model: BindingRow(candidate.Epoch, b)},
		{shape: "serving-epoch", first: author.Epoch(candidate).Digest, model: Epoch(candidate)},
	}
}

func deploymentOf(t fatal, in inputs) serving.Deployment {
	d := serving.Deployment{
		ID: facts.DeploymentID(in.ids[0]), Class: serving.Production, Organization: key[facts.Organization](t, in.texts[0]),
		Installation: key[facts.ApplicationInstallation](t, in.texts[1]), Workload: key[facts.Workload](t, in.texts[2]),
	}
	if in.grouped {
		remote, err := serving.ParseDestination("sandbox.example:443")
		if err != nil {
			t.Fatal(err)
		}
		d.Class, d.Destinations = serving.Conformance, serving.Destinations{serving.Loopback, remote}
	}
	return d
}

func candidateOf(t fatal, author serving.Author, scope serving.Scope, in inputs) serving.Candidate {
	protocol := key[facts.Protocol](t, in.texts[0])
	receipt := func(more string) serving.Receipt {
		return serving.Receipt{Protocol: protocol, Bytes: serving.OpaqueOf(append(slices.Clone(in.content), more...)), Digest: in.digests[2]}
	}
	revision := serving.Revision{Lineage: key[facts.Lineage](t, in.texts[1]), Number: in.number}
	c := serving.Candidate{
		Epoch: facts.EpochID(in.ids[0]), Scope: scope,
		Catalog: serving.CatalogAttestation{
			Organization: key[facts.Organization](t, in.texts[0]), Installation: key[facts.ApplicationInstallation](t, in.texts[1]),
			Workload: key[facts.Workload](t, in.texts[2]), Revision: revision, SourceSnapshot: in.digests[0], View: in.digests[1],
			ReceiptProtocol: protocol, ReceiptRevision: revision, SecurityEpoch: in.number, CapabilityVersion: protocol,
		},
		Configuration: serving.ConfigurationProof{
			Protocol: protocol, Generation: key[facts.ServiceConfigurationGeneration](t, in.texts[2]), Digest: in.digests[0], Receipt: receipt("c"),
		},
	}
	kinds := serving.BindingKinds()[:1]
	if in.grouped {
		kinds = serving.BindingKinds()
	}
	for i, kind := range kinds {
		b := serving.Binding{Ordinal: uint64(i), BindingIdentity: serving.BindingIdentity{
			Kind: kind, OwnerPack: key[facts.PackName](t, in.texts[0]), Installation: key[facts.PackInstallationID](t, in.texts[1]),
			PackPayload: in.digests[1], BusinessKey: key[facts.DefinitionID](t, in.texts[2]), Version: key[facts.DefinitionVersion](t, in.texts[3]),
			CredentialRefs: serving.OpaqueOf(in.content),
		}}
		if in.ordered {
			b.Runtime = serving.RuntimeCommand{Command: key[facts.DefinitionID](t, in.texts[4]), Version: key[facts.DefinitionVersion](t, in.texts[5])}
		}
		b.Identity = author.BindingIdentity(b.BindingIdentity)
		b.Row = author.BindingRow(c.Epoch, b.Identity)
		c.Bindings = append(c.Bindings, b)
		c.Definitions = append(c.Definitions, serving.DefinitionProof{Ordinal: b.Ordinal, Row: b.Row, Identity: b.Identity,
			PackGeneration: key[facts.PackGenerationID](t, in.texts[4]), EnvelopeVersion: protocol, Definition: in.digests[2], Receipt: receipt(kind.String())})
	}
	for i, id := range in.ids {
		c.Credentials = append(c.Credentials, serving.CredentialProof{Ordinal: uint64(i), Generation: facts.CredentialGenerationID(id), Transport: in.digests[i%3], Receipt: receipt("g")})
	}
	return c
}
