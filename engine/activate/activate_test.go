package activate

import (
	"os"
	"strings"
	"testing"

	"connectorcore/engine/witness"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/machines"

	"github.com/cockroachdb/errors"
)

// From two packs at their owners to serving accounts; and everything again changes nothing.
func TestTwoPacksComeToServeAndAgainChangesNothing(t *testing.T) {
	s := newScene(t)
	var said []string
	c := s.coordinator(func(p *Parts) { p.Say = func(text string) { said = append(said, text) } })
	words := func(want string) {
		t.Helper()
		stands, err := c.Stands(t.Context())
		ok(t, err)
		if says, next := stands.Says(); !strings.Contains(says, want) || next == "" {
			t.Errorf("%q, then %q, want %q", says, next, want)
		}
	}
	words("no epoch is prepared")
	ref := s.prepared(c)
	words("is prepared")
	s.stands("prepared", "epochs prepared at 1; sets none; gates none; owners open")
	_, err := c.Activate(t.Context(), ref)
	refused(t, "an epoch that is not verified", err, facts.WrongState)
	if again := s.verified(c); again != ref {
		t.Errorf("the same was prepared again as %s", again.ID)
	}
	words("is verified")
	judged, err := c.Activate(t.Context(), ref)
	if err != nil || judged.Cause != nil || judged.State != machines.ServingEpochActive {
		t.Fatalf("%+v, %v", judged, err)
	}
	s.stands("activated", serves)
	words("serves under epoch " + ref.ID.String())
	before := s.rows()
	for range 2 {
		if judged, err := c.Advance(t.Context(), s.wanted()); err != nil || judged.Epoch != ref || judged.State != machines.ServingEpochActive {
			t.Errorf("%+v, %v", judged, err)
		}
		if ending, err := c.Abort(t.Context()); err != nil || ending != NothingOpen {
			t.Errorf("aborted as %d, %v", ending, err)
		}
	}
	if after := s.rows(); after != before {
		t.Errorf("%s became %s", before, after)
	}
	if text := strings.Join(said, "\n"); !strings.Contains(text, "barrier of catalog") || !strings.Contains(text, "nothing is left to do but") {
		t.Error(text)
	}
	// What is published from now on has no way but succession.
	_, err = s.at.Authorise(t.Context(), []facts.PackGenerationID{s.packs[1].Generation, s.packs[0].Generation})
	ok(t, err)
	more := s.configuration
	more.Limits.DepthMax++
	_, err = s.at.PublishConfiguration(t.Context(), more)
	ok(t, err)
	other := s.verified(c)
	_, err = c.Activate(t.Context(), other)
	refused(t, "a second epoch", err, facts.WrongState)
	if !strings.Contains(err.Error(), ref.ID.String()) {
		t.Error(err)
	}
}

func TestQ09AProductionDeploymentIsPreparedAndVerifiedAndNotActivated(t *testing.T) {
	s := stage(t, serving.Production, 2)
	c := s.coordinator()
	_, err := c.Activate(t.Context(), s.verified(c))
	refused(t, "an activation", err, facts.ConformanceOnly)
	s.stands("refused", "epochs verified at 2; sets none; gates none; owners open")
	if _, err := os.Stat(s.witness); !os.IsNotExist(err) {
		t.Errorf("a witness was begun: %v", err)
	}
}

// Before anything is moved there must be a witness: of this deployment, and of no later past than the database's.
func TestR41NoActivationWithoutTheWitnessOfThisDeployment(t *testing.T) {
	s := newScene(t)
	c := s.coordinator()
	ref := s.verified(c)
	before := s.rows()
	other, err := witness.File{Path: s.witness + ".other"}.Stand(facts.Mint[facts.DeploymentID]())
	ok(t, err)
	ok(t, other.Close())
	life, err := witness.FirstLife(s.at.Deployment().ID)
	ok(t, err)
	ahead, err := witness.Begin(s.witness+".ahead", s.at.Deployment().ID, life)
	ok(t, err)
	ok(t, ahead.Advance(witness.Mark{Account: s.accounts[0], Position: 1}))
	held, err := witness.Begin(s.witness+".held", s.at.Deployment().ID, life)
	ok(t, err)
	ok(t, ahead.Close())
	for what, one := range map[string]struct {
		witness Witness
		want    error
	}{
		"none":                  {nil, facts.ConfigurationInvalid},
		"no path":               {witness.File{}, facts.ConfigurationInvalid},
		"another deployment's":  {witness.File{Path: s.witness + ".other"}, witness.ErrForeign},
		"ahead of the database": {witness.File{Path: s.witness + ".ahead"}, witness.ErrDatabaseBehind},
		"another process's":     {witness.File{Path: s.witness + ".held"}, witness.ErrInUse},
		"where nothing can be":  {witness.File{Path: "/dev/null/witness"}, nil},
	} {
		_, err := s.coordinator(func(p *Parts) { p.Witness = one.witness }).Activate(t.Context(), ref)
		if err == nil || one.want != nil && !errors.Is(err, one.want) {
			t.Errorf("%s: %v", what, err)
		}
		if after := s.rows(); after != before {
			t.Errorf("%s: %s became %s", what, before, after)
		}
	}
	ok(t, held.Close())
	_, err = c.Activate(t.Context(), ref)
	ok(t, err)
	w, err := witness.Open(s.witness, s.at.Deployment().ID, life)
	ok(t, err)
	ok(t, w.Close())
}

// An attempt that stands open can be given up, and then everything begins anew; one that was committed is finished.
func TestAnAttemptIsGivenUpUntilItIsCommitted(t *testing.T) {
	s := newScene(t)
	c := s.coordinator()
	ref := s.verified(c)
	for _, state := range []string{"acquiring", "held"} {
		s.leave(state, ref)
		if got := s.states(); !strings.Contains(got, state) || strings.Contains(got, "v2_serving") {
			t.Fatalf("left %s", got)
		}
		if ending, err := c.Abort(t.Context()); err != nil || ending != GivenUp {
			t.Errorf("%s: aborted as %d, %v", state, ending, err)
		}
		s.stands(state, offers)
	}
	s.leave("activation_committed", ref)
	if ending, err := c.Abort(t.Context()); err != nil || ending != Finished {
		t.Errorf("aborted as %d, %v", ending, err)
	}
	s.stands("finished", serves)
}
