package schema_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// act is something that a role might do to a table, by a statement that finds no row, and what the server calls it.
// $T is the table, $C its columns, $K its first column.
type act struct{ name, statement string }

var acts = []act{
	{"SELECT", "SELECT * FROM $T WHERE 1 = 0"},
	{"SELECT", "SELECT $K FROM $T LIMIT 0"},
	{"SELECT ... FOR UPDATE", "SELECT $K FROM $T WHERE 1 = 0 FOR UPDATE"},
	{"INSERT", "INSERT INTO $T ($C) SELECT $C FROM $T WHERE 1 = 0"},
	{"UPDATE", "UPDATE $T SET $K = $K WHERE 1 = 0"},
	{"UPDATE", "INSERT INTO $T ($C) SELECT $C FROM $T WHERE 1 = 0" + onDuplicate + "$K = VALUES($K)"},
	{"UPDATE", "UPDATE $T a JOIN schema_step b SET a.$K = a.$K WHERE 1 = 0"},
	{"DELETE", "DELETE FROM $T WHERE 1 = 0"},
	{"DELETE", "REPLACE INTO $T ($C) SELECT $C FROM $T WHERE 1 = 0"},
	{"DELETE", "DELETE a FROM $T a JOIN schema_step b WHERE 1 = 0"},
	{"TRUNCATE", "TRUNCATE TABLE $T"},
	{"ALTER", "ALTER TABLE $T COMMENT = 'ours'"},
	{"ALTER", "ALTER TABLE $T TTL = born_at + INTERVAL 1 DAY"},
	{"CREATE INDEX", "CREATE INDEX stray ON $T ($K)"},
	{"RENAME", "RENAME TABLE $T TO stray"},
	{"GRANT", "GRANT SELECT ON $T TO CURRENT_USER()"},
	{"DROP", "DROP TABLE $T"}, // last: whoever may do it spoils the rest
}

// onDuplicate is in two parts, because no statement of ours may hold the whole: here it is shown to be refused.
const onDuplicate = " ON DUPLICATE " + "KEY UPDATE "

// mayDo is R42 typed by hand: what each role may do to a table of each kind. Nothing else is allowed to anybody.
var mayDo = map[schema.Role]map[schema.Kind][]string{
	schema.RoleLedger: {
		schema.Fact:      {"SELECT", "SELECT ... FOR UPDATE", "INSERT"},
		schema.Ledger:    {"SELECT", "SELECT ... FOR UPDATE", "INSERT"},
		schema.Guard:     {"SELECT", "SELECT ... FOR UPDATE", "INSERT", "UPDATE"},
		schema.Head:      {"SELECT", "SELECT ... FOR UPDATE", "INSERT", "UPDATE", "DELETE"},
		schema.Catalogue: {"SELECT", "SELECT ... FOR UPDATE"},
	},
	schema.RoleReader: {
		// TiDB asks no more than SELECT for a lock. A reader that takes one holds it for its session's idle limit at most.
		schema.Fact: {"SELECT", "SELECT ... FOR UPDATE"}, schema.Ledger: {"SELECT", "SELECT ... FOR UPDATE"}, schema.Guard: {"SELECT", "SELECT ... FOR UPDATE"},
		schema.Head: {"SELECT", "SELECT ... FOR UPDATE"}, schema.Catalogue: {"SELECT", "SELECT ... FOR UPDATE"},
	},
	schema.RoleApplication: {},
}

// denied tells whether the server refused for want of a privilege, and fails on every other refusal.
func denied(t testing.TB, err error, what string) bool {
	t.Helper()
	var server *mysql.MySQLError
	if err == nil {
		return false
	}
	// 1044 database, 1142 table, 1143 column, 1227 something that only an administrator may.
	if !errors.As(err, &server) || !slices.Contains([]uint16{1044, 1142, 1143, 1227, 8121}, server.Number) {
		t.Errorf("%s: %v", what, err)
	}
	return true
}

func fill(statement string, table *schema.Table) string {
	return strings.NewReplacer("$T", table.Name, "$C", strings.Join(columnList(table), ", "), "$K", table.Primary[0]).Replace(statement)
}

func TestR42EachRoleDoesExactlyWhatItsKindOfTableAllows(t *testing.T) {
	store := world.Fresh(t)
	conn, err := store.Pool(t, schema.RoleLedger).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, role := range schema.RuntimeRoles() { // one session of the daemon's login takes one after the other
		take(t, conn, "'"+role.Name(store.Name)+"'")
		for _, table := range schema.Tables() {
			for _, a := range acts {
				what := fmt.Sprintf("%s: %s", role, fill(a.statement, table))
				_, err := conn.ExecContext(t.Context(), fill(a.statement, table))
				allowed := slices.Contains(mayDo[role][table.Kind], a.name)
				if got := !denied(t, err, what); got != allowed {
					t.Errorf("%s: allowed %t, want %t", what, got, allowed)
				}
			}
		}
	}
	if err := schema.Verify(t.Context(), migration(t, adminDSN(&world.DB{Name: store.Name, Login: world.Server(t)})), schema.RoleMigration); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

func take(t testing.TB, conn *sql.Conn, role string) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), "SET ROLE "+role); err != nil {
		t.Fatalf("SET ROLE %s: %v", role, err)
	}
}

// What TiDB v8.5.6 does not ask (pingcap/tidb#71495): a statement that names no column needs no privilege. It shows how
// many rows there are, and it can lock them for as long as its session lives; it reads and changes nothing. When this
// test fails, TiDB asks, and the sentence about it in docs/schema.md goes.
func TestR42LimitAStatementThatNamesNoColumnIsLetThrough(t *testing.T) {
	store := world.Converged(t)
	application := store.Pool(t, schema.RoleApplication)
	for _, table := range schema.Tables() {
		for _, statement := range []string{"SELECT COUNT(*) FROM $T", "SELECT 1 FROM $T WHERE 1 = 0 FOR UPDATE"} {
			if denied(t, errorOf(application.ExecContext(t.Context(), fill(statement, table))), statement) {
				t.Errorf("the application was refused %s", fill(statement, table))
			}
		}
		if !denied(t, errorOf(application.ExecContext(t.Context(), fill("SELECT COUNT($K) FROM $T", table))), table.Name) {
			t.Errorf("the application read a column of %s", table.Name)
		}
	}
}

func errorOf(_ sql.Result, err error) error { return err }

// forever are the guards that must never be gone: a gate that can be deleted can be born again in another state.
var forever = []string{
	"account_serving_gate_guard", "serving_epoch_guard", "credential_generation_dispatch_gate_guard", "serving_publication_barrier_set_guard",
	"owner_publication_barrier_guard", "ordering_lane_guard",
}

func TestR42NobodyAtRunTimeDeletesAGate(t *testing.T) {
	store := world.Converged(t)
	conn, err := store.Pool(t, schema.RoleLedger).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	born := map[string]string{
		"account_serving_gate_guard":                "(account_id, state, fence) VALUES (?, 'v1_serving', 1)",
		"serving_epoch_guard":                       "(epoch_id, state, fence) VALUES (?, 'prepared', 1)",
		"credential_generation_dispatch_gate_guard": "(generation_id, state, fence) VALUES (?, 'enabled', 1)",
		"serving_publication_barrier_set_guard":     "(barrier_set_id, holder_fence, state, fence) VALUES (?, 1, 'acquiring', 1)",
		"ordering_lane_guard":                       "(account_id, lane_id, state, fence) VALUES (?, REPEAT('l', 16), 'free', 1)",
		"owner_publication_barrier_guard":           "(barrier_id, holder_fence, held_at_fence, state, fence) VALUES (?, 0, 0, 'open', 1)",
	}
	// All roles of the login at once are the most that anything at run time can take.
	roles := []string{"NONE", "DEFAULT", "ALL"}
	for _, role := range schema.RuntimeRoles() {
		roles = append(roles, "'"+role.Name(store.Name)+"'")
	}
	for _, name := range forever {
		id := randomBytes(16)
		take(t, conn, "'"+schema.RoleLedger.Name(store.Name)+"'")
		if _, err := conn.ExecContext(t.Context(), "INSERT INTO "+name+" "+born[name], id); err != nil {
			t.Fatal(err)
		}
		table := schema.Find(name)
		for _, role := range roles {
			take(t, conn, role)
			for _, statement := range []string{
				"DELETE FROM $T WHERE $K = ?", "REPLACE INTO $T " + born[name], "DELETE a FROM $T a JOIN schema_step b WHERE a.$K = ?",
				"TRUNCATE TABLE $T", "DROP TABLE $T", "DROP DATABASE " + store.Name,
			} {
				args := []any{id}[:strings.Count(statement, "?")]
				if !denied(t, errorOf(conn.ExecContext(t.Context(), fill(statement, table), args...)), statement) {
					t.Fatalf("role %s: %s was allowed", role, fill(statement, table))
				}
			}
		}
		var left int
		if err := store.Admin.QueryRow("SELECT COUNT(*) FROM "+name+" WHERE "+table.Primary[0]+" = ?", id).Scan(&left); err != nil || left != 1 {
			t.Errorf("%s: %d rows left, %v", name, left, err)
		}
	}
	for _, table := range schema.Tables() {
		if (table.Kind == schema.Guard) != slices.Contains(forever, table.Name) {
			t.Errorf("%s is a %s: say here whether it may be deleted", table.Name, table.Kind)
		}
	}
}

func TestR42NoRoleOfTheDaemonRewritesHistory(t *testing.T) {
	store := world.Converged(t)
	conn, err := store.Pool(t, schema.RoleLedger).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	subject := randomBytes(16)
	if _, err := conn.ExecContext(t.Context(), `INSERT INTO remote_link_ledger (subject_id, seq, from_state, edge, to_state, evidence)
		VALUES (?, 1, 'active', 'retire', 'retired', 'proof')`, subject); err != nil {
		t.Fatal(err)
	}
	take(t, conn, "ALL")
	for _, statement := range []string{
		"UPDATE remote_link_ledger SET evidence = 'other' WHERE subject_id = ?",
		"DELETE FROM remote_link_ledger WHERE subject_id = ?",
		"REPLACE INTO remote_link_ledger (subject_id, seq, from_state, edge, to_state, evidence) VALUES (?, 1, 'active', 'retire', 'retired', 'other')",
		"INSERT INTO remote_link_ledger (subject_id, seq, from_state, edge, to_state, evidence) VALUES (?, 1, 'active', 'retire', 'retired', 'x')" + onDuplicate + "evidence = 'other'",
		"UPDATE remote_link_head h JOIN remote_link_ledger l ON l.subject_id = h.link_id SET l.evidence = 'other' WHERE l.subject_id = ?",
		"DELETE l FROM remote_link_ledger l LEFT JOIN remote_link_head h ON h.link_id = l.subject_id WHERE l.subject_id = ?",
	} {
		if !denied(t, errorOf(conn.ExecContext(t.Context(), statement, subject)), statement) {
			t.Errorf("%s was allowed", statement)
		}
	}
	var evidence string
	if err := conn.QueryRowContext(t.Context(), "SELECT evidence FROM remote_link_ledger WHERE subject_id = ?", subject).Scan(&evidence); err != nil || evidence != "proof" {
		t.Errorf("the evidence is %q, %v", evidence, err)
	}
}

// The ledger's part of an application's transaction runs under the ledger role and the handler's under its own, on one
// session and in one transaction.
func TestR42RolesSwitchInsideOneTransaction(t *testing.T) {
	store := world.Converged(t)
	conn, err := store.Pool(t, schema.RoleApplication).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	id := randomBytes(16)
	insert := "INSERT INTO credential_generation_dispatch_gate (generation_id) VALUES (?)"
	run := func(statement string, args ...any) error {
		return errorOf(conn.ExecContext(t.Context(), statement, args...))
	}
	if err := run("BEGIN"); err != nil {
		t.Fatal(err)
	}
	if !denied(t, run(insert, id), insert) {
		t.Error("the application inserted a fact")
	}
	take(t, conn, "'"+schema.RoleLedger.Name(store.Name)+"'")
	if err := run(insert, id); err != nil {
		t.Error(err)
	}
	take(t, conn, "'"+schema.RoleApplication.Name(store.Name)+"'")
	if !denied(t, run("SELECT * FROM credential_generation_dispatch_gate"), "reading it back") {
		t.Error("the application read a fact")
	}
	if err := run("COMMIT"); err != nil {
		t.Error(err)
	}
	var found int
	if err := store.Admin.QueryRow("SELECT COUNT(*) FROM credential_generation_dispatch_gate WHERE generation_id = ?", id).Scan(&found); err != nil || found != 1 {
		t.Errorf("%d facts were committed, %v", found, err)
	}
}

func TestOnlyALoginThatHoldsNothingButTheRolesIsAdmitted(t *testing.T) {
	store := world.Fresh(t)
	admin := migration(t, adminDSN(&world.DB{Name: store.Name, Login: world.Server(t)}))
	check := func(name string, db *sql.DB, want string) {
		t.Helper()
		err := schema.CheckLogin(t.Context(), db)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for _, role := range schema.RuntimeRoles() {
		check(string(role), store.Pool(t, role), "")
	}
	check("root", admin, "login root@% holds privileges of its own (")
	for _, d := range []drift{
		{"one privilege", []string{"GRANT UPDATE ON $DB.remote_link TO $DB_daemon"}, []string{"login $DB_daemon@% holds privileges of its own (UPDATE on remote_link): use a login that holds only the runtime roles"},
			[]string{"REVOKE UPDATE ON $DB.remote_link FROM $DB_daemon"}},
		{"one column", []string{"GRANT UPDATE (born_at) ON $DB.remote_link TO $DB_daemon"}, []string{"(UPDATE(born_at) on remote_link)"},
			[]string{"REVOKE UPDATE (born_at) ON $DB.remote_link FROM $DB_daemon"}},
		{"a dynamic privilege", []string{"GRANT ROLE_ADMIN ON *.* TO $DB_daemon"}, []string{"(ROLE_ADMIN on *.*)"}, []string{"REVOKE ROLE_ADMIN ON *.* FROM $DB_daemon"}},
		{"another schema", []string{"GRANT SELECT ON mysql.user TO $DB_daemon"}, []string{"(SELECT on mysql.user)"}, []string{"REVOKE SELECT ON mysql.user FROM $DB_daemon"}},
		{"the right to grant", []string{"GRANT USAGE ON *.* TO $DB_daemon WITH GRANT OPTION"}, []string{"(GRANT OPTION on *.*)"}, []string{"REVOKE GRANT OPTION ON *.* FROM $DB_daemon"}},
		{"another role", []string{"CREATE ROLE $DB_strange", "GRANT $DB_strange TO $DB_daemon"}, []string{"login $DB_daemon@% holds role $DB_strange: use a login that holds only"}, []string{"DROP ROLE $DB_strange"}},
	} {
		run(t, admin, ofDatabase(store.Name, d.spoil)...)
		for _, role := range schema.RuntimeRoles() {
			check(d.name+" as "+string(role), store.Pool(t, role), ofDatabase(store.Name, d.want)[0])
		}
		run(t, admin, ofDatabase(store.Name, d.mend)...)
	}
	check("mended", store.Pool(t, schema.RoleReader), "")
}

func TestAdmitGivesALoginTheRolesAndNothingElse(t *testing.T) {
	store := world.Fresh(t)
	admin := migration(t, adminDSN(&world.DB{Name: store.Name, Login: world.Server(t)}))
	for _, bad := range []string{"", "a'b", "a`b", `a\b`} {
		if err := schema.Admit(t.Context(), admin, store.Name, bad); err == nil || !strings.Contains(err.Error(), "want a plain user name") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := schema.Admit(t.Context(), admin, store.Name, store.Name+"_nobody"); err == nil || !strings.Contains(err.Error(), "admitting login "+store.Name+"_nobody") {
		t.Errorf("a login that is not there: %v", err)
	}
	if err := schema.Admit(t.Context(), admin, store.Name, store.Name+"_daemon"); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if err := schema.CheckLogin(t.Context(), store.Pool(t, schema.RoleLedger)); err != nil {
		t.Error(err)
	}
}

// The lock on users and roles is let go of when it is released, and not only when its connection ends.
func TestLockOnRolesIsFreeOnceItIsReleased(t *testing.T) {
	db := world.Database(t)
	for range 2 {
		release, err := schema.LockRoles(t.Context(), db.Admin)
		if err != nil {
			t.Fatal(err)
		}
		free := func() (free bool) {
			if err := db.Admin.QueryRowContext(t.Context(), "SELECT IS_FREE_LOCK('connectorcore_roles')").Scan(&free); err != nil {
				t.Fatal(err)
			}
			return free
		}
		if free() {
			t.Error("it is not held")
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); !free(); { // another test may take it in between
			if time.Now().After(deadline) {
				t.Fatal("it is held although it was released")
			}
		}
	}
}
