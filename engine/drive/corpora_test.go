package drive_test

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"connectorcore/engine/drive"
	"connectorcore/engine/pack"
	"connectorcore/engine/pack/corpora"
	"connectorcore/proptest/stage"
)

// published are all published deliveries of the pack of an account.
func published(t *testing.T, account stage.Account) (all []stage.Delivery) {
	t.Helper()
	named, any, err := corpora.Named(account.Folder)
	if err != nil || !any {
		t.Fatalf("the pack names no corpora: %v", err)
	}
	examples, err := named.Examples(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	captures, err := named.Captures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range append(examples, captures...) {
		d := stage.Delivery{Name: one.Name, Channel: account.Samples(t)[0].Channel, Body: one.Body}
		for _, line := range one.Header {
			d.Header = append(d.Header, pack.Line(line))
		}
		all = append(all, d)
	}
	return all
}

// together does something with all deliveries in an order of chance, several at once.
func together(all []stage.Delivery, do func(stage.Delivery)) {
	var senders sync.WaitGroup
	todo := make(chan stage.Delivery)
	for range 6 {
		senders.Go(func() {
			for d := range todo {
				do(d)
			}
		})
	}
	for _, at := range rand.Perm(len(all)) {
		todo <- all[at]
	}
	close(todo)
	senders.Wait()
}

// Everything that real senders are known to send, shuffled: each is admitted, once; again, byte for byte, it has the
// Receipt that it had; with one byte changed it is refused as another delivery under its key, or as nobody's. Whatever its
// body is, its Receipt says what became of it, and each independent input is applied once.
func TestU02G01EveryPublishedDeliveryGoesThroughTheDoorAndIsAppliedOnce(t *testing.T) {
	s := stage.Serving(t, stage.Single)
	account := s.Accounts[0]
	one := open(t, s, s.Store.Hosted(t, notes), noting, drive.Options{})
	all, epoch, executions := published(t, account), opened(t, s), 0
	for _, d := range all {
		executions += expected(t, epoch, account, d)
	}
	var mutex sync.Mutex
	receipts := map[string]string{}
	together(all, func(d stage.Delivery) {
		status, body := post(t, account, one.door, d)
		mutex.Lock()
		defer mutex.Unlock()
		if receipts[d.Name] = body; status != http.StatusAccepted {
			t.Errorf("%s: %d %s", d.Name, status, body)
		}
	})
	together(all, func(d stage.Delivery) {
		if status, body := post(t, account, one.door, d); status != http.StatusOK || body != receipts[d.Name] {
			t.Errorf("%s again: %d %s, and first %s", d.Name, status, body, receipts[d.Name])
		}
		changed := d
		changed.Body = bytes.Clone(d.Body)
		changed.Body[rand.IntN(len(changed.Body))] ^= 1 << rand.IntN(7)
		if status, body := post(t, account, one.door, changed); status != http.StatusConflict {
			t.Errorf("%s with one byte changed: %d %s", d.Name, status, body)
		}
		forged := account
		forged.Secret = []byte("of somebody else")
		if status, body := post(t, forged, one.door, d); status != http.StatusUnauthorized {
			t.Errorf("%s by somebody else: %d %s", d.Name, status, body)
		}
	})
	one.ends(executions)
	one.counts(map[string]int{
		"SELECT COUNT(*) FROM receipt":                                                                                    len(all),
		"SELECT COUNT(DISTINCT receipt_id) FROM receipt_component":                                                        len(all),
		"SELECT COUNT(*) FROM receipt_redelivery WHERE answer = 'conflict'":                                               len(all),
		"SELECT COUNT(*) FROM receipt_redelivery WHERE answer <> 'conflict'":                                              0,
		"SELECT COUNT(*) FROM receipt_component WHERE verdict = 'event' AND event_id NOT IN (SELECT event_id FROM event)": 0,
	})
	stored := map[string][]byte{}
	rows, err := s.Store.Admin.QueryContext(t.Context(), "SELECT transport_key, body FROM receipt")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var key, body []byte
		if err := rows.Scan(&key, &body); err != nil {
			t.Fatal(err)
		}
		stored[string(key)] = body
	}
	for _, d := range all {
		if body, there := stored["delivery-"+d.Name]; !there || !bytes.Equal(body, d.Body) {
			t.Errorf("%s does not stand as it came", d.Name)
		}
	}
	if len(all) != 483 || executions < 100 || len(receipts) != len(all) {
		t.Errorf("%d deliveries, %d executions", len(all), executions)
	}
	t.Logf("%d deliveries, %d independent inputs", len(all), executions)
}
