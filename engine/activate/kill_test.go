package activate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"connectorcore/engine/platform"
	"connectorcore/engine/witness"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// These make this test binary a process that drives a deployment to serve, and that kills itself at its nth boundary; at
// none for 0.
const (
	childEnv   = "ACTIVATE_TEST_KILLED_AT"
	dsnEnv     = "ACTIVATE_TEST_DSN"
	witnessEnv = "ACTIVATE_TEST_WITNESS"
)

func TestMain(m *testing.M) {
	if nth := os.Getenv(childEnv); nth != "" {
		if err := driveForTest(nth); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// driveForTest prints each boundary before it goes on from it.
func driveForTest(nth string) error {
	at, err := strconv.Atoi(nth)
	if err != nil {
		return err
	}
	ctx, dsn := context.Background(), schema.DSN(os.Getenv(dsnEnv))
	writes, err := schema.Connect(ctx, dsn, schema.RoleLedger)
	if err != nil {
		return err
	}
	reads, err := schema.Connect(ctx, dsn, schema.RoleReader)
	if err != nil {
		return err
	}
	met := 0
	l, err := ledger.Open(writes, ledger.AtBoundary(func(b ledger.Boundary) {
		fmt.Println(b)
		if met++; met == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}))
	if err != nil {
		return err
	}
	r := readers.Open(reads)
	own, err := platform.OpenOwners(ctx, l, r)
	if err != nil {
		return err
	}
	revision, configuration, err := own.Current(ctx)
	if err != nil {
		return err
	}
	operator, err := facts.ParseKey[facts.OwnerName]("operator")
	if err != nil {
		return err
	}
	c, err := Open(Parts{Ledger: l, Reader: r, Owners: own.Set(), Deployment: serving.Founded{Deployment: own.Deployment(), Scope: own.Scope()}, Witness: witness.File{Path: os.Getenv(witnessEnv)}, Serves: anything,
		Principal: operator, Reason: operator, Say: func(string) {}})
	if err != nil {
		return err
	}
	judged, err := c.Advance(ctx, Wanted{configuration, revision})
	if judged.Cause != nil {
		return judged.Cause
	}
	return err
}

// process runs such a process to its end and gives the boundaries that it met.
func (s *scene) process(nth int) (met []string, killed bool) {
	s.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strconv.Itoa(nth), dsnEnv+"="+string(s.store.DSN()), witnessEnv+"="+s.witness)
	output, err := cmd.Output()
	met = strings.Split(strings.TrimSpace(string(output)), "\n")
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	status, is := cmd.ProcessState.Sys().(syscall.WaitStatus)
	killed = is && status.Signaled() && status.Signal() == syscall.SIGKILL
	if err != nil && !killed {
		s.t.Fatalf("process %d: %v: %s", nth, err, output)
	}
	return met, killed
}

// transactions are those of the way to serving, each of which has two boundaries.
var transactions = []string{"prepare epoch", "judge epoch", "bear gates", "walk gates", "open barrier set", "hold owner barriers", "record barrier receipts", "hold barrier set",
	"activate first epoch", "release barrier set", "release owner barriers"}

// A process is killed at each boundary of everything that leads to serving. What it leaves is whole: every account serves
// under the active epoch, or none does. Another process, which knows nothing but the rows, ends it.
func TestP48AProcessKilledAtAnyBoundaryIsFollowedByOneThatEndsIt(t *testing.T) {
	s := stage(t, serving.Conformance, 2)
	all, killed := s.process(0)
	s.stands("without a kill", serves)
	var seen []string
	for _, boundary := range all {
		for _, b := range ledger.Boundaries() {
			if b.String() == boundary {
				seen = append(seen, b.Transaction)
			}
		}
	}
	slices.Sort(seen)
	if seen = slices.Compact(seen); killed || len(seen) != len(transactions) || slices.ContainsFunc(transactions, func(name string) bool { return !slices.Contains(seen, name) }) {
		t.Fatalf("%d boundaries of %q", len(all), seen)
	}
	t.Logf("%d boundaries of %d transactions", len(all), len(seen))
	for nth := 1; nth <= len(all); nth++ {
		s := stage(t, serving.Conformance, 2)
		met, killed := s.process(nth)
		if !killed || len(met) != nth {
			t.Fatalf("boundary %d: killed %v after %q", nth, killed, met)
		}
		at, left := met[nth-1], s.states()
		active, serve := strings.Contains(left, "epochs active"), strings.Contains(left, "gates v2_serving at 6 under an epoch;")
		if active != serve || !active && strings.Contains(left, "v2_serving") {
			t.Errorf("%s left %s", at, left)
		}
		if nth%5 == 0 { // its successor is killed as well, at the same place of its own way
			again, _ := s.process(nth)
			at += " and " + again[len(again)-1]
		}
		if _, killed := s.process(0); killed {
			t.Errorf("%s: its successor died", at)
		}
		s.stands(fmt.Sprintf("%s left %s, and its successor", at, left), serves)
		if n := s.count("SELECT COUNT(*) FROM serving_epoch"); n != 1 {
			t.Errorf("%s: %d epochs were prepared", at, n)
		}
	}
}
