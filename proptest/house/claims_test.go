package house

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

const (
	claimsFile   = "proptest/claims.tsv"
	mutantFolder = "proptest/mutants"
	mostClaims   = 4 // that one test may prove
)

var claimRules = []rule{
	{"claims have their form", checkClaimForm},
	{"claims are those of the spec", checkMatrix},
	{"a claimed test exists", checkClaimedTests},
	{"a test proves few claims", checkOveruse},
	{"mutants and claims name each other", checkMutants},
}

// claim is one row, read without trust: the form has a rule of its own.
type claim struct {
	line  int
	cells []string
}

func (c claim) cell(i int) string {
	if i < len(c.cells) {
		return c.cells[i]
	}
	return ""
}

func (c claim) id() string { return c.cell(0) }

// list splits the cells of tests and mutants.
func (c claim) list(i int) []string {
	if cell := c.cell(i); cell != "" && cell != "-" {
		names := strings.Split(cell, ",")
		for n := range names {
			names[n] = strings.TrimSpace(names[n])
		}
		return names
	}
	return nil
}

// tests are the names without the mark that says a test is pure.
func (c claim) tests() []string {
	names := c.list(4)
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], " pure")
	}
	return names
}

func (t *tree) claims() []claim {
	f := t.find(claimsFile)
	if f == nil {
		return nil
	}
	var all []claim
	for i, line := range strings.Split(strings.TrimSuffix(f.text, "\n"), "\n") {
		if i > 0 {
			all = append(all, claim{i + 1, strings.Split(line, "\t")})
		}
	}
	return all
}

var (
	claimState = regexp.MustCompile(`^(whole|missing|part: \S.*)$`)
	claimTest  = regexp.MustCompile(`^([a-z0-9_/]+)\.(Test[A-Za-z0-9_]*)( pure)?$`)
)

func checkClaimForm(t *tree) []breach {
	f := t.find(claimsFile)
	if f == nil {
		return []breach{{claimsFile, 1, "the file is gone: it says which promise each test keeps"}}
	}
	var found []breach
	bad := func(line int, format string, args ...any) {
		found = append(found, breach{claimsFile, line, fmt.Sprintf(format, args...)})
	}
	if head, _, _ := strings.Cut(f.text, "\n"); head != "id\tstage\tclaim\tstate\ttests\tmutant" {
		bad(1, "the header is %q: want id, stage, claim, state, tests, mutant with one tab between two", head)
	}
	seen := map[string]bool{}
	for _, c := range t.claims() {
		missing := c.cell(3) == "missing"
		switch {
		case len(c.cells) != 6:
			bad(c.line, "%d cells: want 6 with one tab between two", len(c.cells))
		case seen[c.id()]:
			bad(c.line, "the id %s stands twice: one row a claim", c.id())
		case !claimState.MatchString(c.cell(3)):
			bad(c.line, "state %q: want `whole`, `missing`, or `part: ` and what is not proved yet", c.cell(3))
		case missing != (c.cell(4) == "-") || missing && c.cell(5) != "-":
			bad(c.line, "state %q with the tests %q: a missing claim has `-` for tests and mutant, every other names a test", c.cell(3), c.cell(4))
		}
		for _, test := range c.list(4) {
			if !claimTest.MatchString(test) {
				bad(c.line, "test %q: want the package's folder, a dot and the test, like ledger/internal/txn.TestR05UnknownCommit", test)
			}
		}
		seen[c.id()] = true
	}
	return found
}

// checkMatrix compares the first three cells with the table beside the repository, byte for byte.
func checkMatrix(t *tree) []breach {
	if t.matrix == "" {
		return nil
	}
	var ours []string
	if f := t.find(claimsFile); f != nil {
		for line := range strings.Lines(f.text) {
			cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			ours = append(ours, strings.Join(cells[:min(3, len(cells))], "\t"))
		}
	}
	theirs := strings.Split(strings.TrimSuffix(t.matrix, "\n"), "\n")
	for i := range max(len(ours), len(theirs)) {
		if i >= len(ours) || i >= len(theirs) || ours[i] != theirs[i] {
			return []breach{{claimsFile, i + 1, "id, stage and claim differ from the matrix beside the repository: copy its line, byte for byte"}}
		}
	}
	return nil
}

func checkClaimedTests(t *tree) []breach {
	known := map[string]bool{}
	for _, f := range t.golang() {
		for _, decl := range f.code.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && f.isTest() && function.Recv == nil {
				known[f.dir()+"."+function.Name.Name] = true
			}
		}
	}
	var found []breach
	for _, c := range t.claims() {
		for _, test := range c.tests() {
			if !known[test] {
				found = append(found, breach{claimsFile, c.line, fmt.Sprintf("%s names %s, which is in no _test.go file: write it, or say `missing`", c.id(), test)})
			}
		}
	}
	return found
}

func checkOveruse(t *tree) []breach {
	var found []breach
	named := map[string]int{}
	for _, c := range t.claims() {
		for _, test := range c.tests() {
			if named[test]++; named[test] == mostClaims+1 {
				found = append(found, breach{claimsFile, c.line, fmt.Sprintf(
					"%s is named by more than %d claims: write a test for each promise", test, mostClaims)})
			}
		}
	}
	return found
}

var mutantName = regexp.MustCompile(`^([A-Z]\d{2}[a-z]?)(\.[a-z0-9-]+)?\.patch$`)

func checkMutants(t *tree) []breach {
	var found []breach
	named := map[string]bool{}
	for _, c := range t.claims() {
		for _, patch := range c.list(5) {
			named[patch] = true
			form := mutantName.FindStringSubmatch(patch)
			if form == nil || form[1] != c.id() || t.find(mutantFolder+"/"+patch) == nil {
				found = append(found, breach{claimsFile, c.line, fmt.Sprintf(
					"mutant %q: want a file %s.patch, or %s.a-word.patch, in %s", patch, c.id(), c.id(), mutantFolder)})
			}
		}
	}
	free := []string{mutantFolder + "/results.tsv", mutantFolder + "/README.md"}
	for _, f := range t.files {
		name, inside := strings.CutPrefix(f.path, mutantFolder+"/")
		if inside && !named[name] && !slices.Contains(free, f.path) {
			found = append(found, breach{f.path, 1, "no claim names this file in its column mutant: name it there, or remove it"})
		}
	}
	return found
}
