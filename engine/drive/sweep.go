package drive

import (
	"context"
	"time"

	"connectorcore/engine/materialize"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/turn"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

const (
	sweepMax = 500 // heads of a kind in one sweep
	// longest is longer than any transaction lives: a head whose due time is older than that was seen by every sweep
	// that began since, so the bound may pass it (R14).
	longest = 10 * time.Minute
	// afresh is how often the bound goes back to nothing.
	afresh = 5 * time.Minute
)

// bound is the lower end of a sweep: a hint of this process, which leaves out what ended long ago.
type bound struct {
	from facts.Instant
	set  time.Time
}

// after is the bound behind a sweep that found everything up to now.
func (b *bound) after(now facts.Instant, clock time.Time, all bool) {
	switch {
	case clock.Sub(b.set) > afresh || b.set.IsZero():
		b.from, b.set = facts.Instant{}, clock
	case all:
		b.from = now.Add(-longest)
	}
}

// sweeping looks for due heads until the driver ends: at once, then in every interval, or when it is woken.
func (d *Driver) sweeping() {
	var receipts, executions bound
	for {
		if err := d.sweepReceipts(d.root, &receipts); err != nil && d.root.Err() == nil {
			d.log.Warn("a sweep of receipts failed", "error", err)
		}
		if err := d.sweepExecutions(d.root, &executions); err != nil && d.root.Err() == nil {
			d.log.Warn("a sweep of executions failed", "error", err)
		}
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

// wake asks for a sweep now. One that is asked for already is as good.
func (d *Driver) wake() {
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

func (d *Driver) sweepReceipts(ctx context.Context, b *bound) error {
	heads, now, err := readers.Due(ctx, d.reader, schema.ReceiptHeads, b.from, sweepMax)
	if err != nil {
		return err
	}
	for _, head := range heads {
		if err := d.resume(ctx, head); err != nil {
			d.log.Warn("a receipt stays pending", "receipt", head.Receipt.String(), "error", err)
		}
	}
	b.after(now, d.options.Clock.Now(), len(heads) < sweepMax)
	return nil
}

// resume materializes what is missing of a Receipt that another process left, or this one.
func (d *Driver) resume(ctx context.Context, head inbound.ReceiptHead) error {
	premise, epoch, err := d.directory.Account(ctx, head.Account)
	if err != nil {
		return err
	}
	receipt, known, err := readers.One(ctx, d.reader, schema.Receipts, func(r *inbound.Receipt) { r.ID = head.Receipt })
	switch {
	case err != nil:
		return err
	case !known || receipt.Epoch != epoch.Ref.ID:
		return errors.AssertionFailedf("receipt %s was admitted under epoch %s, and its account serves under %s", head.Receipt, receipt.Epoch, epoch.Ref.ID)
	}
	channel, err := epoch.Channel(head.Account, receipt.Channel)
	if err != nil {
		return err
	}
	header, err := inbound.DecodeHeader(receipt.Header)
	if err != nil {
		return err
	}
	d.later(head.Account, pending{receipt: head.Receipt, premise: premise, content: materialize.Content(epoch.Profile, channel, header, receipt.Body)})
	return nil
}

func (d *Driver) sweepExecutions(ctx context.Context, b *bound) error {
	heads, now, err := readers.Due(ctx, d.reader, schema.ExecutionHeads, b.from, sweepMax)
	if err != nil {
		return err
	}
	for _, head := range heads {
		if err := d.claim(ctx, head); err != nil {
			d.log.Warn("an execution stays due", "execution", head.Execution.String(), "error", err)
		}
	}
	b.after(now, d.options.Clock.Now(), len(heads) < sweepMax)
	return nil
}

// claim asks for the next attempt of an execution and, if it gets it, performs it.
func (d *Driver) claim(ctx context.Context, head inbound.ExecutionHead) error {
	premise, epoch, err := d.directory.Account(ctx, head.Account)
	if err != nil {
		return err
	}
	execution, known, err := readers.One(ctx, d.reader, schema.Executions, func(e *inbound.Execution) { e.ID = head.Execution })
	if err == nil && known {
		var projection inbound.Projection
		if projection, known, err = readers.One(ctx, d.reader, schema.Projections, func(p *inbound.Projection) { p.ID = execution.Projection }); err == nil && known {
			return d.claimed(premise, epoch.Profile, execution, projection)
		}
	}
	if err != nil {
		return err
	}
	return errors.AssertionFailedf("execution %s has a head and no fact, or no Projection", head.Execution)
}

func (d *Driver) claimed(premise inbound.Premise, profile facts.Profile, execution inbound.Execution, projection inbound.Projection) error {
	author, err := profile.Author()
	if err != nil {
		return err
	}
	one := turn.Born{Execution: execution.ID, Projection: projection.ID, Command: author.Command(execution.ID).ID, Ref: execution.Ref}
	ask := &turn.Claim{Premise: premise, Holding: *d.holding(), Execution: execution.ID}
	return d.turns.Post(execution.Account, claiming, sized(turn.Item{Claim: ask}, 2), func(verdict turn.Verdict, err error) {
		switch {
		case err != nil:
			d.log.Warn("an execution stays due", "execution", execution.ID.String(), "error", err)
		case verdict.Refusal != nil:
			d.moved(execution.Account, verdict.Refusal)
		default:
			one.Attempt = verdict.Attempt
			d.perform(execution.Account, premise, one, projection.Route, projection.Version, projection.Input)
		}
	})
}
