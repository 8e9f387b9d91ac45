package embedded

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/cockroachdb/errors"
)

// child is one life of a tidb-server.
type child struct {
	process *os.Process
	exited  chan struct{}
	status  string // how it ended; read it after exited is closed
}

// startChild runs the binary in the data directory, in a process group of its own, so that an interrupt typed at the
// terminal reaches us and not it, and we stop it in order.
//
// INVARIANT: the directory's lock is among the child's open files. A supervisor that dies, however it dies, frees the
// directory no earlier than its child does.
func startChild(binary string, d *dataDir) (*child, error) {
	output := d.at("log/" + outputName)
	_ = os.Rename(output, output+".last") // the last life's words; the first life has none
	file, err := os.OpenFile(output, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, errors.Wrap(err, "embedded: cannot open the server's output file")
	}
	defer file.Close()
	cmd := exec.Command(binary, "-config", d.at(configName), "-config-strict")
	cmd.Dir = d.path
	// Files, not pipes: the server must not die of a broken pipe when we do.
	cmd.Stdout, cmd.Stderr = file, file
	cmd.ExtraFiles = []*os.File{d.lock}
	// Nothing of our environment: it may hold secrets of the application.
	cmd.Env = []string{"HOME=" + d.path, "TMPDIR=" + d.at("tmp"), "TZ=UTC"}
	cmd.SysProcAttr = childAttributes()

	c := &child{exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ties "the parent has died" to the thread that started the child. This one lives as long as it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		c.process = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait() // the state below says more than the error
			c.status = cmd.ProcessState.String()
			close(c.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, errors.Wrapf(err, "embedded: tidb-server at %s does not start; run `make tidb` to build it again", binary)
	}
	return c, nil
}

// terminate asks the server to end in order; kill does not ask. Both do nothing to one that has ended.
func (c *child) terminate() { _ = c.process.Signal(syscall.SIGTERM) }
func (c *child) kill()      { _ = c.process.Kill() }

// lastWords is what a server that ended by itself had to say: its last fatal or error line, cut to a readable length.
func lastWords(d *dataDir) string {
	for _, name := range []string{outputName, logName} {
		lines := strings.Split(strings.TrimSpace(endOf(d.at("log/"+name))), "\n")
		for _, line := range slices.Backward(lines) {
			if strings.Contains(line, "[FATAL]") || strings.Contains(line, "[ERROR]") || (name == outputName && line != "") {
				return line[:min(len(line), 400)]
			}
		}
	}
	return "nothing"
}

// endOf reads the last 64 KiB of a file that may be large; nothing if it cannot be read.
func endOf(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	const most = 64 << 10
	if info, err := file.Stat(); err == nil && info.Size() > most {
		_, _ = file.Seek(-most, io.SeekEnd) // at worst we read from the beginning
	}
	text, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return ""
	}
	return string(text)
}
