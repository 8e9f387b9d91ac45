package drive

import (
	"context"
	"log/slog"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/turn"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// dependentsMax bounds the executions of which a sweep asks whether they still wait.
const dependentsMax = 256

// meet asks about dependencies that are due: what they wait for may be there, or their deadline past.
func (d *Driver) meet(ctx context.Context, heads []inbound.DependencyHead) {
	of := func(h inbound.DependencyHead) (facts.AccountID, facts.ExecutionID) { return h.Account, h.Execution }
	each(ctx, d, heads, of, d.dependents, "execution", d.meetOne)
}

// meetOne posts the look at what an execution waits for that is in hand.
func (d *Driver) meetOne(ctx context.Context, id facts.ExecutionID, heads []inbound.DependencyHead) error {
	account := heads[0].Account
	at, err := d.standing(ctx, account)
	if err != nil {
		return err
	}
	execution, born, err := readers.One(ctx, d.reader, schema.Executions, func(e *inbound.Execution) { e.ID = id })
	if err != nil {
		return err
	}
	projection, known, err := readers.One(ctx, d.reader, schema.Projections, func(p *inbound.Projection) { p.ID = execution.Projection })
	switch {
	case err != nil:
		return err
	case !born || !known:
		return errors.AssertionFailedf("execution %s has a dependency that waits and no fact, or no Projection", id)
	}
	if err := at.admitted(execution.Epoch); err != nil {
		return err
	}
	_, order, err := routeOf(at.epoch, account, projection.Route, projection.Version)
	if err != nil {
		return err
	}
	ask := &turn.Meet{Premise: at.premise, Profile: at.epoch.Profile, Execution: id, Lane: execution.Lane, Order: order, Claim: d.claims()}
	for _, head := range heads {
		ask.Dependencies = append(ask.Dependencies, head.Dependency)
	}
	return d.turns.Post(account, claiming, sized(turn.Item{Meet: ask}, 5*len(heads)), func(verdict turn.Verdict, err error) {
		about := slog.String("execution", id.String())
		switch {
		case err != nil:
			d.warn("an execution goes on waiting for another fact", err, about)
		case verdict.Refusal != nil:
			d.moved(account, verdict.Refusal)
		default:
			d.pauses.well(account)
			d.born(account, at.premise, verdict.Born)
			if verdict.Failed != 0 {
				d.warn("an execution was set aside: what it requires did not come", facts.Refuse(verdict.Failed, facts.OfExecution(facts.ExecutionKey{Account: account, Subject: id}), ""), about)
			}
		}
		d.dependents.drop(id)
	})
}
