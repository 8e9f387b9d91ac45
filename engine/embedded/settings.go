package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// setting is a global variable that an embedded store must have.
type setting struct{ name, want, why string }

var settings = []setting{
	{"tidb_redact_log", "ON", "the server's log would hold values of rows"},
	{"tidb_txn_commit_batch_size", "1073741824", "a transaction of more keys than one batch is committed in pieces, and a killed server tears it"},
	{"tidb_enable_async_commit", "OFF", "this store does not keep snapshots apart under async commit, and updates get lost"},
	{"tidb_enable_1pc", "OFF", "this store does not keep snapshots apart under one-phase commit, and updates get lost"},
	{"tidb_enable_check_constraint", "ON", "CHECK constraints are read and not kept otherwise"},
	{"tidb_foreign_key_check_in_shared_lock", "OFF", "this store deletes the parent row under shared locks"},
}

// serverConfig is the part of @@tidb_config that we look at.
type serverConfig struct {
	Store      string `json:"store"`
	Path       string `json:"path"`
	SplitTable *bool  `json:"split-table"`
	Status     struct {
		Report *bool `json:"report-status"`
	} `json:"status"`
}

// Detect tells whether the server behind db keeps its data in a single-process store (true), or is a TiDB cluster on
// TiKV (false), whoever started it. An error means that it cannot be told, never that it is a cluster.
//
// It asks tidb_version(), whose last line names the store and which every account may call. Of the other places that
// name it, SHOW CONFIG and information_schema.cluster_info need the CONFIG and PROCESS privileges, SHOW CONFIG answers
// with no row at all on the embedded store, and cluster_info and tidb_servers_info present it as a "tikv" or not at all.
func Detect(ctx context.Context, db *sql.DB) (bool, error) {
	var text string
	if err := db.QueryRowContext(ctx, "SELECT tidb_version()").Scan(&text); err != nil {
		var answer *mysql.MySQLError
		if errors.As(err, &answer) && answer.Number == 1305 {
			return false, errors.New("embedded: the server is not TiDB (it has no tidb_version()); name a TiDB of at least v8.5.6")
		}
		return false, errors.Wrap(err, "embedded: cannot ask the server which store it has")
	}
	return parseStore(text)
}

// parseStore reads the line "Store: unistore" of tidb_version().
func parseStore(version string) (bool, error) {
	for line := range strings.Lines(version) {
		if name, found := strings.CutPrefix(strings.TrimSpace(line), "Store: "); found {
			switch name {
			case "unistore", "mocktikv":
				return true, nil
			case "tikv":
				return false, nil
			}
			return false, errors.Newf("embedded: the server has a store of the unknown kind %q; name a TiDB on TiKV, or the embedded one", name)
		}
	}
	return false, errors.New("embedded: tidb_version() of the server does not name its store, so it cannot be told whether it is safe; name a TiDB of at least v8.5.6")
}

// CheckSettings refuses a server with an embedded store unless it has every setting without which a kill tears or
// loses acknowledged transactions; all that differ are named in one error. Call it when Detect says true: on a cluster
// these settings are not asked for.
//
// Every account may read what it asks for (@@tidb_config, global variables, SHOW TABLE ... REGIONS). It looks at the
// regions of the tables that the account sees: those of the connection's database, or of all if it has none.
func CheckSettings(ctx context.Context, db *sql.DB) error {
	config, err := readConfig(ctx, db)
	if err != nil {
		return err
	}
	wrong, err := compare(ctx, db, config, false)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return errors.Newf("embedded: the TiDB with an embedded store must not be used with these settings: %s", strings.Join(wrong, "; "))
	}
	return nil
}

func readConfig(ctx context.Context, db *sql.DB) (serverConfig, error) {
	var text string
	if err := db.QueryRowContext(ctx, "SELECT @@tidb_config").Scan(&text); err != nil {
		return serverConfig{}, errors.Wrap(err, "embedded: cannot read the server's configuration")
	}
	var config serverConfig
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		return serverConfig{}, errors.Wrap(err, "embedded: @@tidb_config is not JSON")
	}
	if config.SplitTable == nil {
		return serverConfig{}, errors.New("embedded: @@tidb_config does not name split-table, so it cannot be told whether the store is safe")
	}
	return config, nil
}

// compare names every difference. splitTable is false but in the control of the tear proof.
func compare(ctx context.Context, db *sql.DB, config serverConfig, splitTable bool) ([]string, error) {
	var wrong []string
	if *config.SplitTable != splitTable {
		wrong = append(wrong, fmt.Sprintf("split-table is %t, want %t (with a region for each table a killed server tears transactions; it must be set before the first start of a new directory)",
			*config.SplitTable, splitTable))
	}
	if config.Path == "" || strings.Contains(config.Path, "tidb-unistore-temp") {
		wrong = append(wrong, fmt.Sprintf("path is %q, want a permanent directory (this one is deleted when the server ends)", config.Path))
	}
	variables, err := compareVariables(ctx, db)
	if err != nil {
		return nil, err
	}
	wrong = append(wrong, variables...)
	if splitTable {
		return wrong, nil
	}
	split, err := findSplit(ctx, db)
	if err != nil {
		return nil, err
	}
	if split != "" {
		wrong = append(wrong, split)
	}
	return wrong, nil
}

// compareVariables reads all global variables in one statement.
func compareVariables(ctx context.Context, db *sql.DB) ([]string, error) {
	asked, values, places := make([]string, len(settings)), make([]string, len(settings)), make([]any, len(settings))
	for i, s := range settings {
		asked[i], places[i] = "@@global."+s.name, &values[i]
	}
	if err := db.QueryRowContext(ctx, "SELECT "+strings.Join(asked, ", ")).Scan(places...); err != nil {
		return nil, errors.Wrap(err, "embedded: cannot read the settings back")
	}
	var wrong []string
	for i, s := range settings {
		if got := spell(values[i], s.want); got != s.want {
			wrong = append(wrong, fmt.Sprintf("%s is %s, want %s (%s; an administrator sets it by SET GLOBAL %s = %s)",
				s.name, got, s.want, s.why, s.name, s.want))
		}
	}
	return wrong, nil
}

// spell writes a switch as ON or OFF: a variable of that kind reads back as 1 or 0.
func spell(got, want string) string {
	if want != "ON" && want != "OFF" {
		return got
	}
	switch got {
	case "1":
		return "ON"
	case "0":
		return "OFF"
	}
	return got
}

// findSplit looks for a second region. All rows in one region is what makes a commit one write: split-table=false
// gives it, and an operator's SPLIT TABLE, or a first start with the default, has taken it away.
func findSplit(ctx context.Context, db *sql.DB) (string, error) {
	tables, err := tablesSeen(ctx, db)
	if err != nil {
		return "", err
	}
	first, firstTable := int64(0), ""
	for _, table := range tables {
		regions, err := regionsOf(ctx, db, table)
		if err != nil {
			return "", err
		}
		for _, region := range regions {
			if firstTable == "" {
				first, firstTable = region, table
			}
			if region != first {
				return fmt.Sprintf("table %s has region %d and table %s has region %d, want one region for all (a transaction over two is torn by a kill, and regions are never joined again; export the data and load them into a new directory)",
					firstTable, first, table, region), nil
			}
		}
	}
	return "", nil
}

func tablesSeen(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT table_schema, table_name FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND (DATABASE() IS NULL OR table_schema IN (DATABASE(), 'mysql')) ORDER BY table_schema, table_name`)
	if err != nil {
		return nil, errors.Wrap(err, "embedded: cannot list the tables")
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var schema, name string
		if err := rows.Scan(&schema, &name); err != nil {
			return nil, errors.Wrap(err, "embedded: cannot list the tables")
		}
		tables = append(tables, identifier(schema)+"."+identifier(name))
	}
	return tables, errors.Wrap(rows.Err(), "embedded: cannot list the tables")
}

// identifier quotes an identifier.
func identifier(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// regionsOf lists the ids of a table's regions. A table that was dropped since it was listed has none.
func regionsOf(ctx context.Context, db *sql.DB, table string) ([]int64, error) {
	rows, err := db.QueryContext(ctx, "SHOW TABLE "+table+" REGIONS")
	var answer *mysql.MySQLError
	if errors.As(err, &answer) && (answer.Number == 1146 || answer.Number == 1049) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Wrapf(err, "embedded: cannot read the regions of %s", table)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, errors.Wrapf(err, "embedded: cannot read the regions of %s", table)
	}
	// The id comes first; the number of the other columns changes from one release to the next.
	var id int64
	places := []any{&id}
	for range columns[1:] {
		places = append(places, new(sql.RawBytes))
	}
	var ids []int64
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return nil, errors.Wrapf(err, "embedded: cannot read the regions of %s", table)
		}
		ids = append(ids, id)
	}
	return ids, errors.Wrapf(rows.Err(), "embedded: cannot read the regions of %s", table)
}
