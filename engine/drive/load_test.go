package drive_test

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"connectorcore/proptest/stage"
)

// doors are daemons of which one or the other is killed.
type doors struct {
	mutex sync.Mutex
	all   []*process
}

func (d *doors) any() string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.all[rand.IntN(len(d.all))].door
}

func (d *doors) replace(at int, by *process) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.all[at] = by
}

// delivered is a delivery and what its sender was told of it first.
type delivered struct {
	stage.Delivery
	events  int
	receipt string
}

// deliver sends new batches until it is told to stop, each until it is answered, and some of them twice.
func deliver(t testing.TB, account stage.Account, to *doors, stop <-chan struct{}) (all []delivered) {
	for {
		one := delivered{events: 1 + rand.IntN(3)}
		if rand.IntN(12) == 0 {
			one.events = 50 // too large for the turn that admits it
		}
		one.Delivery = batch(t, account, one.events)
		for tries := 0; one.receipt == ""; tries++ {
			status, body := post(t, account, to.any(), one.Delivery)
			switch {
			case status == http.StatusAccepted || status == http.StatusOK && tries > 0:
				one.receipt = body
			case status != 0 && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests:
				t.Errorf("%s: %d %s", one.Name, status, body)
				return all
			}
			if tries > 500 {
				t.Errorf("%s: no answer after %d tries, the last one %d", one.Name, tries, status)
				return all
			}
			if status == 0 || status >= 400 { // a sender's own pause, until a daemon listens again
				select {
				case <-time.After(20 * time.Millisecond):
				case <-stop:
				}
			}
		}
		all = append(all, one)
		if rand.IntN(4) == 0 {
			if status, body := post(t, account, to.any(), one.Delivery); status != 0 && status != http.StatusServiceUnavailable && (status != http.StatusOK || body != one.receipt) {
				t.Errorf("%s again: %d %s, and first %s", one.Name, status, body, one.receipt)
			}
		}
		select {
		case <-stop:
			return all
		default:
		}
	}
}

// Scenarios 013, 063, 067 and 165. Two daemons serve one database under load, and now and then one is killed and another
// started. Whatever was answered with 2xx has its one Receipt; each event is applied once; nothing stays open.
func TestP11P20P21G01TwoDaemonsUnderLoadAndKillsLoseAndDoubleNothing(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	app, account := s.Store.Hosted(t, notes), s.Accounts[0]
	orders := ordersOf(t, s, app)
	orders.Lease = 3 * time.Second
	to := &doors{all: []*process{start(t, orders), start(t, orders)}}
	stop := make(chan struct{})
	sent := make(chan []delivered, 2)
	for range cap(sent) {
		go func() { sent <- deliver(t, account, to, stop) }()
	}
	kills := 0
	for over := time.After(20 * time.Second); ; kills++ {
		select {
		case <-over:
		case <-time.After(time.Duration(500+rand.IntN(2500)) * time.Millisecond):
			at := rand.IntN(2)
			to.all[at].kill() // nobody else writes here
			to.replace(at, start(t, orders))
			continue
		}
		break
	}
	close(stop)
	receipts, events := map[string]bool{}, 0
	for range cap(sent) {
		for _, one := range <-sent {
			receipts[one.receipt] = true
			events += one.events
			id := one.receipt[len(`{"receipt":"`) : len(one.receipt)-len("\"}\n")]
			if n := s.Count(t, "SELECT COUNT(*) FROM receipt WHERE receipt_id = UNHEX(REPLACE(?, '-', '')) AND body = ?", id, one.Body); n != 1 {
				t.Errorf("%s was answered with receipt %s, of which %d stand", one.Name, id, n)
			}
		}
	}
	look := &scene{Stage: s, t: t, app: app}
	look.ends(events)
	look.counts(map[string]int{"SELECT COUNT(*) FROM receipt": len(receipts), "SELECT COUNT(*) FROM receipt_component": events, "SELECT COUNT(*) FROM event": events,
		"SELECT COUNT(*) FROM execution_attempt_end WHERE reason = 'execution_failing'": 0})
	if kills < 3 || events < 20 {
		t.Errorf("%d kills and %d events prove little", kills, events)
	}
	t.Logf("%d kills, %d receipts, %d events, %d attempts", kills, len(receipts), events, s.Count(t, "SELECT COUNT(*) FROM execution_attempt"))
}
