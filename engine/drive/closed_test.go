package drive_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/engine/execute"
	"connectorcore/ledger"
	"connectorcore/proptest/stage"
)

// A handler in a running daemon tries to end its transaction, to leave it, and to touch what is ours. Each try ends its
// attempt and nothing of it stands; the account goes on.
func TestQ19AHandlerInADaemonCannotLeaveItsTransaction(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	app, account := s.Store.Hosted(t, notes), s.Accounts[0]
	tries := []string{"COMMIT", "ROLLBACK", "/* x */ commit", "SET autocommit = 1", "SET ROLE ALL", "CREATE TABLE escaped (a int)", "DROP TABLE note", "USE " + s.Store.Name,
		"UPDATE " + s.Store.Name + ".account_serving_gate_guard SET fence = 99", "UPDATE account_serving_gate_guard SET fence = 99",
		"DELETE FROM " + s.Store.Name + ".execution_head", "SELECT 1; COMMIT", "INSERT INTO " + s.Store.Name + ".receipt SELECT * FROM " + s.Store.Name + ".receipt"}
	says := ""
	one := open(t, s, app, func(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
		answer, err := noting(ctx, h, c)
		if err == nil && says != "" {
			_, _ = h.Exec(ctx, says) // its failure is swallowed, and the answer says that all is well
		}
		return answer, err
	}, drive.Options{})
	gate := "SELECT CAST(SUM(fence) AS SIGNED) FROM account_serving_gate_guard"
	before := s.Count(t, gate)
	for n, statement := range tries {
		says = statement
		if status, body := one.send(account, batch(t, account, 1)); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, body)
		}
		one.until(n+1, "SELECT COUNT(*) FROM execution_ledger WHERE edge = 'complete'")
		if got := s.Count(t, "SELECT COUNT(*) FROM application_result WHERE outcome = 'failed'"); got != n+1 {
			t.Errorf("%s: %d commands failed of %d", statement, got, n+1)
		}
	}
	one.counts(map[string]int{gate: before, "SELECT COUNT(*) FROM " + app.Name + ".note": 0, "SELECT COUNT(*) FROM receipt": len(tries)})
	says = ""
	if status, body := one.send(account, batch(t, account, 1)); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	one.until(1, "SELECT COUNT(*) FROM "+app.Name+".note")
	one.until(0, openHeads)
	one.q01()
}

// A generation that an epoch froze is damaged, and then it is gone. What had opened the epoch before goes on with exactly
// what was frozen; what comes after opens nothing, answers so that the sender comes again, and carries nothing out, under
// no other generation either. When the generation is back, so is everything that waited.
func TestQ06AGenerationThatIsDamagedOrGoneFailsClosed(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	app, account := s.Store.Hosted(t, notes), s.Accounts[0]
	running := open(t, s, app, noting, drive.Options{Hand: -1})
	admits := func(want int) {
		t.Helper()
		if status, body := running.send(account, batch(t, account, 1)); status != want {
			t.Errorf("%d %s, want %d", status, body, want)
		}
	}
	admits(http.StatusAccepted)
	exec := func(statement string) {
		t.Helper()
		if _, err := s.Store.Admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	exec("CREATE TABLE whole LIKE owner_generation")
	exec("INSERT INTO whole SELECT * FROM owner_generation")
	for _, damage := range []string{
		"UPDATE owner_generation SET canonical = CONCAT(canonical, ' ') WHERE owner LIKE 'inbound_route%'",
		"UPDATE owner_generation SET canonical = CONCAT(canonical, ' ') WHERE owner LIKE 'configuration%'",
		"DELETE FROM owner_generation WHERE owner LIKE 'field_mapping%'",
		"DELETE FROM owner_generation",
		"INSERT INTO owner_standing (generation_digest, seq, standing) SELECT generation_digest, 99, 'removed' FROM owner_generation WHERE owner LIKE 'configuration%'",
	} {
		exec(damage)
		if s.Count(t, "SELECT COUNT(*) FROM owner_generation g RIGHT JOIN whole w USING (generation_digest, canonical) WHERE g.owner IS NULL") == 0 &&
			s.Count(t, "SELECT COUNT(*) FROM owner_standing WHERE seq = 99") == 0 {
			t.Fatalf("%s: it damaged nothing: %s", damage, running.words("SELECT GROUP_CONCAT(DISTINCT owner) FROM owner_generation"))
		}
		admits(http.StatusAccepted)
		after := open(t, s, app, noting, drive.Options{Sweep: 20 * time.Millisecond})
		after.age()
		for range 3 {
			status, body := after.send(account, batch(t, account, 1))
			// The answer names the owner's doubt, and nothing of the tenant.
			if status != http.StatusServiceUnavailable || !strings.Contains(body, `"code":"owner_`) || strings.Contains(body, account.Pack.Head().Name.String()) {
				t.Errorf("%s: %d %s", damage, status, body)
			}
		}
		after.close()
		after.counts(map[string]int{"SELECT COUNT(*) FROM execution_attempt": 0, "SELECT COUNT(*) FROM application_result": 0, "SELECT COUNT(*) FROM " + app.Name + ".note": 0})
		exec("DELETE FROM owner_generation")
		exec("INSERT INTO owner_generation SELECT * FROM whole")
		exec("DELETE FROM owner_standing WHERE seq = 99")
	}
	running.close()
	mended := open(t, s, app, noting, drive.Options{Sweep: 20 * time.Millisecond})
	mended.age()
	mended.ends(6)
}

func (s *scene) words(query string) string {
	s.t.Helper()
	return s.app.Text(s.t, query)
}
