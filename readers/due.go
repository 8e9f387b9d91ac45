package readers

import (
	"context"
	"strings"

	"connectorcore/facts"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Due reads heads whose time has come by the database's clock, at most limit of them, those that are due first before the
// others. The lower bound is a hint that leaves out what ended long ago (R14); the zero instant leaves out nothing.
//
// REQUIRES: the table has an index on due_at.
func Due[K comparable, G any, S machines.State, E machines.EdgeOf[S]](ctx context.Context, r *Reader, rows schema.GuardRows[K, G, S, E], from facts.Instant, limit int) (heads []G, now facts.Instant, err error) {
	table := rows.Table
	if err := r.pool.QueryRowContext(ctx, "SELECT CURRENT_TIMESTAMP(6)").Scan(&now); err != nil {
		return nil, now, errors.Wrap(err, "readers: the database's time")
	}
	if from.IsZero() {
		from = now.AddDate(-100, 0, 0)
	}
	query := "SELECT " + strings.Join(table.ColumnNames(), ",") + " FROM " + table.Name + " WHERE due_at>=? AND due_at<=? ORDER BY due_at LIMIT ?"
	found, err := guards(ctx, r, rows, query, from, now, limit)
	for _, guard := range found {
		heads = append(heads, guard.Row)
	}
	return heads, now, err
}
