package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"connectorcore/engine/embedded"
	"connectorcore/proptest/world"

	"github.com/go-sql-driver/mysql"
)

// olderServer is a tidb-server that reports an older release. The supervisor would refuse it, so it is started here.
func olderServer(t *testing.T) (root *mysql.Config, admin *sql.DB) {
	t.Helper()
	path, err := embedded.FindBinary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	port := freePort(t)
	text := fmt.Sprintf(`split-table = false
host = "127.0.0.1"
port = %d
store = "unistore"
path = %q
socket = ""
temp-dir = %q
server-version = "8.0.11-TiDB-v8.5.5"
[status]
report-status = false
[log]
level = "error"
`, port, filepath.Join(dir, "store"), filepath.Join(dir, "tmp"))
	config := filepath.Join(dir, "tidb.toml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command(path, "-config", config, "-config-strict")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // its data are thrown away
		<-ended
	})
	root = mysql.NewConfig()
	root.Net, root.Addr, root.User = "tcp", fmt.Sprintf("127.0.0.1:%d", port), "root"
	root.Logger = &mysql.NopLogger{}
	admin = world.Open(t, root)
	deadline := time.After(testWait)
	for poll := time.NewTicker(50 * time.Millisecond); admin.PingContext(t.Context()) != nil; {
		select {
		case <-poll.C:
		case <-ended:
			t.Fatalf("it ended before it served: %s", said.String())
		case <-deadline:
			t.Fatal("it does not serve")
		}
	}
	named := root.Clone()
	named.DBName = "test"
	return named, admin
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
