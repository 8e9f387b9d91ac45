package drive

import (
	"context"
	"log/slog"
	"time"

	"connectorcore/engine/frozen"
	"connectorcore/engine/ingress"
	"connectorcore/engine/materialize"
	"connectorcore/engine/turns"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/turn"

	"github.com/cockroachdb/errors"
)

// What a delivery may bring to be materialized in the turn that admits it. A larger one is admitted alone, so that nobody
// waits for its children before the answer, and nothing that fits the door is too large for a turn.
const (
	inlineRows  = 200
	inlineBytes = 8 << 20
)

// Admit makes a delivery durable, with what follows from it where that is small. It implements ingress.Admitter.
func (d *Driver) Admit(ctx context.Context, delivery ingress.Delivery) (ingress.Admitted, error) {
	epoch, err := d.directory.Epoch(ctx, delivery.Premise.Epoch)
	if err != nil {
		return ingress.Admitted{}, err
	}
	channel, err := epoch.Channel(delivery.Account, delivery.Channel)
	if err != nil {
		return ingress.Admitted{}, err
	}
	header, err := inbound.EncodeHeader(delivery.Header)
	if err != nil {
		return ingress.Admitted{}, err
	}
	content := materialize.Content(epoch.Profile, channel, delivery.Header, delivery.Body)
	ask := &turn.Admission{Premise: delivery.Premise, Receipt: facts.Mint[facts.ReceiptID](), Channel: delivery.Channel,
		TransportKey: delivery.Key, Admitted: delivery.Content, Body: delivery.Body, Header: header,
		Credential: delivery.Credential, Member: delivery.Member, Content: content, Claim: d.claims()}
	size := contentSize(content, len(delivery.Body))
	if size.Rows > inlineRows || size.Bytes > inlineBytes {
		ask.Content, size = nil, contentSize(nil, len(delivery.Body))
	}
	verdict, err := d.admitted(ctx, delivery.Account, item{turn.Item{Admit: ask}, size}, delivery.Premise, content)
	switch {
	case err != nil:
		return ingress.Admitted{}, err
	case verdict.Refusal != nil:
		d.moved(delivery.Account, verdict.Refusal)
		return ingress.Admitted{}, verdict.Refusal
	}
	return ingress.Admitted{Receipt: verdict.Receipt, New: !verdict.Duplicate}, nil
}

// admitted waits for the verdict for as long as the caller does. What the turn brings is handed over in any case.
func (d *Driver) admitted(ctx context.Context, account facts.AccountID, ask item, premise inbound.Premise, content *turn.Content) (turn.Verdict, error) {
	type answer struct {
		verdict turn.Verdict
		err     error
	}
	answers := make(chan answer, 1)
	err := d.turns.Post(account, admitting, ask, func(verdict turn.Verdict, err error) {
		if err == nil {
			d.born(account, premise, verdict.Born)
			if verdict.Refusal == nil && !verdict.Duplicate && ask.Admit.Content == nil {
				d.later(account, pending{receipt: verdict.Receipt, premise: premise, content: content})
			}
		}
		answers <- answer{verdict, err}
	})
	if err != nil {
		return turn.Verdict{}, refused(err)
	}
	select {
	case a := <-answers:
		return a.verdict, refused(a.err)
	case <-ctx.Done():
		return turn.Verdict{}, facts.UnknownOutcome("admission", errors.Wrap(context.Cause(ctx), "the caller no longer waits"))
	}
}

// moved forgets what is known of an account whose gate or epoch is not what an item was prepared under (R11), and tells
// whether that is so.
func (d *Driver) moved(account facts.AccountID, refusal *facts.Refusal) bool {
	switch refusal.Code {
	case facts.StaleFence, facts.EpochMismatch, facts.NotServing, facts.EpochNotActive, facts.ShareMissing:
		d.directory.Forget(account)
		return true
	}
	return false
}

// standing is where an account stands, and the open epoch under which it serves.
type standing struct {
	premise inbound.Premise
	epoch   *frozen.Epoch
}

// pending is a Receipt whose children this process is to write.
type pending struct {
	receipt facts.ReceiptID
	premise inbound.Premise
	content *turn.Content
}

// later materializes a Receipt that this process has just admitted, in a turn of its own.
func (d *Driver) later(account facts.AccountID, p pending) {
	if !d.receipts.take(p.receipt) {
		return
	}
	if err := d.materialize(account, p); err != nil {
		d.receipts.drop(p.receipt)
		d.warn("a receipt waits for the sweep", err, slog.String("receipt", p.receipt.String()))
	}
}

// materialize posts the content of a Receipt that is in hand, and again while something was left for want of room.
func (d *Driver) materialize(account facts.AccountID, p pending) error {
	ask := &turn.Materialization{Premise: p.premise, Receipt: p.receipt, Content: *p.content, Claim: d.claims()}
	return d.turns.Post(account, materializing, item{turn.Item{Materialize: ask}, contentSize(p.content, 0)}, func(verdict turn.Verdict, err error) {
		if err == nil && verdict.Refusal == nil {
			d.pauses.well(account)
			d.born(account, p.premise, verdict.Born)
			if verdict.Pending && !p.content.Open {
				err = d.materialize(account, p)
				if err == nil {
					return
				}
			}
		}
		d.receipts.drop(p.receipt)
		about := slog.String("receipt", p.receipt.String())
		switch {
		case err != nil:
			d.warn("a receipt waits for the sweep", err, about)
		case verdict.Refusal == nil, verdict.Refusal.Code == facts.SubjectEnded: // another process was faster
		case d.moved(account, verdict.Refusal):
		default:
			d.pauses.later(p.receipt)
			d.warn("a receipt was not materialized", verdict.Refusal, about)
		}
	})
}

// Open gives a channel of an account under the epoch that serves. It implements ingress.Directory.
func (d *Driver) Open(ctx context.Context, account facts.AccountID, name facts.Channel) (ingress.Opening, error) {
	premise, epoch, err := d.directory.Account(ctx, account)
	if err != nil {
		return ingress.Opening{}, err
	}
	channel, err := epoch.Channel(account, name)
	if err != nil {
		return ingress.Opening{}, err
	}
	opening := ingress.Opening{Channel: channel.Definition, Premise: premise, Limits: epoch.Limits}
	if len(channel.Definition.Signatures) > 0 {
		c := channel.Credential
		opening.Credential = &ingress.Credential{Generation: c.ID, Backend: c.Backend, Version: c.Version}
	}
	return opening, nil
}

// busy is a turns.Busy in the words of refusals, with when to come again.
type busy struct {
	*facts.Refusal
	wait time.Duration
}

// RetryAfter is a guess of when there is room.
func (b busy) RetryAfter() time.Duration { return b.wait }

// Unwrap is the refusal.
func (b busy) Unwrap() error { return b.Refusal }

// refused turns what the queue says into a refusal. Whoever is told that the process ends finds the next one.
func refused(err error) error {
	var full *turns.Busy
	switch {
	case errors.As(err, &full):
		return busy{facts.Refuse(facts.AccountBusy, facts.OfAccount(full.Account), "%s", full.Kind), full.Wait}
	case errors.Is(err, turns.ErrClosed):
		return busy{facts.Refuse(facts.AccountBusy, facts.OfInput("delivery"), "this process is ending"), time.Second}
	}
	return err
}
