package activate

import (
	"context"
	"strings"
	"sync"
	"testing"

	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

func anywhere(p *Parts) { p.Witness = nowhere{} }

// Several coordinators carry one epoch out at once, each with its own connections. Whatever each of them is told, the
// deployment comes to serve once, or stands where the next run ends it; no gate takes an edge twice.
func TestP48CoordinatorsThatRaceActivateOnce(t *testing.T) {
	ends := map[string]int{}
	for range 5 {
		s := stage(t, serving.Conformance, 2)
		wanted := s.wanted()
		ref := s.verified(s.coordinator())
		var group sync.WaitGroup
		outcome := make([]error, 3)
		for i := range outcome {
			c := s.coordinator(anywhere, func(p *Parts) { p.Ledger = s.open(s.store.Pool(t, schema.RoleLedger)) })
			group.Go(func() { _, outcome[i] = c.Activate(t.Context(), ref) })
		}
		group.Wait()
		for _, err := range outcome {
			var refusal *facts.Refusal
			switch {
			case err == nil:
				ends["served"]++
			case errors.As(err, &refusal):
				ends[refusal.Code.String()]++
			default:
				t.Error(err)
			}
		}
		if left := s.states(); strings.Contains(left, "active") != strings.Contains(left, "v2_serving at 6 under an epoch;") {
			t.Errorf("left %s", left)
		}
		_, err := s.coordinator().Advance(t.Context(), wanted)
		ok(t, err)
		s.stands("at last", serves)
		if n := s.count("SELECT COUNT(*) FROM serving_publication_barrier_set_ledger WHERE edge='commit_activation'"); n != 1 {
			t.Errorf("%d sets committed", n)
		}
	}
	t.Logf("%v", ends)
	if ends["served"] == 0 {
		t.Error("none of them came to the end")
	}
}

func (s *scene) revocation() []ledger.CredentialMove {
	return []ledger.CredentialMove{{Scope: s.at.Scope(), Generation: s.credentials[0].ID, Fence: 1, Principal: key[facts.OwnerName](s.t, "operator"), Reason: key[facts.OwnerName](s.t, "it leaked")}}
}

func (s *scene) revoked() bool {
	s.t.Helper()
	return s.count("SELECT COUNT(*) FROM credential_generation_dispatch_gate_guard WHERE state='revoked' AND fence=2") == 1
}

// An urgent revocation ends whatever attempt holds the barriers, by where the attempt stands, and then revokes. The plain
// one waits for somebody to do so.
func TestP47AnUrgentRevocationEndsTheAttemptFirst(t *testing.T) {
	for state, after := range map[string]string{"acquiring": offers, "held": offers, "activation_committed": serves, "": "epochs verified at 2; sets none; gates none; owners open"} {
		s := stage(t, serving.Conformance, 2)
		c := s.coordinator()
		ref := s.verified(c)
		if state != "" {
			s.leave(state, ref)
			if state == "acquiring" { // as far as it can come: it has every owner's barrier and the set does not say so
				s.acquireAll()
			}
			verdicts, err := s.ledger.RevokeCredentials(t.Context(), s.revocation())
			if err != nil || verdicts[0].Refusal == nil || verdicts[0].Refusal.Code != facts.PublicationBarred || s.revoked() {
				t.Errorf("%s: a plain revocation: %+v, %v", state, verdicts, err)
			}
		}
		for range 2 { // asked again, it is found
			verdicts, err := c.RevokeUrgently(t.Context(), s.revocation())
			if err != nil || verdicts[0].Refusal != nil || verdicts[0].Fence != 2 || !s.revoked() {
				t.Errorf("%q: %+v, %v", state, verdicts, err)
			}
		}
		s.stands("revoked from "+state, after)
		_, err := c.Activate(t.Context(), ref)
		ok(t, err)
		s.stands("activated after it", serves)
		if !s.revoked() {
			t.Errorf("%q: the activation enabled it again", state)
		}
	}
}

// acquireAll lets the attempt that stands open hold every owner's barrier.
func (s *scene) acquireAll() {
	s.t.Helper()
	c := s.coordinator()
	sets, err := c.sets(s.t.Context())
	ok(s.t, err)
	for _, set := range sets {
		if set.State == machines.ServingPublicationBarrierSetAcquiring {
			a, _, err := c.takeOver(s.t.Context(), set)
			ok(s.t, err)
			_, err = a.acquire(s.t.Context())
			ok(s.t, err)
		}
	}
}

// A revocation and a live coordinator meet, the revocation at each transaction of the coordinator: either the activation
// was committed, and the revocation applies to what serves, or it was not, and nothing serves. It is revoked in any case.
func TestP47AnUrgentRevocationMeetsALiveCoordinatorAnywhere(t *testing.T) {
	served := map[bool]int{}
	for _, at := range []string{"open barrier set", "hold owner barriers", "hold barrier set", "activate first epoch", "release barrier set", "release owner barriers"} {
		for _, point := range []string{"before commit", "after commit"} {
			s := stage(t, serving.Conformance, 2)
			clean := s.coordinator()
			ref := s.verified(clean)
			revoked := make(chan error, 1)
			var once sync.Once
			l := s.open(s.store.Pool(t, schema.RoleLedger), ledger.AtBoundary(func(b ledger.Boundary) {
				if b.Transaction != at || string(b.Point) != point {
					return
				}
				once.Do(func() {
					done := make(chan error, 1)
					go func() {
						verdicts, err := clean.RevokeUrgently(context.WithoutCancel(t.Context()), s.revocation())
						if err == nil && verdicts[0].Refusal != nil {
							err = verdicts[0].Refusal
						}
						done <- err
					}()
					if point == "after commit" { // nothing is locked: it may come to its end before the coordinator goes on
						revoked <- <-done
						return
					}
					go func() { revoked <- <-done }()
				})
			}))
			own, err := platform.OpenOwners(t.Context(), l, s.reader)
			ok(t, err)
			_, err = s.coordinator(anywhere, over(own.Set()), func(p *Parts) { p.Ledger = l }).Activate(t.Context(), ref)
			once.Do(func() { revoked <- errors.Newf("the coordinator never came there: %v", err) })
			if revocation := <-revoked; revocation != nil || !s.revoked() {
				t.Errorf("%s %s: %v", point, at, revocation)
			}
			left := s.states()
			active := strings.Contains(left, "epochs active at 3")
			if served[active]++; active != strings.Contains(left, "gates v2_serving at 6 under an epoch;") || strings.Contains(left, "held") && active {
				t.Errorf("%s %s: %v, left %s", point, at, err, left)
			}
			if !active && err == nil {
				t.Errorf("%s %s: it told of an activation, and left %s", point, at, left)
			}
			_, err = clean.Activate(t.Context(), ref)
			ok(t, err)
			s.stands("at last", serves)
		}
	}
	t.Logf("the activation came first %d times, the revocation %d times", served[true], served[false])
	if served[true] == 0 || served[false] == 0 {
		t.Error("only one order was met")
	}
}
