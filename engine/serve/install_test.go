package serve

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"connectorcore/engine/pack"
	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/proptest/world"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
)

func key[T facts.AnyKey](t testing.TB, text string) T {
	t.Helper()
	parsed, err := facts.ParseKey[T](text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// shop is the worked example of docs/packs.md with an outbound half: of its two callouts one authenticates.
func shop(t testing.TB, signed bool) *pack.Pack {
	t.Helper()
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	folder := fstest.MapFS{}
	for _, block := range regexp.MustCompile("(?s)```(\\S+\\.yaml)\n(.*?)```").FindAllStringSubmatch(read("../../docs/packs.md"), -1) {
		text := strings.Replace(block[2], "[webhook]", "[webhook, callout, query]", 1)
		if !signed {
			text = regexp.MustCompile(`(?m)^signatures:\n.*\n`).ReplaceAllString(text, "")
		}
		folder[block[1]] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, name := range []string{"note.callout.yaml", "notes.callout.yaml", "note.push.yaml"} {
		folder[name] = &fstest.MapFile{Data: []byte(read("../pack/testdata/outbound/" + name))}
	}
	made, err := pack.Compile(folder)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestADefinitionRefersToACredentialIfItsBytesSayThatASecretIsUsed(t *testing.T) {
	for _, signed := range []bool{true, false} {
		p := shop(t, signed)
		all, err := publicationOf(p)
		if err != nil || all.Generation != p.Generation() || all.Payload != p.Digest() || all.Name.String() != "shop" || len(all.Definitions) != 5 {
			t.Fatalf("%+v, %v", all, err)
		}
		got := map[string]string{}
		for i, d := range all.Definitions {
			if string(d.Canonical) != string(p.Definitions()[i].Canonical()) || d.Digest != p.Definitions()[i].Digest {
				t.Errorf("%s %s has other bytes or another digest", d.Kind, d.Name)
			}
			got[d.Kind.String()+" "+d.Name.String()] = fmt.Sprint(d.Credentials, d.Runtime.Command, d.Runtime.Version)
		}
		want := map[string]string{"inbound_route orders": "[inbound/orders at shop] upsert_order 1", "callout_profile note": "[outbound at shop]  ",
			"callout_profile notes": "[]  ", "field_mapping order": "[]  ", "push_contract note": "[]  "}
		if !signed {
			want["inbound_route orders"] = "[] upsert_order 1"
		}
		for name, refs := range want {
			if got[name] != refs {
				t.Errorf("signed %v: %s has %q, want %q", signed, name, got[name], refs)
			}
		}
	}
}

// What is installed can be authorised and configured; and a mapping to no credential or to somebody else's is refused
// with the account and the reference, and nothing is written.
func TestAnInstalledPackIsConfiguredWithTheCredentialsThatItRefersTo(t *testing.T) {
	database := world.Fresh(t)
	store, err := OpenStore(t.Context(), platform.Store{DSN: database.DSN()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	wanted := serving.Deployment{Class: serving.Conformance, Organization: key[facts.Organization](t, "acme"), Installation: key[facts.ApplicationInstallation](t, "crm"),
		Workload: key[facts.Workload](t, "sync"), Destinations: serving.Destinations{serving.Loopback}}
	deployment, err := store.Found(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	p := shop(t, true)
	if done, err := store.InstallPack(t.Context(), p); err != nil || !done.Written || done.Deployment != deployment.ID {
		t.Fatalf("%+v, %v", done, err)
	}
	l, r, err := store.rooms()
	if err != nil {
		t.Fatal(err)
	}
	at, err := platform.OpenOwners(t.Context(), l, r)
	if err != nil {
		t.Fatal(err)
	}
	revision, err := at.Authorise(t.Context(), []facts.PackGenerationID{p.Generation()})
	if err != nil {
		t.Fatal(err)
	}
	account, stranger := facts.Mint[facts.AccountID](), facts.Mint[facts.AccountID]()
	inbound, outbound, foreign := published(t, at, account, "inbound/orders"), published(t, at, account, "outbound"), published(t, at, stranger, "outbound")
	for name, one := range map[string]struct {
		credentials []owners.CredentialMapping
		want        string
	}{
		"missing":            {[]owners.CredentialMapping{inbound}, "credential reference outbound at shop: a generation or a candidate"},
		"of another account": {[]owners.CredentialMapping{inbound, foreign}, "is of the account " + stranger.String()},
	} {
		before := generations(t, database)
		_, err := at.PublishConfiguration(t.Context(), configurationOf(t, account, one.credentials))
		if !errors.Is(err, facts.GenerationMalformed) || !strings.Contains(err.Error(), account.String()) || !strings.Contains(err.Error(), one.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if after := generations(t, database); after != before {
			t.Errorf("%s: %d generations became %d", name, before, after)
		}
	}
	if _, err := at.PublishConfiguration(t.Context(), configurationOf(t, account, []owners.CredentialMapping{inbound, outbound})); err != nil {
		t.Error(err)
	}
	exact, _ := at.Set().Catalog.CurrentView(t.Context(), at.Scope(), revision).Value()
	view, err := owners.OpenView(at.Scope(), exact)
	if err != nil || len(view.Bindings) != 5 {
		t.Fatalf("%d bindings, %v", len(view.Bindings), err)
	}
	for _, b := range view.Bindings {
		exact, found := at.Set().Definitions(b.Kind).Definition(t.Context(), at.Scope(), b).Value()
		d, err := owners.OpenDefinition(at.Scope(), exact)
		same := slices.ContainsFunc(p.Definitions(), func(of pack.Definition) bool { return string(of.Canonical()) == string(d.Content.Bytes()) })
		if !found || err != nil || !same || d.PackGeneration != p.Generation() {
			t.Errorf("%s %s: found %v, the pack's own bytes %v, %v", b.Kind, b.BusinessKey, found, same, err)
		}
	}
}

func published(t *testing.T, at *platform.Owners, account facts.AccountID, identity string) owners.CredentialMapping {
	t.Helper()
	c := owners.CredentialGeneration{ID: facts.Mint[facts.CredentialGenerationID](), Identity: key[facts.CredentialIdentity](t, identity), Account: account,
		Provider: key[facts.ProviderScope](t, "shop"), Backend: key[facts.OwnerName](t, "file"), Version: key[facts.SecretVersion](t, "v-1")}
	if err := at.PublishCredentials(t.Context(), []owners.CredentialGeneration{c}); err != nil {
		t.Fatal(err)
	}
	return owners.CredentialMapping{Ref: owners.CredentialRef{Name: c.Identity, Provider: c.Provider}, Generation: c.ID}
}

func configurationOf(t *testing.T, account facts.AccountID, credentials []owners.CredentialMapping) owners.Configuration {
	return owners.Configuration{Limits: owners.DefaultLimits(), Accounts: []owners.AccountConfiguration{{Account: account, Provider: key[facts.ProviderScope](t, "shop"),
		Organization: key[facts.RemoteIdentity](t, "org-1"), Credentials: credentials,
		Routes: []owners.RouteRef{{Pack: key[facts.PackName](t, "shop"), Route: key[facts.DefinitionID](t, "orders"), Version: key[facts.DefinitionVersion](t, "1")}}}}}
}

func generations(t *testing.T, store *world.Store) (n int) {
	t.Helper()
	if err := store.Admin.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM owner_generation").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
