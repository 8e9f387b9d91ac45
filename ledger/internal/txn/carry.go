package txn

import (
	"database/sql/driver"
	"slices"

	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Carry changes what a held guard carries beside its key, and neither its state nor its fence: no edge is taken (R04).
func Carry[K comparable, G any, S machines.State, E machines.EdgeOf[S]](guards *Guards[K, G, S, E], row G) Write {
	return &carryWrite[K, G, S, E]{guards: guards, row: row}
}

type carryWrite[K comparable, G any, S machines.State, E machines.EdgeOf[S]] struct {
	guards *Guards[K, G, S, E]
	row    G
	set    []driver.Value
	where  []driver.Value
}

func (w *carryWrite[K, G, S, E]) check(tx *Tx) error {
	if w.guards.tx != tx {
		return errors.AssertionFailedf("transaction %q: changes a guard that another transaction holds", tx.kind)
	}
	k := w.guards.rows.KeyOf(&w.row)
	held, ok := w.guards.held[k]
	if !ok {
		return errors.AssertionFailedf("transaction %q: changes a guard of %s that it does not hold", tx.kind, w.guards.rows.Machine)
	}
	before, err := values(w.guards.rows.Fields(&held.Row))
	if err != nil {
		return err
	}
	after, err := values(w.guards.rows.Fields(&w.row))
	if err != nil {
		return err
	}
	if sameRow(before, after) {
		return errors.AssertionFailedf("transaction %q: changes nothing of a guard of %s", tx.kind, w.guards.rows.Machine)
	}
	keys := len(w.guards.rows.Table.Primary)
	w.set = after[keys:]
	w.where = append(slices.Clone(after[:keys]), int64(held.Fence))
	return nil
}

func (w *carryWrite[K, G, S, E]) run(tx *Tx) error {
	table := w.guards.rows.Table
	columns := table.ColumnNames()[len(table.Primary):]
	query := "UPDATE " + table.Name + " SET "
	for i := range w.set {
		if i > 0 {
			query += ", "
		}
		query += columns[i] + "=?"
	}
	query += " WHERE " + names(append(slices.Clone(table.Primary), schema.GuardTail[1])...) + " IN (" + tuples(1, len(table.Primary)+1) + ")"
	return tx.exec(query, flat([][]driver.Value{w.set, w.where}), 1)
}
