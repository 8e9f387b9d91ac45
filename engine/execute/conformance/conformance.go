// Package conformance is the suite that every execute.Runtime must pass. It is imported by tests only:
//
//	func TestMyRuntime(t *testing.T) { conformance.Run(t, newFixture) }
//
// Each part gets a fixture of its own.
//
// Spec: Runtime-owned result. Rules R26, R27, R29.
package conformance

import (
	"context"
	"sync"
	"testing"

	"connectorcore/engine/execute"
	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/machines"

	"github.com/cockroachdb/errors"
)

// Fixture is a Runtime whose application does what a command's input says: one of the Inputs.
type Fixture struct {
	Runtime execute.Runtime
	Account facts.AccountID
	// Command makes a new command of the account, with a ready execution behind it.
	Command func(input string) execute.Command
	// Behaviour counts how often what a command does stands.
	Behaviour func(execute.Command) int
}

// The inputs that a fixture's application knows, and what it does then.
const (
	DoApply  = "apply"  // it writes, and says applied with the payload "applied"
	DoNoop   = "noop"   // it writes nothing, and says noop
	DoReject = "reject" // it writes nothing, and says rejected
	DoFail   = "fail"   // it writes, and then fails
)

// New makes a fixture that ends with the test.
type New func(t testing.TB) Fixture

// Run runs every part of the suite.
func Run(t *testing.T, fresh New) {
	t.Run("a command has one result", func(t *testing.T) { One(t, fresh(t)) })
	t.Run("every outcome comes back", func(t *testing.T) { Outcomes(t, fresh(t)) })
	t.Run("another reference is a missing result", func(t *testing.T) { Missing(t, fresh(t)) })
	t.Run("a failure commits nothing and is tried again", func(t *testing.T) { Failures(t, fresh(t)) })
	t.Run("a closed command never commits", func(t *testing.T) { Closed(t, fresh(t)) })
	t.Run("whoever races for a command gets the same", func(t *testing.T) { Races(t, fresh(t)) })
	t.Run("a neighbour's failure is none of a command's", func(t *testing.T) { Neighbours(t, fresh(t)) })
}

func submit(t testing.TB, f Fixture, commands ...execute.Command) []execute.Verdict {
	t.Helper()
	verdicts := f.Runtime.Submit(t.Context(), f.Account, commands)
	if len(verdicts) != len(commands) {
		t.Fatalf("%d verdicts for %d commands", len(verdicts), len(commands))
	}
	return verdicts
}

// must is the result of one command that has one.
func must(t testing.TB, result execute.Result, err error) execute.Result {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func expect(t testing.TB, what string, f Fixture, command execute.Command, behaviour int) {
	t.Helper()
	if n := f.Behaviour(command); n != behaviour {
		t.Errorf("%s: its behaviour is there %d times, want %d", what, n, behaviour)
	}
}

// One: submitted again, queried or closed, a command answers with its first result, and its behaviour is there once.
func One(t *testing.T, f Fixture) {
	command := f.Command(DoApply)
	verdict := submit(t, f, command)[0]
	first := must(t, verdict.Result, verdict.Err)
	if string(first.Payload) != "applied" || first.Receipt.Command != command.Command || first.Receipt.Ref != command.Ref || first.Receipt.Digest(command.Profile).IsZero() {
		t.Errorf("%+v", first)
	}
	again := submit(t, f, command)[0]
	queried, err := f.Runtime.Query(t.Context(), command.Subject)
	closed, closing := f.Runtime.Close(t.Context(), command)
	for what, got := range map[string]execute.Result{
		"submitted again": must(t, again.Result, again.Err), "queried": must(t, queried, err), "closed": must(t, closed, closing),
	} {
		if got.Receipt != first.Receipt || string(got.Payload) != string(first.Payload) {
			t.Errorf("%s: %+v, first %+v", what, got, first)
		}
	}
	expect(t, "in the end", f, command, 1)
}

// Outcomes: each outcome is the application's own, and only an applied command has behaviour.
func Outcomes(t *testing.T, f Fixture) {
	for input, want := range map[string]execute.Outcome{DoApply: execute.Applied, DoNoop: execute.Noop, DoReject: execute.Rejected} {
		command := f.Command(input)
		verdict := submit(t, f, command)[0]
		if got := must(t, verdict.Result, verdict.Err); got.Receipt.Outcome != want {
			t.Errorf("%s: %s", input, got.Receipt.Outcome)
		}
		behaviour := 0
		if input == DoApply {
			behaviour = 1
		}
		expect(t, input, f, command, behaviour)
	}
}

// Missing: a wrong reference is answered as a result that is not there, before and after there is one.
func Missing(t *testing.T, f Fixture) {
	command := f.Command(DoApply)
	wrong := command
	wrong.Ref.Digest[0]++
	query := func(subject execute.Subject) string {
		t.Helper()
		_, err := f.Runtime.Query(t.Context(), subject)
		if !errors.Is(err, facts.ResultMissing) {
			t.Fatalf("a query: %v", err)
		}
		return err.Error()
	}
	missing := query(command.Subject)
	if got := query(wrong.Subject); got != missing {
		t.Errorf("another reference: %s, no result: %s", got, missing)
	}
	verdict := submit(t, f, command)[0]
	must(t, verdict.Result, verdict.Err)
	if got := query(wrong.Subject); got != missing {
		t.Errorf("another reference than a result's: %s, no result: %s", got, missing)
	}
	_, closed := f.Runtime.Close(t.Context(), wrong)
	for what, err := range map[string]error{"submitted": submit(t, f, wrong)[0].Err, "closed": closed} {
		var refusal *facts.Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("%s under another reference: %v", what, err)
		}
	}
	expect(t, "in the end", f, command, 1)
}

// Failures: a handler's failure leaves nothing and no result, and the command can be submitted again, or closed.
func Failures(t *testing.T, f Fixture) {
	command := f.Command(DoFail)
	for range 2 {
		verdict := submit(t, f, command)[0]
		var failure *ledger.HandlerFailure
		if !errors.As(verdict.Err, &failure) {
			t.Errorf("a failure came back as %v", verdict.Err)
		}
		expect(t, "after a failure", f, command, 0)
	}
	if _, err := f.Runtime.Query(t.Context(), command.Subject); !errors.Is(err, facts.ResultMissing) {
		t.Errorf("after a failure: %v", err)
	}
	closed, err := f.Runtime.Close(t.Context(), command)
	if got := must(t, closed, err); got.Receipt.Outcome != machines.ApplicationResultFailed {
		t.Errorf("closed as %s", got.Receipt.Outcome)
	}
}

// Closed: a command that was closed has the result failed for ever.
func Closed(t *testing.T, f Fixture) {
	command := f.Command(DoApply)
	closed, err := f.Runtime.Close(t.Context(), command)
	first := must(t, closed, err)
	verdict := submit(t, f, command)[0]
	queried, err := f.Runtime.Query(t.Context(), command.Subject)
	for what, got := range map[string]execute.Result{"submitted": must(t, verdict.Result, verdict.Err), "queried": must(t, queried, err)} {
		if got.Receipt != first.Receipt || got.Receipt.Outcome != machines.ApplicationResultFailed {
			t.Errorf("%s after it was closed: %s", what, got.Receipt.Outcome)
		}
	}
	expect(t, "after it was closed", f, command, 0)
}

// Races: of submissions and a close at the same time, one makes the result, and all the others get it.
func Races(t *testing.T, f Fixture) {
	for round := range 4 {
		command := f.Command(DoApply)
		results := make([]execute.Result, 5)
		var group sync.WaitGroup
		for i := range results {
			group.Go(func() {
				var err error
				if i == round%len(results) {
					results[i], err = f.Runtime.Close(context.WithoutCancel(t.Context()), command)
				} else {
					verdict := f.Runtime.Submit(context.WithoutCancel(t.Context()), f.Account, []execute.Command{command})[0]
					results[i], err = verdict.Result, verdict.Err
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		behaviour := 0
		for _, result := range results {
			if result.Receipt != results[0].Receipt {
				t.Errorf("one got %s, another %s", results[0].Receipt.Outcome, result.Receipt.Outcome)
			}
			if result.Receipt.Outcome == execute.Applied {
				behaviour = 1
			}
		}
		expect(t, "after a race", f, command, behaviour)
	}
}

// Neighbours: of commands that are submitted together each has its own end.
func Neighbours(t *testing.T, f Fixture) {
	wrong := f.Command(DoApply)
	verdict := submit(t, f, wrong)[0]
	must(t, verdict.Result, verdict.Err)
	wrong.Ref.Digest[0]++
	commands := []execute.Command{f.Command(DoApply), f.Command(DoFail), wrong, f.Command(DoNoop)}
	for i, verdict := range submit(t, f, commands...) {
		var refusal *facts.Refusal
		var failure *ledger.HandlerFailure
		switch i {
		case 1:
			if !errors.As(verdict.Err, &failure) {
				t.Errorf("the failing one: %v", verdict.Err)
			}
		case 2:
			if !errors.As(verdict.Err, &refusal) {
				t.Errorf("the refused one: %v", verdict.Err)
			}
		default:
			must(t, verdict.Result, verdict.Err)
		}
	}
	expect(t, "the good one", f, commands[0], 1)
	expect(t, "the failing one", f, commands[1], 0)
	expect(t, "the refused one", f, wrong, 1)
}
