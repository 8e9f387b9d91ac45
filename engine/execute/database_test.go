package execute_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectorcore/engine/execute"
	"connectorcore/engine/execute/conformance"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// database is an application in a store, whose handler does what the input says.
type database struct {
	conformance.Fixture
	t       testing.TB
	store   *world.Store
	own     *world.Application
	ledger  *ledger.Ledger
	premise inbound.Premise
	mu      sync.Mutex
	ran     []string // inputs, in the order in which their handlers ran
}

func newDatabase(t testing.TB, address string, options ...ledger.Option) *database {
	t.Helper()
	store := world.Converged(t)
	if address == "" {
		address = store.Login.Address
	}
	d := &database{t: t, store: store, own: store.Hosted(t, map[string]string{"done": "command VARCHAR(40) NOT NULL, n INT AUTO_INCREMENT PRIMARY KEY"})}
	var err error
	d.ledger, err = ledger.Open(store.Pool(t, schema.RoleLedger), options...)
	if err != nil {
		t.Fatal(err)
	}
	app, err := d.ledger.Host(t.Context(), store.PoolAt(t, schema.RoleApplication, address, nil), ledger.Hosting{Database: d.own.Name})
	if err != nil {
		t.Fatal(err)
	}
	d.Account, d.premise = store.Serving(t)
	d.Runtime, d.Command, d.Behaviour = execute.NewInDatabase(d.ledger, app, d.handle), d.command, d.behaviour
	return d
}

func (d *database) command(input string) execute.Command {
	return execute.Command{Subject: execute.Subject{CommandRef: d.store.Execution(d.t, d.Account, d.premise), Profile: facts.ProfileV2},
		Premise: d.premise, Attempt: 1, Input: []byte(input)}
}

func (d *database) behaviour(command execute.Command) int {
	return len(d.own.Text(d.t, "SELECT IFNULL(REPEAT('x', COUNT(*)), '') FROM "+d.own.Name+".done WHERE command=?", command.Command.String()))
}

func (d *database) handle(ctx context.Context, handle *ledger.Handle, command execute.Command) (execute.Answer, error) {
	input := string(command.Input)
	d.mu.Lock()
	d.ran = append(d.ran, input)
	d.mu.Unlock()
	switch input {
	case conformance.DoNoop:
		return execute.Answer{Outcome: execute.Noop}, nil
	case conformance.DoReject:
		return execute.Answer{Outcome: execute.Rejected}, nil
	}
	_, err := handle.Exec(ctx, "INSERT INTO done (command) VALUES (?)", command.Command.String())
	if input == conformance.DoFail {
		err = errors.New("it fails")
	}
	return execute.Answer{Outcome: execute.Applied, Payload: []byte("applied")}, err
}

func TestInDatabaseRuntimeConforms(t *testing.T) {
	conformance.Run(t, func(t testing.TB) conformance.Fixture { return newDatabase(t, "").Fixture })
}

// Commands that go well share one commit; if one does not, all of them run alone, and the others still end (R29).
func TestR29CommandsThatGoWellShareACommit(t *testing.T) {
	var commits int
	d := newDatabase(t, "", ledger.AtBoundary(func(b ledger.Boundary) {
		if strings.HasPrefix(b.String(), "apply commands: after") {
			commits++
		}
	}))
	var commands []execute.Command
	for range execute.MaxShared + 2 {
		commands = append(commands, d.Command(conformance.DoApply))
	}
	for i, verdict := range d.Runtime.Submit(t.Context(), d.Account, commands) {
		if verdict.Err != nil || verdict.Result.Receipt.Command != commands[i].Command || d.behaviour(commands[i]) != 1 {
			t.Errorf("%d: %+v", i, verdict)
		}
	}
	if commits != 2 {
		t.Errorf("%d commits for %d commands", commits, len(commands))
	}
	commits, d.ran = 0, nil
	mixed := []execute.Command{d.Command(conformance.DoApply), d.Command(conformance.DoNoop), d.Command(conformance.DoFail), d.Command(conformance.DoReject)}
	verdicts := d.Runtime.Submit(t.Context(), d.Account, mixed)
	if want := []string{"apply", "noop", "fail", "apply", "noop", "fail", "reject"}; commits != 3 || !slices.Equal(d.ran, want) {
		t.Errorf("%d commits, ran %q", commits, d.ran)
	}
	if verdicts[2].Err == nil || verdicts[0].Err != nil || verdicts[3].Err != nil {
		t.Errorf("%+v", verdicts)
	}
	twice := []execute.Command{d.Command(conformance.DoApply)}
	twice = append(twice, twice[0])
	if got := d.Runtime.Submit(t.Context(), d.Account, twice); got[0].Err != nil || got[1].Err != nil || got[0].Result.Receipt != got[1].Result.Receipt || d.behaviour(twice[0]) != 1 {
		t.Errorf("one command twice: %+v", got)
	}
}

// A shared commit whose answer is lost is settled for all of its commands together; none of them runs a second time.
func TestR29LostAnswerOfASharedCommitIsSettledForAll(t *testing.T) {
	proxy := world.NewProxy(t, world.Converged(t).Login.Address)
	d := newDatabase(t, proxy.Address())
	for kind, runs := range map[world.FaultKind]int{world.CutAfterCommit: 2, world.CutBeforeCommit: 4} {
		d.ran = nil
		commands := []execute.Command{d.Command(conformance.DoApply), d.Command(conformance.DoApply)}
		proxy.Arm(kind, 1)
		for i, verdict := range d.Runtime.Submit(t.Context(), d.Account, commands) {
			if verdict.Err != nil || d.behaviour(commands[i]) != 1 {
				t.Errorf("fault %d: %+v", kind, verdict)
			}
		}
		if len(d.ran) != runs {
			t.Errorf("fault %d: ran %q", kind, d.ran)
		}
	}
}
