package txn

import (
	"database/sql/driver"
	"slices"
	"strings"

	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Carry changes what held guards carry beside their keys, and neither their states nor their fences: no edge is taken
// (R04). It is one statement for each 256 of them, whatever each of them gets (R12).
func Carry[K comparable, G any, S machines.State, E machines.EdgeOf[S]](guards *Guards[K, G, S, E], rows ...G) Write {
	return &carryWrite[K, G, S, E]{guards: guards, rows: rows}
}

type carryWrite[K comparable, G any, S machines.State, E machines.EdgeOf[S]] struct {
	guards  *Guards[K, G, S, E]
	rows    []G
	carried []carried
}

// carried is one guard's part of a Carry: what it gets, and its key and fence.
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
	for chunk := range slices.Chunk(w.carried, maxRows) {
		if err := w.together(tx, chunk); err != nil {
			return err
		}
	}
	return nil
}

// together changes guards by one statement, each compared with the fence that its lock returned.
func (w *carryWrite[K, G, S, E]) together(tx *Tx, chunk []carried) error {
	table := w.guards.rows.Table
	set, bound := assignments(table, chunk)
	var where [][]driver.Value
	for _, c := range chunk {
		where = append(where, c.where)
	}
	query := "UPDATE " + table.Name + " SET " + set +
		" WHERE " + names(append(slices.Clone(table.Primary), schema.GuardTail[1])...) + " IN (" + tuples(len(chunk), len(table.Primary)+1) + ")"
	return tx.exec(query, append(bound, flat(where)...), len(chunk))
}

// assignments are what the columns beside the key are set to, for guards of which each may get its own.
func assignments(table *schema.Table, chunk []carried) (text string, args []any) {
	keys := len(table.Primary)
	var set []string
	for i := range chunk[0].set {
		one, bound := assigned(chunk, table.Primary, i)
		set, args = append(set, table.ColumnNames()[keys+i]+"="+one), append(args, bound...)
	}
	return strings.Join(set, ", "), args
}

// assigned is what a column is set to: a value that all get, or each one's own by its key.
func assigned(chunk []carried, primary []string, column int) (text string, args []any) {
	first := chunk[0].set[column : column+1]
	if !slices.ContainsFunc(chunk, func(c carried) bool { return !sameRow(first, c.set[column:column+1]) }) {
		return "?", []any{first[0]}
	}
	text = "CASE"
	for _, c := range chunk {
		text += " WHEN " + names(primary...) + "=" + tuples(1, len(primary)) + " THEN ?"
		args = append(args, append(flat([][]driver.Value{c.where[:len(primary)]}), c.set[column])...)
	}
	return text + " END", args
}
