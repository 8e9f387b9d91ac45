package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// measured has what a report must have, whatever the figures are. A field that is missing stays nil.
type measured struct {
	Workload     *string  `json:"workload"`
	N            *int     `json:"n"`
	Ops          *float64 `json:"ops_per_s"`
	AdmitP50     *float64 `json:"admit_p50_ms"`
	AdmitP99     *float64 `json:"admit_p99_ms"`
	WholeP50     *float64 `json:"e2e_p50_ms"`
	WholeP99     *float64 `json:"e2e_p99_ms"`
	Statements   *float64 `json:"statements_per_op"`
	Transactions *float64 `json:"transactions_per_op"`
	Rows         *float64 `json:"rows_per_op"`
	Inserted     *float64 `json:"inserted_per_op"`
	Duplicates   *int     `json:"duplicates"`
	Order        *int     `json:"order_violations"`
	Lost         *int     `json:"lost"`
	Redelivered  *int     `json:"redelivered"`
	Anew         *int     `json:"anew"`
}

// A store of another measurement, or anything else that somebody keeps, is neither measured nor written over.
func TestTheBenchRefusesAFolderThatIsNotEmpty(t *testing.T) {
	sh := newShell(t)
	if err := os.Mkdir(filepath.Join(sh.dir, "kept"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(sh.dir, "kept", "notes"), "mine")
	sh.refused(exitUsage, []string{"bench", "--n", "1", "--dir", "kept"}, "--dir names a folder that is not empty")
	sh.refused(exitUsage, []string{"bench", "--n", "1", "--dir", filepath.Join("kept", "notes")}, "--dir names no folder that can be read")
}

func TestTheBenchMeasuresAWholeDeploymentThatAppliesEveryDeliveryOnce(t *testing.T) {
	for _, workload := range []string{"w1-hot", "w1-wide"} {
		t.Run(workload, func(t *testing.T) {
			out := newShell(t).done("bench", "--workload", workload, "--n", "60", "--json").out
			if strings.Count(out, "\n") != 1 || !strings.Contains(out, `"floor_ops_per_s":null,"floor_ratio":null`) {
				t.Errorf("it is not one line with every key: %s", out)
			}
			var m measured
			if err := json.Unmarshal([]byte(out), &m); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for name, figure := range map[string]*float64{"ops_per_s": m.Ops, "admit_p50_ms": m.AdmitP50, "admit_p99_ms": m.AdmitP99, "e2e_p50_ms": m.WholeP50, "e2e_p99_ms": m.WholeP99,
				"statements_per_op": m.Statements, "transactions_per_op": m.Transactions, "rows_per_op": m.Rows} {
				if figure == nil || *figure <= 0 {
					t.Errorf("%s is not measured: %s", name, out)
				}
			}
			for name, want := range map[string]struct {
				got  *int
				want int
			}{"n": {m.N, 60}, "duplicates": {m.Duplicates, 0}, "order_violations": {m.Order, 0}, "lost": {m.Lost, 0}, "redelivered": {m.Redelivered, 6}, "anew": {m.Anew, 0}} {
				if want.got == nil || *want.got != want.want {
					t.Errorf("%s is not %d: %s", name, want.want, out)
				}
			}
			if m.Workload == nil || *m.Workload != workload {
				t.Errorf("it lacks a key: %s", out)
			}
			// Twelve rows of ours and the application's one, two more if its input has waited, and two for the birth of its
			// lane: fewer would be rows that the count of the database has missed, and more are more than docs/performance.md
			// allows.
			if m.Inserted == nil || *m.Inserted < 12.9 || *m.Inserted > 17.1 {
				t.Errorf("an operation inserts other than 13 to 17 rows: %s", out)
			}
		})
	}
}

func TestTheBenchRefusesWhatItDoesNotKnow(t *testing.T) {
	sh := newShell(t)
	sh.refused(exitUsage, []string{"bench", "--workload", "w9"}, "w1-hot, w1-wide")
	sh.refused(exitUsage, []string{"bench", "--n", "0"}, "--n must be at least 1")
	sh.refused(exitUsage, []string{"bench", "--part", "judge"}, "--part is daemon or load")
}
