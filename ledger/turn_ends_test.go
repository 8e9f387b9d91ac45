package ledger_test

import (
	"bytes"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/ledger/turn"
)

// An attempt that was overtaken lets nothing go; how it ended is kept once, if its holder really made it. So an application
// that outlasts every lease is still found to fail (R27, R45).
func TestR45TheEndOfAnOvertakenAttemptIsKeptAndMovesNothing(t *testing.T) {
	s, premise := servingScene(t)
	ask := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	ask.Claim.Lease = 0
	born := s.admit(ask)[0].Born[0]
	other := facts.Mint[facts.HolderID]()
	claim := turn.Claim{Premise: premise, Holding: turn.Holding{Holder: other, Lease: time.Minute}, Execution: born.Execution}
	if v := s.turn(turn.Item{Claim: &claim})[0]; v.Refusal != nil || v.Attempt != 2 {
		t.Fatalf("%+v", v)
	}
	head := func() (n int) {
		return s.count("SELECT COUNT(*) FROM execution_head WHERE attempt = 2 AND holder_id = ? AND due_at > NOW(6) + INTERVAL 30 SECOND", other)
	}
	for _, end := range []turn.End{
		{Execution: born.Execution, Attempt: 1, Holder: other, Reason: facts.ExecutionFailing, Detail: []byte("a lie")},
		{Execution: born.Execution, Attempt: 3, Holder: holder, Reason: facts.ExecutionFailing, Detail: []byte("of none")},
		{Execution: born.Execution, Attempt: 1, Holder: holder, Reason: facts.ExecutionFailing, Detail: []byte("late")},
		{Execution: born.Execution, Attempt: 1, Holder: holder, Reason: facts.ExecutionFailing, Detail: []byte("later")},
	} {
		twice := end
		for _, v := range s.turn(turn.Item{End: &end}, turn.Item{End: &twice}) {
			if v.Refusal == nil || v.Refusal.Code != facts.StaleHolder || head() != 1 {
				t.Errorf("%s: %+v, %d heads are held", end.Detail, v, head())
			}
		}
	}
	if n, late := s.count("SELECT COUNT(*) FROM execution_attempt_end"), s.count("SELECT COUNT(*) FROM execution_attempt_end WHERE ordinal = 1 AND detail = 'late'"); n != 1 || late != 1 {
		t.Errorf("%d ends are kept, %d of them the first one of the first attempt", n, late)
	}
}

// A Receipt that stays pending is due later: soon if its process brings more of it, late if something is waited for that
// cannot be written yet.
func TestAReceiptThatStaysPendingIsDueLater(t *testing.T) {
	s, premise := servingScene(t)
	bare := delivery(t, premise, "d-1", "a body", nil)
	s.admit(bare)
	due := func(from, to string) int {
		return s.count("SELECT COUNT(*) FROM receipt_head WHERE due_at > NOW(6) + INTERVAL " + from + " SECOND AND due_at <= NOW(6) + INTERVAL " + to + " SECOND")
	}
	content := eventsOf(t, true, "e-1")
	content.Open = true
	ask := &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: *content}
	for range 2 {
		if v := s.turn(turn.Item{Materialize: ask})[0]; v.Refusal != nil || !v.Pending || due("300", "600") != 1 {
			t.Errorf("%+v", v)
		}
	}
	keys := []string{"e-1"}
	for n := range 1200 {
		keys = append(keys, "f-"+time.Duration(n).String())
	}
	ask.Content = *eventsOf(t, true, keys...)
	if v := s.turn(turn.Item{Materialize: ask})[0]; v.Refusal != nil || !v.Pending || due("-30", "5") != 1 {
		t.Errorf("%+v", v)
	}
}

// A turn holds 16 MiB: what follows from a body is written as far as that goes, and the rest by the next turn.
func TestR12ATurnIsBoundedInBytes(t *testing.T) {
	s, premise := turnScene(t)
	content := eventsOf(t, true, "e-1", "e-2", "e-3", "e-4")
	for _, component := range content.Components {
		component.Event.Inputs[0].Bytes = bytes.Repeat([]byte{'i'}, turn.MaxBytes/4)
		if !component.Event.Fits() {
			t.Fatal("it does not fit into a turn")
		}
	}
	bare := delivery(t, premise, "d-1", "a body", nil)
	s.admit(bare)
	ask := turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: *content}}
	if v := s.turn(ask)[0]; v.Refusal != nil || !v.Pending || len(v.Born) != 3 {
		t.Errorf("%d were born of the first turn: %+v", len(v.Born), v.Refusal)
	}
	if v := s.turn(ask)[0]; v.Refusal != nil || v.Pending || len(v.Born) != 1 {
		t.Errorf("%d were born of the second turn: %+v", len(v.Born), v.Refusal)
	}
	if n := s.count("SELECT COUNT(*) FROM execution_head"); n != 4 {
		t.Errorf("%d executions", n)
	}
}

func TestWhatNoRowOrTurnHoldsDoesNotFit(t *testing.T) {
	event := func(payload int, inputs ...int) *turn.Event {
		e := &turn.Event{Payload: make([]byte, payload)}
		for _, size := range inputs {
			e.Inputs = append(e.Inputs, turn.Input{Bytes: make([]byte, size)})
		}
		return e
	}
	for _, c := range []struct {
		event *turn.Event
		fits  bool
	}{
		{event(turn.MaxInput, turn.MaxInput, turn.MaxInput), true},
		{event(1, turn.MaxInput+1), false},
		{event(turn.MaxInput+1, 1), false},
		{event(turn.MaxInput, turn.MaxInput, turn.MaxInput, turn.MaxInput), false},
		{event(1, make([]int, 999)...), true},
		{event(1, make([]int, 1000)...), false},
	} {
		if got := c.event.Fits(); got != c.fits {
			t.Errorf("%d bytes with %d inputs: %v", len(c.event.Payload), len(c.event.Inputs), got)
		}
	}
}
