package drive_test

import (
	"net/http"
	"strings"
	"testing"

	"connectorcore/engine/drive"
	"connectorcore/proptest/stage"
)

// A daemon is killed at every boundary of the way of a delivery. What it leaves is whole: there is a Receipt, or there is
// none and nobody was told of one. Redelivered to another daemon the delivery has the Receipt that it had, under the epoch
// that it had; the other one ends everything, and each execution is applied once.
func TestK01K04K05K06ADaemonKilledAtEachBoundaryLeavesWhatAnotherOneEnds(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	app := s.Store.Hosted(t, notes)
	account, orders, executions := s.Accounts[0], ordersOf(t, s, app), 0
	look := &scene{Stage: s, t: t, app: app}
	orders.Names = true

	alive := start(t, orders)
	if status, body := post(t, account, alive.door, batch(t, account, 1)); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	executions++
	look.ends(executions)
	alive.kill()
	way := alive.boundaries()
	if got := strings.Join(way, "; "); got != "account turn: before commit; account turn: after commit; apply commands: before commit; apply commands: after commit; account turn: before commit; account turn: after commit" {
		t.Fatalf("the way of a delivery is %s", got)
	}
	for nth := range way {
		orders.Dies = nth + 1
		victim, d := start(t, orders), batch(t, account, 1)
		before := s.Count(t, "SELECT COUNT(*) FROM receipt")
		status, body := post(t, account, victim.door, d)
		victim.died()
		at := way[nth]
		kept := s.Count(t, "SELECT COUNT(*) FROM receipt") - before
		if got, want := len(victim.boundaries()), nth+1; got != want {
			t.Errorf("%s: it died at %q", at, victim.boundaries())
		}
		if want := min(nth, 1); kept != want || status != 0 && (status != http.StatusAccepted || kept == 0) || nth < 2 && status != 0 {
			t.Errorf("%d, %s: %d receipts stand, and the answer was %d", nth, at, kept, status)
		}
		look.left(nth, executions)
		executions++
		look.takeOver(account, d, kept > 0, status, body)
		look.ends(executions)
	}
	look.counts(map[string]int{"SELECT COUNT(*) FROM receipt": executions, "SELECT COUNT(DISTINCT epoch_id) FROM receipt": 1,
		"SELECT COUNT(*) FROM execution_attempt_end": 0})
}

// left is what stands of the last delivery, by the boundary at which its daemon died.
func (s *scene) left(nth, before int) {
	s.t.Helper()
	s.counts(map[string]int{
		"SELECT COUNT(*) FROM execution_head":                           min(nth, 1) - max(nth-4, 0),
		"SELECT COUNT(*) FROM execution_head WHERE holder_id IS NULL":   0, // claimed at its birth
		"SELECT COUNT(*) FROM application_result":                       before + max(min(nth, 3)-2, 0),
		"SELECT COUNT(*) FROM " + s.app.Name + ".note":                  before + max(min(nth, 3)-2, 0),
		"SELECT COUNT(*) FROM execution_ledger WHERE edge = 'complete'": before + max(nth-4, 0),
	})
}

// takeOver brings a delivery to another daemon, which ends what is open.
func (s *scene) takeOver(account stage.Account, d stage.Delivery, stands bool, told int, receipt string) {
	s.t.Helper()
	next := open(s.t, s.Stage, s.app, noting, drive.Options{})
	next.age()
	status, body := next.send(account, d)
	if want := map[bool]int{true: http.StatusOK, false: http.StatusAccepted}[stands]; status != want || told != 0 && body != receipt {
		s.t.Errorf("redelivered: %d %s, and before %s", status, body, receipt)
	}
	next.age()
	s.until(0, openHeads)
	next.close()
}

// A delivery that is too large for the turn that admits it: its daemon dies between the turns, before, between and after
// its shared application transactions. Another daemon adds what is missing, and only that.
func TestK02ADaemonKilledBetweenTheTurnsOfALargeDeliveryIsFollowed(t *testing.T) {
	const events = 60
	s := stage.Serving(t, stage.Batched)
	app := s.Store.Hosted(t, notes)
	account, orders, executions := s.Accounts[0], ordersOf(t, s, app), 0
	look := &scene{Stage: s, t: t, app: app}
	for _, dies := range []int{2, 3, 4, 6} {
		orders.Dies = dies
		victim, d := start(t, orders), batch(t, account, events)
		_, _ = post(t, account, victim.door, d)
		victim.died()
		switch components := s.Count(t, "SELECT COUNT(*) FROM receipt_component") - executions; {
		case dies < 4 && (components != 0 || s.Count(t, "SELECT COUNT(*) FROM receipt_head") != 1):
			t.Errorf("boundary %d: %d components stand, and the Receipt has no head", dies, components)
		case dies >= 4 && components != events:
			t.Errorf("boundary %d: %d components stand", dies, components)
		}
		results := s.Count(t, "SELECT COUNT(*) FROM application_result") - executions
		if results < 0 || results >= events || (dies >= 6) != (results > 0) {
			t.Errorf("boundary %d: %d results stand", dies, results)
		}
		executions += events
		look.takeOver(account, d, true, 0, "")
		look.ends(executions)
	}
	look.counts(map[string]int{"SELECT COUNT(*) FROM receipt_component": executions, "SELECT COUNT(*) FROM event": executions, "SELECT COUNT(*) FROM receipt": 4})
}
