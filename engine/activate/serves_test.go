package activate

import (
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers/owners"
)

// What cannot serve is not prepared; and an epoch of which that is found later is rejected, with the reason.
func TestQ05AnEpochThatCannotServeIsNeverVerified(t *testing.T) {
	s := newScene(t)
	refusing := func(p *Parts) {
		p.Serves = func(serving.Candidate, owners.Frozen) error {
			return facts.Refuse(facts.GenerationMalformed, facts.OfInput("route contact"), "it depends on an order and says nothing of it")
		}
	}
	before := s.rows()
	_, err := s.coordinator(refusing).Prepare(t.Context(), s.wanted())
	refused(t, "preparation", err, facts.GenerationMalformed)
	if after := s.rows(); after != before {
		t.Errorf("%s, before %s", after, before)
	}
	ref := s.prepared(s.coordinator())
	judged, err := s.coordinator(refusing).Verify(t.Context(), ref)
	ok(t, err)
	if judged.Cause == nil || !strings.Contains(judged.Cause.Detail, "route contact") || judged.State.String() != "rejected" {
		t.Errorf("%+v", judged)
	}
	_, err = s.coordinator().Activate(t.Context(), ref)
	refused(t, "activation", err, facts.SubjectEnded)
}
