package txn

import (
	"database/sql"
	"slices"

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

// Len is how many of the keys had a guard.
func (g *Guards[K, G, S, E]) Len() int { return len(g.held) }

// Lock locks the guards with these keys, in the order of the keys, with one statement for each 256 of them, and
// returns those that exist. Under READ COMMITTED a missing row is not locked: that it is missing is certain only
// under a lock of lower rank that every writer of it takes.
//
// Fails with an assertion if the rank does not rise (R08).
func Lock[K comparable, G any, S machines.State, E machines.EdgeOf[S]](tx *Tx, rows schema.GuardRows[K, G, S, E], keys []K) (*Guards[K, G, S, E], error) {
	if err := tx.climb(rows.Table); err != nil {
		return nil, err
	}
	guards := &Guards[K, G, S, E]{tx: tx, rows: rows, held: make(map[K]Guard[G, S], len(keys)), moved: map[K]bool{}, whole: rows.Table != schema.Epochs.Table}
	bound := make([]key, 0, len(keys))
	for _, k := range keys {
		one, err := keyFrom(rows.Key(&k))
		if err != nil {
			return nil, tx.fail(errors.Wrapf(err, "a key of %s", rows.Table.Name))
		}
		bound = append(bound, one)
	}
	columns := rows.Table.ColumnNames() // the guard's own, then state and fence
	for chunk := range slices.Chunk(ordered(bound), maxRows) {
		query := selectByKey(rows.Table, columns, len(chunk)) + " FOR UPDATE"
		err := tx.query(query, flat(keyValues(chunk)), func(r *sql.Rows) error {
			var guard Guard[G, S]
			fence := uint64(0)
			if err := r.Scan(append(rows.Fields(&guard.Row), any(&guard.State), &fence)...); err != nil {
				return err
			}
			guard.Fence = facts.Fence(fence)
			guards.held[rows.KeyOf(&guard.Row)] = guard
			return nil
		})
		if err != nil {
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
