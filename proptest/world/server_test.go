package world

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"connectorcore/engine/embedded"
)

// shortTask is a run directory of the test's own whose server leaves as soon as nobody uses it.
func shortTask(t *testing.T) task { return task{Dir: t.TempDir(), Grace: time.Millisecond} }

// eventually polls for what other processes do.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

func awaitEnd(t *testing.T, dir string, address string) {
	t.Helper()
	eventually(t, "the keeper ends", func() bool {
		free, err := isFree(filepath.Join(dir, keeperName))
		return err == nil && free
	})
	if conn, err := net.Dial("tcp", address); err == nil {
		_ = conn.Close()
		t.Error("the keeper has ended and its server has not")
	}
	for _, pattern := range []string{stateName, dataPrefix + "*"} {
		if left, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

func TestFirstUsersAtOnceShareOneServerThatEndsAfterTheLast(t *testing.T) {
	shortly := shortTask(t)
	const users = 6
	logins, locks := make([]embedded.Login, users), make([]*os.File, users)
	var group sync.WaitGroup
	for i := range users {
		group.Go(func() {
			var err error
			if logins[i], locks[i], err = use(shortly); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for i, login := range logins {
		if login.Address != logins[0].Address {
			t.Errorf("user %d has the server %s, user 0 has %s", i, login.Address, logins[0].Address)
		}
	}
	for _, lock := range locks[1:] {
		_ = lock.Close()
	}
	for range 20 { // many looks of the keeper later the last user still has its server
		if !answers(logins[0]) {
			t.Fatal("the server left its last user")
		}
	}
	_ = locks[0].Close()
	awaitEnd(t, shortly.Dir, logins[0].Address)
}

func TestAUserThatComesWhileTheServerLeavesGetsAnother(t *testing.T) {
	shortly := shortTask(t)
	state := filepath.Join(shortly.Dir, stateName)
	var last embedded.Login
	for range 3 {
		login, lock, err := use(shortly)
		if err != nil {
			t.Fatal(err)
		}
		if !answers(login) {
			t.Error("got a server that does not answer")
		}
		_ = lock.Close()
		eventually(t, "the state is withdrawn", func() bool { _, err := os.Stat(state); return os.IsNotExist(err) })
		last = login
	}
	awaitEnd(t, shortly.Dir, last.Address)
}

func TestAKilledKeeperIsReplacedAndItsServerIsGone(t *testing.T) {
	shortly := shortTask(t)
	before, lock, err := use(shortly)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	text, err := os.ReadFile(filepath.Join(shortly.Dir, stateName))
	var p published
	if err != nil || json.Unmarshal(text, &p) != nil {
		t.Fatalf("no state: %v", err)
	}
	if info, err := os.Stat(filepath.Join(shortly.Dir, stateName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the state holds a password and its mode is %v, %v", info.Mode(), err)
	}
	if group, err := syscall.Getpgid(p.Keeper); err != nil || group != p.Keeper {
		t.Errorf("the keeper is in process group %d, %v: an interrupt typed at the terminal would end it under its users", group, err)
	}
	if err := syscall.Kill(p.Keeper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server dies with its keeper", func() bool { return !answers(before) })
	after, second, err := use(shortly)
	if err != nil {
		t.Fatal(err)
	}
	if after.Password == before.Password || !answers(after) {
		t.Error("the stale state was believed")
	}
	_ = second.Close()
	_ = lock.Close()
	awaitEnd(t, shortly.Dir, after.Address)
}

func TestWithoutABuiltServerATestFailsAtOnceAndSaysHowToBuild(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	shortly := shortTask(t)
	_, _, err := use(shortly)
	if err == nil || !strings.Contains(err.Error(), "run `make tidb`") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(shortly.Dir); err != nil || len(entries) > 0 {
		t.Errorf("something was started: %v, %v", entries, err)
	}
}

func TestANamedServerIsUsedAndABadNameIsNotPrinted(t *testing.T) {
	login, err := parseDSN("me:secret@tcp(127.0.0.1:4000)/anything?parseTime=true")
	if err != nil || login.Address != "127.0.0.1:4000" || login.User != "me" || login.Password.Reveal() != "secret" {
		t.Errorf("got %v, %v", login, err)
	}
	if _, err := parseDSN("me:secret@127.0.0.1"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

func TestAServerOfOnesOwnIsNotTheSharedOne(t *testing.T) {
	own := OwnServer(t)
	if own.Root().Address == Server(t).Address {
		t.Error("it is the shared one")
	}
	var one int
	if err := DatabaseOn(t, own.Root()).Admin.QueryRow("SELECT 1").Scan(&one); err != nil || one != 1 {
		t.Errorf("got %d, %v", one, err)
	}
}
