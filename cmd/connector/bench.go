package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"time"

	"connectorcore/engine/bench"

	"github.com/cockroachdb/errors"
	"github.com/spf13/cobra"
)

// benchFlags say what is measured, and which of the processes of a measurement this one is.
type benchFlags struct {
	workload, dir, part string
	n                   int
	seed                uint64
	json                bool
}

func (p *program) bench() *cobra.Command {
	var f benchFlags
	cmd := leaf("bench", "Measure a workload on a fresh embedded store", "connector bench --workload w1-hot --n 2000 --json",
		func(cmd *cobra.Command) error {
			switch f.part {
			case "":
				return p.measure(cmd, f)
			case "daemon":
				config, log, err := p.load(cmd)
				if err != nil {
					return err
				}
				return bench.Daemon(cmd.Context(), config, log, f.dir, func(l bench.Listening) error { return p.json(l, "") })
			case "load":
				var load bench.Load
				if err := json.NewDecoder(os.Stdin).Decode(&load); err != nil {
					return usage(cmd, "--part load takes what is sent from standard input, and got something else")
				}
				sent, err := bench.Send(cmd.Context(), load)
				if err != nil {
					return err
				}
				return p.json(sent, "")
			}
			return usage(cmd, "--part is daemon or load, and is given by the measurement itself")
		})
	flags := cmd.Flags()
	flags.StringVar(&f.workload, "workload", bench.Workloads[0].Name, "what is sent: w1-hot (one account, 50 keys) or w1-wide (64 accounts of 8 keys)")
	flags.IntVar(&f.n, "n", 2000, "how many operations; one of ten is delivered once more")
	flags.Uint64Var(&f.seed, "seed", 1, "the same seed sends the same")
	flags.StringVar(&f.dir, "dir", "", "an empty folder that keeps the store and the daemon's profile (default: a temporary one, removed at the end)")
	flags.BoolVar(&f.json, "json", false, "print the report as one JSON object on one line")
	flags.StringVar(&f.part, "part", "", "which process of a measurement this is: daemon or load; the measurement itself gives it")
	return cmd
}

// measure runs one measurement. The other processes are this binary too.
func (p *program) measure(cmd *cobra.Command, f benchFlags) (err error) {
	workload, err := bench.Find(f.workload)
	if err != nil {
		return usage(cmd, "--workload: %v", err)
	}
	if f.n < 1 {
		return usage(cmd, "--n must be at least 1")
	}
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "connector-bench-"); err != nil {
			return errors.Wrap(err, "a temporary folder")
		}
		defer func() { err = errors.CombineErrors(err, errors.Wrap(os.RemoveAll(f.dir), "the temporary folder")) }()
	} else if there, err := os.ReadDir(f.dir); len(there) > 0 {
		return usage(cmd, "--dir names a folder that is not empty, and what is in it would be mixed with the measurement: name an empty or a new one")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usage(cmd, "--dir names no folder that can be read: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		return errors.Wrap(err, "this binary")
	}
	part := func(name string, args ...string) *exec.Cmd {
		child := exec.CommandContext(cmd.Context(), self, append([]string{"bench", "--part", name}, args...)...)
		child.Env, child.Stderr = p.environ, p.err
		child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
		child.WaitDelay = time.Minute
		return child
	}
	run := bench.Run{Workload: workload, N: f.n, Seed: f.seed, Dir: f.dir,
		Load: func() *exec.Cmd { return part("load") },
		Daemon: func(dsnFile string) *exec.Cmd {
			return part("daemon", "--dir", f.dir, "--store-dsn-file", dsnFile, "--serve-listen", "127.0.0.1:0", "--serve-operations", "127.0.0.1:0", "--log-level", "warn")
		}}
	report, err := run.Measure(cmd.Context())
	if err != nil {
		return err
	}
	if f.json {
		return p.json(report, "")
	}
	return emitOne(p, report, (*bench.Report).String)
}
