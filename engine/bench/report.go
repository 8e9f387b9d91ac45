package bench

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Report is one run. Its rates are those of the machine in that hour; processor time, statements and rows carry over
// to another run.
type Report struct {
	Workload string `json:"workload"`
	N        int    `json:"n"` // operations; redeliveries are not counted

	OpsPerS      float64  `json:"ops_per_s"`       // from the first request to the last durable completion
	FloorOpsPerS *float64 `json:"floor_ops_per_s"` // null until the floor is run beside it
	FloorRatio   *float64 `json:"floor_ratio"`
	AdmitP50     float64  `json:"admit_p50_ms"` // from a request to its answer, redeliveries included
	AdmitP99     float64  `json:"admit_p99_ms"`
	E2EP50       float64  `json:"e2e_p50_ms"` // from a request to its durable completion
	E2EP99       float64  `json:"e2e_p99_ms"`

	Statements   float64 `json:"statements_per_op"`
	Transactions float64 `json:"transactions_per_op"` // that were committed
	Rows         float64 `json:"rows_per_op"`         // inserted, changed or deleted
	Inserted     float64 `json:"inserted_per_op"`

	Duplicates      int `json:"duplicates"`       // operations that the application has applied more than once
	OrderViolations int `json:"order_violations"` // those that were applied after a later one of their key
	Lost            int `json:"lost"`
	Redelivered     int `json:"redelivered"` // requests that were one more of the same
	Anew            int `json:"anew"`        // of those: were taken for new
	Tries           int `json:"tries"`       // requests beyond one for each delivery

	CPUStore   float64 `json:"cpu_s_per_1000_store"` // of tidb-server
	CPUDaemon  float64 `json:"cpu_s_per_1000_daemon"`
	PeakStore  float64 `json:"peak_mib_store"`
	PeakDaemon float64 `json:"peak_mib_daemon"`

	TurnItems  float64 `json:"items_per_turn"` // deliveries and completions; what the application shares not counted
	ApplyItems float64 `json:"items_per_application_transaction"`
	Kinds      []Kind  `json:"kinds"`
}

// times fills in what follows from when everything was sent, answered and completed.
func (r *Report) times(sent []Sent, done []completed) {
	began := map[string]int64{}
	first, last := int64(0), int64(0)
	var admit, whole []float64
	for _, s := range sent {
		admit = append(admit, float64(s.Answered-s.Began)/1000)
		r.Tries += s.Tries - 1
		if first == 0 || s.Began < first {
			first = s.Began
		}
		switch {
		case s.Again:
			r.Redelivered++
			if s.Status == http.StatusAccepted && s.Tries == 1 {
				r.Anew++
			}
		default:
			began[s.Delivery] = s.Began
		}
	}
	for _, c := range done {
		last = max(last, c.At)
		if at, known := began[c.Delivery]; known {
			whole = append(whole, float64(c.At-at)/1000)
			delete(began, c.Delivery)
		}
	}
	slices.Sort(admit)
	slices.Sort(whole)
	r.AdmitP50, r.AdmitP99 = quantile(admit, 0.5), quantile(admit, 0.99)
	r.E2EP50, r.E2EP99 = quantile(whole, 0.5), quantile(whole, 0.99)
	if last > first {
		r.OpsPerS = float64(len(whole)) / (float64(last-first) / 1e6)
	}
}

// counted fills in what the database has counted.
func (r *Report) counted(kinds []Kind) {
	r.Kinds = kinds
	for _, k := range kinds {
		r.Statements += k.Statements
		r.Rows += k.Rows
		if strings.HasPrefix(k.Kind, "insert ") {
			r.Inserted += k.Rows
		}
		if k.Kind == "commit" {
			r.Transactions += k.Statements
		}
	}
}

// String is the report for a person.
func (r *Report) String() string {
	var b strings.Builder
	line := func(name, format string, values ...any) {
		fmt.Fprintf(&b, "%s\t%s\n", name, fmt.Sprintf(format, values...))
	}
	line("workload", "%s, %d operations, %d redeliveries", r.Workload, r.N, r.Redelivered)
	line("throughput", "%.1f operations/s", r.OpsPerS)
	line("admission", "p50 %.1f ms, p99 %.1f ms", r.AdmitP50, r.AdmitP99)
	line("end to end", "p50 %.1f ms, p99 %.1f ms", r.E2EP50, r.E2EP99)
	line("an operation", "%.2f statements, %.2f transactions, %.2f rows written, %.2f of them inserted", r.Statements, r.Transactions, r.Rows, r.Inserted)
	line("batches", "%.1f items a turn, %.1f commands an application transaction", r.TurnItems, r.ApplyItems)
	line("processor", "%.2f s of tidb-server and %.2f s of the daemon for 1,000 operations", r.CPUStore, r.CPUDaemon)
	line("memory at most", "%.0f MiB of tidb-server, %.0f MiB of the daemon", r.PeakStore, r.PeakDaemon)
	line("wrong", "%d duplicates, %d lost, %d out of order, %d redeliveries taken for new", r.Duplicates, r.Lost, r.OrderViolations, r.Anew)
	for _, k := range r.Kinds {
		line("  "+k.Kind, "%.3f statements, %.3f rows, %.2f ms", k.Statements, k.Rows, k.Ms)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
