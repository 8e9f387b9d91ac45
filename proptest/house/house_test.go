package house

import (
	"fmt"
	"slices"
	"testing"
)

// rules are all laws of the house. One more needs a row here, and a planted breach in planted.
func rules() []rule {
	return slices.Concat(arrowRules, budgetRules, callRules, sqlRules, nameRules, wordRules, linkRules, claimRules)
}

func TestHouse(t *testing.T) {
	whole := repository(t)
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, b := range r.check(whole) {
				t.Errorf("%s:%d: %s: %s", b.path, b.line, r.name, b.instead)
			}
		})
	}
}

// P53: of all rules this one is a promise of the spec, so that it is judged apart from the others.
func TestP53NoProviderIsNamedOutsideItsPack(t *testing.T) {
	for _, b := range checkProviders(repository(t)) {
		t.Errorf("%s:%d: %s", b.path, b.line, b.instead)
	}
}

// plant is a small tree with breaches of one rule, and texts close to a breach that must be left alone.
type plant struct {
	rule   string
	files  map[string]string
	matrix string
	want   []string // path:line of every breach, in order
}

func TestEveryRuleFindsItsPlantedBreach(t *testing.T) {
	plants := slices.Concat(plantedArrows, plantedBudgets(), plantedCalls, plantedSQL, plantedNames, plantedWords(), plantedDocuments)
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			tried := false
			for i, p := range plants {
				if p.rule == r.name {
					tried = true
					t.Run(fmt.Sprintf("plant %d", i), func(t *testing.T) { tryPlant(t, r, p) })
				}
			}
			if !tried {
				t.Fatal("no breach is planted for this rule, so nobody knows whether it can fail: add one")
			}
		})
	}
}

func tryPlant(t *testing.T, r rule, p plant) {
	t.Helper()
	whole, err := grow(p.files)
	if err != nil {
		t.Fatal(err)
	}
	whole.matrix = p.matrix
	var got []string
	for _, b := range r.check(whole) {
		got = append(got, fmt.Sprintf("%s:%d", b.path, b.line))
		if len(b.instead) < 20 {
			t.Errorf("the breach says %q, which helps nobody", b.instead)
		}
	}
	slices.Sort(got)
	if len(p.want) == 0 || !slices.Equal(got, p.want) {
		t.Fatalf("found %q, want %q", got, p.want)
	}
}
