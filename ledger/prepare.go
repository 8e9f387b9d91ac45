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

var kindPrepare = txn.NewKind("prepare epoch")

// PrepareEpoch writes a candidate epoch with everything that it freezes: its rows, one share for each account, and a
// reference to each owner's generation, which from then on cannot be removed. The caller minted its id. Preparing the
// same again changes nothing and tells where the epoch stands now.
//
// Locks:   owner barriers, epoch.
// Refuses: GenerationMalformed, SubjectMissing (the scope, or a generation by its name), ContentDiffers (another candidate
// has this id). Nothing is written then.
// Unknown: prepare the same again.
//
// INVARIANT: a removal takes the same owner barriers first, so it is either over here, and its generation is missing, or
// it finds the references.
//
// Spec: Ownership boundaries (ServingEpoch); Identity rules ("complete profiled prepared candidate"); rule R07.
func (l *Ledger) PrepareEpoch(ctx context.Context, content EpochContent) (EpochStanding, error) {
	frozen, err := content.freeze()
	if err != nil {
		return EpochStanding{}, err
	}
	names, err := frozen.generations()
	if err != nil {
		return EpochStanding{}, err
	}
	return txn.Run(ctx, l.db, kindPrepare, func(tx *txn.Tx) (EpochStanding, error) {
		if _, err := lockOwners(tx, frozen.Candidate.Scope); err != nil {
			return EpochStanding{}, err
		}
		epochs, err := txn.Lock(tx, schema.Epochs, []facts.EpochID{frozen.fact.ID})
		if err != nil {
			return EpochStanding{}, err
		}
		fact, err := txn.Load(tx, schema.ServingEpochs, []facts.ServingEpoch{frozen.fact})
		if err != nil {
			return EpochStanding{}, err
		}
		guard, born := epochs.Find(frozen.fact.ID)
		switch {
		case fact.Match(0) == txn.Different:
			return EpochStanding{}, frozen.conflict(tx)
		case born != (fact.Match(0) == txn.Equal):
			return EpochStanding{}, errors.AssertionFailedf("epoch %s has a guard or a birth, and not both", frozen.fact.ID)
		case born:
			return EpochStanding{frozen.ref(), guard.State, guard.Fence}, nil
		}
		references, err := frozen.references(tx, names)
		if err != nil {
			return EpochStanding{}, err
		}
		writes, err := frozen.births(tx, fact, references)
		if err != nil {
			return EpochStanding{}, err
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return EpochStanding{frozen.ref(), machines.ServingEpochPrepared, 1}, tx.Apply(writes...)
	})
}

// conflict names the first thing in which the epoch that has the id differs from this one.
func (f frozenEpoch) conflict(tx *txn.Tx) error {
	prepared, _, err := txn.ReadOne(tx, schema.ServingEpochs, func(e *facts.ServingEpoch) { e.ID = f.fact.ID })
	if err != nil {
		return err
	}
	fault, err := f.fault(tx, prepared)
	if err != nil {
		return err
	}
	return facts.Refuse(facts.ContentDiffers, facts.OfEpoch(f.fact.ID), "%s", fault)
}

// references are the rows that keep the owners' generations, each of which must be there now.
//
// Refuses: SubjectMissing.
func (f frozenEpoch) references(tx *txn.Tx, names []GenerationName) ([]serving.Reference, error) {
	digests := make([]serving.GenerationDigest, len(names))
	rows := make([]serving.Reference, len(names))
	for i, name := range names {
		digest, err := name.digest(f.Candidate.Scope)
		if err != nil {
			return nil, err
		}
		digests[i], rows[i] = digest, serving.Reference{Generation: digest, Epoch: f.fact.ID}
	}
	last, err := standings(tx, digests)
	if err != nil {
		return nil, err
	}
	for i, digest := range digests {
		if !last[digest].Present {
			return nil, facts.Refuse(facts.SubjectMissing, names[i].subject(digest), "its owner does not have it, and epoch %s would freeze it", f.fact.ID)
		}
	}
	return rows, nil
}

// births loads everything that is written with the epoch; all of it is missing, because the epoch is.
func (f frozenEpoch) births(tx *txn.Tx, fact *txn.Loaded[facts.ServingEpoch], references []serving.Reference) ([]txn.Write, error) {
	writes := []txn.Write{txn.Born(fact, schema.Epochs, func(e facts.ServingEpoch) facts.EpochGuard { return facts.EpochGuard{Epoch: e.ID} })}
	var failed error
	failed = appended(tx, &writes, schema.EpochAttestations, []serving.EpochAttestation{f.rows.Attestation}, failed)
	failed = appended(tx, &writes, schema.EpochBindings, f.rows.Bindings, failed)
	failed = appended(tx, &writes, schema.EpochCredentials, f.rows.Credentials, failed)
	failed = appended(tx, &writes, schema.EpochShares, f.shares, failed)
	failed = appended(tx, &writes, schema.OwnerReferences, references, failed)
	return writes, failed
}

// appended adds an append of rows, none of which may be there, unless an earlier one failed.
func appended[R any](tx *txn.Tx, writes *[]txn.Write, rows schema.Rows[R], brings []R, failed error) error {
	if failed != nil {
		return failed
	}
	loaded, err := txn.Load(tx, rows, brings)
	if err != nil {
		return err
	}
	for i := range brings {
		if loaded.Match(i) != txn.Missing {
			return errors.AssertionFailedf("row %d of %s stands before its epoch, or twice in it", i, rows.Table.Name)
		}
	}
	*writes = append(*writes, txn.Append(loaded))
	return nil
}
