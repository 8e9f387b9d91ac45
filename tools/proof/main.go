// Command proof tells which claims of proptest/claims.tsv are proved. It judges the record of `make test` if that is
// of exactly this tree, and otherwise runs the claims' tests itself. docs/proof.md explains what it prints.
//
//	proof [-fresh] [ID...]
//
// The exit status is 0 only if no claim FAILs and no test is named by too many claims.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"connectorcore/tools/internal/claims"
	"connectorcore/tools/internal/gotest"
	"connectorcore/tools/internal/mutant"
	"connectorcore/tools/internal/repo"
)

func main() {
	fresh := flag.Bool("fresh", false, "run the tests even if a record of this tree is there")
	run := flag.Bool("run", false, "judge only the claims named behind it (the same without -run)")
	flag.Parse()
	if *run && flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "proof: -run needs the ids of claims behind it")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	held, err := proof(ctx, os.Stdout, *fresh, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
	}
	if err != nil || !held {
		os.Exit(1)
	}
}

// proof prints the judgement and tells whether everything that is claimed holds.
func proof(ctx context.Context, out io.Writer, fresh bool, ids []string) (bool, error) {
	root, err := repo.Root()
	if err != nil {
		return false, err
	}
	all, err := claims.Load(root)
	if err != nil {
		return false, err
	}
	picked, err := claims.Pick(all, ids)
	if err != nil {
		return false, err
	}
	results, err := mutant.Load(root)
	if err != nil {
		return false, err
	}
	run, err := evidence(ctx, out, root, fresh, picked)
	if err != nil {
		return false, err
	}
	verdicts, err := judge(root, picked, run, results)
	if err != nil {
		return false, err
	}
	held := report(out, verdicts, len(ids) > 0)
	for _, line := range claims.Overused(all) {
		fmt.Fprintln(out, "FAIL", line)
		held = false
	}
	return held, nil
}

// evidence is the record if it is of this tree, or a run made now.
func evidence(ctx context.Context, out io.Writer, root string, fresh bool, picked []claims.Claim) (*gotest.Run, error) {
	args := claims.Arguments(picked)
	if args == nil {
		return gotest.NewRun(), nil
	}
	why := "asked to run afresh"
	if !fresh {
		var run *gotest.Run
		var err error
		if run, why, err = recorded(ctx, root); err != nil || run != nil {
			return run, err
		}
	}
	fmt.Fprintf(out, "%s: running the tests of %d claims\n", why, len(picked))
	shower := gotest.NewShower(out)
	run, _, err := gotest.Execute(ctx, gotest.Options{Dir: root, Args: args, Each: shower.Event})
	return run, err
}

// recorded returns no run, and why, if the record does not tell of this tree.
func recorded(ctx context.Context, root string) (*gotest.Run, string, error) {
	stamp, err := os.ReadFile(filepath.Join(root, repo.Stamp))
	if err != nil {
		return nil, "no finished record of `make test`", nil
	}
	digest, err := repo.Digest(ctx, root)
	if err != nil {
		return nil, "", err
	}
	if strings.TrimSpace(string(stamp)) != digest {
		return nil, "the record of `make test` is of another tree", nil
	}
	file, err := os.Open(filepath.Join(root, repo.Record))
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	run, err := gotest.Load(file)
	return run, "", err
}

// line is a verdict with what became of the claim's mutants.
type line struct {
	claims.Verdict
	mutant mutant.Word
}

// judge joins tests and mutants: a promise that can be broken unnoticed is not proved.
func judge(root string, picked []claims.Claim, run *gotest.Run, results []mutant.Result) ([]line, error) {
	var lines []line
	for _, claim := range picked {
		verdict := claims.Judge(claim, run)
		word, err := mutant.Of(root, claim, results)
		if err != nil {
			return nil, err
		}
		if word == mutant.Survived && verdict.Word != claims.Failed {
			verdict.Word, verdict.Why = claims.Failed, "a mutant breaks the promise and its tests still pass: sharpen them"
		}
		lines = append(lines, line{verdict, word})
	}
	return lines, nil
}

// report prints a line a claim and a line a stage.
func report(out io.Writer, lines []line, restricted bool) bool {
	held := true
	var stages []string
	passed, total := map[string]int{}, map[string]int{}
	for _, one := range lines {
		stage := one.Claim.Stage
		if !slices.Contains(stages, stage) {
			stages = append(stages, stage)
		}
		total[stage]++
		if one.Word == claims.Passed {
			passed[stage]++
		}
		held = held && one.Word != claims.Failed
		fmt.Fprintln(out, one)
	}
	slices.Sort(stages)
	for _, stage := range stages {
		fmt.Fprintf(out, "proof: %d of %d claims of stage %s", passed[stage], total[stage], stage)
		if restricted {
			fmt.Fprint(out, " that were asked for")
		}
		fmt.Fprintln(out)
	}
	return held
}

// String is the line that is printed.
func (l line) String() string {
	text := l.Claim.ID + " " + string(l.Word)
	switch l.Word {
	case claims.NoProof:
		return text
	case claims.Passed:
		text += " " + l.Claim.Names()
	case claims.InPart:
		text += " " + l.Claim.Names() + ": " + l.Why
	case claims.Failed:
		text += " " + l.Why
	}
	return text + " (mutant " + string(l.mutant) + ")"
}
