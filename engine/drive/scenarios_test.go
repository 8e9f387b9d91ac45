package drive_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/engine/execute"
	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/proptest/stage"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// accepts sends a delivery that is new.
func (s *scene) accepts(account stage.Account, d stage.Delivery) {
	s.t.Helper()
	if status, body := s.send(account, d); status != http.StatusAccepted {
		s.t.Fatalf("%s: %d %s", d.Name, status, body)
	}
}

// Two daemons run, and one is killed when what it admitted is committed and its sender has no answer. Redelivered to the
// other one, the delivery has its Receipt and its execution, which the other one ends when the dead one's lease is over.
func TestScenario013AnExecutionWhoseAnswerWasLostIsFoundByItsRedelivery(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	app, account := s.Store.Hosted(t, notes), s.Accounts[0]
	look, orders, d := &scene{Stage: s, t: t, app: app}, ordersOf(t, s, app), batch(t, account, 1)
	other := start(t, orders)
	orders.Dies = 2
	victim := start(t, orders)
	if status, body := post(t, account, victim.door, d); status != 0 {
		t.Fatalf("its daemon was to die before the answer: %d %s", status, body)
	}
	victim.died()
	const execution = "SELECT HEX(execution_id) FROM execution"
	receipt, born := look.words("SELECT HEX(receipt_id) FROM receipt"), look.words(execution)
	for range 2 {
		status, body := post(t, account, other.door, d)
		if status != http.StatusOK || !strings.Contains(strings.ToUpper(strings.ReplaceAll(body, "-", "")), receipt) {
			t.Errorf("redelivered: %d %s, want receipt %s", status, body, receipt)
		}
		look.ends(1)
	}
	if look.words(execution) != born {
		t.Error("another execution stands than was born first")
	}
	look.counts(map[string]int{"SELECT COUNT(*) FROM execution_attempt": 2, "SELECT COUNT(DISTINCT holder_id) FROM execution_attempt": 2})
}

// A claimant is killed in each state that its work goes through. While nobody runs, each execution stands claimed and due at
// the end of its lease; a process that comes then ends them all.
func TestScenario063WhateverADeadClaimantHeldIsFreeAtTheEndOfItsLease(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	app, account := s.Store.Hosted(t, notes), s.Accounts[0]
	look, orders := &scene{Stage: s, t: t, app: app}, ordersOf(t, s, app)
	orders.Lease = time.Minute
	deaths := []int{2, 3, 4, 5} // claimed at its birth; applying; applied; completing
	for _, orders.Dies = range deaths {
		victim := start(t, orders)
		_, _ = post(t, account, victim.door, batch(t, account, 1))
		victim.died()
	}
	look.counts(map[string]int{
		"SELECT COUNT(*) FROM execution_head WHERE state = 'ready' AND attempt = 1 AND holder_id IS NOT NULL AND due_at > NOW(6)": len(deaths),
		"SELECT COUNT(*) FROM execution_head WHERE due_at > NOW(6) + INTERVAL 1 MINUTE":                                           0,
		"SELECT COUNT(*) FROM execution_ledger":   0,
		"SELECT COUNT(*) FROM application_result": 2,
	})
	look.age()
	orders.Dies = 0
	start(t, orders)
	look.ends(len(deaths))
	look.counts(map[string]int{"SELECT COUNT(*) FROM execution_attempt": 2 * len(deaths), "SELECT COUNT(*) FROM execution_attempt WHERE ordinal > 2": 0})
}

// A holder stops in the middle of its work. At the end of its lease another process has the execution, under an attempt of
// its own; what the first one wrote meanwhile, and whatever it says when it goes on, changes nothing any more. A lane is
// held through the execution that it names, so that its holder is replaced in the same way.
func TestScenario065AHolderThatGoesOnAfterItsLeaseWritesNothing(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	app, account := s.Store.Hosted(t, notes), s.Accounts[0]
	options := drive.Options{Lease: 300 * time.Millisecond, Sweep: 20 * time.Millisecond}
	wrote, goOn := make(chan struct{}), make(chan struct{})
	stopped := open(t, s, app, func(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
		answer, err := noting(ctx, h, c)
		close(wrote)
		<-goOn
		return answer, err
	}, options)
	stopped.accepts(account, batch(t, account, 1))
	<-wrote
	next := open(t, s, app, noting, options)
	next.until(1, completed)
	ledgerOf := "SELECT GROUP_CONCAT(HEX(subject_id), edge, HEX(evidence)) FROM execution_ledger"
	ended := next.words(ledgerOf)
	close(goOn)
	stopped.close() // when what it ran has come to its end
	next.ends(1)
	if after := next.words(ledgerOf); after != ended {
		t.Errorf("it ended by %s, and then by %s", ended, after)
	}
	next.counts(map[string]int{"SELECT COUNT(*) FROM execution_attempt": 2, "SELECT COUNT(DISTINCT holder_id) FROM execution_attempt": 2})
}

// refusingTwice is a Runtime whose application fails each command two times.
type refusingTwice struct {
	execute.Runtime
	failed *sync.Map // by command
}

func (r refusingTwice) Submit(ctx context.Context, account facts.AccountID, commands []execute.Command) (verdicts []execute.Verdict) {
	for i, c := range commands {
		n, _ := r.failed.LoadOrStore(c.Command, new(atomic.Int64))
		if n.(*atomic.Int64).Add(1) < 3 {
			verdicts = append(verdicts, execute.Verdict{Err: &ledger.HandlerFailure{Cause: errors.New("not now")}})
		} else {
			verdicts = append(verdicts, r.Runtime.Submit(ctx, account, commands[i:i+1])...)
		}
	}
	return verdicts
}

// Processes come and go while work waits for its next attempt, so that every timer and every memory is lost again and again.
// What is due by the tables is found by whoever is there, however long ago it came due; no failure is lost or counted twice.
func TestScenario067WhatIsDueIsFoundByTheTablesAlone(t *testing.T) {
	const executions = 6
	s := stage.ServingPacks(t, patched(t, stage.Batched, "changes", "execution: {retry: {delays_seconds: [100, 200]}}"))
	app, account := s.Store.Hosted(t, notes), s.Accounts[0]
	failed := &sync.Map{}
	live := func(options drive.Options) *scene {
		return openRuntime(t, s, app, options, func(queue ledger.Queue) (execute.Runtime, error) {
			behind, err := hosted(t, s, app, noting, ledger.Hosting{Queue: queue})
			return refusingTwice{behind, failed}, err
		})
	}
	door := live(drive.Options{Hand: -1})
	door.accepts(account, batch(t, account, executions))
	door.close()
	lives := 0
	for ; s.Count(t, openHeads) > 0 && lives < 50; lives++ {
		one := live(drive.Options{Hand: 3, Sweep: 5 * time.Millisecond})
		one.age()
		// It is stopped as soon as so many attempts more have come to their end, or none is left to be made.
		const ends = "(SELECT COUNT(*) FROM execution_attempt_end) + (SELECT COUNT(*) FROM execution_ledger)"
		more := s.Count(t, "SELECT "+ends) + 1 + rand.IntN(4)
		one.until(1, fmt.Sprintf("SELECT %s >= %d OR (SELECT COUNT(*) FROM execution_head WHERE due_at < NOW(6) + INTERVAL 50 SECOND) = 0", ends, more))
		one.close()
	}
	door.ends(executions)
	door.counts(map[string]int{"SELECT COUNT(*) FROM execution_attempt_end": 2 * executions, "SELECT COUNT(*) FROM execution_attempt_end WHERE reason = 'execution_failing'": 2 * executions})
	if lives < 3 {
		t.Errorf("%d processes did it", lives)
	}
}

// A head is written early and its transaction commits late: whatever was looked for and found meanwhile, of later times, it
// is found. No table of ours gives out numbers by which anybody could page.
func TestScenario047WhatCommitsLateIsStillFound(t *testing.T) {
	s := stage.Serving(t, stage.Single, stage.Batched)
	app := s.Store.Hosted(t, notes)
	held, goOn := make(chan struct{}), make(chan struct{})
	goes := sync.OnceFunc(func() { close(goOn) })
	defer goes()
	var once sync.Once
	slow := *s
	var err error
	slow.Ledger, err = ledger.Open(s.Store.Pool(t, schema.RoleLedger), ledger.AtBoundary(func(b ledger.Boundary) {
		if b.String() == "account turn: before commit" {
			once.Do(func() { close(held); <-goOn })
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	late := open(t, &slow, app, noting, drive.Options{Hand: -1}) // it leaves what it admits to others
	early := open(t, s, app, noting, drive.Options{Hand: -1})
	finds := open(t, s, app, noting, drive.Options{Sweep: 20 * time.Millisecond})
	epoch, account := opened(t, s), s.Accounts[0]
	d, brings := account.Samples(t)[0], 0
	for _, d = range account.Samples(t) {
		if brings = expected(t, epoch, account, d); brings > 0 {
			break
		}
	}
	answered := make(chan int, 1)
	go func() {
		status, _ := post(t, account, late.door, d)
		answered <- status
	}()
	<-held
	const later = 3
	for n := range later { // each is due later than what is held, and is found by a sweep that began later still
		early.accepts(s.Accounts[1], batch(t, s.Accounts[1], 1))
		finds.until(n+1, completed)
	}
	goes()
	if status := <-answered; status != http.StatusAccepted || brings == 0 {
		t.Errorf("what was held brings %d executions and was answered %d", brings, status)
	}
	finds.until(later+brings, completed)
	finds.ends(later + brings)
	finds.counts(map[string]int{"SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND extra LIKE '%auto%'": 0})
}
