package owners

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/serving"
)

// Frozen is what an epoch froze, as its owners have it: each exact generation, opened under its owner's protocol.
type Frozen struct {
	Configuration Configuration
	Definitions   []Definition // one for each binding, in its order
	Credentials   map[facts.CredentialGenerationID]CredentialGeneration
}

// ReadFrozen asks the owners for exactly the generations that an epoch froze, and takes nothing for them whose digest or
// receipt is not, byte for byte, the one that the epoch holds. It never asks what is current: whatever was published since
// is of another epoch.
//
// Spec: Generation and replay ("Runtime resolution during execution uses only the frozen references").
func ReadFrozen(ctx context.Context, set Set, c serving.Candidate) (Frozen, Fault) {
	r := Reading{scope: c.Scope}
	f := Frozen{Definitions: make([]Definition, len(c.Bindings)), Credentials: make(map[facts.CredentialGenerationID]CredentialGeneration, len(c.Credentials))}
	var fault Fault
	if f.Configuration, fault = r.readConfiguration(ctx, set, Question{Scope: c.Scope, Configuration: c.Configuration.Generation}); !fault.IsZero() {
		return f, fault
	}
	if r.configuration != c.Configuration {
		name, _ := ConfigurationName(c.Configuration.Generation) // it was found under this name
		return f, notFrozen(serving.Configuration, name)
	}
	opened := make([]CredentialGeneration, len(c.Credentials))
	bindings := len(c.Bindings)
	said := askFrozen(ctx, set, c)
	fault = first(bindings+len(c.Credentials), func(i int) Fault {
		if i < bindings {
			return f.definition(c, i, said.definitions[i])
		}
		i -= bindings
		one, proof, fault := openedCredential(c.Scope, c.Credentials[i].Generation, said.credentials[i])
		proof.Ordinal = uint64(i)
		if opened[i] = one; fault.IsZero() && proof != c.Credentials[i] {
			name, _ := CredentialName(one.ID) // it was found under this name
			fault = notFrozen(serving.Credentials, name)
		}
		return fault
	})
	for _, one := range opened {
		f.Credentials[one.ID] = one
	}
	return f, fault
}

// askFrozen asks for what a candidate froze.
func askFrozen(ctx context.Context, set Set, c serving.Candidate) answers {
	bindings, generations := make([]serving.BindingIdentity, len(c.Bindings)), make([]facts.CredentialGenerationID, len(c.Credentials))
	for i, b := range c.Bindings {
		bindings[i] = b.BindingIdentity
	}
	for i, p := range c.Credentials {
		generations[i] = p.Generation
	}
	return askAll(ctx, set, c.Scope, bindings, generations)
}

func (f *Frozen) definition(c serving.Candidate, i int, answer Answer[Exact]) Fault {
	identity := c.Bindings[i].BindingIdentity
	d, proof, fault := openedDefinition(c.Scope, identity, answer)
	if !fault.IsZero() {
		return fault
	}
	proof.Ordinal, proof.Row, proof.Identity = c.Definitions[i].Ordinal, c.Definitions[i].Row, c.Definitions[i].Identity
	if proof != c.Definitions[i] {
		name, _ := DefinitionName(identity) // it was found under this name
		return notFrozen(identity.Kind.Owner(), name)
	}
	f.Definitions[i] = d
	return Fault{}
}

func notFrozen(owner serving.Owner, name serving.Name) Fault {
	return Fault{Standing: Found, Owner: owner, Name: name, Detail: "digest or receipt: it is not what the epoch froze"}
}
