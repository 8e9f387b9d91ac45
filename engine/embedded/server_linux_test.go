package embedded

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestEveryFileOfTheServerIsInTheDataDirectory(t *testing.T) {
	dir := t.TempDir()
	server := start(t, Options{Dir: dir})
	for _, name := range []string{"tidb.sock", "tmp", "log/tidb.log", "store"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("not in the data directory: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, initName)); !os.IsNotExist(err) {
		t.Errorf("the statements of the first start are still there: %v", err)
	}
	state, _ := server.State()
	locked := false
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", state.PID))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", state.PID, fd.Name()))
		locked = locked || target == filepath.Join(dir, lockName)
		if err == nil && strings.HasPrefix(target, "/") && !strings.HasPrefix(target, dir) &&
			!strings.HasPrefix(target, "/dev/") && !strings.HasPrefix(target, "/proc/") && !strings.HasPrefix(target, "/sys/") {
			t.Errorf("the server has a file open outside: %s", target)
		}
	}
	if !locked {
		t.Error("the server does not hold the directory's lock: a killed supervisor would free the directory before it")
	}
}

func TestTheServerTakesNoSettingFromOurEnvironment(t *testing.T) {
	t.Setenv("CONNECTOR_SECRET_OF_THE_APPLICATION", "x")
	server := start(t, Options{Dir: t.TempDir()})
	state, _ := server.State()
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", state.PID))
	if err != nil || strings.Contains(string(env), "CONNECTOR") {
		t.Errorf("the server inherited our environment: %q, %v", env, err)
	}
	config := server.Root().Config()
	if config.Net != "tcp" || !strings.HasPrefix(config.Addr, "127.0.0.1:") {
		t.Errorf("not on the loopback interface: %s %s", config.Net, config.Addr)
	}
}

func TestTheServerDiesWithAKilledSupervisor(t *testing.T) {
	dir := t.TempDir()
	supervisor := exec.Command(os.Args[0])
	supervisor.Env = append(os.Environ(), superviseEnv+"="+dir)
	input, err := supervisor.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := supervisor.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := supervisor.Start(); err != nil {
		t.Fatal(err)
	}
	defer input.(io.Closer).Close()
	line, err := bufio.NewReader(output).ReadString('\n')
	address := strings.TrimSpace(line)
	if err != nil || !strings.HasPrefix(address, "127.0.0.1:") {
		t.Fatalf("the supervisor says %q, %v", line, err)
	}
	if err := supervisor.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = supervisor.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		_ = conn.Close()
		if time.Now().After(deadline) {
			t.Fatal("the tidb-server outlived its supervisor by 10 s")
		}
		time.Sleep(10 * time.Millisecond)
	}
	// The directory is free when the child is wholly gone; its supervisor has no say in it.
	for {
		file, err := lockFile(filepath.Join(dir, lockName))
		if err == nil {
			_ = file.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the directory is not free: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := open(t, start(t, Options{Dir: dir})).Ping(); err != nil {
		t.Error(err)
	}
}

func TestTheServerOutlivesTheThreadThatAskedForIt(t *testing.T) {
	dir := t.TempDir()
	var server *Server
	var failed error
	thread := make(chan int)
	var ask func()
	ask = func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		if syscall.Gettid() == os.Getpid() {
			go ask() // the first thread of a process never ends
			select {}
		}
		server, failed = Start(context.Background(), Options{Dir: dir})
		thread <- syscall.Gettid()
	}
	go ask()
	task := fmt.Sprintf("/proc/self/task/%d", <-thread)
	if failed != nil {
		t.Fatal(failed)
	}
	t.Cleanup(func() { stop(t, server) })
	for deadline := time.Now().Add(testWait); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(task); os.IsNotExist(err) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the thread does not end")
		}
	}
	if err := open(t, server).Ping(); err != nil {
		t.Error(err)
	}
	if state, _ := server.State(); state.Phase != Serving || state.Starts != 1 {
		t.Errorf("the server died with a thread of ours: %+v", state)
	}
}
