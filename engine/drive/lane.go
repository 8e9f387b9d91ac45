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

// lanesMax bounds the lanes that a sweep asks to be moved on.
const lanesMax = 256

// advance asks that the lanes be moved on in which inputs wait whose time has come: a gap is past its deadline, an input has
// settled, or a lane was left free.
func (d *Driver) advance(ctx context.Context, heads []inbound.ProjectionHead) {
	of := func(h inbound.ProjectionHead) (facts.AccountID, facts.LaneID) { return h.Account, h.Lane }
	each(ctx, d, heads, of, d.lanes, "lane", d.advanceOne)
}

// advanceOne posts that a lane be moved on which is in hand.
func (d *Driver) advanceOne(ctx context.Context, id facts.LaneID, heads []inbound.ProjectionHead) error {
	account := heads[0].Account
	at, err := d.standing(ctx, account)
	if err != nil {
		return err
	}
	projection, known, err := readers.One(ctx, d.reader, schema.Projections, func(p *inbound.Projection) { p.ID = heads[0].Projection })
	switch {
	case err != nil:
		return err
	case !known:
		return errors.AssertionFailedf("projection %s has a head and no fact", heads[0].Projection)
	}
	if err := at.admitted(projection.Epoch); err != nil {
		return err
	}
	_, order, err := routeOf(at.epoch, account, projection.Route, projection.Version)
	if err != nil {
		return err
	}
	ask := &turn.Advance{Premise: at.premise, Profile: at.epoch.Profile, Lane: id, Order: order, Claim: d.claims()}
	for _, head := range heads {
		ask.Projections = append(ask.Projections, head.Projection)
	}
	return d.turns.Post(account, claiming, sized(turn.Item{Advance: ask}, 8+len(heads)), func(verdict turn.Verdict, err error) {
		about := slog.String("lane", id.String())
		switch {
		case err != nil:
			d.warn("a lane stays where it is", err, about)
		case verdict.Refusal != nil:
			d.moved(account, verdict.Refusal)
		default:
			d.pauses.well(account)
			d.born(account, at.premise, verdict.Born)
			for _, gap := range verdict.Gaps {
				d.warn("a lane waits for a position that has not come by its deadline", facts.Refuse(facts.SequenceGap, facts.OfProjection(facts.ProjectionKey{Account: account, Subject: gap}), ""), about)
			}
		}
		d.lanes.drop(id)
	})
}
