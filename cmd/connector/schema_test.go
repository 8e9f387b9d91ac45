package main

import (
	"strings"
	"sync"
	"testing"

	"connectorcore/proptest/world"
	"connectorcore/schema"
)

func TestApplyIsPlannedDoneOnceAndVerified(t *testing.T) {
	db := world.Database(t)
	sh := newShell(t).dsn(configOf(db.Login, db.Name))
	all, err := schema.Steps()
	if err != nil {
		t.Fatal(err)
	}
	same := unchanged(t, db.Admin, db.Name)
	planned := decode[[]step](t, sh.done("schema", "plan", "--output", "json").out)
	same()
	if len(planned) != len(all) || planned[0].Statement != all[0].Statement {
		t.Errorf("planned %d steps of %d", len(planned), len(all))
	}
	sh.refused(exitFailed, verify, "schema_differs", "run 'connector schema apply'")
	first := sh.done(apply...)
	if got := strings.Count(first.out, "\n"); got != len(all) {
		t.Errorf("the first apply told %d steps, want %d", got, len(all))
	}
	same = unchanged(t, db.Admin, db.Name)
	if second := sh.done(apply...); second.out != "" || !strings.Contains(second.err, "0 steps were applied") {
		t.Errorf("the second apply did something: %s%s", second.out, second.err)
	}
	if after := sh.done("schema", "plan", "--output", "json"); after.out != "[]\n" {
		t.Errorf("planned after all was applied: %s", after.out)
	}
	if after := sh.done("schema", "plan", "--output", "jsonl"); after.out != "" {
		t.Errorf("planned after all was applied: %s", after.out)
	}
	sh.done(verify...)
	same()
}

func TestTwoProcessesMayApplyAtOnce(t *testing.T) {
	db := world.Database(t)
	sh := newShell(t).dsn(configOf(db.Login, db.Name))
	var together sync.WaitGroup
	answers := make([]answer, 2)
	for i := range answers {
		together.Go(func() { answers[i] = sh.run(apply...) })
	}
	together.Wait()
	for _, a := range answers {
		if a.code != exitDone {
			t.Errorf("exit code %d: %s", a.code, a.err)
		}
	}
	sh.done(verify...)
}

func TestApplyAdmitsAnExistingLoginAndNoOther(t *testing.T) {
	db := world.Database(t)
	daemon := configOf(db.Login, db.Name)
	daemon.User, daemon.Passwd = db.Name+"_mine", "login-secret"
	migration := newShell(t).dsn(configOf(db.Login, db.Name))
	same := unchanged(t, db.Admin, db.Name)
	migration.refused(exitFailed, []string{"schema", "apply", "--login", daemon.User}, "there is no login "+daemon.User)
	migration.refused(exitUsage, []string{"schema", "apply", "--login", ""}, "--login is empty")
	same()
	execute(t, db.Admin, "CREATE USER '"+daemon.User+"' IDENTIFIED BY 'login-secret'")
	sh := newShell(t).dsn(daemon)
	sh.refused(exitFailed, check, "privileges_differ", "may not use database", "schema apply --login "+daemon.User)
	migration.done("schema", "apply", "--login", daemon.User)
	got := decode[checked](t, sh.done("store", "check", "--output", "json").out)
	if got.Kind != "embedded" || got.Database != db.Name || got.Login != daemon.User || len(got.Roles) != 3 || !strings.Contains(got.Version, "TiDB-v8.5.6") {
		t.Errorf("got %+v", got)
	}
}

// The daemon's login and the one that changes the schema are two: the schema commands use the second.
func TestTheSchemaCommandsUseTheMigrationLogin(t *testing.T) {
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name)).with("CONNECTOR_STORE_MIGRATION_DSN=" + migrationOf(t, store).FormatDSN())
	sh.done(verify...)
	sh.done(apply...)
	sh.done(check...)
	alone := newShell(t).with("CONNECTOR_STORE_MIGRATION_DSN=" + migrationOf(t, store).FormatDSN())
	alone.done(verify...)
	alone.refused(exitUsage, check, "store.migration_dsn names a cluster and store.dsn is missing")
	alone.refused(exitUsage, []string{"store", "serve"}, "store.migration_dsn names a cluster and store.dsn is missing")
}

func TestShowSQLMakesTheSchema(t *testing.T) {
	sh := newShell(t)
	all, err := schema.ParseSteps(sh.done("schema", "show-sql").out)
	want, _ := schema.Steps()
	if err != nil || len(all) != len(want) {
		t.Fatalf("it cannot be read back: %d steps, %v", len(all), err)
	}
	for i := range want {
		if all[i] != want[i] {
			t.Errorf("step %d differs", want[i].Number)
		}
	}
	if lines := strings.Count(sh.done("schema", "show-sql", "--output", "jsonl").out, "\n"); lines != len(want) {
		t.Errorf("%d lines of JSON for %d steps", lines, len(want))
	}
}
