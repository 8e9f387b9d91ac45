package gotest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Options say how to run and who listens.
type Options struct {
	Dir   string    // the folder of the module
	Args  []string  // after `go test -json -count=1`
	Raw   io.Writer // takes the stream as it is; nil for nobody
	Each  func(Event)
	Stray func(string) // takes what the go command printed outside the stream
}

// Execute runs `go test -json -count=1` and reads what it prints. A test that fails is no error: the Run tells of
// it, and clean is false. When ctx ends, the whole process group is interrupted, so that no test binary stays.
func Execute(ctx context.Context, options Options) (run *Run, clean bool, err error) {
	command := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-count=1"}, options.Args...)...)
	command.Dir = options.Dir
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = 10 * time.Second
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, false, err
	}
	var stream io.Reader = stdout
	if options.Raw != nil {
		stream = io.TeeReader(stdout, options.Raw)
	}
	if options.Each == nil {
		options.Each = func(Event) {}
	}
	if options.Stray == nil {
		options.Stray = func(line string) { fmt.Fprint(os.Stderr, line) }
	}
	if err := command.Start(); err != nil {
		return nil, false, fmt.Errorf("start go test: %w", err)
	}
	run = NewRun()
	readErr := run.Read(stream, options.Each, options.Stray)
	waitErr := command.Wait()
	if ctx.Err() != nil {
		return run, false, fmt.Errorf("go test was interrupted: %w", ctx.Err())
	}
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		return run, false, fmt.Errorf("go test: %w", waitErr)
	}
	return run, waitErr == nil && readErr == nil, readErr
}
