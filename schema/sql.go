package schema

import (
	"context"
	"database/sql"

	"github.com/cockroachdb/errors"
)

// Server error numbers that this room tells apart.
const (
	codeDatabaseDenied  = 1044
	codeAccessDenied    = 1045
	codeUnknownDatabase = 1049
	codeDuplicate       = 1062
	codeNoSuchGrant     = 1141
)

func execute(ctx context.Context, db *sql.DB, statement string, args ...any) error {
	_, err := db.ExecContext(ctx, statement, args...)
	return err
}

// column reads the first column of every row as text.
func column(ctx context.Context, db *sql.DB, query string, args ...any) ([]string, error) {
	var all []string
	err := each(ctx, db, query, args, func(rows *sql.Rows) error {
		var s string
		if err := rows.Scan(&s); err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// each runs a query and hands each row over.
func each(ctx context.Context, db *sql.DB, query string, args []any, row func(*sql.Rows) error) error {
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
