package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cockroachdb/errors"
)

// process is a program that runs beside the demo and ends with it.
type process struct {
	name  string
	log   string // the file of its standard error
	cmd   *exec.Cmd
	first chan string   // its first line of output, once
	ended chan struct{} // closed when it was reaped
	how   error
}

// launch starts a program whose standard error goes into a file of the folder.
func launch(folder, name, program string, environ []string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(folder, name+".log"), first: make(chan string, 1), ended: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, errors.Wrapf(err, "the log of %s", name)
	}
	defer log.Close()
	p.cmd = exec.Command(program, args...)
	p.cmd.Env, p.cmd.Stderr, p.cmd.SysProcAttr = environ, log, attributes()
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, errors.Wrapf(err, "starting %s", name)
	}
	go func() {
		lines := bufio.NewScanner(out)
		if lines.Scan() {
			p.first <- lines.Text()
		}
		for lines.Scan() { // what nobody reads must not hold it up
		}
		p.how = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// says waits for the first line.
func (p *process) says(ctx context.Context) (string, error) {
	select {
	case line := <-p.first:
		return line, nil
	case <-p.ended:
		return "", errors.Newf("%s has ended (%v); its last words were: %s", p.name, p.how, p.lastWords())
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// lastWords are the end of its log.
func (p *process) lastWords() string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-3):], []byte(" | ")))
}

// kill ends it as a crash would.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	<-p.ended
	return errors.Wrapf(err, "killing %s", p.name)
}

// patience is how long a program may take to end in order.
const patience = 25 * time.Second

// end asks for an orderly end and does not insist on it for ever.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	ring, stop := clock.Alarm(patience)
	defer stop()
	select {
	case <-p.ended:
	case <-ring:
		_ = p.kill()
	}
}
