// Package mutant keeps what became of each mutant, and tells whether that still holds.
//
// A mutant is a patch that breaks one promise. Its result was true of the files that it touched and of the patch
// itself, so the digests of both are kept; when one of them changes, the result is stale and the mutant runs again.
package mutant

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"connectorcore/tools/internal/claims"
	"connectorcore/tools/internal/repo"
)

// Word is what became of a mutant.
type Word string

// Killed to Broken are kept; None is what a claim has without a mutant that ran and compiled.
const (
	Killed   Word = "killed"   // the claim turned to FAIL
	Survived Word = "survived" // the claim held although its promise was broken
	Stale    Word = "stale"    // the patch no longer applies, or what it was tried on has changed
	Broken   Word = "broken"   // the patch does not compile, or is no fair mutant
	None     Word = "none"
)

// Result is one row of results.tsv.
type Result struct {
	ID, Patch string
	Word      Word
	Digest    string            // of the patch
	Touched   map[string]string // digest by file, before the patch
}

const header = "id\tpatch\tresult\tpatch digest\tfiles touched"

// Load reads the results of a repository; without the file there are none.
func Load(root string) ([]Result, error) {
	text, err := os.ReadFile(filepath.Join(root, repo.Results))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var results []Result
	for number, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if number == 0 {
			if line != header {
				return nil, fmt.Errorf("%s:1: the header is %q, want %q: `make mutants` writes this file", repo.Results, line, header)
			}
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 5 {
			return nil, fmt.Errorf("%s:%d: %d cells, want 5: `make mutants` writes this file", repo.Results, number+1, len(cells))
		}
		result := Result{ID: cells[0], Patch: cells[1], Word: Word(cells[2]), Digest: cells[3], Touched: map[string]string{}}
		for pair := range strings.FieldsSeq(cells[4]) {
			name, digest, _ := strings.Cut(pair, "=")
			result.Touched[name] = digest
		}
		results = append(results, result)
	}
	return results, nil
}

// Save writes the results in the order of their patches.
func Save(root string, results []Result) error {
	slices.SortFunc(results, func(a, b Result) int { return strings.Compare(a.Patch, b.Patch) })
	return repo.WriteFile(filepath.Join(root, repo.Results), func(out io.Writer) error {
		lines := []string{header}
		for _, result := range results {
			var touched []string
			for name, digest := range result.Touched {
				touched = append(touched, name+"="+digest)
			}
			slices.Sort(touched)
			cells := []string{result.ID, result.Patch, string(result.Word), result.Digest, strings.Join(touched, " ")}
			lines = append(lines, strings.Join(cells, "\t"))
		}
		_, err := io.WriteString(out, strings.Join(lines, "\n")+"\n")
		return err
	})
}

// Merge replaces the rows that ran again and drops those whose patch no claim names any more.
func Merge(old, fresh []Result, all []claims.Claim) []Result {
	merged := slices.Clone(fresh)
	for _, result := range old {
		again := slices.ContainsFunc(fresh, func(r Result) bool { return r.Patch == result.Patch })
		named := slices.ContainsFunc(all, func(c claims.Claim) bool { return slices.Contains(c.Mutants, result.Patch) })
		if !again && named {
			merged = append(merged, result)
		}
	}
	return merged
}

// Of tells what became of a claim's mutants. With several, the worst one speaks: survived, then stale, then none.
// A broken mutant is as good as none.
func Of(root string, claim claims.Claim, results []Result) (Word, error) {
	if len(claim.Mutants) == 0 {
		return None, nil
	}
	worst := Killed
	rank := map[Word]int{Killed: 0, None: 1, Stale: 2, Survived: 3}
	for _, patch := range claim.Mutants {
		word, err := present(root, patch, results)
		if err != nil {
			return None, err
		}
		if rank[word] > rank[worst] {
			worst = word
		}
	}
	return worst, nil
}

func present(root, patch string, results []Result) (Word, error) {
	index := slices.IndexFunc(results, func(r Result) bool { return r.Patch == patch })
	if index < 0 {
		return None, nil
	}
	result := results[index]
	digest, err := repo.FileDigest(root, repo.Mutants+"/"+patch)
	if err != nil {
		return None, err
	}
	if digest != result.Digest {
		return Stale, nil
	}
	for name, before := range result.Touched {
		now, err := repo.FileDigest(root, name)
		if err != nil {
			return None, err
		}
		if now != before {
			return Stale, nil
		}
	}
	switch result.Word {
	case Killed, Survived, Stale:
		return result.Word, nil
	}
	return None, nil
}
