package schema_test

import (
	"strings"
	"testing"

	"connectorcore/proptest/world"
	"connectorcore/schema"
)

func TestR42AnApplicationsDatabaseIsNeitherOursNorTheServers(t *testing.T) {
	store := world.Converged(t)
	for _, name := range []string{"", "a-b", "a`b", "crm.orders", strings.Repeat("a", 65), store.Name, strings.ToUpper(store.Name), "mysql", "MySQL", "sys", "INFORMATION_SCHEMA"} {
		err := schema.AdmitApplication(t.Context(), store.Admin, store.Name, name)
		if err == nil || !strings.Contains(err.Error(), "want a database of its own") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if !denied(t, errorOf(store.Pool(t, schema.RoleApplication).ExecContext(t.Context(), "UPDATE mysql.user SET user = user WHERE 1 = 0")), "mysql.user") {
		t.Error("the application may write in the server's own tables")
	}
}

// A bare _ in the name of a GRANT stands for any character.
func TestR42TheApplicationMayWriteInItsOwnDatabaseAndInNoNeighbours(t *testing.T) {
	store := world.Converged(t)
	own, neighbour := store.Name+"_crm", store.Name+"xcrm"
	run(t, store.Admin, "CREATE DATABASE "+neighbour)
	defer run(t, store.Admin, "DROP DATABASE IF EXISTS "+own, "DROP DATABASE "+neighbour)
	for range 2 { // a second time it is there already
		if err := schema.AdmitApplication(t.Context(), store.Admin, store.Name, own); err != nil {
			t.Fatal(err)
		}
	}
	application := store.Pool(t, schema.RoleApplication)
	for _, database := range []string{own, neighbour} {
		run(t, store.Admin, "CREATE TABLE "+database+".kept (a int)")
		for _, statement := range []string{"INSERT INTO $T VALUES (1)", "UPDATE $T SET a = 2", "SELECT a FROM $T", "DELETE FROM $T"} {
			statement = strings.ReplaceAll(statement, "$T", database+".kept")
			if refused := denied(t, errorOf(application.ExecContext(t.Context(), statement)), statement); refused != (database == neighbour) {
				t.Errorf("%s: refused %t", statement, refused)
			}
		}
	}
	if !denied(t, errorOf(application.ExecContext(t.Context(), "DROP TABLE "+own+".kept")), "DROP") {
		t.Error("the application may drop its tables")
	}
}
