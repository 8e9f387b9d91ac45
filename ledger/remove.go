package ledger

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var kindRemove = txn.NewKind("remove generations")

// Removal is what owners remove together: all of it or nothing.
type Removal struct {
	Scope       serving.Scope
	Generations []GenerationName
	// Premises are lines that must stand where the caller looked for what still needs the generations.
	Premises []Line
}

// RemoveGenerations ends the reading of owners' generations: from then on their owners answer that they are absent. Their
// bytes stay, because no role at run time can delete a fact. What was removed before is as good as removed.
//
// A generation is not removed while an epoch that is neither rejected nor retired references it, or while it is the
// current one of its line.
//
// Locks:   owner barriers, epochs.
// Refuses: SubjectMissing, PublicationBarred, WrongState (a line has moved), GenerationReferenced. Nothing is written then.
// Unknown: remove the same again.
//
// INVARIANT: whoever prepares an epoch writes its references under the same barriers' locks, so a reference is either
// seen here or its epoch finds the generation absent.
func (l *Ledger) RemoveGenerations(ctx context.Context, r Removal) error {
	if len(r.Generations) == 0 || len(r.Generations) > txn.MaxItems {
		return errors.AssertionFailedf("a removal of %d generations, want 1 to %d", len(r.Generations), txn.MaxItems)
	}
	digests := make([]serving.GenerationDigest, len(r.Generations))
	for i, name := range r.Generations {
		digest, err := name.digest(r.Scope)
		if err != nil {
			return err
		}
		digests[i] = digest
	}
	_, err := txn.Run(ctx, l.db, kindRemove, func(tx *txn.Tx) (struct{}, error) {
		owners, err := lockOwners(tx, r.Scope)
		if err != nil {
			return struct{}{}, err
		}
		for _, g := range r.Generations {
			if refusal := owners.barred(g.Owner); refusal != nil {
				return struct{}{}, refusal
			}
		}
		rows, err := r.endings(tx, digests)
		if err != nil || len(rows) == 0 {
			return struct{}{}, err
		}
		if err := r.unused(tx, owners, digests); err != nil {
			return struct{}{}, err
		}
		loaded, err := txn.Load(tx, schema.OwnerStandings, rows)
		if err != nil {
			return struct{}{}, err
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return struct{}{}, tx.Apply(txn.Append(loaded))
	})
	return err
}

// endings are the rows that end the reading of what can still be read.
func (r Removal) endings(tx *txn.Tx, digests []serving.GenerationDigest) ([]serving.Standing, error) {
	last, err := standings(tx, digests)
	if err != nil {
		return nil, err
	}
	var rows []serving.Standing
	for i, digest := range digests {
		standing, known := last[digest]
		if !known {
			return nil, facts.Refuse(facts.SubjectMissing, r.Generations[i].subject(digest), "its owner never had it")
		}
		if standing.Present {
			rows = append(rows, serving.Standing{Generation: digest, Seq: standing.Seq + 1})
		}
	}
	return rows, nil
}

// unused refuses a removal while anything references one of its generations.
func (r Removal) unused(tx *txn.Tx, owners *lockedOwners, digests []serving.GenerationDigest) error {
	if err := premises(tx, owners, r.Premises); err != nil {
		return err
	}
	if err := r.unselected(tx, digests); err != nil {
		return err
	}
	parents := make([]serving.Reference, len(digests))
	names := map[serving.GenerationDigest]GenerationName{}
	for i, digest := range digests {
		parents[i].Generation, names[digest] = digest, r.Generations[i]
	}
	references, err := txn.Children(tx, schema.OwnerReferences, parents, 1)
	if err != nil || len(references) == 0 {
		return err
	}
	var ids []facts.EpochID
	for _, ref := range references {
		ids = append(ids, ref.Epoch)
	}
	epochs, err := txn.Lock(tx, schema.Epochs, ids)
	if err != nil {
		return err
	}
	for _, ref := range references {
		// An epoch that is not found is one that may still come: nothing is removed on a guess.
		guard, known := epochs.Find(ref.Epoch)
		if !known || guard.State != machines.ServingEpochRejected && guard.State != machines.ServingEpochRetired {
			return facts.Refuse(facts.GenerationReferenced, names[ref.Generation].subject(ref.Generation), "epoch %s, in %s, references it", ref.Epoch, guard.State)
		}
	}
	return nil
}

// unselected refuses to remove what is current in its line.
func (r Removal) unselected(tx *txn.Tx, digests []serving.GenerationDigest) error {
	parents := make([]serving.Generation, len(digests))
	names := map[serving.GenerationDigest]GenerationName{}
	for i, digest := range digests {
		parents[i].ID, names[digest] = digest, r.Generations[i]
	}
	generations, err := txn.Children(tx, schema.OwnerGenerations, parents, 1)
	if err != nil {
		return err
	}
	checked := map[serving.SelectorDigest]serving.Selection{}
	for _, g := range generations {
		last, known := checked[g.Selector]
		if !known {
			if last, err = selected(tx, g.Selector); err != nil {
				return err
			}
			checked[g.Selector] = last
		}
		if last.Generation == g.ID {
			return facts.Refuse(facts.GenerationReferenced, names[g.ID].subject(g.ID), "it is the current one of its line")
		}
	}
	return nil
}
