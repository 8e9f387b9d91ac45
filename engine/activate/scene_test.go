package activate

import (
	"database/sql"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectorcore/engine/platform"
	"connectorcore/engine/witness"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

func key[T facts.AnyKey](t testing.TB, text string) T {
	t.Helper()
	parsed, err := facts.ParseKey[T](text)
	ok(t, err)
	return parsed
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t testing.TB, what string, err error, want facts.Code) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}

// scene is a founded deployment whose reference owners have published two packs of different shape, a credential for each
// account and pack, the view and a configuration.
type scene struct {
	t             testing.TB
	store         *world.Store
	ledger        *ledger.Ledger
	reader        *readers.Reader
	at            *platform.Owners
	accounts      []facts.AccountID
	packs         []platform.Pack
	credentials   []owners.CredentialGeneration
	configuration owners.Configuration
	witness       string
}

func newScene(t testing.TB) *scene { return stage(t, serving.Conformance, 3) }

func stage(t testing.TB, class serving.Class, accounts int) *scene {
	t.Helper()
	s := &scene{t: t, store: emptied(t), witness: filepath.Join(t.TempDir(), "witness")}
	s.ledger = s.open(s.store.Pool(t, schema.RoleLedger))
	s.reader = readers.Open(s.store.Pool(t, schema.RoleReader))
	d := serving.Deployment{ID: facts.Mint[facts.DeploymentID](), Class: class, Organization: key[facts.Organization](t, "acme"),
		Installation: key[facts.ApplicationInstallation](t, "crm"), Workload: key[facts.Workload](t, "sync")}
	if class == serving.Conformance {
		d.Destinations = serving.Destinations{serving.Loopback}
	}
	_, err := s.ledger.FoundDeployment(t.Context(), d)
	ok(t, err)
	s.at, err = platform.OpenOwners(t.Context(), s.ledger, s.reader)
	ok(t, err)
	for range accounts {
		s.accounts = append(s.accounts, facts.Mint[facts.AccountID]())
	}
	slices.SortFunc(s.accounts, facts.AccountID.Compare)
	if accounts > 0 {
		s.publish()
	}
	return s
}

// emptied is the store that all tests of this process share, without a row.
func emptied(t testing.TB) *world.Store {
	t.Helper()
	store := world.Converged(t)
	tables := schema.Tables()
	slices.Reverse(tables) // children before parents
	for _, table := range tables {
		if table.Kind != schema.Catalogue {
			_, err := store.Admin.ExecContext(t.Context(), "DELETE FROM "+table.Name)
			ok(t, err)
		}
	}
	return store
}

func (s *scene) open(pool *sql.DB, options ...ledger.Option) *ledger.Ledger {
	s.t.Helper()
	l, err := ledger.Open(pool, options...)
	ok(s.t, err)
	return l
}

// packOf is a pack: the first has inbound routes and mappings, the second all four kinds and one credential for both ways.
func (s *scene) packOf(name string, kinds ...serving.BindingKind) platform.Pack {
	t := s.t
	p := platform.Pack{Name: key[facts.PackName](t, name), Installation: key[facts.PackInstallationID](t, name), Generation: key[facts.PackGenerationID](t, name+"-g1"), Payload: facts.Digest{byte(len(name)), 1}}
	for _, kind := range kinds {
		d := platform.PackDefinition{Kind: kind, Name: key[facts.DefinitionID](t, "contact"), Version: key[facts.DefinitionVersion](t, "1"), Digest: facts.Digest{2}, Canonical: []byte(name + " defines " + kind.String())}
		if kind == serving.InboundRoute || kind == serving.PushContract {
			d.Credentials = []owners.CredentialRef{{Name: key[facts.CredentialIdentity](t, "signing"), Provider: key[facts.ProviderScope](t, name)}}
		}
		p.Definitions = append(p.Definitions, d)
	}
	return p
}

func (s *scene) publish() {
	t := s.t
	s.packs = []platform.Pack{s.packOf("hooks", serving.InboundRoute, serving.FieldMapping), s.packOf("payments", serving.BindingKinds()...)}
	var generations []facts.PackGenerationID
	for _, p := range s.packs {
		ok(t, s.at.PublishPack(t.Context(), p))
		generations = append(generations, p.Generation)
	}
	_, err := s.at.Authorise(t.Context(), generations)
	ok(t, err)
	c := owners.Configuration{Limits: owners.DefaultLimits()}
	for _, account := range s.accounts {
		a := owners.AccountConfiguration{Account: account, Provider: key[facts.ProviderScope](t, "hooks"), Organization: key[facts.RemoteIdentity](t, "org")}
		for _, p := range s.packs {
			g := owners.CredentialGeneration{ID: facts.Mint[facts.CredentialGenerationID](), Identity: key[facts.CredentialIdentity](t, "signing"), Account: account, Provider: key[facts.ProviderScope](t, p.Name.String()),
				Backend: key[facts.OwnerName](t, "file"), Version: key[facts.SecretVersion](t, "v-1"), Transport: []owners.Setting{{Name: key[facts.DefinitionID](t, "host"), Value: "sandbox.example"}}}
			s.credentials = append(s.credentials, g)
			a.Credentials = append(a.Credentials, owners.CredentialMapping{Ref: owners.CredentialRef{Name: g.Identity, Provider: g.Provider}, Generation: g.ID})
			a.Routes = append(a.Routes, owners.RouteRef{Pack: p.Name, Route: key[facts.DefinitionID](t, "contact"), Version: key[facts.DefinitionVersion](t, "1")})
		}
		c.Accounts = append(c.Accounts, a)
	}
	ok(t, s.at.PublishCredentials(t.Context(), s.credentials))
	_, err = s.at.PublishConfiguration(t.Context(), c)
	ok(t, err)
	s.configuration = c
}

// anything serves: the definitions of these tests mean nothing.
func anything(serving.Candidate, owners.Frozen) error { return nil }

// nowhere is a witness that is always there.
type nowhere struct{}

func (nowhere) Stand(facts.DeploymentID) (io.Closer, error) { return io.NopCloser(nil), nil }
func (nowhere) Close() error                                { return nil }

func (s *scene) parts() Parts {
	return Parts{Ledger: s.ledger, Reader: s.reader, Owners: s.at.Set(), Deployment: serving.Founded{Deployment: s.at.Deployment(), Scope: s.at.Scope()}, Witness: witness.File{Path: s.witness}, Serves: anything,
		Principal: key[facts.OwnerName](s.t, "operator"), Reason: key[facts.OwnerName](s.t, "a new installation"), Say: func(string) {}}
}

// coordinator is one with changed parts.
func (s *scene) coordinator(changes ...func(*Parts)) *Coordinator {
	s.t.Helper()
	p := s.parts()
	for _, change := range changes {
		change(&p)
	}
	c, err := Open(p)
	ok(s.t, err)
	return c
}

func over(set owners.Set) func(*Parts) { return func(p *Parts) { p.Owners = set } }

func (s *scene) wanted() Wanted {
	s.t.Helper()
	revision, configuration, err := s.at.Current(s.t.Context())
	ok(s.t, err)
	return Wanted{configuration, revision}
}

func (s *scene) prepared(c *Coordinator) facts.EpochRef {
	s.t.Helper()
	standing, err := c.Prepare(s.t.Context(), s.wanted())
	ok(s.t, err)
	return standing.Epoch
}

func (s *scene) verified(c *Coordinator) facts.EpochRef {
	s.t.Helper()
	ref := s.prepared(c)
	judged, err := c.Verify(s.t.Context(), ref)
	ok(s.t, err)
	if judged.Cause != nil {
		s.t.Fatal(judged.Cause)
	}
	return ref
}

const (
	statesQuery = `SELECT CONCAT('epochs ', (SELECT IFNULL(GROUP_CONCAT(state, ' at ', fence ORDER BY state), 'none') FROM serving_epoch_guard),
	'; sets ', (SELECT IFNULL(GROUP_CONCAT(DISTINCT state ORDER BY state), 'none') FROM serving_publication_barrier_set_guard),
	'; gates ', (SELECT IFNULL(GROUP_CONCAT(DISTINCT state, ' at ', fence, IF(epoch_id IS NULL, '', ' under an epoch')), 'none') FROM account_serving_gate_guard),
	'; owners ', (SELECT GROUP_CONCAT(DISTINCT state ORDER BY state) FROM owner_publication_barrier_guard))`
	serves = "epochs active at 3; sets released; gates v2_serving at 6 under an epoch; owners open"
	offers = "epochs verified at 2; sets released; gates v2_validating at 5; owners open"
)

// states is where everything that an activation moves stands, by the administrator's eyes.
func (s *scene) states() (text string) {
	s.t.Helper()
	ok(s.t, s.store.Admin.QueryRowContext(s.t.Context(), statesQuery).Scan(&text))
	return text
}

func (s *scene) stands(what, want string) {
	s.t.Helper()
	if got := s.states(); got != want {
		s.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func (s *scene) count(query string, args ...any) (n int) {
	s.t.Helper()
	ok(s.t, s.store.Admin.QueryRowContext(s.t.Context(), query, args...).Scan(&n))
	return n
}

func (s *scene) execute(query string, args ...any) {
	s.t.Helper()
	_, err := s.store.Admin.ExecContext(s.t.Context(), query, args...)
	ok(s.t, err)
}

// rows is how many rows there are of everything that is written once, and the sum of what guards count.
func (s *scene) rows() string {
	s.t.Helper()
	var parts []string
	for _, table := range schema.Tables() {
		if table.Kind != schema.Catalogue {
			parts = append(parts, fmt.Sprintf("(SELECT COUNT(*) FROM %s)", table.Name))
		}
	}
	sum := "(SELECT IFNULL(SUM(fence), 0) FROM account_serving_gate_guard) + (SELECT SUM(fence) FROM owner_publication_barrier_guard)"
	return fmt.Sprint(s.count("SELECT "+strings.Join(parts, "+")), " rows, fences ", s.count("SELECT "+sum))
}
