package machines_test

import (
	"slices"
	"strings"
	"testing"

	"connectorcore/machines"
	"connectorcore/proptest/model"

	"github.com/cockroachdb/errors"
)

// The Go table and the hand-typed arrows must be the same set, name for name.
func TestTableIsExactlyTheSpecsArrows(t *testing.T) {
	if len(machines.Machines()) != len(model.Arrows) {
		t.Errorf("the table has %d machines, the spec %d", len(machines.Machines()), len(model.Arrows))
	}
	for _, m := range machines.Machines() {
		arrows, known := model.Arrows[m.String()]
		if !known {
			t.Errorf("machine %s is not in the spec", m)
			continue
		}
		var got []model.Arrow
		for _, tr := range m.Transitions() {
			got = append(got, model.Arrow{From: tr.From, Edge: tr.Edge, To: tr.To})
		}
		order := func(a, b model.Arrow) int { return strings.Compare(a.From+a.Edge+a.To, b.From+b.Edge+b.To) }
		want := slices.Clone(arrows)
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the table has %v, the spec %v", m, got, want)
		}
		if births := m.Starts(); !slices.Equal(births, model.Births[m.String()]) {
			t.Errorf("%s: born in %v, in the spec in %v", m, births, model.Births[m.String()])
		}
	}
}

// Every ordered pair of states, crossed with every edge name of the machine, is allowed exactly where an arrow says.
func TestAllowsNoUnlistedTriple(t *testing.T) {
	for _, m := range machines.Machines() {
		for _, tr := range m.Transitions() {
			for _, from := range m.States() {
				for _, to := range m.States() {
					want := slices.Contains(model.Arrows[m.String()], model.Arrow{From: from, Edge: tr.Edge, To: to})
					if got := m.Allows(tr.Edge, from, to); got != want {
						t.Errorf("%s: %s from %s to %s: allowed %v, in the spec %v", m, tr.Edge, from, to, got, want)
					}
				}
			}
		}
	}
}

func TestEveryEdgeDemandsAProofThatIsExplained(t *testing.T) {
	for _, m := range machines.Machines() {
		for _, tr := range m.Transitions() {
			if tr.Proof.Says() == "" {
				t.Errorf("%s: edge %s demands %q, which the table does not explain", m, tr.Edge, tr.Proof)
			}
		}
	}
}

// A pair of states that several proofs justify has one edge for each, and no two of them share a proof.
func TestSeveralProofsAreSeveralEdges(t *testing.T) {
	pairs := map[machines.Machine]map[string]int{
		machines.AccountServingGate:           {"v2_halted v2_serving": 2, "v1_drained v1_serving": 2},
		machines.RemoteEffect:                 {"uncertain prepared": 2, "dispatching prepared": 2, "dispatching uncertain": 2},
		machines.ServingPublicationBarrierSet: {"held released": 3, "acquiring released": 3},
		machines.DispatchPermit:               {"granted abandoned": 2},
		machines.ServingEpoch:                 {"verified active": 2},
	}
	for m, want := range pairs {
		proofs := map[string][]machines.Proof{}
		for _, tr := range m.Transitions() {
			pair := tr.From + " " + tr.To
			if slices.Contains(proofs[pair], tr.Proof) {
				t.Errorf("%s: two edges of %s demand %s", m, pair, tr.Proof)
			}
			proofs[pair] = append(proofs[pair], tr.Proof)
		}
		for pair, n := range want {
			if len(proofs[pair]) != n {
				t.Errorf("%s: %s has proofs %v, want %d", m, pair, proofs[pair], n)
			}
		}
	}
}

func TestValuesOutsideTheTableAreNotStored(t *testing.T) {
	for _, bad := range []interface {
		Valid() bool
	}{machines.RemoteEffectState(0), machines.RemoteEffectState(8), machines.RemoteEffectEdge(0), machines.RemoteEffectEdge(15)} {
		if bad.Valid() {
			t.Errorf("%v is valid", bad)
		}
	}
	if _, err := machines.RemoteEffectState(8).Value(); err == nil {
		t.Error("a state outside the table was bound")
	}
	if _, err := machines.RemoteEffectEdge(0).Value(); err == nil {
		t.Error("no edge was bound")
	}
	for _, stored := range []any{[]byte("open "), []byte("Open"), []byte("2"), []byte(""), "open", nil, 2} {
		var s machines.ProjectionWindowState
		var invalid *machines.InvalidError
		if err := s.Scan(stored); !errors.As(err, &invalid) || s.Valid() {
			t.Errorf("%v was read as %s (%v)", stored, s, err)
		}
	}
	var s machines.ProjectionWindowState
	if err := s.Scan([]byte("sealed")); err != nil || s != machines.ProjectionWindowSealed || !s.Terminal() {
		t.Errorf("sealed was read as %s (%v)", s, err)
	}
}
