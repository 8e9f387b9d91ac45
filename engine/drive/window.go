package drive

import (
	"context"
	"log/slog"

	"connectorcore/engine/frozen"
	"connectorcore/engine/materialize"
	"connectorcore/engine/turns"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/turn"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// windowsMax bounds the windows that this process is closing, of which each holds its members and their input.
const windowsMax = 64

// seal asks that the windows be closed which are full or whose time has come.
func (d *Driver) seal(ctx context.Context, heads []inbound.WindowHead) {
	of := func(h inbound.WindowHead) (facts.AccountID, facts.WindowID) { return h.Account, h.Window }
	each(ctx, d, heads, of, d.windows, "window", func(ctx context.Context, _ facts.WindowID, heads []inbound.WindowHead) error {
		return d.sealOne(ctx, heads[0])
	})
}

// sealOne posts that a window be closed which is in hand, with the input of the members that it has now. If one more comes
// before the turn, it is refused there and found by the next sweep.
func (d *Driver) sealOne(ctx context.Context, head inbound.WindowHead) error {
	account := head.Account
	at, err := d.standing(ctx, account)
	if err != nil {
		return err
	}
	window, known, err := readers.One(ctx, d.reader, schema.ProjectionWindows, func(w *inbound.ProjectionWindow) { w.ID = head.Window })
	switch {
	case err != nil:
		return err
	case !known:
		return errors.AssertionFailedf("window %s has a head and no fact", head.Window)
	}
	if err := at.admitted(window.Epoch); err != nil {
		return err
	}
	route, _, err := routeOf(at.epoch, account, window.Route, window.Version)
	if err != nil {
		return err
	}
	ask, bytes, err := d.sealing(ctx, at.epoch, route, window)
	if err != nil {
		return err
	}
	ask.Premise, ask.Claim = at.premise, d.claims()
	size := turns.Size{Items: 1, Rows: min(16+len(ask.Members), turn.MaxRows), Bytes: bytes}
	return d.turns.Post(account, claiming, item{turn.Item{Seal: ask}, size}, func(verdict turn.Verdict, err error) {
		d.sealed(head, at, verdict, err)
	})
}

// sealing prepares how a window is closed, and tells how many bytes that takes.
func (d *Driver) sealing(ctx context.Context, epoch *frozen.Epoch, route frozen.Route, window inbound.ProjectionWindow) (*turn.Seal, int, error) {
	members, err := readers.Many(ctx, d.reader, schema.WindowMembers, []inbound.WindowMember{{Window: window.ID}}, 1)
	if err != nil {
		return nil, 0, err
	}
	parents := make([]inbound.Event, len(members))
	for i, member := range members {
		parents[i].ID = member.Event
	}
	found, err := readers.Many(ctx, d.reader, schema.Events, parents, 1)
	if err != nil {
		return nil, 0, err
	}
	stored := map[facts.EventID]inbound.Event{}
	for _, event := range found {
		stored[event.ID] = event
	}
	for i, member := range members {
		event, there := stored[member.Event]
		if !there {
			return nil, 0, errors.AssertionFailedf("event %s is in window %s and has no fact", member.Event, window.ID)
		}
		parents[i] = event
	}
	ask, err := materialize.Seal(epoch.Profile, route, window, parents)
	if err != nil {
		return nil, 0, err
	}
	return ask, 1024 + 256*len(members) + len(ask.Input.Bytes), nil
}

// sealed takes note of what became of a window that is in hand.
func (d *Driver) sealed(head inbound.WindowHead, at standing, verdict turn.Verdict, err error) {
	about := slog.String("window", head.Window.String())
	switch {
	case err != nil:
		d.warn("a window stays open", err, about)
	case verdict.Refusal == nil:
		d.pauses.well(head.Account)
		d.born(head.Account, at.premise, verdict.Born)
		if verdict.Aside != 0 {
			d.warn("a window was set aside", facts.Refuse(verdict.Aside, facts.OfWindow(facts.WindowKey{Account: head.Account, Subject: head.Window}), ""), about)
		}
	case verdict.Refusal.Code == facts.SubjectEnded, verdict.Refusal.Code == facts.WrongState: // another process was faster, or another member
	case d.moved(head.Account, verdict.Refusal):
	default:
		d.pauses.later(head.Window)
		d.warn("a window was not closed", verdict.Refusal, about)
	}
	d.windows.drop(head.Window)
}
