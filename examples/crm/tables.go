package main

import (
	"context"
	"database/sql"
	"log/slog"

	"connectorcore/engine/platform"
	"connectorcore/engine/serve"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// tables say where each command of the packs keeps what it is about.
var tables = map[string]string{
	"upsert_issue":        "issues",
	"upsert_pull_request": "issues",
	"upsert_comment":      "issues",
	"append_activity":     "activity",
	"append_change":       "activity",
	"set_property":        "contacts",
	"refresh_customer":    "contacts",
	"upsert_invoice":      "invoices",
}

// A record is what the source says of it, and what is the application's own. The log only grows, and nothing in it keeps
// a command from standing there twice: that it does not is for the daemon to see to.
var definitions = []string{
	"CREATE TABLE IF NOT EXISTS contacts (" + record + ")",
	"CREATE TABLE IF NOT EXISTS issues (" + record + ")",
	"CREATE TABLE IF NOT EXISTS invoices (" + record + ")",
	"CREATE TABLE IF NOT EXISTS activity (" + record + ")",
	"CREATE TABLE IF NOT EXISTS applied_log (command BINARY(16) NOT NULL, account BINARY(16) NOT NULL, definition VARBINARY(512) NOT NULL, " +
		"record VARBINARY(512) NOT NULL, input_digest BINARY(32) NOT NULL, revision BIGINT UNSIGNED NOT NULL)",
	"CREATE TABLE IF NOT EXISTS postponed (account BINARY(16) NOT NULL, record VARBINARY(512) NOT NULL, command BINARY(16) NOT NULL, " +
		"input MEDIUMBLOB NOT NULL, PRIMARY KEY (account, record) CLUSTERED)", // stays empty but for a planted defect
}

const record = "account BINARY(16) NOT NULL, record VARBINARY(512) NOT NULL, source MEDIUMBLOB NOT NULL, own MEDIUMBLOB NOT NULL, " +
	"revision BIGINT UNSIGNED NOT NULL, PRIMARY KEY (account, record) CLUSTERED"

// makeTables makes the application's database, lets the daemon write in it, and makes its tables.
func makeTables(ctx context.Context, store platform.Store, log *slog.Logger) (err error) {
	if store.MigrationDSN == "" {
		return errors.New("name the store by store.migration_dsn_file; `connector store serve` prints where that file is")
	}
	migration, err := serve.OpenMigration(ctx, store, log, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, migration.Close()) }()
	if err := migration.Application(ctx, database); err != nil {
		return err
	}
	config, err := mysql.ParseDSN(string(store.MigrationDSN))
	if err != nil {
		return errors.New("store.migration_dsn cannot be read as a DSN")
	}
	config.DBName = database
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return errors.Wrap(err, "the migration login")
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.CombineErrors(err, db.Close()) }()
	for _, definition := range definitions {
		if _, err := db.ExecContext(ctx, definition); err != nil {
			return errors.Wrap(err, "the application's tables")
		}
	}
	return nil
}
