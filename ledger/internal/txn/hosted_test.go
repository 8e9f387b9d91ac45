package txn

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// A deadlock that the code swallows undoes the whole transaction at the server; the code runs again from its start, and
// nothing that it ran in the meantime stands.
func TestR28SwallowedDeadlockRunsTheCodeAgain(t *testing.T) {
	h := newHosting(t, Options{}, 0)
	for id := 1; id <= 2; id++ {
		if _, err := h.store.Admin.Exec("INSERT INTO "+h.own.Name+".contact (id,n) VALUES (?,0)", id); err != nil {
			t.Fatal(err)
		}
	}
	update := "UPDATE " + h.own.Name + ".contact SET n=n+100 WHERE id="
	other := lockRow(t, h.store.Admin, update+"2")
	crossed := make(chan error, 1)
	runs := 0
	mark := h.mark()
	got, err := h.run(mark, func(ctx context.Context, handle *Handle) (string, error) {
		if _, err := handle.Exec(ctx, "UPDATE contact SET n=n+1 WHERE id=1"); err != nil {
			return "", err
		}
		if runs++; runs == 1 {
			go func() {
				_, err := other.Exec(update + "1")
				crossed <- errors.CombineErrors(err, other.Commit())
			}()
			waitUntilBlocked(t, h.store.Admin)
		}
		_, err := handle.Exec(ctx, "UPDATE contact SET n=n+1 WHERE id=2")
		if runs == 1 {
			if !hasCode(err, 1213) {
				t.Errorf("want a deadlock, got %v", err)
			}
			if err := <-crossed; err != nil {
				t.Error(err)
			}
			if _, err := handle.Exec(ctx, "UPDATE contact SET n=7"); err == nil {
				t.Error("the handle goes on after a deadlock")
			}
		}
		return "now", nil
	})
	if err != nil || got != "now" || !slices.Equal(h.reruns, []string{"1213"}) || runs != 2 {
		t.Errorf("%q, %v, %d runs, reruns for %v", got, err, runs, h.reruns)
	}
	if sum := h.own.Text(t, "SELECT GROUP_CONCAT(n) FROM "+h.own.Name+".contact"); sum != "101,101" {
		t.Errorf("n is %s", sum)
	}
}

// A commit whose answer is lost is settled under the gate and not by the code: what it did is there once, and the code
// runs again only if it surely was not.
func TestR05UnknownCommitOfTheApplicationIsSettled(t *testing.T) {
	for _, c := range []struct {
		kind   world.FaultKind
		says   string
		runs   int
		reruns []string
	}{
		{world.CutAfterCommit, "before", 1, []string{"unknown commit"}},
		{world.CutBeforeCommit, "now", 2, []string{"unknown commit", "settled"}},
	} {
		store := world.Converged(t)
		proxy := world.NewProxy(t, store.Login.Address)
		h := hostingOn(t, store, proxy.Address(), Options{}, 0)
		proxy.Arm(c.kind, 1)
		mark, runs := h.mark(), 0
		got, err := h.run(mark, func(ctx context.Context, handle *Handle) (string, error) {
			runs++
			return insert(ctx, handle)
		})
		if err != nil || got != c.says || runs != c.runs || !slices.Equal(h.reruns, c.reruns) {
			t.Errorf("%d: %q, %v, %d runs, reruns for %v", c.kind, got, err, runs, h.reruns)
		}
		if got := h.stands(mark); got != "1 contacts, 1 marks" {
			t.Errorf("%d: %s", c.kind, got)
		}
	}
}

// The original's COMMIT is still on its way: whoever brings the same item waits for its guard, then finds what it left.
func TestR05SecondCallWaitsForTheOriginalAndFindsItsWork(t *testing.T) {
	store := world.Converged(t)
	proxy := world.NewProxy(t, store.Login.Address)
	h := hostingOn(t, store, proxy.Address(), Options{}, 0)
	held := proxy.Arm(world.HoldCommit, 1)
	pool := store.PoolAt(t, schema.RoleApplication, proxy.Address(), nil)
	late, err := h.kernel.Host(t.Context(), pool, Hosting{Database: h.own.Name})
	if err != nil {
		t.Fatal(err)
	}
	mark := h.mark()
	first := make(chan error, 1)
	go func() {
		_, err := RunHosted(t.Context(), late, kindHosted, h.hosted(mark, insert))
		first <- err
	}()
	<-held.Fired()
	settled := make(chan string, 1)
	go func() { // takes the same guard, so it waits for the one whose commit is held
		said, err := RunHosted(t.Context(), h.app, kindHosted, h.hosted(mark, func(ctx context.Context, handle *Handle) (string, error) {
			_, err := handle.Exec(ctx, "INSERT INTO contact (id,n) VALUES (2,2)")
			return "second", err
		}))
		if err != nil {
			said = err.Error()
		}
		settled <- said
	}()
	waitUntilBlocked(t, store.Admin)
	held.Release()
	if err := <-first; err != nil {
		t.Error(err)
	}
	if said := <-settled; said != "before" || h.stands(mark) != "1 contacts, 1 marks" {
		t.Errorf("the second says %q: %s", said, h.stands(mark))
	}
}

// A doubt that another call has left on the gate is settled without what the code wrote for a refused item.
func TestR05DoubtIsSettledWithoutTheApplicationsWrites(t *testing.T) {
	h := newHosting(t, Options{}, 0)
	touched := func() string {
		return h.own.Text(t, "SELECT touched FROM account_serving_gate_guard WHERE account_id=?", h.account)
	}
	refusal := facts.Refuse(facts.WrongState, facts.OfInput("a test"), "")
	doubt := func() {
		bound, err := keyFrom([]any{h.account})
		if err != nil {
			t.Fatal(err)
		}
		h.kernel.doubts.Store(schema.Gates.Table.Name+" "+bound.sort, true)
	}
	doubt()
	before := touched()
	mark, runs := h.mark(), 0
	refuses := func(tx *Tx) (string, error) {
		if _, err := h.load(tx, mark); err != nil {
			return "", err
		}
		return "", refusal
	}
	hosted := Hosted[string]{Settle: refuses, Code: func(host *Host) (func(*Tx) (string, error), error) {
		runs++
		_, err := Call(host, insert)
		return refuses, err
	}}
	_, err := RunHosted(t.Context(), h.app, kindHosted, hosted)
	if !errors.Is(err, facts.WrongState) || runs != 1 || !slices.Equal(h.reruns, []string{"doubt"}) {
		t.Errorf("%v, %d runs, reruns for %v", err, runs, h.reruns)
	}
	if got := h.stands(mark); got != "0 contacts, 0 marks" || touched() == before {
		t.Errorf("%s; touched %s, then %s", got, before, touched())
	}
	doubt()
	h.reruns = nil
	if got, err := h.run(mark, insert); err != nil || got != "now" || h.stands(mark) != "1 contacts, 1 marks" || len(h.reruns) > 0 {
		t.Errorf("%q, %v: %s, reruns for %v", got, err, h.stands(mark), h.reruns)
	}
}

// The account's place is taken after the code and kept until the commit; a turn that does not come leaves nothing.
func TestR13LedgersPartWaitsForTheAccountsTurn(t *testing.T) {
	var order []string
	h := newHosting(t, Options{At: func(b Boundary) {
		if b.Transaction == kindHosted.String() {
			order = append(order, string(b.Point))
		}
	}}, time.Second)
	noted := func(ctx context.Context, handle *Handle) (string, error) {
		order = append(order, "code")
		return insert(ctx, handle)
	}
	h.turn = func(ctx context.Context, take func(context.Context) error) error {
		order = append(order, "turn")
		err := take(ctx)
		if again := take(ctx); !errors.HasAssertionFailure(again) {
			t.Errorf("taken twice: %v", again)
		}
		order = append(order, "left")
		return err
	}
	mark := h.mark()
	if got, err := h.run(mark, noted); err != nil || got != "now" {
		t.Errorf("%q, %v", got, err)
	}
	if want := []string{"code", "turn", "before commit", "after commit", "left"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
	full := errors.New("the queue is full")
	var late func(context.Context) error
	for what, turn := range map[string]Turn{
		"full": func(context.Context, func(context.Context) error) error { return full },
		"for ever": func(ctx context.Context, take func(context.Context) error) error {
			late = take
			<-ctx.Done()
			return ctx.Err()
		},
		"forgetting": func(context.Context, func(context.Context) error) error { return nil },
	} {
		h.turn = turn
		mark := h.mark()
		_, err := h.run(mark, func(ctx context.Context, handle *Handle) (string, error) {
			_, err := handle.Exec(ctx, "INSERT INTO contact (id,n) VALUES (2,2)")
			return "now", err
		})
		if err == nil || what == "full" && !errors.Is(err, full) || what == "forgetting" && !errors.HasAssertionFailure(err) || h.stands(mark) != "1 contacts, 0 marks" {
			t.Errorf("a queue that is %s: %v; %s", what, err, h.stands(mark))
		}
	}
	if err := late(t.Context()); !errors.HasAssertionFailure(err) {
		t.Errorf("a turn that comes too late: %v", err)
	}
	// A queue may give its caller up in the middle of the turn; the transaction is not.
	h.turn = func(ctx context.Context, take func(context.Context) error) error {
		inside, left := make(chan bool), make(chan bool)
		h.kernel.options.At = func(b Boundary) {
			if b.Point == BeforeCommit {
				close(inside)
				<-left
			}
		}
		go func() { _ = take(ctx) }()
		<-inside
		defer close(left)
		return context.Canceled
	}
	mark = h.mark()
	if got, err := h.run(mark, func(context.Context, *Handle) (string, error) { return "now", nil }); err != nil || got != "now" || h.stands(mark) != "1 contacts, 1 marks" {
		t.Errorf("given up in the middle: %q, %v: %s", got, err, h.stands(mark))
	}
}

// A session whose role cannot be given back is closed and never meets the application's code.
func TestR28SessionThatKeepsTheLedgersRoleIsClosed(t *testing.T) {
	h := newHosting(t, Options{}, 0)
	good := h.app.asApplication
	h.app.asApplication = "SET ROLE 'no_such_role'"
	mark := h.mark()
	if got, err := h.run(mark, insert); err != nil || got != "now" || h.stands(mark) != "1 contacts, 1 marks" {
		t.Errorf("%q, %v: %s", got, err, h.stands(mark))
	}
	if n := h.pool.Stats().OpenConnections; n != 0 {
		t.Errorf("%d connections were kept", n)
	}
	h.app.asApplication = good
	// And should one be kept all the same, the application's code does not come to run in it.
	h.pool.SetMaxOpenConns(1)
	if _, err := h.pool.Exec(h.app.asLedger); err != nil {
		t.Fatal(err)
	}
	_, err := h.run(h.mark(), func(context.Context, *Handle) (string, error) {
		t.Error("the code runs in the ledger's role")
		return "", nil
	})
	if !errors.HasAssertionFailure(err) {
		t.Errorf("in the ledger's role: %v", err)
	}
}

// A caller that gives up leaves nothing, and is not kept by code that goes on.
func TestCallerThatGivesUpLeavesNothingOfTheApplication(t *testing.T) {
	h := newHosting(t, Options{}, 0)
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	mark := h.mark()
	_, err := h.runContext(ctx, mark, func(ctx context.Context, handle *Handle) (string, error) {
		if _, err := insert(ctx, handle); err != nil {
			return "", err
		}
		cancel()
		<-release
		return "now", nil
	})
	var failure *HandlerFailure
	if !errors.Is(err, context.Canceled) || errors.As(err, &failure) {
		t.Errorf("%v", err)
	}
	close(release)
	h.idle()
	if got := h.stands(mark); got != "0 contacts, 0 marks" {
		t.Error(got)
	}
}

// Where the application's code cannot safely run is refused before any does.
func TestApplicationIsRefusedWhereItsCodeCannotSafelyRun(t *testing.T) {
	h := newHosting(t, Options{}, 0)
	for what, hosting := range map[string]Hosting{
		"ours":                    {Database: h.store.Name},
		"OURS":                    {Database: strings.ToUpper(h.store.Name)},
		"the servers":             {Database: "mysql"},
		"none":                    {},
		"a quote":                 {Database: "a`b"},
		"one that is not granted": {Database: "no_such_database"},
		"too slow":                {Database: h.own.Name, Deadline: schema.IdleLimit},
		"too fast":                {Database: h.own.Name, Deadline: -1},
	} {
		if _, err := h.kernel.Host(t.Context(), h.pool, hosting); err == nil || errors.HasAssertionFailure(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
