package ledger_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

// unclaimed is a new execution that nobody holds.
func (s *scene) unclaimed(premise inbound.Premise, key string) turn.Born {
	s.t.Helper()
	ask := delivery(s.t, premise, key, "a body", eventsOf(s.t, true, key))
	ask.Claim = nil
	return s.admit(ask)[0].Born[0]
}

// A sweep has read that an execution is due, and its completion commits before the sweep's claim: the claim changes nothing.
// So does a claim that waits for the gate while the completion's COMMIT is on its way.
func TestScenario071ACompletionBetweenReadAndWriteIsNotOverwritten(t *testing.T) {
	s, premise := turnScene(t)
	proxy := world.NewProxy(t, s.store.Login.Address)
	slow := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil))
	for n, overlapping := range []bool{false, true} {
		born := s.unclaimed(premise, fmt.Sprintf("d-%d", n))
		if due := s.count("SELECT COUNT(*) FROM execution_head WHERE due_at <= NOW(6) AND execution_id=?", born.Execution); due != 1 {
			t.Fatalf("%d are due", due)
		}
		claim := turn.Item{Claim: &turn.Claim{Premise: premise, Holding: turn.Holding{Holder: holder, Lease: time.Minute}, Execution: born.Execution}}
		completed := make(chan turn.Verdict, 1)
		complete := func() {
			verdicts, err := slow.TakeTurn(t.Context(), s.accounts[0], []turn.Item{{Complete: completion(born)}})
			if err != nil {
				t.Error(err)
				verdicts = make([]turn.Verdict, 1)
			}
			completed <- verdicts[0]
		}
		var v turn.Verdict
		if overlapping {
			held := proxy.Arm(world.HoldCommit, 1)
			go complete()
			<-held.Fired()
			go func() { s.blocked(1); held.Release() }()
			v = s.turn(claim)[0]
		} else {
			complete()
			v = s.turn(claim)[0]
		}
		if done := <-completed; done.Refusal != nil {
			t.Error(done.Refusal)
		}
		if codeOf(v) != facts.SubjectEnded || s.count("SELECT COUNT(*) FROM execution_head") != 0 || s.count("SELECT COUNT(*) FROM execution_attempt") != 0 {
			t.Errorf("overlapping %v: %+v, stored %s", overlapping, v, s.written())
		}
	}
	// The other order: the claim first, then the completion, which whoever has it may bring; the claimant's end comes too late.
	born := s.unclaimed(premise, "d-3")
	for i, item := range []turn.Item{
		{Claim: &turn.Claim{Premise: premise, Holding: turn.Holding{Holder: holder, Lease: time.Minute}, Execution: born.Execution}},
		{Complete: completion(born)},
		{End: &turn.End{Execution: born.Execution, Attempt: 1, Holder: holder, Reason: facts.ExecutionFailing}},
	} {
		if v := s.turn(item)[0]; codeOf(v) != []facts.Code{0, 0, facts.SubjectEnded}[i] {
			t.Errorf("step %d: %+v", i, v)
		}
	}
}

// A process has lost its lease and got the next attempt itself: what its first attempt still wants to say is kept as
// its own and does not let the second one go.
func TestP21AnOldAttemptDoesNotEndItsSuccessor(t *testing.T) {
	s, premise := turnScene(t)
	born := s.unclaimed(premise, "d-1")
	claim := turn.Item{Claim: &turn.Claim{Premise: premise, Holding: turn.Holding{Holder: holder, Lease: time.Minute}, Execution: born.Execution}}
	for attempt := range uint64(2) {
		if v := s.turn(claim)[0]; v.Refusal != nil || v.Attempt != attempt+1 {
			t.Fatalf("%+v", v)
		}
		_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE execution_head SET due_at = NOW(6) + INTERVAL ? SECOND", 60*attempt)
		ok(t, err)
	}
	v := s.turn(turn.Item{End: &turn.End{Execution: born.Execution, Attempt: 1, Holder: holder, Reason: facts.ExecutionFailing}})[0]
	if codeOf(v) != facts.StaleHolder || s.count("SELECT COUNT(*) FROM execution_head WHERE attempt=2 AND holder_id=?", holder) != 1 {
		t.Errorf("%+v", v)
	}
	if s.count("SELECT COUNT(*) FROM execution") != 1 || s.count("SELECT COUNT(*) FROM execution_attempt") != 2 || s.count("SELECT COUNT(*) FROM execution_attempt_end WHERE ordinal <> 1") != 0 {
		t.Errorf("stored %s", s.written())
	}
}

// The end of an attempt comes in the very turn in which another process gets the next one: it is kept as if it had come later.
func TestP21AnEndIsKeptThatComesWithTheClaimThatOvertakesIt(t *testing.T) {
	s, premise := turnScene(t)
	born := s.admit(delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1")))[0].Born[0]
	_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE execution_head SET due_at = NOW(6) - INTERVAL 1 SECOND")
	ok(t, err)
	got := s.turn(
		turn.Item{Claim: &turn.Claim{Premise: premise, Holding: turn.Holding{Holder: facts.Mint[facts.HolderID](), Lease: time.Minute}, Execution: born.Execution}},
		turn.Item{End: &turn.End{Execution: born.Execution, Attempt: 1, Holder: holder, Reason: facts.ExecutionFailing}})
	if got[0].Attempt != 2 || codeOf(got[1]) != facts.StaleHolder || s.count("SELECT COUNT(*) FROM execution_attempt_end WHERE ordinal=1") != 1 {
		t.Errorf("%+v, stored %s", got, s.written())
	}
}

// Claims that would all write the same into one head, at once from two processes: one of them makes the attempt, and the
// others, of the same holder, are told of it. Claims of as many holders: one wins.
func TestScenario111ClaimsThatWriteTheSameAreWonOnce(t *testing.T) {
	s, premise := turnScene(t)
	daemons := []*ledger.Ledger{s.ledger, s.open(s.store.Pool(t, schema.RoleLedger))}
	for n, alike := range []bool{true, false} {
		born := s.unclaimed(premise, fmt.Sprintf("d-%d", n))
		var group sync.WaitGroup
		verdicts := make([]turn.Verdict, 16)
		for i := range verdicts {
			by := holder
			if !alike {
				by = facts.Mint[facts.HolderID]()
			}
			group.Go(func() {
				one, err := daemons[i%2].TakeTurn(t.Context(), s.accounts[0], []turn.Item{{Claim: &turn.Claim{Premise: premise,
					Holding: turn.Holding{Holder: by, Lease: time.Minute}, Execution: born.Execution}}})
				if err != nil {
					t.Error(err)
					one = make([]turn.Verdict, 1)
				}
				verdicts[i] = one[0]
			})
		}
		group.Wait()
		won := 0
		for _, v := range verdicts {
			switch {
			case v.Refusal == nil && v.Attempt == 1:
				won++
			case codeOf(v) != facts.LeaseHeld:
				t.Errorf("%+v", v)
			}
		}
		want := map[bool]int{true: len(verdicts), false: 1}[alike]
		if attempts := s.count("SELECT COUNT(*) FROM execution_attempt WHERE execution_id=?", born.Execution); won != want || attempts != 1 {
			t.Errorf("alike %v: %d won with %d attempts", alike, won, attempts)
		}
	}
}

// The clocks of two processes differ by three minutes, and a lease is 20 seconds: it is written and judged by the database's
// time, so whichever process has it, the other one does not get it, and it ends when the database says so.
func TestScenario117ALeaseIsJudgedByTheDatabasesTime(t *testing.T) {
	s, premise := turnScene(t)
	early := s.open(s.store.Pool(t, schema.RoleLedger), ledger.WithClock(&clock{beside: -90 * time.Second}))
	late := s.open(s.store.Pool(t, schema.RoleLedger), ledger.WithClock(&clock{beside: 90 * time.Second}))
	for n, pair := range [][2]*ledger.Ledger{{early, late}, {late, early}} {
		born := s.unclaimed(premise, fmt.Sprintf("d-%d", n))
		claim := func() turn.Item {
			return turn.Item{Claim: &turn.Claim{Premise: premise, Holding: turn.Holding{Holder: facts.Mint[facts.HolderID](), Lease: 20 * time.Second}, Execution: born.Execution}}
		}
		if v := s.turnBy(pair[0], claim())[0]; v.Refusal != nil || v.Attempt != 1 {
			t.Errorf("%+v", v)
		}
		// Written by the database's time: what is left of it is at most its length, and more than nothing.
		const left = "SELECT COUNT(*) FROM execution_head WHERE execution_id=? AND due_at > NOW(6) AND due_at <= NOW(6) + INTERVAL 20 SECOND"
		if n := s.count(left, born.Execution); n != 1 {
			t.Errorf("the lease is not of the database's time")
		}
		if v := s.turnBy(pair[1], claim())[0]; codeOf(v) != facts.LeaseHeld {
			t.Errorf("a second holder: %+v", v)
		}
		// Judged by the database's time: it is over when the database says so, for both.
		_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE execution_head SET due_at = NOW(6) WHERE execution_id=?", born.Execution)
		ok(t, err)
		if v := s.turnBy(pair[1], claim())[0]; v.Refusal != nil || v.Attempt != 2 {
			t.Errorf("after its end: %+v", v)
		}
		if v := s.turnBy(pair[0], claim())[0]; codeOf(v) != facts.LeaseHeld {
			t.Errorf("a third holder: %+v", v)
		}
	}
}
