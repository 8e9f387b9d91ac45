package live

import (
	"context"
	"database/sql"

	"github.com/cockroachdb/errors"
)

// Texts reads the first column of every row as text. Its error is the database's own.
func Texts(ctx context.Context, db *sql.DB, query string, args ...any) ([]string, error) {
	var all []string
	err := Each(ctx, db, query, args, func(rows *sql.Rows) error {
		var s string
		if err := rows.Scan(&s); err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// Each runs a query and hands each row over. It ends at the first error, which is the database's own or the row's.
func Each(ctx context.Context, db *sql.DB, query string, args []any, row func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := row(rows); err != nil {
			return errors.CombineErrors(err, rows.Close())
		}
	}
	return errors.CombineErrors(rows.Err(), rows.Close())
}
