package drive

import (
	"context"
	"math/rand/v2"
	"time"

	"connectorcore/engine/execute"
	"connectorcore/engine/pack"
	"connectorcore/engine/turns"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// work is a claimed execution on its way to the application.
type work struct {
	command execute.Command
	attempt uint64
	policy  *pack.ExecutionPolicy
}

// Size is what the command adds to a shared application transaction (R29).
func (w work) Size() turns.Size {
	return turns.Size{Items: 1, Rows: 2, Bytes: len(w.command.Input) + 1024}
}

// born hands the executions of a content over to the application.
func (d *Driver) born(account facts.AccountID, premise inbound.Premise, content *turn.Content, all []turn.Born) {
	for _, one := range all {
		input := content.Components[one.Component].Event.Inputs[one.Input]
		d.perform(account, premise, one, input.Route, input.Version, input.Bytes)
	}
}

// perform asks for the application of a claimed execution. What cannot be asked for now is found again when its lease is
// over.
func (d *Driver) perform(account facts.AccountID, premise inbound.Premise, one turn.Born, name facts.RouteID, version facts.DefinitionVersion, input []byte) {
	epoch, err := d.directory.Epoch(d.root, premise.Epoch)
	if err != nil {
		d.log.Warn("an execution waits for the sweep", "execution", one.Execution.String(), "error", err)
		return
	}
	route, known := epoch.Route(account, name, version)
	if !known {
		d.log.Error("an execution's route is not in its epoch", "execution", one.Execution.String(), "route", name.String(), "version", version.String())
		return
	}
	w := work{attempt: one.Attempt, policy: &route.Execution, command: execute.Command{
		Subject: execute.Subject{CommandRef: inbound.CommandRef{Account: account, Execution: one.Execution, Command: one.Command, Ref: one.Ref}, Profile: epoch.Profile},
		Premise: premise, Definition: route.Command.Definition, Version: route.Command.Version, Attempt: one.Attempt, Input: input}}
	err = d.applies.Post(account, 0, w, func(verdict execute.Verdict, err error) {
		if err == nil {
			err = verdict.Err
		}
		d.applied(w, verdict.Result.Receipt, err)
	})
	if err != nil {
		d.log.Warn("an execution waits for the sweep", "execution", one.Execution.String(), "error", err)
	}
}

// apply lets the application behave on the commands of one account, in shared transactions where that is possible. What
// may have been committed is submitted again before anything else of the account.
func (d *Driver) apply(ctx context.Context, account facts.AccountID, all []work) ([]execute.Verdict, error) {
	commands := make([]execute.Command, len(all))
	for i, w := range all {
		commands[i] = w.command
	}
	verdicts := d.runtime.Submit(ctx, account, commands)
	for _, verdict := range verdicts {
		if errors.Is(verdict.Err, facts.ErrOutcomeUnknown) {
			return nil, verdict.Err
		}
	}
	return verdicts, nil
}

// applied brings an answer back. A result that is there completes the execution, whoever brought it about. Only an attempt
// that the application itself ended is counted against it; anything else waits for its lease, and the same command is
// submitted again.
func (d *Driver) applied(w work, receipt inbound.RuntimeReceipt, err error) {
	var refusal *facts.Refusal
	var failure *ledger.HandlerFailure
	switch {
	case err == nil:
		d.complete(w, receipt)
	case errors.As(err, &refusal):
		d.moved(w.command.Account, refusal)
		d.log.Info("an execution was not applied", "execution", w.command.Execution.String(), "refusal", refusal.Code.String())
	case errors.As(err, &failure):
		d.background(func(ctx context.Context) { d.failed(ctx, w, failure) })
	default:
		d.log.Warn("an execution waits for its lease", "execution", w.command.Execution.String(), "error", err)
	}
}

// complete records the Runtime's receipt.
func (d *Driver) complete(w work, receipt inbound.RuntimeReceipt) {
	ask := &turn.Completion{Execution: w.command.Execution, Command: receipt.Command, Ref: receipt.Ref, Outcome: receipt.Outcome,
		Result: receipt.Result, Receipt: receipt.Digest(w.command.Profile)}
	err := d.turns.Post(w.command.Account, completing, sized(turn.Item{Complete: ask}, 2), func(verdict turn.Verdict, err error) {
		switch {
		case err != nil:
			d.log.Warn("a completion waits for the sweep", "execution", w.command.Execution.String(), "error", err)
		case verdict.Refusal != nil:
			d.log.Error("a completion was refused", "execution", w.command.Execution.String(), "refusal", verdict.Refusal)
		default:
			d.options.Completed(facts.ExecutionKey{Account: w.command.Account, Subject: w.command.Execution})
		}
	})
	if err != nil {
		d.log.Warn("a completion waits for the sweep", "execution", w.command.Execution.String(), "error", err)
	}
}

// failed ends an attempt in which the application failed. On the last allowed one the Runtime closes the command for
// good, and the execution completes from that (R27). Only attempts that the application itself failed are counted: a
// database that was away uses none up.
func (d *Driver) failed(ctx context.Context, w work, failure error) {
	ends, err := readers.Many(ctx, d.reader, schema.AttemptEnds, []inbound.AttemptEnd{{Execution: w.command.Execution}}, 1)
	if err != nil {
		d.log.Warn("an execution waits for its lease", "execution", w.command.Execution.String(), "error", err)
		return
	}
	failures := 0
	for _, end := range ends {
		if end.Reason == facts.ExecutionFailing && end.Ordinal < w.attempt {
			failures++
		}
	}
	d.log.Warn("the application failed", "execution", w.command.Execution.String(), "attempt", w.attempt, "failures", failures+1, "allowed", w.policy.Retry.Attempts(), "error", failure)
	if failures+1 >= w.policy.Retry.Attempts() {
		result, err := d.runtime.Close(ctx, w.command)
		if err != nil {
			d.log.Warn("an exhausted execution waits for its lease", "execution", w.command.Execution.String(), "error", err)
			return
		}
		d.complete(w, result.Receipt)
		return
	}
	ask := &turn.End{Execution: w.command.Execution, Attempt: w.attempt, Holder: d.holder, Reason: facts.ExecutionFailing,
		Detail: detailOf(failure), Delay: delayOf(w.policy.Retry, failures)}
	err = d.turns.Post(w.command.Account, ending, sized(turn.Item{End: ask}, 2), func(verdict turn.Verdict, err error) {
		if err == nil && verdict.Refusal == nil && ask.Delay < d.options.Sweep {
			d.wake()
		}
	})
	if err != nil {
		d.log.Warn("an execution waits for its lease", "execution", w.command.Execution.String(), "error", err)
	}
}

// detailMax bounds what is kept of a failure.
const detailMax = 4096

func detailOf(failure error) []byte {
	text := errors.Redact(failure)
	if len(text) > detailMax {
		text = text[:detailMax]
	}
	return []byte(text)
}

// delayOf is the frozen delay before the attempt that follows so many failures, spread by the frozen jitter.
func delayOf(retry pack.Retry, failures int) time.Duration {
	delay := time.Duration(retry.Delays[min(failures, len(retry.Delays)-1)]) * time.Second
	if spread := int64(delay) / 100 * retry.Jitter; spread > 0 {
		delay += time.Duration(rand.Int64N(2*spread+1) - spread)
	}
	return delay.Truncate(time.Microsecond)
}
