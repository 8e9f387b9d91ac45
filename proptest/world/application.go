package world

import (
	"context"
	"testing"

	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Application is an application's own database beside a store, in which the store's application role may read and write.
type Application struct {
	store *Store
	Name  string
}

// Hosted makes an application's database with these tables, each given as its name and the definition of its columns.
// It is dropped at the test's end.
func (s *Store) Hosted(t testing.TB, tables map[string]string) *Application {
	t.Helper()
	a := &Application{store: s, Name: uniqueName() + "_crm"}
	a.exec(t, "CREATE DATABASE "+a.Name)
	t.Cleanup(func() { a.exec(t, "DROP DATABASE "+a.Name) })
	for name, columns := range tables {
		a.exec(t, "CREATE TABLE "+a.Name+"."+name+" ("+columns+")")
	}
	grant, revoke := "GRANT SELECT, INSERT, UPDATE, DELETE ON "+a.Name+".* TO '", "REVOKE SELECT, INSERT, UPDATE, DELETE ON "+a.Name+".* FROM '"
	role := s.Name + "_" + string(schema.RoleApplication) + "'"
	a.roles(t, grant+role)
	t.Cleanup(func() { a.roles(t, revoke+role) })
	return a
}

// roles runs a statement over roles, of which TiDB takes one at a time.
func (a *Application) roles(t testing.TB, statement string) {
	t.Helper()
	release, err := schema.LockRoles(context.Background(), a.store.Admin) // a test that is over has no context
	if err != nil {
		t.Fatalf("world: %v", err)
	}
	_, err = a.store.Admin.Exec(statement)
	if err := errors.CombineErrors(err, release()); err != nil {
		t.Fatalf("world: %s: %v", statement, err)
	}
}

func (a *Application) exec(t testing.TB, statement string) {
	t.Helper()
	if _, err := a.store.Admin.Exec(statement); err != nil {
		t.Fatalf("world: %s: %v", statement, err)
	}
}

// Text reads one value of the application's database as its administrator, as text.
func (a *Application) Text(t testing.TB, query string, args ...any) string {
	t.Helper()
	var text string
	if err := a.store.Admin.QueryRowContext(t.Context(), query, args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}
