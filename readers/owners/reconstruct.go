package owners

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"connectorcore/facts"
	"connectorcore/facts/serving"

	"github.com/cockroachdb/errors"
)

// Question is everything that may flow from an epoch into a fresh reading of what it froze. All else must come from the
// owners, or an epoch could be verified by its own echo.
type Question struct {
	Scope         serving.Scope
	Least         serving.Revision // the Catalog's current view must be of this lineage and at least so far
	Configuration facts.ServiceConfigurationGeneration
}

// Fault is why a reading has no content. The zero Fault is none.
type Fault struct {
	// Standing is Absent or Unavailable for these two answers, and Found for an answer that does not say what it should.
	Standing Standing
	Owner    serving.Owner
	Name     serving.Name // the owner's name of what was asked for
	Detail   string       // what is wrong with what was found: the field, and what stands there
	Cause    error        // why nobody could say
}

// IsZero tells whether there is no fault.
func (f Fault) IsZero() bool { return f.Owner == 0 }

// String names owner and generation, and what is the matter.
func (f Fault) String() string {
	text := f.Owner.String() + " " + f.Name.String()
	switch f.Standing {
	case Absent:
		return text + " is absent, says its owner"
	case Found:
		return text + ": " + f.Detail
	}
	return fmt.Sprintf("%s: nobody could say (%v)", text, f.Cause)
}

// Reading is what all owners said when each was asked anew: a fault, or else everything that an epoch freezes.
type Reading struct {
	Fault Fault
	// Configured are the credential generations that the configuration references, and Accounts its accounts, both in
	// ascending order.
	Configured []facts.CredentialGenerationID
	Accounts   []facts.AccountID
	// Opened is what the answers say, for whoever judges whether it can serve.
	Opened Frozen

	author        serving.Author
	scope         serving.Scope
	catalog       serving.CatalogAttestation
	configuration serving.ConfigurationProof
	view          View
	definitions   []serving.DefinitionProof // one for each binding of the view
	credentials   []serving.CredentialProof // one for each of Configured
}

// Candidate is the epoch of this id that freezes what was read, of a reading without a fault.
func (r Reading) Candidate(epoch facts.EpochID) serving.Candidate {
	c := serving.Candidate{Epoch: epoch, Scope: r.scope, Catalog: r.catalog, Configuration: r.configuration, Credentials: r.credentials}
	for i, identity := range r.view.Bindings {
		b := serving.Binding{Ordinal: uint64(i), BindingIdentity: identity, Identity: r.author.BindingIdentity(identity)}
		b.Row = r.author.BindingRow(epoch, b.Identity)
		proof := r.definitions[i]
		proof.Ordinal, proof.Row, proof.Identity = b.Ordinal, b.Row, b.Identity
		c.Bindings, c.Definitions = append(c.Bindings, b), append(c.Definitions, proof)
	}
	return c
}

// Generation is the configuration generation that was read.
func (r Reading) Generation() facts.ServiceConfigurationGeneration { return r.configuration.Generation }

// inFlight is how many tasks of a reading are done at a time: enough to keep a store busy, few enough to leave it to others.
const inFlight = 8

// Read asks every owner anew, through its port, for everything that an epoch freezes, and opens each answer under its
// owner's protocol. The same answers give the same reading in whatever order they come; of several faults it is the first
// in the order Catalog, configuration, bindings, credential generations, the relation between them.
//
// It reads no secret, and believes no answer to be what was asked for.
//
// Spec: State machines ("validates each fact under its owner's protocol"); rule R43.
func Read(ctx context.Context, set Set, q Question) Reading {
	r := Reading{scope: q.Scope}
	author, err := serving.AuthorOf(facts.ProfileV2)
	if err != nil {
		r.Fault = Fault{Owner: serving.Catalog, Cause: err}
		return r
	}
	r.author = author
	configuration := Configuration{}
	if r.Fault = r.readView(ctx, set, q); r.Fault.IsZero() {
		configuration, r.Fault = r.readConfiguration(ctx, set, q)
	}
	if !r.Fault.IsZero() {
		return r
	}
	r.Configured, r.Accounts = configuration.Generations(), configuration.AccountIDs()
	bindings := len(r.view.Bindings)
	r.definitions = make([]serving.DefinitionProof, bindings)
	r.credentials = make([]serving.CredentialProof, len(r.Configured))
	opened := make([]CredentialGeneration, len(r.Configured))
	r.Opened = Frozen{Configuration: configuration, Definitions: make([]Definition, bindings), Credentials: make(map[facts.CredentialGenerationID]CredentialGeneration, len(opened))}
	said := askAll(ctx, set, q.Scope, r.view.Bindings, r.Configured)
	r.Fault = first(bindings+len(r.Configured), func(i int) (fault Fault) {
		if i < bindings {
			r.Opened.Definitions[i], r.definitions[i], fault = openedDefinition(q.Scope, r.view.Bindings[i], said.definitions[i])
			return fault
		}
		i -= bindings
		opened[i], r.credentials[i], fault = openedCredential(q.Scope, r.Configured[i], said.credentials[i])
		r.credentials[i].Ordinal = uint64(i)
		return fault
	})
	if !r.Fault.IsZero() {
		return r
	}
	for _, c := range opened {
		r.Opened.Credentials[c.ID] = c
	}
	name, _ := ConfigurationName(q.Configuration) // it was found under this name
	if err := CheckConfiguration(configuration, r.view, r.Opened.Credentials); err != nil {
		r.Fault = differs(serving.Configuration, name, err)
		r.Fault.Detail = fmt.Sprintf("against revision %d of the Catalog view: %s", r.view.Revision.Number, r.Fault.Detail)
	}
	return r
}

// first does the tasks, some at a time and in their order, until one has a fault, and gives the fault of the lowest task
// that has one. A task below it was begun before it, and is waited for: so it does not depend on which ends first.
func first(tasks int, do func(int) Fault) Fault {
	var mutex sync.Mutex
	next, lowest := 0, tasks
	var found Fault
	take := func() int {
		mutex.Lock()
		defer mutex.Unlock()
		if next >= lowest {
			return -1
		}
		next++
		return next - 1
	}
	var group sync.WaitGroup
	for range min(inFlight, tasks) {
		group.Go(func() {
			for i := take(); i >= 0; i = take() {
				fault := do(i)
				mutex.Lock()
				if !fault.IsZero() && i < lowest {
					lowest, found = i, fault
				}
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	return found
}

// exact is what an answer has, or the fault that it is.
func exact(owner serving.Owner, name serving.Name, answer Answer[Exact]) (Exact, Fault) {
	e, found := answer.Value()
	switch {
	case !found:
		return e, Fault{Standing: answer.Standing(), Owner: owner, Name: name, Cause: answer.Cause()}
	case e.Name != name:
		return e, Fault{Standing: Found, Owner: owner, Name: name, Detail: "name: it was answered by " + e.Name.String()}
	}
	return e, Fault{}
}

// differs is the fault of an answer that does not open.
func differs(owner serving.Owner, name serving.Name, err error) Fault {
	return Fault{Standing: Found, Owner: owner, Name: name, Detail: strings.Join(details(err), "; ")}
}

// details are what refusals say beside their codes' own meanings, which are the same for all of them.
func details(err error) []string {
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		var all []string
		for _, one := range several.Unwrap() {
			all = append(all, details(one)...)
		}
		return all
	}
	var refusal *facts.Refusal
	if errors.As(err, &refusal) {
		return []string{strings.TrimPrefix(refusal.Subject.String(), "input ") + ": " + refusal.Detail}
	}
	return []string{err.Error()}
}

func (r *Reading) readView(ctx context.Context, set Set, q Question) Fault {
	least, err := ViewName(q.Least)
	if err != nil {
		return Fault{Owner: serving.Catalog, Cause: err}
	}
	answer := set.Catalog.CurrentView(ctx, q.Scope, q.Least)
	e, found := answer.Value()
	if !found {
		return Fault{Standing: answer.Standing(), Owner: serving.Catalog, Name: least, Cause: answer.Cause()}
	}
	if r.view, err = OpenView(q.Scope, e); err != nil {
		return differs(serving.Catalog, e.Name, err)
	}
	switch at := r.view.Revision; {
	case at.Lineage != q.Least.Lineage:
		return Fault{Standing: Found, Owner: serving.Catalog, Name: e.Name, Detail: "lineage: " + q.Least.Lineage.String() + " was asked for"}
	case at.Number < q.Least.Number: // an answer that is known to be old decides nothing
		return Fault{Owner: serving.Catalog, Name: least, Cause: errors.Newf("it answers with its older revision %d", at.Number)}
	}
	if r.catalog, err = Attest(r.view, e); err != nil {
		return differs(serving.Catalog, e.Name, err)
	}
	return Fault{}
}

func (r *Reading) readConfiguration(ctx context.Context, set Set, q Question) (Configuration, Fault) {
	name, err := ConfigurationName(q.Configuration)
	if err != nil {
		return Configuration{}, Fault{Owner: serving.Configuration, Cause: err}
	}
	e, fault := exact(serving.Configuration, name, set.Configuration.Configuration(ctx, q.Scope, q.Configuration))
	if !fault.IsZero() {
		return Configuration{}, fault
	}
	c, err := OpenConfiguration(q.Scope, e)
	if err != nil {
		return c, differs(serving.Configuration, name, err)
	}
	r.configuration = serving.ConfigurationProof{Protocol: e.Protocol, Generation: q.Configuration, Digest: e.Digest, Receipt: e.Receipt}
	return c, Fault{}
}

func openedDefinition(scope serving.Scope, identity serving.BindingIdentity, answer Answer[Exact]) (Definition, serving.DefinitionProof, Fault) {
	owner := identity.Kind.Owner()
	name, err := DefinitionName(identity)
	if err != nil {
		return Definition{}, serving.DefinitionProof{}, differs(serving.Catalog, name, err) // the view names it
	}
	e, fault := exact(owner, name, answer)
	if !fault.IsZero() {
		return Definition{}, serving.DefinitionProof{}, fault
	}
	d, err := OpenDefinition(scope, e)
	if err != nil {
		return d, serving.DefinitionProof{}, differs(owner, name, err)
	}
	return d, serving.DefinitionProof{PackGeneration: d.PackGeneration, EnvelopeVersion: e.Protocol, Definition: e.Digest, Receipt: e.Receipt}, Fault{}
}

func openedCredential(scope serving.Scope, id facts.CredentialGenerationID, answer Answer[Exact]) (CredentialGeneration, serving.CredentialProof, Fault) {
	name, err := CredentialName(id)
	if err != nil {
		return CredentialGeneration{}, serving.CredentialProof{}, Fault{Owner: serving.Credentials, Cause: err}
	}
	e, fault := exact(serving.Credentials, name, answer)
	if !fault.IsZero() {
		return CredentialGeneration{}, serving.CredentialProof{}, fault
	}
	c, err := OpenCredential(scope, e)
	if err != nil {
		return c, serving.CredentialProof{}, differs(serving.Credentials, name, err)
	}
	transport, err := c.TransportDigest()
	if err != nil {
		return c, serving.CredentialProof{}, Fault{Owner: serving.Credentials, Name: name, Cause: err}
	}
	return c, serving.CredentialProof{Generation: id, Transport: transport, Receipt: e.Receipt}, Fault{}
}
