// Command mutants breaks promises on purpose. For each patch in proptest/mutants that a claim names, it applies the
// patch in a scratch worktree and runs the claim's tests there: the claim must turn to FAIL.
//
//	mutants [-dirty] [-timeout 5m] [ID...]
//
// What became of each mutant is kept in proptest/mutants/results.tsv, for proof to show. The exit status is 0 only if
// every mutant that was tried was killed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"connectorcore/tools/internal/claims"
	"connectorcore/tools/internal/mutant"
	"connectorcore/tools/internal/repo"
)

func main() {
	dirty := flag.Bool("dirty", false, "try the tree as it is, with what is not committed")
	timeout := flag.String("timeout", "5m", "how long one mutant's tests may run; one that hangs them is killed by it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	held, err := mutants(ctx, os.Stdout, *dirty, *timeout, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	if err != nil || !held {
		os.Exit(1)
	}
}

// mutants tells whether every mutant was killed.
func mutants(ctx context.Context, out io.Writer, dirty bool, timeout string, ids []string) (held bool, err error) {
	root, err := repo.Root()
	if err != nil {
		return false, err
	}
	all, err := claims.Load(root)
	if err != nil {
		return false, err
	}
	picked, err := withMutants(all, ids)
	if err != nil {
		return false, err
	}
	kept, err := mutant.Load(root)
	if err != nil {
		return false, err
	}
	if len(picked) == 0 {
		fmt.Fprintf(out, "no claim names a mutant in %s\n", repo.Claims)
		return true, nil
	}
	yard, err := mutant.Open(ctx, root, dirty)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, yard.Close()) }()
	fmt.Fprintf(out, "running the tests of %d claims without a mutant\n", len(picked))
	failing, err := yard.Baseline(ctx, picked)
	if err != nil {
		return false, err
	}
	trial := trial{out: out, root: root, timeout: timeout, yard: yard, all: all, kept: kept, counts: map[mutant.Word]int{}}
	for _, claim := range picked {
		if why, fails := failing[claim.ID]; fails {
			fmt.Fprintf(out, "%s FAIL without its mutant, so nothing was tried: %s\n", claim.ID, why)
			trial.untried++
			continue
		}
		if err := trial.tryAll(ctx, claim); err != nil {
			return false, err
		}
	}
	return trial.close(), nil
}

// withMutants keeps the claims that name a mutant. One that was asked for by its id must name one.
func withMutants(all []claims.Claim, ids []string) ([]claims.Claim, error) {
	picked, err := claims.Pick(all, ids)
	if err != nil {
		return nil, err
	}
	var naked []string
	picked = slices.DeleteFunc(slices.Clone(picked), func(claim claims.Claim) bool {
		if len(claim.Mutants) == 0 {
			naked = append(naked, claim.ID)
		}
		return len(claim.Mutants) == 0
	})
	if len(ids) > 0 && len(naked) > 0 {
		return nil, fmt.Errorf("%s: no mutant is named in %s: write a patch in %s and name it there",
			strings.Join(naked, ", "), repo.Claims, repo.Mutants)
	}
	return picked, nil
}

// trial is one run of the command.
type trial struct {
	out     io.Writer
	root    string
	timeout string
	yard    *mutant.Yard
	all     []claims.Claim
	kept    []mutant.Result
	counts  map[mutant.Word]int
	untried int
}

// tryAll tries a claim's mutants, and keeps each result at once: an interrupt loses only the mutant it hit.
func (t *trial) tryAll(ctx context.Context, claim claims.Claim) error {
	for _, patch := range claim.Mutants {
		verdict, err := t.yard.Try(ctx, claim, patch, t.timeout)
		if err != nil {
			return fmt.Errorf("%s: %w", patch, err)
		}
		t.counts[verdict.Word]++
		fmt.Fprintf(t.out, "%s %s %s: %s\n", claim.ID, verdict.Word, patch, verdict.Why)
		t.kept = mutant.Merge(t.kept, []mutant.Result{verdict.Result}, t.all)
		if err := mutant.Save(t.root, t.kept); err != nil {
			return err
		}
	}
	return nil
}

// close prints the last line and tells whether every mutant was killed.
func (t *trial) close() bool {
	fmt.Fprintf(t.out, "mutants: %d killed, %d survived, %d broken, %d stale", t.counts[mutant.Killed],
		t.counts[mutant.Survived], t.counts[mutant.Broken], t.counts[mutant.Stale])
	if t.untried > 0 {
		fmt.Fprintf(t.out, "; %d claims FAIL anyway", t.untried)
	}
	fmt.Fprintln(t.out)
	bad := t.counts[mutant.Survived] + t.counts[mutant.Broken] + t.counts[mutant.Stale] + t.untried
	return bad == 0
}
