package ledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

const (
	beforeActivation = "epoch verified at 2; sets held at 2; gates v2_validating at 5"
	afterActivation  = "epoch active at 3; sets activation_committed at 3; gates v2_serving at 6 under it"
)

// ready is a scene in which everything stands where a first activation begins.
func ready(t testing.TB, of setting) (s *scene, c ledger.Coordinator, content ledger.EpochContent, ref facts.EpochRef) {
	t.Helper()
	s = stage(t, of)
	content, ref = s.verified()
	s.walk()
	c = s.coordinator()
	ok(t, s.hold(t.Context(), s.ledger, c))
	return s, c, content, ref
}

// Whoever looks while an activation runs sees the set, the epoch and every gate before it or after it, and nothing in
// between: a gate never names an epoch that is not active.
func TestP01ActivationMovesEpochAndWholeGateSetInOneCommit(t *testing.T) {
	s, c, content, ref := ready(t, setting{serving.Conformance, 300, 1})
	seen, began := map[string]int{}, make(chan struct{})
	done := make(chan error, 1)
	go func() {
		<-began
		_, err := s.ledger.ActivateFirst(t.Context(), s.activation(c, content, ref))
		done <- err
	}()
	look := func() {
		state, err := s.snapshot(t.Context(), ref)
		ok(t, err)
		seen[state]++
	}
	look()
	close(began)
	for running := true; running; {
		select {
		case err := <-done:
			ok(t, err)
			running = false
		default:
		}
		look()
	}
	if len(seen) != 2 || seen[beforeActivation] == 0 || seen[afterActivation] == 0 {
		t.Errorf("seen: %v", seen)
	}
	t.Logf("seen: %v", seen)
}

// snapshot reads the states in three statements of one consistent snapshot.
func (s *scene) snapshot(ctx context.Context, ref facts.EpochRef) (string, error) {
	tx, err := s.store.Admin.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return "", err
	}
	defer tx.Rollback()
	var epoch, set, gates string
	for query, into := range map[string]*string{
		"SELECT CONCAT('epoch ', state, ' at ', fence) FROM serving_epoch_guard WHERE epoch_id=?":                                                 &epoch,
		"SELECT CONCAT('; gates ', GROUP_CONCAT(DISTINCT state, ' at ', fence, IF(epoch_id=?, ' under it', ''))) FROM account_serving_gate_guard": &gates,
	} {
		if err := tx.QueryRowContext(ctx, query, ref.ID[:]).Scan(into); err != nil {
			return "", err
		}
	}
	err = tx.QueryRowContext(ctx, "SELECT CONCAT('; sets ', state, ' at ', fence) FROM serving_publication_barrier_set_guard").Scan(&set)
	return epoch + set + gates, err
}

// Every edge advances its own fence by one, and its ledger has exactly the fences that were consumed.
func TestQ03FencesAreAdvancedByEdgesAndNothingElse(t *testing.T) {
	s, c, content, ref := ready(t, setting{serving.Conformance, 2, 1})
	for range 3 { // the same activation again changes nothing
		standing, err := s.ledger.ActivateFirst(t.Context(), s.activation(c, content, ref))
		if err != nil || standing.State.String() != "active" || standing.Fence != 3 {
			t.Errorf("%+v, %v", standing, err)
		}
	}
	if got := s.states(ref); got != afterActivation {
		t.Error(got)
	}
	for guard, key := range map[string]string{"account_serving_gate": "account_id", "serving_epoch": "epoch_id", "serving_publication_barrier_set": "barrier_set_id", "owner_publication_barrier": "barrier_id", "credential_generation_dispatch_gate": "generation_id"} {
		query := fmt.Sprintf("SELECT COUNT(*) FROM %[1]s_guard g WHERE g.fence <> 1 + (SELECT COUNT(*) FROM %[1]s_ledger l WHERE l.subject_id = g.%[2]s AND l.seq BETWEEN 1 AND g.fence - 1) OR "+
			"g.fence <> 1 + (SELECT COUNT(*) FROM %[1]s_ledger l WHERE l.subject_id = g.%[2]s)", guard, key)
		if n := s.count(query); n != 0 {
			t.Errorf("%s: %d guards have a fence that their ledger does not explain", guard, n)
		}
	}
	fences := s.count("SELECT SUM(fence) FROM account_serving_gate_guard")
	_, err := s.ledger.PrepareEpoch(t.Context(), s.content())
	ok(t, err)
	_, err = s.ledger.ReleaseBarrierSet(t.Context(), c, ledger.Activated{Epoch: ref, Accounts: s.accounts})
	ok(t, err)
	if now := s.count("SELECT SUM(fence) FROM account_serving_gate_guard"); now != fences {
		t.Errorf("the gates' fences rose from %d to %d by no edge", fences, now)
	}
}

// Whatever changes at any owner between verification and activation is caught and named; the activation is refused and
// nothing moves, and JudgeEpoch then rejects the epoch.
func TestP02EveryChangeAtAnOwnerRefusesTheActivationByName(t *testing.T) {
	s, c, content, ref := ready(t, setting{serving.Conformance, 2, 2})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, d := range drifts() {
		found := s.contentOf(ref.ID)
		d.change(&found, random.IntN(1000))
		_, err := s.ledger.ActivateFirst(t.Context(), s.activation(c, found, ref))
		want, code := d.want, facts.OwnerDisagrees
		if !slices.Equal(found.Accounts, content.Accounts) {
			want, code = "are not theirs", facts.ShareSetDiffers
		}
		if !errors.Is(err, code) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", d.name, err, want)
		}
	}
	if got := s.states(ref); got != beforeActivation {
		t.Error(got)
	}
	_, err := s.ledger.ActivateFirst(t.Context(), s.activation(c, content, ref))
	ok(t, err)
}

// Each refusal comes before those that stand after it, and none moves anything.
func TestFirstActivationRefusesInItsOrder(t *testing.T) {
	s := newScene(t)
	content, ref := s.prepared()
	c := s.coordinator()
	expect := func(what string, change func(*ledger.Activation), want facts.Code) {
		t.Helper()
		a := s.activation(c, content, ref)
		change(&a)
		_, err := s.ledger.ActivateFirst(t.Context(), a)
		refused(t, what, err, want)
	}
	none := func(*ledger.Activation) {}
	expect("another deployment", func(a *ledger.Activation) { a.Deployment = facts.Mint[facts.DeploymentID]() }, facts.ConfigurationInvalid)
	expect("another scope", func(a *ledger.Activation) { a.Scope.Digest[0]++ }, facts.ConfigurationInvalid)
	expect("an epoch that is not there", func(a *ledger.Activation) {
		a.Epoch.ID = facts.Mint[facts.EpochID]()
		a.Found.Candidate.Epoch = a.Epoch.ID
	}, facts.SubjectMissing)
	expect("another digest", func(a *ledger.Activation) { a.Epoch.Digest[0]++ }, facts.EpochMismatch)
	expect("no set", none, facts.SubjectMissing)
	_, err := s.ledger.OpenBarrierSet(t.Context(), c)
	ok(t, err)
	expect("another attempt", func(a *ledger.Activation) { a.Attempt = facts.Mint[facts.ActivationAttemptID]() }, facts.ContentDiffers)
	expect("an account less", func(a *ledger.Activation) { a.Found.Accounts = s.accounts[:1] }, facts.ShareSetDiffers)
	expect("a stale holder", func(a *ledger.Activation) { a.Fence = 9 }, facts.StaleHolder)
	expect("a set that acquires", none, facts.BarrierNotHeld)
	ok(t, s.hold(t.Context(), s.ledger, c))
	expect("an epoch that is not verified", none, facts.WrongState)
	_, err = s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Found: content})
	ok(t, err)
	expect("no gate", none, facts.SubjectMissing)
	_, err = s.ledger.BearGates(t.Context(), s.deployment.ID, s.accounts)
	ok(t, err)
	ok(t, s.walkOver(t.Context(), s.ledger, s.accounts[:1]))
	expect("a gate that was not walked", none, facts.WrongState)
	s.walk()
	stranger := facts.Mint[facts.AccountID]()
	ok(t, s.walkOver(t.Context(), s.ledger, []facts.AccountID{stranger}))
	expect("a gate without a share", none, facts.ShareSetDiffers)
	if got := s.states(ref); got != beforeActivation {
		t.Error(got)
	}
}

func TestP47AReleasedSetActivatesNothing(t *testing.T) {
	s, c, content, ref := ready(t, setting{serving.Conformance, 2, 1})
	_, err := s.ledger.ReleaseBarrierSet(t.Context(), c, ledger.Activated{})
	ok(t, err)
	_, err = s.ledger.ActivateFirst(t.Context(), s.activation(c, content, ref))
	refused(t, "activated with a released set", err, facts.BarrierNotHeld)
	next := s.coordinator()
	_, err = s.ledger.OpenBarrierSet(t.Context(), next)
	ok(t, err)
	_, err = s.ledger.ActivateFirst(t.Context(), s.activation(next, content, ref))
	refused(t, "activated with a set that acquires", err, facts.BarrierNotHeld)
	if got := s.states(ref); got != "epoch verified at 2; sets acquiring at 1,released at 3; gates v2_validating at 5" {
		t.Error(got)
	}
}

// Of a release and an activation at once one comes first, and the other one is refused.
func TestP48ReleaseAndActivationNeverBothWin(t *testing.T) {
	for range 4 {
		s, c, content, ref := ready(t, setting{serving.Conformance, 2, 1})
		released := make(chan error, 1)
		go func() {
			_, err := s.ledger.ReleaseBarrierSet(t.Context(), c, ledger.Activated{})
			released <- err
		}()
		_, err := s.ledger.ActivateFirst(t.Context(), s.activation(c, content, ref))
		release := <-released
		switch {
		case err == nil && errors.Is(release, facts.WrongState):
		case errors.Is(err, facts.BarrierNotHeld) && release == nil:
		default:
			t.Errorf("activated: %v; released: %v", err, release)
		}
		if got := s.states(ref); (got == afterActivation) != (err == nil) {
			t.Error(got)
		}
	}
}

// A production deployment can prepare and verify, and activates nothing.
func TestQ09AProductionDeploymentActivatesNothing(t *testing.T) {
	s := stage(t, setting{serving.Production, 2, 1})
	content, ref := s.verified()
	_, err := s.ledger.BearGates(t.Context(), s.deployment.ID, s.accounts)
	ok(t, err)
	c := s.coordinator()
	ok(t, s.hold(t.Context(), s.ledger, c))
	_, err = s.ledger.ActivateFirst(t.Context(), s.activation(c, content, ref))
	refused(t, "a first activation", err, facts.ConformanceOnly)
	if got := s.states(ref); got != "epoch verified at 2; sets held at 2; gates v1_serving at 1" {
		t.Error(got)
	}
	other := s.deployment // nor does it become another class
	other.Class, other.Destinations = serving.Conformance, serving.Destinations{serving.Loopback}
	_, err = s.ledger.FoundDeployment(t.Context(), other)
	refused(t, "founded again", err, facts.ContentDiffers)
}

func TestR05UnknownActivationIsSettled(t *testing.T) {
	for _, kind := range []world.FaultKind{world.CutBeforeCommit, world.CutAfterCommit} {
		s, c, content, ref := ready(t, setting{serving.Conformance, 2, 1})
		proxy := world.NewProxy(t, s.store.Login.Address)
		l := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil))
		fault := proxy.Arm(kind, 1)
		standing, err := l.ActivateFirst(t.Context(), s.activation(c, content, ref))
		<-fault.Fired()
		if got := s.states(ref); err != nil || standing.Fence != 3 || got != afterActivation {
			t.Errorf("%d: %s, %+v, %v", kind, got, standing, err)
		}
		fault = proxy.Arm(kind, 1)
		released, err := l.ReleaseBarrierSet(t.Context(), c, ledger.Activated{Epoch: ref, Accounts: s.accounts})
		<-fault.Fired()
		if err != nil || released.Fence != 4 {
			t.Errorf("%d: %+v, %v", kind, released, err)
		}
	}
}
