package house

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var wordRules = []rule{
	{"no provider's name", checkProviders},
	{"no trace of a machine or a session", checkTraces},
	{"an excuse has an issue", checkExcuses},
	{"a rewriting step has an issue", checkSteps},
}

// The names are data, so that the rules do not break themselves.
//
//go:embed testdata/providers.txt
var providerLines string

// Traces are kept as SHA-256 of a lower-case word, or of two words with a space between: the file that forbids a
// name need not say it.
//
//go:embed testdata/traces.txt
var traceLines string

var (
	providers = strings.Fields(providerLines)
	traces    = strings.Fields(traceLines)
	// hosted is an import path; the first provider of the list is where most Go modules live.
	hosted = regexp.MustCompile(providers[0] + `\.com/[\w.-]+/[\w./-]+`)
)

// provider finds a name anywhere, even inside a longer word: a type, a variable, a table.
func provider(text string) string {
	text = strings.ToLower(text)
	for _, name := range providers {
		if strings.Contains(text, name) {
			return name
		}
	}
	return ""
}

// checkProviders keeps the product free of the outside: L0 must not know for whom it works. Import paths are free,
// in import specs, in strings and in directives, but not in prose.
func checkProviders(t *tree) []breach {
	var found []breach
	for _, f := range t.files {
		code := f.code != nil || strings.HasSuffix(f.path, ".sql")
		if !code && !f.wasWritten() || f.room() == "packs" || f.room() == "examples" || provider(f.text) == "" {
			continue
		}
		prose := f.comments()
		for i, line := range strings.Split(f.text, "\n") {
			if !prose[i+1] {
				line = hosted.ReplaceAllString(line, "")
			}
			if name := provider(line); name != "" {
				found = append(found, breach{f.path, i + 1, fmt.Sprintf(
					"%q: a provider's name belongs into packs/ or examples/; say what the thing does, for any provider", name)})
			}
		}
	}
	return found
}

// written is how a generated page, which has no name of its own kind, says what it is.
var written = regexp.MustCompile(`(?m)^\W*(?:Code g|G)enerated (?:from|by)\b`)

// wasWritten tells whether a generator wrote the file, by its name or by its first lines.
func (f *file) wasWritten() bool {
	return strings.Contains(path.Base(f.path), "_gen.") || written.MatchString(f.text[:min(len(f.text), 400)])
}

// comments marks the lines on which a comment stands, directives left out.
func (f *file) comments() map[int]bool {
	marked := map[int]bool{}
	if f.code == nil {
		return marked
	}
	for _, group := range f.code.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "//go:") {
				continue
			}
			for line := f.line(comment); line <= f.fset.Position(comment.End()).Line; line++ {
				marked[line] = true
			}
		}
	}
	return marked
}

// private is a folder of somebody's machine.
var private = regexp.MustCompile(`(?:^|[^\w./$}-])(/(?:home|root|Users|work|workspace|mnt)/[\w.-]+)`)

func noLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func checkTraces(t *tree) []breach {
	var found []breach
	known := map[string]bool{} // most words stand in a thousand places
	isTrace := func(text string) bool {
		trace, ok := known[text]
		if !ok {
			sum := sha256.Sum256([]byte(text))
			trace = slices.Contains(traces, hex.EncodeToString(sum[:8]))
			known[text] = trace
		}
		return trace
	}
	for _, f := range t.files {
		if path.Base(f.path) == "go.sum" {
			continue // hundreds of kilobytes of other people's names
		}
		for i, line := range strings.Split(f.text, "\n") {
			if strings.Contains(line, "/") {
				if folder := private.FindStringSubmatch(line); folder != nil {
					found = append(found, breach{f.path, i + 1, fmt.Sprintf(
						"%s is a folder of one machine: name a path relative to the repository, or a temporary folder made at run time", folder[1])})
				}
			}
			last := ""
			for word := range strings.FieldsFuncSeq(strings.ToLower(line), noLetter) {
				if isTrace(word) || isTrace(last+" "+word) {
					found = append(found, breach{f.path, i + 1, fmt.Sprintf("%q: who or what wrote a line is no part of it: say it without", word)})
				}
				last = word
			}
		}
	}
	return found
}

var (
	issue  = regexp.MustCompile(`(?i)\bissue \d+\b`)
	excuse = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
)

// checkExcuses finds work that was put off: a skipped test, a note to oneself. It must say where it will be done.
func checkExcuses(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		ast.Inspect(f.code, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if ok && f.isTest() && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, selector.Sel.Name) && !saysIssue(call.Args) {
				found = append(found, f.at(call, "%s without `issue N` in its message: what is skipped is not proved; make it run, or say when", selector.Sel.Name))
			}
			return true
		})
		for _, group := range f.code.Comments {
			for _, comment := range group.List {
				if word := excuse.FindString(comment.Text); word != "" && !issue.MatchString(comment.Text) {
					found = append(found, f.at(comment, "%s without `issue N`: do it, or say where it will be done", word))
				}
			}
		}
	}
	return found
}

func saysIssue(args []ast.Expr) bool {
	return slices.ContainsFunc(args, func(arg ast.Expr) bool {
		literal, ok := arg.(*ast.BasicLit)
		return ok && literal.Kind == token.STRING && issue.MatchString(literal.Value)
	})
}

var (
	step    = regexp.MustCompile(`^-- step \d+: (.*)$`)
	newStep = regexp.MustCompile(`^create table \w+$`)
)

// checkSteps asks every step that changes what already holds data for the issue that wanted it. A step that makes a
// new table is written by the generator and changes nothing.
func checkSteps(t *tree) []breach {
	var found []breach
	for _, f := range t.files {
		if f.room() != "schema" || !strings.HasSuffix(f.path, ".sql") {
			continue
		}
		for i, line := range strings.Split(f.text, "\n") {
			name := step.FindStringSubmatch(line)
			if name != nil && !newStep.MatchString(name[1]) && !issue.MatchString(name[1]) {
				found = append(found, breach{f.path, i + 1, fmt.Sprintf("step %q changes a landed table: put `(issue N)` behind its name", name[1])})
			}
		}
	}
	return found
}
