package drive

import (
	"context"
	"log/slog"

	"connectorcore/engine/execute"
	"connectorcore/engine/frozen"
	"connectorcore/engine/materialize"
	"connectorcore/engine/pack"
	"connectorcore/engine/turns"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/turn"

	"github.com/cockroachdb/errors"
)

// work is a claimed execution on its way to the application.
type work struct {
	command execute.Command
	attempt uint64
	policy  *pack.ExecutionPolicy
	lane    facts.LaneID // zero for an order-independent route
	order   turn.Order
	event   facts.EventID // for which others may wait; zero if nothing of the account waits for any
}

// Size is what the command adds to a shared application transaction (R29).
func (w work) Size() turns.Size {
	return turns.Size{Items: 1, Rows: 2, Bytes: len(w.command.Input) + 1024}
}

// born hands executions over to the application, as far as they were claimed.
func (d *Driver) born(account facts.AccountID, premise inbound.Premise, all []turn.Born) {
	for _, one := range all {
		if one.Attempt > 0 && d.executions.take(one.Execution) {
			d.perform(account, premise, one)
		}
	}
}

// perform asks for the application of a claimed execution that is in hand. What cannot be asked for now is found again
// when its lease is over.
func (d *Driver) perform(account facts.AccountID, premise inbound.Premise, one turn.Born) {
	gives := func(err error) {
		d.executions.drop(one.Execution)
		d.warn("an execution waits for its lease", err, slog.String("execution", one.Execution.String()))
	}
	epoch, err := d.directory.Epoch(context.Background(), premise.Epoch) // it is open: who prepared the claim has it
	if err != nil {
		gives(err)
		return
	}
	route, order, err := routeOf(epoch, account, one.Route, one.Version)
	if err != nil {
		gives(err)
		return
	}
	w := work{attempt: one.Attempt, policy: &route.Execution, lane: one.Lane, order: order, command: execute.Command{
		Subject: execute.Subject{CommandRef: inbound.CommandRef{Account: account, Execution: one.Execution, Command: one.Command, Ref: one.Ref}, Profile: epoch.Profile},
		Premise: premise, Definition: route.Command.Definition, Version: route.Command.Version, Attempt: one.Attempt, Input: one.Input}}
	if epoch.Requires(account) {
		w.event = one.Event
	}
	err = d.applies.Post(account, 0, w, func(verdict execute.Verdict, err error) {
		if err == nil {
			err = verdict.Err
		}
		d.applied(w, verdict.Result.Receipt, err)
	})
	if err != nil {
		gives(err)
	}
}

// routeOf is an exact route of an account, and what it says of its lanes.
func routeOf(epoch *frozen.Epoch, account facts.AccountID, name facts.RouteID, version facts.DefinitionVersion) (frozen.Route, turn.Order, error) {
	route, known := epoch.Route(account, name, version)
	if !known {
		return route, turn.Order{}, errors.AssertionFailedf("route %s %s of account %s is not in epoch %s", name, version, account, epoch.Ref.ID)
	}
	order, err := materialize.Order(route.Route)
	if order == nil || err != nil {
		return route, turn.Order{}, err
	}
	return route, *order, nil
}

// apply lets the application behave on the commands of one account, in shared transactions where that is possible.
//
// What may have been committed is an error of its command alone and never of the whole batch: it is found when the same
// command is submitted again, and nothing of the account has to wait for that. The account's gate is another matter: who
// takes it next settles the doubt first, in the transaction itself (R05).
func (d *Driver) apply(ctx context.Context, account facts.AccountID, all []work) ([]execute.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	commands := make([]execute.Command, len(all))
	for i, w := range all {
		commands[i] = w.command
	}
	return d.runtime.Submit(ctx, account, commands), nil
}

// applied brings an answer back. A result that is there completes the execution, whoever brought it about.
func (d *Driver) applied(w work, receipt inbound.RuntimeReceipt, err error) {
	if err == nil {
		d.complete(w, receipt)
		return
	}
	if errors.Is(err, turns.ErrClosed) {
		d.executions.drop(w.command.Execution)
		return
	}
	go d.failed(w, err)
}

// complete records the Runtime's receipt.
func (d *Driver) complete(w work, receipt inbound.RuntimeReceipt) {
	about := slog.String("execution", w.command.Execution.String())
	ask := &turn.Completion{Execution: w.command.Execution, Profile: w.command.Profile, Command: receipt.Command, Ref: receipt.Ref, Outcome: receipt.Outcome,
		Result: receipt.Result, Receipt: receipt.Digest(w.command.Profile), Lane: w.lane, Order: w.order, Event: w.event}
	if claim := d.claims(); claim != nil && (!w.lane.IsZero() || !w.event.IsZero()) {
		ask.Next = &turn.Next{Premise: w.command.Premise, Holding: *claim}
	}
	err := d.turns.Post(w.command.Account, completing, sized(turn.Item{Complete: ask}, 2), func(verdict turn.Verdict, err error) {
		if err == nil {
			d.born(w.command.Account, w.command.Premise, verdict.Born)
		}
		d.executions.drop(w.command.Execution)
		switch {
		case err != nil:
			d.warn("a completion waits for the sweep", err, about)
		case verdict.Refusal != nil:
			d.pauses.later(w.command.Execution)
			d.warn("a completion was refused", verdict.Refusal, about)
		default:
			d.options.Completed(facts.ExecutionKey{Account: w.command.Account, Subject: w.command.Execution})
		}
	})
	if err != nil {
		d.executions.drop(w.command.Execution)
		d.warn("a completion waits for the sweep", err, about)
	}
}
