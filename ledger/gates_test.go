package ledger_test

import (
	"slices"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// A gate is walked edge by edge, each with evidence that says what it is: an attestation that there is no predecessor.
func TestR39GatesAreWalkedEdgeByEdgeWithTheirEvidence(t *testing.T) {
	s := newScene(t)
	for range 2 {
		s.walk() // the same walk again changes nothing
	}
	for _, account := range s.accounts {
		if got := s.ledgerOf("account_serving_gate_ledger", account); got != "1 begin_v1_halt,2 stop_v1,3 certify_v1_drain,4 begin_v2_validation" {
			t.Errorf("its ledger: %s", got)
		}
		if n := s.count("SELECT COUNT(*) FROM account_serving_gate_ledger WHERE subject_id=? AND LOCATE('no predecessor exists', evidence) > 0 AND LOCATE('operator', evidence) > 0", account); n != 4 {
			t.Errorf("%d rows have the evidence", n)
		}
	}
	if got := s.states(facts.EpochRef{}); got != "epoch none; sets none; gates v2_validating at 5" {
		t.Error(got)
	}
}

func TestVerdictsOfAWalkAreTheirOwn(t *testing.T) {
	s := newScene(t)
	if _, err := s.ledger.BearGates(t.Context(), facts.Mint[facts.DeploymentID](), s.accounts); !errors.Is(err, facts.ConfigurationInvalid) {
		t.Errorf("another deployment: %v", err)
	}
	born, err := s.ledger.BearGates(t.Context(), s.deployment.ID, s.accounts)
	if err != nil || born[0].State.String() != "v1_serving" || born[0].Fence != 1 {
		t.Errorf("%+v, %v", born, err)
	}
	unborn := facts.Mint[facts.AccountID]()
	verdicts, err := s.ledger.WalkGates(t.Context(), s.walkOf(append(slices.Clone(s.accounts[:1]), unborn)))
	if err != nil || verdicts[0].State.String() != "v2_validating" || verdicts[0].Fence != 5 || !errors.Is(verdicts[1].Refusal, facts.SubjectMissing) {
		t.Errorf("%+v, %v", verdicts, err)
	}
	walk := s.walkOf(s.accounts)
	walk.Deployment = facts.Mint[facts.DeploymentID]()
	if _, err := s.ledger.WalkGates(t.Context(), walk); !errors.Is(err, facts.ConfigurationInvalid) {
		t.Errorf("another deployment: %v", err)
	}
	if _, err := s.ledger.WalkGates(t.Context(), s.walkOf([]facts.AccountID{s.accounts[0], s.accounts[0]})); err == nil {
		t.Error("an account stood twice in one walk")
	}
}

// Nothing walks a gate of a production deployment.
func TestQ09AProductionGateIsNotWalked(t *testing.T) {
	s := stage(t, setting{serving.Production, 2, 1})
	if _, err := s.ledger.BearGates(t.Context(), s.deployment.ID, s.accounts); err != nil {
		t.Fatal(err)
	}
	_, err := s.ledger.WalkGates(t.Context(), s.walkOf(s.accounts))
	refused(t, "a walk", err, facts.ConformanceOnly)
	if got := s.states(facts.EpochRef{}); got != "epoch none; sets none; gates v1_serving at 1" {
		t.Error(got)
	}
}

// The COMMIT of a birth or of a walk is lost, or only its answer: either way it is done once.
func TestR05UnknownWalkIsSettled(t *testing.T) {
	for _, kind := range []world.FaultKind{world.CutBeforeCommit, world.CutAfterCommit} {
		s := newScene(t)
		proxy := world.NewProxy(t, s.store.Login.Address)
		l := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil))
		birth := proxy.Arm(kind, 1)
		if _, err := l.BearGates(t.Context(), s.deployment.ID, s.accounts); err != nil {
			t.Error(err)
		}
		<-birth.Fired()
		walk := proxy.Arm(kind, 1)
		verdicts, err := l.WalkGates(t.Context(), s.walkOf(s.accounts))
		<-walk.Fired()
		if got := s.states(facts.EpochRef{}); err != nil || verdicts[1].Fence != 5 || got != "epoch none; sets none; gates v2_validating at 5" {
			t.Errorf("%d: %s, %+v, %v", kind, got, verdicts, err)
		}
	}
}
