package ledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/machines"
	"connectorcore/schema"
)

// owned is a kind of subject: its facts, those of them that are born with a head, and its head and ledger tables.
type owned struct {
	machine          machines.Machine
	fact, id, opened string
	head, ledger     string
}

// openSubjects are all kinds of open work that a turn makes or ends.
var openSubjects = []owned{
	{machines.Receipt, "receipt", "receipt_id", "f.birth='open'", "receipt_head", "receipt_ledger"},
	{machines.ProjectionWindow, "projection_window", "window_id", "TRUE", "projection_window_head", "projection_window_ledger"},
	{machines.Projection, "projection", "projection_id", "f.birth='open'", "projection_head", "projection_ledger"},
	{machines.Execution, "execution", "execution_id", "TRUE", "execution_head", "execution_ledger"},
	{machines.ExecutionDependency, "execution_dependency", "dependency_id", "TRUE", "execution_dependency_head", "execution_dependency_ledger"},
}

// breaches says, in the database's own words, where R01 is broken: an open subject without its one head, a head of a subject
// that has ended or was born without one, a head without a fact or of another account, and a head that does not stand
// where its ledger says. It returns one line for each kind and breach.
func breaches(t testing.TB, admin *sql.DB) (found []string) {
	t.Helper()
	for _, o := range openSubjects {
		var terminal []string
		for _, state := range o.machine.States() {
			if o.machine.TerminalState(state) {
				terminal = append(terminal, "'"+state+"'")
			}
		}
		is := strings.NewReplacer("{fact}", o.fact, "{id}", o.id, "{open}", o.opened, "{head}", o.head, "{ledger}", o.ledger,
			"{terminal}", strings.Join(terminal, ","), "{start}", o.machine.Starts()[0])
		for _, check := range []struct{ says, query string }{
			{"open without its one head", `SELECT COUNT(*) FROM {fact} f WHERE {open}
				AND NOT EXISTS (SELECT 1 FROM {ledger} l WHERE l.subject_id=f.{id} AND l.to_state IN ({terminal}))
				AND (SELECT COUNT(*) FROM {head} h WHERE h.{id}=f.{id}) != 1`},
			{"ended with a head", `SELECT COUNT(*) FROM {head} h WHERE EXISTS (SELECT 1 FROM {ledger} l WHERE l.subject_id=h.{id} AND l.to_state IN ({terminal}))`},
			{"a head without an open birth", `SELECT COUNT(*) FROM {head} h LEFT JOIN {fact} f ON f.{id}=h.{id} AND f.account_id=h.account_id AND {open} WHERE f.{id} IS NULL`},
			{"a head that stands elsewhere than its ledger", `SELECT COUNT(*) FROM {head} h
				LEFT JOIN (SELECT subject_id, COUNT(*) n, MAX(seq) last FROM {ledger} GROUP BY subject_id) c ON c.subject_id=h.{id}
				LEFT JOIN {ledger} l ON l.subject_id=c.subject_id AND l.seq=c.last
				WHERE h.fence != 1+IFNULL(c.n, 0) OR h.fence != 1+IFNULL(c.last, 0) OR h.state != IFNULL(l.to_state, '{start}')`},
		} {
			var n int
			// The test's own context is over when its cleanups run.
			ok(t, admin.QueryRowContext(context.Background(), is.Replace(check.query)).Scan(&n))
			if n > 0 {
				found = append(found, fmt.Sprintf("%s: %d %s", o.fact, n, check.says))
			}
		}
	}
	return found
}

// turnScene is a scene that serves and of which, when the test ends, every open subject must have its one head.
func turnScene(t testing.TB) (*scene, inbound.Premise) {
	t.Helper()
	s, premise := servingScene(t)
	t.Cleanup(func() {
		for _, breach := range breaches(t, s.store.Admin) {
			t.Errorf("Q01: %s", breach)
		}
	})
	return s, premise
}

// worked is a scene with one of everything that a turn leaves: a pending Receipt, a waiting Projection, an execution that
// is held, one that was let go and one that has ended.
func worked(t testing.TB) (s *scene, premise inbound.Premise, ended, held, free turn.Born) {
	t.Helper()
	s, premise = servingScene(t)
	got := s.admit(delivery(t, premise, "d-1", "a body", nil), delivery(t, premise, "d-2", "a body", eventsOf(t, false, "e-2")),
		delivery(t, premise, "d-3", "a body", eventsOf(t, true, "e-3", "e-4", "e-5")))
	ended, held, free = got[2].Born[0], got[2].Born[1], got[2].Born[2]
	for _, v := range s.turn(turn.Item{Complete: completion(ended)},
		turn.Item{End: &turn.End{Execution: free.Execution, Attempt: 1, Holder: holder, Reason: facts.ExecutionFailing}}) {
		if v.Refusal != nil {
			t.Fatal(v.Refusal)
		}
	}
	return s, premise, ended, held, free
}

// Q01, as far as turns make and end work: each breach of it, planted by hand, is found, and without one nothing is.
func TestQ01EveryOpenSubjectHasItsOneHeadAndNoEndedOneHas(t *testing.T) {
	s, _, _, _, _ := worked(t)
	if found := breaches(t, s.store.Admin); found != nil {
		t.Fatalf("after turns of every kind: %q", found)
	}
	for plant, want := range map[string]string{
		"DELETE FROM receipt_head": "receipt: 1 open without its one head",
		"INSERT INTO projection_head SELECT account_id, projection_id, projection_id, '', 0x0180, NULL, execution_ref_digest, NULL, NOW(6), 'waiting', 1, 0 FROM projection WHERE birth='whole' LIMIT 1": "projection: 1 a head without an open birth",
		"INSERT INTO execution_head SELECT e.account_id, e.execution_id, e.projection_id, 1, NULL, NOW(6), 'ready', 2, 0 FROM execution e JOIN execution_ledger l ON l.subject_id=e.execution_id":        "execution: 1 ended with a head",
		"UPDATE execution_head SET fence=2 LIMIT 1":                                                     "execution: 1 a head that stands elsewhere than its ledger",
		"UPDATE execution_head SET state='waiting_dependency', fence=2 LIMIT 1":                         "execution: 1 a head that stands elsewhere than its ledger",
		"UPDATE receipt_head SET account_id=REPEAT('x', 16)":                                            "receipt: 1 a head without an open birth",
		"DELETE FROM execution WHERE execution_id IN (SELECT execution_id FROM execution_head) LIMIT 1": "execution: 1 a head without an open birth",
	} {
		s, _, _, _, _ := worked(t)
		_, err := s.store.Admin.ExecContext(t.Context(), plant)
		ok(t, err)
		if found := strings.Join(breaches(t, s.store.Admin), "; "); !strings.Contains(found, want) {
			t.Errorf("%s: found %q, want %q", plant, found, want)
		}
	}
}

// image is a digest of every row of the tables that a turn writes.
func (s *scene) image() string {
	s.t.Helper()
	text := ""
	for _, table := range inboundTables {
		var columns []string
		for _, c := range schema.Find(table).Columns {
			columns = append(columns, "IFNULL(HEX("+c.Name+"), '-')")
		}
		text += fmt.Sprintf("%s %d; ", table, s.count("SELECT IFNULL(BIT_XOR(CRC32(CONCAT_WS('|', "+strings.Join(columns, ",")+"))), 0) FROM "+table))
	}
	return text + s.written()
}

// R02: whatever is derived, claimed, completed, ended or admitted again after its subject has ended changes nothing, and
// neither does another delivery that brings the ended event again.
func TestR02NoPathBringsBackWhatHasEnded(t *testing.T) {
	s, premise := turnScene(t)
	bare := delivery(t, premise, "d-0", "a body", nil)
	whole := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	born := s.admit(bare, whole)[1].Born
	content := eventsOf(t, true, "e-0")
	materialize := &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: *content, Claim: whole.Claim}
	born = append(born, s.turn(turn.Item{Materialize: materialize})[0].Born...)
	for _, b := range born {
		if v := s.turn(turn.Item{Complete: completion(b)})[0]; v.Refusal != nil {
			t.Fatal(v.Refusal)
		}
	}
	if len(born) != 2 || s.count("SELECT COUNT(*) FROM execution_head") != 0 || s.count("SELECT COUNT(*) FROM receipt_head") != 0 {
		t.Fatalf("%d were born, stored %s", len(born), s.written())
	}
	before := s.image()
	again := *whole
	again.Receipt = facts.Mint[facts.ReceiptID]()
	other := turn.Holding{Holder: facts.Mint[facts.HolderID](), Lease: 1}
	for name, c := range map[string]struct {
		item turn.Item
		want facts.Code
	}{
		"the same admission":           {turn.Item{Admit: whole}, 0},
		"a redelivery":                 {turn.Item{Admit: &again}, 0},
		"the same materialization":     {turn.Item{Materialize: materialize}, facts.SubjectEnded},
		"a materialization of a whole": {turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: whole.Receipt, Content: *whole.Content}}, facts.SubjectEnded},
		"a claim":                      {turn.Item{Claim: &turn.Claim{Premise: premise, Holding: other, Execution: born[0].Execution}}, facts.SubjectEnded},
		"its holder's claim":           {turn.Item{Claim: &turn.Claim{Premise: premise, Holding: *whole.Claim, Execution: born[1].Execution}}, facts.SubjectEnded},
		"an end":                       {turn.Item{End: &turn.End{Execution: born[0].Execution, Attempt: 1, Holder: holder, Reason: facts.ExecutionFailing}}, facts.SubjectEnded},
		"the same completion":          {turn.Item{Complete: completion(born[0])}, 0},
	} {
		for _, l := range []*ledger.Ledger{s.ledger, s.open(s.store.Pool(t, schema.RoleLedger))} {
			if v := s.turnBy(l, c.item)[0]; codeOf(v) != c.want {
				t.Errorf("%s: %v, want %s", name, v.Refusal, c.want)
			}
		}
		if after := s.image(); after != before {
			t.Errorf("%s changed %s\nto %s", name, before, after)
		}
	}
	// The ended events come again under keys and Receipts of their own: they bring nothing but their components.
	v := s.admit(delivery(t, premise, "d-2", "b body", eventsOf(t, true, "e-0", "e-1")))[0]
	if v.Refusal != nil || v.Born != nil || s.count("SELECT COUNT(*) FROM execution") != 2 || s.count("SELECT COUNT(*) FROM execution_head") != 0 {
		t.Errorf("%+v, stored %s", v, s.written())
	}
}

// U14: whoever bears an execution of a Projection first, it has one active generation. Births at once converge, and the
// database itself refuses a second head.
func TestU14AProjectionHasOneActiveExecution(t *testing.T) {
	s, premise := turnScene(t)
	pools := []*ledger.Ledger{s.ledger, s.open(s.store.Pool(t, schema.RoleLedger))}
	done := make(chan int, 16)
	for i := range cap(done) {
		ask := delivery(t, premise, fmt.Sprintf("d-%d", i), "a body", eventsOf(t, true, "e-1"))
		go func() {
			verdicts, err := pools[i%2].TakeTurn(t.Context(), s.accounts[0], []turn.Item{{Admit: ask}})
			if err != nil || verdicts[0].Refusal != nil {
				t.Errorf("%+v, %v", verdicts, err)
				done <- 0
				return
			}
			done <- len(verdicts[0].Born)
		}()
	}
	born := 0
	for range cap(done) {
		born += <-done
	}
	want := "receipt_admission_key 16; receipt 16; receipt_component 16; event 1; projection 1; execution 1; execution_head 1; execution_attempt 1"
	if born != 1 || s.written() != want {
		t.Errorf("%d were born, stored %s", born, s.written())
	}
	_, err := s.store.Admin.ExecContext(t.Context(), "INSERT INTO execution_head SELECT account_id, REPEAT('x', 16), projection_id, 0, NULL, NOW(6), 'ready', 1, 0 FROM execution_head")
	if err == nil || !strings.Contains(err.Error(), "execution_head_projection") {
		t.Errorf("a second head of one projection: %v", err)
	}
}

// U02: a Receipt has one component at an ordinal, however many derive it at once and however often.
func TestU02AReceiptHasOneComponentAtAnOrdinal(t *testing.T) {
	s, premise := turnScene(t)
	bare := delivery(t, premise, "d-1", "a body", nil)
	s.admit(bare)
	part := *eventsOf(t, true, "e-1")
	part.Open = true
	s.turn(turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: part}})
	pools := []*ledger.Ledger{s.ledger, s.open(s.store.Pool(t, schema.RoleLedger))}
	done := make(chan turn.Verdict, 8)
	for i := range cap(done) {
		ask := &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: *eventsOf(t, true, "e-1", "e-2", "e-3")}
		go func() {
			verdicts, err := pools[i%2].TakeTurn(t.Context(), s.accounts[0], []turn.Item{{Materialize: ask}})
			if err != nil {
				t.Error(err)
				verdicts = make([]turn.Verdict, 1)
			}
			done <- verdicts[0]
		}()
	}
	wrote := 0
	for range cap(done) {
		if v := <-done; v.Refusal == nil && len(v.Born) == 2 {
			wrote++
		} else if codeOf(v) != facts.SubjectEnded {
			t.Errorf("%+v", v)
		}
	}
	want := "receipt_admission_key 1; receipt 1; receipt_ledger 1; receipt_component 3; event 3; projection 3; execution 3; execution_head 3"
	if wrote != 1 || s.written() != want {
		t.Errorf("%d wrote it, stored %s, want %s", wrote, s.written(), want)
	}
	_, err := s.store.Admin.ExecContext(t.Context(), "INSERT INTO receipt_component (receipt_id, ordinal, account_id, verdict, reason) SELECT receipt_id, 1, account_id, 'quarantined', 'event_unmatched' FROM receipt")
	if err == nil || !strings.Contains(err.Error(), "receipt_component.PRIMARY") {
		t.Errorf("a second component at one ordinal: %v", err)
	}
}
