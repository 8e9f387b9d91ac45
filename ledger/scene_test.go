package ledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

func keyOf[T facts.AnyKey](t testing.TB, text string) T {
	t.Helper()
	parsed, err := facts.ParseKey[T](text)
	if err != nil {
		t.Fatal(err)
	}
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

// scene is a founded deployment whose seven owners have published what one epoch freezes.
type scene struct {
	t          testing.TB
	store      *world.Store
	ledger     *ledger.Ledger
	author     serving.Author
	deployment serving.Deployment
	scope      serving.Scope
	view       owners.Exact
	attested   serving.CatalogAttestation
	proof      serving.ConfigurationProof
	bindings   []serving.BindingIdentity
	defined    []owners.Definition
	credential []owners.CredentialGeneration
	accounts   []facts.AccountID
}

// setting is a scene: its class, and how many accounts with how many bindings each.
type setting struct {
	class          serving.Class
	accounts, each int // each: bindings an account
}

func newScene(t testing.TB) *scene { return stage(t, setting{serving.Conformance, 2, 2}) }

func stage(t testing.TB, of setting) *scene {
	t.Helper()
	s := &scene{t: t, store: emptied(t)}
	var err error
	s.author, err = serving.AuthorOf(facts.ProfileV2)
	ok(t, err)
	s.ledger = s.open(s.store.Pool(t, schema.RoleLedger))
	s.deployment = serving.Deployment{ID: facts.Mint[facts.DeploymentID](), Class: of.class, Organization: keyOf[facts.Organization](t, "acme"),
		Installation: keyOf[facts.ApplicationInstallation](t, "crm"), Workload: keyOf[facts.Workload](t, "sync")}
	if of.class == serving.Conformance {
		s.deployment.Destinations = serving.Destinations{serving.Loopback}
	}
	s.scope, err = s.ledger.FoundDeployment(t.Context(), s.deployment)
	ok(t, err)
	for range of.accounts {
		s.accounts = append(s.accounts, facts.Mint[facts.AccountID]())
	}
	slices.SortFunc(s.accounts, facts.AccountID.Compare)
	s.authored(of)
	return s
}

// emptied is the store that all tests of this process share, without a row: a database has one deployment, and to make
// another database takes seconds.
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

// authored publishes pack, credentials, view and configuration.
func (s *scene) authored(of setting) {
	t := s.t
	pack := keyOf[facts.PackName](t, "pack")
	refs, err := owners.EncodeRefs(nil)
	ok(t, err)
	for n := range of.accounts * of.each {
		kind := serving.BindingKinds()[n%4]
		b := serving.BindingIdentity{Kind: kind, OwnerPack: pack, Installation: keyOf[facts.PackInstallationID](t, "i-1"), PackPayload: facts.Digest{6},
			BusinessKey: keyOf[facts.DefinitionID](t, fmt.Sprintf("contact-%06d", n)), Version: keyOf[facts.DefinitionVersion](t, "1"), CredentialRefs: refs}
		if kind == serving.InboundRoute {
			b.Runtime = serving.RuntimeCommand{Command: keyOf[facts.DefinitionID](t, "upsert"), Version: keyOf[facts.DefinitionVersion](t, "2")}
		}
		s.bindings = append(s.bindings, b)
	}
	slices.SortFunc(s.bindings, owners.CompareBindings)
	var generations []serving.Generation
	for _, b := range s.bindings {
		d := owners.Definition{Binding: b, PackGeneration: keyOf[facts.PackGenerationID](t, "g-1"), Content: serving.OpaqueOf([]byte("definition of " + b.BusinessKey.String())), ContentDigest: facts.Digest{2}}
		s.defined = append(s.defined, d)
		exact, err := owners.SealDefinition(s.scope, d)
		ok(t, err)
		generations = append(generations, s.generation(b.Kind.Owner(), "pack", exact))
	}
	s.publish(generations, nil)
	s.publishCredentials()
	s.publishView()
	s.publishConfiguration()
}

func (s *scene) publishCredentials() {
	t := s.t
	var generations []serving.Generation
	var ids []facts.CredentialGenerationID
	for _, account := range s.accounts {
		s.credential = append(s.credential, owners.CredentialGeneration{ID: facts.Mint[facts.CredentialGenerationID](), Identity: keyOf[facts.CredentialIdentity](t, "webhook"), Account: account,
			Provider: keyOf[facts.ProviderScope](t, "sandbox"), Backend: keyOf[facts.OwnerName](t, "file"), Version: keyOf[facts.SecretVersion](t, "v-1"),
			Transport: []owners.Setting{{Name: keyOf[facts.DefinitionID](t, "host"), Value: "sandbox.example"}}})
	}
	slices.SortFunc(s.credential, func(a, b owners.CredentialGeneration) int { return a.ID.Compare(b.ID) })
	for _, c := range s.credential {
		exact, err := owners.SealCredential(s.scope, c)
		ok(t, err)
		generations, ids = append(generations, s.generation(serving.Credentials, "credential/"+c.ID.String(), exact)), append(ids, c.ID)
	}
	s.publish(generations, ids)
}

func (s *scene) publishView() {
	t := s.t
	v := owners.View{Organization: s.deployment.Organization, Installation: s.deployment.Installation, Workload: s.deployment.Workload,
		Revision: serving.Revision{Lineage: keyOf[facts.Lineage](t, "line"), Number: 1}, SourceSnapshot: facts.Digest{4}, SecurityEpoch: 3, Capabilities: owners.Capabilities, Bindings: s.bindings}
	var err error
	s.view, err = owners.SealView(s.scope, v)
	ok(t, err)
	s.attested, err = owners.Attest(v, s.view)
	ok(t, err)
	s.publish([]serving.Generation{s.generation(serving.Catalog, "view", s.view)}, nil)
}

func (s *scene) publishConfiguration() {
	t := s.t
	c := owners.Configuration{Limits: owners.DefaultLimits()}
	for _, account := range s.accounts {
		at := slices.IndexFunc(s.credential, func(c owners.CredentialGeneration) bool { return c.Account == account })
		c.Accounts = append(c.Accounts, owners.AccountConfiguration{Account: account, Provider: keyOf[facts.ProviderScope](t, "sandbox"), Organization: keyOf[facts.RemoteIdentity](t, "org"),
			Credentials: []owners.CredentialMapping{{Ref: owners.CredentialRef{Name: s.credential[at].Identity, Provider: s.credential[at].Provider}, Generation: s.credential[at].ID}}})
	}
	id, exact, err := owners.SealConfiguration(s.scope, c)
	ok(t, err)
	s.proof = serving.ConfigurationProof{Protocol: exact.Protocol, Generation: id, Digest: exact.Digest, Receipt: exact.Receipt}
	s.publish([]serving.Generation{s.generation(serving.Configuration, "configuration", exact)}, nil)
}

func (s *scene) generation(owner serving.Owner, line string, e owners.Exact) serving.Generation {
	return serving.Generation{ID: s.author.Generation(s.scope, owner, e.Name), Scope: s.scope, Owner: owner, Name: e.Name,
		Selector: s.author.Selector(s.scope, owner, keyOf[serving.Name](s.t, line)),
		Protocol: e.Protocol, Digest: e.Digest, Canonical: e.Canonical, Receipt: e.Receipt}
}

// publish publishes in calls of at most 250 generations.
func (s *scene) publish(generations []serving.Generation, ids []facts.CredentialGenerationID) {
	s.t.Helper()
	for i := 0; i < len(generations); i += 250 {
		end := min(i+250, len(generations))
		p := ledger.Publication{Scope: s.scope, Generations: generations[i:end]}
		if ids != nil {
			p.Credentials = ids[i:end]
		}
		ok(s.t, s.ledger.PublishGenerations(s.t.Context(), p))
	}
}

// content is what a coordinator reads at the owners now, for a new epoch id.
func (s *scene) content() ledger.EpochContent { return s.contentOf(facts.Mint[facts.EpochID]()) }

func (s *scene) contentOf(epoch facts.EpochID) ledger.EpochContent {
	t := s.t
	c := serving.Candidate{Epoch: epoch, Scope: s.scope, Catalog: s.attested, Configuration: s.proof}
	for i, d := range s.defined {
		exact, err := owners.SealDefinition(s.scope, d)
		ok(t, err)
		b := serving.Binding{Ordinal: uint64(i), BindingIdentity: d.Binding, Identity: s.author.BindingIdentity(d.Binding)}
		b.Row = s.author.BindingRow(epoch, b.Identity)
		c.Bindings = append(c.Bindings, b)
		c.Definitions = append(c.Definitions, serving.DefinitionProof{Ordinal: b.Ordinal, Row: b.Row, Identity: b.Identity, PackGeneration: d.PackGeneration,
			EnvelopeVersion: exact.Protocol, Definition: exact.Digest, Receipt: exact.Receipt})
	}
	content := ledger.EpochContent{Accounts: slices.Clone(s.accounts)}
	for i, g := range s.credential {
		exact, err := owners.SealCredential(s.scope, g)
		ok(t, err)
		transport, err := g.TransportDigest()
		ok(t, err)
		c.Credentials = append(c.Credentials, serving.CredentialProof{Ordinal: uint64(i), Generation: g.ID, Transport: transport, Receipt: exact.Receipt})
		content.Configured = append(content.Configured, g.ID)
	}
	content.Candidate = c
	return content
}

// prepared prepares an epoch and gives what it froze.
func (s *scene) prepared() (ledger.EpochContent, facts.EpochRef) {
	s.t.Helper()
	content := s.content()
	standing, err := s.ledger.PrepareEpoch(s.t.Context(), content)
	ok(s.t, err)
	return content, standing.Epoch
}

// verified prepares and verifies an epoch.
func (s *scene) verified() (ledger.EpochContent, facts.EpochRef) {
	s.t.Helper()
	content, ref := s.prepared()
	judged, err := s.ledger.JudgeEpoch(s.t.Context(), ledger.Judgement{Epoch: ref, Found: content})
	ok(s.t, err)
	if judged.Cause != nil {
		s.t.Fatal(judged.Cause)
	}
	return content, ref
}

// walk bears the gates of all accounts and takes them to v2_validating.
func (s *scene) walk() {
	s.t.Helper()
	for batch := range slices.Chunk(s.accounts, 500) {
		ok(s.t, s.walkOver(s.t.Context(), s.ledger, batch))
	}
}

func (s *scene) walkOver(ctx context.Context, l *ledger.Ledger, accounts []facts.AccountID) error {
	if _, err := l.BearGates(ctx, s.deployment.ID, accounts); err != nil {
		return err
	}
	verdicts, err := l.WalkGates(ctx, s.walkOf(accounts))
	for _, v := range verdicts {
		if v.Refusal != nil {
			return v.Refusal
		}
	}
	return err
}

func (s *scene) walkOf(accounts []facts.AccountID) ledger.Walk {
	return ledger.Walk{Deployment: s.deployment.ID, Accounts: accounts, Principal: keyOf[facts.OwnerName](s.t, "operator"), Reason: keyOf[facts.OwnerName](s.t, "a new installation")}
}

// coordinator is a new attempt's first.
func (s *scene) coordinator() ledger.Coordinator {
	return ledger.Coordinator{Set: facts.Mint[facts.BarrierSetID](), Scope: s.scope, Attempt: facts.Mint[facts.ActivationAttemptID](), Fence: 1}
}

// acquire lets the attempt hold every owner's barrier and gives their receipts.
func (s *scene) acquire(ctx context.Context, l *ledger.Ledger, c ledger.Coordinator) ([]serving.BarrierReceipt, error) {
	verdicts, err := l.HoldBarriers(ctx, s.asks(c))
	if err != nil {
		return nil, err
	}
	var receipts []serving.BarrierReceipt
	for i, v := range verdicts {
		if v.Refusal != nil {
			return nil, v.Refusal
		}
		hold, err := owners.SealHold(serving.Owners()[i], s.scope, c.Attempt, v.Barrier.HeldAt)
		if err != nil {
			return nil, err
		}
		receipts = append(receipts, serving.BarrierReceipt{Set: c.Set, Owner: hold.Owner, Fence: hold.Fence, Receipt: hold.Receipt})
	}
	return receipts, nil
}

func (s *scene) asks(c ledger.Coordinator) (asks []ledger.BarrierAsk) {
	for _, owner := range serving.Owners() {
		asks = append(asks, ledger.BarrierAsk{Scope: s.scope, Owner: owner, Attempt: c.Attempt, Fence: c.Fence})
	}
	return asks
}

// hold opens a set and takes it to held.
func (s *scene) hold(ctx context.Context, l *ledger.Ledger, c ledger.Coordinator) error {
	if _, err := l.OpenBarrierSet(ctx, c); err != nil {
		return err
	}
	receipts, err := s.acquire(ctx, l, c)
	if err != nil {
		return err
	}
	if _, err := l.RecordBarrierReceipts(ctx, c, receipts); err != nil {
		return err
	}
	_, err = l.HoldBarrierSet(ctx, c)
	return err
}

func (s *scene) activation(c ledger.Coordinator, content ledger.EpochContent, ref facts.EpochRef) ledger.Activation {
	return ledger.Activation{Coordinator: c, Deployment: s.deployment.ID, Epoch: ref, Found: content}
}

// states is where everything that an activation moves stands, by the administrator's eyes.
func (s *scene) states(ref facts.EpochRef) string {
	s.t.Helper()
	var text string
	ok(s.t, s.store.Admin.QueryRowContext(s.t.Context(), statesQuery, ref.ID[:], ref.ID[:]).Scan(&text))
	return text
}

const statesQuery = `SELECT CONCAT('epoch ', (SELECT IFNULL(MAX(CONCAT(state, ' at ', fence)), 'none') FROM serving_epoch_guard WHERE epoch_id=?),
	'; sets ', (SELECT IFNULL(GROUP_CONCAT(state, ' at ', fence ORDER BY state), 'none') FROM serving_publication_barrier_set_guard),
	'; gates ', (SELECT IFNULL(GROUP_CONCAT(DISTINCT state, ' at ', fence, IF(epoch_id=?, ' under it', '')), 'none') FROM account_serving_gate_guard))`

func (s *scene) count(query string, args ...any) (n int) {
	s.t.Helper()
	ok(s.t, s.store.Admin.QueryRowContext(s.t.Context(), query, args...).Scan(&n))
	return n
}
