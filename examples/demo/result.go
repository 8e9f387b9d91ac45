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

	"connectorcore/examples/provider"

	"github.com/cockroachdb/errors"
)

// result is what a run came to. Lost and applied twice are counted by the application's log and the provider's record of
// its answers; the daemon's tables are asked only for what waits.
type result struct {
	Received     int     `json:"received"`   // distinct deliveries that were answered 2xx
	Duplicates   int     `json:"duplicates"` // further answers of 2xx
	Refused      int     `json:"refused"`
	Applied      int     `json:"applied"` // things in the application's log
	Superseded   int     `json:"superseded"`
	Waiting      int     `json:"waiting"`
	Calls        int     `json:"calls"`
	Confirmed    int     `json:"confirmed"`
	Uncertain    int     `json:"uncertain"`
	Resolved     int     `json:"resolved"`
	Lost         int     `json:"lost"`
	AppliedTwice int     `json:"applied_twice"`
	CalledTwice  int     `json:"called_twice"`
	Kills        int     `json:"kills"`
	Seconds      float64 `json:"seconds"`

	refusals map[string]int
	owed     owed
	unasked  int
	fooled   []string // parcels that should have been refused and were taken in
	again    int64
	real     int // deliveries that were published by others
	aside    map[string]int
}

// counted makes the result of what the provider and the application wrote down.
func counted(parcels []*parcel, o owed, l logged) result {
	r := result{refusals: map[string]int{}, owed: o, Applied: len(l.commands), Lost: o.lost(l), AppliedTwice: l.twice(), unasked: o.unasked(l)}
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

// verdict is why the run is no success. A defect that was planted must be found.
func (r result) verdict(planted int) error {
	switch {
	case len(r.fooled) > 0:
		return errors.Newf("%d deliveries were taken in that had to be refused, such as %s", len(r.fooled), r.fooled[0])
	case r.Lost > 0, r.unasked > 0, r.CalledTwice > 0, r.AppliedTwice != planted:
		return errors.Newf("lost %d, applied twice %d (planted %d), applied without being asked %d", r.Lost, r.AppliedTwice, planted, r.unasked)
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
	total := 0
	for _, n := range r.aside {
		total += n
	}
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
	line("applied", r.Applied, "things that the application did, by its own log")
	line("set aside", total, "components that are no event, their delivery is kept: "+reasons(r.aside))
	line("superseded", r.Superseded, "nothing is yet: see waiting")
	line("waiting", r.Waiting, r.why())
	line("calls", r.Calls, "none is made yet: dispatch to providers comes later, and with it the next three")
	line("confirmed", r.Confirmed, "")
	line("uncertain", r.Uncertain, "")
	line("resolved", r.Resolved, "")
	line("lost", r.Lost, "answered 2xx, to be applied at once, and not in the application's log")
	line("applied twice", r.AppliedTwice, "in that log more than once")
	line("called twice", r.CalledTwice, "no call is made yet")
	line("kills", r.Kills, fmt.Sprintf("of the daemon, with SIGKILL; %d sendings got no answer and were repeated", r.again))
	line("seconds", fmt.Sprintf("%.1f", r.Seconds), "")
	return errors.Wrap(w.Flush(), "standard output")
}

// why says what is waited for, in the words of the packs.
func (r result) why() string {
	var parts []string
	known := 0
	for _, one := range []struct {
		waits provider.Waiting
		says  string
	}{
		{provider.ForOrder, "depend on the order of their source, and wait until there are lanes"},
		{provider.ForAnother, "depend on another fact"},
		{provider.ForWindow, "wait for a window to gather them, which comes with the lanes"},
	} {
		n := r.owed.later[one.waits]
		known += n
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one.says))
		}
	}
	if known != r.Waiting {
		parts = append(parts, fmt.Sprintf("by the packs it should be %d", known))
	}
	return strings.Join(parts, "; ")
}
