package ledger

import (
	"fmt"
	"sync"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"

	"github.com/cockroachdb/errors"
)

// credential publishes a credential generation with its gate.
func (f founding) credential(t testing.TB) facts.CredentialGenerationID {
	t.Helper()
	id := facts.Mint[facts.CredentialGenerationID]()
	g := f.generation(t, serving.Credentials, id.String(), "line", "x")
	p := Publication{Scope: f.scope, Generations: []serving.Generation{g}, Credentials: []facts.CredentialGenerationID{id}}
	for range 2 {
		must(t, f.PublishGenerations(t.Context(), p))
	}
	return id
}

func (f founding) gate(t testing.TB, id facts.CredentialGenerationID) string {
	t.Helper()
	var state string
	var fence, rows int
	must(t, f.store.Admin.QueryRowContext(t.Context(), "SELECT state, fence FROM credential_generation_dispatch_gate_guard WHERE generation_id=?", id).Scan(&state, &fence))
	must(t, f.store.Admin.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM credential_generation_dispatch_gate_ledger WHERE subject_id=?", id).Scan(&rows))
	return fmt.Sprintf("%s at %d after %d", state, fence, rows)
}

func (f founding) move(t testing.TB, id facts.CredentialGenerationID, at facts.Fence, reason string) CredentialMove {
	return CredentialMove{f.scope, id, at, key[facts.OwnerName](t, "operator"), key[facts.OwnerName](t, reason)}
}

// revoked runs one revocation and gives its refusal.
func (f founding) revoke(t testing.TB, move CredentialMove) error {
	t.Helper()
	verdicts, err := f.RevokeCredentials(t.Context(), []CredentialMove{move})
	must(t, err)
	if verdicts[0].Refusal != nil {
		return verdicts[0].Refusal
	}
	if verdicts[0].Fence != move.Fence+1 {
		t.Errorf("the fence after it is %d", verdicts[0].Fence)
	}
	return nil
}

func (f founding) reenable(t testing.TB, move CredentialMove) error {
	t.Helper()
	verdicts, err := f.ReenableCredentials(t.Context(), []CredentialMove{move})
	must(t, err)
	if verdicts[0].Refusal != nil {
		return verdicts[0].Refusal
	}
	return nil
}

func TestQ03ARevocationAdvancesTheFenceOnceHoweverOftenItComes(t *testing.T) {
	f := found(t)
	id := f.credential(t)
	for range 3 {
		must(t, f.revoke(t, f.move(t, id, 1, "leaked")))
	}
	if got := f.gate(t, id); got != "revoked at 2 after 1" {
		t.Errorf("the gate is %s", got)
	}
	must(t, f.reenable(t, f.move(t, id, 2, "rotated at the provider")))
	must(t, f.revoke(t, f.move(t, id, 1, "leaked"))) // the very same one, late: it was done, and does nothing now
	for name, err := range map[string]error{
		"with another reason at a consumed fence":    f.revoke(t, f.move(t, id, 1, "another")),
		"from a fence that has not come":             f.revoke(t, f.move(t, id, 7, "leaked")),
		"a reenablement at a revocation's own fence": f.reenable(t, f.move(t, id, 1, "leaked")),
	} {
		if !errors.Is(err, facts.StaleCredentialFence) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := f.reenable(t, f.move(t, id, 3, "again")); !errors.Is(err, facts.WrongState) {
		t.Errorf("an enabled gate was enabled: %v", err)
	}
	if got := f.gate(t, id); got != "enabled at 3 after 2" {
		t.Errorf("the gate is %s", got)
	}
}

// One generation whose gate stands elsewhere fails no neighbour.
func TestVerdictsOfRevocationsAreTheirOwn(t *testing.T) {
	f := found(t)
	one, two, unborn := f.credential(t), f.credential(t), facts.Mint[facts.CredentialGenerationID]()
	must(t, f.revoke(t, f.move(t, two, 1, "before")))
	verdicts, err := f.RevokeCredentials(t.Context(), []CredentialMove{f.move(t, unborn, 1, "x"), f.move(t, two, 2, "x"), f.move(t, one, 1, "x")})
	must(t, err)
	// A gate that no publication of this scope bore is another scope's, whose barrier is not held here.
	foreign := facts.Mint[facts.CredentialGenerationID]()
	_, err = f.store.Admin.ExecContext(t.Context(), "INSERT INTO credential_generation_dispatch_gate_guard (generation_id, state, fence) VALUES (?,'enabled',1)", foreign)
	must(t, err)
	if err := f.revoke(t, f.move(t, foreign, 1, "x")); !errors.Is(err, facts.SubjectMissing) {
		t.Errorf("a gate of another scope: %v", err)
	}
	if !errors.Is(verdicts[0].Refusal, facts.SubjectMissing) || !errors.Is(verdicts[1].Refusal, facts.WrongState) || verdicts[2].Refusal != nil || verdicts[2].Fence != 2 {
		t.Errorf("verdicts %+v", verdicts)
	}
	if f.gate(t, one) != "revoked at 2 after 1" || f.gate(t, two) != "revoked at 2 after 1" {
		t.Errorf("gates %s and %s", f.gate(t, one), f.gate(t, two))
	}
}

// While the credential authority's barrier is held no gate moves; what was done before it is still known as done.
func TestP47AHeldBarrierKeepsEveryCredentialGateStill(t *testing.T) {
	f := found(t)
	before, later := f.credential(t), f.credential(t)
	must(t, f.revoke(t, f.move(t, before, 1, "leaked")))
	ask := []BarrierAsk{{f.scope, serving.Credentials, facts.Mint[facts.ActivationAttemptID](), 1}}
	_, err := f.HoldBarriers(t.Context(), ask)
	must(t, err)
	if err := f.revoke(t, f.move(t, later, 1, "leaked")); !errors.Is(err, facts.PublicationBarred) {
		t.Errorf("revoked under the barrier: %v", err)
	}
	if err := f.reenable(t, f.move(t, before, 2, "x")); !errors.Is(err, facts.PublicationBarred) {
		t.Errorf("enabled under the barrier: %v", err)
	}
	must(t, f.revoke(t, f.move(t, before, 1, "leaked")))
	if f.gate(t, later) != "enabled at 1 after 0" {
		t.Errorf("the gate is %s", f.gate(t, later))
	}
	_, err = f.ReleaseBarriers(t.Context(), ask)
	must(t, err)
	must(t, f.revoke(t, f.move(t, later, 1, "leaked")))
}

func TestOfManyRevocationsAtOneFenceOneIsDone(t *testing.T) {
	f := found(t)
	id := f.credential(t)
	outcome := make([]error, 8)
	var group sync.WaitGroup
	for i := range outcome {
		group.Go(func() { outcome[i] = f.revoke(t, f.move(t, id, 1, fmt.Sprint("reason ", i))) })
	}
	group.Wait()
	done := 0
	for _, err := range outcome {
		if err == nil {
			done++
		} else if !errors.Is(err, facts.StaleCredentialFence) {
			t.Error(err)
		}
	}
	if done != 1 || f.gate(t, id) != "revoked at 2 after 1" {
		t.Errorf("%d were done, the gate is %s", done, f.gate(t, id))
	}
}
