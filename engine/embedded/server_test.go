package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDataOutlivesStopAndKillAndTheAddressStays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `not "made" \ yet, größer & <so>`)
	server := start(t, Options{Dir: dir})
	db := open(t, server)
	execute(t, db, "CREATE DATABASE kept", "CREATE TABLE kept.t (a INT PRIMARY KEY)", "INSERT INTO kept.t VALUES (1)")
	address := server.Root().Address

	killServer(t, server)
	if server.Root().Address != address {
		t.Errorf("the address moved from %s to %s", address, server.Root().Address)
	}
	execute(t, db, "INSERT INTO kept.t VALUES (2)")
	stop(t, server)
	if state, _ := server.State(); state.Phase != Stopped || state.Err != nil {
		t.Errorf("after a stop: %+v", state)
	}
	select {
	case <-server.Done():
	default:
		t.Error("stopped, and not done")
	}

	again := start(t, Options{Dir: dir})
	var count int
	if err := open(t, again).QueryRow("SELECT COUNT(*) FROM kept.t").Scan(&count); err != nil || count != 2 {
		t.Errorf("got %d rows, %v, want 2", count, err)
	}
}

func TestOnlyThePasswordOpensAndItIsWrittenNowhereElse(t *testing.T) {
	dir := t.TempDir()
	server := start(t, Options{Dir: dir})
	login := server.Root()
	execute(t, open(t, server), "CREATE DATABASE one")
	for _, wrong := range []Password{NewPassword(""), NewPassword("wrong")} {
		db, err := Login{Address: login.Address, User: "root", Password: wrong}.Open()
		if err != nil {
			t.Fatal(err)
		}
		err = db.Ping()
		_ = db.Close()
		if !denied(err) {
			t.Errorf("root came in with a wrong password: %v", err)
		}
	}
	secret := login.Password.Reveal()
	if printed := fmt.Sprintf("%v %+v %#v %s %q %x", login, login, login, login.Password, login.Password, login.Password); strings.Contains(printed, secret) {
		t.Error("printing a login shows its password")
	}
	stop(t, server)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == passwordName {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			t.Errorf("%s holds the password", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, passwordName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the password's file: %v, %v", info.Mode(), err)
	}
}

func TestADirectoryInUseIsRefusedWithItsUser(t *testing.T) {
	dir := t.TempDir()
	server := start(t, Options{Dir: dir})
	refused(t, Options{Dir: dir}, "in use by process", fmt.Sprint(os.Getpid()), server.Root().Address)
	if err := open(t, server).Ping(); err != nil {
		t.Errorf("the refused one disturbed the first: %v", err)
	}
}

func TestADirectoryThatIsNotOursIsRefusedUntouched(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	refused(t, Options{Dir: dir}, "not made by this program", "thesis.txt")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("something was written into it: %v, %v", entries, err)
	}
}

func TestADirectoryOfOtherSettingsIsRefused(t *testing.T) {
	dir := t.TempDir()
	stop(t, start(t, Options{Dir: dir, splitTable: true}))
	refused(t, Options{Dir: dir}, "split-table=true", "split-table=false", "tears")

	if err := writeFile(filepath.Join(dir, stampName), []byte(`{"release":"v8.5.6","split_table":false,"ready":true}`)); err != nil {
		t.Fatal(err)
	}
	refused(t, Options{Dir: dir}, "one region for all") // a forged stamp does not help: the regions are looked at

	if err := writeFile(filepath.Join(dir, stampName), []byte(`{"release":"v8.1.0","split_table":false,"ready":true}`)); err != nil {
		t.Fatal(err)
	}
	refused(t, Options{Dir: dir}, "v8.1.0", Release)
}

func TestAFirstStartCutShortBeginsAnew(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		// The store appears in the middle of the first start.
		defer cancel()
		for t.Context().Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "store")); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if server, err := Start(ctx, Options{Dir: dir}); err == nil {
		stop(t, server)
		t.Fatal("started within the time it takes to make a directory")
	}
	half := filepath.Join(dir, "store", "half made")
	if err := os.WriteFile(half, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, start(t, Options{Dir: dir})).Ping(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the second start goes on with what the first has half made: %v", err)
	}
}

func TestADirectoryThatTheConfigurationCannotNameIsRefused(t *testing.T) {
	for _, name := range []string{"a\nb", "a\xffb"} {
		dir := filepath.Join(t.TempDir(), name)
		refused(t, Options{Dir: dir}, "cannot name it")
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("it was made: %v", err)
		}
	}
	refused(t, Options{}, "no data directory is named")
}

func TestAMissingBinarySaysHowToMakeIt(t *testing.T) {
	refused(t, Options{Dir: t.TempDir(), Binary: filepath.Join(t.TempDir(), "tidb-server")}, "run `make tidb`")
}

func TestAServerThatCannotStartSaysItsLastWords(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "tidb-server")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\necho the disk is on fire\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	refused(t, Options{Dir: t.TempDir(), Binary: binary}, "exit status 3", "the disk is on fire")
}

func TestAServerThatKeepsFailingIsGivenUp(t *testing.T) {
	link := filepath.Join(t.TempDir(), "tidb-server")
	real, err := BinaryPath()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	server := startOnly(t, Options{Dir: t.TempDir(), Binary: link, pause: time.Millisecond})
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	state, _ := server.State()
	if err := syscall.Kill(state.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-server.Done():
	case <-time.After(testWait):
		t.Fatal("still trying")
	}
	if state, _ := server.State(); state.Phase != Stopped || state.Err == nil || !strings.Contains(state.Err.Error(), "make tidb") {
		t.Errorf("given up without a reason: %+v", state)
	}
}

// startOnly starts a server that the test itself brings to its end.
func startOnly(t *testing.T, options Options) *Server {
	t.Helper()
	server, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.Background()) })
	return server
}

func TestAnInterruptAtTheTerminalDoesNotReachTheServer(t *testing.T) {
	server := start(t, Options{Dir: t.TempDir()})
	state, _ := server.State()
	group, err := syscall.Getpgid(state.PID)
	if err != nil || group != state.PID || group == syscall.Getpgrp() {
		t.Errorf("the server is in process group %d, %v; we are in %d", group, err, syscall.Getpgrp())
	}
}

func TestAServerThatDoesNotObeyIsKilledAndLosesNothing(t *testing.T) {
	dir := t.TempDir()
	server := startOnly(t, Options{Dir: dir})
	db := open(t, server)
	execute(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (7)")
	tx, err := db.Begin() // the server waits for open transactions
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO d.t VALUES (8)"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := server.Stop(ctx); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("got %v", err)
	}
	if err := tx.Commit(); err == nil {
		t.Error("committed on a dead server")
	}
	var found int
	if err := open(t, start(t, Options{Dir: dir})).QueryRow("SELECT a FROM d.t").Scan(&found); err != nil || found != 7 {
		t.Errorf("got %d, %v, want 7 only", found, err)
	}
}
