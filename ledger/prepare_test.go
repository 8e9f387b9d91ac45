package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var written = []string{"serving_epoch", "serving_epoch_guard", "serving_epoch_attestation", "serving_epoch_binding", "serving_epoch_credential", "serving_epoch_share", "owner_reference"}

// rows counts what is written of all epochs.
func (s *scene) rows() string {
	var all []string
	for _, table := range written {
		all = append(all, fmt.Sprint(s.count("SELECT COUNT(*) FROM "+table)))
	}
	return strings.Join(all, " ")
}

func TestAPreparedEpochIsStoredWholeAndReadBackEqual(t *testing.T) {
	s := newScene(t)
	content := s.content()
	for range 2 { // the same again is the same answer
		standing, err := s.ledger.PrepareEpoch(t.Context(), content)
		ok(t, err)
		if standing.State.String() != "prepared" || standing.Fence != 1 || standing.Epoch.Digest != s.author.Epoch(content.Candidate).Digest {
			t.Errorf("it stands %+v", standing)
		}
		if got := s.rows(); got != "1 1 1 4 2 2 8" {
			t.Errorf("rows: %s", got)
		}
	}
	reader := readers.Open(s.store.Pool(t, schema.RoleReader))
	id := content.Candidate.Epoch
	var rows serving.EpochRows
	var err error
	rows.Attestation, _, err = readers.One(t.Context(), reader, schema.EpochAttestations, func(a *serving.EpochAttestation) { a.Epoch = id })
	ok(t, err)
	rows.Bindings, err = readers.Many(t.Context(), reader, schema.EpochBindings, []serving.EpochBinding{{Epoch: id}}, 1)
	ok(t, err)
	rows.Credentials, err = readers.Many(t.Context(), reader, schema.EpochCredentials, []serving.EpochCredential{{Epoch: id}}, 1)
	ok(t, err)
	again := rows.Candidate()
	if err := again.Check(s.author, content.Configured); err != nil || s.author.Epoch(again) != s.author.Epoch(content.Candidate) {
		t.Errorf("read back it is %+v, %v", again, err)
	}
	if !slices.Equal(again.Bindings, content.Candidate.Bindings) || !slices.Equal(again.Definitions, content.Candidate.Definitions) ||
		!slices.Equal(again.Credentials, content.Candidate.Credentials) || again.Catalog != content.Candidate.Catalog || again.Configuration != content.Candidate.Configuration {
		t.Error("a value was lost on its way")
	}
}

// Each generation that an epoch would freeze must be there, and is named if not; nothing is written then.
func TestP01PreparationNamesTheGenerationThatIsMissing(t *testing.T) {
	s := newScene(t)
	for i, name := range []ledger.GenerationName{
		{Owner: serving.Catalog, Name: s.view.Name},
		{Owner: serving.Configuration, Name: keyOf[serving.Name](t, s.proof.Generation.String())},
		{Owner: s.defined[1].Binding.Kind.Owner(), Name: keyOf[serving.Name](t, s.author.BindingIdentity(s.defined[1].Binding).String())},
		{Owner: serving.Credentials, Name: keyOf[serving.Name](t, s.credential[1].ID.String())},
	} {
		removal := ledger.Removal{Scope: s.scope, Generations: []ledger.GenerationName{name}}
		ok(t, s.ledger.RemoveGenerations(t.Context(), removal))
		_, err := s.ledger.PrepareEpoch(t.Context(), s.content())
		if !errors.Is(err, facts.SubjectMissing) || !strings.Contains(err.Error(), name.Owner.String()+" "+name.Name.String()) {
			t.Errorf("%d: without %s %s: %v", i, name.Owner, name.Name, err)
		}
		if got := s.rows(); got != "0 0 0 0 0 0 0" {
			t.Errorf("rows: %s", got)
		}
		s.publishAgain(name)
	}
	if _, err := s.ledger.PrepareEpoch(t.Context(), s.content()); err != nil {
		t.Error(err)
	}
}

// publishAgain makes a removed generation readable again.
func (s *scene) publishAgain(name ledger.GenerationName) {
	reader := readers.Open(s.store.Pool(s.t, schema.RoleReader))
	row, _, err := readers.One(s.t.Context(), reader, schema.OwnerGenerations, func(g *serving.Generation) { g.ID = s.author.Generation(s.scope, name.Owner, name.Name) })
	ok(s.t, err)
	s.publish([]serving.Generation{row}, nil)
}

func TestPreparationRefusesWhatIsNotWhole(t *testing.T) {
	s := newScene(t)
	for what, change := range map[string]func(*ledger.EpochContent){
		"no account":               func(c *ledger.EpochContent) { c.Accounts = nil },
		"an account twice":         func(c *ledger.EpochContent) { c.Accounts = append(c.Accounts, c.Accounts[1]) },
		"accounts out of order":    func(c *ledger.EpochContent) { slices.Reverse(c.Accounts) },
		"a binding less":           func(c *ledger.EpochContent) { c.Candidate.Bindings = c.Candidate.Bindings[:3] },
		"an unproved credential":   func(c *ledger.EpochContent) { c.Candidate.Credentials = c.Candidate.Credentials[:1] },
		"a number beyond 63 bits":  func(c *ledger.EpochContent) { c.Candidate.Catalog.SecurityEpoch = 1 << 63 },
		"an unconfigured one":      func(c *ledger.EpochContent) { c.Configured = c.Configured[:1] },
		"a row of another binding": func(c *ledger.EpochContent) { c.Candidate.Bindings[0].Row[3]++ },
	} {
		content := s.content()
		change(&content)
		_, err := s.ledger.PrepareEpoch(t.Context(), content)
		refused(t, what, err, facts.GenerationMalformed)
	}
	content := s.content()
	content.Candidate.Scope.Digest[0]++
	_, err := s.ledger.PrepareEpoch(t.Context(), content)
	refused(t, "another scope", err, facts.SubjectMissing)
	if got := s.rows(); got != "0 0 0 0 0 0 0" {
		t.Errorf("rows: %s", got)
	}
}

func TestOneEpochIdNamesOneContent(t *testing.T) {
	s := newScene(t)
	content, _ := s.prepared()
	for want, change := range map[string]func(*ledger.EpochContent){
		"configuration_receipt_digest": func(c *ledger.EpochContent) { c.Candidate.Configuration.Receipt.Digest[7]++ },
		"binding 2": func(c *ledger.EpochContent) {
			c.Candidate.Definitions[2].Receipt.Bytes = serving.OpaqueOf([]byte("other"))
		},
		"share 1": func(c *ledger.EpochContent) { c.Accounts[1][15] ^= 1 },
	} {
		other := s.contentOf(content.Candidate.Epoch)
		change(&other)
		_, err := s.ledger.PrepareEpoch(t.Context(), other)
		if !errors.Is(err, facts.ContentDiffers) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
	if got := s.rows(); got != "1 1 1 4 2 2 8" {
		t.Errorf("rows: %s", got)
	}
}

// Preparation and removal take turns at the owners' barriers: whoever is second finds what the first one did.
func TestP04PreparationAndRemovalNeverPassEachOther(t *testing.T) {
	s := newScene(t)
	done := map[bool]int{}
	for range 8 {
		d := s.defined[3]
		name := ledger.GenerationName{Owner: d.Binding.Kind.Owner(), Name: keyOf[serving.Name](t, s.author.BindingIdentity(d.Binding).String())}
		content := s.content()
		removed := make(chan error, 1)
		go func() {
			removed <- s.ledger.RemoveGenerations(t.Context(), ledger.Removal{Scope: s.scope, Generations: []ledger.GenerationName{name}})
		}()
		_, err := s.ledger.PrepareEpoch(t.Context(), content)
		gone := <-removed
		switch {
		case err == nil && errors.Is(gone, facts.GenerationReferenced):
		case errors.Is(err, facts.SubjectMissing) && gone == nil:
			s.publishAgain(name)
		default:
			t.Fatalf("prepared: %v; removed: %v", err, gone)
		}
		done[err == nil]++
		if err == nil { // rejected, it keeps nothing, so the next round is open again
			_, err = s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Absent: name,
				Epoch: facts.EpochRef{ID: content.Candidate.Epoch, Digest: s.author.Epoch(content.Candidate).Digest}})
			ok(t, err)
		}
	}
	t.Logf("prepared first: %d, removed first: %d", done[true], done[false])
}

// The COMMIT of a preparation is lost, or only its answer: either way it is prepared once.
func TestR05UnknownPreparationIsSettled(t *testing.T) {
	s := newScene(t)
	proxy := world.NewProxy(t, s.store.Login.Address)
	l := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil))
	for _, kind := range []world.FaultKind{world.CutBeforeCommit, world.CutAfterCommit} {
		fault := proxy.Arm(kind, 1)
		standing, err := l.PrepareEpoch(t.Context(), s.content())
		<-fault.Fired()
		if err != nil || standing.Fence != 1 {
			t.Errorf("%d: %+v, %v", kind, standing, err)
		}
	}
	if got := s.rows(); got != "2 2 2 8 4 4 16" {
		t.Errorf("rows: %s", got)
	}
}

// The three steps that changed a landed table change nothing when they are run again.
func TestTheStepsOfTheBarrierSetCanBeRunAgain(t *testing.T) {
	s := world.Fresh(t)
	steps, err := schema.Steps()
	ok(t, err)
	again := 0
	for _, step := range steps {
		if strings.Contains(step.Name, "(issue 2)") {
			_, err := s.Admin.ExecContext(t.Context(), step.Statement)
			ok(t, err)
			again++
		}
	}
	if again != 3 {
		t.Errorf("%d steps", again)
	}
	pool := s.Pool(t, schema.RoleReader)
	ok(t, schema.Verify(t.Context(), pool, schema.RoleReader))
}
