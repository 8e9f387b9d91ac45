package pack

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"

	"connectorcore/facts"
)

// TestReport is what became of a pack's own samples.
type TestReport struct {
	Samples      int
	Components   int
	Inputs       int
	Differences  []string          // each a sample, the line, and both texts
	Refutations  []string          // each a route whose proof of order its samples refute
	Goldens      map[string]string // what the golden files would hold now, by their path in the folder
	WithoutProof []string          // order-independent routes that no two inputs of one record were tried on
}

// Failed tells whether a golden file differs or a proof is refuted.
func (r TestReport) Failed() bool { return len(r.Differences)+len(r.Refutations) > 0 }

// Test compiles a folder, runs its samples through all interpreters, compares each with its golden file, and tries
// the routes' proofs of order on them. The error says that the pack or a sample could not be read; what differs is in
// the report. To rewrite the golden files, write its Goldens.
func Test(folder fs.FS) (TestReport, error) {
	made, err := Compile(folder)
	if err != nil {
		return TestReport{}, err
	}
	report := TestReport{Goldens: map[string]string{}}
	var inputs []application
	err = samples(folder, func(name string, request sampleRequest, body []byte) error {
		result, applications, err := made.sample(name, request, body)
		if err != nil {
			return err
		}
		text, err := result.text()
		if err != nil {
			return err
		}
		file := samplesFolder + "/" + name + ".golden.yaml"
		report.Goldens[file] = text
		report.Samples++
		report.Components += len(result.Components)
		inputs = append(inputs, applications...)
		stored, err := fs.ReadFile(folder, file)
		if err != nil {
			report.Differences = append(report.Differences, file+": there is no golden file: run the test with --rewrite and read what it wrote")
			return nil
		}
		if difference := differing(string(stored), text); difference != "" {
			report.Differences = append(report.Differences, file+":"+difference)
		}
		return nil
	})
	if err != nil {
		return TestReport{}, err
	}
	if report.Samples == 0 {
		return TestReport{}, errors.New("pack: it has no samples: write samples/NAME.request.yaml and its body")
	}
	report.Inputs = len(inputs)
	report.Refutations, report.WithoutProof = made.proveOrder(inputs)
	return report, nil
}

// differing is the first line that differs, empty if none does.
func differing(want, got string) string {
	a := strings.Split(strings.ReplaceAll(want, "\r\n", "\n"), "\n")
	b := strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		var before, now string
		if i < len(a) {
			before = a[i]
		}
		if i < len(b) {
			now = b[i]
		}
		if before != now {
			return fmt.Sprintf("%d: it is %q and was %q", i+1, strings.TrimSpace(now), strings.TrimSpace(before))
		}
	}
	return ""
}

// proveOrder tries every proof of order independence on the inputs of the samples.
//
// Spec: Durable source ordering ("route conformance proves operations commute or otherwise cannot overwrite newer
// source state").
func (p *Pack) proveOrder(inputs []application) (refuted, untried []string) {
	for _, route := range p.routes {
		if !route.Ordering.Independent() {
			continue
		}
		records := map[facts.OwnerSlot][]application{}
		var order []facts.OwnerSlot
		for _, one := range inputs {
			if one.route != route {
				continue
			}
			known := records[one.input.Record]
			if slices.ContainsFunc(known, func(a application) bool { return a.event == one.event && a.input.equal(one.input) }) {
				continue // a redelivery, which is applied once
			}
			if len(known) == 0 {
				order = append(order, one.input.Record)
			}
			records[one.input.Record] = append(known, one)
		}
		tried := false
		for _, record := range order {
			tried = tried || len(records[record]) > 1 || route.Ordering.Proof != "commutes"
			if why := refute(route, records[record]); why != "" {
				refuted = append(refuted, fmt.Sprintf("route %s claims %s: %s", route.Name, route.Ordering.Proof, why))
			}
		}
		if !tried {
			untried = append(untried, route.Name.String())
		}
	}
	return refuted, untried
}

// refute finds two samples that a claim does not hold for. Only one record's inputs can touch each other.
func refute(route *Route, of []application) string {
	for _, one := range of {
		if route.Ordering.Proof == "keyed_upsert_by_event" && one.input.Record.String() != one.event.String() {
			return fmt.Sprintf("sample %s: the record %q is not the event's key %q", one.sample, one.input.Record, one.event)
		}
	}
	if len(of) > 1 && route.Ordering.Proof != "commutes" {
		return fmt.Sprintf("samples %s and %s are two inputs of one record, %q", of[0].sample, of[1].sample, of[0].input.Record)
	}
	for i := range of {
		for _, other := range of[i+1:] {
			if field := clash(of[i].input, other.input); field != "" {
				return fmt.Sprintf("samples %s and %s leave different values in the field %q of the record %q, by which comes last",
					of[i].sample, other.sample, field, of[i].input.Record)
			}
		}
	}
	return ""
}

// clash finds a field whose final value depends on which of two inputs is applied last (the source's own) or first
// (the application's own). If no pair of inputs has one, all their orders end in one state: each field is written by
// inputs that agree on it.
func clash(a, b Input) string {
	for _, one := range a.Fields {
		for _, other := range b.Fields {
			if one.Name == other.Name && string(one.Value) != string(other.Value) {
				return one.Name
			}
		}
	}
	return ""
}

func (i Input) equal(other Input) bool { return string(i.Bytes()) == string(other.Bytes()) }
