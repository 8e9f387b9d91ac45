package txn

import (
	"database/sql"
	"iter"
	"maps"
	"slices"
	"strings"

	"connectorcore/facts"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Guard is one guard row as its lock returned it.
type Guard[G any, S machines.State] struct {
	Row   G
	State S
	Fence facts.Fence
}

// Guards are the guards of one machine that this transaction holds. Only Lock makes them, and a write that moves a
// guard takes them, so that nothing moves without its lock.
type Guards[K comparable, G any, S machines.State, E machines.EdgeOf[S]] struct {
	tx   *Tx
	rows schema.GuardRows[K, G, S, E]
	held map[K]Guard[G, S]
	// moved are the guards that a Move has taken: a second one would start from where the lock found them.
	moved map[K]bool
	// whole tells that what hangs on these guards is locked too: an epoch moves only with all its shares (R07).
	whole bool
}

// Find returns a held guard. A head that is not there was ended, or its subject was never born.
func (g *Guards[K, G, S, E]) Find(k K) (Guard[G, S], bool) {
	guard, ok := g.held[k]
	return guard, ok
}

// All are the held guards, in no order.
func (g *Guards[K, G, S, E]) All() iter.Seq[Guard[G, S]] { return maps.Values(g.held) }

// Len is how many of the keys had a guard.
func (g *Guards[K, G, S, E]) Len() int { return len(g.held) }

// Lock locks the guards with these keys, in the order of the keys, with one statement for each 256 of them, and
// returns those that exist. Under READ COMMITTED a missing row is not locked: that it is missing is certain only
// under a lock of lower rank that every writer of it takes.
//
// Fails with an assertion if the rank does not rise (R08).
func Lock[K comparable, G any, S machines.State, E machines.EdgeOf[S]](tx *Tx, rows schema.GuardRows[K, G, S, E], keys []K) (*Guards[K, G, S, E], error) {
	guards, err := none(tx, rows)
	if err != nil {
		return nil, err
	}
	bound := make([]key, 0, len(keys))
	for _, k := range keys {
		one, err := keyFrom(rows.Key(&k))
		if err != nil {
			return nil, tx.fail(errors.Wrapf(err, "a key of %s", rows.Table.Name))
		}
		bound = append(bound, one)
	}
	for chunk := range slices.Chunk(ordered(bound), maxRows) {
		if _, err := guards.lock(selectByKey(rows.Table, rows.Table.ColumnNames(), len(chunk)), flat(keyValues(chunk))); err != nil {
			return nil, err
		}
	}
	if tx.first == nil && len(guards.held) > 0 {
		tx.first = firstTouch(rows.Table, ordered(bound), guards)
		if _, doubted := tx.db.doubts.Load(tx.first.name); doubted {
			tx.settling = true
		}
	}
	return guards, nil
}

// none are no guards yet, of a table whose rank rises.
func none[K comparable, G any, S machines.State, E machines.EdgeOf[S]](tx *Tx, rows schema.GuardRows[K, G, S, E]) (*Guards[K, G, S, E], error) {
	if err := tx.climb(rows.Table); err != nil {
		return nil, err
	}
	return &Guards[K, G, S, E]{tx: tx, rows: rows, held: map[K]Guard[G, S]{}, moved: map[K]bool{}, whole: rows.Table != schema.Epochs.Table}, nil
}

// lock holds the guards that a SELECT gives, and tells which those are.
func (g *Guards[K, G, S, E]) lock(query string, args []any) (found []K, err error) {
	err = g.tx.query(query+" FOR UPDATE", args, func(r *sql.Rows) error {
		guard, err := scanGuard(r, g.rows)
		k := g.rows.KeyOf(&guard.Row)
		g.held[k], found = guard, append(found, k)
		return err
	})
	return found, err
}

func scanGuard[K comparable, G any, S machines.State, E machines.EdgeOf[S]](r *sql.Rows, rows schema.GuardRows[K, G, S, E]) (guard Guard[G, S], err error) {
	fence := uint64(0)
	err = r.Scan(append(rows.Fields(&guard.Row), any(&guard.State), &fence)...)
	guard.Fence = facts.Fence(fence)
	return guard, err
}

// Query finds guards by columns that are not their key: those in which the columns equal one of the tuples, at most Limit
// of them in the given order.
type Query struct {
	Columns []string
	Tuples  [][]any
	Order   string
	Limit   int
}

// Found is what a query found, in its order, and whether its limit may have cut off more.
type Found[K comparable] struct {
	Keys []K
	Cut  bool
}

// LockFound locks the guards that queries find, with one statement for each 256 tuples, and tells for each query what it
// found. That stays what is there only under a lock of lower rank that every writer of such guards takes.
//
// REQUIRES: an index stands behind the columns and the order of each query, and its tuples are in that order.
func LockFound[K comparable, G any, S machines.State, E machines.EdgeOf[S]](tx *Tx, rows schema.GuardRows[K, G, S, E], queries ...Query) (guards *Guards[K, G, S, E], found []Found[K], err error) {
	if guards, err = none(tx, rows); err != nil {
		return nil, nil, err
	}
	if tx.first == nil {
		return nil, nil, tx.fail(errors.AssertionFailedf("transaction %q: looks for %s under no lock", tx.kind, rows.Table.Name))
	}
	found = make([]Found[K], len(queries))
	for i, q := range queries {
		for chunk := range slices.Chunk(q.Tuples, maxRows) {
			left := q.Limit - len(found[i].Keys)
			if left == 0 {
				break
			}
			var args []any
			for _, tuple := range chunk {
				args = append(args, tuple...)
			}
			query := "SELECT " + strings.Join(rows.Table.ColumnNames(), ",") + " FROM " + rows.Table.Name + " WHERE " + names(q.Columns...) +
				" IN (" + tuples(len(chunk), len(q.Columns)) + ") ORDER BY " + q.Order + " LIMIT ?"
			keys, err := guards.lock(query, append(args, left))
			if err != nil {
				return nil, nil, err
			}
			found[i].Keys = append(found[i].Keys, keys...)
		}
		found[i].Cut = len(q.Tuples) > 0 && len(found[i].Keys) == q.Limit
	}
	return guards, found, nil
}

// firstTouch prepares the write that settles an unknown commit, on the first guard that exists.
func firstTouch[K comparable, G any, S machines.State, E machines.EdgeOf[S]](table *schema.Table, keys []key, guards *Guards[K, G, S, E]) *touch {
	there := map[string]bool{}
	for k := range guards.held {
		if bound, err := keyFrom(guards.rows.Key(&k)); err == nil {
			there[bound.sort] = true
		}
	}
	for _, k := range keys {
		if there[k.sort] {
			return &touch{
				name: table.Name + " " + k.sort,
				query: "UPDATE " + table.Name + " SET " + schema.ColumnTouched + "=" + schema.ColumnTouched + "+1 WHERE " +
					names(table.Primary...) + " IN (" + tuples(1, len(table.Primary)) + ")",
				args: flat(keyValues([]key{k})),
			}
		}
	}
	return nil
}
