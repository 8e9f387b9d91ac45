package execute

import (
	"context"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"

	"github.com/cockroachdb/errors"
)

// Handler is the application's code for one command. What it does through the handle commits with its answer or not at
// all. It must be repeatable: it runs again when its transaction did not commit, and may run beside itself. An error, a
// panic or a missed deadline ends the attempt, and another one is made later.
type Handler func(ctx context.Context, handle *ledger.Handle, command Command) (Answer, error)

// MaxShared bounds the commands that share one transaction: their code has one deadline together.
const MaxShared = 16

// InDatabase is the Runtime of an application whose tables stand in the same cluster as ours.
type InDatabase struct {
	ledger  *ledger.Ledger
	app     *ledger.Application
	handler Handler
}

// NewInDatabase makes a Runtime of a handler.
func NewInDatabase(l *ledger.Ledger, app *ledger.Application, handler Handler) *InDatabase {
	return &InDatabase{l, app, handler}
}

var _ Runtime = (*InDatabase)(nil)

// Submit implements Runtime. Commands share transactions: that costs the account's gate once. Whatever goes wrong in a
// shared one rolls it back, and then each of its commands runs alone, so that no neighbour is charged with it (R29).
func (d *InDatabase) Submit(ctx context.Context, account facts.AccountID, commands []Command) []Verdict {
	var verdicts []Verdict
	for together := range slices.Chunk(commands, MaxShared) {
		verdicts = append(verdicts, d.submit(ctx, account, together)...)
	}
	return verdicts
}

func (d *InDatabase) submit(ctx context.Context, account facts.AccountID, commands []Command) []Verdict {
	if len(commands) > 1 && distinct(commands) {
		shared, err := d.apply(ctx, account, commands)
		if err == nil || !mayRunAlone(ctx, err) {
			return same(commands, shared, err)
		}
	}
	verdicts := make([]Verdict, 0, len(commands))
	for i := range commands {
		alone := commands[i : i+1]
		results, err := d.apply(ctx, account, alone)
		verdicts = append(verdicts, same(alone, results, err)...)
	}
	return verdicts
}

// mayRunAlone tells whether a shared transaction that failed left nothing behind, and somebody still waits. A bug of ours is
// not tried again.
func mayRunAlone(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !errors.Is(err, facts.ErrOutcomeUnknown) && !errors.HasAssertionFailure(err)
}

func distinct(commands []Command) bool {
	seen := map[facts.ExecutionID]bool{}
	for _, command := range commands {
		seen[command.Execution] = true
	}
	return len(seen) == len(commands)
}

// same gives each command its result, or all of them the error.
func same(commands []Command, results []inbound.ApplicationResult, err error) []Verdict {
	verdicts := make([]Verdict, len(commands))
	for i := range verdicts {
		if verdicts[i].Err = err; err == nil {
			verdicts[i].Result = resultOf(results[i])
		}
	}
	return verdicts
}

func resultOf(result inbound.ApplicationResult) Result {
	return Result{Receipt: result.Receipt(), Payload: result.Payload}
}

func (d *InDatabase) apply(ctx context.Context, account facts.AccountID, commands []Command) ([]inbound.ApplicationResult, error) {
	applies := make([]ledger.Apply, len(commands))
	for i, command := range commands {
		applies[i] = applyOf(command)
		applies[i].Code = func(ctx context.Context, handle *ledger.Handle) (Answer, error) {
			return d.handler(ctx, handle, command)
		}
	}
	return d.app.ApplyOnce(ctx, account, applies)
}

func applyOf(command Command) ledger.Apply {
	return ledger.Apply{CommandRef: command.CommandRef, Premise: command.Premise, Profile: command.Profile}
}

// Query implements Runtime.
func (d *InDatabase) Query(ctx context.Context, subject Subject) (Result, error) {
	result, err := d.ledger.FindResult(ctx, subject.CommandRef)
	if err != nil {
		return Result{}, err
	}
	return resultOf(result), nil
}

// Close implements Runtime.
func (d *InDatabase) Close(ctx context.Context, command Command) (Result, error) {
	result, err := d.app.CloseCommand(ctx, applyOf(command))
	if err != nil {
		return Result{}, err
	}
	return resultOf(result), nil
}
