package frozen

import (
	"context"
	"sync"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/machines"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Directory knows where accounts stand, and opens the epochs under which they serve. It is safe for concurrent use.
//
// What it remembers of an account may be old: every item carries it as its premise, and the transaction that finds
// another one refuses the item. Then the caller forgets the account and asks again (R11).
type Directory struct {
	reader *readers.Reader
	owners owners.Set

	mutex    sync.Mutex
	standing map[facts.AccountID]inbound.Premise
	epochs   map[facts.EpochID]*opening
}

// opening is an epoch that is open, or on its way to be.
type opening struct {
	done  chan struct{}
	epoch *Epoch
	err   error
}

// NewDirectory makes a Directory.
func NewDirectory(r *readers.Reader, set owners.Set) *Directory {
	return &Directory{reader: r, owners: set, standing: map[facts.AccountID]inbound.Premise{}, epochs: map[facts.EpochID]*opening{}}
}

// Account is where an account stands, and the epoch under which it serves.
//
// Refuses: SubjectMissing (it has no gate), NotServing, and what Open refuses.
func (d *Directory) Account(ctx context.Context, id facts.AccountID) (inbound.Premise, *Epoch, error) {
	d.mutex.Lock()
	premise, known := d.standing[id]
	d.mutex.Unlock()
	if !known {
		gate, born, err := readers.Standing(ctx, d.reader, schema.Gates, id)
		switch {
		case err != nil:
			return premise, nil, errors.Wrap(err, "frozen: the account's gate")
		case !born:
			return premise, nil, facts.Refuse(facts.SubjectMissing, facts.OfAccount(id), "the account has no gate")
		case gate.State != machines.AccountServingGateV2Serving:
			return premise, nil, facts.Refuse(facts.NotServing, facts.OfAccount(id), "its gate is in %s", gate.State)
		}
		premise = inbound.Premise{Fence: gate.Fence, Epoch: gate.Row.Epoch}
		d.mutex.Lock()
		d.standing[id] = premise
		d.mutex.Unlock()
	}
	epoch, err := d.Epoch(ctx, premise.Epoch)
	return premise, epoch, err
}

// Forget makes the next question about an account ask the database.
func (d *Directory) Forget(id facts.AccountID) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.standing, id)
}

// Epoch is an open epoch, whether it serves or not: work keeps the one that admitted it. Those who ask for one that is
// being opened wait for it; what could not be opened is tried again by who asks next.
func (d *Directory) Epoch(ctx context.Context, ref facts.EpochRef) (*Epoch, error) {
	d.mutex.Lock()
	one, known := d.epochs[ref.ID]
	if !known {
		one = &opening{done: make(chan struct{})}
		d.epochs[ref.ID] = one
		go d.open(context.WithoutCancel(ctx), ref, one)
	}
	d.mutex.Unlock()
	select {
	case <-one.done:
	case <-ctx.Done():
		return nil, errors.Wrap(ctx.Err(), "frozen: waiting for an epoch to be opened")
	}
	if one.err == nil && one.epoch.Ref != ref {
		return nil, facts.Refuse(facts.EpochMismatch, facts.OfEpoch(ref.ID), "it has digest %s, and %s was named", one.epoch.Ref.Digest, ref.Digest)
	}
	return one.epoch, one.err
}

func (d *Directory) open(ctx context.Context, ref facts.EpochRef, one *opening) {
	one.epoch, one.err = Open(ctx, d.reader, d.owners, ref)
	if one.err != nil {
		d.mutex.Lock()
		delete(d.epochs, ref.ID)
		d.mutex.Unlock()
	}
	close(one.done)
}
