package txn

import (
	"bytes"
	"database/sql"
	"slices"
	"strings"

	"connectorcore/facts"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// readable refuses a read that could decide nothing: before any lock, or after the writes.
func (tx *Tx) readable(table *schema.Table) error {
	if err := tx.open("a read of " + table.Name); err != nil {
		return err
	}
	if tx.phase == locking {
		return tx.fail(errors.AssertionFailedf("transaction %q: reads %s before any lock", tx.kind, table.Name))
	}
	return nil
}

// ReadOne reads one fact by its exact key, under a lock. The function sets the key's fields.
func ReadOne[R any](tx *Tx, rows schema.Rows[R], set func(*R)) (row R, found bool, err error) {
	set(&row)
	all, err := Children(tx, rows, []R{row}, len(rows.Table.Primary))
	if err != nil || len(all) == 0 {
		return row, false, err
	}
	return all[0], true, nil
}

// Children reads, under a lock, every fact whose primary key begins with the first parts of the key of one of the
// parents, in the order of the key, with one statement for each 256 parents.
func Children[R any](tx *Tx, rows schema.Rows[R], parents []R, parts int) ([]R, error) {
	table := rows.Table
	if err := tx.readable(table); err != nil {
		return nil, err
	}
	keys := make([]key, 0, len(parents))
	for _, parent := range parents {
		k, err := keyFrom(rows.Fields(&parent)[:parts])
		if err != nil {
			return nil, tx.fail(errors.Wrapf(err, "a key of %s", table.Name))
		}
		keys = append(keys, k)
	}
	var all []R
	for chunk := range slices.Chunk(ordered(keys), maxRows) {
		query := "SELECT " + strings.Join(table.ColumnNames(), ",") + " FROM " + table.Name + " WHERE " +
			names(table.Primary[:parts]...) + " IN (" + tuples(len(chunk), parts) + ") ORDER BY " + strings.Join(table.Primary, ",")
		err := tx.query(query, flat(keyValues(chunk)), func(r *sql.Rows) error {
			var row R
			if err := r.Scan(rows.Fields(&row)...); err != nil {
				return err
			}
			all = append(all, row)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Taken tells whether the transition of a guard's subject that consumed a fence was this very edge with this very
// evidence. It is how a rerun, or a request that comes twice, finds that it was done before.
func Taken[K comparable, G any, S machines.State, E machines.EdgeOf[S]](tx *Tx, rows schema.GuardRows[K, G, S, E], k K, fence facts.Fence, edge E, evidence facts.Evidence) (bool, error) {
	if err := tx.readable(rows.Ledger); err != nil {
		return false, err
	}
	bound, err := values([]any{rows.Subject(k), uint64(fence)})
	if err != nil {
		return false, tx.fail(errors.Wrapf(err, "a key of %s", rows.Ledger.Name))
	}
	same := false
	query := "SELECT edge,evidence FROM " + rows.Ledger.Name + " WHERE subject_id=? AND seq=?"
	err = tx.query(query, []any{bound[0], bound[1]}, func(r *sql.Rows) error {
		var took, shown []byte
		err := r.Scan(&took, &shown)
		same = string(took) == edge.String() && bytes.Equal(shown, evidence.Bytes())
		return err
	})
	return same, err
}

// Last reads, under a lock, the fact with the greatest key of those that Children would read below one parent. Its cost
// does not depend on how many there are.
func Last[R any](tx *Tx, rows schema.Rows[R], parent R, parts int) (row R, found bool, err error) {
	table := rows.Table
	if err := tx.readable(table); err != nil {
		return row, false, err
	}
	k, err := keyFrom(rows.Fields(&parent)[:parts])
	if err != nil {
		return row, false, tx.fail(errors.Wrapf(err, "a key of %s", table.Name))
	}
	query := "SELECT " + strings.Join(table.ColumnNames(), ",") + " FROM " + table.Name + " WHERE " + names(table.Primary[:parts]...) +
		" IN (" + tuples(1, parts) + ") ORDER BY " + strings.Join(table.Primary, " DESC,") + " DESC LIMIT 1"
	err = tx.query(query, flat(keyValues([]key{k})), func(r *sql.Rows) error {
		found = true
		return r.Scan(rows.Fields(&row)...)
	})
	return row, found, err
}

// Transition is the last row of a subject's ledger.
type Transition struct {
	Seq      uint64
	Edge     string
	Evidence []byte
}

// Ended reads, under a lock, the last transition of each of these subjects; one that never moved has none. It is for
// subjects whose head is gone, whose histories are whole and short.
func Ended[K comparable, G any, S machines.State, E machines.EdgeOf[S]](tx *Tx, rows schema.GuardRows[K, G, S, E], subjects []K) (map[K]Transition, error) {
	if err := tx.readable(rows.Ledger); err != nil {
		return nil, err
	}
	last := map[K]Transition{}
	of := map[facts.SubjectID]K{}
	var keys []key
	for _, k := range subjects {
		subject := rows.Subject(k)
		one, err := keyFrom([]any{subject})
		if err != nil {
			return nil, tx.fail(errors.Wrapf(err, "a key of %s", rows.Ledger.Name))
		}
		of[subject], keys = k, append(keys, one)
	}
	for chunk := range slices.Chunk(ordered(keys), maxRows) {
		query := "SELECT subject_id,seq,edge,evidence FROM " + rows.Ledger.Name + " WHERE subject_id IN (" + tuples(len(chunk), 1) + ") ORDER BY subject_id,seq"
		err := tx.query(query, flat(keyValues(chunk)), func(r *sql.Rows) error {
			var subject facts.SubjectID
			var one Transition
			err := r.Scan(&subject, &one.Seq, &one.Edge, &one.Evidence)
			last[of[subject]] = one
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

// Standing reads, under a lock of another row, where guards stand now. It locks none of them: unless every writer of theirs
// takes the lock that is held, what it returns may have changed when this transaction commits, so that it refuses what is
// plainly over and permits nothing.
func Standing[K comparable, G any, S machines.State, E machines.EdgeOf[S]](tx *Tx, rows schema.GuardRows[K, G, S, E], keys []K) (map[K]Guard[G, S], error) {
	if err := tx.readable(rows.Table); err != nil {
		return nil, err
	}
	var bound []key
	for _, k := range keys {
		one, err := keyFrom(rows.Key(&k))
		if err != nil {
			return nil, tx.fail(errors.Wrapf(err, "a key of %s", rows.Table.Name))
		}
		bound = append(bound, one)
	}
	stands := map[K]Guard[G, S]{}
	for chunk := range slices.Chunk(ordered(bound), maxRows) {
		err := tx.query(selectByKey(rows.Table, rows.Table.ColumnNames(), len(chunk)), flat(keyValues(chunk)), func(r *sql.Rows) error {
			guard, err := scanGuard(r, rows)
			stands[rows.KeyOf(&guard.Row)] = guard
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return stands, nil
}

// Any tells, under a lock, whether an account has a guard of this table. The first part of the guard's key is the account.
func Any[K comparable, G any, S machines.State, E machines.EdgeOf[S]](tx *Tx, rows schema.GuardRows[K, G, S, E], account facts.AccountID) (there bool, err error) {
	if err := tx.readable(rows.Table); err != nil {
		return false, err
	}
	query := "SELECT 1 FROM " + rows.Table.Name + " WHERE " + rows.Table.Primary[0] + "=? LIMIT 1"
	err = tx.query(query, []any{account}, func(r *sql.Rows) error {
		there = true
		return r.Scan(new(int))
	})
	return there, err
}
