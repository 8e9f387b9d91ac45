// Package conformance is the suite that every implementation of the ports in readers/owners must pass. It is imported
// by tests only:
//
//	func TestMyOwners(t *testing.T) { conformance.Run(t, newFixture) }
//
// Each part gets a fixture of its own. Author writes that a part expects to pass must pass any number of times.
//
// Spec: Existing foundations and schema ownership; Ownership boundaries (ServingPublicationBarrierSet).
package conformance

import (
	"context"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
)

// Names are what one asks the owners for.
type Names struct {
	View          serving.Revision // the least revision that is accepted
	Definitions   map[serving.BindingKind]serving.BindingIdentity
	Configuration facts.ServiceConfigurationGeneration
	Credential    facts.CredentialGenerationID
}

// Fixture is a set of owners with something published at each of them.
type Fixture struct {
	Owners  owners.Set
	Scope   serving.Scope
	Present Names // what was published
	Missing Names // what never was, in its view a lineage that the Catalog does not have
	// Author is one authoring write of each owner: something new is published, selected, removed or revoked.
	Author map[serving.Owner]func(context.Context) error
	// Cut takes the owners' store away, for good.
	Cut func()
}

// New makes a fixture that ends with the test.
type New func(t testing.TB) Fixture

// Run runs every part of the suite.
func Run(t *testing.T, fresh New) {
	t.Run("exact reads are found and byte-stable", func(t *testing.T) { Reads(t, fresh(t)) })
	t.Run("the three answers are kept apart", func(t *testing.T) { Answers(t, fresh(t)) })
	t.Run("a view is the current one", func(t *testing.T) { CurrentView(t, fresh(t)) })
	t.Run("a held barrier bars its owner's writes", func(t *testing.T) { Barred(t, fresh(t)) })
	t.Run("a hold is idempotent and fenced", func(t *testing.T) { Fenced(t, fresh(t)) })
	t.Run("an attempt comes once", func(t *testing.T) { Once(t, fresh(t)) })
}

// read is one exact read of one owner.
type read struct {
	noun string
	ask  func(context.Context, Names) owners.Answer[owners.Exact]
	open func(owners.Exact) error
}

func (f Fixture) reads() []read {
	all := []read{
		{"catalog view",
			func(ctx context.Context, n Names) owners.Answer[owners.Exact] {
				return f.Owners.Catalog.CurrentView(ctx, f.Scope, n.View)
			},
			func(e owners.Exact) error { _, err := owners.OpenView(f.Scope, e); return err }},
		{"configuration",
			func(ctx context.Context, n Names) owners.Answer[owners.Exact] {
				return f.Owners.Configuration.Configuration(ctx, f.Scope, n.Configuration)
			},
			func(e owners.Exact) error { _, err := owners.OpenConfiguration(f.Scope, e); return err }},
		{"credential",
			func(ctx context.Context, n Names) owners.Answer[owners.Exact] {
				return f.Owners.Credentials.Credential(ctx, f.Scope, n.Credential)
			},
			func(e owners.Exact) error { _, err := owners.OpenCredential(f.Scope, e); return err }},
	}
	for _, kind := range serving.BindingKinds() {
		if many, takes := f.Owners.Definitions(kind).(owners.SeveralDefinitions); takes {
			all = append(all, read{"several of " + kind.String(),
				func(ctx context.Context, n Names) owners.Answer[owners.Exact] {
					return f.between(many.SeveralDefinitions(ctx, f.Scope, []serving.BindingIdentity{f.Missing.Definitions[kind], n.Definitions[kind], f.Present.Definitions[kind]}))
				},
				func(e owners.Exact) error { _, err := owners.OpenDefinition(f.Scope, e); return err }})
		}
		all = append(all, read{kind.String(),
			func(ctx context.Context, n Names) owners.Answer[owners.Exact] {
				return f.Owners.Definitions(kind).Definition(ctx, f.Scope, n.Definitions[kind])
			},
			func(e owners.Exact) error { _, err := owners.OpenDefinition(f.Scope, e); return err }})
	}
	if many, takes := f.Owners.Credentials.(owners.SeveralCredentials); takes {
		all = append(all, read{"several credentials",
			func(ctx context.Context, n Names) owners.Answer[owners.Exact] {
				return f.between(many.SeveralCredentials(ctx, f.Scope, []facts.CredentialGenerationID{f.Missing.Credential, n.Credential, f.Present.Credential}))
			},
			func(e owners.Exact) error { _, err := owners.OpenCredential(f.Scope, e); return err }})
	}
	return all
}

// between is the answer to the question in the middle, if its neighbours have the answers to theirs: what never was, and
// what is there. In a call without a store all three have none.
func (f Fixture) between(all []owners.Answer[owners.Exact]) owners.Answer[owners.Exact] {
	if len(all) != 3 {
		return owners.Nobody[owners.Exact](errors.Newf("three questions have %d answers", len(all)))
	}
	neighbours := [2]owners.Standing{all[0].Standing(), all[2].Standing()}
	if neighbours != [2]owners.Standing{owners.Absent, owners.Found} && neighbours != [2]owners.Standing{} {
		return owners.Nobody[owners.Exact](errors.Newf("beside it stand %s and %s", all[0].Standing(), all[2].Standing()))
	}
	return all[1]
}

// Reads asks twice for everything that was published, with writes of every owner in between.
func Reads(t *testing.T, f Fixture) {
	first := map[string]owners.Exact{}
	for _, r := range f.reads() {
		exact, found := r.ask(t.Context(), f.Present).Value()
		if !found {
			t.Fatalf("%s: %s, %v", r.noun, r.ask(t.Context(), f.Present).Standing(), r.ask(t.Context(), f.Present).Cause())
		}
		if err := r.open(exact); err != nil {
			t.Errorf("%s does not open: %v", r.noun, err)
		}
		first[r.noun] = exact
	}
	for _, owner := range serving.Owners() {
		if owner != serving.Catalog { // a write of the Catalog makes another view current
			if err := f.Author[owner](t.Context()); err != nil {
				t.Errorf("%s: an authoring write: %v", owner, err)
			}
		}
	}
	for _, r := range f.reads() {
		if exact, found := r.ask(t.Context(), f.Present).Value(); !found || exact != first[r.noun] {
			t.Errorf("%s: the second read differs from the first: %+v and %+v", r.noun, exact, first[r.noun])
		}
	}
}

// Answers asks for what never was, then with a context that has ended, then without a store.
func Answers(t *testing.T, f Fixture) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, r := range f.reads() {
		if got := r.ask(t.Context(), f.Missing); got.Standing() != owners.Absent {
			t.Errorf("%s that never was: %s, %v", r.noun, got.Standing(), got.Cause())
		}
		for what, names := range map[string]Names{"that is there": f.Present, "that never was": f.Missing} {
			if got := r.ask(ended, names); got.Standing() != owners.Unavailable || got.Cause() == nil {
				t.Errorf("%s %s, with a context that ended: %s", r.noun, what, got.Standing())
			}
		}
	}
	f.Cut()
	for _, r := range f.reads() {
		for what, names := range map[string]Names{"that is there": f.Present, "that never was": f.Missing} {
			if got := r.ask(t.Context(), names); got.Standing() != owners.Unavailable || got.Cause() == nil {
				t.Errorf("%s %s, without a store: %s", r.noun, what, got.Standing())
			}
		}
	}
	for _, owner := range serving.Owners() {
		barrier := f.Owners.Barrier(owner)
		if _, err := barrier.Acquire(t.Context(), f.ask(facts.Mint[facts.ActivationAttemptID](), 1)); err == nil || isRefusal(err) {
			t.Errorf("%s: acquired without a store: %v", owner, err)
		}
		if got := barrier.Verify(t.Context(), owners.Hold{Owner: owner, Scope: f.Scope, Attempt: facts.Mint[facts.ActivationAttemptID](), Fence: 1}); got.Standing() != owners.Unavailable {
			t.Errorf("%s: a hold without a store is %s", owner, got.Standing())
		}
	}
}

// CurrentView asks for the view after the Catalog has moved: never the older one, and nothing newer than there is.
func CurrentView(t *testing.T, f Fixture) {
	before, found := f.Owners.Catalog.CurrentView(t.Context(), f.Scope, f.Present.View).Value()
	if err := f.Author[serving.Catalog](t.Context()); !found || err != nil {
		t.Fatalf("found %v, %v", found, err)
	}
	after, found := f.Owners.Catalog.CurrentView(t.Context(), f.Scope, f.Present.View).Value()
	if !found || after == before {
		t.Fatalf("after the Catalog's write the view is %v %+v", found, after)
	}
	view, err := owners.OpenView(f.Scope, after)
	if err != nil || view.Revision.Number <= f.Present.View.Number {
		t.Errorf("the view is of revision %d, %v", view.Revision.Number, err)
	}
	view.Revision.Number++
	if got := f.Owners.Catalog.CurrentView(t.Context(), f.Scope, view.Revision); got.Standing() != owners.Unavailable {
		t.Errorf("a view that is newer than the current one: %s", got.Standing())
	}
}

func (f Fixture) ask(attempt facts.ActivationAttemptID, fence facts.Fence) owners.Ask {
	return owners.Ask{Scope: f.Scope, Attempt: attempt, Fence: fence}
}

func isRefusal(err error) bool {
	var refusal *facts.Refusal
	return errors.As(err, &refusal)
}
