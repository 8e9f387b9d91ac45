package txn

import (
	"database/sql"
	"database/sql/driver"
	"strings"

	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Difference is the first place at which stored facts are not the ones that they are compared with.
type Difference struct {
	Table  string
	At     int    // the place in the order of the key, from 0
	Column string // empty if there is a row on one side only
	Stored bool   // of a row on one side only: it is the stored side
}

// Compare reads, under a lock, every fact whose primary key begins with the first parts of the parent's key, and
// compares each column of each with the facts brought, which stand in the order of their keys. A row too many or too few
// is a difference. It returns nil if there is none.
func Compare[R any](tx *Tx, rows schema.Rows[R], parent R, parts int, brings []R) (*Difference, error) {
	table := rows.Table
	if err := tx.readable(table); err != nil {
		return nil, err
	}
	k, err := keyFrom(rows.Fields(&parent)[:parts])
	if err != nil {
		return nil, tx.fail(errors.Wrapf(err, "a key of %s", table.Name))
	}
	var first *Difference
	at := 0
	query := "SELECT " + strings.Join(table.ColumnNames(), ",") + " FROM " + table.Name + " WHERE " +
		names(table.Primary[:parts]...) + " IN (" + tuples(1, parts) + ") ORDER BY " + strings.Join(table.Primary, ",")
	err = tx.query(query, flat(keyValues([]key{k})), func(r *sql.Rows) error {
		var row R
		if err := r.Scan(rows.Fields(&row)...); err != nil {
			return err
		}
		if first == nil && at >= len(brings) {
			first = &Difference{Table: table.Name, At: at, Stored: true}
		}
		if first == nil {
			column, err := firstColumn(rows, row, brings[at])
			if err != nil {
				return err
			}
			if column != "" {
				first = &Difference{Table: table.Name, At: at, Column: column}
			}
		}
		at++
		return nil
	})
	if err == nil && first == nil && at < len(brings) {
		first = &Difference{Table: table.Name, At: at}
	}
	return first, err
}

// firstColumn names the first column in which two rows differ, as they are bound; none is empty. A row brought that
// could not be stored at all, because a value is absent, differs in that column.
func firstColumn[R any](rows schema.Rows[R], stored, brought R) (string, error) {
	columns := rows.Table.ColumnNames()
	brings := rows.Fields(&brought)
	for i, at := range rows.Fields(&stored) {
		was, err := values([]any{at})
		if err != nil {
			return "", errors.Wrapf(err, "column %s of a stored row of %s", columns[i], rows.Table.Name)
		}
		is, err := values([]any{brings[i]})
		if err != nil || !sameRow(was, is) {
			return columns[i], nil
		}
	}
	return "", nil
}

// Whole reads, under a lock, every fact of a table in the order of its key. It is for transactions of the whole service.
func Whole[R any](tx *Tx, rows schema.Rows[R]) ([]R, error) {
	table := rows.Table
	if err := tx.readable(table); err != nil {
		return nil, err
	}
	var all []R
	query := "SELECT " + strings.Join(table.ColumnNames(), ",") + " FROM " + table.Name + " ORDER BY " + strings.Join(table.Primary, ",")
	err := tx.query(query, nil, func(r *sql.Rows) error {
		var row R
		if err := r.Scan(rows.Fields(&row)...); err != nil {
			return err
		}
		all = append(all, row)
		return nil
	})
	return all, err
}

// FindBy reads the row of the one guard with this value in a unique column. It locks nothing: what it returns stays true
// only under a lock of lower rank that every writer of the column takes.
func FindBy[G any](tx *Tx, table *schema.Table, fields func(*G) []any, column string, value driver.Valuer) (row G, found bool, err error) {
	if err := tx.readable(table); err != nil {
		return row, false, err
	}
	addresses := fields(&row)
	query := "SELECT " + strings.Join(table.ColumnNames()[:len(addresses)], ",") + " FROM " + table.Name + " WHERE " + column + "=?"
	err = tx.query(query, []any{value}, func(r *sql.Rows) error {
		found = true
		return r.Scan(addresses...)
	})
	return row, found, err
}
