package drive_test

import (
	"fmt"
	"net/http"
	"testing"

	"connectorcore/engine/drive"
	"connectorcore/proptest/stage"
)

// A change of an object comes before the creation that it names: it waits without an attempt, and is applied when the
// creation is, by a completion that tells it or by its own look. One whose creation never comes is set aside at its deadline
// and goes on holding its lane.
func TestScenario159AnInputWaitsForTheEventThatItNames(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	scene := open(t, s, s.Store.Hosted(t, notes), noting, drive.Options{})
	account, channel := s.Accounts[0], s.Accounts[0].Samples(t)[0].Channel
	sends := func(name, body string) {
		t.Helper()
		if status, answer := scene.send(account, stage.Delivery{Name: name, Channel: channel, Body: []byte("[" + body + "]")}); status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", name, status, answer)
		}
	}
	change := func(object int) string {
		return fmt.Sprintf(`{"eventId": 2, "subscriptionId": 1, "portalId": 1, "occurredAt": 1564113600002, "subscriptionType": "contact.propertyChange", "attemptNumber": 0, "objectId": %d,
			"propertyName": "name", "propertyValue": "n", "createdBy": "1/%d/1/contact.creation/1564113600001"}`, object, object)
	}
	creation := func(object int) string {
		return fmt.Sprintf(`{"eventId": 1, "subscriptionId": 1, "portalId": 1, "occurredAt": 1564113600001, "subscriptionType": "contact.creation", "attemptNumber": 0, "objectId": %d}`, object)
	}
	const completed, waiting = "SELECT COUNT(*) FROM execution_ledger WHERE to_state = 'completed'", "SELECT COUNT(*) FROM execution_head WHERE state = 'waiting_dependency'"
	sends("a change", change(1))
	scene.until(1, completed) // as a line of the log; as a property it waits
	scene.counts(map[string]int{waiting: 1, "SELECT COUNT(*) FROM execution_attempt": 1, "SELECT COUNT(*) FROM execution_dependency_head": 1, "SELECT COUNT(*) FROM receipt_head": 0})
	sends("its creation", creation(1))
	scene.ends(2) // and one in a lane
	scene.counts(map[string]int{"SELECT COUNT(*) FROM execution_dependency_ledger WHERE edge = 'satisfy'": 1, "SELECT COUNT(*) FROM execution_dependency_head": 0,
		"SELECT COUNT(*) FROM execution_ledger f JOIN execution_ledger l ON l.subject_id = f.subject_id AND l.edge = 'resume' WHERE f.edge = 'complete' AND f.seq = 3": 1})

	sends("both in one body", change(2)+","+creation(2))
	scene.ends(4)

	sends("a change of nothing", change(3))
	scene.until(7, completed)
	for _, statement := range []string{"UPDATE execution_dependency SET deadline_at = NOW(6)", "UPDATE execution_dependency_head SET due_at = NOW(6)"} {
		if _, err := s.Store.Admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	scene.until(0, waiting)
	scene.counts(map[string]int{"SELECT COUNT(*) FROM execution_dependency_ledger WHERE edge = 'expire'": 1, "SELECT COUNT(*) FROM execution_ledger WHERE edge = 'quarantine_waiting'": 1,
		"SELECT COUNT(*) FROM ordering_lane_guard WHERE state = 'held'": 1, openHeads: 0, completed: 7})
	scene.q01()
}
