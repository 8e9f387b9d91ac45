package ledger

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

func key[T facts.AnyKey](t testing.TB, text string) T {
	t.Helper()
	parsed, err := facts.ParseKey[T](text)
	must(t, err)
	return parsed
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func author(t testing.TB) serving.Author {
	t.Helper()
	a, err := serving.AuthorOf(facts.ProfileV2)
	must(t, err)
	return a
}

// founding is a ledger over a fresh database with its one deployment.
type founding struct {
	*Ledger
	store *world.Store
	scope serving.Scope
}

func deploymentOf(t testing.TB) serving.Deployment {
	return serving.Deployment{ID: facts.Mint[facts.DeploymentID](), Class: serving.Conformance, Organization: key[facts.Organization](t, "acme"),
		Installation: key[facts.ApplicationInstallation](t, "crm"), Workload: key[facts.Workload](t, "sync"), Destinations: serving.Destinations{serving.Loopback}}
}

func found(t testing.TB) founding {
	t.Helper()
	f := founding{store: world.Fresh(t)}
	var err error
	f.Ledger, err = Open(f.store.Pool(t, schema.RoleLedger))
	must(t, err)
	f.scope, err = f.FoundDeployment(t.Context(), deploymentOf(t))
	must(t, err)
	return f
}

func (f founding) count(t testing.TB, table string) (n int) {
	t.Helper()
	must(t, f.store.Admin.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n))
	return n
}

// generation is one of an owner, in a line.
func (f founding) generation(t testing.TB, owner serving.Owner, name, line, content string) serving.Generation {
	protocol := key[facts.Protocol](t, "test.v1")
	return serving.Generation{ID: author(t).Generation(f.scope, owner, key[serving.Name](t, name)), Scope: f.scope, Owner: owner, Name: key[serving.Name](t, name),
		Selector: author(t).Selector(f.scope, owner, key[serving.Name](t, line)), Protocol: protocol, Digest: facts.Digest{1}, Canonical: serving.OpaqueOf([]byte(content)),
		Receipt: serving.Receipt{Protocol: protocol, Bytes: serving.OpaqueOf([]byte("receipt")), Digest: facts.Digest{2}}}
}

func (f founding) publish(t testing.TB, generations ...serving.Generation) error {
	return f.PublishGenerations(t.Context(), Publication{Scope: f.scope, Generations: generations})
}

func nameOf(g serving.Generation) GenerationName { return GenerationName{g.Owner, g.Name} }

func (f founding) remove(t testing.TB, generations ...serving.Generation) error {
	r := Removal{Scope: f.scope}
	for _, g := range generations {
		r.Generations = append(r.Generations, nameOf(g))
	}
	return f.RemoveGenerations(t.Context(), r)
}

func (f founding) present(t testing.TB, g serving.Generation) bool {
	t.Helper()
	var standing string
	err := f.store.Admin.QueryRowContext(t.Context(), "SELECT standing FROM owner_standing WHERE generation_digest=? ORDER BY seq DESC LIMIT 1", g.ID).Scan(&standing)
	must(t, err)
	return standing == "present"
}

func TestADatabaseIsFoundedOnceAndForGood(t *testing.T) {
	f := founding{store: world.Fresh(t)}
	var err error
	f.Ledger, err = Open(f.store.Pool(t, schema.RoleLedger))
	must(t, err)
	same, other := deploymentOf(t), deploymentOf(t)
	other.Class, other.Destinations = serving.Production, nil
	var group sync.WaitGroup
	outcome := make([]error, 8)
	for i := range outcome { // founders at once: the same deployment converges, another one is refused
		d := same
		if i%2 == 1 {
			d = other
		}
		group.Go(func() { _, outcome[i] = f.FoundDeployment(t.Context(), d) })
	}
	group.Wait()
	won := 0
	for i, err := range outcome {
		if (err == nil) != (outcome[i%2] == nil) || err != nil && !errors.Is(err, facts.ContentDiffers) {
			t.Errorf("founder %d: %v", i, err)
		}
		if err == nil {
			won++
		}
	}
	if won != 4 || f.count(t, "deployment") != 1 || f.count(t, "owner_publication_barrier_guard") != 7 || f.count(t, "owner_publication_barrier") != 7 {
		t.Errorf("%d founders succeeded, %d deployments, %d barriers", won, f.count(t, "deployment"), f.count(t, "owner_publication_barrier_guard"))
	}
	ledger := f.store.Pool(t, schema.RoleLedger)
	for _, statement := range []string{"UPDATE deployment SET class='production'", "DELETE FROM deployment", "DELETE FROM owner_publication_barrier_guard",
		"DELETE FROM owner_standing", "UPDATE owner_generation SET name='x'", "DELETE FROM owner_reference"} {
		if _, err := ledger.ExecContext(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "denied") {
			t.Errorf("the ledger role ran %s: %v", statement, err)
		}
	}
	bad := same
	bad.Workload = facts.Workload{}
	if _, err := f.FoundDeployment(t.Context(), bad); !errors.Is(err, facts.ConfigurationInvalid) {
		t.Errorf("a deployment without a workload: %v", err)
	}
}

// Two publishers of one generation at once: with equal bytes both succeed and there is one row; with other bytes exactly
// one side wins.
func TestTwoPublishersOfOneGenerationConvergeOrOneIsRefused(t *testing.T) {
	f := found(t)
	for round := range 5 {
		name := fmt.Sprint("generation ", round)
		one, two := f.generation(t, serving.Configuration, name, "line", "one"), f.generation(t, serving.Configuration, name, "line", "two")
		outcome := make([]error, 8)
		var group sync.WaitGroup
		for i := range outcome {
			group.Go(func() { outcome[i] = f.publish(t, []serving.Generation{one, two}[i%2]) })
		}
		group.Wait()
		for i, err := range outcome {
			if (err == nil) != (outcome[i%2] == nil) || err != nil && !errors.Is(err, facts.ContentDiffers) {
				t.Errorf("round %d, publisher %d: %v", round, i, err)
			}
		}
		if (outcome[0] == nil) == (outcome[1] == nil) {
			t.Errorf("round %d: %v and %v", round, outcome[0], outcome[1])
		}
	}
	if n := f.count(t, "owner_generation"); n != 5 {
		t.Errorf("%d generations", n)
	}
}

func TestAPublicationIsWholeOrNothing(t *testing.T) {
	f := found(t)
	stood := f.generation(t, serving.Catalog, "stood", "a", "x")
	must(t, f.publish(t, stood))
	changed := f.generation(t, serving.Catalog, "stood", "a", "y")
	fresh := f.generation(t, serving.Catalog, "fresh", "a", "x")
	line := Line{serving.Catalog, fresh.Selector, 0}
	before := f.count(t, "owner_generation") + f.count(t, "owner_standing")
	for name, one := range map[string]struct {
		p    Publication
		want facts.Code
	}{
		"beside a changed one": {Publication{Generations: []serving.Generation{fresh, changed}}, facts.ContentDiffers},
		"without what it needs": {Publication{Generations: []serving.Generation{fresh},
			Requires: []GenerationName{{serving.Credentials, key[serving.Name](t, "absent")}}}, facts.SubjectMissing},
		"after its line moved": {Publication{Generations: []serving.Generation{fresh}, Selects: []Select{{Line{serving.Catalog, fresh.Selector, 3}, nameOf(fresh)}}}, facts.WrongState},
		"after its premise moved": {Publication{Generations: []serving.Generation{fresh}, Premises: []Line{{serving.Catalog, fresh.Selector, 1}},
			Selects: []Select{{line, nameOf(fresh)}}}, facts.WrongState},
		"selecting what is not there": {Publication{Generations: []serving.Generation{fresh},
			Selects: []Select{{line, GenerationName{serving.Catalog, key[serving.Name](t, "absent")}}}}, facts.SubjectMissing},
	} {
		one.p.Scope = f.scope
		if err := f.PublishGenerations(t.Context(), one.p); !errors.Is(err, one.want) {
			t.Errorf("%s: %v, want %s", name, err, one.want)
		}
		if after := f.count(t, "owner_generation") + f.count(t, "owner_standing"); after != before || f.count(t, "owner_selection") != 0 {
			t.Errorf("%s: something was written", name)
		}
	}
	if err := f.PublishGenerations(t.Context(), Publication{Scope: serving.Scope{Digest: facts.Digest{9}}, Generations: []serving.Generation{fresh}}); !errors.Is(err, facts.SubjectMissing) {
		t.Errorf("in a scope that nobody founded: %v", err)
	}
	p := Publication{Scope: f.scope, Generations: []serving.Generation{fresh}, Selects: []Select{{line, nameOf(fresh)}}, Premises: []Line{line}}
	for range 3 { // a retry finds its selection and changes nothing
		must(t, f.PublishGenerations(t.Context(), p))
	}
	if f.count(t, "owner_selection") != 1 {
		t.Errorf("%d selections", f.count(t, "owner_selection"))
	}
}

// P04, at the transaction: what an epoch that may still serve references cannot be removed, in every state of the epoch.
func TestP04AReferencedGenerationCannotBeRemoved(t *testing.T) {
	f := found(t)
	for _, state := range []machines.ServingEpochState{0, machines.ServingEpochPrepared, machines.ServingEpochVerified, machines.ServingEpochActive,
		machines.ServingEpochDraining, machines.ServingEpochRetired, machines.ServingEpochRejected} {
		g := f.generation(t, serving.PushContracts, fmt.Sprint("generation ", state), "line", "x")
		must(t, f.publish(t, g))
		epoch := facts.Mint[facts.EpochID]()
		ledger := f.store.Pool(t, schema.RoleLedger)
		_, err := ledger.ExecContext(t.Context(), "INSERT INTO owner_reference (generation_digest, epoch_id) VALUES (?,?)", g.ID, epoch)
		must(t, err)
		if state != 0 {
			_, err = ledger.ExecContext(t.Context(), "INSERT INTO serving_epoch_guard (epoch_id, state, fence) VALUES (?,?,9)", epoch, state)
			must(t, err)
		}
		err = f.remove(t, g)
		over := state == machines.ServingEpochRetired || state == machines.ServingEpochRejected
		if over != (err == nil) || err != nil && !errors.Is(err, facts.GenerationReferenced) || f.present(t, g) == over {
			t.Errorf("referenced by an epoch in %s: %v, present %v", state, err, f.present(t, g))
		}
		if err != nil && !strings.Contains(err.Error(), epoch.String()) {
			t.Errorf("the refusal does not name the epoch: %v", err)
		}
	}
}

func TestRemovalEndsReadingAndKeepsTheBytes(t *testing.T) {
	f := found(t)
	g, current := f.generation(t, serving.Catalog, "g", "a", "x"), f.generation(t, serving.Catalog, "current", "b", "x")
	must(t, f.publish(t, g))
	line := Line{serving.Catalog, current.Selector, 0}
	must(t, f.PublishGenerations(t.Context(), Publication{Scope: f.scope, Generations: []serving.Generation{current}, Selects: []Select{{line, nameOf(current)}}}))
	if err := f.remove(t, g, current); !errors.Is(err, facts.GenerationReferenced) || !f.present(t, g) {
		t.Errorf("what is current was removed: %v", err)
	}
	if err := f.remove(t, f.generation(t, serving.Catalog, "never", "a", "x")); !errors.Is(err, facts.SubjectMissing) {
		t.Errorf("what never was, was removed: %v", err)
	}
	r := Removal{Scope: f.scope, Generations: []GenerationName{nameOf(g)}, Premises: []Line{line}}
	if err := f.RemoveGenerations(t.Context(), r); !errors.Is(err, facts.WrongState) {
		t.Errorf("removed under a premise that has moved: %v", err)
	}
	for range 2 {
		must(t, f.remove(t, g))
	}
	if f.present(t, g) || f.count(t, "owner_standing") != 3 || f.count(t, "owner_generation") != 2 {
		t.Errorf("present %v, %d standings, %d generations", f.present(t, g), f.count(t, "owner_standing"), f.count(t, "owner_generation"))
	}
	if err := f.publish(t, f.generation(t, serving.Catalog, "g", "a", "y")); !errors.Is(err, facts.ContentDiffers) {
		t.Errorf("a removed generation came back with other bytes: %v", err)
	}
	must(t, f.publish(t, g))
	if !f.present(t, g) {
		t.Error("a generation that was published again cannot be read")
	}
}

// Publishing and removing race with a hold: whatever committed before the hold is there, and nothing commits under it.
func TestPublicationAndHoldTakeTurns(t *testing.T) {
	f := found(t)
	for round := range 4 {
		attempt := facts.Mint[facts.ActivationAttemptID]()
		ask := []BarrierAsk{{f.scope, serving.Catalog, attempt, 1}}
		outcome := make([]error, 6)
		var group sync.WaitGroup
		start := make(chan struct{})
		underHold := -1
		group.Go(func() {
			<-start
			verdicts, err := f.HoldBarriers(t.Context(), ask)
			if err != nil || verdicts[0].Refusal != nil {
				t.Errorf("hold: %v %v", verdicts, err)
			}
			underHold = f.count(t, "owner_generation")
		})
		for i := range outcome {
			group.Go(func() {
				<-start
				outcome[i] = f.publish(t, f.generation(t, serving.Catalog, fmt.Sprintf("round %d/%d", round, i), "line", "x"))
			})
		}
		close(start)
		group.Wait()
		if after := f.count(t, "owner_generation"); after != underHold {
			t.Errorf("round %d: %d generations when the barrier was held, %d at the end", round, underHold, after)
		}
		refused := slices.DeleteFunc(slices.Clone(outcome), func(err error) bool { return err == nil })
		for _, err := range refused {
			if !errors.Is(err, facts.PublicationBarred) || !strings.Contains(err.Error(), attempt.String()) {
				t.Errorf("round %d: %v", round, err)
			}
		}
		if _, err := f.ReleaseBarriers(t.Context(), ask); err != nil {
			t.Fatal(err)
		}
	}
}
