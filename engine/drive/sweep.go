package drive

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"connectorcore/engine/materialize"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/turn"
	"connectorcore/machines"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

const (
	pageMax  = 2000 // heads in one read
	pagesMax = 5    // pages of a kind between two pauses
	someMax  = 32   // heads that are moved on together, since each holds an input
	// longest is longer than any transaction lives: a head whose due time is older than that was seen by every round
	// that began since, so the bound may pass it (R14).
	longest = 10 * time.Minute
	// afresh is how often the bound goes back to nothing.
	afresh = 5 * time.Minute
)

// round is where a sweep of one kind of heads stands. It reads page after page from a lower bound to now and begins again;
// what stays due without being moved on hides nothing behind it.
//
// The bound is a hint of this process that leaves out what ended long ago.
type round struct {
	from facts.Instant // where a round begins
	set  time.Time     // when a round last began at nothing

	next  facts.Instant // where the next page begins; zero between two rounds
	began facts.Instant // the database's time when the round began
}

// begins is where the next page begins.
func (r *round) begins(clock time.Time) facts.Instant {
	switch {
	case !r.next.IsZero():
		return r.next
	case r.set.IsZero() || clock.Sub(r.set) >= afresh:
		r.from, r.set = facts.Instant{}, clock
	}
	return r.from
}

// read takes note of a page: of the database's time, and of where it ended, which is zero if nothing is behind it.
func (r *round) read(now, end facts.Instant) {
	if r.next.IsZero() {
		r.began = now
	}
	if r.next = end; end.IsZero() {
		r.from = r.began.Add(-longest)
	}
}

// sweeping looks for due heads until the driver ends: at once, then in every interval, or when it is woken.
func (d *Driver) sweeping() {
	var receipts, executions, projections, windows, dependencies round
	for {
		pages(d, schema.ReceiptHeads, &receipts, d.receipts.full, func(h inbound.ReceiptHead) facts.Instant { return h.Due }, d.resume)
		pages(d, schema.ExecutionHeads, &executions, d.executions.full, func(h inbound.ExecutionHead) facts.Instant { return h.Due }, d.claim)
		pages(d, schema.ProjectionHeads, &projections, crowded(d, d.lanes), func(h inbound.ProjectionHead) facts.Instant { return h.Due }, d.advance)
		pages(d, schema.WindowHeads, &windows, crowded(d, d.windows), func(h inbound.WindowHead) facts.Instant { return h.Due }, d.seal)
		pages(d, schema.DependencyHeads, &dependencies, crowded(d, d.dependents), func(h inbound.DependencyHead) facts.Instant { return h.Due }, d.meet)
		ring, stop := d.options.Clock.Alarm(d.options.Sweep)
		select {
		case <-d.root.Done():
			stop()
			return
		case <-ring:
		case <-d.woken:
		}
		stop()
	}
}

// crowded tells that this process could claim nothing that a subject brings, or has enough of them in hand.
func crowded[K comparable](d *Driver, h *hand[K]) func() bool {
	return func() bool { return d.executions.full() || h.full() }
}

// pages sweeps one kind of heads, and leaves the others their time.
func pages[K comparable, G any, S machines.State, E machines.EdgeOf[S]](d *Driver, rows schema.GuardRows[K, G, S, E], r *round, full func() bool, due func(G) facts.Instant, move func(context.Context, []G)) {
	for nth, more := 0, true; more && nth < pagesMax; nth++ {
		more = sweep(d, rows, r, full, due, move)
	}
}

// sweep moves one page of heads on, and tells whether there is another one. It stops where there is no room for more.
func sweep[K comparable, G any, S machines.State, E machines.EdgeOf[S]](d *Driver, rows schema.GuardRows[K, G, S, E], r *round, full func() bool, due func(G) facts.Instant, move func(context.Context, []G)) bool {
	if d.root.Err() != nil || full() {
		return false
	}
	from := r.begins(d.options.Clock.Now())
	for limit := pageMax; ; limit *= 2 {
		heads, now, err := readers.Due(d.root, d.reader, rows, from, limit)
		if err != nil {
			d.warn("a sweep failed", err, slog.String("of", rows.Table.Name))
			return false
		}
		end := facts.Instant{}
		if len(heads) == limit {
			if end = due(heads[len(heads)-1]); !end.After(from) {
				continue // so many are due at one instant that the page would not get past it
			}
		}
		for some := range slices.Chunk(heads, someMax) {
			if d.root.Err() != nil || full() {
				return false // the page is read again
			}
			move(d.root, some)
		}
		r.read(now, end)
		return !end.IsZero()
	}
}

// wake asks for a sweep now. One that is asked for already is as good.
func (d *Driver) wake() {
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

// subject is the id of what a head is of.
type subject interface {
	comparable
	~[16]byte
	String() string
}

// each moves subjects on of which heads are due, each with those of its heads that are, as far as they are not left alone,
// are in no hand, and there is room for them.
func each[K subject, G any](ctx context.Context, d *Driver, heads []G, of func(G) (facts.AccountID, K), in *hand[K], noun string, move func(context.Context, K, []G) error) {
	due := map[K][]G{}
	var order []K
	for _, head := range heads {
		account, id := of(head)
		if !d.pauses.due(account) || !d.pauses.due(id) {
			continue
		}
		if due[id] == nil {
			order = append(order, id)
		}
		due[id] = append(due[id], head)
	}
	for _, id := range order {
		if account, _ := of(due[id][0]); in.full() || !d.pauses.due(account) || !in.take(id) { // the account may rest since the one before
			continue
		}
		if err := move(ctx, id, due[id]); err != nil {
			in.drop(id)
			d.stays(ctx, id, err, slog.String(noun, id.String()))
		}
	}
}

// resume materializes what is missing of Receipts that another process left, or this one.
func (d *Driver) resume(ctx context.Context, heads []inbound.ReceiptHead) {
	of := func(h inbound.ReceiptHead) (facts.AccountID, facts.ReceiptID) { return h.Account, h.Receipt }
	each(ctx, d, heads, of, d.receipts, "receipt", func(ctx context.Context, _ facts.ReceiptID, heads []inbound.ReceiptHead) error {
		p, err := d.pending(ctx, heads[0])
		if err != nil {
			return err
		}
		return d.materialize(heads[0].Account, p)
	})
}

// stays leaves a subject alone that could not be moved on.
func (d *Driver) stays(ctx context.Context, subject [16]byte, err error, about slog.Attr) {
	if ctx.Err() != nil {
		return
	}
	d.pauses.later(subject)
	d.warn("it stays due", err, about)
}

// standing is where an account stands. One that does not serve, or whose epoch cannot be opened, is left alone with
// everything of it.
func (d *Driver) standing(ctx context.Context, account facts.AccountID) (standing, error) {
	premise, epoch, err := d.directory.Account(ctx, account)
	if err != nil {
		d.pauses.later(account)
	}
	return standing{premise, epoch}, err
}

// admitted refuses what another epoch admitted than the one that serves: nothing is carried out under another one.
func (s standing) admitted(epoch facts.EpochID) error {
	if epoch == s.premise.Epoch.ID {
		return nil
	}
	return facts.Refuse(facts.EpochMismatch, facts.OfEpoch(epoch), "it admitted what is due, and epoch %s serves", s.premise.Epoch.ID)
}

// pending derives the content of a Receipt from its rows and from what its epoch froze.
func (d *Driver) pending(ctx context.Context, head inbound.ReceiptHead) (pending, error) {
	at, err := d.standing(ctx, head.Account)
	if err != nil {
		return pending{}, err
	}
	receipt, known, err := readers.One(ctx, d.reader, schema.Receipts, func(r *inbound.Receipt) { r.ID = head.Receipt })
	switch {
	case err != nil:
		return pending{}, err
	case !known:
		return pending{}, errors.AssertionFailedf("receipt %s has a head and no fact", head.Receipt)
	}
	if err := at.admitted(receipt.Epoch); err != nil {
		return pending{}, err
	}
	channel, err := at.epoch.Channel(head.Account, receipt.Channel)
	if err != nil {
		return pending{}, err
	}
	header, err := inbound.DecodeHeader(receipt.Header)
	if err != nil {
		return pending{}, err
	}
	return pending{receipt: head.Receipt, premise: at.premise, content: materialize.Content(at.epoch.Profile, channel, header, receipt.Body)}, nil
}

// claim asks for the next attempt of executions and performs those that it gets.
func (d *Driver) claim(ctx context.Context, heads []inbound.ExecutionHead) {
	var mine []inbound.ExecutionHead
	for _, head := range heads {
		if d.pauses.due(head.Account) && d.pauses.due(head.Execution) && d.executions.take(head.Execution) {
			mine = append(mine, head)
		}
	}
	var serving []inbound.ExecutionHead
	for _, head := range mine {
		if !d.pauses.due(head.Account) { // since the one before
			d.executions.drop(head.Execution)
		} else if _, err := d.standing(ctx, head.Account); err != nil {
			d.lets(ctx, head, err)
		} else {
			serving = append(serving, head)
		}
	}
	brought, err := d.bring(ctx, serving)
	for _, head := range serving {
		failed := err
		if failed == nil {
			failed = d.claimed(ctx, head, brought)
		}
		if failed != nil {
			d.lets(ctx, head, failed)
		}
	}
}

// lets lets go of an execution that could not be claimed.
func (d *Driver) lets(ctx context.Context, head inbound.ExecutionHead, err error) {
	d.executions.drop(head.Execution)
	d.stays(ctx, head.Execution, err, slog.String("execution", head.Execution.String()))
}

// claimables are the facts of executions that are to be claimed.
type claimables struct {
	executions  map[facts.ExecutionID]inbound.Execution
	projections map[facts.ProjectionID]inbound.Projection
}

// bring reads what is needed to claim executions and to perform them.
func (d *Driver) bring(ctx context.Context, heads []inbound.ExecutionHead) (claimables, error) {
	c := claimables{map[facts.ExecutionID]inbound.Execution{}, map[facts.ProjectionID]inbound.Projection{}}
	executions, projections := make([]inbound.Execution, len(heads)), make([]inbound.Projection, len(heads))
	for i, head := range heads {
		executions[i], projections[i] = inbound.Execution{ID: head.Execution}, inbound.Projection{ID: head.Projection}
	}
	there, err := readers.Many(ctx, d.reader, schema.Executions, executions, 1)
	if err != nil {
		return c, err
	}
	inputs, err := readers.Many(ctx, d.reader, schema.Projections, projections, 1)
	for _, execution := range there {
		c.executions[execution.ID] = execution
	}
	for _, projection := range inputs {
		c.projections[projection.ID] = projection
	}
	return c, err
}

// claimed posts the claim of an execution that is in hand.
func (d *Driver) claimed(ctx context.Context, head inbound.ExecutionHead, all claimables) error {
	execution, born := all.executions[head.Execution]
	projection, known := all.projections[execution.Projection]
	if !born || !known {
		return errors.AssertionFailedf("execution %s has a head and no fact, or no Projection", head.Execution)
	}
	at, err := d.standing(ctx, head.Account)
	if err != nil {
		return err
	}
	if err := at.admitted(execution.Epoch); err != nil {
		return err
	}
	author, err := at.epoch.Profile.Author()
	if err != nil {
		return err
	}
	one := turn.Born{Execution: execution.ID, Projection: projection.ID, Event: projection.Event, Command: author.Command(execution.ID).ID, Ref: execution.Ref,
		Lane: execution.Lane, Route: projection.Route, Version: projection.Version, Input: projection.Input}
	ask := &turn.Claim{Premise: at.premise, Holding: *d.holding(), Execution: execution.ID}
	return d.turns.Post(head.Account, claiming, sized(turn.Item{Claim: ask}, 2), func(verdict turn.Verdict, err error) {
		if err == nil && verdict.Refusal == nil {
			d.pauses.well(head.Account)
			one.Attempt = verdict.Attempt
			d.perform(head.Account, at.premise, one)
			return
		}
		d.executions.drop(head.Execution)
		if err != nil {
			d.warn("an execution stays due", err, slog.String("execution", head.Execution.String()))
		} else {
			d.moved(head.Account, verdict.Refusal)
		}
	})
}
