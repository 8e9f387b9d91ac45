package schema_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// drift is one way to spoil a converged database. In its statements and differences $DB stands for the database.
type drift struct {
	name  string
	spoil []string
	want  []string
	mend  []string
}

const (
	shareCount = "ALTER TABLE serving_epoch MODIFY COLUMN share_count "
	ledgerSays = "subject_id binary(16) NOT NULL, seq bigint unsigned NOT NULL, from_state varbinary(32) NOT NULL, edge varbinary(48) NOT NULL, " +
		"to_state varbinary(32) NOT NULL, evidence mediumblob NOT NULL, recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)"
	linkEdges = "CONSTRAINT remote_link_ledger_edges CHECK ((from_state, edge, to_state) IN (('active', 'retire', 'retired')))"
	linkBirth = "CONSTRAINT remote_link_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('active'))"
)

// remade drops the ledger of links, which holds nothing here, and makes it otherwise.
func remade(create string) []string { return []string{"DROP TABLE remote_link_ledger", create} }

func mendedLedger() []string {
	return []string{"DROP TABLE IF EXISTS remote_link_ledger", schema.Find("remote_link_ledger").Create()}
}

var tableDrifts = []drift{
	{"table missing", []string{"DROP TABLE remote_link_ledger"},
		[]string{"table remote_link_ledger is missing"}, mendedLedger()},
	{"table undeclared", []string{"CREATE TABLE stray (a int)", "CREATE VIEW stray_view AS SELECT 1 AS one"},
		[]string{"table stray is not declared", "table stray_view is not declared"}, []string{"DROP TABLE stray", "DROP VIEW stray_view"}},
	{"column missing", []string{"ALTER TABLE serving_epoch DROP COLUMN share_count"},
		[]string{"table serving_epoch: column share_count is missing"},
		[]string{"ALTER TABLE serving_epoch ADD COLUMN share_count bigint unsigned NOT NULL AFTER epoch_digest"}},
	{"column extra", []string{"ALTER TABLE serving_epoch ADD COLUMN note blob"},
		[]string{"table serving_epoch: column note is not declared"}, []string{"ALTER TABLE serving_epoch DROP COLUMN note"}},
	{"column type", []string{shareCount + "bigint NOT NULL"},
		[]string{"table serving_epoch: column share_count is (bigint NOT NULL), declared as (bigint unsigned NOT NULL)"}, []string{shareCount + "bigint unsigned NOT NULL"}},
	{"column collated", []string{"ALTER TABLE serving_epoch DROP COLUMN digest_profile", "ALTER TABLE serving_epoch ADD COLUMN digest_profile varchar(64) NOT NULL AFTER epoch_id"},
		[]string{"table serving_epoch: column digest_profile is (varchar(64) NOT NULL), declared as (varbinary(64) NOT NULL)"},
		[]string{"ALTER TABLE serving_epoch DROP COLUMN digest_profile", "ALTER TABLE serving_epoch ADD COLUMN digest_profile varbinary(64) NOT NULL AFTER epoch_id"}},
	{"column nullable", []string{shareCount + "bigint unsigned"},
		[]string{"table serving_epoch: column share_count is (bigint unsigned), declared as (bigint unsigned NOT NULL)"}, []string{shareCount + "bigint unsigned NOT NULL"}},
	{"column with a default", []string{shareCount + "bigint unsigned NOT NULL DEFAULT 0", "ALTER TABLE serving_epoch ALTER COLUMN digest_profile SET DEFAULT ''"},
		[]string{"table serving_epoch: column digest_profile is (varbinary(64) NOT NULL DEFAULT ''), declared as (varbinary(64) NOT NULL)",
			"table serving_epoch: column share_count is (bigint unsigned NOT NULL DEFAULT 0), declared as (bigint unsigned NOT NULL)"},
		[]string{shareCount + "bigint unsigned NOT NULL", "ALTER TABLE serving_epoch ALTER COLUMN digest_profile DROP DEFAULT"}},
	{"column without its default", []string{"ALTER TABLE serving_epoch_guard ALTER COLUMN touched DROP DEFAULT"},
		[]string{"table serving_epoch_guard: column touched is (bigint unsigned NOT NULL), declared as (bigint unsigned NOT NULL DEFAULT 0)"},
		[]string{"ALTER TABLE serving_epoch_guard ALTER COLUMN touched SET DEFAULT 0"}},
	{"column that changes by itself", []string{"ALTER TABLE serving_epoch MODIFY COLUMN born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)"},
		[]string{"table serving_epoch: column born_at is (datetime(6) on update CURRENT_TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)), declared as (datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6))"},
		[]string{"ALTER TABLE serving_epoch MODIFY COLUMN born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)"}},
	{"column order", []string{shareCount + "bigint unsigned NOT NULL AFTER shares_digest"},
		[]string{"table serving_epoch: its columns stand in another order"}, []string{shareCount + "bigint unsigned NOT NULL AFTER epoch_digest"}},
	{"key missing", []string{"ALTER TABLE remote_effect DROP INDEX remote_effect_command"},
		[]string{"table remote_effect: key remote_effect_command is missing"}, []string{"CREATE UNIQUE INDEX remote_effect_command ON remote_effect (outbound_command_id)"}},
	{"key extra", []string{"CREATE INDEX stray ON remote_effect (account_id)", "CREATE INDEX stray_expression ON remote_effect ((REVERSE(account_id)))"},
		[]string{"table remote_effect: key stray is not declared", "table remote_effect: key stray_expression is not declared"},
		[]string{"DROP INDEX stray ON remote_effect", "DROP INDEX stray_expression ON remote_effect"}},
	{"key no longer unique", []string{"ALTER TABLE remote_effect DROP INDEX remote_effect_command", "CREATE INDEX remote_effect_command ON remote_effect (outbound_command_id)"},
		[]string{"table remote_effect: key remote_effect_command is (outbound_command_id), declared as (unique outbound_command_id)"},
		[]string{"ALTER TABLE remote_effect DROP INDEX remote_effect_command", "CREATE UNIQUE INDEX remote_effect_command ON remote_effect (outbound_command_id)"}},
	{"key on a prefix", []string{"ALTER TABLE remote_effect DROP INDEX remote_effect_command", "CREATE UNIQUE INDEX remote_effect_command ON remote_effect (outbound_command_id(8))"},
		[]string{"table remote_effect: key remote_effect_command is (unique outbound_command_id(8)), declared as (unique outbound_command_id)"},
		[]string{"ALTER TABLE remote_effect DROP INDEX remote_effect_command", "CREATE UNIQUE INDEX remote_effect_command ON remote_effect (outbound_command_id, account_id)"}},
	{"key with another column", nil,
		[]string{"table remote_effect: key remote_effect_command is (unique outbound_command_id, account_id), declared as (unique outbound_command_id)"},
		[]string{"ALTER TABLE remote_effect DROP INDEX remote_effect_command", "CREATE UNIQUE INDEX remote_effect_command ON remote_effect (outbound_command_id)"}},
	{"key invisible", []string{"ALTER TABLE remote_effect ALTER INDEX remote_effect_command INVISIBLE"},
		[]string{"table remote_effect: key remote_effect_command is (unique outbound_command_id invisible), declared as (unique outbound_command_id)"},
		[]string{"ALTER TABLE remote_effect ALTER INDEX remote_effect_command VISIBLE"}},
	{"primary key not clustered", remade("CREATE TABLE remote_link_ledger (" + ledgerSays + ", PRIMARY KEY (subject_id, seq) NONCLUSTERED, " + linkEdges + ", " + linkBirth + ")"),
		[]string{"table remote_link_ledger: key PRIMARY is (unique subject_id, seq), declared as (clustered unique subject_id, seq)"}, mendedLedger()},
	{"primary key in another order", remade("CREATE TABLE remote_link_ledger (" + ledgerSays + ", PRIMARY KEY (seq, subject_id) CLUSTERED, " + linkEdges + ", " + linkBirth + ")"),
		[]string{"table remote_link_ledger: key PRIMARY is (clustered unique seq, subject_id), declared as (clustered unique subject_id, seq)"}, mendedLedger()},
	{"check missing", remade("CREATE TABLE remote_link_ledger (" + ledgerSays + ", PRIMARY KEY (subject_id, seq) CLUSTERED, " + linkBirth + ")"),
		[]string{"table remote_link_ledger: check remote_link_ledger_edges is missing"}, mendedLedger()},
	{"check extra", []string{"ALTER TABLE serving_epoch ADD CONSTRAINT stray CHECK (share_count > 0)"},
		[]string{"table serving_epoch: check stray is not declared"}, []string{"ALTER TABLE serving_epoch DROP CONSTRAINT stray"}},
	{"check not enforced", []string{"ALTER TABLE remote_link_ledger ALTER CONSTRAINT remote_link_ledger_birth NOT ENFORCED"},
		[]string{"table remote_link_ledger: check remote_link_ledger_birth is (seq > 1 or seq = 1 and from_state in ('active') not enforced), declared as (seq > 1 or seq = 1 and from_state in ('active'))"},
		[]string{"ALTER TABLE remote_link_ledger ALTER CONSTRAINT remote_link_ledger_birth ENFORCED"}},
	{"check with another word", remade("CREATE TABLE remote_link_ledger (" + ledgerSays + ", PRIMARY KEY (subject_id, seq) CLUSTERED, " +
		strings.Replace(linkEdges, "'retired'", "'Retired'", 1) + ", " + linkBirth + ")"),
		[]string{"table remote_link_ledger: check remote_link_ledger_edges is ((from_state,edge,to_state) in (('active','retire','Retired'))), declared as ((from_state,edge,to_state) in (('active','retire','retired')))"},
		mendedLedger()},
	{"check with other brackets", remade("CREATE TABLE remote_link_ledger (" + ledgerSays + ", PRIMARY KEY (subject_id, seq) CLUSTERED, " + linkEdges +
		", CONSTRAINT remote_link_ledger_birth CHECK ((seq > 1 OR seq = 1) AND from_state IN ('active')))"),
		[]string{"table remote_link_ledger: check remote_link_ledger_birth is ((seq > 1 or seq = 1) and from_state in ('active')), declared as (seq > 1 or seq = 1 and from_state in ('active'))"},
		mendedLedger()},
	{"reference", []string{"ALTER TABLE remote_effect_ledger ADD CONSTRAINT stray FOREIGN KEY (subject_id) REFERENCES remote_effect (effect_id) ON DELETE CASCADE"},
		[]string{"table remote_effect_ledger: reference stray is not declared"}, []string{"ALTER TABLE remote_effect_ledger DROP FOREIGN KEY stray"}},
	{"time to live", []string{"ALTER TABLE serving_epoch TTL = born_at + INTERVAL 90 DAY TTL_ENABLE = 'OFF'"},
		[]string{"table serving_epoch: it is no plain table (CREATE TABLE `serving_epoch` (...) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin " +
			"/*T![ttl] TTL=`born_at` + INTERVAL 90 DAY */ /*T![ttl] TTL_ENABLE='OFF' */ /*T![ttl] TTL_JOB_INTERVAL='1h' */)"}, []string{"ALTER TABLE serving_epoch REMOVE TTL"}},
	{"cache", []string{"ALTER TABLE remote_link CACHE"},
		[]string{"table remote_link: it is no plain table (CREATE TABLE `remote_link` (...) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin /* CACHED ON */)"},
		[]string{"ALTER TABLE remote_link NOCACHE"}},
	{"rows that vanish at commit", remade("CREATE GLOBAL TEMPORARY TABLE remote_link_ledger (" + ledgerSays + ", PRIMARY KEY (subject_id, seq) CLUSTERED, " + linkEdges + ", " + linkBirth + ") ON COMMIT DELETE ROWS"),
		[]string{"table remote_link_ledger: it is no plain table (CREATE GLOBAL TEMPORARY TABLE `remote_link_ledger` (...) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ON COMMIT DELETE ROWS)"},
		mendedLedger()},
	{"comments and placement are an operator's own", []string{"ALTER TABLE serving_epoch COMMENT = 'ours'"}, nil, []string{"ALTER TABLE serving_epoch COMMENT = ''"}},
}

var grantDrifts = []drift{
	{"privilege missing", []string{"REVOKE INSERT ON $DB.remote_link FROM $DB_ledger"},
		[]string{"role ledger: on table remote_link it may (SELECT), declared as (INSERT, SELECT)"}, []string{"GRANT INSERT ON $DB.remote_link TO $DB_ledger"}},
	{"all privileges missing", []string{"REVOKE SELECT ON $DB.remote_link FROM $DB_reader"},
		[]string{"role reader: on table remote_link it may (), declared as (SELECT)"}, []string{"GRANT SELECT ON $DB.remote_link TO $DB_reader"}},
	{"privilege too many", []string{"GRANT UPDATE ON $DB.remote_link TO $DB_ledger"},
		[]string{"role ledger: on table remote_link it may (INSERT, SELECT, UPDATE), declared as (INSERT, SELECT)"}, []string{"REVOKE UPDATE ON $DB.remote_link FROM $DB_ledger"}},
	{"privilege to delete a gate", []string{"GRANT DELETE ON $DB.account_serving_gate_guard TO $DB_ledger"},
		[]string{"role ledger: on table account_serving_gate_guard it may (DELETE, INSERT, SELECT, UPDATE), declared as (INSERT, SELECT, UPDATE)"},
		[]string{"REVOKE DELETE ON $DB.account_serving_gate_guard FROM $DB_ledger"}},
	{"privilege on one column", []string{"GRANT UPDATE (born_at) ON $DB.remote_link TO $DB_ledger"},
		[]string{"role ledger: on table remote_link it may (INSERT, SELECT, UPDATE(born_at)), declared as (INSERT, SELECT)"},
		[]string{"REVOKE UPDATE (born_at) ON $DB.remote_link FROM $DB_ledger"}},
	{"privilege to grant", []string{"GRANT SELECT ON $DB.remote_link TO $DB_reader WITH GRANT OPTION"},
		[]string{"role reader: on table remote_link it may (GRANT OPTION, SELECT), declared as (SELECT)"}, []string{"REVOKE GRANT OPTION ON $DB.remote_link FROM $DB_reader"}},
	{"privilege of the application", []string{"GRANT SELECT ON $DB.remote_link TO $DB_application"},
		[]string{"role application: on table remote_link it may (SELECT), declared as ()"}, []string{"REVOKE SELECT ON $DB.remote_link FROM $DB_application"}},
	{"whole database", []string{"GRANT SELECT ON $DB.* TO $DB_application"},
		[]string{"role application: it may (SELECT) on *, which is not declared"}, []string{"REVOKE SELECT ON $DB.* FROM $DB_application"}},
	{"everything", []string{"GRANT PROCESS ON *.* TO $DB_application", "GRANT BACKUP_ADMIN ON *.* TO $DB_application"},
		[]string{"role application: it may (BACKUP_ADMIN, PROCESS) on *.*, which is not declared"},
		[]string{"REVOKE PROCESS ON *.* FROM $DB_application", "REVOKE BACKUP_ADMIN ON *.* FROM $DB_application"}},
	{"the server's own schema", []string{"GRANT UPDATE ON mysql.tables_priv TO $DB_application"},
		[]string{"role application: it may (UPDATE) on mysql.tables_priv, which is not declared"}, []string{"REVOKE UPDATE ON mysql.tables_priv FROM $DB_application"}},
	{"another schema", []string{"GRANT SELECT ON other_schema.* TO $DB_ledger", "GRANT SELECT ON other_schema.* TO $DB_application"}, // the application's own
		[]string{"role ledger: it may (SELECT) on other_schema.*, which is not declared"},
		[]string{"REVOKE SELECT ON other_schema.* FROM $DB_ledger", "REVOKE SELECT ON other_schema.* FROM $DB_application"}},
	{"an undeclared table", []string{"CREATE TABLE stray (a int)", "GRANT SELECT ON $DB.stray TO $DB_application"},
		[]string{"table stray is not declared", "role application: it may (SELECT) on stray, which is not declared"},
		[]string{"REVOKE SELECT ON $DB.stray FROM $DB_application", "DROP TABLE stray"}},
	{"a role in a role", []string{"CREATE ROLE $DB_strange", "GRANT $DB_strange TO $DB_ledger"},
		[]string{"role ledger: it holds role $DB_strange, which is not declared"}, []string{"DROP ROLE $DB_strange"}},
}

func ofDatabase(name string, texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = strings.ReplaceAll(text, "$DB", name)
	}
	return all
}

func differences(t testing.TB, db *sql.DB, as schema.Role) []string {
	t.Helper()
	err := schema.Verify(t.Context(), db, as)
	var found *schema.DifferenceError
	if err != nil && !errors.As(err, &found) {
		t.Fatalf("verify: %v", err)
	}
	if found == nil {
		return nil
	}
	return found.Differences
}

func sameLines(t testing.TB, name string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: found\n  %s\nwant\n  %s", name, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestVerifyNamesEachDifferenceExactly(t *testing.T) {
	store := world.Fresh(t)
	db := migration(t, adminDSN(&world.DB{Name: store.Name, Login: world.Server(t)}))
	sameLines(t, "as converged", differences(t, db, schema.RoleMigration), nil)
	for _, d := range slices.Concat(tableDrifts, grantDrifts) {
		run(t, db, ofDatabase(store.Name, d.spoil)...)
		sameLines(t, d.name, differences(t, db, schema.RoleMigration), ofDatabase(store.Name, d.want))
		run(t, db, ofDatabase(store.Name, d.mend)...)
	}
	sameLines(t, "mended", differences(t, db, schema.RoleMigration), nil)
}

func TestVerifyAsARuntimeRoleNamesWhatThatRoleCanSee(t *testing.T) {
	store := world.Fresh(t)
	db := migration(t, adminDSN(&world.DB{Name: store.Name, Login: world.Server(t)}))
	pools := map[schema.Role]*sql.DB{}
	for _, role := range schema.RuntimeRoles() {
		pools[role] = store.Pool(t, role)
		sameLines(t, "as converged, "+string(role), differences(t, pools[role], role), nil)
	}
	cases := []struct {
		drift
		seen map[schema.Role][]string
	}{
		{drift{"table missing", []string{"DROP TABLE remote_link_ledger"}, []string{"table remote_link_ledger is missing"}, mendedLedger()},
			map[schema.Role][]string{
				schema.RoleLedger: {"table remote_link_ledger is missing"}, schema.RoleReader: {"table remote_link_ledger is missing"}}},
		{drift{"undeclared table", []string{"CREATE TABLE stray (a int)"}, nil, []string{"DROP TABLE stray"}}, nil},
		{drift{"column type", []string{shareCount + "bigint NOT NULL"}, nil, []string{shareCount + "bigint unsigned NOT NULL"}},
			map[schema.Role][]string{
				schema.RoleLedger: {"table serving_epoch: column share_count is (bigint NOT NULL), declared as (bigint unsigned NOT NULL)"},
				schema.RoleReader: {"table serving_epoch: column share_count is (bigint NOT NULL), declared as (bigint unsigned NOT NULL)"}}},
		{drift{"key missing", []string{"ALTER TABLE remote_effect DROP INDEX remote_effect_command"}, nil,
			[]string{"CREATE UNIQUE INDEX remote_effect_command ON remote_effect (outbound_command_id)"}},
			map[schema.Role][]string{
				schema.RoleLedger: {"table remote_effect: key remote_effect_command is missing"}, schema.RoleReader: {"table remote_effect: key remote_effect_command is missing"}}},
		{drift{"check extra, and one not enforced", []string{"ALTER TABLE serving_epoch ADD CONSTRAINT stray CHECK (share_count > 0)",
			"ALTER TABLE remote_link_ledger ALTER CONSTRAINT remote_link_ledger_birth NOT ENFORCED"}, nil,
			[]string{"ALTER TABLE serving_epoch DROP CONSTRAINT stray", "ALTER TABLE remote_link_ledger ALTER CONSTRAINT remote_link_ledger_birth ENFORCED"}},
			map[schema.Role][]string{
				schema.RoleLedger: {"table serving_epoch: check stray is not declared", unenforcedBirth},
				schema.RoleReader: {"table serving_epoch: check stray is not declared", unenforcedBirth}}},
		{drift{"privileges of the ledger", []string{"GRANT UPDATE ON $DB.remote_link TO $DB_ledger", "GRANT DROP ON $DB.* TO $DB_ledger"}, nil,
			[]string{"REVOKE UPDATE ON $DB.remote_link FROM $DB_ledger", "REVOKE DROP ON $DB.* FROM $DB_ledger"}},
			map[schema.Role][]string{schema.RoleLedger: {"role ledger: on table remote_link it may (INSERT, SELECT, UPDATE), declared as (INSERT, SELECT)",
				"role ledger: it may (DROP) on *, which is not declared"}}},
		{drift{"privileges of the login", []string{"GRANT BACKUP_ADMIN ON *.* TO $DB_daemon"}, nil, []string{"REVOKE BACKUP_ADMIN ON *.* FROM $DB_daemon"}},
			map[schema.Role][]string{schema.RoleLedger: {"role ledger: it may (BACKUP_ADMIN) on *.*, which is not declared"},
				schema.RoleReader:      {"role reader: it may (BACKUP_ADMIN) on *.*, which is not declared"},
				schema.RoleApplication: {"role application: it may (BACKUP_ADMIN) on *.*, which is not declared"}}},
		{drift{"privileges of the application", []string{"GRANT SELECT ON $DB.remote_link TO $DB_application"}, nil, []string{"REVOKE SELECT ON $DB.remote_link FROM $DB_application"}},
			map[schema.Role][]string{schema.RoleApplication: {"role application: it sees table remote_link, which it may not",
				"role application: on table remote_link it may (SELECT), declared as ()"}}},
		{drift{"missing of the reader", []string{"REVOKE SELECT ON $DB.remote_link FROM $DB_reader"}, nil, []string{"GRANT SELECT ON $DB.remote_link TO $DB_reader"}},
			map[schema.Role][]string{schema.RoleReader: {"table remote_link is missing", "role reader: on table remote_link it may (), declared as (SELECT)"}}},
	}
	for _, c := range cases {
		run(t, db, ofDatabase(store.Name, c.spoil)...)
		for role, pool := range pools {
			sameLines(t, c.name+" as "+string(role), differences(t, pool, role), c.seen[role])
		}
		run(t, db, ofDatabase(store.Name, c.mend)...)
	}
	// A pattern reaches the database under a name that no line of grants has.
	run(t, db, "GRANT SELECT ON `"+store.Name[:len(store.Name)-1]+"%`.* TO "+store.Name+"_application")
	found := differences(t, pools[schema.RoleApplication], schema.RoleApplication)
	if len(found) < len(schema.Tables()) || found[0] != "role application: it sees table schema_step, which it may not" {
		t.Errorf("a grant by pattern: found %q", found)
	}
}

const unenforcedBirth = "table remote_link_ledger: check remote_link_ledger_birth is (seq > 1 or seq = 1 and from_state in ('active') not enforced), " +
	"declared as (seq > 1 or seq = 1 and from_state in ('active'))"

func TestTheReportNamesTheDatabaseAndGivesEachDifferenceALine(t *testing.T) {
	err := error(&schema.DifferenceError{Database: "ledger", Differences: []string{"one", "two"}})
	if want := "database ledger is not as declared:\n  one\n  two"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

// No table declares a reference yet; the first that does must not lose it to one that deletes or rewrites its rows.
func TestADeclaredReferenceIsComparedWithItsRules(t *testing.T) {
	db := world.Database(t)
	child := &schema.Table{
		Name: "child", Columns: []schema.Column{{Name: "a", Type: "binary(16)"}, {Name: "b", Type: "binary(16)"}}, Primary: []string{"a"},
		Foreigns: []schema.ForeignKey{{Name: "plain", Columns: []string{"a", "b"}, Parent: "parent", ParentKeys: []string{"c", "d"}}},
	}
	run(t, db.Admin, "CREATE TABLE parent (c binary(16) NOT NULL, d binary(16) NOT NULL, PRIMARY KEY (c, d))", child.Create(),
		"ALTER TABLE child ADD CONSTRAINT ruled FOREIGN KEY (a, b) REFERENCES parent (c, d) ON DELETE CASCADE ON UPDATE RESTRICT")
	live, want, err := schema.References(t.Context(), db.Admin, child)
	if err != nil || live["plain"] == "" || live["plain"] != want["plain"] {
		t.Errorf("the declared reference is (%s), declared as (%s), %v", live["plain"], want["plain"], err)
	}
	if want := want["plain"] + " ON DELETE CASCADE ON UPDATE RESTRICT"; live["ruled"] != want {
		t.Errorf("the other reference is (%s), want (%s)", live["ruled"], want)
	}
}
