package world

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectorcore/engine/embedded"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// DB is a fresh database on a real TiDB.
type DB struct {
	// Name has 14 characters, all of them letters of no special meaning, so that an account <Name>_<role> fits in 32.
	Name string
	// Login is the administrator's, for those who open pools of their own.
	Login embedded.Login
	// Admin is a counted pool of that login in this database, with parsed times in UTC.
	Admin *sql.DB
}

// Database makes a database on the shared server. It is dropped at the test's end, and with it every account and role
// whose name begins with <Name>_.
func Database(t testing.TB) *DB {
	t.Helper()
	return DatabaseOn(t, Server(t))
}

// DatabaseOn makes a database on the server of this login.
func DatabaseOn(t testing.TB, login embedded.Login) *DB {
	t.Helper()
	// First, so that its line comes last: cleanups run in the reverse order.
	Statements(t)
	keeper, err := login.Open()
	if err != nil {
		t.Fatal(err)
	}
	name := uniqueName()
	// Our own statements go through a pool that is not counted: a test that does nothing must not look like a proof.
	if _, err := keeper.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		_ = keeper.Close()
		t.Fatalf("world: create database: %v", err)
	}
	t.Cleanup(func() {
		defer keeper.Close()
		drop(t, keeper, name)
	})
	db := &DB{Name: name, Login: login}
	config := login.Config()
	config.DBName = name
	config.ParseTime, config.Loc = true, time.UTC
	config.Params = map[string]string{"time_zone": "'+00:00'"}
	db.Admin = Open(t, config)
	return db
}

// Open makes a counted pool of a driver configuration, closed at the test's end.
func Open(t testing.TB, config *mysql.Config) *sql.DB {
	t.Helper()
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatalf("world: open: %v", err)
	}
	pool := sql.OpenDB(Counted(t, connector))
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

func uniqueName() string {
	var raw [6]byte
	_, _ = rand.Read(raw[:]) // documented never to fail
	return "t_" + hex.EncodeToString(raw[:])
}

// drop cleans up after a test that may have killed its server; then there is nothing to drop.
func drop(t testing.TB, keeper *sql.DB, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if keeper.PingContext(ctx) != nil {
		return
	}
	rows, err := keeper.QueryContext(ctx, "SELECT user, host FROM mysql.user WHERE user LIKE ?", strings.ReplaceAll(name, "_", `\_`)+`\_%`)
	if err != nil {
		t.Errorf("world: list the accounts of %s: %v", name, err)
		return
	}
	var accounts []string
	for rows.Next() {
		var user, host string
		if err := rows.Scan(&user, &host); err != nil {
			t.Errorf("world: list the accounts of %s: %v", name, err)
		}
		accounts = append(accounts, fmt.Sprintf("'%s'@'%s'", user, host))
	}
	if err := rows.Err(); err != nil {
		t.Errorf("world: list the accounts of %s: %v", name, err)
	}
	if len(accounts) > 0 {
		if err := dropAccounts(ctx, keeper, accounts); err != nil {
			t.Errorf("world: drop the accounts of %s: %v", name, err)
		}
	}
	if _, err := keeper.ExecContext(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
		t.Errorf("world: drop %s: %v", name, err)
	}
}

func dropAccounts(ctx context.Context, keeper *sql.DB, accounts []string) error {
	release, err := schema.LockRoles(ctx, keeper)
	if err != nil {
		return err
	}
	_, err = keeper.ExecContext(ctx, "DROP USER IF EXISTS "+strings.Join(accounts, ", "))
	return errors.CombineErrors(err, release())
}
