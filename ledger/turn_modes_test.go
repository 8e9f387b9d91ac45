package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/turn"
	"connectorcore/machines"
)

// legal is R10 as far as turns go, by hand: for each kind of item the modes of the gate in which it may be done. In the
// modes of the first protocol nothing is.
var legal = map[string]string{
	"admit":       "v2_serving",
	"materialize": "v2_serving",
	"claim":       "v2_serving",
	"duplicate":   "v2_serving halting_v2 v2_halted", // evidence that moves no state
	"conflict":    "v2_serving halting_v2 v2_halted",
	"again":       "v2_serving halting_v2 v2_halted", // the very same admission, of which nobody knows what became
	"end":         "v2_serving halting_v2 v2_halted",
	"complete":    "v2_serving halting_v2 v2_halted",
	"join":        "v2_serving",
	"seal":        "v2_serving",
	"meet":        "v2_serving",
}

// kinds are the kinds of item, in the order in which modeItems gives them.
var kinds = []string{"admit", "materialize", "claim", "duplicate", "conflict", "again", "end", "complete", "join", "seal", "meet"}

// modeItems are one item of each kind, all legal now, over subjects of their own.
func (s *scene) modeItems(premise inbound.Premise, mode string) []turn.Item {
	t := s.t
	key := func(n int) string { return fmt.Sprintf("%s-%d", mode, n) }
	bare := delivery(t, premise, key(1), "a body", nil)
	whole := delivery(t, premise, key(2), "a body", eventsOf(t, true, key(2), key(3)))
	free := delivery(t, premise, key(3), "a body", eventsOf(t, true, key(4)))
	free.Claim = nil
	gathered := delivery(t, premise, key(7), "a body", joining(t, gather(t, key(7), 1), key(7)))
	got := s.admit(bare, whole, free, gathered)
	meet := s.meets(premise, s.admit(delivery(t, premise, key(9), "a body", requiring(t, eventsOf(t, true, key(9)), key(10))))[0].Born[0])
	s.admit(delivery(t, premise, key(10), "a body", untaken(t, key(10))))
	duplicate := delivery(t, premise, key(2), "a body", nil)
	duplicate.Body = []byte("a body, retry 2") // kept as evidence, so that it writes a row
	return []turn.Item{
		{Admit: delivery(t, premise, key(4), "a body", eventsOf(t, true, key(5)))},
		{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: *eventsOf(t, true, key(6))}},
		{Claim: &turn.Claim{Premise: premise, Holding: *whole.Claim, Execution: got[2].Born[0].Execution}},
		{Admit: duplicate},
		{Admit: delivery(t, premise, key(2), "else", nil)},
		{Admit: whole},
		{End: &turn.End{Execution: got[1].Born[0].Execution, Attempt: 1, Holder: holder, Reason: facts.ExecutionFailing}},
		{Complete: completion(got[1].Born[1])},
		{Admit: delivery(t, premise, key(8), "a body", joining(t, gather(t, key(8), 2), key(8)))},
		{Seal: s.sealing(premise, key(7))},
		meet,
	}
}

// wrote is how many rows each kind of item writes, by table, if it is legal.
var wrote = map[string]map[string]int{
	"admit": {"receipt_admission_key": 1, "receipt": 1, "receipt_component": 1, "event": 1, "projection": 1, "execution": 1,
		"execution_head": 1, "execution_attempt": 1},
	"materialize": {"receipt_component": 1, "event": 1, "projection": 1, "execution": 1, "execution_head": 1, "receipt_ledger": 1, "receipt_head": -1},
	"claim":       {"execution_attempt": 1},
	"duplicate":   {"receipt_redelivery": 1},
	"conflict":    {"receipt_redelivery": 1},
	"again":       {},
	"end":         {"execution_attempt_end": 1},
	"complete":    {"execution_ledger": 1, "execution_head": -1},
	"join": {"receipt_admission_key": 1, "receipt": 1, "receipt_component": 1, "event": 1, "window_member": 1, "projection_window": 1,
		"projection_window_head": 1},
	"seal": {"projection_window_head": -1, "projection_window_ledger": 1, "projection": 1, "execution": 1, "execution_head": 1, "execution_attempt": 1},
	"meet": {"execution_dependency_ledger": 1, "execution_dependency_head": -1, "execution_ledger": 1, "execution_attempt": 1},
}

// Q02, as far as turns go: every kind of item in every mode of the gate, all kinds in one turn, against the table above.
// What is refused writes nothing and fails no neighbour.
func TestQ02EachKindOfItemIsLegalInItsModesOnly(t *testing.T) {
	s, premise := turnScene(t)
	modes := machines.AccountServingGate.States()
	if len(modes) != 8 {
		t.Fatalf("the gate has the modes %q: extend the table", modes)
	}
	set := func(mode string) {
		_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE account_serving_gate_guard SET state=?", []byte(mode))
		ok(t, err)
	}
	for _, mode := range modes {
		set("v2_serving")
		items := s.modeItems(premise, mode)
		before := s.counts()
		set(mode)
		verdicts := s.turn(items...)
		want := map[string]int{}
		for i, kind := range kinds {
			code := codeOf(verdicts[i])
			may := strings.Contains(" "+legal[kind]+" ", " "+mode+" ")
			switch {
			case may && kind == "conflict":
				if code != facts.ContentDiffers {
					t.Errorf("%s in %s: %v, want that it conflicts", kind, mode, verdicts[i].Refusal)
				}
			case may && code != 0:
				t.Errorf("%s in %s: %v, and it is legal", kind, mode, verdicts[i].Refusal)
			case !may && code != facts.NotServing:
				t.Errorf("%s in %s: %v, and it is illegal", kind, mode, verdicts[i].Refusal)
			}
			if may {
				for table, n := range wrote[kind] {
					want[table] += n
				}
			}
		}
		after := s.counts()
		for _, table := range inboundTables {
			if got := after[table] - before[table]; got != want[table] {
				t.Errorf("in %s: %d rows more in %s, want %d", mode, got, table, want[table])
			}
		}
		set("v2_serving")
	}
}

// counts are the numbers of rows of the tables that a turn writes.
func (s *scene) counts() map[string]int {
	numbers, into := make([]int, len(inboundTables)), make([]any, len(inboundTables))
	for i := range into {
		into[i] = &numbers[i]
	}
	query := "SELECT (SELECT COUNT(*) FROM " + strings.Join(inboundTables, "), (SELECT COUNT(*) FROM ") + ")"
	ok(s.t, s.store.Admin.QueryRowContext(s.t.Context(), query).Scan(into...))
	all := map[string]int{}
	for i, table := range inboundTables {
		all[table] = numbers[i]
	}
	return all
}
