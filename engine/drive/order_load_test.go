package drive_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"connectorcore/proptest/stage"
)

// deliverAll sends deliveries until each is answered, and some of them twice.
func deliverAll(t testing.TB, account stage.Account, to *doors, all []stage.Delivery) {
	for _, d := range all {
		for tries, told := 0, false; !told; tries++ {
			status, body := post(t, account, to.any(), d)
			switch told = status == http.StatusAccepted || status == http.StatusOK; {
			case told && rand.IntN(4) == 0:
				_, _ = post(t, account, to.any(), d)
			case told:
			case status != 0 && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests || tries > 500:
				t.Errorf("%s: %d %s after %d tries", d.Name, status, body, tries)
				return
			default: // a sender's own pause, until a daemon listens again
				select {
				case <-time.After(20 * time.Millisecond):
				case <-t.Context().Done():
					return
				}
			}
		}
	}
}

// The steps of fifty keys come in an order of chance to two daemons of which one or the other is killed. In the application's
// own table no step of a key comes before the one that precedes it, or twice, and none is missing.
func TestP11P15G01FiftySequencesUnderTwoDaemonsAndKillsAreAppliedInTheirOrder(t *testing.T) {
	const keys, each, senders = 50, 12, 4
	s := stage.ServingPacks(t, sequence)
	app, account := s.Store.Hosted(t, numbered), s.Accounts[0]
	orders := ordersOf(t, s, app)
	orders.Lease, orders.Counts = 2*time.Second, true
	var all []string
	for k := range keys {
		for n := range each {
			all = append(all, item("step", fmt.Sprint("k", k), n+1))
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var parts [senders][]stage.Delivery
	for n := 0; len(all) > 0; n++ {
		size := min(1+rand.IntN(3), len(all))
		parts[n%senders] = append(parts[n%senders], carrying(t, all[:size]...))
		all = all[size:]
	}
	to := &doors{all: []*process{start(t, orders), start(t, orders)}}
	sent := make(chan bool, senders)
	for _, part := range parts {
		go func() { deliverAll(t, account, to, part); sent <- true }()
	}
	look := &scene{Stage: s, t: t, app: app}
	kills := 0
	for left := senders; left > 0 || kills < 6; kills++ {
		select {
		case <-sent:
			left--
			kills--
		case <-time.After(time.Duration(300+rand.IntN(1200)) * time.Millisecond):
			at := rand.IntN(2)
			to.all[at].kill() // nobody else writes here
			to.replace(at, start(t, orders))
		}
	}
	look.drains()
	look.appliedInOrder(keys * each)
	look.counts(map[string]int{"SELECT COUNT(*) FROM ordering_lane": keys, "SELECT COUNT(*) FROM event": keys * each,
		"SELECT COUNT(*) FROM execution_attempt_end WHERE reason = 'execution_failing'": 0})
	t.Logf("%d kills, %d attempts of %d executions", kills, s.Count(t, "SELECT COUNT(*) FROM execution_attempt"), keys*each)
}
