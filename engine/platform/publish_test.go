package platform

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
)

func (i *installation) rows(t testing.TB, table string) (n int) {
	t.Helper()
	must(t, i.store.Admin.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n))
	return n
}

func (i *installation) all(t testing.TB) [3]int {
	return [3]int{i.rows(t, "owner_generation"), i.rows(t, "owner_standing"), i.rows(t, "owner_selection")}
}

func TestPublishingTheSameAgainChangesNothing(t *testing.T) {
	i := install(t)
	before := i.all(t)
	for range 2 {
		must(t, i.PublishPack(t.Context(), i.pack))
		must(t, i.PublishCredentials(t.Context(), []owners.CredentialGeneration{i.credential}))
		view, err := i.Authorise(t.Context(), []facts.PackGenerationID{i.pack.Generation})
		must(t, err)
		configuration, err := i.PublishConfiguration(t.Context(), i.configurationOf(t, "1"))
		must(t, err)
		if view != i.view || configuration != i.configuration {
			t.Errorf("revision %v and configuration %s became %v and %s", i.view, i.configuration, view, configuration)
		}
	}
	if after := i.all(t); after != before {
		t.Errorf("rows went from %v to %v", before, after)
	}
	i.pack.Definitions[2].Canonical = []byte("another definition")
	if err := i.PublishPack(t.Context(), i.pack); !errors.Is(err, facts.ContentDiffers) {
		t.Errorf("one definition of a published generation was replaced: %v", err)
	}
	other := i.credential
	other.Version = key[facts.SecretVersion](t, "v-2")
	if err := i.PublishCredentials(t.Context(), []owners.CredentialGeneration{other}); !errors.Is(err, facts.ContentDiffers) {
		t.Errorf("a credential generation got another secret version: %v", err)
	}
	if after := i.all(t); after != before {
		t.Errorf("refused publications left rows: %v to %v", before, after)
	}
}

// P03: what the pure check finds is refused at publication, and nothing is written.
func TestP03AConfigurationWithABadMappingIsNotPublished(t *testing.T) {
	i := install(t)
	foreign := i.credentialOf(t, "webhook")
	foreign.Account = facts.Mint[facts.AccountID]()
	must(t, i.PublishCredentials(t.Context(), []owners.CredentialGeneration{foreign}))
	before := i.all(t)
	for name, one := range map[string]struct {
		change func(*owners.AccountConfiguration)
		want   string
	}{
		"missing":            {func(a *owners.AccountConfiguration) { a.Credentials = nil }, "webhook at sandbox: a generation or a candidate"},
		"twice":              {func(a *owners.AccountConfiguration) { a.Credentials = append(a.Credentials, a.Credentials[0]) }, "it is mapped twice"},
		"of another account": {func(a *owners.AccountConfiguration) { a.Credentials[0].Generation = foreign.ID }, "is of the account " + foreign.Account.String()},
		"never published": {func(a *owners.AccountConfiguration) {
			a.Credentials[0].Generation = facts.CredentialGenerationID{5}
		}, "its owner has no generation 05000000"},
		"a route without a definition": {func(a *owners.AccountConfiguration) { a.Routes[0].Route = key[facts.DefinitionID](t, "gone") }, "route gone 1 of pack pack"},
	} {
		c := i.configurationOf(t, "2")
		one.change(&c.Accounts[0])
		_, err := i.PublishConfiguration(t.Context(), c)
		if !errors.Is(err, facts.GenerationMalformed) || !strings.Contains(err.Error(), one.want) || !strings.Contains(err.Error(), i.account.String()) {
			t.Errorf("%s: %v, want %q", name, err, one.want)
		}
	}
	if after := i.all(t); after != before {
		t.Errorf("rows went from %v to %v", before, after)
	}
}

func TestAPackThatContradictsItselfIsNotPublished(t *testing.T) {
	i := founded(t)
	for name, change := range map[string]func(*Pack){
		"a definition twice":      func(p *Pack) { p.Definitions = append(p.Definitions, p.Definitions[0]) },
		"a definition of no kind": func(p *Pack) { p.Definitions[0].Kind = 0 },
		"without content":         func(p *Pack) { p.Definitions[0].Canonical = nil },
		"without a digest":        func(p *Pack) { p.Definitions[0].Digest = facts.Digest{} },
		"a reference twice": func(p *Pack) {
			p.Definitions[0].Credentials = append(p.Definitions[0].Credentials, p.Definitions[0].Credentials[0])
		},
	} {
		p := i.packOf(t, "pack", serving.BindingKinds()...)
		change(&p)
		if err := i.PublishPack(t.Context(), p); !errors.Is(err, facts.GenerationMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := i.rows(t, "owner_generation"); n != 0 {
		t.Errorf("%d generations were written", n)
	}
	if _, err := i.Authorise(t.Context(), []facts.PackGenerationID{key[facts.PackGenerationID](t, "never")}); !errors.Is(err, facts.SubjectMissing) {
		t.Errorf("a pack that is not installed was authorised: %v", err)
	}
	one, two := i.packOf(t, "pack", serving.PushContract), i.packOf(t, "pack", serving.PushContract)
	must(t, i.PublishPack(t.Context(), one))
	must(t, i.PublishPack(t.Context(), two))
	if _, err := i.Authorise(t.Context(), []facts.PackGenerationID{one.Generation, two.Generation}); !errors.Is(err, facts.GenerationMalformed) || !strings.Contains(err.Error(), "push_contract contact of pack pack") {
		t.Errorf("two generations that define the same were authorised together: %v", err)
	}
}

// What an installation of many accounts publishes costs a fixed number of statements.
func TestManyCredentialsAreOnePublication(t *testing.T) {
	i := founded(t)
	var all []owners.CredentialGeneration
	for range 500 {
		c := i.credentialOf(t, "api")
		c.Account = facts.Mint[facts.AccountID]()
		all = append(all, c)
	}
	for range 2 {
		must(t, i.PublishCredentials(t.Context(), all))
	}
	if got := i.all(t); got != [3]int{500, 500, 500} || i.rows(t, "credential_generation_dispatch_gate_guard") != 500 {
		t.Errorf("rows %v", got)
	}
}

// Many authorisations at once: each is done or refused because another came first, and the history has no gap.
func TestAuthorisationsTakeTurns(t *testing.T) {
	i := install(t)
	outcome := make([]error, 8)
	packs := make([]Pack, len(outcome))
	for n := range outcome {
		packs[n] = i.packOf(t, fmt.Sprint("pack-", n/2), serving.FieldMapping)
		if n%2 == 1 {
			packs[n] = packs[n-1] // every second one wants the same as its neighbour
		}
		must(t, i.PublishPack(t.Context(), packs[n]))
	}
	var group sync.WaitGroup
	for n := range outcome {
		group.Go(func() {
			_, outcome[n] = i.Authorise(t.Context(), []facts.PackGenerationID{i.pack.Generation, packs[n].Generation})
		})
	}
	group.Wait()
	done := 0
	for n, err := range outcome {
		if err == nil {
			done++
		} else if !errors.Is(err, facts.WrongState) && !errors.Is(err, facts.ContentDiffers) {
			t.Errorf("authorisation %d: %v", n, err)
		}
	}
	exact, found := i.Set().Catalog.CurrentView(t.Context(), i.Scope(), i.view).Value()
	view, err := owners.OpenView(i.Scope(), exact)
	if !found || err != nil || done == 0 || int(view.Revision.Number) != i.rows(t, "owner_selection WHERE selector_digest IN (SELECT selector_digest FROM owner_generation WHERE name LIKE 'view%')") {
		t.Errorf("%d done, the view is %v of revision %d, %v", done, found, view.Revision.Number, err)
	}
}

func TestRotationMakesANewGenerationCurrentAndKeepsTheOld(t *testing.T) {
	i := install(t)
	next := i.credentialOf(t, "webhook")
	next.Version = key[facts.SecretVersion](t, "v-2")
	must(t, i.PublishCredentials(t.Context(), []owners.CredentialGeneration{next}))
	must(t, i.PublishCredentials(t.Context(), []owners.CredentialGeneration{i.credential})) // the first publication, once more: it does not undo the rotation
	line, err := i.credentialLine(next)
	must(t, err)
	last, err := i.current(t.Context(), line)
	must(t, err)
	name, err := owners.CredentialName(next.ID)
	must(t, err)
	if last.Seq != 2 || last.Generation != i.Owners.author.Generation(i.Scope(), serving.Credentials, name) {
		t.Errorf("the current generation is %+v", last)
	}
	for _, c := range []owners.CredentialGeneration{i.credential, next} {
		got, err := i.Credential(t.Context(), c.ID)
		if err != nil || got.Version != c.Version || got.Account != c.Account {
			t.Errorf("generation %s reads %+v, %v", c.ID, got, err)
		}
	}
	if n := i.rows(t, "credential_generation_dispatch_gate_guard"); n != 2 {
		t.Errorf("%d gates for two generations", n)
	}
	one, two := i.credentialOf(t, "api"), i.credentialOf(t, "api")
	if err := i.PublishCredentials(t.Context(), []owners.CredentialGeneration{one, two}); !errors.Is(err, facts.GenerationMalformed) || !strings.Contains(err.Error(), two.ID.String()) {
		t.Errorf("two generations of one credential were published at once: %v", err)
	}
	by := Authority{key[facts.OwnerName](t, "operator"), key[facts.OwnerName](t, "rotated")}
	fence, err := i.RevokeCredential(t.Context(), i.credential.ID, 1, by)
	if err != nil || fence != 2 {
		t.Errorf("revoked to fence %d, %v", fence, err)
	}
	if _, err := i.ReenableCredential(t.Context(), i.credential.ID, 1, by); !errors.Is(err, facts.StaleCredentialFence) {
		t.Errorf("enabled from a fence that was consumed: %v", err)
	}
	if fence, err = i.ReenableCredential(t.Context(), i.credential.ID, 2, by); err != nil || fence != 3 {
		t.Errorf("enabled to fence %d, %v", fence, err)
	}
}
