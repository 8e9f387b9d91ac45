package world

import (
	"context"
	"strings"
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
	if err := schema.AdmitApplication(context.Background(), s.Admin, s.Name, a.Name); err != nil {
		t.Fatalf("world: %v", err)
	}
	t.Cleanup(func() { a.exec(t, "DROP DATABASE "+a.Name) })
	t.Cleanup(func() { a.revoke(t) })
	for name, columns := range tables {
		a.exec(t, "CREATE TABLE "+a.Name+"."+name+" ("+columns+")")
	}
	return a
}

// revoke takes back what the role was granted: the server keeps the grants of a database that is gone.
func (a *Application) revoke(t testing.TB) {
	t.Helper()
	release, err := schema.LockRoles(context.Background(), a.store.Admin) // a test that is over has no context
	if err != nil {
		t.Fatalf("world: %v", err)
	}
	granted := strings.ReplaceAll(a.Name, "_", `\_`)
	_, err = a.store.Admin.Exec("REVOKE SELECT, INSERT, UPDATE, DELETE ON `" + granted + "`.* FROM '" + a.store.Name + "_" + string(schema.RoleApplication) + "'")
	if err := errors.CombineErrors(err, release()); err != nil {
		t.Fatalf("world: taking back the application's rights: %v", err)
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
