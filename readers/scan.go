package readers

import (
	"context"
	"strings"

	"connectorcore/schema"
)

// Between gives the rows in which a column is at least from and below the bound, in the order of the primary key. No
// index stands behind it, so that it reads the whole table: it answers a person who asks what there is, and is on the
// way of no transaction.
func Between[R any](ctx context.Context, r *Reader, rows schema.Rows[R], column string, from, below any) ([]R, error) {
	var all []R
	where := column + ">=? AND " + column + "<? ORDER BY " + strings.Join(rows.Table.Primary, ",")
	err := each(ctx, r, rows, where, []any{from, below}, func(row R) { all = append(all, row) })
	return all, err
}
