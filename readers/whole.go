package readers

import (
	"context"
	"strings"

	"connectorcore/machines"
	"connectorcore/schema"
)

// Whole reads every row of a table in the order of its key. It is for tables that grow by what people do, a row for each
// epoch or attempt, and not by what is processed.
func Whole[R any](ctx context.Context, r *Reader, rows schema.Rows[R]) ([]R, error) {
	var all []R
	err := each(ctx, r, rows, "1=1 ORDER BY "+strings.Join(rows.Table.Primary, ","), nil, func(row R) { all = append(all, row) })
	return all, err
}

// Standings reads every guard of a table in the order of its key, with where each subject stood then. It is for the guards
// of epochs, attempts and accounts.
func Standings[K comparable, G any, S machines.State, E machines.EdgeOf[S]](ctx context.Context, r *Reader, rows schema.GuardRows[K, G, S, E]) ([]Guard[G, S], error) {
	table := rows.Table
	query := "SELECT " + strings.Join(table.ColumnNames(), ",") + " FROM " + table.Name + " ORDER BY " + strings.Join(table.Primary, ",")
	return guards(ctx, r, rows, query)
}
