package witness

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// witnessEnv makes this test binary a process that advances the witness of a path: "PATH" for ever, telling each position
// that it was told of; "PATH STEP" once, to stop before this step.
const witnessEnv = "PLATFORM_TEST_WITNESS"

func TestMain(m *testing.M) {
	if path := os.Getenv(witnessEnv); path != "" {
		advanceForTest(path)
	}
	os.Exit(m.Run())
}

func advanceForTest(asked string) {
	path, step, _ := strings.Cut(asked, " ")
	w, err := Open(path, witnessed, life)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	w.at = func(now string) {
		if now == step {
			fmt.Println(step)
			_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
			os.Exit(0)
		}
	}
	for position := w.marks[accountA] + 1; ; position++ {
		if err := w.Advance(Mark{accountA, position}, Mark{accountB, position}); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println(position)
	}
}

// advancing is such a process.
type advancing struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startAdvancing(t *testing.T, asked string) *advancing {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), witnessEnv+"="+asked)
	input, err := cmd.StdinPipe()
	must(t, err)
	output, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = input.Close(); _ = cmd.Process.Kill() })
	return &advancing{cmd, bufio.NewScanner(output)}
}

// killed kills it and gives the last line that it printed.
func (a *advancing) killed(t *testing.T, last string) string {
	t.Helper()
	must(t, a.cmd.Process.Signal(syscall.SIGKILL))
	for a.lines.Scan() {
		last = a.lines.Text()
	}
	_ = a.cmd.Wait()
	if status, is := a.cmd.ProcessState.Sys().(syscall.WaitStatus); !is || status.Signal() != syscall.SIGKILL {
		t.Fatalf("it was not killed: %v, %s", a.cmd.ProcessState, last)
	}
	return last
}

func TestAWitnessIsWholeAfterAKillBeforeEachStepOfAWrite(t *testing.T) {
	for _, c := range []struct {
		step string
		want uint64
	}{{stepStage, 5}, {stepHalf, 5}, {stepSync, 5}, {stepRename, 5}, {stepFolder, 6}} {
		path := witnessPath(t)
		must(t, begunWitness(t, path, Mark{accountA, 5}, Mark{accountB, 5}).Close())
		process := startAdvancing(t, path+" "+c.step)
		if !process.lines.Scan() || process.lines.Text() != c.step {
			t.Fatalf("%s: it said %q", c.step, process.lines.Text())
		}
		refusedWitness(t, c.step, path, ErrInUse) // a live holder, in the middle of a write
		process.killed(t, "")
		w := openedWitness(t, path)
		for _, m := range w.sorted() {
			if m.Position != c.want {
				t.Errorf("killed before %s: account %s stands at %d, want %d", c.step, m.Account, m.Position, c.want)
			}
		}
		must(t, w.Advance(Mark{accountA, 7}))
		if marks := onDisk(t, path); len(marks) != 2 || marks[accountA] != 7 || marks[accountB] != c.want {
			t.Errorf("killed before %s: after the next write the disk has %v", c.step, marks)
		}
	}
}

func TestAWitnessLosesNothingThatItToldWhenItsProcessIsKilledAtAnyMoment(t *testing.T) {
	path := witnessPath(t)
	must(t, begunWitness(t, path).Close())
	const kills = 25
	for n := range kills {
		process := startAdvancing(t, path)
		last := ""
		for range 1 + 3*n%11 {
			if !process.lines.Scan() {
				break
			}
			last = process.lines.Text()
		}
		told, err := strconv.ParseUint(process.killed(t, last), 10, 64)
		if err != nil {
			t.Fatalf("it said %q", last)
		}
		w := openedWitness(t, path)
		a, b := w.marks[accountA], w.marks[accountB]
		if a != b || a < told || a > told+1 {
			t.Errorf("kill %d: told of %d, the disk has %d and %d", n, told, a, b)
		}
		must(t, w.Close())
	}
}
