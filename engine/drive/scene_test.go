package drive_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/proptest/stage"
)

// batch is a delivery of new events, so many of them, each of which is one independent execution. It is another one at
// every call.
func batch(t testing.TB, account stage.Account, events int) stage.Delivery {
	t.Helper()
	like := account.Samples(t)[0]
	var all []string
	for range events {
		n := made.Add(1)
		all = append(all, fmt.Sprintf(`{"eventId": %d, "subscriptionId": 1, "portalId": 1, "occurredAt": %d, "subscriptionType": "contact.creation", "attemptNumber": 0, "objectId": %d}`, n, 1564113600000+n, n))
	}
	return stage.Delivery{Name: fmt.Sprint("batch ", made.Load()), Channel: like.Channel, Body: []byte("[" + strings.Join(all, ",") + "]")}
}

var made atomic.Int64

// patched is a copy of the pack of a shape, with something added to the route of its independent executions.
func patched(t testing.TB, shape stage.Shape, route, more string) string {
	t.Helper()
	return patchedFolder(t, stage.Folder(t, shape), route, more)
}

func patchedFolder(t testing.TB, original, route, more string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "pack")
	if err := os.CopyFS(folder, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, route+".route.yaml")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(text, "\n"+more+"\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// age lets time pass for everything that is open: what is due later is due now.
func (s *scene) age() {
	s.t.Helper()
	for _, table := range []string{"receipt_head", "execution_head", "projection_window_head"} {
		if _, err := s.Store.Admin.ExecContext(s.t.Context(), "UPDATE "+table+" SET due_at = due_at - INTERVAL 9 MINUTE WHERE due_at > NOW(6)"); err != nil {
			s.t.Fatal(err)
		}
	}
}

// post delivers to a door and gives the status, or 0 if there was no answer.
func post(t testing.TB, account stage.Account, door string, d stage.Delivery) (int, string) {
	t.Helper()
	answer, err := http.DefaultClient.Do(account.Request(t, door, d))
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, ""
	}
	return answer.StatusCode, string(text)
}

const (
	// underWay is how much is open that nothing has to come for.
	underWay = "SELECT (SELECT COUNT(*) FROM execution_head) + (SELECT COUNT(*) FROM receipt_head)"
	// openHeads is how much is open, what waits in a lane or a window included.
	openHeads = underWay + " + (SELECT COUNT(*) FROM projection_head) + (SELECT COUNT(*) FROM projection_window_head)"
)

// ends waits until nothing is open, and looks at what stands: each execution has one result, was completed once by it, and
// was applied once by the application, whose log has no key that would hide a second time. What is open has one head, and
// what has ended has none (Q01).
//
// Of the executions so many need no lane. How many others there are depends on what came before what: the application gets
// the inputs of a lane in the source's order, each at most once, and each of the others was overtaken.
func (s *scene) ends(independent int) {
	s.t.Helper()
	s.until(0, openHeads)
	executions := independent + s.Count(s.t, "SELECT COUNT(*) FROM execution WHERE lane_id IS NOT NULL")
	s.counts(map[string]int{
		"SELECT COUNT(*) FROM execution": executions,
		"SELECT COUNT(*) FROM projection WHERE lane_id IS NOT NULL AND projection_id NOT IN (SELECT projection_id FROM execution) AND projection_id NOT IN (SELECT subject_id FROM projection_ledger WHERE edge = 'supersede')":                                                                                                                                                                                                                                                                                                      0,
		"SELECT COUNT(*) FROM execution a JOIN execution b ON a.lane_id = b.lane_id JOIN application_result ra ON ra.execution_id = a.execution_id JOIN application_result rb ON rb.execution_id = b.execution_id JOIN projection pa ON pa.projection_id = a.projection_id JOIN projection pb ON pb.projection_id = b.projection_id JOIN event ea ON ea.event_id = pa.event_id JOIN event eb ON eb.event_id = pb.event_id WHERE (ea.position, ea.tie_breaker) < (eb.position, eb.tie_breaker) AND ra.committed_at > rb.committed_at": 0,
		"SELECT COUNT(*) FROM execution_ledger WHERE edge = 'complete'":                                                                          executions,
		"SELECT COUNT(*) FROM application_result":                                                                                                executions,
		"SELECT COUNT(DISTINCT execution_id) FROM application_result":                                                                            executions,
		"SELECT COUNT(*) FROM application_result WHERE outcome = 'applied'":                                                                      executions,
		"SELECT COUNT(*) FROM " + s.app.Name + ".note":                                                                                           executions,
		"SELECT COUNT(DISTINCT command) FROM " + s.app.Name + ".note":                                                                            executions,
		"SELECT COUNT(*) FROM application_result r JOIN execution e USING (execution_id) WHERE r.execution_ref_digest <> e.execution_ref_digest": 0,
	})
	s.q01()
}

// q01 holds rows against heads.
func (s *scene) q01() {
	s.t.Helper()
	s.counts(map[string]int{
		"SELECT COUNT(*) FROM execution_dependency f LEFT JOIN execution_dependency_head h USING (account_id, dependency_id) LEFT JOIN execution_dependency_ledger l ON l.subject_id = f.dependency_id WHERE (h.dependency_id IS NULL) = (l.subject_id IS NULL)": 0,
		"SELECT COUNT(*) FROM execution_dependency_head h LEFT JOIN execution_dependency f USING (dependency_id) WHERE f.dependency_id IS NULL":                                                                                                                  0,
	})
	for _, machine := range []string{"receipt", "execution", "projection"} {
		born := ""
		if machine != "execution" {
			born = " AND f.birth = 'open'"
		}
		owned := fmt.Sprintf("SELECT COUNT(*) FROM %[1]s f LEFT JOIN %[1]s_head h ON h.account_id = f.account_id AND h.%[1]s_id = f.%[1]s_id LEFT JOIN %[1]s_ledger l ON l.subject_id = f.%[1]s_id AND l.edge NOT IN ('wait', 'resume') WHERE (h.%[1]s_id IS NULL) = (l.subject_id IS NULL)%[2]s", machine, born)
		strays := fmt.Sprintf("SELECT COUNT(*) FROM %[1]s_head h LEFT JOIN %[1]s f USING (%[1]s_id) WHERE f.%[1]s_id IS NULL", machine)
		checks := map[string]int{owned: 0, strays: 0}
		if born != "" {
			checks[fmt.Sprintf("SELECT COUNT(*) FROM %[1]s f JOIN %[1]s_head h USING (%[1]s_id) WHERE f.birth = 'whole'", machine)] = 0
		}
		s.counts(checks)
	}
}

func (s *scene) counts(all map[string]int) {
	s.t.Helper()
	for query, want := range all {
		if got := s.Count(s.t, query); got != want {
			s.t.Errorf("%s gives %d, want %d", query, got, want)
		}
	}
}

// closed closes a driver before its test's end.
func closed(t testing.TB, d *drive.Driver) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := d.Close(ctx); err != nil {
		t.Error(err)
	}
}
