package ledger_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// asked is an item of one kind over a subject of its own, legal now, with what its verdict is and the rows that it leaves.
type asked struct {
	kind string
	item turn.Item
	says func(turn.Verdict) bool
}

// one is a fresh item of each kind.
func (s *scene) one(premise inbound.Premise, n int) []asked {
	items := s.modeItems(premise, fmt.Sprintf("n%d", n))
	fine := func(v turn.Verdict) bool { return v.Refusal == nil }
	says := map[string]func(turn.Verdict) bool{
		"admit": func(v turn.Verdict) bool {
			return fine(v) && !v.Duplicate && v.Receipt == items[0].Admit.Receipt && len(v.Born) == 1 && v.Born[0].Attempt == 1
		},
		"materialize": func(v turn.Verdict) bool { return fine(v) && !v.Pending && len(v.Born) == 1 },
		"claim":       func(v turn.Verdict) bool { return fine(v) && v.Attempt == 1 },
		"duplicate":   func(v turn.Verdict) bool { return fine(v) && v.Duplicate && v.Receipt == items[5].Admit.Receipt },
		"conflict":    func(v turn.Verdict) bool { return codeOf(v) == facts.ContentDiffers },
		"seal":        func(v turn.Verdict) bool { return fine(v) && len(v.Born) == 1 && v.Born[0].Attempt == 1 },
		"again":       func(v turn.Verdict) bool { return fine(v) && v.Receipt == items[5].Admit.Receipt && len(v.Born) == 2 },
	}
	var all []asked
	for i, kind := range kinds {
		if says[kind] == nil {
			says[kind] = fine
		}
		all = append(all, asked{kind, items[i], says[kind]})
	}
	return all
}

// left compares what was written since before with what one item of a kind writes, or with nothing.
func (s *scene) left(before map[string]int, kind string, done bool) (other string) {
	after := s.counts()
	for _, table := range inboundTables {
		want := 0
		if done {
			want = wrote[kind][table]
		}
		if got := after[table] - before[table]; got != want {
			other += fmt.Sprintf("%s %+d instead of %+d; ", table, got, want)
		}
	}
	return other
}

// For each kind of item the connection is cut at its COMMIT, before the server has it and after the server has carried it
// out: either way the item is done once and its verdict is the one that it would have had.
func TestScenario105AnUnknownCommitOfEachKindIsSettled(t *testing.T) {
	s, premise := turnScene(t)
	proxy := world.NewProxy(t, s.store.Login.Address)
	l := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil))
	for n, fault := range []world.FaultKind{world.CutBeforeCommit, world.CutAfterCommit} {
		for _, a := range s.one(premise, n) {
			if a.kind == "again" {
				continue // it writes nothing, so it has no COMMIT
			}
			before := s.counts()
			met := proxy.Arm(fault, 1)
			v := s.turnBy(l, a.item)[0]
			<-met.Fired()
			if !a.says(v) || s.left(before, a.kind, true) != "" || met.Committed() != (fault == world.CutAfterCommit) {
				t.Errorf("%s, fault %d: %+v, wrote %s", a.kind, fault, v, s.left(before, a.kind, true))
			}
		}
	}
}

// A caller that gives up while the outcome is unknown learns that it is; when it comes back with the same items, to the same
// process, it gets the verdict that the first call would have got.
func TestScenario105ACallerThatComesBackGetsTheFirstVerdict(t *testing.T) {
	s, premise := turnScene(t)
	proxy := world.NewProxy(t, s.store.Login.Address)
	l := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil), ledger.WithClock(&clock{}))
	unknown := 0
	for _, a := range s.one(premise, 0) {
		if a.kind == "again" {
			continue
		}
		before := s.counts()
		met := proxy.Arm(world.CutAfterCommit, 1)
		ctx, giveUp := context.WithCancel(t.Context())
		go func() { <-met.Fired(); giveUp() }()
		_, err := l.TakeTurn(ctx, s.accounts[0], []turn.Item{a.item})
		giveUp()
		if errors.Is(err, facts.ErrOutcomeUnknown) {
			unknown++
		} else if err != nil {
			t.Errorf("%s: %v", a.kind, err)
		}
		if v := s.turnBy(l, a.item)[0]; !a.says(v) || s.left(before, a.kind, true) != "" {
			t.Errorf("%s: came back to %+v, wrote %s", a.kind, v, s.left(before, a.kind, true))
		}
	}
	if unknown == 0 {
		t.Error("no caller gave up before its rerun had settled the outcome")
	}
}

// A delivery whose content had no room in its turn stays bare, however often the turn is run again: its content is left to a
// materialization, with that one's premise. So neither a rerun nor the same admission later, when the account no longer
// serves, makes an execution of it.
func TestR05ARerunBringsNothingThatTheFirstRunLeft(t *testing.T) {
	many := func(prefix string) (keys []string) {
		for i := range 400 {
			keys = append(keys, fmt.Sprintf("%s-%d", prefix, i))
		}
		return keys
	}
	s, premise := turnScene(t)
	proxy := world.NewProxy(t, s.store.Login.Address)
	l := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil))
	first := delivery(t, premise, "d-1", "a body", eventsOf(t, true, many("a")...))
	second := delivery(t, premise, "d-2", "b body", eventsOf(t, true, many("b")...))
	met := proxy.Arm(world.CutAfterCommit, 1)
	got := s.turnBy(l, turn.Item{Admit: first}, turn.Item{Admit: second})
	<-met.Fired()
	const want = "receipt_admission_key 2; receipt 2; receipt_head 1; receipt_component 400; event 400; projection 400; execution 400; execution_head 400; execution_attempt 400"
	if len(got[0].Born) != 400 || got[1].Born != nil || s.written() != want {
		t.Errorf("%d and %d were born, stored %s", len(got[0].Born), len(got[1].Born), s.written())
	}
	_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE account_serving_gate_guard SET state = 'halting_v2'")
	ok(t, err)
	if v := s.admit(second)[0]; v.Refusal != nil || v.Born != nil || s.written() != want {
		t.Errorf("the same admission in a halt: %+v, stored %s", v, s.written())
	}
}

// The caller gives up before each command of a turn in turn, again and again: what it leaves is all of the turn or nothing,
// and whoever asks again gets it done.
func TestScenario107ACancelledTurnIsWholeOrNothing(t *testing.T) {
	s, premise := turnScene(t)
	l, commands := s.tapped()
	const rounds = 4
	cancelled, torn := 0, 0
	for round := range rounds {
		for _, a := range s.one(premise, round) {
			for at, last := 1, false; !last; at++ {
				before := s.counts()
				ctx, giveUp := context.WithCancel(t.Context())
				commands.watch(func(one step) error {
					if one.n == at {
						giveUp()
					}
					return nil
				})
				_, err := l.TakeTurn(ctx, s.accounts[0], []turn.Item{a.item})
				giveUp()
				last = commands.count() < at // it never came to this command
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s, cancelled at %d: %v", a.kind, at, err)
				}
				// Only the command of the cancellation is still sent: a COMMIT, or one before which nothing is written.
				if s.left(before, a.kind, err == nil) != "" {
					torn++
					t.Errorf("%s, cancelled at %d (%v): wrote %s", a.kind, at, err, s.left(before, a.kind, err == nil))
				}
				if err == nil {
					break // done: another try would find it done
				}
				cancelled++
			}
			commands.watch(nil)
			if v := s.turnBy(l, a.item)[0]; a.kind != "materialize" && a.kind != "seal" && !a.says(v) {
				t.Errorf("%s, in the end: %+v", a.kind, v)
			}
		}
	}
	if cancelled < rounds*60 || torn > 0 {
		t.Errorf("%d turns were cancelled, %d of them torn", cancelled, torn)
	}
}

// A turn meets each error that calls for another run at each of its commands: the whole closure runs again with the ids that
// were minted before, once, and does the work once.
func TestScenario115ATransientErrorRunsTheWholeTurnAgainWithItsIds(t *testing.T) {
	s, premise := turnScene(t)
	l, commands := s.tapped(ledger.WithClock(&clock{}))
	for n, code := range []uint16{1213, 9007, 8002} {
		a := s.one(premise, n)[0]
		commands.watch(nil)
		s.turnBy(l, a.item)
		length := commands.count()
		for at := 2; at <= length; at++ { // after BEGIN
			item := turn.Item{Admit: delivery(t, premise, fmt.Sprintf("d-%d-%d", code, at), "a body", eventsOf(t, true, fmt.Sprintf("d-%d-%d", code, at)))}
			before := s.counts()
			var first []string
			commands.watch(func(one step) error {
				if strings.HasPrefix(one.query, "INSERT") {
					first = append(first, fmt.Sprint(one.query[:20], one.args[:3]))
				}
				if one.n == at && one.query == "COMMIT" && code == 8002 {
					return &mysql.MySQLError{Number: 9007, Message: "Write conflict"} // 8002 is no answer to COMMIT
				}
				if one.n == at {
					return &mysql.MySQLError{Number: code, Message: "as the server says it"}
				}
				return nil
			})
			v := s.turnBy(l, item)[0]
			if v.Refusal != nil || v.Duplicate || v.Receipt != item.Admit.Receipt || s.left(before, "admit", true) != "" {
				t.Errorf("%d at %d: %+v, wrote %s", code, at, v, s.left(before, "admit", true))
			}
			if commands.count() != at+length {
				t.Errorf("%d at %d: %d commands, want one whole run more than %d", code, at, commands.count(), length)
			}
			for i := range first[8:] { // the rerun writes what the first run wrote or would have written
				if first[i] != first[len(first)-8+i] {
					t.Errorf("%d at %d: %s became %s", code, at, first[i], first[len(first)-8+i])
				}
			}
		}
	}
}

// A real deadlock: the turn holds the gate and wants a head, another session holds the head and wants the gate.
func TestScenario115ARealDeadlockRunsTheTurnAgain(t *testing.T) {
	s, premise := turnScene(t)
	born := s.admit(delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1")))[0].Born[0]
	l, commands := s.tapped()
	other, err := s.store.Admin.BeginTx(t.Context(), nil)
	ok(t, err)
	_, err = other.ExecContext(t.Context(), "SELECT 1 FROM execution_head WHERE execution_id=? FOR UPDATE", born.Execution)
	ok(t, err)
	crossed := make(chan error, 1)
	var begun atomic.Int32
	commands.watch(func(one step) error {
		if one.query == "BEGIN" {
			begun.Add(1)
		}
		if one.is("SELECT", "execution_head") && begun.Load() == 1 {
			go func() {
				_, err := other.ExecContext(t.Context(), "SELECT 1 FROM account_serving_gate_guard WHERE account_id=? FOR UPDATE", s.accounts[0])
				crossed <- errors.CombineErrors(err, other.Rollback())
			}()
			s.blocked(1)
		}
		return nil
	})
	if v := s.turnBy(l, turn.Item{Complete: completion(born)})[0]; v.Refusal != nil {
		t.Error(v.Refusal)
	}
	if err := <-crossed; err != nil {
		t.Errorf("the other session: %v", err)
	}
	if begun.Load() != 2 || s.count("SELECT COUNT(*) FROM execution_ledger") != 1 {
		t.Errorf("%d runs, stored %s", begun.Load(), s.written())
	}
}

// A multi-row insert of which one row violates a unique key skips nothing: the turn fails whole, every item of it, and when
// what was in the way is gone the same items are done.
func TestScenario055NoRowOfABatchIsSkipped(t *testing.T) {
	s, premise := turnScene(t)
	l := s.open(s.store.Pool(t, schema.RoleLedger), ledger.WithClock(&clock{}))
	var items []turn.Item
	for i := range 8 {
		items = append(items, turn.Item{Admit: delivery(t, premise, fmt.Sprintf("d-%d", i), "a body", eventsOf(t, true, fmt.Sprintf("e-%d", i)))})
	}
	// What the fifth delivery will bear is found by a turn of another life of this database.
	fifth := s.turnBy(l, items[4])[0].Born[0]
	for _, table := range inboundTables {
		_, err := s.store.Admin.ExecContext(t.Context(), "DELETE FROM "+table)
		ok(t, err)
	}
	_, err := s.store.Admin.ExecContext(t.Context(), "INSERT INTO execution_head (account_id, execution_id, projection_id, attempt, due_at, state, fence) VALUES (REPEAT('a', 16), REPEAT('x', 16), ?, 0, NOW(6), 'ready', 1)", fifth.Projection)
	ok(t, err)
	verdicts, err := l.TakeTurn(t.Context(), s.accounts[0], items)
	if !errors.HasAssertionFailure(err) || verdicts != nil || errors.Is(err, facts.ErrOutcomeUnknown) || s.written() != "execution_head 1" {
		t.Errorf("%+v, %v, stored %s", verdicts, err, s.written())
	}
	_, err = s.store.Admin.ExecContext(t.Context(), "DELETE FROM execution_head")
	ok(t, err)
	for i, v := range s.turnBy(l, items...) {
		if v.Refusal != nil || v.Duplicate || len(v.Born) != 1 {
			t.Errorf("item %d: %+v", i, v)
		}
	}
}
