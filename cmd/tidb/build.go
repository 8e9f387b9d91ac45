package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	serverPackage = "github.com/pingcap/tidb/cmd/tidb-server"
	// abiTest is TiDB's own test that the layouts which its package hack copies out of the Go runtime still hold.
	abiTest = "github.com/pingcap/tidb/pkg/util/hack"
	// TiDB panics at start under any Go but 1.25, because hack looks at runtime.Version(). The flag satisfies that
	// look, and abiTest, run with the same flag on this very toolchain, shows that what the look stands for is true.
	pretendFlag = "-X runtime.buildVersion=go1.25.8"
	releaseFlag = "-X github.com/pingcap/tidb/pkg/parser/mysql.TiDBReleaseVersion=" + release
	// heartbeat is the distance of the lines that tell a waiting person that the build is alive.
	heartbeat = 15 * time.Second
)

var errInterrupted = errors.New("interrupted")

// build proves the toolchain, builds beside the target, checks the result, and only then puts it in place.
func build(ctx context.Context, in inputs, target string) error {
	say("building tidb-server %s with %s. This happens once; with nothing cached it takes 10 to 15 minutes on two cores.",
		release, in.goVersion)
	err := step(ctx, "testing that TiDB's view of the Go runtime holds (1 of 3)", in.moduleDir,
		"go", "test", "-mod=readonly", "-vet=off", "-ldflags", pretendFlag, abiTest)
	if errors.Is(err, errInterrupted) {
		return err // it says nothing of the test
	}
	if err != nil {
		return fmt.Errorf("refusing to build: TiDB's test of the Go runtime's layout did not pass with %s, and a server built all the same could corrupt its memory: %w",
			in.goVersion, err)
	}
	fresh := filepath.Join(filepath.Dir(target), fmt.Sprintf(".tidb-server.%d", os.Getpid()))
	defer os.Remove(fresh)
	err = step(ctx, "compiling and linking tidb-server (2 of 3)", in.moduleDir,
		"go", "build", "-mod=readonly", "-v", "-ldflags", pretendFlag+" "+releaseFlag, "-o", fresh, serverPackage)
	if errors.Is(err, errInterrupted) {
		return err // nothing has failed
	}
	if err != nil {
		return fmt.Errorf("the build of tidb-server failed: %w", err)
	}
	if err := checkVersion(ctx, fresh); err != nil {
		return err
	}
	return install(fresh, target, in.digest())
}

// step runs one command, saying what it does at its start and every heartbeat after. The command's own words are
// kept and shown only if it fails.
func step(ctx context.Context, what, dir, name string, args ...string) error {
	say("%s", what)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	// An interrupt lets go remove its work directory; only a go that ignores it is killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var words tail
	cmd.Stdout, cmd.Stderr = &words, &words
	began := time.Now()
	done := make(chan error, 1)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if ctx.Err() != nil {
				return fmt.Errorf("%w after %s; run it again, what is compiled stays cached", errInterrupted, time.Since(began).Round(time.Second))
			}
			if err != nil {
				return fmt.Errorf("%s: %w\n%s", cmd.String(), err, words.text())
			}
			return nil
		case <-tick.C:
			say("%s: %s elapsed%s", what, time.Since(began).Round(time.Second), words.progress())
		}
	}
}

// checkVersion refuses a binary that does not say the release: the engine would refuse it at every start.
func checkVersion(ctx context.Context, binary string) error {
	say("checking what was built (3 of 3)")
	out, err := exec.CommandContext(ctx, binary, "-V").CombinedOutput()
	if err != nil {
		return fmt.Errorf("the tidb-server just built does not run: %w\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if key, value, ok := strings.Cut(line, ":"); ok && key == "Release Version" && strings.TrimSpace(value) == release {
			return nil
		}
	}
	return fmt.Errorf("the tidb-server just built does not name the release %s; it says:\n%s", release, out)
}

// tail keeps the last lines that a command wrote, and how many there were.
type tail struct {
	mu    sync.Mutex
	lines []string
	part  []byte
	count int
}

const tailLines = 40

// Write takes output in pieces of any size.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.part = append(t.part, p...)
	for {
		line, rest, ok := bytes.Cut(t.part, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		t.lines, t.count, t.part = append(t.lines, string(line)), t.count+1, rest
		if len(t.lines) > tailLines {
			t.lines = t.lines[1:]
		}
	}
}

// text is what is kept.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(append(append([]string(nil), t.lines...), string(t.part)), "\n")
}

// progress reads the count and the name of the package at hand out of the output of go build -v.
func (t *tail) progress() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d packages so far, at %s", t.count, t.lines[len(t.lines)-1])
}
