package mutant

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"connectorcore/tools/internal/claims"
	"connectorcore/tools/internal/gotest"
	"connectorcore/tools/internal/repo"
)

// MostLines is how many lines a mutant may add and remove together: it breaks one promise, it does not rewrite.
const MostLines = 20

// baselineTimeout bounds one package's tests when all claims run together, which takes longer than one claim.
const baselineTimeout = "30m"

// Verdict is a result with the reason, which is printed and not kept.
type Verdict struct {
	Result
	Why string
}

// Baseline runs the claims' tests without a mutant and returns why each claim that does not hold fails: a claim that
// fails anyway kills nothing.
func (y *Yard) Baseline(ctx context.Context, picked []claims.Claim) (map[string]string, error) {
	run, _, err := y.test(ctx, picked, baselineTimeout)
	if err != nil {
		return nil, err
	}
	failing := map[string]string{}
	for _, claim := range picked {
		if verdict := claims.Judge(claim, run); verdict.Word == claims.Failed {
			failing[claim.ID] = verdict.Why
		}
	}
	return failing, nil
}

// Try applies one patch, runs the claim's tests, and takes the patch out again.
func (y *Yard) Try(ctx context.Context, claim claims.Claim, patch, timeout string) (verdict Verdict, err error) {
	verdict.Result = Result{ID: claim.ID, Patch: patch, Touched: map[string]string{}}
	name := repo.Mutants + "/" + patch
	if verdict.Digest, err = repo.FileDigest(y.Dir, name); err != nil {
		return verdict, err
	}
	path := filepath.Join(y.Dir, name)
	unfair, err := y.inspect(ctx, path, verdict.Touched)
	if err != nil {
		return verdict.as(Broken, "the patch cannot be read: "+err.Error()), ctx.Err()
	}
	if unfair != "" {
		return verdict.as(Broken, unfair), nil
	}
	if _, err := repo.Git(ctx, y.Dir, "apply", "--whitespace=nowarn", path); err != nil {
		return verdict.as(Stale, "the patch no longer applies: make it anew"), ctx.Err()
	}
	run, complaint, err := y.test(ctx, []claims.Claim{claim}, timeout)
	if err != nil {
		return verdict, err
	}
	if err := y.Reset(ctx); err != nil {
		return verdict, err
	}
	for _, test := range claim.Tests {
		if pack := run.Packages[test.ImportPath()]; pack == nil || pack.FailedBuild {
			return verdict.as(Broken, "the mutant does not compile, which proves nothing:\n"+complaint), nil
		}
	}
	judged := claims.Judge(claim, run)
	if judged.Word == claims.Failed {
		return verdict.as(Killed, judged.Why), nil
	}
	return verdict.as(Survived, "the promise is broken and "+claim.Names()+" did not notice"), nil
}

func (v Verdict) as(word Word, why string) Verdict {
	v.Word, v.Why = word, why
	return v
}

// inspect notes the files that a patch touches, as they are before it, and says what makes it no fair mutant.
func (y *Yard) inspect(ctx context.Context, path string, touched map[string]string) (unfair string, err error) {
	stat, err := repo.Git(ctx, y.Dir, "apply", "--numstat", path)
	if err != nil {
		return "", err
	}
	lines := 0
	for row := range strings.Lines(stat) {
		cells := strings.SplitN(strings.TrimSuffix(row, "\n"), "\t", 3)
		if len(cells) != 3 {
			return "", fmt.Errorf("git apply --numstat printed %q", row)
		}
		for _, cell := range cells[:2] {
			count, err := strconv.Atoi(cell)
			if err != nil {
				return "the patch is not of text", nil
			}
			lines += count
		}
		name := cells[2]
		if touched[name], err = repo.FileDigest(y.Dir, name); err != nil {
			return "", err
		}
		top, _, _ := strings.Cut(name, "/")
		if strings.HasSuffix(name, "_test.go") || top == "proptest" || top == "tools" {
			return "it touches " + name + ": a mutant breaks the product, not its tests", nil
		}
	}
	if len(touched) == 0 {
		return "it touches nothing", nil
	}
	if lines > MostLines {
		return fmt.Sprintf("it changes %d lines, at most %d: break one promise only", lines, MostLines), nil
	}
	return "", nil
}

// test runs the claims' tests in the worktree. Vet is off: a mutant may look odd, it has only to compile.
func (y *Yard) test(ctx context.Context, picked []claims.Claim, timeout string) (*gotest.Run, string, error) {
	var complaint strings.Builder
	run, _, err := gotest.Execute(ctx, gotest.Options{
		Dir:  y.Dir,
		Args: append([]string{"-vet=off", "-timeout", timeout}, claims.Arguments(picked)...),
		Each: func(event gotest.Event) {
			if event.Action == "build-output" {
				complaint.WriteString(event.Output)
			}
		},
	})
	return run, complaint.String(), err
}
