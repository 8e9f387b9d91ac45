package drive_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/ledger"
	"connectorcore/proptest/stage"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// granted changes what the ledger's role may do to a table, as an operator could by mistake.
func (s *scene) granted(statement string) {
	s.t.Helper()
	release, err := schema.LockRoles(s.t.Context(), s.Store.Admin)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = s.Store.Admin.ExecContext(s.t.Context(), statement+" '"+s.Store.Name+"_"+string(schema.RoleLedger)+"'")
	if err := errors.CombineErrors(err, release()); err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
}

// Whatever is between a delivery and its commit, nobody is told of a Receipt that does not stand. While a COMMIT is on its
// way there is no answer; where the database takes no writes the answer is to come again, and nothing stands; and whoever
// comes again is served. The deaths of the daemon itself on that way are tried with K01.
func TestScenario165NobodyIsToldOfAReceiptThatIsNotCommitted(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	app, account := s.Store.Hosted(t, notes), s.Accounts[0]
	proxy, through := world.NewProxy(t, s.Store.Login.Address), *s
	var err error
	if through.Ledger, err = ledger.Open(s.Store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil)); err != nil {
		t.Fatal(err)
	}
	one, receipts := open(t, &through, app, noting, drive.Options{}), "SELECT COUNT(*) FROM receipt"

	held, d := proxy.Arm(world.HoldCommit, 1), batch(t, account, 1)
	answers := make(chan int, 1)
	go func() {
		status, _ := post(t, account, one.door, d)
		answers <- status
	}()
	<-held.Fired()
	select {
	case status := <-answers:
		held.Drop()
		t.Fatalf("it was answered %d before its commit", status)
	case <-time.After(500 * time.Millisecond):
	}
	one.counts(map[string]int{receipts: 0})
	held.Drop() // the server never sees it, and the same turn is taken again
	if status := <-answers; status != http.StatusAccepted {
		t.Errorf("after its commit: %d", status)
	}
	one.counts(map[string]int{receipts: 1})

	table := "`" + s.Store.Name + "`.receipt_admission_key "
	one.granted("REVOKE INSERT ON " + table + "FROM")
	d = batch(t, account, 1)
	answer, err := http.DefaultClient.Do(account.Request(t, one.door, d))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" || strings.Contains(string(text), "denied") {
		t.Errorf("the database refuses writes, and the answer is %d, %s, Retry-After %q", answer.StatusCode, text, answer.Header.Get("Retry-After"))
	}
	one.counts(map[string]int{receipts: 1})
	one.granted("GRANT INSERT ON " + table + "TO")
	for deadline := time.Now().Add(time.Minute); ; {
		status, body := one.send(account, d)
		if status == http.StatusAccepted {
			break
		}
		if status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests || time.Now().After(deadline) {
			t.Fatalf("it came again, and is answered %d %s", status, body)
		}
	}
	one.ends(2)
}

// A body of exactly the channel's limit is admitted and stands as it came; one byte more is refused, and nothing of it
// stands. A list of as many components as the channel takes is materialized whole, though no one turn holds all that follows
// from it; of a longer one the Receipt says so, and no part of it is carried out.
func TestScenario033ABodyAtItsLimitsIsWholeAndABeyondOneIsNothing(t *testing.T) {
	s := stage.ServingPacks(t, limited(t))
	app, account := s.Store.Hosted(t, notes), s.Accounts[0]
	one := open(t, s, app, noting, drive.Options{Sweep: 50 * time.Millisecond})
	const most, components = 4 << 20, 1000
	filled := func(size int) stage.Delivery {
		d := batch(t, account, 1)
		d.Body = append(d.Body, bytes.Repeat([]byte(" "), size-len(d.Body))...)
		return d
	}
	for size, want := range map[int]int{most - 1: http.StatusAccepted, most: http.StatusAccepted, most + 1: http.StatusRequestEntityTooLarge} {
		if status, body := one.send(account, filled(size)); status != want {
			t.Errorf("%d bytes: %d %s", size, status, body)
		}
	}
	one.counts(map[string]int{"SELECT COUNT(*) FROM receipt": 2, fmt.Sprintf("SELECT COUNT(*) FROM receipt WHERE LENGTH(body) = %d AND RIGHT(body, 1) = ' ' AND LEFT(body, 1) = '['", most): 1})
	for _, n := range []int{components, components + 1, 10 * components} {
		one.accepts(account, batch(t, account, n))
	}
	one.ends(2 + components)
	one.counts(map[string]int{
		"SELECT COUNT(*) FROM receipt":                                                                     5,
		"SELECT COUNT(*) FROM receipt_component WHERE verdict = 'event'":                                   2 + components,
		"SELECT COUNT(*) FROM receipt_component WHERE verdict <> 'event'":                                  2,
		"SELECT COUNT(*) FROM receipt_component WHERE reason = 'components_too_many' AND event_id IS NULL": 2,
	})
}

// While an account's gate does not serve, its deliveries are answered 503 with a time to come again, whatever the door had
// known before, and nothing of them stands; when it serves again they are taken. No neighbour notices.
func TestADeliveryToAGateThatDoesNotServeComesAgain(t *testing.T) {
	s := stage.Serving(t, stage.Batched, stage.Single)
	account, neighbour := s.Accounts[0], s.Accounts[1]
	one := open(t, s, s.Store.Hosted(t, notes), noting, drive.Options{})
	one.accepts(account, batch(t, account, 1))
	one.ends(1)
	gate := func(state string) {
		t.Helper()
		if _, err := s.Store.Admin.ExecContext(t.Context(), "UPDATE account_serving_gate_guard SET state = ? WHERE account_id = ?", []byte(state), account.ID); err != nil {
			t.Fatal(err)
		}
	}
	samples := neighbour.Samples(t)
	for n, state := range []string{"halting_v2", "v2_halted", "v2_validating"} {
		gate(state)
		d := batch(t, account, 1)
		for range 2 {
			answer, err := http.DefaultClient.Do(account.Request(t, one.door, d))
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %d, Retry-After %q", state, answer.StatusCode, answer.Header.Get("Retry-After"))
			}
		}
		one.counts(map[string]int{"SELECT COUNT(*) FROM receipt": 1 + 2*n})
		one.accepts(neighbour, samples[n])
		gate("v2_serving")
		one.accepts(account, d)
	}
}
