package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cockroachdb/errors"
)

// result is what a run came to. Gathered, superseded, lost, applied twice, out of order and stale are counted by what the
// application wrote down and by the provider's record of its answers; the daemon's tables are asked for what waits and what
// was set aside, and whether they too call superseded what the application never saw.
type result struct {
	Received     int     `json:"received"`   // distinct deliveries that were answered 2xx
	Duplicates   int     `json:"duplicates"` // further answers of 2xx
	Refused      int     `json:"refused"`
	Applied      int     `json:"applied"`    // inputs in the application's log
	SetAside     int     `json:"set_aside"`  // components, and inputs that waited for their turn
	Gathered     int     `json:"gathered"`   // events that windows put into one input with others
	Superseded   int     `json:"superseded"` // inputs that are not there, while a greater one of their record is
	Waiting      int     `json:"waiting"`
	Calls        int     `json:"calls"`
	Confirmed    int     `json:"confirmed"`
	Uncertain    int     `json:"uncertain"`
	Resolved     int     `json:"resolved"`
	Lost         int     `json:"lost"`
	AppliedTwice int     `json:"applied_twice"`
	CalledTwice  int     `json:"called_twice"`
	OutOfOrder   int     `json:"out_of_order"` // applications behind one of a greater input of their record
	Stale        int     `json:"stale"`        // records that hold something else than their greatest input
	Kills        int     `json:"kills"`
	Seconds      float64 `json:"seconds"`

	refusals map[string]int
	owed     owed
	unasked  int
	ended    int      // inputs that the ledger has superseded
	fooled   []string // parcels that should have been refused and were taken in
	again    int64
	real     int // deliveries that were published by others
	aside    map[string]int
}

// counted makes the result of what the provider and the application wrote down.
func counted(parcels []*parcel, o owed, l logged) result {
	t := o.against(l)
	r := result{refusals: map[string]int{}, owed: o, Applied: t.applied, Gathered: t.gathered, Superseded: t.overtaken, Lost: t.lost, AppliedTwice: t.twice,
		OutOfOrder: t.outOfOrder, Stale: t.stale, unasked: t.unasked}
	seen := map[*matter]bool{}
	for _, one := range parcels {
		switch {
		case !one.taken():
			r.Refused++
			r.refusals[one.code]++
		case one.trick != honest:
			r.fooled = append(r.fooled, one.delivery.Name+" ("+string(one.trick)+")")
		case seen[one.matter]:
			r.Duplicates++
		default:
			seen[one.matter] = true
			r.Received++
		}
	}
	return r
}

// planted says how often each defect was planted.
type planted struct{ double, disorder int }

// verdict is why the run is no success. A defect that was planted must be found.
func (r result) verdict(p planted) error {
	switch {
	case len(r.fooled) > 0:
		return errors.Newf("%d deliveries were taken in that had to be refused, such as %s", len(r.fooled), r.fooled[0])
	case r.Lost > 0, r.unasked > 0, r.CalledTwice > 0, r.AppliedTwice != p.double:
		return errors.Newf("lost %d, applied twice %d (planted %d), applied without being asked %d", r.Lost, r.AppliedTwice, p.double, r.unasked)
	case r.OutOfOrder != p.disorder, r.Stale != p.disorder:
		return errors.Newf("applied out of order %d, records that hold something stale %d (planted %d)", r.OutOfOrder, r.Stale, p.disorder)
	case r.Waiting > r.owed.needy:
		return errors.Newf("%d deliveries, windows or inputs wait still, and by the packs %d may", r.Waiting, r.owed.needy)
	case r.Superseded != r.ended:
		return errors.Newf("%d inputs were overtaken by the application's log, and the ledger has superseded %d", r.Superseded, r.ended)
	}
	return nil
}

func (r result) json(to io.Writer) error {
	return errors.Wrap(json.NewEncoder(to).Encode(r), "standard output")
}

// reasons are counts by reason, the greatest first.
func reasons(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return strings.Join(parts, ", ")
}

// table is for a person.
func (r result) table(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name string, n any, what string) {
		if what != "" {
			what = "  " + what
		}
		fmt.Fprintf(w, "%s\t%v\t%s\n", name, n, what)
	}
	line("received", r.Received, fmt.Sprintf("distinct deliveries, answered 2xx; %d of those sent are real ones that others publish", r.real))
	line("duplicates", r.Duplicates, "the same again, answered 2xx too, and nothing done for it")
	line("refused", r.Refused, reasons(r.refusals))
	line("applied", r.Applied, "inputs that the application saw, by its own log")
	line("gathered", r.Gathered, "events that a window put into one of these inputs, with another one")
	line("superseded", r.Superseded, "inputs that it never saw: a later one of their record, in the source's order, had overtaken them")
	line("set aside", r.SetAside, "components that are no event, their delivery is kept: "+reasons(r.aside))
	line("waiting", r.Waiting, r.why())
	line("calls", r.Calls, "none is made yet: dispatch to providers comes later, and with it the next three")
	line("confirmed", r.Confirmed, "")
	line("uncertain", r.Uncertain, "")
	line("resolved", r.Resolved, "")
	line("lost", r.Lost, "answered 2xx, and neither in the application's log nor overtaken there")
	line("applied twice", r.AppliedTwice, "in that log more than once")
	line("out of order", r.OutOfOrder, "in that log behind a later one of their record")
	line("stale", r.Stale, "records that hold something else than the last that their source published of them")
	line("called twice", r.CalledTwice, "no call is made yet")
	line("kills", r.Kills, fmt.Sprintf("of the daemon, with SIGKILL; %d sendings got no answer and were repeated", r.again))
	line("seconds", fmt.Sprintf("%.1f", r.Seconds), "")
	return errors.Wrap(w.Flush(), "standard output")
}

// why says what may wait.
func (r result) why() string {
	if r.owed.needy == 0 {
		return "nothing needs another fact"
	}
	return fmt.Sprintf("%d deliveries may wait for another fact", r.owed.needy)
}
