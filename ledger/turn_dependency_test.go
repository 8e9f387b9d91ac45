package ledger_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

// requiring lets every input of a content require events of these keys, for an hour.
func requiring(t testing.TB, content *turn.Content, keys ...string) *turn.Content {
	t.Helper()
	for _, component := range content.Components {
		for i := range component.Event.Inputs {
			for _, key := range keys {
				component.Event.Inputs[i].Needs = append(component.Event.Inputs[i].Needs, turn.Need{Event: keyOf[facts.SourceEventKey](t, key), Deadline: time.Hour})
			}
		}
	}
	return content
}

// untaken is a content of events that no route takes.
func untaken(t testing.TB, keys ...string) *turn.Content {
	t.Helper()
	content := eventsOf(t, true, keys...)
	for _, component := range content.Components {
		component.Event.Inputs = nil
	}
	return content
}

// meets is the item that a sweep brings for an execution that waits, of which every dependency is due.
func (s *scene) meets(premise inbound.Premise, born turn.Born) turn.Item {
	s.t.Helper()
	rows, err := s.store.Admin.QueryContext(s.t.Context(), "SELECT dependency_id FROM execution_dependency WHERE execution_id=? ORDER BY ordinal", born.Execution)
	ok(s.t, err)
	ask := &turn.Meet{Premise: premise, Profile: facts.ProfileV2, Execution: born.Execution, Lane: born.Lane, Claim: &turn.Holding{Holder: holder, Lease: time.Minute}}
	for rows.Next() {
		var id facts.DependencyID
		ok(s.t, rows.Scan(&id))
		ask.Dependencies = append(ask.Dependencies, id)
	}
	ok(s.t, rows.Close())
	return turn.Item{Meet: ask}
}

// overdue lets the deadline of every dependency be past, as an administrator who moves clocks.
func (s *scene) overdue() {
	s.t.Helper()
	_, err := s.store.Admin.ExecContext(s.t.Context(), "UPDATE execution_dependency SET deadline_at=NOW(6) - INTERVAL 1 SECOND")
	ok(s.t, err)
}

// dependencies says how the dependencies and their executions stand.
func (s *scene) dependencies() string {
	s.t.Helper()
	return fmt.Sprintf("satisfied %d, expired %d, rejected %d, waiting %d; resumed %d, set aside %d, waiting %d",
		s.count("SELECT COUNT(*) FROM execution_dependency_ledger WHERE to_state='satisfied'"), s.count("SELECT COUNT(*) FROM execution_dependency_ledger WHERE to_state='expired'"),
		s.count("SELECT COUNT(*) FROM execution_dependency_ledger WHERE to_state='rejected'"), s.count("SELECT COUNT(*) FROM execution_dependency_head"),
		s.count("SELECT COUNT(*) FROM execution_ledger WHERE edge='resume'"), s.count("SELECT COUNT(*) FROM execution_ledger WHERE edge='quarantine_waiting'"),
		s.count("SELECT COUNT(*) FROM execution_head WHERE state='waiting_dependency'"))
}

func (s *scene) depends(what, want string) {
	s.t.Helper()
	if got := s.dependencies(); got != want {
		s.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

const (
	isWaiting  = "satisfied 0, expired 0, rejected 0, waiting 1; resumed 0, set aside 0, waiting 1"
	isResumed  = "satisfied 1, expired 0, rejected 0, waiting 0; resumed 1, set aside 0, waiting 0"
	isExpired  = "satisfied 0, expired 1, rejected 0, waiting 0; resumed 0, set aside 1, waiting 0"
	neverWaits = "satisfied 1, expired 0, rejected 0, waiting 0; resumed 0, set aside 0, waiting 0"
)

// pushes is a completion that lets go on what waits for its event.
func pushes(premise inbound.Premise, born turn.Born) *turn.Completion {
	ask := completion(born)
	ask.Event = born.Event
	ask.Next = &turn.Next{Premise: premise, Holding: turn.Holding{Holder: holder, Lease: time.Minute}}
	return ask
}

// What satisfies a dependency commits before it is born, in the same turn, or after it: it is satisfied in all three, and
// none of them waits for a look that never comes.
func TestScenario159AFactSatisfiesADependencyBeforeWithAndAfterIt(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		s, premise := turnScene(t)
		s.turn(turn.Item{Complete: completion(s.brings(premise, eventsOf(t, true, "first"))[0])})
		if born := s.brings(premise, requiring(t, eventsOf(t, true, "then"), "first")); len(born) != 1 || born[0].Attempt != 1 {
			t.Errorf("%+v", born)
		}
		s.depends("satisfied at its birth", neverWaits)
	})
	t.Run("with it", func(t *testing.T) {
		s, premise := turnScene(t)
		first := s.brings(premise, eventsOf(t, true, "first"))[0]
		got := s.turn(turn.Item{Admit: delivery(t, premise, "d-1", "a body", requiring(t, eventsOf(t, true, "then"), "first"))}, turn.Item{Complete: completion(first)})
		if len(got[0].Born) != 1 || got[0].Born[0].Attempt != 1 {
			t.Errorf("%+v", got)
		}
		s.depends("satisfied with its birth", neverWaits)
	})
	t.Run("with it, an event that no route takes", func(t *testing.T) {
		s, premise := turnScene(t)
		got := s.turn(turn.Item{Admit: delivery(t, premise, "d-1", "a body", requiring(t, eventsOf(t, true, "then"), "first"))},
			turn.Item{Admit: delivery(t, premise, "d-2", "a body", untaken(t, "first"))})
		if len(got[0].Born) != 1 || got[0].Born[0].Attempt != 1 {
			t.Errorf("%+v", got)
		}
		s.depends("satisfied with its birth", neverWaits)
	})
	t.Run("after it, told", func(t *testing.T) {
		s, premise := turnScene(t)
		then := s.waits(premise)
		first := s.brings(premise, eventsOf(t, true, "first"))[0]
		s.depends("the event has come and is not completed", isWaiting)
		got := s.turn(turn.Item{Complete: pushes(premise, first)})[0]
		if len(got.Born) != 1 || got.Born[0].Attempt != 1 || got.Born[0].Execution != then.Execution || string(got.Born[0].Input) != "input of then" || got.Born[0].Ref != then.Ref || got.Born[0].Command != then.Command {
			t.Errorf("%+v", got)
		}
		s.depends("told by the completion", isResumed)
		if v := s.turn(turn.Item{Complete: completion(got.Born[0])})[0]; v.Refusal != nil {
			t.Error(v.Refusal)
		}
	})
	t.Run("after it, found", func(t *testing.T) {
		s, premise := turnScene(t)
		then := s.waits(premise)
		looks := s.meets(premise, then)
		s.turn(turn.Item{Complete: completion(s.brings(premise, eventsOf(t, true, "first"))[0])})
		s.depends("nobody told it", isWaiting)
		if v := s.turn(looks)[0]; v.Refusal != nil || len(v.Born) != 1 || v.Born[0].Attempt != 1 || v.Born[0].Execution != then.Execution {
			t.Errorf("%+v", v)
		}
		s.depends("it looked", isResumed)
	})
}

// waits brings an input that requires the event "first", and gives its execution.
func (s *scene) waits(premise inbound.Premise) turn.Born {
	s.t.Helper()
	born := s.brings(premise, requiring(s.t, eventsOf(s.t, true, "then"), "first"))
	if len(born) != 1 || born[0].Attempt != 0 {
		s.t.Fatalf("%+v", born)
	}
	s.depends("it waits", isWaiting)
	return born[0]
}

// P23: what waits has no lease and no attempt, nobody can claim it, end it or complete it, and its deadline stays.
func TestP23WhatWaitsHoldsNoLeaseAndItsDeadlineDoesNotMove(t *testing.T) {
	s, premise := turnScene(t)
	then := s.waits(premise)
	deadline := s.text("SELECT CONCAT(deadline_at, ' is ', ROUND(TIMESTAMPDIFF(SECOND, born_at, deadline_at) / 60)) FROM execution_dependency")
	if !strings.HasSuffix(deadline, " is 60") {
		t.Errorf("the deadline %s minutes after its birth", deadline)
	}
	looks := s.meets(premise, then)
	for range 3 {
		if v := s.turn(looks)[0]; v.Refusal != nil || v.Born != nil || v.Failed != 0 {
			t.Errorf("looked at too early: %+v", v)
		}
	}
	claim := turn.Claim{Premise: premise, Holding: turn.Holding{Holder: holder, Lease: time.Minute}, Execution: then.Execution}
	end := turn.End{Execution: then.Execution, Attempt: 1, Holder: holder, Reason: facts.ExecutionFailing}
	for i, v := range s.turn(turn.Item{Claim: &claim}, turn.Item{End: &end}, turn.Item{Complete: completion(then)}) {
		if codeOf(v) != facts.WrongState {
			t.Errorf("item %d of an execution that waits: %+v", i, v)
		}
	}
	s.depends("still", isWaiting)
	for query, want := range map[string]int{
		"SELECT COUNT(*) FROM execution_attempt": 0,
		"SELECT COUNT(*) FROM execution_head WHERE holder_id IS NULL AND attempt=0 AND due_at > NOW(6) + INTERVAL 1 YEAR":                                          1,
		"SELECT COUNT(*) FROM execution_dependency_head h JOIN execution_dependency d USING (dependency_id) WHERE h.due_at <= d.deadline_at AND h.due_at > NOW(6)": 1,
	} {
		if got := s.count(query); got != want {
			t.Errorf("%s: %d", query, got)
		}
	}
	if again := s.text("SELECT CONCAT(deadline_at, ' is 60') FROM execution_dependency"); again != deadline {
		t.Errorf("the deadline moved from %s to %s", deadline, again)
	}
}

func (s *scene) text(query string) (text string) {
	s.t.Helper()
	ok(s.t, s.store.Admin.QueryRowContext(s.t.Context(), query).Scan(&text))
	return text
}

// R23: a deadline is acted on only when no Receipt is left to read, and whatever satisfies the dependency in the turn that
// would expire it has satisfied it.
func TestR23ADependencyExpiresOnlyWhenNoReceiptIsLeftToRead(t *testing.T) {
	for _, satisfies := range []bool{true, false} {
		t.Run(fmt.Sprintf("the receipt satisfies it: %t", satisfies), func(t *testing.T) {
			s, premise := turnScene(t)
			looks := s.meets(premise, s.waits(premise))
			bare := delivery(t, premise, "d-1", "a body", nil)
			s.admit(bare)
			s.overdue()
			if v := s.turn(looks)[0]; v.Refusal != nil || v.Born != nil || v.Failed != 0 {
				t.Errorf("with a receipt that is not read: %+v", v)
			}
			s.depends("with a receipt that is not read", isWaiting)
			content := map[bool]*turn.Content{true: untaken(t, "first"), false: untaken(t, "other")}[satisfies]
			if v := s.turn(turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: *content}})[0]; v.Refusal != nil {
				t.Fatal(v.Refusal)
			}
			v := s.turn(looks)[0]
			if satisfies {
				s.depends("it was in the receipt", isResumed)
			} else if s.depends("it was not", isExpired); v.Failed != facts.DependencyExpired {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestR23WhatComesWithTheDeadlineSatisfies(t *testing.T) {
	for name, brings := range map[string]func(s *scene, premise inbound.Premise) turn.Item{
		"an event": func(s *scene, premise inbound.Premise) turn.Item {
			return turn.Item{Admit: delivery(s.t, premise, "d-1", "a body", untaken(s.t, "first"))}
		},
		"a completion": func(s *scene, premise inbound.Premise) turn.Item {
			return turn.Item{Complete: completion(s.brings(premise, eventsOf(s.t, true, "first"))[0])}
		},
	} {
		for _, before := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, named first: %t", name, before), func(t *testing.T) {
				s, premise := turnScene(t)
				looks := s.meets(premise, s.waits(premise))
				item := brings(s, premise)
				s.overdue()
				if before {
					s.turn(item, looks)
				} else {
					s.turn(looks, item)
				}
				s.depends(name, isResumed)
			})
		}
	}
}

// An event is completed when everything that follows from it is, and nothing of it failed.
func TestAnEventIsCompletedWhenNothingOfItIsLeft(t *testing.T) {
	two := func(t *testing.T) *turn.Content {
		content := eventsOf(t, true, "first")
		input := content.Components[0].Event.Inputs[0]
		input.Route = keyOf[facts.RouteID](t, "others")
		content.Components[0].Event.Inputs = append(content.Components[0].Event.Inputs, input)
		return content
	}
	t.Run("of two executions both", func(t *testing.T) {
		s, premise := turnScene(t)
		s.waits(premise)
		born := s.brings(premise, two(t))
		s.turn(turn.Item{Complete: pushes(premise, born[0])})
		s.depends("one is not", isWaiting)
		s.turn(turn.Item{Complete: pushes(premise, born[1])})
		s.depends("both are", isResumed)
	})
	t.Run("a failed result is none", func(t *testing.T) {
		s, premise := turnScene(t)
		looks := s.meets(premise, s.waits(premise))
		failed := pushes(premise, s.brings(premise, eventsOf(t, true, "first"))[0])
		failed.Outcome = machines.ApplicationResultFailed
		s.turn(turn.Item{Complete: failed})
		s.turn(looks)
		s.depends("it failed", isWaiting)
		s.overdue()
		s.turn(looks)
		s.depends("it failed, and the deadline is past", isExpired)
	})
	t.Run("what is not written yet is left", func(t *testing.T) {
		s, premise := turnScene(t)
		looks := s.meets(premise, s.waits(premise))
		content := untaken(t, "first")
		content.Components[0].Event.Unwritten = 1
		s.brings(premise, content)
		s.turn(looks)
		s.depends("a route has not written its part", isWaiting)
	})
	for name, order := range map[string]turn.Order{"superseded": latest, "set aside": strict(t)} {
		t.Run("what was "+name+" never is", func(t *testing.T) {
			s, premise := turnScene(t)
			looks := s.meets(premise, s.waits(premise))
			s.brings(premise, placed(t, order, "p", "first@3/x", "a@3/x=else", "b@4/x"))
			if name == "set aside" { // two that tie, once their predecessor is completed
				s.applies(premise, order, s.brings(premise, placed(t, order, "p", "one@1", "two@2"))...)
			} else {
				s.applies(premise, order, s.brings(premise, placed(t, order, "p", "c@9"))...)
			}
			v := s.turn(looks)[0]
			if v.Failed != facts.DependencyRejected {
				t.Errorf("%+v, %s", v, s.fates())
			}
			s.depends(name, "satisfied 0, expired 0, rejected 1, waiting 0; resumed 0, set aside 1, waiting 0")
		})
	}
}

// An execution is ready when the last of its requirements is met, whichever that is and whoever finds it, and set aside when
// the first one fails. The others end each for itself.
func TestAnExecutionIsReadyWhenItsLastRequirementIsMet(t *testing.T) {
	s, premise := turnScene(t)
	s.brings(premise, untaken(t, "second"))
	then := s.brings(premise, requiring(t, eventsOf(t, true, "then"), "first", "second", "third"))[0]
	s.depends("two of three are left", "satisfied 1, expired 0, rejected 0, waiting 2; resumed 0, set aside 0, waiting 1")
	s.turn(turn.Item{Complete: pushes(premise, s.brings(premise, eventsOf(t, true, "third"))[0])})
	s.depends("one of three is left", "satisfied 2, expired 0, rejected 0, waiting 1; resumed 0, set aside 0, waiting 1")
	s.brings(premise, untaken(t, "first"))
	one := s.meets(premise, then)
	one.Meet.Dependencies = one.Meet.Dependencies[:1]
	if v := s.turn(one)[0]; len(v.Born) != 1 || v.Born[0].Execution != then.Execution {
		t.Errorf("%+v", v)
	}
	s.depends("none is left", "satisfied 3, expired 0, rejected 0, waiting 0; resumed 1, set aside 0, waiting 0")

	other := s.brings(premise, requiring(t, eventsOf(t, true, "other"), "late", "later"))[0]
	_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE execution_dependency SET deadline_at=NOW(6) - INTERVAL 1 SECOND WHERE ordinal=0 AND execution_id=?", other.Execution)
	ok(t, err)
	looks := s.meets(premise, other)
	if v := s.turn(looks)[0]; v.Failed != facts.DependencyExpired {
		t.Errorf("%+v", v)
	}
	s.brings(premise, untaken(t, "later"))
	if v := s.turn(looks)[0]; v.Refusal != nil || v.Born != nil || v.Failed != 0 {
		t.Errorf("%+v", v)
	}
	s.depends("one expired, and the other was satisfied afterwards", "satisfied 4, expired 1, rejected 0, waiting 0; resumed 1, set aside 1, waiting 0")
}

// A dependency inside a lane: what waits in the lane keeps what it requires until it takes it, the execution that waits has the lane,
// and what fails releases nothing.
func TestR22ADependencyInALaneHoldsItAndItsExpiryReleasesNothing(t *testing.T) {
	for _, comes := range []bool{true, false} {
		t.Run(fmt.Sprintf("the fact comes: %t", comes), func(t *testing.T) {
			s, premise := turnScene(t)
			order := strict(t)
			if born := s.brings(premise, requiring(t, placed(t, order, "p", "b@2"), "first")); born != nil {
				t.Fatalf("%+v", born)
			}
			if n := s.count("SELECT COUNT(*) FROM projection_need") + s.count("SELECT COUNT(*) FROM execution_dependency"); n != 1 {
				t.Errorf("%d requirements of an input that waits in its lane", n)
			}
			next := s.completes(premise, order, s.brings(premise, placed(t, order, "p", "a@1"))[0], machines.ApplicationResultApplied)
			if len(next) != 1 || next[0].Attempt != 0 || string(next[0].Input) != "input of b" {
				t.Fatalf("%+v", next)
			}
			s.depends("it has the lane and waits", isWaiting)
			if born := s.brings(premise, placed(t, order, "p", "c@3")); born != nil {
				t.Errorf("%+v took the lane", born)
			}
			looks := s.meets(premise, next[0])
			looks.Meet.Order = order
			if comes {
				s.brings(premise, untaken(t, "first"))
			} else {
				s.overdue()
			}
			v := s.turn(looks)[0]
			state := map[bool]string{true: "taken", false: "held"}[comes]
			if n := s.count("SELECT COUNT(*) FROM ordering_lane_guard WHERE state=? AND active_execution=?", state, next[0].Execution); n != 1 {
				t.Errorf("the lane is not %s with its execution", state)
			}
			if !comes {
				s.depends("it did not come", isExpired)
				s.stand("[]", "minted 2, superseded 0, quarantined 0, waiting 1", nil)
				if born := s.brings(premise, placed(t, order, "p", "d@4")); born != nil || v.Born != nil || v.Failed != facts.DependencyExpired {
					t.Errorf("%+v, %+v", born, v)
				}
				return
			}
			s.stand("[b c]", "minted 3, superseded 0, quarantined 0, waiting 0", s.applies(premise, order, v.Born...))
		})
	}
}

// Scenario 157: satisfaction and expiry of one dependency meet at the same moment, from two daemons, and every other commit
// is cut before or after the server has it. One of them is recorded, once, and its execution goes with it.
func TestScenario157SatisfyAndExpireHaveOneResult(t *testing.T) { race157(t, 120) }

func BenchmarkScenario157TenThousandRuns(b *testing.B) { race157(b, 10_000) }

func race157(t testing.TB, runs int) {
	s, premise := turnScene(t)
	proxy := world.NewProxy(t, s.store.Login.Address)
	daemons := []*ledger.Ledger{s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil)), s.open(s.store.Pool(t, schema.RoleLedger))}
	results := map[string]int{}
	const batch = 20
	for run := 0; run < runs; run += batch {
		var thens, firsts []turn.Item
		key := func(n int, what string) string { return fmt.Sprintf("%d.%s", run+n, what) }
		for n := range batch {
			thens = append(thens, turn.Item{Admit: delivery(t, premise, key(n, "then"), "a body", requiring(t, eventsOf(t, true, key(n, "then")), key(n, "first")))})
			firsts = append(firsts, turn.Item{Admit: delivery(t, premise, key(n, "first"), "a body", eventsOf(t, true, key(n, "first")))})
		}
		waits, comes := s.turn(thens...), s.turn(firsts...)
		s.overdue()
		for n := range batch {
			looks := s.meets(premise, waits[n].Born[0])
			looks.Meet.Claim = nil
			done := turn.Item{Complete: pushes(premise, comes[n].Born[0])}
			if n%4 >= 2 { // it is found, not told
				done.Complete.Event = facts.EventID{}
			}
			if n%3 > 0 {
				proxy.Arm([]world.FaultKind{world.CutBeforeCommit, world.CutAfterCommit}[n%3-1], 1)
			}
			var group sync.WaitGroup
			begin := make(chan struct{})
			for i, item := range []turn.Item{done, looks} {
				l := daemons[(n+i)%2]
				group.Go(func() {
					<-begin
					if _, err := l.TakeTurn(t.Context(), s.accounts[0], []turn.Item{item}); err != nil {
						t.Error(err)
					}
				})
			}
			close(begin)
			group.Wait()
			s.turn(looks) // whoever comes late changes nothing
			one := s.text(fmt.Sprintf("SELECT IFNULL(GROUP_CONCAT(CONCAT(l.edge, ' ', IFNULL(e.edge, '-'), ' ', IFNULL(h.state, '-'), ' ', e.seq) ORDER BY l.seq), 'none') FROM execution_dependency d JOIN execution_dependency_ledger l ON l.subject_id=d.dependency_id "+
				"LEFT JOIN execution_ledger e ON e.subject_id=d.execution_id AND e.edge IN ('resume', 'quarantine_waiting') LEFT JOIN execution_head h ON h.execution_id=d.execution_id WHERE d.source_event_key='%s'", key(n, "first")))
			results[one]++
		}
	}
	if len(results) != 2 || results["satisfy resume ready 2"] == 0 || results["expire quarantine_waiting - 2"] == 0 {
		t.Errorf("%v", results)
	}
	if n := s.count("SELECT COUNT(*) FROM execution_dependency_head"); n != 0 {
		t.Errorf("%d dependencies wait", n)
	}
	t.Logf("%d runs: %v", runs, results)
}
