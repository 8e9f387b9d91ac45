// Package stage puts a deployment that serves under a test: a database of the shared server, packs of this tree installed
// and authorised through the product's own ways, an account for each pack with its credential, and an active epoch.
package stage

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"connectorcore/engine/activate"
	"connectorcore/engine/frozen"
	"connectorcore/engine/pack"
	"connectorcore/engine/platform"
	"connectorcore/engine/serve"
	"connectorcore/examples/provider"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Stage is a conformance deployment that serves.
type Stage struct {
	Store    *world.Store
	Ledger   *ledger.Ledger
	Reader   *readers.Reader
	Owners   *platform.Owners
	Epoch    facts.EpochRef
	Accounts []Account // one for each pack, in the order in which the packs were named
	Secrets  *platform.Secrets
}

// Account is an account of one pack, which enables every route of it.
type Account struct {
	ID     facts.AccountID
	Folder string
	Pack   *pack.Pack
	Secret []byte // that signs the deliveries of every channel
}

// Key is a key of a text that is known to be one.
func Key[T facts.AnyKey](t testing.TB, text string) T {
	t.Helper()
	key, err := facts.ParseKey[T](text)
	ok(t, err)
	return key
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Shape is what makes a pack of this tree the one that a test needs. A test does not name its provider.
type Shape func(*pack.Pack) bool

// The shapes.
var (
	// Single: a delivery is one event, named by a header.
	Single Shape = func(p *pack.Pack) bool {
		return first(p).Components.Form == "single" && first(p).Signatures[0].Timestamp == nil
	}
	// Batched: a delivery is a list of events.
	Batched Shape = func(p *pack.Pack) bool { return first(p).Components.Form == "array" }
	// Stamped: a delivery is one event, signed together with the time.
	Stamped Shape = func(p *pack.Pack) bool {
		return first(p).Components.Form == "single" && first(p).Signatures[0].Timestamp != nil
	}
)

func first(p *pack.Pack) *pack.Channel { return p.Channels()[0] }

// Folder is the folder of the pack of a shape.
func Folder(t testing.TB, shape Shape) string {
	t.Helper()
	root, err := packs()
	ok(t, err)
	entries, err := os.ReadDir(root)
	ok(t, err)
	for _, entry := range entries {
		folder := filepath.Join(root, entry.Name())
		p, err := pack.Compile(os.DirFS(folder))
		ok(t, err)
		if shape(p) {
			return folder
		}
	}
	t.Fatal("no pack has this shape")
	return ""
}

// packs is the folder of the packs of this tree, above the folder of the test.
func packs() (string, error) {
	at, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(at, "go.mod")); missing == nil {
			return filepath.Join(at, "packs"), nil
		}
		if at == filepath.Dir(at) {
			return "", errors.New("the test runs outside of the tree")
		}
		at = filepath.Dir(at)
	}
	return "", err
}

// Serving stages a deployment with the packs of these shapes.
func Serving(t testing.TB, shapes ...Shape) *Stage {
	t.Helper()
	return ServingWith(t, func(*owners.Configuration) {}, shapes...)
}

// ServingWith is Serving with a changed configuration.
func ServingWith(t testing.TB, change func(*owners.Configuration), shapes ...Shape) *Stage {
	t.Helper()
	var folders []string
	for _, shape := range shapes {
		folders = append(folders, Folder(t, shape))
	}
	return serves(t, change, folders)
}

// ServingPacks stages a deployment with the packs in these folders.
func ServingPacks(t testing.TB, folders ...string) *Stage {
	t.Helper()
	return serves(t, func(*owners.Configuration) {}, folders)
}

func serves(t testing.TB, change func(*owners.Configuration), folders []string) *Stage {
	t.Helper()
	s := &Stage{Store: world.Fresh(t)}
	store, err := serve.OpenStore(t.Context(), platform.Store{DSN: s.Store.DSN()}, nil)
	ok(t, err)
	t.Cleanup(func() { _ = store.Close() })
	_, err = store.Found(t.Context(), serving.Deployment{Class: serving.Conformance, Organization: Key[facts.Organization](t, "acme"),
		Installation: Key[facts.ApplicationInstallation](t, "crm"), Workload: Key[facts.Workload](t, "sync"), Destinations: serving.Destinations{serving.Loopback}})
	ok(t, err)
	s.Ledger, err = ledger.Open(s.Store.Pool(t, schema.RoleLedger))
	ok(t, err)
	s.Reader = readers.Open(s.Store.Pool(t, schema.RoleReader))
	s.Owners, err = platform.OpenOwners(t.Context(), s.Ledger, s.Reader)
	ok(t, err)
	var generations []facts.PackGenerationID
	for _, folder := range folders {
		p, err := pack.Compile(os.DirFS(folder))
		ok(t, err)
		_, err = store.InstallPack(t.Context(), p)
		ok(t, err)
		generations = append(generations, p.Generation())
		s.Accounts = append(s.Accounts, Account{ID: facts.Mint[facts.AccountID](), Folder: folder, Pack: p, Secret: []byte(rand.Text())})
	}
	_, err = s.Owners.Authorise(t.Context(), generations)
	ok(t, err)
	s.configure(t, change)
	s.activate(t)
	return s
}

// held is a backend that keeps encoded secret sets in memory.
type held map[facts.SecretVersion][]byte

func (h held) Fetch(_ context.Context, version facts.SecretVersion) ([]byte, error) {
	encoded, there := h[version]
	if !there {
		return nil, errors.Newf("no version %s", version)
	}
	return slices.Clone(encoded), nil
}

// configure publishes a credential for each reference of each account's pack, and the configuration.
func (s *Stage) configure(t testing.TB, change func(*owners.Configuration)) {
	t.Helper()
	backend, secrets := Key[facts.OwnerName](t, "memory"), held{}
	s.Secrets = platform.OpenSecrets(map[facts.OwnerName]platform.SecretBackend{backend: secrets})
	c := owners.Configuration{Limits: owners.DefaultLimits()}
	var credentials []owners.CredentialGeneration
	for _, account := range s.Accounts {
		name := account.Pack.Head().Name.String()
		set, err := platform.NewSecretSet([]platform.SecretMember{{Name: Key[facts.DefinitionID](t, "primary"), Secret: platform.NewSecret(slices.Clone(account.Secret)), Outbound: true}})
		ok(t, err)
		version := Key[facts.SecretVersion](t, "secret-of-"+name)
		secrets[version], err = platform.EncodeSecrets(set)
		ok(t, err)
		a := owners.AccountConfiguration{Account: account.ID, Provider: Key[facts.ProviderScope](t, name), Organization: Key[facts.RemoteIdentity](t, "org")}
		for _, route := range account.Pack.Routes() {
			a.Routes = append(a.Routes, owners.RouteRef{Pack: Key[facts.PackName](t, name), Route: Key[facts.DefinitionID](t, route.Name.String()), Version: route.Version})
		}
		for _, ref := range references(account.Pack) {
			g := owners.CredentialGeneration{ID: facts.Mint[facts.CredentialGenerationID](), Identity: Key[facts.CredentialIdentity](t, ref), Account: account.ID,
				Provider: Key[facts.ProviderScope](t, name), Backend: backend, Version: version}
			credentials = append(credentials, g)
			a.Credentials = append(a.Credentials, owners.CredentialMapping{Ref: owners.CredentialRef{Name: g.Identity, Provider: g.Provider}, Generation: g.ID})
		}
		c.Accounts = append(c.Accounts, a)
	}
	slices.SortFunc(c.Accounts, func(a, b owners.AccountConfiguration) int { return a.Account.Compare(b.Account) })
	change(&c)
	ok(t, s.Owners.PublishCredentials(t.Context(), credentials))
	_, err := s.Owners.PublishConfiguration(t.Context(), c)
	ok(t, err)
}

// references are the names of a pack's credential references, in ascending order.
func references(p *pack.Pack) []string {
	var all []string
	for _, route := range p.Routes() {
		if len(route.Channel.Signatures) > 0 {
			all = append(all, "inbound/"+route.Channel.Name.String())
		}
	}
	for _, d := range p.Definitions() {
		if callout, is := p.Callout(d.ID); is && d.Kind == facts.CalloutProfile && callout.Authentication != nil {
			all = append(all, "outbound")
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

type noWitness struct{}

func (noWitness) Stand(facts.DeploymentID) (io.Closer, error) { return noWitness{}, nil }
func (noWitness) Close() error                                { return nil }

func (s *Stage) activate(t testing.TB) {
	t.Helper()
	c, err := activate.Open(activate.Parts{Ledger: s.Ledger, Reader: s.Reader, Owners: s.Owners.Set(),
		Deployment: serving.Founded{Deployment: s.Owners.Deployment(), Scope: s.Owners.Scope()}, Witness: noWitness{}, Serves: frozen.Serves,
		Principal: Key[facts.OwnerName](t, "operator"), Reason: Key[facts.OwnerName](t, "a test"), Say: func(string) {}})
	ok(t, err)
	revision, configuration, err := s.Owners.Current(t.Context())
	ok(t, err)
	standing, err := c.Prepare(t.Context(), activate.Wanted{Configuration: configuration, Least: revision})
	ok(t, err)
	s.Epoch = standing.Epoch
	for _, step := range []func(context.Context, facts.EpochRef) (ledger.Judged, error){c.Verify, c.Activate} {
		judged, err := step(t.Context(), s.Epoch)
		ok(t, err)
		if judged.Cause != nil {
			t.Fatal(judged.Cause)
		}
	}
}

// Premise is what an item of an account of the stage is prepared under, if nothing has moved its gate since.
func (s *Stage) Premise() inbound.Premise { return inbound.Premise{Fence: 6, Epoch: s.Epoch} }

// Count is the number that a query gives to the administrator.
func (s *Stage) Count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	ok(t, s.Store.Admin.QueryRowContext(t.Context(), query, args...).Scan(&n))
	return n
}

// Delivery is a delivery before it is signed.
type Delivery = provider.Delivery

// Request is a delivery of one of the account's samples, signed, to a door.
func (a Account) Request(t testing.TB, door string, d provider.Delivery) *http.Request {
	t.Helper()
	channel, known := a.Pack.Channel(d.Channel)
	if !known {
		t.Fatalf("the pack has no channel %s", d.Channel)
	}
	request, err := provider.Request(channel, a.Secret, door+"/in/"+a.ID.String()+"/"+d.Channel.String(), d, facts.SystemClock{}.Now())
	ok(t, err)
	return request.WithContext(t.Context())
}

// Samples are the deliveries of the account's pack.
func (a Account) Samples(t testing.TB) []provider.Delivery {
	t.Helper()
	all, err := provider.Samples(a.Folder)
	ok(t, err)
	return all
}
