package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"connectorcore/proptest/world"

	"github.com/go-sql-driver/mysql"
)

var (
	check  = []string{"store", "check"}
	plan   = []string{"schema", "plan"}
	apply  = []string{"schema", "apply"}
	verify = []string{"schema", "verify"}
)

func TestAnUnknownKeyIsRefusedBeforeAnythingIsChanged(t *testing.T) {
	db := world.Database(t)
	sh := newShell(t).dsn(configOf(db.Login, db.Name))
	file := filepath.Join(sh.dir, "connector.yaml")
	if err := os.WriteFile(file, []byte("log:\n  level: info\nstore:\n  dri: data\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	same := unchanged(t, db.Admin, db.Name)
	for _, args := range [][]string{check, plan, apply, verify, {"store", "serve"}, {"config", "view"}, {"config", "validate"}} {
		sh.refused(exitUsage, append(args, "--config", file), "configuration_invalid", "connector.yaml:4: unknown key store.dri, the nearest is store.dir")
	}
	sh.with("CONNECTOR_LOGLEVEL=debug").refused(exitUsage, apply, "CONNECTOR_LOGLEVEL: no such variable, the nearest is CONNECTOR_LOG_LEVEL")
	same()
}

func TestAnUnreachableStoreIsUnavailable(t *testing.T) {
	dead := mysql.NewConfig()
	dead.Net, dead.Addr, dead.DBName, dead.User, dead.Passwd = "tcp", deadAddress(t), "connector", "daemon", "unreachable-secret"
	sh := newShell(t).dsn(dead)
	for _, args := range [][]string{check, plan, apply, verify} {
		sh.refused(exitUnavailable, args, dead.Addr)
	}
	sh.refused(exitUnavailable, check, "store_unreachable", dead.Addr+"/connector", "does not answer")
}

// Such a listener is a hung server, or a proxy whose server is gone.
func TestAStoreThatTakesTheConnectionAndSaysNothingIsUnavailable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes connections for it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	mute := mysql.NewConfig()
	mute.Net, mute.Addr, mute.DBName, mute.User, mute.Passwd = "tcp", listener.Addr().String(), "connector", "daemon", "mute-secret"
	sh := newShell(t).dsn(mute)
	var together sync.WaitGroup
	for _, args := range [][]string{check, plan, apply, verify} {
		together.Go(func() {
			if a := sh.run(args...); a.code != exitUnavailable || !strings.Contains(a.err, "it let nobody in within 10s") {
				t.Errorf("%v: exit code %d: %s", args, a.code, a.err)
			}
		})
	}
	together.Wait()
}

func TestAWrongPasswordIsSaidWithoutThePassword(t *testing.T) {
	store := world.Converged(t)
	config := configOf(store.Login, store.Name)
	config.Passwd = "wrong-secret"
	sh := newShell(t).dsn(config)
	sh.refused(exitUnavailable, check, "store_unreachable", "refuses user or password")
	sh.refused(exitUnavailable, apply, "store_unreachable", "refuses user or password")
}

func TestAnOlderTiDBIsRefusedAndLeftAsItIs(t *testing.T) {
	root, admin := olderServer(t)
	sh := newShell(t).dsn(root)
	same := unchanged(t, admin, root.DBName)
	for _, args := range [][]string{check, plan, apply, verify} {
		sh.refused(exitFailed, args, "store_too_old", "8.0.11-TiDB-v8.5.5", "needs TiDB v8.5.6 or newer")
	}
	same()
}

// unsafe are sessions that would break the protocol, each by one parameter.
var unsafe = []struct{ name, value, word string }{
	{"tidb_txn_mode", "'optimistic'", `tidb_txn_mode is "optimistic"`},
	{"sql_mode", "''", `sql_mode is ""`},
	{"transaction_isolation", "'REPEATABLE-READ'", `transaction_isolation is "REPEATABLE-READ"`},
}

func TestAnUnsafeSessionOfTheDSNIsRefusedAndNothingChanges(t *testing.T) {
	store := world.Converged(t)
	empty := world.Database(t)
	for _, u := range unsafe {
		sh := newShell(t).dsn(set(configOf(store.Login, store.Name), u.name, u.value))
		same := unchanged(t, store.Admin, store.Name)
		sh.refused(exitFailed, check, "store_session_unsafe", u.word)
		same()
		sh = newShell(t).dsn(set(configOf(empty.Login, empty.Name), u.name, u.value))
		same = unchanged(t, empty.Admin, empty.Name)
		for _, args := range [][]string{plan, apply, verify} {
			sh.refused(exitFailed, args, "store_session_unsafe", u.word)
		}
		same()
	}
}

// A default of the server reaches no session of ours, because every setting is in the connection's own start. The
// administrator's session shows that the default is in force.
func TestUnsafeDefaultsOfTheServerDoNotReachOurSessions(t *testing.T) {
	server := world.OwnServer(t)
	store := world.FreshOn(t, server.Root())
	for _, u := range unsafe {
		execute(t, store.Admin, "SET GLOBAL "+u.name+" = "+u.value)
	}
	fresh := world.Open(t, configOf(server.Root(), store.Name))
	var mode, sqlMode, isolation string
	if err := fresh.QueryRowContext(t.Context(), "SELECT @@tidb_txn_mode, @@sql_mode, @@transaction_isolation").Scan(&mode, &sqlMode, &isolation); err != nil {
		t.Fatal(err)
	}
	if mode != "optimistic" || sqlMode != "" || isolation != "REPEATABLE-READ" {
		t.Fatalf("the defaults are not in force: %q, %q, %q", mode, sqlMode, isolation)
	}
	daemon, migration := newShell(t).dsn(configOf(store.Login, store.Name)), newShell(t).dsn(configOf(server.Root(), store.Name))
	same := unchanged(t, store.Admin, store.Name)
	daemon.done(check...)
	migration.done(plan...)
	migration.done(apply...)
	migration.done(verify...)
	same()

	// What no session can set is refused.
	execute(t, store.Admin, "SET GLOBAL tidb_enable_check_constraint = OFF")
	same = unchanged(t, store.Admin, store.Name)
	daemon.refused(exitFailed, check, "store_session_unsafe", "tidb_enable_check_constraint")
	same()
	execute(t, store.Admin, "SET GLOBAL tidb_enable_check_constraint = ON", "SET GLOBAL tidb_enable_1pc = ON")
	// The store is found out to be the embedded kind, though it is reached by DSN.
	same = unchanged(t, store.Admin, store.Name)
	daemon.refused(exitFailed, check, "store_settings_unsafe", "tidb_enable_1pc is ON, want OFF")
	for _, args := range [][]string{plan, apply, verify} {
		migration.refused(exitFailed, args, "store_settings_unsafe", "tidb_enable_1pc is ON, want OFF")
	}
	same()
}

func TestAnUndeclaredColumnIsNamedAndLeftAlone(t *testing.T) {
	store := world.Fresh(t)
	execute(t, store.Admin, "ALTER TABLE account_serving_gate ADD COLUMN note INT")
	daemon, migration := newShell(t).dsn(configOf(store.Login, store.Name)), newShell(t).dsn(migrationOf(t, store))
	same := unchanged(t, store.Admin, store.Name)
	const drift = "table account_serving_gate: column note is not declared"
	daemon.refused(exitFailed, check, "schema_differs", drift)
	migration.refused(exitFailed, apply, "schema_differs", drift)
	migration.refused(exitFailed, verify, "schema_differs", drift)
	same()
	if got := migration.run("schema", "verify"); got.out != drift+"\n" {
		t.Errorf("got %q", got.out)
	}
	rows := decode[[]difference](t, migration.run("schema", "verify", "--output", "json").out)
	if len(rows) != 1 || rows[0].Difference != drift {
		t.Errorf("got %v", rows)
	}
}

func TestALoginIsRefusedForWhatItHoldsAndForWhatItLacks(t *testing.T) {
	store := world.Fresh(t)
	daemon := newShell(t).dsn(configOf(store.Login, store.Name))
	daemon.done(check...)
	execute(t, store.Admin, "GRANT UPDATE ON "+store.Name+".account_serving_gate TO '"+store.Login.User+"'")
	daemon.refused(exitFailed, check, "privileges_differ", "holds privileges of its own")
	execute(t, store.Admin, "REVOKE UPDATE ON "+store.Name+".account_serving_gate FROM '"+store.Login.User+"'",
		"REVOKE '"+store.Name+"_ledger' FROM '"+store.Login.User+"'")
	daemon.refused(exitFailed, check, "privileges_differ", "does not hold the ledger role", "schema apply --login")
	newShell(t).dsn(migrationOf(t, store)).refused(exitFailed, check, "privileges_differ", "login root")
	// A login of the daemon is none for the schema commands, and is told so.
	newShell(t).dsn(configOf(store.Login, store.Name)).refused(exitFailed, verify, "is no migration login")
	newShell(t).dsn(configOf(store.Login, store.Name)).refused(exitFailed, apply, "may not change the schema; name one that may by store.migration_dsn")
}

func TestARoleThatMayTooMuchIsNamed(t *testing.T) {
	store := world.Fresh(t)
	execute(t, store.Admin, "GRANT DELETE ON "+store.Name+".account_serving_gate_guard TO '"+store.Name+"_ledger'")
	const says = "role ledger: on table account_serving_gate_guard it may (DELETE, INSERT, SELECT, UPDATE)"
	newShell(t).dsn(configOf(store.Login, store.Name)).refused(exitFailed, check, "privileges_differ", says)
	newShell(t).dsn(migrationOf(t, store)).refused(exitFailed, verify, says)
}

func TestADatabaseThatIsNotThereIsNotMadeByLooking(t *testing.T) {
	db := world.Database(t)
	missing := configOf(db.Login, db.Name+"_x")
	sh := newShell(t).dsn(missing)
	same := unchanged(t, db.Admin, missing.DBName)
	sh.refused(exitFailed, check, "schema_differs", "does not exist: run 'connector schema apply'")
	sh.refused(exitFailed, verify, "schema_differs", "does not exist: run 'connector schema apply'")
	sh.done(plan...)
	same()
}

func TestWhatIsNoCommandIsRefusedWithoutRepeatingASecret(t *testing.T) {
	sh := newShell(t)
	sh.secrets = []string{"typed-secret"}
	for _, args := range [][]string{
		{"store", "root:typed-secret@tcp(h:1)/d"}, {"root:typed-secret@tcp(h:1)/d"}, {"config", "view", "root:typed-secret@tcp(h:1)/d"},
		{"store", "check", "-dsn=root:typed-secret@tcp(h:1)/d"}, {"store", "check", "--dns=root:typed-secret@tcp(h:1)/d"},
		{"store", "check", "--dsn=root:typed-secret@h:1/d"}, {"version", "--output", "xml"}, {"schema", "aply"},
	} {
		sh.refused(exitUsage, args)
	}
	sh.refused(exitUsage, []string{"completion", "tcsh"}, "connector completion has no command tcsh: it has bash")
	sh.refused(exitUsage, []string{"help", "nope"}, "connector has no command nope: it has activate")
	sh.refused(exitUsage, []string{"help", "schema", "aply"}, "connector schema has no command aply: it has application")
	sh.refused(exitUsage, []string{"schema", "aply"}, "connector schema has no command aply: it has application, apply, plan, show-sql, verify")
}
