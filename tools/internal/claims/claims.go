// Package claims reads proptest/claims.tsv and judges each claim by what its tests did. docs/proof.md explains both.
package claims

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"connectorcore/tools/internal/repo"
)

// Header is the first line of the file.
const Header = "id\tstage\tclaim\tstate\ttests\tmutant"

// MostClaims is how many claims one test may prove. A test that proves everything proves nothing in particular.
const MostClaims = 4

// State says how much of a claim its tests prove.
type State string

// The three states.
const (
	Missing State = "missing"
	Part    State = "part"
	Whole   State = "whole"
)

// Test is one test of the main module.
type Test struct {
	Package string // relative to the module: ledger/internal/txn
	Name    string // a top-level test function
	Pure    bool   // it proves by calculation alone and needs no statement on TiDB
}

// String is the name that is written in the file, without the mark.
func (t Test) String() string { return t.Package + "." + t.Name }

// ImportPath is the package as the go command names it.
func (t Test) ImportPath() string { return repo.Module + "/" + t.Package }

// Claim is one row.
type Claim struct {
	ID, Stage, Text string
	State           State
	Unproved        string // what a `part` claim does not prove yet
	Tests           []Test
	Mutants         []string // file names in proptest/mutants
}

// Names lists the claim's tests for a person, or "-".
func (c Claim) Names() string {
	if len(c.Tests) == 0 {
		return "-"
	}
	names := make([]string, len(c.Tests))
	for i, test := range c.Tests {
		names[i] = test.String()
	}
	return strings.Join(names, ", ")
}

var (
	idForm     = regexp.MustCompile(`^[A-Z][0-9]{2}[a-z]?$`)
	testForm   = regexp.MustCompile(`^([a-z0-9_]+(?:/[a-z0-9_]+)*)\.(Test[A-Za-z0-9_]*)( pure)?$`)
	mutantForm = regexp.MustCompile(`^([A-Z][0-9]{2}[a-z]?)(\.[a-z0-9-]+)?\.patch$`)
)

// Load reads the file of a repository.
func Load(root string) ([]Claim, error) {
	file, err := os.Open(filepath.Join(root, repo.Claims))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Parse(file)
}

// Parse reads the rows; an error names the line and what it should hold.
func Parse(in io.Reader) ([]Claim, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	var all []Claim
	seen := map[string]bool{}
	for number := 1; lines.Scan(); number++ {
		if number == 1 {
			if lines.Text() != Header {
				return nil, fmt.Errorf("%s:1: the header is %q, want %q", repo.Claims, lines.Text(), Header)
			}
			continue
		}
		claim, err := parseRow(lines.Text())
		if err == nil && seen[claim.ID] {
			err = fmt.Errorf("the id %s stands twice", claim.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", repo.Claims, number, err)
		}
		seen[claim.ID] = true
		all = append(all, claim)
	}
	if len(all) == 0 && lines.Err() == nil {
		return nil, fmt.Errorf("%s: no row", repo.Claims)
	}
	return all, lines.Err()
}

func parseRow(line string) (Claim, error) {
	cells := strings.Split(line, "\t")
	if len(cells) != 6 {
		return Claim{}, fmt.Errorf("%d cells, want 6 with one tab between two", len(cells))
	}
	claim := Claim{ID: cells[0], Stage: cells[1], Text: cells[2]}
	if !idForm.MatchString(claim.ID) {
		return Claim{}, fmt.Errorf("id %q: want a form like M01 or U03r", claim.ID)
	}
	if err := claim.parseState(cells[3]); err != nil {
		return Claim{}, fmt.Errorf("%s: %w", claim.ID, err)
	}
	if err := claim.parseTests(cells[4]); err != nil {
		return Claim{}, fmt.Errorf("%s: %w", claim.ID, err)
	}
	if err := claim.parseMutants(cells[5]); err != nil {
		return Claim{}, fmt.Errorf("%s: %w", claim.ID, err)
	}
	return claim, nil
}

func (c *Claim) parseState(cell string) error {
	rest, part := strings.CutPrefix(cell, "part: ")
	switch {
	case cell == string(Whole), cell == string(Missing):
		c.State = State(cell)
	case part && strings.TrimSpace(rest) != "":
		c.State, c.Unproved = Part, rest
	default:
		return fmt.Errorf("state %q: want `whole`, `missing`, or `part: ` and what is not proved yet", cell)
	}
	return nil
}

func (c *Claim) parseTests(cell string) error {
	if (cell == "-") != (c.State == Missing) {
		return fmt.Errorf("state %s with the tests %q: a missing claim has `-`, every other at least one test", c.State, cell)
	}
	if cell == "-" {
		return nil
	}
	for item := range strings.SplitSeq(cell, ",") {
		item = strings.TrimSpace(item)
		form := testForm.FindStringSubmatch(item)
		if form == nil {
			return fmt.Errorf("test %q: want the package's folder, a dot and the test, like ledger/internal/txn.TestR05UnknownCommit", item)
		}
		test := Test{Package: form[1], Name: form[2], Pure: form[3] != ""}
		if slices.ContainsFunc(c.Tests, func(other Test) bool { return other.String() == test.String() }) {
			return fmt.Errorf("test %s stands twice", test)
		}
		c.Tests = append(c.Tests, test)
	}
	return nil
}

func (c *Claim) parseMutants(cell string) error {
	if cell == "-" {
		return nil
	}
	for name := range strings.SplitSeq(cell, ",") {
		name = strings.TrimSpace(name)
		form := mutantForm.FindStringSubmatch(name)
		if form == nil || form[1] != c.ID {
			return fmt.Errorf("mutant %q: want %s.patch, or %s.a-word.patch if there are several", name, c.ID, c.ID)
		}
		if c.State == Missing {
			return fmt.Errorf("mutant %s: the claim has no test that could kill it", name)
		}
		c.Mutants = append(c.Mutants, name)
	}
	return nil
}

// Pick keeps the claims with the given ids, in the file's order; no ids keep all.
func Pick(all []Claim, ids []string) ([]Claim, error) {
	if len(ids) == 0 {
		return all, nil
	}
	var picked []Claim
	for _, claim := range all {
		if slices.Contains(ids, claim.ID) {
			picked = append(picked, claim)
		}
	}
	for _, id := range ids {
		if !slices.ContainsFunc(picked, func(c Claim) bool { return c.ID == id }) {
			return nil, fmt.Errorf("no claim %q in %s", id, repo.Claims)
		}
	}
	return picked, nil
}

// Overused lists, in order, the tests that more than MostClaims claims name.
func Overused(all []Claim) []string {
	named := map[string][]string{}
	for _, claim := range all {
		for _, test := range claim.Tests {
			named[test.String()] = append(named[test.String()], claim.ID)
		}
	}
	var over []string
	for test, ids := range named {
		if len(ids) > MostClaims {
			over = append(over, fmt.Sprintf("%s is named by %d claims (%s), at most %d may: write a test for each promise",
				test, len(ids), strings.Join(ids, " "), MostClaims))
		}
	}
	slices.Sort(over)
	return over
}

// Arguments are what `go test` needs to run exactly the claims' tests: -run with their names, then the packages.
func Arguments(picked []Claim) []string {
	var names, packages []string
	for _, claim := range picked {
		for _, test := range claim.Tests {
			names = append(names, test.Name)
			packages = append(packages, "./"+test.Package)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	slices.Sort(packages)
	run := "^(" + strings.Join(slices.Compact(names), "|") + ")$"
	return append([]string{"-run", run}, slices.Compact(packages)...)
}
