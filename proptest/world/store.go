package world

import (
	"context"
	"database/sql"
	"os"
	"sync"
	"testing"

	"connectorcore/engine/embedded"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// Store is a database that was converged to the declared schema, with the login of a daemon.
type Store struct {
	Name  string
	Login embedded.Login // the daemon's: it holds the runtime roles and nothing else
	Admin *sql.DB        // counted, the server's administrator in this database
}

// converged is this process's shared store: converging takes a second, so tests that do not spoil the schema share
// one. The server drops it with itself.
var converged = struct {
	sync.Mutex
	name  string
	login embedded.Login
}{}

// Converged is a converged database that all tests of this process share. Whoever changes its schema, its roles or
// its settings takes Fresh instead.
func Converged(t testing.TB) *Store {
	t.Helper()
	if os.Getenv(dsnEnv) != "" {
		return Fresh(t) // that server stays, and what is left on it would pile up
	}
	converged.Lock()
	defer converged.Unlock()
	server := Server(t)
	if converged.name == "" {
		name := uniqueName()
		login := converge(t, server, name)
		converged.name, converged.login = name, login
	}
	return storeOf(t, server, converged.name, converged.login)
}

// Fresh is a converged database of the test's own on the shared server, dropped at its end.
func Fresh(t testing.TB) *Store {
	t.Helper()
	return FreshOn(t, Server(t))
}

// FreshOn is a converged database of the test's own on the server of this login.
func FreshOn(t testing.TB, server embedded.Login) *Store {
	t.Helper()
	db := DatabaseOn(t, server)
	return storeOf(t, server, db.Name, converge(t, server, db.Name))
}

func storeOf(t testing.TB, server embedded.Login, name string, login embedded.Login) *Store {
	t.Helper()
	config := server.Config()
	config.DBName = name
	return &Store{Name: name, Login: login, Admin: Open(t, config)}
}

// converge makes the schema and a login for a daemon. Its statements are not counted: they prove nothing of a test.
func converge(t testing.TB, server embedded.Login, name string) embedded.Login {
	t.Helper()
	ctx := context.Background() // a shared store outlives the test that made it
	dsn := dsnOf(server, name)
	if _, err := schema.Converge(ctx, dsn); err != nil {
		t.Fatalf("world: converge: %v", err)
	}
	admin, err := schema.Connect(ctx, dsn, schema.RoleMigration)
	if err != nil {
		t.Fatalf("world: connect: %v", err)
	}
	defer admin.Close()
	login := embedded.Login{Address: server.Address, User: name + "_daemon", Password: embedded.NewPassword(uniqueName())}
	release, err := schema.LockRoles(ctx, admin)
	if err != nil {
		t.Fatalf("world: %v", err)
	}
	_, err = admin.ExecContext(ctx, "CREATE USER '"+login.User+"' IDENTIFIED BY '"+login.Password.Reveal()+"'")
	if err := errors.CombineErrors(err, release()); err != nil {
		t.Fatalf("world: a daemon's login: %v", err)
	}
	if err := schema.Admit(ctx, admin, name, login.User); err != nil {
		t.Fatalf("world: %v", err)
	}
	return login
}

func dsnOf(login embedded.Login, name string) schema.DSN {
	config := login.Config()
	config.DBName = name
	return schema.DSN(config.FormatDSN())
}

// DSN is the daemon's data source name.
func (s *Store) DSN() schema.DSN { return dsnOf(s.Login, s.Name) }

// Pool is a counted pool of the daemon's login in one role, closed at the test's end.
func (s *Store) Pool(t testing.TB, role schema.Role) *sql.DB {
	t.Helper()
	return s.PoolAt(t, role, s.Login.Address, nil)
}

// PoolAt is Pool through another address, a proxy's for example, with parameters added to the DSN.
func (s *Store) PoolAt(t testing.TB, role schema.Role, address string, change func(*mysql.Config)) *sql.DB {
	t.Helper()
	login := s.Login
	login.Address = address
	config := login.Config()
	config.DBName = s.Name
	if change != nil {
		change(config)
	}
	connector, err := schema.Connector(schema.DSN(config.FormatDSN()), role)
	if err != nil {
		t.Fatalf("world: %v", err)
	}
	pool := sql.OpenDB(Counted(t, connector))
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}
