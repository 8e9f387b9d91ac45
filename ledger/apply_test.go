package ledger_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// applying is a scene with an application beside it, and executions that wait for it.
type applying struct {
	*scene
	own     *world.Application
	app     *ledger.Application
	premise inbound.Premise
	born    []turn.Born
	runs    atomic.Int64
}

func newApplying(t testing.TB, executions ...string) *applying {
	t.Helper()
	s, premise := servingScene(t)
	a := &applying{scene: s, premise: premise}
	a.own = s.store.Hosted(t, map[string]string{"contact": "id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL"})
	a.app = a.at(s.ledger, s.store.Login.Address, nil)
	verdicts := s.admit(delivery(t, premise, "d-1", "a body", eventsOf(t, true, executions...)))
	if verdicts[0].Refusal != nil || len(verdicts[0].Born) != len(executions) {
		t.Fatalf("%+v", verdicts[0])
	}
	a.born = verdicts[0].Born
	return a
}

// at is the application as another process has it, behind an address.
func (a *applying) at(l *ledger.Ledger, address string, queue ledger.Queue) *ledger.Application {
	a.t.Helper()
	app, err := l.Host(a.t.Context(), a.store.PoolAt(a.t, schema.RoleApplication, address, nil), ledger.Hosting{Database: a.own.Name, Queue: queue})
	ok(a.t, err)
	return app
}

func (a *applying) ref(n int) inbound.CommandRef {
	return inbound.CommandRef{Account: a.accounts[0], Execution: a.born[n].Execution, Command: a.born[n].Command, Ref: a.born[n].Ref}
}

type handler = func(context.Context, *ledger.Handle) (ledger.Answer, error)

func (a *applying) apply(n int, code handler) ledger.Apply {
	return ledger.Apply{CommandRef: a.ref(n), Premise: a.premise, Profile: facts.ProfileV2, Code: code}
}

// create is the application's work: one contact a command.
func (a *applying) create(ctx context.Context, h *ledger.Handle) (ledger.Answer, error) {
	a.runs.Add(1)
	_, err := h.Exec(ctx, "INSERT INTO contact (name) VALUES (?)", "Ada")
	return ledger.Answer{Outcome: machines.ApplicationResultApplied, Payload: []byte("created")}, err
}

// then is create, and something in the middle of it.
func (a *applying) then(do func()) handler {
	return func(ctx context.Context, h *ledger.Handle) (ledger.Answer, error) {
		answer, err := a.create(ctx, h)
		do()
		return answer, err
	}
}

func (a *applying) once(app *ledger.Application, code handler) (inbound.ApplicationResult, error) {
	return a.onceIn(a.t.Context(), app, code)
}

func (a *applying) onceIn(ctx context.Context, app *ledger.Application, code handler) (inbound.ApplicationResult, error) {
	results, err := app.ApplyOnce(ctx, a.accounts[0], []ledger.Apply{a.apply(0, code)})
	if err != nil {
		return inbound.ApplicationResult{}, err
	}
	return results[0], nil
}

// stands is what the application and the Runtime have committed.
func (a *applying) stands() string {
	a.t.Helper()
	return a.own.Text(a.t, "SELECT CONCAT((SELECT COUNT(*) FROM "+a.own.Name+".contact), ' contacts, results ', (SELECT IFNULL(GROUP_CONCAT(outcome ORDER BY outcome), 'none') FROM application_result))")
}

func (a *applying) expect(what, want string) {
	a.t.Helper()
	if got := a.stands(); got != want {
		a.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func TestU15OneResultForOneExecution(t *testing.T) {
	a := newApplying(t, "e-1")
	first, err := a.once(a.app, a.create)
	ok(t, err)
	if first.Outcome != machines.ApplicationResultApplied || string(first.Payload) != "created" || first.Result != inbound.ResultDigest(facts.ProfileV2, []byte("created")) || first.Receipt().Digest(facts.ProfileV2).IsZero() {
		t.Errorf("%+v", first)
	}
	again, err := a.once(a.app, a.create)
	ok(t, err)
	if first.Receipt() != again.Receipt() || string(again.Payload) != "created" || a.runs.Load() != 1 {
		t.Errorf("again: %+v, after %d runs", again, a.runs.Load())
	}
	a.expect("after two submissions", "1 contacts, results applied")
	other := first
	other.Command = facts.Mint[facts.CommandID]()
	_, err = a.store.Admin.Exec("INSERT INTO application_result (command_id,account_id,execution_id,execution_ref_digest,outcome,result_digest,payload) VALUES (?,?,?,?,?,?,?)",
		other.Command, other.Account, other.Execution, other.ExecutionRef, other.Outcome, other.Result, "")
	if err == nil || !strings.Contains(err.Error(), "1062") {
		t.Errorf("a second result of one execution: %v", err)
	}
}

// The answer to a commit is lost, or the process dies around it: repeating or querying the command gives the one result,
// and the behaviour is there once.
func TestK05P22ResultSurvivesItsLostAnswer(t *testing.T) {
	for _, kind := range []world.FaultKind{world.CutAfterCommit, world.CutBeforeCommit} {
		a := newApplying(t, "e-1")
		proxy := world.NewProxy(t, a.store.Login.Address)
		app := a.at(a.ledger, proxy.Address(), nil)
		fault := proxy.Arm(kind, 1)
		got, err := a.once(app, a.create)
		ok(t, err)
		<-fault.Fired()
		if want := map[world.FaultKind]int64{world.CutAfterCommit: 1, world.CutBeforeCommit: 2}[kind]; a.runs.Load() != want {
			t.Errorf("%d: %d runs, want %d", kind, a.runs.Load(), want)
		}
		a.expect("after the answer was lost", "1 contacts, results applied")
		queried, err := a.ledger.FindResult(t.Context(), a.ref(0))
		ok(t, err)
		if queried.Receipt() != got.Receipt() {
			t.Errorf("queried %+v, submitted %+v", queried, got)
		}
	}
}

func TestK05ProcessThatDiesAtTheCommitIsSettledByTheNext(t *testing.T) {
	for _, point := range []string{"before commit", "after commit"} {
		a := newApplying(t, "e-1")
		proxy := world.NewProxy(t, a.store.Login.Address)
		ctx, die := context.WithCancel(t.Context())
		dying := a.open(a.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil), ledger.AtBoundary(func(b ledger.Boundary) {
			if b.String() == "apply commands: "+point {
				proxy.CutAll()
				die()
			}
		}))
		_, err := a.onceIn(ctx, a.at(dying, proxy.Address(), nil), a.create)
		if ctx.Err() == nil || (err == nil) != (point == "after commit") {
			t.Fatalf("%s: %v", point, err)
		}
		runs := map[string]int64{"before commit": 2, "after commit": 1}[point]
		got, err := a.once(a.app, a.create)
		ok(t, err)
		if got.Outcome != machines.ApplicationResultApplied || a.runs.Load() != runs {
			t.Errorf("%s: %+v after %d runs, want %d", point, got, a.runs.Load(), runs)
		}
		a.expect(point, "1 contacts, results applied")
	}
}

// A wrong reference cannot be told from a missing result, by a query or by a submission, and writes nothing.
func TestP22WrongReferenceLooksLikeAMissingResult(t *testing.T) {
	a := newApplying(t, "e-1")
	wrong := a.apply(0, a.create)
	wrong.Ref.Digest[0]++
	look := func() (string, string) {
		_, missing := a.ledger.FindResult(t.Context(), wrong.CommandRef)
		refused(t, "a query", missing, facts.ResultMissing)
		_, submitted := a.app.ApplyOnce(t.Context(), a.accounts[0], []ledger.Apply{wrong})
		refused(t, "a submission", submitted, facts.ContentDiffers)
		_, closed := a.app.CloseCommand(t.Context(), wrong)
		refused(t, "a close", closed, facts.ContentDiffers)
		return missing.Error(), submitted.Error() + closed.Error()
	}
	query, submission := look()
	a.expect("before", "0 contacts, results none")
	_, right := a.ledger.FindResult(t.Context(), a.ref(0))
	if right == nil || right.Error() != query {
		t.Errorf("a missing result says %v, a wrong reference %s", right, query)
	}
	_, err := a.once(a.app, a.create)
	ok(t, err)
	if q, s := look(); q != query || s != submission {
		t.Errorf("with a result: %s; %s\nwithout: %s; %s", q, s, query, submission)
	}
	a.expect("after", "1 contacts, results applied")
	stranger := a.apply(0, a.create)
	stranger.Command = facts.Mint[facts.CommandID]()
	_, err = a.app.ApplyOnce(t.Context(), a.accounts[0], []ledger.Apply{stranger})
	refused(t, "another's command", err, facts.ContentDiffers)
}

// A completion keeps the correlation alone: no row of ours but the Runtime's own has the application's answer.
func TestP22CompletionKeepsNothingOfTheAnswer(t *testing.T) {
	a := newApplying(t, "e-1")
	const answer = "an answer that nobody else would write"
	result, err := a.once(a.app, func(context.Context, *ledger.Handle) (ledger.Answer, error) {
		return ledger.Answer{Outcome: machines.ApplicationResultNoop, Payload: []byte(answer)}, nil
	})
	ok(t, err)
	receipt := result.Receipt()
	verdict := a.turn(turn.Item{Complete: &turn.Completion{Execution: a.born[0].Execution, Profile: facts.ProfileV2, Command: receipt.Command, Ref: receipt.Ref,
		Outcome: receipt.Outcome, Result: receipt.Result, Receipt: receipt.Digest(facts.ProfileV2)}})[0]
	if verdict.Refusal != nil {
		t.Fatal(verdict.Refusal)
	}
	for _, table := range schema.Tables() {
		var columns []string
		for _, column := range table.ColumnNames() {
			columns = append(columns, "IFNULL(CAST("+column+" AS BINARY), '')")
		}
		n := a.count("SELECT COUNT(*) FROM "+table.Name+" WHERE INSTR(CONCAT("+strings.Join(columns, ",")+"), ?)", answer)
		if want := map[string]int{"application_result": 1}[table.Name]; n != want {
			t.Errorf("%d rows of %s have the answer", n, table.Name)
		}
	}
	if got := a.count("SELECT COUNT(*) FROM execution_ledger WHERE edge='complete' AND INSTR(evidence, ?) AND INSTR(evidence, ?)", receipt.Command[:], receipt.Result[:]); got != 1 {
		t.Error("the correlation is not in the completion's evidence")
	}
}

// What changed while the code ran is found under the gate, and everything that the code wrote is undone (R26).
func TestR26WhatMovedWhileTheCodeRanRefusesIt(t *testing.T) {
	for name, c := range map[string]struct {
		query string
		want  facts.Code
	}{
		"the fence":           {"UPDATE account_serving_gate_guard SET fence=fence+1 WHERE account_id=?", facts.StaleFence},
		"the epoch's digest":  {"UPDATE account_serving_gate_guard SET epoch_digest=REPEAT('x',32) WHERE account_id=?", facts.EpochMismatch},
		"the gate":            {"UPDATE account_serving_gate_guard SET state='halting_v2' WHERE account_id=?", facts.NotServing},
		"the execution ended": {"DELETE FROM execution_head WHERE account_id=?", facts.SubjectEnded},
		"the execution waits": {"UPDATE execution_head SET state='waiting_dependency', fence=fence+1 WHERE account_id=?", facts.WrongState},
	} {
		a := newApplying(t, "e-1")
		_, err := a.once(a.app, a.then(func() {
			_, err := a.store.Admin.Exec(c.query, a.accounts[0])
			ok(t, err)
		}))
		refused(t, name, err, c.want)
		a.expect(name, "0 contacts, results none")
		if _, err := a.app.CloseCommand(t.Context(), a.apply(0, nil)); !errors.Is(err, c.want) {
			t.Errorf("%s: closed with %v", name, err)
		}
	}
	a := newApplying(t, "e-1")
	unsure := a.apply(0, a.create)
	unsure.Epoch.ID = facts.Mint[facts.EpochID]()
	_, err := a.app.ApplyOnce(t.Context(), a.accounts[0], []ledger.Apply{unsure})
	refused(t, "another epoch's id", err, facts.EpochMismatch)
	_, err = a.once(a.app, a.create)
	ok(t, err)
	moved := a.apply(0, a.create)
	moved.Fence++
	if got, err := a.app.ApplyOnce(t.Context(), a.accounts[0], []ledger.Apply{moved}); err != nil || got[0].Outcome != machines.ApplicationResultApplied {
		t.Errorf("a result outlives the fence that it was made under: %v", err)
	}
}

// Exhaustion and a slow worker, both orders: whoever commits first has made the one result, and the other gets that (R27).
func TestR27CloseAndASlowWorkerAgreeOnOneResult(t *testing.T) {
	a := newApplying(t, "e-1")
	got, err := a.once(a.app, a.then(func() {
		closed, err := a.app.CloseCommand(t.Context(), a.apply(0, nil))
		ok(t, err)
		if closed.Outcome != machines.ApplicationResultFailed {
			t.Errorf("closed as %s", closed.Outcome)
		}
	}))
	ok(t, err)
	if got.Outcome != machines.ApplicationResultFailed {
		t.Errorf("the slow worker got %s", got.Outcome)
	}
	a.expect("closed first", "0 contacts, results failed")

	b := newApplying(t, "e-1")
	closed := make(chan inbound.ApplicationResult, 1)
	app := b.at(b.open(b.store.Pool(t, schema.RoleLedger), ledger.AtBoundary(func(at ledger.Boundary) {
		if at.String() == "apply commands: before commit" {
			go func() { // it waits for the gate, which this worker holds
				result, err := b.app.CloseCommand(t.Context(), b.apply(0, nil))
				if err != nil {
					t.Error(err)
				}
				closed <- result
			}()
			b.untilBlocked()
		}
	})), b.store.Login.Address, nil)
	got, err = b.once(app, b.create)
	ok(t, err)
	if result := <-closed; got.Outcome != machines.ApplicationResultApplied || result.Receipt() != got.Receipt() {
		t.Errorf("the worker got %s, the close %s", got.Outcome, result.Outcome)
	}
	b.expect("committed first", "1 contacts, results applied")
}

// A quarantine and a slow worker, both orders. The quarantine takes the gate and looks for a result, as whatever ends an
// execution does.
func TestR26QuarantineAndASlowWorkerExcludeEachOther(t *testing.T) {
	quarantine := func(a *applying) (hadResult bool) {
		tx, err := a.store.Admin.BeginTx(context.WithoutCancel(t.Context()), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		ok(t, err)
		defer func() { _ = tx.Rollback() }()
		_, err = tx.Exec("SELECT 1 FROM account_serving_gate_guard WHERE account_id=? FOR UPDATE", a.accounts[0])
		ok(t, err)
		n := 0
		ok(t, tx.QueryRow("SELECT COUNT(*) FROM application_result WHERE command_id=?", a.born[0].Command).Scan(&n))
		if n == 0 {
			_, err = tx.Exec("DELETE FROM execution_head WHERE account_id=?", a.accounts[0])
			ok(t, err)
		}
		ok(t, tx.Commit())
		return n > 0
	}
	a := newApplying(t, "e-1")
	_, err := a.once(a.app, a.then(func() {
		if quarantine(a) {
			t.Error("a result stands while the code runs")
		}
	}))
	refused(t, "quarantined first", err, facts.SubjectEnded)
	a.expect("quarantined first", "0 contacts, results none")

	b := newApplying(t, "e-1")
	found := make(chan bool, 1)
	app := b.at(b.open(b.store.Pool(t, schema.RoleLedger), ledger.AtBoundary(func(at ledger.Boundary) {
		if at.String() == "apply commands: before commit" {
			go func() { found <- quarantine(b) }()
			b.untilBlocked()
		}
	})), b.store.Login.Address, nil)
	_, err = b.once(app, b.create)
	ok(t, err)
	if !<-found {
		t.Error("the quarantine passed the worker's commit and saw no result")
	}
	b.expect("committed first", "1 contacts, results applied")
}

// untilBlocked returns when a statement of this database waits for a row lock.
func (a *applying) untilBlocked() {
	a.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); a.count("SELECT COUNT(*) FROM information_schema.tidb_trx WHERE state='LockWaiting' AND db=DATABASE()") == 0; {
		if time.Now().After(deadline) {
			a.t.Error("no statement came to wait for a lock")
			return
		}
	}
}

// What a shared transaction costs beside its code does not depend on how many commands share it.
func TestR29SharedTransactionCostsWhatOneDoes(t *testing.T) {
	a := newApplying(t, "e-1", "e-2", "e-3", "e-4", "e-5", "e-6", "e-7", "e-8", "e-9", "e-10")
	nothing := func(context.Context, *ledger.Handle) (ledger.Answer, error) {
		return ledger.Answer{Outcome: machines.ApplicationResultNoop}, nil
	}
	cost := func(from, to int) int {
		var applies []ledger.Apply
		for n := from; n < to; n++ {
			applies = append(applies, a.apply(n, nothing))
		}
		before := world.Statements(t).Count()
		results, err := a.app.ApplyOnce(t.Context(), a.accounts[0], applies)
		ok(t, err)
		if len(results) != len(applies) {
			t.Errorf("%d results for %d commands", len(results), len(applies))
		}
		return world.Statements(t).Count() - before
	}
	cost(0, 1) // opens the connections
	// The look-up; BEGIN, USE, SAVEPOINT, RELEASE, SET ROLE, USE; gate, share, epoch, state; heads, executions, load, insert;
	// SET ROLE. A COMMIT is not counted.
	if one, eight := cost(1, 2), cost(2, 10); one != 16 || eight != one {
		t.Errorf("one command costs %d statements, eight cost %d", one, eight)
	}
}

// Commands of one account share a transaction, and what one of them does badly undoes them all (R29).
func TestR29CommandsShareATransactionOrNone(t *testing.T) {
	a := newApplying(t, "e-1", "e-2", "e-3")
	ctx, account := t.Context(), a.accounts[0]
	fails := func(context.Context, *ledger.Handle) (ledger.Answer, error) { return ledger.Answer{}, errors.New("no") }
	late := a.apply(1, a.create)
	late.Fence++
	for what, applies := range map[string][]ledger.Apply{
		"a failure": {a.apply(0, a.create), a.apply(1, fails)},
		"a refusal": {a.apply(0, a.create), late},
		"a failed result": {a.apply(0, a.create), a.apply(1, func(context.Context, *ledger.Handle) (ledger.Answer, error) {
			return ledger.Answer{Outcome: machines.ApplicationResultFailed}, nil
		})},
		"a long answer": {a.apply(0, a.create), a.apply(1, func(context.Context, *ledger.Handle) (ledger.Answer, error) {
			return ledger.Answer{Outcome: machines.ApplicationResultNoop, Payload: make([]byte, ledger.MaxPayload+1)}, nil
		})},
		"a server error": {a.apply(0, a.create), a.apply(1, func(ctx context.Context, h *ledger.Handle) (ledger.Answer, error) {
			_, _ = h.Exec(ctx, "INSERT INTO contact (id,name) VALUES (1,'a'),(1,'b')")
			return ledger.Answer{Outcome: machines.ApplicationResultNoop}, nil
		})},
	} {
		if _, err := a.app.ApplyOnce(ctx, account, applies); err == nil || errors.HasAssertionFailure(err) {
			t.Errorf("%s: %v", what, err)
		}
		a.expect(what, "0 contacts, results none")
	}
	results, err := a.app.ApplyOnce(ctx, account, []ledger.Apply{a.apply(0, a.create), a.apply(1, a.create)})
	ok(t, err)
	if len(results) != 2 || results[0].Command != a.born[0].Command || results[1].Command != a.born[1].Command {
		t.Errorf("%+v", results)
	}
	a.expect("two together", "2 contacts, results applied,applied")
	if _, err := a.app.ApplyOnce(ctx, account, []ledger.Apply{a.apply(1, a.create), a.apply(2, a.create)}); !errors.Is(err, ledger.ErrApart) {
		t.Errorf("with one that has its result: %v", err)
	}
	runs := a.runs.Load()
	if _, err := a.app.ApplyOnce(ctx, account, []ledger.Apply{a.apply(0, a.create), a.apply(0, a.create)}); !errors.HasAssertionFailure(err) || a.runs.Load() != runs {
		t.Errorf("one execution twice: %v", err)
	}
	stranger := a.apply(2, a.create)
	stranger.Account = facts.Mint[facts.AccountID]()
	if _, err := a.app.ApplyOnce(ctx, account, []ledger.Apply{stranger}); !errors.HasAssertionFailure(err) {
		t.Errorf("another account's: %v", err)
	}
}

// The ledger's part waits in the account's queue, with its account's name.
func TestR13ApplyOnceWaitsInItsAccountsQueue(t *testing.T) {
	a := newApplying(t, "e-1")
	var waited []facts.AccountID
	app := a.at(a.ledger, a.store.Login.Address, func(ctx context.Context, account facts.AccountID, take func(context.Context) error) error {
		waited = append(waited, account)
		return take(ctx)
	})
	_, err := a.once(app, a.then(func() {
		if len(waited) != 0 {
			t.Error("the code runs in the account's turn")
		}
	}))
	ok(t, err)
	_, err = app.CloseCommand(t.Context(), a.apply(0, nil))
	ok(t, err)
	if !slices.Equal(waited, []facts.AccountID{a.accounts[0], a.accounts[0]}) {
		t.Errorf("waited for %v", waited)
	}
}
