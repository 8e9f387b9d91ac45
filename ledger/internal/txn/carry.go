package txn

import (
	"database/sql/driver"
	"slices"

	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Carry changes what held guards carry beside their keys, and neither their states nor their fences: no edge is taken
// (R04). Guards that get the same are written together.
func Carry[K comparable, G any, S machines.State, E machines.EdgeOf[S]](guards *Guards[K, G, S, E], rows ...G) Write {
	return &carryWrite[K, G, S, E]{guards: guards, rows: rows}
}

type carryWrite[K comparable, G any, S machines.State, E machines.EdgeOf[S]] struct {
	guards  *Guards[K, G, S, E]
	rows    []G
	carried []carried
}

// carried is one guard's part of a Carry.
type carried struct{ set, where []driver.Value }

func (w *carryWrite[K, G, S, E]) check(tx *Tx) error {
	if w.guards.tx != tx {
		return errors.AssertionFailedf("transaction %q: changes a guard that another transaction holds", tx.kind)
	}
	for _, row := range w.rows {
		k := w.guards.rows.KeyOf(&row)
		held, ok := w.guards.held[k]
		switch {
		case !ok:
			return errors.AssertionFailedf("transaction %q: changes a guard of %s that it does not hold", tx.kind, w.guards.rows.Machine)
		case w.guards.moved[k]:
			return errors.AssertionFailedf("transaction %q: changes one %s twice", tx.kind, w.guards.rows.Machine)
		}
		w.guards.moved[k] = true
		before, err := values(w.guards.rows.Fields(&held.Row))
		if err != nil {
			return err
		}
		after, err := values(w.guards.rows.Fields(&row))
		if err != nil {
			return err
		}
		if sameRow(before, after) {
			return errors.AssertionFailedf("transaction %q: changes nothing of a guard of %s", tx.kind, w.guards.rows.Machine)
		}
		keys := len(w.guards.rows.Table.Primary)
		w.carried = append(w.carried, carried{after[keys:], append(slices.Clone(after[:keys]), int64(held.Fence))})
	}
	return nil
}

func (w *carryWrite[K, G, S, E]) run(tx *Tx) error {
	for rest := w.carried; len(rest) > 0; {
		first := rest[0]
		alike, others := split(rest, func(c carried) bool { return sameRow(first.set, c.set) })
		rest = others
		for chunk := range slices.Chunk(alike, maxRows) {
			if err := w.together(tx, first.set, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *carryWrite[K, G, S, E]) together(tx *Tx, set []driver.Value, chunk []carried) error {
	table := w.guards.rows.Table
	columns := table.ColumnNames()[len(table.Primary):]
	query := "UPDATE " + table.Name + " SET "
	for i := range set {
		if i > 0 {
			query += ", "
		}
		query += columns[i] + "=?"
	}
	var where [][]driver.Value
	for _, c := range chunk {
		where = append(where, c.where)
	}
	query += " WHERE " + names(append(slices.Clone(table.Primary), schema.GuardTail[1])...) + " IN (" + tuples(len(chunk), len(table.Primary)+1) + ")"
	return tx.exec(query, append(flat([][]driver.Value{set}), flat(where)...), len(chunk))
}
