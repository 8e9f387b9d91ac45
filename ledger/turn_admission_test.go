package ledger_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

// exactly is a delivery whose admission digest is over its whole body.
func exactly(t testing.TB, premise inbound.Premise, key, body string, content *turn.Content) *turn.Admission {
	ask := delivery(t, premise, key, body, content)
	ask.Admitted = facts.Digest(sha256.Sum256([]byte(body)))
	return ask
}

// Two daemons' pools, 64 callers of one delivery: one of them is accepted. Whoever is told that it was accepted before is
// told so after the winner's commit: the Receipt and everything that follows from it can be read then.
func TestScenario011SimultaneousCopiesMakeOneReceipt(t *testing.T) {
	s, premise := turnScene(t)
	daemons := []*ledger.Ledger{s.ledger, s.open(s.store.Pool(t, schema.RoleLedger))}
	var group sync.WaitGroup
	var mu sync.Mutex
	receipts, accepted, born := map[facts.ReceiptID]bool{}, 0, 0
	for i := range 64 {
		ask := exactly(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
		group.Go(func() {
			verdicts, err := daemons[i%2].TakeTurn(t.Context(), s.accounts[0], []turn.Item{{Admit: ask}})
			if err != nil || verdicts[0].Refusal != nil {
				t.Errorf("%+v, %v", verdicts, err)
				return
			}
			v := verdicts[0]
			if n := s.count("SELECT COUNT(*) FROM receipt r JOIN execution WHERE r.receipt_id=?", v.Receipt); n != 1 {
				t.Errorf("told of a Receipt of which %d can be read", n)
			}
			mu.Lock()
			defer mu.Unlock()
			receipts[v.Receipt] = true
			born += len(v.Born)
			if !v.Duplicate {
				accepted++
			}
		})
	}
	group.Wait()
	if len(receipts) != 1 || accepted != 1 || born != 1 || s.written() != oneDelivery {
		t.Errorf("%d Receipts, %d accepted, %d born, stored %s", len(receipts), accepted, born, s.written())
	}
}

// Two events whose keys collide and whose content differs, in one body, in one turn and later: the first stands, every other
// is set aside with its reason, the key and the digest that it came with.
func TestScenario015ACollidingEventIsQuarantinedAndNotDropped(t *testing.T) {
	s, premise := turnScene(t)
	s.admit(delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1", "e-1=second")),
		delivery(t, premise, "d-2", "b body", eventsOf(t, true, "e-1=third")))
	s.admit(delivery(t, premise, "d-3", "c body", eventsOf(t, true, "e-1=fourth", "e-1")))
	if n := s.count("SELECT COUNT(*) FROM event WHERE payload='e-1'"); n != 1 || s.count("SELECT COUNT(*) FROM event") != 1 {
		t.Errorf("%d events stand as they came first", n)
	}
	const aside = "SELECT COUNT(DISTINCT c.content_digest) FROM receipt_component c JOIN event e ON e.event_id=c.event_id " +
		"WHERE c.verdict='quarantined' AND c.reason='content_differs' AND c.content_digest != e.content_digest"
	if n := s.count(aside); n != 3 || s.count("SELECT COUNT(*) FROM receipt_component") != 5 {
		t.Errorf("%d are set aside, stored %s", n, s.written())
	}
}

// A key outlives every period: it is found at any age, and nothing that runs can take it away or bind it anew.
func TestScenario017AKeyIsNeverForgotten(t *testing.T) {
	s, premise := turnScene(t)
	first := exactly(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	s.admit(first)
	for _, age := range []string{"10 MINUTE", "25 HOUR", "40 DAY", "40 YEAR"} {
		for _, table := range []string{"receipt_admission_key", "receipt"} {
			_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE "+table+" SET born_at = NOW(6) - INTERVAL "+age)
			ok(t, err)
		}
		v := s.admit(exactly(t, premise, "d-1", "a body", eventsOf(t, true, "e-1")))[0]
		if v.Refusal != nil || !v.Duplicate || v.Receipt != first.Receipt {
			t.Errorf("after %s: %+v", age, v)
		}
	}
	for _, role := range schema.RuntimeRoles() {
		pool := s.store.Pool(t, role)
		for _, statement := range []string{
			"DELETE FROM receipt_admission_key",
			"UPDATE receipt_admission_key SET receipt_id = REPEAT('x', 16)",
			"UPDATE receipt_admission_key SET born_at = NOW(6)",
			"REPLACE INTO receipt_admission_key SELECT * FROM receipt_admission_key",
			"TRUNCATE TABLE receipt_admission_key",
			"DROP TABLE receipt_admission_key",
			"ALTER TABLE receipt_admission_key TTL = born_at + INTERVAL 1 DAY",
		} {
			if _, err := pool.ExecContext(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "denied") {
				t.Errorf("as %s: %s: %v", role, statement, err)
			}
		}
	}
	if s.written() != oneDelivery {
		t.Errorf("stored %s", s.written())
	}
}

// One key with two bodies, 32 callers of each at once: one body wins, whichever. The callers of the other all get one code
// and the winner's Receipt, their body is kept as evidence once, and nothing can be executed of it.
func TestScenario019OneBodyWinsAndTheOtherIsEvidence(t *testing.T) {
	for name, bodies := range map[string][2]string{
		"one byte longer": {`{"id":1}`, `{"id":1}x`},
		"one space":       {`{"id":1}`, `{"id": 1}`},
		"reordered keys":  {`{"id":1,"at":2}`, `{"at":2,"id":1}`},
		"no body":         {``, `{}`},
	} {
		s, premise := turnScene(t)
		daemons := []*ledger.Ledger{s.ledger, s.open(s.store.Pool(t, schema.RoleLedger))}
		var group sync.WaitGroup
		verdicts := make([]turn.Verdict, 64)
		for i := range verdicts {
			ask := exactly(t, premise, "d-1", " "+bodies[i%2], eventsOf(t, true, fmt.Sprintf("e-%d", i%2)))
			ask.Body = ask.Body[1:]
			group.Go(func() {
				one, err := daemons[i/2%2].TakeTurn(t.Context(), s.accounts[0], []turn.Item{{Admit: ask}})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					one = verdicts[i : i+1]
				}
				verdicts[i] = one[0]
			})
		}
		group.Wait()
		winner := 0
		if verdicts[0].Refusal != nil {
			winner = 1
		}
		for i, v := range verdicts {
			want := facts.Code(0)
			if i%2 != winner {
				want = facts.ContentDiffers
			}
			if codeOf(v) != want || v.Receipt != verdicts[winner].Receipt {
				t.Errorf("%s: caller %d: %+v, body %d won", name, i, v, winner)
			}
		}
		const kept = "SELECT COUNT(*) FROM receipt r JOIN receipt_redelivery d ON d.receipt_id=r.receipt_id AND d.answer='conflict' WHERE r.body=? AND d.body=?"
		if n := s.count(kept, []byte(bodies[winner]), []byte(bodies[1-winner])); n != 1 {
			t.Errorf("%s: the loser is kept %d times", name, n)
		}
		if want := strings.Replace(oneDelivery, "; event", "; receipt_redelivery 1; event", 1); s.written() != want {
			t.Errorf("%s: stored %s, want %s", name, s.written(), want)
		}
	}
}

// The third of five components cannot be normalized: the others become events and run, and the Receipt is one.
func TestScenario051OneBadComponentSetsNoneOfItsNeighboursAside(t *testing.T) {
	s, premise := turnScene(t)
	content := eventsOf(t, true, "e-0", "e-1", "e-2", "e-3", "e-4")
	content.Components[2] = turn.Component{Reason: facts.EventUnmatched}
	got := s.admit(delivery(t, premise, "d-1", "a body", content))[0]
	var ran []string
	for _, b := range got.Born {
		ran = append(ran, string(b.Input))
		if v := s.turn(turn.Item{Complete: completion(b)})[0]; v.Refusal != nil {
			t.Error(v.Refusal)
		}
	}
	want := "receipt_admission_key 1; receipt 1; receipt_component 5; event 4; projection 4; execution 4; execution_attempt 4; execution_ledger 4"
	if fmt.Sprint(ran) != "[input of e-0 input of e-1 input of e-3 input of e-4]" || s.written() != want {
		t.Errorf("ran %q, stored %s", ran, s.written())
	}
	if n := s.count("SELECT COUNT(*) FROM receipt_component WHERE ordinal=2 AND verdict='quarantined' AND reason='event_unmatched'"); n != 1 {
		t.Errorf("%d are quarantined", n)
	}
}

// The Receipt is committed and its materialization fails at either side of a commit, at each of its parts: the sender is told
// that it was accepted, and what is made in the end is what would have been made at once.
func TestScenario053AFailureAfterTheReceiptMintsNothingAnew(t *testing.T) {
	for _, fault := range []world.FaultKind{world.CutBeforeCommit, world.CutAfterCommit} {
		s, premise := turnScene(t)
		proxy := world.NewProxy(t, s.store.Login.Address)
		l := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil))
		whole := eventsOf(t, true, "e-0", "e-1", "e-2", "e-3", "e-4")
		first := delivery(t, premise, "d-1", "a body", nil)
		s.turnBy(l, turn.Item{Admit: first})
		redelivered := func() {
			again := delivery(t, premise, "d-1", "a body", whole)
			if v := s.turnBy(l, turn.Item{Admit: again})[0]; !v.Duplicate || v.Receipt != first.Receipt {
				t.Errorf("redelivered: %+v", v)
			}
		}
		for n := 1; n <= 5; n += 2 {
			redelivered()
			part := *whole
			part.Components, part.Open = whole.Components[:n], n < 5
			met := proxy.Arm(fault, 1)
			v := s.turnBy(l, turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: first.Receipt, Content: part}})[0]
			<-met.Fired()
			if v.Refusal != nil || v.Pending != part.Open || len(v.Born) < min(n, 2) {
				t.Errorf("fault %d, part %d: %+v", fault, n, v)
			}
		}
		redelivered()
		want := "receipt_admission_key 1; receipt 1; receipt_ledger 1; receipt_component 5; event 5; projection 5; execution 5; execution_head 5"
		if s.written() != want || s.count("SELECT COUNT(DISTINCT receipt_id, ordinal, event_id) FROM receipt_component") != 5 {
			t.Errorf("fault %d: stored %s", fault, s.written())
		}
	}
}

// P11: a body whose parts were written by turn after turn, redelivered between them, and another body with some of the same
// events: every component and every event is there once, all under the epoch that admitted the Receipt.
func TestP11RedeliveryAndRecoveryMakeEverythingOnce(t *testing.T) {
	s, premise := turnScene(t)
	bare := delivery(t, premise, "d-1", "a body", nil)
	s.admit(bare)
	parts := eventsOf(t, true, "e-0", "e-1", "e-2", "e-3", "e-4")
	for n := 1; n <= 5; n++ {
		part := *parts
		part.Components, part.Open = parts.Components[:n], n < 5
		again := delivery(t, premise, "d-1", "a body", &part)
		got := s.turn(turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: part}}, turn.Item{Admit: again},
			turn.Item{Admit: delivery(t, premise, fmt.Sprintf("other-%d", n), "b body", eventsOf(t, true, "e-0", fmt.Sprintf("e-%d", n-1)))})
		if got[0].Refusal != nil || got[0].Pending != (n < 5) || got[1].Receipt != bare.Receipt || !got[1].Duplicate || got[2].Refusal != nil {
			t.Errorf("part %d: %+v", n, got)
		}
	}
	for table, want := range map[string]int{"receipt_component": 5 + 10, "event": 5, "projection": 5, "execution": 5, "execution_head": 5, "receipt": 6} {
		if n := s.count("SELECT COUNT(*) FROM " + table); n != want {
			t.Errorf("%d rows in %s, want %d", n, table, want)
		}
	}
	for _, table := range []string{"receipt", "event", "projection", "execution"} {
		if n := s.count("SELECT COUNT(*) FROM "+table+" WHERE epoch_id != ?", premise.Epoch.ID); n != 0 {
			t.Errorf("%d rows of %s have another epoch", n, table)
		}
	}
}

// P10: what is no key is never stored, by its type: no such text becomes one, an absent one stops the turn, and of a key that
// is one every byte is kept.
func TestP10OnlyACanonicalKeyIsEverStored(t *testing.T) {
	s, premise := turnScene(t)
	for _, text := range []string{"", " ", "\t", "d-1 ", " d-1", "d\x00", "d\n", "\u00a0", "\u200b", "e\u0301", "\xff", "d\u0085", strings.Repeat("x", 513)} {
		if _, err := facts.ParseKey[facts.TransportKey](text); err == nil {
			t.Errorf("%q became a transport key", text)
		}
		if _, err := facts.ParseKey[facts.SourceEventKey](text); err == nil {
			t.Errorf("%q became a source event key", text)
		}
	}
	var none facts.TransportKey
	absent := delivery(t, premise, "d-1", "a body", nil)
	absent.TransportKey = none
	channel := delivery(t, premise, "d-1", "a body", nil)
	channel.Channel = facts.Channel{}
	event := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	event.Content.Components[0].Event.Key = facts.SourceEventKey{}
	for name, ask := range map[string]*turn.Admission{"transport key": absent, "channel": channel, "source event key": event} {
		if _, err := s.ledger.TakeTurn(t.Context(), s.accounts[0], []turn.Item{{Admit: ask}}); err == nil || s.written() != "" {
			t.Errorf("without a %s: %v, stored %s", name, err, s.written())
		}
	}
	texts := []string{"d-1", "D-1", "d-\u00e9", "d  1", strings.Repeat("x", 512), strings.Repeat("y", 504)}
	for _, text := range texts {
		event := text[:min(len(text), 504)] // its locator is eight bytes longer
		if v := s.admit(delivery(t, premise, text, "a body", eventsOf(t, true, event)))[0]; v.Refusal != nil || v.Duplicate {
			t.Errorf("%q: %+v", text, v)
		}
		if n := s.count("SELECT COUNT(*) FROM receipt r JOIN event e ON e.receipt_id=r.receipt_id WHERE HEX(r.transport_key)=? AND HEX(e.source_event_key)=?",
			fmt.Sprintf("%X", text), fmt.Sprintf("%X", event)); n != 1 {
			t.Errorf("%q is stored %d times as it came", text, n)
		}
	}
	other := delivery(t, premise, "d-1", "a body", nil)
	other.Admitted[5] ^= 1 // a digest that disagrees, over the same bytes
	if v := s.admit(other)[0]; codeOf(v) != facts.ContentDiffers {
		t.Errorf("a digest that disagrees: %+v", v)
	}
}

// The database tells keys apart by every byte of them: no column folds case or pads, no index looks at a part of one, and two
// keys that differ in their last byte alone, or a key and the same with a blank behind it, are two.
func TestScenario035And041TheDatabaseComparesWholeKeys(t *testing.T) {
	s, premise := turnScene(t)
	long := strings.Repeat("x", 511)
	for _, text := range []string{"k", "K", long, long + "a", long + "b"} {
		if v := s.admit(delivery(t, premise, text, "a body", nil))[0]; v.Refusal != nil || v.Duplicate {
			t.Errorf("%q: %+v", text, v)
		}
	}
	for text, want := range map[string]int{"k": 1, "K": 1, "k ": 0, " k": 0, long: 1, long + "a": 1, long + "A": 0, long + "a ": 0} {
		if n := s.count("SELECT COUNT(*) FROM receipt WHERE transport_key = ?", text); n != want {
			t.Errorf("%q is %d keys, want %d", text, n, want)
		}
	}
	for query, want := range map[string]int{
		"SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND collation_name IS NOT NULL": 0,
		"SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE() AND sub_part IS NOT NULL":    0,
		"SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE() AND column_name IS NULL":     0,
		"SELECT COUNT(*) > 50 FROM information_schema.columns WHERE table_schema = DATABASE()":                           1,
	} {
		if n := s.count(query); n != want {
			t.Errorf("%s gives %d, want %d", query, n, want)
		}
	}
}

// Two admissions of one key race: while the first one's COMMIT is on its way, the second waits for the gate. It then finds the
// winner's row inside its own transaction, in its first run: no duplicate is met and nothing is run again.
func TestScenario113TheLoserOfARaceReadsTheWinner(t *testing.T) {
	s, premise := turnScene(t)
	proxy := world.NewProxy(t, s.store.Login.Address)
	winner := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil))
	loser, commands := s.tapped()
	first, second := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1")), delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	held := proxy.Arm(world.HoldCommit, 1)
	done := make(chan turn.Verdict, 2)
	race := func(l *ledger.Ledger, ask *turn.Admission) {
		verdicts, err := l.TakeTurn(t.Context(), s.accounts[0], []turn.Item{{Admit: ask}})
		if err != nil {
			t.Error(err)
			verdicts = make([]turn.Verdict, 1)
		}
		done <- verdicts[0]
	}
	go race(winner, first)
	<-held.Fired()
	begun := 0
	commands.watch(func(one step) error {
		if one.query == "BEGIN" {
			begun++
		}
		return nil
	})
	go race(loser, second)
	s.blocked(1)
	held.Release()
	for range 2 {
		if v := <-done; v.Refusal != nil || v.Receipt != first.Receipt {
			t.Errorf("%+v", v)
		}
	}
	if begun != 1 || s.written() != oneDelivery {
		t.Errorf("%d transactions of the loser, stored %s", begun, s.written())
	}
}

// A redelivery that a revoked generation verified is refused like a new delivery: who signed it is not known, so it learns
// nothing and its bytes are no evidence (R43). The very same admission, which was verified before, is answered.
func TestR43ARevokedCredentialAnswersNoRedelivery(t *testing.T) {
	s, premise := turnScene(t)
	signed := func(body string) *turn.Admission {
		ask := exactly(t, premise, "d-1", body, eventsOf(t, true, "e-1"))
		ask.Credential, ask.Member = s.credential[0].ID, keyOf[facts.DefinitionID](t, "primary")
		return ask
	}
	first := signed("a body")
	s.admit(first)
	_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE credential_generation_dispatch_gate_guard SET state = 'revoked', fence = 2")
	ok(t, err)
	for name, ask := range map[string]*turn.Admission{"the same again": signed("a body"), "other bytes": signed("b body")} {
		if v := s.admit(ask)[0]; codeOf(v) != facts.Revoked || !v.Receipt.IsZero() || s.written() != oneDelivery {
			t.Errorf("%s: %+v, stored %s", name, v, s.written())
		}
	}
	if v := s.admit(first)[0]; v.Refusal != nil || v.Receipt != first.Receipt || len(v.Born) != 1 {
		t.Errorf("the very same admission: %+v", v)
	}
}

// A delivery and the materialization of another one bring the same new event in one turn: the delivery, which is decided
// first, has it, and the other gets only its component.
func TestU03AnEventThatTwoKindsOfItemBringInOneTurnIsOne(t *testing.T) {
	s, premise := turnScene(t)
	bare := delivery(t, premise, "d-1", "a body", nil)
	s.admit(bare)
	got := s.turn(turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: *eventsOf(t, true, "e-1", "e-2=else")}},
		turn.Item{Admit: delivery(t, premise, "d-2", "b body", eventsOf(t, true, "e-1", "e-2"))})
	if got[0].Refusal != nil || got[0].Pending || got[0].Born != nil || len(got[1].Born) != 2 {
		t.Errorf("%+v", got)
	}
	want := "receipt_admission_key 2; receipt 2; receipt_ledger 1; receipt_component 4; event 2; projection 2; execution 2; execution_head 2; execution_attempt 2"
	if s.written() != want || s.count("SELECT COUNT(*) FROM receipt_component WHERE reason='content_differs'") != 1 {
		t.Errorf("stored %s, want %s", s.written(), want)
	}
}
