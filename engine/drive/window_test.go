package drive_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/proptest/stage"
)

// gathering is a pack whose independent route gathers events of one kind by a window, and tells the application their keys.
func gathering(t testing.TB, window string) string {
	t.Helper()
	folder := patched(t, stage.Batched, "changes", "window: "+window)
	file := filepath.Join(folder, "change.mapping.yaml")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(text, "  - {name: keys, owner: source, value: 'members.map(m, m.key)'}\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// applied are the keys of the events of each input that the application has noted, in no order.
func (s *scene) applied() (all [][]string) {
	s.t.Helper()
	rows, err := s.Store.Admin.QueryContext(s.t.Context(), "SELECT input FROM "+s.app.Name+".note")
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			s.t.Fatal(err)
		}
		var input struct {
			Source struct {
				Keys []string `json:"keys"`
			} `json:"source"`
		}
		if err := json.Unmarshal(text, &input); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, input.Source.Keys)
	}
	return all
}

// once asks that so many events are each in one of so many inputs.
func (s *scene) once(events, inputs int) {
	s.t.Helper()
	all, seen := s.applied(), map[string]int{}
	for _, keys := range all {
		for _, key := range keys {
			seen[key]++
		}
	}
	if len(all) != inputs || len(seen) != events {
		s.t.Errorf("%d inputs with %d events, want %d with %d", len(all), len(seen), inputs, events)
	}
	for key, n := range seen {
		if n != 1 {
			s.t.Errorf("%s was applied %d times", key, n)
		}
	}
	s.counts(map[string]int{
		"SELECT COUNT(*) FROM window_member": events, "SELECT COUNT(*) FROM projection_window": inputs, "SELECT COUNT(*) FROM projection_window_head": 0,
		"SELECT COUNT(*) FROM projection_window_ledger WHERE to_state = 'sealed'": inputs, "SELECT COUNT(*) FROM projection WHERE window_id IS NOT NULL": inputs,
	})
}

// Twelve events through a window of five: two are full and applied at once, the third when its time has come. A redelivery
// of all of them changes nothing.
func TestK03AWindowIsSealedWhenItIsFullOrItsTimeHasCome(t *testing.T) {
	s := stage.ServingPacks(t, gathering(t, "{policy: grouped, grouping: event.kind, members_max: 5, close_after_seconds: 60}"))
	account := s.Accounts[0]
	one := open(t, s, s.Store.Hosted(t, notes), noting, drive.Options{Sweep: 20 * time.Millisecond})
	d := batch(t, account, 12)
	if status, body := one.send(account, d); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	one.until(2, "SELECT COUNT(*) FROM execution_ledger WHERE to_state = 'completed'")
	one.counts(map[string]int{"SELECT COUNT(*) FROM projection_window_head WHERE grouping_digest IS NOT NULL AND members = 2": 1, "SELECT COUNT(*) FROM receipt_head": 0})
	again := d
	again.Name += " again"
	for _, sent := range []stage.Delivery{d, again} {
		if status, body := one.send(account, sent); status != http.StatusOK && status != http.StatusAccepted {
			t.Fatalf("%d %s", status, body)
		}
	}
	one.age()
	one.until(3, "SELECT COUNT(*) FROM execution_ledger WHERE to_state = 'completed'")
	one.ends(3)
	one.once(12, 3)
}

// A pack of this tree that lets its source become quiet: what comes together is told to the application once.
func TestASettleWindowOfARealPackIsAppliedOnce(t *testing.T) {
	s := stage.Serving(t, stage.Stamped)
	account := s.Accounts[0]
	one := open(t, s, s.Store.Hosted(t, notes), noting, drive.Options{Sweep: 20 * time.Millisecond})
	for _, d := range account.Samples(t) {
		if status, body := one.send(account, d); status != http.StatusAccepted && status != http.StatusOK {
			t.Fatalf("%s: %d %s", d.Name, status, body)
		}
	}
	members, windows := one.Count(t, "SELECT COUNT(*) FROM window_member"), one.Count(t, "SELECT COUNT(*) FROM projection_window")
	if windows == 0 || windows > members {
		t.Fatalf("%d members in %d windows", members, windows)
	}
	const sealed = "SELECT COUNT(*) FROM projection p JOIN execution e USING (projection_id) JOIN execution_ledger l ON l.subject_id = e.execution_id WHERE p.window_id IS NOT NULL AND l.to_state = 'completed'"
	one.until(windows, sealed) // by itself, in the seconds that its pack asks for
	one.counts(map[string]int{"SELECT COUNT(*) FROM projection_window_ledger WHERE to_state = 'sealed'": windows, "SELECT COUNT(*) FROM projection_window_head": 0})
}

// Two daemons on one server, with deliveries to both, and one of them is closed and opened again on the way: every event is in
// one input, and nothing waits for ever.
func TestScenario155TwoDaemonsGatherEachEventOnce(t *testing.T) {
	s := stage.ServingPacks(t, gathering(t, "{policy: settle, grouping: event.kind, members_max: 7, quiet_seconds: 1, close_after_seconds: 2}"))
	account, app := s.Accounts[0], s.Store.Hosted(t, notes)
	options := drive.Options{Sweep: 20 * time.Millisecond, Lease: time.Second}
	one, two := open(t, s, app, noting, options), open(t, s, app, noting, options)
	const deliveries, each = 40, 3
	var senders sync.WaitGroup
	for i, door := range []string{one.door, two.door} {
		senders.Go(func() {
			for n := range deliveries / 2 {
				if status, body := post(t, account, door, batch(t, account, each)); status != http.StatusAccepted {
					t.Errorf("door %d, delivery %d: %d %s", i, n, status, body)
				}
			}
		})
	}
	senders.Wait()
	one.close()
	three := open(t, s, app, noting, options)
	three.until(0, "SELECT COUNT(*) FROM projection_window_head")
	windows := three.Count(t, "SELECT COUNT(*) FROM projection_window")
	three.ends(windows)
	three.once(deliveries*each, windows)
	if windows < deliveries*each/7 {
		t.Errorf("%d events in %d windows of at most seven", deliveries*each, windows)
	}
	t.Logf("%d events in %d windows", deliveries*each, windows)
}
