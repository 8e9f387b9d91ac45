package platform

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/readers/owners/conformance"
	"connectorcore/schema"

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

// installation is a founded deployment with an installed and authorised pack, and one configured account.
type installation struct {
	*Owners
	ledger        *ledger.Ledger
	reader        *readers.Reader
	store         *world.Store
	pools         []*sql.DB
	account       facts.AccountID
	pack          Pack
	view          serving.Revision
	credential    owners.CredentialGeneration
	configuration facts.ServiceConfigurationGeneration
	count         atomic.Uint64
}

func deploymentOf(t testing.TB) serving.Deployment {
	return serving.Deployment{ID: facts.Mint[facts.DeploymentID](), Class: serving.Conformance, Organization: key[facts.Organization](t, "acme"),
		Installation: key[facts.ApplicationInstallation](t, "crm"), Workload: key[facts.Workload](t, "sync"), Destinations: serving.Destinations{serving.Loopback}}
}

// found makes the owners of a fresh database with nothing published.
func founded(t testing.TB) *installation {
	t.Helper()
	store := world.Fresh(t)
	i := &installation{store: store, account: facts.Mint[facts.AccountID]()}
	i.pools = []*sql.DB{store.Pool(t, schema.RoleLedger), store.Pool(t, schema.RoleReader)}
	i.reader = readers.Open(i.pools[1])
	var err error
	if i.ledger, err = ledger.Open(i.pools[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenOwners(t.Context(), i.ledger, i.reader); !errors.Is(err, facts.ConfigurationInvalid) {
		t.Errorf("owners of a database that was not founded: %v", err)
	}
	if _, err := i.ledger.FoundDeployment(t.Context(), deploymentOf(t)); err != nil {
		t.Fatal(err)
	}
	if i.Owners, err = OpenOwners(t.Context(), i.ledger, i.reader); err != nil {
		t.Fatal(err)
	}
	return i
}

func install(t testing.TB) *installation {
	t.Helper()
	i := founded(t)
	i.pack = i.packOf(t, "pack", serving.BindingKinds()...)
	i.credential = i.credentialOf(t, "webhook")
	must(t, i.PublishPack(t.Context(), i.pack))
	must(t, i.PublishCredentials(t.Context(), []owners.CredentialGeneration{i.credential}))
	var err error
	i.view, err = i.Authorise(t.Context(), []facts.PackGenerationID{i.pack.Generation})
	must(t, err)
	i.configuration, err = i.PublishConfiguration(t.Context(), i.configurationOf(t, "1"))
	must(t, err)
	return i
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// packOf has one definition of each kind; its route and its push contract need the credential "webhook".
func (i *installation) packOf(t testing.TB, name string, kinds ...serving.BindingKind) Pack {
	p := Pack{Name: key[facts.PackName](t, name), Installation: key[facts.PackInstallationID](t, "i-1"),
		Generation: key[facts.PackGenerationID](t, fmt.Sprintf("%s-g%d", name, i.count.Add(1))), Payload: facts.Digest{byte(len(name)), byte(i.count.Load()), 1}}
	for _, kind := range kinds {
		d := PackDefinition{Kind: kind, Name: key[facts.DefinitionID](t, "contact"), Version: key[facts.DefinitionVersion](t, "1"),
			Digest: facts.Digest{2}, Canonical: []byte("definition of " + kind.String())}
		if kind == serving.InboundRoute || kind == serving.PushContract {
			d.Credentials = []owners.CredentialRef{{Name: key[facts.CredentialIdentity](t, "webhook"), Provider: key[facts.ProviderScope](t, "sandbox")}}
		}
		p.Definitions = append(p.Definitions, d)
	}
	return p
}

func (i *installation) credentialOf(t testing.TB, identity string) owners.CredentialGeneration {
	return owners.CredentialGeneration{ID: facts.Mint[facts.CredentialGenerationID](), Identity: key[facts.CredentialIdentity](t, identity), Account: i.account,
		Provider: key[facts.ProviderScope](t, "sandbox"), Backend: key[facts.OwnerName](t, "file"), Version: key[facts.SecretVersion](t, "v-1"),
		Transport: []owners.Setting{{Name: key[facts.DefinitionID](t, "host"), Value: "sandbox.example"}}}
}

func (i *installation) configurationOf(t testing.TB, policy string) owners.Configuration {
	return owners.Configuration{Limits: owners.DefaultLimits(), Policies: []owners.Setting{{Name: key[facts.DefinitionID](t, "retention"), Value: policy}},
		Accounts: []owners.AccountConfiguration{{Account: i.account, Provider: key[facts.ProviderScope](t, "sandbox"), Organization: key[facts.RemoteIdentity](t, "org-1"),
			Routes:      []owners.RouteRef{{Pack: i.pack.Name, Route: key[facts.DefinitionID](t, "contact"), Version: key[facts.DefinitionVersion](t, "1")}},
			Credentials: []owners.CredentialMapping{{Ref: owners.CredentialRef{Name: i.credential.Identity, Provider: i.credential.Provider}, Generation: i.credential.ID}}}}}
}

func (i *installation) identityOf(t testing.TB, p Pack, kind serving.BindingKind) serving.BindingIdentity {
	for _, d := range p.Definitions {
		if d.Kind == kind {
			refs, err := owners.EncodeRefs(d.Credentials)
			must(t, err)
			return serving.BindingIdentity{Kind: kind, OwnerPack: p.Name, Installation: p.Installation, PackPayload: p.Payload,
				BusinessKey: d.Name, Version: d.Version, CredentialRefs: refs, Runtime: d.Runtime}
		}
	}
	t.Fatalf("pack %s has no %s", p.Name, kind)
	return serving.BindingIdentity{}
}

func (i *installation) definitionsOf(t testing.TB, p Pack) map[serving.BindingKind]serving.BindingIdentity {
	all := map[serving.BindingKind]serving.BindingIdentity{}
	for _, kind := range serving.BindingKinds() {
		all[kind] = i.identityOf(t, p, kind)
	}
	return all
}

func (i *installation) author(t testing.TB) map[serving.Owner]func(context.Context) error {
	all := map[serving.Owner]func(context.Context) error{
		serving.Catalog: func(ctx context.Context) error {
			p := i.packOf(t, "more", serving.FieldMapping)
			if err := i.PublishPack(ctx, p); err != nil {
				return err
			}
			_, err := i.Authorise(ctx, []facts.PackGenerationID{i.pack.Generation, p.Generation})
			return err
		},
		serving.Configuration: func(ctx context.Context) error {
			_, err := i.PublishConfiguration(ctx, i.configurationOf(t, fmt.Sprint("policy ", i.count.Add(1))))
			return err
		},
		serving.Credentials: func(ctx context.Context) error {
			return i.PublishCredentials(ctx, []owners.CredentialGeneration{i.credentialOf(t, "api")})
		},
	}
	for _, kind := range serving.BindingKinds() {
		all[kind.Owner()] = func(ctx context.Context) error { return i.PublishPack(ctx, i.packOf(t, "one", kind)) }
	}
	return all
}

func TestReferenceOwnersPassTheConformanceSuite(t *testing.T) {
	conformance.Run(t, func(t testing.TB) conformance.Fixture {
		i := install(t)
		never := i.packOf(t, "never", serving.BindingKinds()...)
		return conformance.Fixture{
			Owners: i.Set(), Scope: i.Scope(), Author: i.author(t),
			Present: conformance.Names{View: i.view, Definitions: i.definitionsOf(t, i.pack), Configuration: i.configuration, Credential: i.credential.ID},
			Missing: conformance.Names{View: serving.Revision{Lineage: key[facts.Lineage](t, "another"), Number: 1}, Definitions: i.definitionsOf(t, never),
				Configuration: key[facts.ServiceConfigurationGeneration](t, "configuration-none"), Credential: facts.Mint[facts.CredentialGenerationID]()},
			Cut: func() {
				for _, pool := range i.pools {
					must(t, pool.Close())
				}
			},
		}
	})
}
