package world

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"connectorcore/engine/embedded"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

const (
	// dsnEnv names a server to use instead of the shared one.
	dsnEnv = "CONNECTOR_TEST_DSN"
	// grace bridges the gap between two packages of one `go test` run.
	grace = 20 * time.Second
	// sharedWait bounds the wait for the shared server: its start, after the end of an older one.
	sharedWait = 150 * time.Second
	// spawnsMax is how many keepers one process starts before it says that none stays.
	spawnsMax = 3
)

// shared is this process's use of the shared server. The lock is held until the process ends.
var shared = sync.OnceValues(func() (embedded.Login, error) {
	if dsn := os.Getenv(dsnEnv); dsn != "" {
		return parseDSN(dsn)
	}
	dir, err := runDirectory()
	if err != nil {
		return embedded.Login{}, err
	}
	login, lock, err := use(task{Dir: dir, Grace: grace})
	heldLock = lock
	return login, err
})

// heldLock keeps the lock's file from being closed by the garbage collector.
var heldLock *os.File

// Server is the administrator's login of the server that all test packages share. It is started if it does not run.
func Server(t testing.TB) embedded.Login {
	t.Helper()
	login, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return login
}

// OwnServer starts a server of the test's own on an empty directory, and ends it with the test. For tests that kill or
// misconfigure a server; all others use Database.
func OwnServer(t testing.TB) *embedded.Server {
	t.Helper()
	return OwnServerAt(t, t.TempDir())
}

// OwnServerAt is OwnServer on a named data directory, for tests that stop a server and start it again.
func OwnServerAt(t testing.TB, dir string) *embedded.Server {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: dir, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.Stop(ctx) // killed if a test left a transaction open
	})
	return server
}

func parseDSN(dsn string) (embedded.Login, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil || config.Net != "tcp" {
		return embedded.Login{}, errors.Newf("world: %s is not a DSN like user:password@tcp(host:port)/", dsnEnv)
	}
	return embedded.Login{Address: config.Addr, User: config.User, Password: embedded.NewPassword(config.Passwd)}, nil
}

// runDirectory is one for each user and checkout: tests of two checkouts may differ in what they do to a server.
func runDirectory() (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", errors.Wrap(err, "world: run directory")
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil || root == filepath.Dir(root) {
			break
		}
		root = filepath.Dir(root)
	}
	name := sha256.Sum256([]byte(root))
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("connectorcore-world-%d-%s", os.Getuid(), hex.EncodeToString(name[:4])))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", errors.Wrap(err, "world: run directory")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", errors.Wrap(err, "world: run directory")
	}
	// The name can be guessed, and the directory will hold a password.
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() || info.Mode().Perm() != 0o700 {
		return "", errors.Newf("world: %s must belong to you with mode 0700; remove it", dir)
	}
	return dir, nil
}

// use returns the login of the run directory's server and the lock that keeps it: close the file to let go.
func use(t task) (embedded.Login, *os.File, error) {
	if _, err := embedded.FindBinary(); err != nil {
		return embedded.Login{}, nil, err
	}
	lock, err := openLock(filepath.Join(t.Dir, usersName))
	if err != nil {
		return embedded.Login{}, nil, err
	}
	// A keeper holds this lock for an instant only. From here on no keeper ends.
	if err := flock(lock, syscall.LOCK_SH); err != nil {
		_ = lock.Close()
		return embedded.Login{}, nil, errors.Wrap(err, "world: users lock")
	}
	login, err := awaitShared(t)
	if err != nil {
		_ = lock.Close()
		return embedded.Login{}, nil, err
	}
	return login, lock, nil
}

// awaitShared waits for a server that answers, and starts a keeper whenever there is none. Of several that start one
// at the same time all but one of their keepers wait in vain and end.
//
// REQUIRES: the users' lock is held.
func awaitShared(t task) (embedded.Login, error) {
	deadline := time.Now().Add(sharedWait)
	spawned := 0
	for time.Now().Before(deadline) {
		if login, ok := readState(t.Dir); ok && answers(login) {
			return login, nil
		}
		none, err := isFree(filepath.Join(t.Dir, keeperName))
		if err != nil {
			return embedded.Login{}, err
		}
		if none {
			if spawned == spawnsMax {
				break
			}
			spawned++
			if err := spawn(t); err != nil {
				return embedded.Login{}, err
			}
			awaitKeeper(t.Dir)
		}
		time.Sleep(25 * time.Millisecond)
	}
	return embedded.Login{}, errors.Newf("world: the shared tidb-server does not start; its keeper says: %s", lastLine(filepath.Join(t.Dir, logName)))
}

// awaitKeeper gives a keeper the time to take its lock, so that it is not taken for missing and started again.
func awaitKeeper(dir string) {
	deadline := time.Now().Add(5 * time.Second)
	for time.Now().Before(deadline) {
		if none, err := isFree(filepath.Join(dir, keeperName)); err != nil || !none {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func readState(dir string) (embedded.Login, bool) {
	text, err := os.ReadFile(filepath.Join(dir, stateName))
	var p published
	if err != nil || json.Unmarshal(text, &p) != nil {
		return embedded.Login{}, false
	}
	return embedded.Login{Address: p.Address, User: p.User, Password: embedded.NewPassword(p.Password)}, true
}

// answers tells whether the server of a state is there: a keeper that was killed has left its state behind.
func answers(login embedded.Login) bool {
	db, err := login.Open()
	if err != nil {
		return false
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return db.PingContext(ctx) == nil
}

func lastLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "nothing"
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
