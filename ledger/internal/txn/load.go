package txn

import (
	"database/sql"
	"database/sql/driver"
	"slices"

	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Match is how a fact that a transaction brings compares with the one that stands under the same exact key.
type Match uint8

const (
	// Missing means that no such fact exists: this transaction may write it.
	Missing Match = iota + 1
	// Equal means that the very same fact exists, byte for byte: a retry. It is not born again (R02).
	Equal
	// Different means that other content stands under the key: a conflict, which is never resolved by writing.
	Different
)

// Loaded are facts that a transaction brings, each compared with what is stored (R09). Only Load makes them, and
// only what was loaded can be written.
type Loaded[R any] struct {
	tx     *Tx
	rows   schema.Rows[R]
	brings []R
	match  []Match
	values [][]driver.Value
}

// Match is the verdict for the i-th fact brought.
func (l *Loaded[R]) Match(i int) Match { return l.match[i] }

// Load reads the facts with the exact keys of those brought, with one statement for each 256 keys, and compares every
// column. Of two facts with one key in one batch the first counts and the second is compared with it.
//
// It needs a lock to stand under: a fact that is missing before the lock may be there after it.
func Load[R any](tx *Tx, rows schema.Rows[R], brings []R) (*Loaded[R], error) {
	if err := tx.open("a load of " + rows.Table.Name); err != nil {
		return nil, err
	}
	if tx.phase == locking {
		return nil, tx.fail(errors.AssertionFailedf("transaction %q: loads %s before any lock, so that nothing can be decided by it", tx.kind, rows.Table.Name))
	}
	l := &Loaded[R]{tx: tx, rows: rows, brings: brings, match: make([]Match, len(brings)), values: make([][]driver.Value, len(brings))}
	keys := make([]key, len(brings))
	for i := range brings {
		fields := rows.Fields(&brings[i])
		bound, err := values(fields)
		if err != nil {
			return nil, tx.fail(errors.Wrapf(err, "a row of %s", rows.Table.Name))
		}
		if keys[i], err = keyFrom(fields[:len(rows.Table.Primary)]); err != nil {
			return nil, tx.fail(errors.Wrapf(err, "a key of %s", rows.Table.Name))
		}
		l.values[i] = bound
	}
	stored, err := l.read(ordered(keys))
	if err != nil {
		return nil, err
	}
	l.compare(keys, stored)
	return l, nil
}

// Fresh are facts that cannot exist, because they hang on a parent that this very transaction bears: nothing is read. Two
// of them with one key are an assertion, and one that is there after all is a lost race (R09).
//
// REQUIRES: whoever writes such a fact writes its parent in the same transaction.
func Fresh[R any](tx *Tx, rows schema.Rows[R], brings []R) (*Loaded[R], error) {
	if err := tx.readable(rows.Table); err != nil {
		return nil, err
	}
	l := &Loaded[R]{tx: tx, rows: rows, brings: brings, match: make([]Match, len(brings)), values: make([][]driver.Value, len(brings))}
	seen := make(map[string]bool, len(brings))
	for i := range brings {
		fields := rows.Fields(&brings[i])
		bound, err := values(fields)
		if err != nil {
			return nil, tx.fail(errors.Wrapf(err, "a row of %s", rows.Table.Name))
		}
		k, err := keyFrom(fields[:len(rows.Table.Primary)])
		if err != nil {
			return nil, tx.fail(errors.Wrapf(err, "a key of %s", rows.Table.Name))
		}
		if seen[k.sort] {
			return nil, tx.fail(errors.AssertionFailedf("transaction %q: bears a row of %s twice", tx.kind, rows.Table.Name))
		}
		seen[k.sort], l.match[i], l.values[i] = true, Missing, bound
	}
	return l, nil
}

// read returns the stored rows by key.
func (l *Loaded[R]) read(keys []key) (map[string][]driver.Value, error) {
	table := l.rows.Table
	stored := make(map[string][]driver.Value, len(keys))
	for chunk := range slices.Chunk(keys, maxRows) {
		query := selectByKey(table, table.ColumnNames(), len(chunk))
		err := l.tx.query(query, flat(keyValues(chunk)), func(r *sql.Rows) error {
			var row R
			fields := l.rows.Fields(&row)
			if err := r.Scan(fields...); err != nil {
				return err
			}
			bound, err := values(fields)
			if err != nil {
				return err
			}
			k, err := keyFrom(fields[:len(table.Primary)])
			stored[k.sort] = bound
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return stored, nil
}

func (l *Loaded[R]) compare(keys []key, stored map[string][]driver.Value) {
	for i, k := range keys {
		existing, there := stored[k.sort]
		switch {
		case !there:
			l.match[i] = Missing
			stored[k.sort] = l.values[i]
		case sameRow(existing, l.values[i]):
			l.match[i] = Equal
		default:
			l.match[i] = Different
		}
	}
}

// missing are the indexes of the facts to write.
func (l *Loaded[R]) missing() []int {
	var all []int
	for i, m := range l.match {
		if m == Missing {
			all = append(all, i)
		}
	}
	return all
}
