package bench

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// Run says what is measured.
type Run struct {
	Workload Workload
	N        int
	Seed     uint64
	// Dir is an empty folder, which the run fills with its store, and which is the caller's to remove.
	Dir string
	// Daemon and Load make the commands of the other processes; the first is given the file with the daemon's DSN.
	Daemon func(dsnFile string) *exec.Cmd
	Load   func() *exec.Cmd
}

// settling is how long all work may take to end after the last delivery was answered, without any of it ending.
const settling = time.Minute

// Measure runs the workload on a fresh store and reports what was seen.
func (r Run) Measure(ctx context.Context) (report *Report, err error) {
	d, err := deploy(ctx, r.Dir, r.Workload)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.CombineErrors(err, d.close()) }()
	secret := []byte(rand.Text())
	daemon, err := r.daemon(d.store.DSNFile, secret)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.CombineErrors(err, daemon.end()) }()
	if err := restart(ctx, d.admin); err != nil {
		return nil, err
	}
	report = &Report{Workload: r.Workload.Name, N: r.N}
	store, process := usageOf(d.store.PID()), usageOf(daemon.pid())
	sent, err := r.load(ctx, daemon.listening.Door, d.accounts, secret)
	if err != nil {
		return nil, err
	}
	if err := d.settled(ctx); err != nil {
		return nil, err
	}
	storeAfter, processAfter := usageOf(d.store.PID()), usageOf(daemon.pid())
	thousands := float64(r.N) / 1000
	report.CPUStore, report.CPUDaemon = (storeAfter.cpu-store.cpu)/thousands, (processAfter.cpu-process.cpu)/thousands
	report.PeakStore, report.PeakDaemon = storeAfter.peakMiB, processAfter.peakMiB
	kinds, err := statements(ctx, d.admin, d.store.Login, r.N)
	if err != nil {
		return nil, err
	}
	report.counted(kinds)
	if report.TurnItems, report.ApplyItems, err = batches(ctx, daemon.listening.Operations); err != nil {
		return nil, err
	}
	if err := daemon.end(); err != nil {
		return nil, err
	}
	var done []completed
	if raw, err := os.ReadFile(filepath.Join(r.Dir, completedFile)); err != nil {
		return nil, errors.Wrap(err, "bench: the completions")
	} else if err := json.Unmarshal(raw, &done); err != nil {
		return nil, errors.Wrap(err, "bench: the completions")
	}
	report.times(sent, done)
	found, err := count(ctx, d.admin, r.N)
	report.Duplicates, report.OrderViolations, report.Lost = found.duplicates, found.late, found.lost
	return report, err
}

// process is the daemon's.
type process struct {
	cmd       *exec.Cmd
	listening Listening
	ended     bool
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// end tells the daemon to end, and waits for it.
func (p *process) end() error {
	if p.ended {
		return nil
	}
	p.ended = true
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	return errors.Wrap(errors.CombineErrors(p.cmd.Wait(), err), "bench: the daemon")
}

// daemon starts the daemon and waits until it listens.
func (r Run) daemon(dsnFile string, secret []byte) (*process, error) {
	variable, err := secretVariable(secret)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: r.Daemon(dsnFile)}
	p.cmd.Env = append(p.cmd.Env, variable)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Wrap(err, "bench: the daemon")
	}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Wrap(err, "bench: the daemon")
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &p.listening)
	}
	if err != nil {
		return nil, errors.CombineErrors(p.end(), errors.Wrap(err, "bench: the daemon did not say where it listens"))
	}
	return p, nil
}

// load runs the process that sends.
func (r Run) load(ctx context.Context, door string, accounts []facts.AccountID, secret []byte) ([]Sent, error) {
	told, err := json.Marshal(Load{Door: door, Workload: r.Workload.Name, N: r.N, Seed: r.Seed, Accounts: accounts, Secret: secret})
	if err != nil {
		return nil, errors.Wrap(err, "bench: the load")
	}
	cmd := r.Load()
	cmd.Stdin = bytes.NewReader(told)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, errors.Wrap(err, "bench: the process that sends")
	}
	var sent []Sent
	return sent, errors.Wrap(json.Unmarshal(out.Bytes(), &sent), "bench: what was sent")
}

// settled waits until no receipt and no execution is open any more.
func (d *deployment) settled(ctx context.Context) error {
	clock := facts.SystemClock{}
	before, moved := -1, clock.Now()
	for {
		var open int
		err := d.admin.QueryRowContext(ctx, "SELECT (SELECT COUNT(*) FROM receipt_head) + (SELECT COUNT(*) FROM execution_head)").Scan(&open)
		switch {
		case err != nil:
			return errors.Wrap(err, "bench: what is open")
		case open == 0:
			return nil
		case open != before:
			before, moved = open, clock.Now()
		case clock.Now().Sub(moved) > settling:
			return errors.Newf("bench: %d receipts and executions are open, and none has ended for %s: look into the daemon's log", open, settling)
		}
		ring, stop := clock.Alarm(20 * time.Millisecond)
		select {
		case <-ring:
		case <-ctx.Done():
			stop()
			return ctx.Err()
		}
	}
}

// batches asks the daemon how many items its turns had, and how many commands its application's transactions.
func batches(ctx context.Context, operations string) (turn, apply float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+operations+"/metrics", nil)
	if err != nil {
		return 0, 0, errors.Wrap(err, "bench: the daemon's metrics")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, 0, errors.Wrap(err, "bench: the daemon's metrics")
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	if err := errors.CombineErrors(err, response.Body.Close()); err != nil {
		return 0, 0, errors.Wrap(err, "bench: the daemon's metrics")
	}
	mean := func(queue string) float64 {
		return metric(string(raw), "connector_turns_items_sum", queue) / max(metric(string(raw), "connector_turns_items_count", queue), 1)
	}
	return mean("turn"), mean("application"), nil
}

func metric(text, name, queue string) float64 {
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(line, name+`{queue="`+queue+`"} `); is {
			n, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return n
		}
	}
	return 0
}
