package serve

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

func openStore(t *testing.T, config platform.Store, with ...Option) *Store {
	t.Helper()
	store, err := OpenStore(t.Context(), config, slog.New(slog.NewTextHandler(t.Output(), nil)), with...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func TestEachPoolIsInItsRole(t *testing.T) {
	fresh := world.Converged(t)
	store := openStore(t, platform.Store{DSN: fresh.DSN()})
	if !store.Embedded || store.Database != fresh.Name || store.Login != fresh.Login.User {
		t.Errorf("got %+v", store.Server)
	}
	for _, role := range store.Roles() {
		var got string
		if err := store.Pool(role).QueryRowContext(t.Context(), "SELECT CURRENT_ROLE()").Scan(&got); err != nil {
			t.Fatal(err)
		}
		if want := "`" + fresh.Name + "_" + string(role) + "`@`%`"; got != want {
			t.Errorf("the pool of %s has role %s, want %s", role, got, want)
		}
		if most := store.Pool(role).Stats().MaxOpenConnections; most != poolMost {
			t.Errorf("the pool of %s has at most %d connections, want %d", role, most, poolMost)
		}
	}
	if store.Pool(schema.RoleMigration) != nil {
		t.Error("a daemon has a pool that may change the schema")
	}
}

// The store that a daemon starts for itself is converged by root, and the daemon never holds root.
func TestTheEmbeddedStoreIsBegunByApplyAndOpenedAgainWithout(t *testing.T) {
	config := platform.Store{Dir: filepath.Join(t.TempDir(), "store")}
	_, err := OpenStore(t.Context(), config, slog.New(slog.DiscardHandler))
	if !errors.Is(err, facts.SchemaDiffers) || !strings.Contains(err.Error(), "there is no embedded store yet") {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(config.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a store was begun by opening it: %v", err)
	}
	store := openStore(t, config, Apply())
	if store.Login != ownLogin {
		t.Errorf("the daemon is %s", store.Login)
	}
	_, err = store.Pool(schema.RoleLedger).ExecContext(t.Context(), "UPDATE account_serving_gate SET deployment_id = account_id")
	var answer *mysql.MySQLError
	if !errors.As(err, &answer) || !isDenied(answer.Number) {
		t.Errorf("the daemon may rewrite a fact: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	again := openStore(t, config)
	var steps int
	if err := again.Pool(schema.RoleReader).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM schema_step").Scan(&steps); err != nil || steps == 0 {
		t.Errorf("%d steps, %v", steps, err)
	}
}

// A password file that was written just before a death is the password that the next apply gives to the login.
func TestAnApplyCompletesALoginThatAnotherLeftHalfMade(t *testing.T) {
	config := platform.Store{Dir: filepath.Join(t.TempDir(), "store")}
	if err := openStore(t, config, Apply()).Close(); err != nil {
		t.Fatal(err)
	}
	if err := writeSecret(filepath.Join(config.Dir, passwordName), "anotherpassword\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(t.Context(), config, slog.New(slog.DiscardHandler)); !errors.Is(err, facts.StoreUnreachable) {
		t.Errorf("a password that the login does not have: %v", err)
	}
	openStore(t, config, Apply())
}

func TestAnInterruptedStartLeavesTheDirectoryFree(t *testing.T) {
	config := platform.Store{Dir: filepath.Join(t.TempDir(), "store")}
	given, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := OpenStore(given, config, slog.New(slog.DiscardHandler), Apply()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	openStore(t, config, Apply())
}

func TestThePoolsOutliveTheirConnections(t *testing.T) {
	fresh := world.Converged(t)
	proxy := world.NewProxy(t, fresh.Login.Address)
	config, err := mysql.ParseDSN(string(fresh.DSN()))
	if err != nil {
		t.Fatal(err)
	}
	config.Addr = proxy.Address()
	store := openStore(t, platform.Store{DSN: schema.DSN(config.FormatDSN())})
	proxy.CutAll()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	// The pools connect again by themselves.
	for _, role := range store.Roles() {
		if err := store.Pool(role).PingContext(ctx); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	}
}
