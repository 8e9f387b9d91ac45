package schema

import (
	"context"
	"database/sql"
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
