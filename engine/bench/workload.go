package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// senders send at once. Each owns its keys, so that one key is sent in sequence.
const senders = 16

// Workload is W1 over a number of accounts.
type Workload struct {
	Name     string
	Accounts int
	Keys     int // of each account
}

// Workloads are the known ones.
var Workloads = []Workload{{"w1-hot", 1, 50}, {"w1-wide", 64, 8}}

// Find is the workload of a name.
func Find(name string) (Workload, error) {
	var names []string
	for _, w := range Workloads {
		if w.Name == name {
			return w, nil
		}
		names = append(names, w.Name)
	}
	return Workload{}, errors.Newf("no workload has this name: there are %s", strings.Join(names, ", "))
}

// delivery is one request of a sender. A redelivery has the number of the delivery that it repeats.
type delivery struct {
	number  int // of the operation, from 0
	account int
	key     int
	seq     int // of the key, from 1
	again   bool
}

// reach is how many places later a redelivery comes at most.
const reach = 20

// plan lists what each sender sends, in its order: n operations in all, and for one of ten the same delivery once more,
// up to 20 places later. The same seed gives the same plan.
func (w Workload) plan(n int, seed uint64) [senders][]delivery {
	random := rand.New(rand.NewPCG(seed, 1))
	var all [senders][]delivery
	slots := make([]int, w.Accounts*w.Keys) // the last seq of each key
	for number := range n {
		sender := number % senders
		own := (len(slots) - sender + senders - 1) / senders
		slot := sender + senders*random.IntN(max(own, 1))
		slots[slot]++
		all[sender] = append(all[sender], delivery{number: number, account: slot / w.Keys, key: slot % w.Keys, seq: slots[slot]})
	}
	chosen := map[int]bool{}
	for _, number := range random.Perm(n)[:n/10] {
		chosen[number] = true
	}
	for sender := range all {
		all[sender] = redelivered(all[sender], chosen, random)
	}
	return all
}

// redelivered puts a second delivery behind those that are chosen for it.
func redelivered(first []delivery, chosen map[int]bool, random *rand.Rand) []delivery {
	after := map[int][]delivery{}
	for place, d := range first {
		if chosen[d.number] {
			d.again = true
			later := min(place+random.IntN(reach), len(first)-1)
			after[later] = append(after[later], d)
		}
	}
	var all []delivery
	for place, d := range first {
		all = append(append(all, d), after[place]...)
	}
	return all
}

// bodyBytes is how long a delivery's body is.
const bodyBytes = 1000

// body is what a delivery says.
type body struct {
	Delivery string `json:"delivery"`
	Account  string `json:"account"`
	Key      string `json:"key"`
	Seq      int    `json:"seq"`
	Pad      string `json:"pad"`
}

func name(number int) string { return fmt.Sprintf("w1-%08d", number) }

func keyName(key int) string { return fmt.Sprintf("k%03d", key) }

func (d delivery) body(account facts.AccountID) ([]byte, error) {
	b := body{Delivery: name(d.number), Account: account.String(), Key: keyName(d.key), Seq: d.seq}
	bare, err := json.Marshal(b)
	if err != nil {
		return nil, errors.Wrap(err, "bench: a body")
	}
	// Text that differs from body to body, as real text does.
	b.Pad = strings.Repeat(fmt.Sprintf("%08x ", uint32(d.number)*2654435761), bodyBytes)[:bodyBytes-len(bare)]
	raw, err := json.Marshal(b)
	return raw, errors.Wrap(err, "bench: a body")
}

// quantile is the value below which a part of sorted values lies; zero if there is none.
func quantile[T cmp.Ordered](sorted []T, part float64) T {
	var none T
	if len(sorted) == 0 {
		return none
	}
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}
