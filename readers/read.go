package readers

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"connectorcore/facts"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Reader reads over a pool that schema.Connect opened in schema.RoleReader. It is safe for concurrent use, and the pool
// stays the caller's.
type Reader struct{ pool *sql.DB }

// Open makes a Reader.
func Open(pool *sql.DB) *Reader { return &Reader{pool} }

// One reads one row by its exact key. The function sets the key's fields.
func One[R any](ctx context.Context, r *Reader, rows schema.Rows[R], set func(*R)) (row R, found bool, err error) {
	set(&row)
	table := rows.Table
	return first(ctx, r, rows, "", rows.Fields(&row)[:len(table.Primary)], table.Primary)
}

// Last reads the row with the greatest key of those below one exact parent. The function sets the parent's fields, which
// are the first parts of the key.
func Last[R any](ctx context.Context, r *Reader, rows schema.Rows[R], parts int, set func(*R)) (row R, found bool, err error) {
	set(&row)
	order := " ORDER BY " + strings.Join(rows.Table.Primary, " DESC,") + " DESC LIMIT 1"
	return first(ctx, r, rows, order, rows.Fields(&row)[:parts], rows.Table.Primary[:parts])
}

func first[R any](ctx context.Context, r *Reader, rows schema.Rows[R], order string, key []any, columns []string) (row R, found bool, err error) {
	err = each(ctx, r, rows, strings.Join(columns, "=? AND ")+"=?"+order, key, func(one R) { row, found = one, true })
	return row, found, err
}

// maxKeys bounds the keys of one statement.
const maxKeys = 256

// Many reads every row whose key begins with the first parts of the key of one of the parents, in the order of the key
// within each 256 parents.
func Many[R any](ctx context.Context, r *Reader, rows schema.Rows[R], parents []R, parts int) ([]R, error) {
	var all []R
	columns := rows.Table.Primary[:parts]
	for chunk := range slices.Chunk(parents, maxKeys) {
		var keys []any
		for i := range chunk {
			keys = append(keys, rows.Fields(&chunk[i])[:parts]...)
		}
		one := "(?" + strings.Repeat(",?", parts-1) + ")"
		where := "(" + strings.Join(columns, ",") + ") IN (" + one + strings.Repeat(","+one, len(chunk)-1) + ") ORDER BY " + strings.Join(rows.Table.Primary, ",")
		if err := each(ctx, r, rows, where, keys, func(row R) { all = append(all, row) }); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func each[R any](ctx context.Context, r *Reader, rows schema.Rows[R], where string, keys []any, take func(R)) error {
	table := rows.Table
	query := "SELECT " + strings.Join(table.ColumnNames(), ",") + " FROM " + table.Name + " WHERE " + where
	found, err := r.pool.QueryContext(ctx, query, keys...)
	if err != nil {
		return errors.Wrapf(err, "readers: %s", table.Name)
	}
	for found.Next() {
		var one R
		if err := found.Scan(rows.Fields(&one)...); err != nil {
			return errors.CombineErrors(errors.Wrapf(err, "readers: a row of %s", table.Name), found.Close())
		}
		take(one)
	}
	return errors.Wrapf(errors.CombineErrors(found.Err(), found.Close()), "readers: %s", table.Name)
}

// Guard is a guard row as it was read: where its subject stood then.
type Guard[G any, S machines.State] struct {
	Row   G
	State S
	Fence facts.Fence
}

// Standing reads one guard or head by its exact key. A head that is not there was ended, or its subject was never born.
func Standing[K comparable, G any, S machines.State, E machines.EdgeOf[S]](ctx context.Context, r *Reader, rows schema.GuardRows[K, G, S, E], key K) (guard Guard[G, S], found bool, err error) {
	table := rows.Table
	query := "SELECT " + strings.Join(table.ColumnNames(), ",") + " FROM " + table.Name + " WHERE " + strings.Join(table.Primary, "=? AND ") + "=?"
	all, err := guards(ctx, r, rows, query, rows.Key(&key)...)
	if err != nil || len(all) == 0 {
		return guard, false, err
	}
	return all[0], true, nil
}

// guards reads the guards that a query over all columns gives.
func guards[K comparable, G any, S machines.State, E machines.EdgeOf[S]](ctx context.Context, r *Reader, rows schema.GuardRows[K, G, S, E], query string, args ...any) ([]Guard[G, S], error) {
	found, err := r.pool.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, errors.Wrapf(err, "readers: %s", rows.Table.Name)
	}
	var all []Guard[G, S]
	for found.Next() {
		var guard Guard[G, S]
		fence := uint64(0)
		if err := found.Scan(append(rows.Fields(&guard.Row), any(&guard.State), &fence)...); err != nil {
			return nil, errors.CombineErrors(errors.Wrapf(err, "readers: a row of %s", rows.Table.Name), found.Close())
		}
		guard.Fence = facts.Fence(fence)
		all = append(all, guard)
	}
	return all, errors.Wrapf(errors.CombineErrors(found.Err(), found.Close()), "readers: %s", rows.Table.Name)
}
