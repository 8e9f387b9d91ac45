package schema_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// convergeEnv holds a DSN: then this process is one of several that converge it at once, and no test.
const convergeEnv = "SCHEMA_TEST_CONVERGE"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(convergeEnv); dsn != "" {
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent lets all go by closing it
		applied, err := schema.Converge(context.Background(), schema.DSN(dsn))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("applied", len(applied))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// emptyDatabase is a name with nothing behind it and the administrator's DSN for it.
func emptyDatabase(t testing.TB) (*world.DB, schema.DSN) {
	t.Helper()
	db := world.Database(t)
	run(t, db.Admin, "DROP DATABASE "+db.Name)
	return db, adminDSN(db)
}

func adminDSN(db *world.DB) schema.DSN {
	config := db.Login.Config()
	config.DBName = db.Name
	return schema.DSN(config.FormatDSN())
}

func run(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func steps(t testing.TB) []schema.Step {
	t.Helper()
	all, err := schema.Steps()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// migration is a pool of the migration role, counted.
func migration(t testing.TB, dsn schema.DSN) *sql.DB {
	t.Helper()
	connector, err := schema.Connector(dsn, schema.RoleMigration)
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(world.Counted(t, connector))
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// snapshot is everything that converge could change: the catalogue as text, the record of steps, and the roles.
func snapshot(t testing.TB, db *sql.DB, name string) string {
	t.Helper()
	var b strings.Builder
	for _, query := range []string{
		"SELECT CONCAT_WS('|', table_name, column_name, column_type, ordinal_position) FROM information_schema.columns WHERE table_schema = '" + name + "' ORDER BY 1",
		"SELECT CONCAT_WS('|', table_name, constraint_name, check_clause) FROM information_schema.tidb_check_constraints WHERE constraint_schema = '" + name + "' ORDER BY 1",
		"SELECT CONCAT_WS('|', user, db, table_name, table_priv) FROM mysql.tables_priv WHERE db = '" + name + "' ORDER BY 1",
		"SELECT user FROM mysql.user WHERE user LIKE '" + name + "%' ORDER BY 1",
		"SELECT CONCAT_WS('|', number, HEX(digest), applied_at) FROM `" + name + "`.schema_step ORDER BY number",
	} {
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			fmt.Fprintf(&b, "%v\n", err)
			continue
		}
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			b.WriteString(line + "\n")
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestConvergeFromNothingAndAgain(t *testing.T) {
	db, dsn := emptyDatabase(t)
	all := steps(t)
	if pending, err := schema.Pending(t.Context(), dsn); err != nil || len(pending) != len(all) {
		t.Fatalf("no database: %d steps pending, %v", len(pending), err)
	}
	if _, err := schema.Connect(t.Context(), dsn, schema.RoleMigration); !errors.Is(err, schema.ErrNoDatabase) || !strings.Contains(err.Error(), db.Name) {
		t.Errorf("no database: connect gave %v", err)
	}
	applied, err := schema.Converge(t.Context(), dsn)
	if err != nil || !slices.Equal(applied, all) {
		t.Fatalf("applied %d of %d steps: %v", len(applied), len(all), err)
	}
	before := snapshot(t, db.Admin, db.Name)
	applied, err = schema.Converge(t.Context(), dsn)
	if err != nil || len(applied) != 0 {
		t.Errorf("the second time it applied %d steps: %v", len(applied), err)
	}
	if after := snapshot(t, db.Admin, db.Name); after != before {
		t.Errorf("the second time changed\n%s\nto\n%s", before, after)
	}
	if pending, err := schema.Pending(t.Context(), dsn); err != nil || len(pending) != 0 {
		t.Errorf("converged: %d steps pending, %v", len(pending), err)
	}
	for _, s := range all {
		var digest, statement []byte
		row := db.Admin.QueryRow("SELECT digest, statement FROM "+db.Name+".schema_step WHERE number = ?", s.Number)
		if err := row.Scan(&digest, &statement); err != nil || string(digest) != digestOf(s) || string(statement) != s.Statement {
			t.Errorf("step %d is remembered as %x %q, %v", s.Number, digest, statement, err)
		}
	}
}

func TestProcessesConvergeOneDatabaseAtOnce(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{2, 4} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			db, dsn := emptyDatabase(t)
			gate, release, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer gate.Close()
			processes := make([]*exec.Cmd, count)
			output := make([]strings.Builder, count)
			for i := range processes {
				processes[i] = exec.CommandContext(t.Context(), binary)
				processes[i].Env = append(os.Environ(), convergeEnv+"="+string(dsn))
				processes[i].Stdin, processes[i].Stdout, processes[i].Stderr = gate, &output[i], &output[i]
				if err := processes[i].Start(); err != nil {
					t.Fatal(err)
				}
			}
			_ = release.Close()
			for i, process := range processes {
				if err := process.Wait(); err != nil {
					t.Errorf("process %d: %v: %s", i, err, &output[i])
				}
			}
			converged(t, db, dsn)
		})
	}
}

func TestGoroutinesConvergeOneDatabaseAtOnce(t *testing.T) {
	db, dsn := emptyDatabase(t)
	results := make(chan error)
	for range 4 {
		go func() {
			_, err := schema.Converge(t.Context(), dsn)
			results <- err
		}()
	}
	for range 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	converged(t, db, dsn)
}

// converged tells that a database is whole and that nothing is left to do.
func converged(t *testing.T, db *world.DB, dsn schema.DSN) {
	t.Helper()
	if err := schema.Verify(t.Context(), migration(t, dsn), schema.RoleMigration); err != nil {
		t.Errorf("%s: %v", db.Name, err)
	}
	if pending, err := schema.Pending(t.Context(), dsn); err != nil || len(pending) != 0 {
		t.Errorf("%s: %d steps pending, %v", db.Name, len(pending), err)
	}
}

// One process has run a step and not yet recorded it, or is about to run it, while another runs and records it: both
// orders end with one record. A process that has another statement under the number is refused.
func TestTheLoserOfAStepAcceptsTheSameStepOnly(t *testing.T) {
	db := world.Database(t)
	run(t, db.Admin, schema.Find("schema_step").Create())
	first, second := migration(t, adminDSN(db)), migration(t, adminDSN(db))
	all := steps(t)
	for i, pair := range [][2]*sql.DB{{first, second}, {second, first}} {
		s := all[i]
		run(t, pair[0], s.Statement)
		for _, pool := range []*sql.DB{pair[1], pair[0]} {
			if err := schema.Apply(t.Context(), pool, s); err != nil {
				t.Error(err)
			}
		}
	}
	var records int
	if err := db.Admin.QueryRow("SELECT COUNT(*) FROM schema_step").Scan(&records); err != nil || records != 2 {
		t.Errorf("%d records of 2 steps, %v", records, err)
	}
	other := all[0]
	other.Statement += " COMMENT 'otherwise'"
	if err := schema.Apply(t.Context(), second, other); err == nil || !strings.Contains(err.Error(), "step 1 was recorded by another process with another statement") {
		t.Errorf("another statement under a recorded number gave %v", err)
	}
}

// A process may die after any statement. Whatever the next one finds, it goes on from there: the step's statement
// may have run without its record, or with it, or the roles may be half made.
func TestConvergeGoesOnFromWhereverAnotherWasInterrupted(t *testing.T) {
	db := world.Database(t)
	dsn := adminDSN(db)
	all := steps(t)
	for k := range all {
		if k > 0 {
			run(t, db.Admin, all[k].Statement) // and died before the record
		}
		// The tables that are not there yet cannot be granted, and a table that a later step changes is not as declared:
		// converging the first steps alone ends in one or the other.
		applied, err := schema.ConvergeSteps(t.Context(), dsn, all[:k+1])
		if len(applied) != 1 || applied[0] != all[k] || err == nil && k+1 < len(all) {
			t.Fatalf("after %d steps it applied %v: %v", k, applied, err)
		}
		if err != nil && (k+1 == len(all) || !strings.Contains(err.Error(), "privileges of role") && !strings.Contains(err.Error(), "is not as declared")) {
			t.Fatalf("after %d steps: %v", k, err)
		}
	}
	converged(t, db, dsn)
	var granted, want int
	if err := db.Admin.QueryRow("SELECT COUNT(*) FROM mysql.tables_priv WHERE db = ?", db.Name).Scan(&granted); err != nil {
		t.Fatal(err)
	}
	for _, table := range schema.Tables() {
		for _, role := range schema.RuntimeRoles() {
			want += min(1, len(role.Privileges(table.Kind)))
		}
	}
	if granted != want {
		t.Errorf("%d grants, want %d", granted, want)
	}
	run(t, db.Admin, "DROP ROLE '"+schema.RoleLedger.Name(db.Name)+"'") // as if interrupted before this role
	if applied, err := schema.Converge(t.Context(), dsn); err != nil || len(applied) != 0 {
		t.Errorf("without a role: %d steps, %v", len(applied), err)
	}
	converged(t, db, dsn)
}

// What another server of the cluster granted or revoked is in the tables of privileges before this server has heard of
// it. A row that is written there by hand is just that.
func TestConvergeReadsPrivilegesThatThisServerHasNotHeardOf(t *testing.T) {
	db := world.Database(t)
	dsn := adminDSN(db)
	if _, err := schema.Converge(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	for _, role := range []schema.Role{schema.RoleLedger, schema.RoleReader} {
		gone := " FROM mysql.tables_priv WHERE user = '" + role.Name(db.Name) + "' AND table_name = 'remote_link'"
		run(t, db.Admin, "DELETE"+gone)
		if _, err := schema.Converge(t.Context(), dsn); err != nil {
			t.Errorf("%s: %v", role, err)
		}
		var granted int
		if err := db.Admin.QueryRow("SELECT COUNT(*)" + gone).Scan(&granted); err != nil || granted != 1 {
			t.Errorf("%s: %d rows, %v", role, granted, err)
		}
	}
}

func TestAnotherTableUnderADeclaredNameIsFound(t *testing.T) {
	db := world.Database(t)
	run(t, db.Admin, "CREATE TABLE remote_link (link_id binary(16) NOT NULL PRIMARY KEY CLUSTERED, account_id binary(16), note text)")
	_, err := schema.Converge(t.Context(), adminDSN(db))
	var difference *schema.DifferenceError
	if !errors.As(err, &difference) || difference.Database != db.Name {
		t.Fatalf("converge gave %v", err)
	}
	want := []string{
		"table remote_link: column account_id is (binary(16)), declared as (binary(16) NOT NULL)",
		"table remote_link: column remote_identity_digest is missing",
		"table remote_link: column owner_slot_digest is missing",
		"table remote_link: column born_at is missing",
		"table remote_link: column note is not declared",
	}
	if !slices.Equal(difference.Differences, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(difference.Differences, "\n"), strings.Join(want, "\n"))
	}
}

func TestADatabaseOfAnotherApplicationIsRefusedAndLeftAlone(t *testing.T) {
	db := world.Database(t)
	run(t, db.Admin, "CREATE TABLE tickets (a int)")
	_, err := schema.Converge(t.Context(), adminDSN(db))
	var difference *schema.DifferenceError
	if !errors.As(err, &difference) || !slices.Equal(difference.Differences, []string{"table tickets is not declared"}) {
		t.Errorf("converge gave %v", err)
	}
	var tables int
	if err := db.Admin.QueryRow("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()").Scan(&tables); err != nil || tables != 1 {
		t.Errorf("%d tables afterwards, %v", tables, err)
	}
}

func TestADatabaseOfAnotherBinaryIsRefusedAndLeftAlone(t *testing.T) {
	db := world.Database(t)
	dsn := adminDSN(db)
	all := steps(t)
	if _, err := schema.Converge(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	more := append(slices.Clone(all), schema.Step{Number: uint64(len(all) + 1), Name: "a next one", Statement: "CREATE TABLE IF NOT EXISTS next_one (a int)"})
	changed := slices.Clone(more)
	changed[4].Statement += " COMMENT 'changed'"
	last := all[len(all)-1]
	cases := []struct {
		name          string
		steps         []schema.Step
		damage, cure  string
		want, pending string
	}{
		{"newer", all[:len(all)-1], "", "", fmt.Sprintf("the database is at step %d and this binary ends at step %d: run a newer binary", len(all), len(all)-1), ""},
		{"changed", changed, "", "", "step 5 (" + all[4].Name + ") of the database differs from this binary's", ""},
		{"gap", more, "UPDATE schema_step SET number = 900 WHERE number = 3", "UPDATE schema_step SET number = 3 WHERE number = 900",
			"remembers step 4 but not step 3", "remembers step 4 but not step 3"},
		{"no first", more, "UPDATE schema_step SET number = 900 WHERE number = 1", "UPDATE schema_step SET number = 1 WHERE number = 900",
			"remembers step 2 but not step 1", "remembers step 2 but not step 1"},
		{"beyond", more, fmt.Sprintf("UPDATE schema_step SET number = 900 WHERE number = %d", last.Number), fmt.Sprintf("UPDATE schema_step SET number = %d WHERE number = 900", last.Number),
			"the database is at step 900 and this binary ends at", "run a newer binary"},
	}
	for _, c := range cases {
		if c.damage != "" {
			run(t, db.Admin, c.damage)
		}
		before := snapshot(t, db.Admin, db.Name)
		applied, err := schema.ConvergeSteps(t.Context(), dsn, c.steps)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(applied) != 0 {
			t.Errorf("%s: applied %v, %v; want %q", c.name, applied, err, c.want)
		}
		if after := snapshot(t, db.Admin, db.Name); after != before {
			t.Errorf("%s: changed\n%s\nto\n%s", c.name, before, after)
		}
		if c.pending != "" {
			if pending, err := schema.Pending(t.Context(), dsn); err == nil || !strings.Contains(err.Error(), c.pending) {
				t.Errorf("%s: %d pending, %v", c.name, len(pending), err)
			}
		}
		if c.cure != "" {
			run(t, db.Admin, c.cure)
		}
	}
	converged(t, db, dsn)
}

func TestADatabaseNameThatCannotBearRolesIsRefused(t *testing.T) {
	login := world.Server(t)
	admin := world.Open(t, login.Config())
	for _, name := range []string{strings.Repeat("a", schema.MaxDatabase+1), "Upper", "a-b", "a`b", "a'b", "ä", "a b", "a.b"} {
		config := login.Config()
		config.DBName = name
		_, err := schema.Converge(t.Context(), schema.DSN(config.FormatDSN()))
		if err == nil || !strings.Contains(err.Error(), "want 1 to 20 characters of a-z, 0-9 and _") {
			t.Errorf("%q: %v", name, err)
		}
		var found int
		if err := admin.QueryRow("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", name).Scan(&found); err != nil || found != 0 {
			t.Errorf("%q: %d databases, %v", name, found, err)
		}
	}
	longest := strings.Repeat("z", schema.MaxDatabase)
	for _, role := range schema.RuntimeRoles() {
		if name := role.Name(longest); len(name) > 32 {
			t.Errorf("role %s has %d characters", name, len(name))
		}
	}
	if _, err := schema.Converge(t.Context(), schema.DSN(login.Config().FormatDSN())); err == nil || !strings.Contains(err.Error(), "names no database") {
		t.Errorf("no name: %v", err)
	}
}

// A server on which the variable is off takes every CHECK and makes none.
func TestConvergeLetsConstraintsExistFirst(t *testing.T) {
	login := world.OwnServer(t).Root()
	db := world.DatabaseOn(t, login)
	dsn := adminDSN(db)
	run(t, db.Admin, "SET GLOBAL tidb_enable_check_constraint = OFF", "CREATE TABLE shows (a int, CHECK (a > 0))", "INSERT INTO shows VALUES (-1)", "DROP TABLE shows")
	_, err := schema.Connect(t.Context(), dsn, schema.RoleMigration)
	if want := `session variable tidb_enable_check_constraint is "0" and must be "1", because without it a CHECK is accepted and not created`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("with the variable off, connect gave %v", err)
	}
	if pending, err := schema.Pending(t.Context(), dsn); err != nil || len(pending) != len(steps(t)) {
		t.Errorf("with the variable off, %d steps are pending, %v", len(pending), err)
	}
	if _, err := schema.Converge(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	for _, refused := range []string{
		"INSERT INTO serving_epoch_guard (epoch_id, state, fence) VALUES (REPEAT('e', 16), 'retired', 1)",
		"INSERT INTO serving_epoch_guard (epoch_id, state, fence) VALUES (REPEAT('e', 16), 'Prepared', 1)",
		"INSERT INTO serving_epoch_guard (epoch_id, state, fence) VALUES (REPEAT('e', 16), 'prepared', 0)",
	} {
		_, err := db.Admin.Exec(refused)
		var server *mysql.MySQLError
		if !errors.As(err, &server) || server.Number != 3819 {
			t.Errorf("%s gave %v", refused, err)
		}
	}
	run(t, db.Admin, "INSERT INTO serving_epoch_guard (epoch_id, state, fence) VALUES (REPEAT('e', 16), 'prepared', 1)")
}

func digestOf(s schema.Step) string {
	digest := s.Digest()
	return string(digest[:])
}
