package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// superviseEnv makes this test binary a supervisor of the named directory, for the test that kills one.
const superviseEnv = "EMBEDDED_TEST_SUPERVISE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(superviseEnv); dir != "" {
		superviseForTest(dir)
	}
	os.Exit(m.Run())
}

// superviseForTest prints the address when the server serves, and ends with its standard input.
func superviseForTest(dir string) {
	server, err := Start(context.Background(), Options{Dir: dir})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(server.Root().Address)
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// testWait bounds every wait of these tests; none of them waits that long unless it fails.
const testWait = 60 * time.Second

func start(t *testing.T, options Options) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testWait)
	defer cancel()
	options.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	server, err := Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, server) })
	return server
}

func stop(t *testing.T, server *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testWait)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func open(t *testing.T, server *Server) *sql.DB {
	t.Helper()
	db, err := server.Root().Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// killServer kills the tidb-server and waits until the supervisor has it serving again.
func killServer(t *testing.T, server *Server) State {
	t.Helper()
	before, changed := server.State()
	if before.Phase != Serving {
		t.Fatalf("not serving before the kill: %+v", before)
	}
	kill(t, before.PID)
	deadline := time.After(testWait)
	for {
		select {
		case <-changed:
		case <-deadline:
			t.Fatal("the supervisor did not bring the server back")
		}
		var now State
		if now, changed = server.State(); now.Phase == Stopped {
			t.Fatalf("the supervisor gave up: %v", now.Err)
		} else if now.Phase == Serving && now.Starts == before.Starts+1 {
			return now
		}
	}
}

// refused starts a server that must be refused with a sentence that holds all the words.
func refused(t *testing.T, options Options, words ...string) {
	t.Helper()
	server, err := Start(t.Context(), options)
	if err == nil {
		stop(t, server)
		t.Fatalf("started, want a refusal that says %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the refusal does not say %q: %v", word, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the refusal is not one sentence: %v", err)
	}
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
