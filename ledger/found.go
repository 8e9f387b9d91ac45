package ledger

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger/internal/txn"
	"connectorcore/schema"
)

var kindFound = txn.NewKind("found deployment")

// FoundDeployment writes the one row that says what this installation is, and bears the publication barrier of each
// owner of its scope. Founding the same deployment again changes nothing.
//
// Locks:   owner barriers, which do not exist before the first time.
// Refuses: ConfigurationInvalid, ContentDiffers (another deployment stands there).
// Unknown: run again with the same deployment; its rows are found or written.
func (l *Ledger) FoundDeployment(ctx context.Context, deployment serving.Deployment) (serving.Scope, error) {
	author, err := serving.AuthorOf(facts.ProfileV2)
	if err != nil {
		return serving.Scope{}, err
	}
	if err := deployment.Check(); err != nil {
		return serving.Scope{}, err
	}
	founded := serving.Founded{Deployment: deployment, Scope: author.Scope(deployment)}
	var barriers []serving.Barrier
	var keys []facts.OwnerBarrierID
	for _, owner := range serving.Owners() {
		named := author.Barrier(founded.Scope, owner)
		barriers = append(barriers, serving.Barrier{ID: named.ID, Digest: named.Digest, Scope: founded.Scope, Owner: owner})
		keys = append(keys, named.ID)
	}
	return txn.Run(ctx, l.db, kindFound, func(tx *txn.Tx) (serving.Scope, error) {
		if _, err := txn.Lock(tx, schema.OwnerBarrierGuards, keys); err != nil {
			return serving.Scope{}, err
		}
		row, err := txn.Load(tx, schema.Deployments, []serving.Founded{founded})
		if err != nil {
			return serving.Scope{}, err
		}
		births, err := txn.Load(tx, schema.OwnerBarriers, barriers)
		if err != nil {
			return serving.Scope{}, err
		}
		if row.Match(0) == txn.Different {
			return serving.Scope{}, facts.Refuse(facts.ContentDiffers, facts.OfInput("deployment "+deployment.ID.String()),
				"this database was founded as another deployment, and nothing changes one")
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return founded.Scope, tx.Apply(
			txn.Append(row),
			txn.Born(births, schema.OwnerBarrierGuards, func(b serving.Barrier) serving.BarrierGuard { return serving.BarrierGuard{Barrier: b.ID} }),
		)
	})
}
