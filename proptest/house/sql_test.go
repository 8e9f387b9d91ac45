package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// idiom is a piece of SQL that does not do here what it promises.
type idiom struct {
	form    *regexp.Regexp
	instead string
	inTests bool // tests may use it: to build a state, or to show that a handler may
}

var idioms = []idiom{
	{regexp.MustCompile(`(?i)\bSKIP LOCKED\b`), "SKIP LOCKED: TiDB has none; lock exact keys in the order of the ranks", false},
	{regexp.MustCompile(`(?i)\bFOR SHARE\b`), "FOR SHARE: it locks nothing on TiDB; lock with FOR UPDATE in ledger/internal/txn", false},
	{regexp.MustCompile(`(?i)\bLOCK IN SHARE MODE\b`), "LOCK IN SHARE MODE: it locks nothing on TiDB; lock with FOR UPDATE in ledger/internal/txn", false},
	{regexp.MustCompile(`(?i)\bINSERT IGNORE\b`), "INSERT IGNORE: it hides a conflict; load by exact keys, compare, insert what is missing", false},
	{regexp.MustCompile(`(?i)\bON DUPLICATE KEY\b`), "ON DUPLICATE KEY: it rewrites a fact; load by exact keys, compare, insert what is missing", false},
	{regexp.MustCompile(`(?i)\bREPLACE INTO\b`), "REPLACE INTO: it rewrites a fact; load by exact keys, compare, insert what is missing", true},
	{regexp.MustCompile(`(?i)\bTRIM ?\(`), "TRIM(: identity is exact bytes; refuse what is not canonical instead of repairing it", false},
	{regexp.MustCompile(`(?i)\bLOWER ?\(`), "LOWER(: identity is exact bytes; refuse what is not canonical instead of repairing it", false},
}

var (
	locking  = regexp.MustCompile(`(?i)\bFOR UPDATE\b`)
	defining = regexp.MustCompile(`(?i)^["` + "`" + ` ]*(ALTER|CREATE|DROP|RENAME|TRUNCATE) +(TABLE|DATABASE|SCHEMA|INDEX|UNIQUE|VIEW|SEQUENCE|ROLE|USER|TEMPORARY|OR)\b`)
	account  = regexp.MustCompile(`(?i)^["` + "`" + ` ]*ALTER USER\b`)
)

var sqlRules = []rule{
	{"no broken SQL idiom", checkIdioms},
	{"only txn locks", checkLocks},
	{"only schema defines", checkDefinitions},
}

// statement is a piece of text that a database may be given: a string of a Go file, or a line of an SQL file.
type statement struct {
	line int
	text string
}

var spaces = regexp.MustCompile(`\s+`)

// statements lists the strings of Go and the lines of SQL. The house is left out, because it names what it forbids.
func (f *file) statements() []statement {
	var all []statement
	switch {
	case under(f, "proptest/house"):
	case f.code != nil:
		ast.Inspect(f.code, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				all = append(all, statement{f.line(literal), spaces.ReplaceAllString(literal.Value, " ")})
			}
			return true
		})
	case strings.HasSuffix(f.path, ".sql"):
		for i, line := range strings.Split(f.text, "\n") {
			if !strings.HasPrefix(strings.TrimSpace(line), "--") {
				all = append(all, statement{i + 1, spaces.ReplaceAllString(line, " ")})
			}
		}
	}
	return all
}

func checkIdioms(t *tree) []breach {
	var found []breach
	for _, f := range t.files {
		for _, s := range f.statements() {
			for _, one := range idioms {
				if one.form.MatchString(s.text) && !(one.inTests && f.isHarness()) {
					found = append(found, breach{f.path, s.line, one.instead})
				}
			}
		}
	}
	return found
}

func checkLocks(t *tree) []breach {
	var found []breach
	for _, f := range t.files {
		if f.isHarness() || under(f, kernel) {
			continue
		}
		for _, s := range f.statements() {
			if locking.MatchString(s.text) {
				found = append(found, breach{f.path, s.line, "FOR UPDATE: let ledger/internal/txn lock, which asserts the order of the ranks"})
			}
		}
	}
	return found
}

// checkDefinitions leaves two places besides schema: tests, which build states, and the supervisor, which gives the
// root of a new server its password before any schema exists.
func checkDefinitions(t *tree) []breach {
	var found []breach
	for _, f := range t.files {
		if f.isHarness() || f.room() == "schema" || f.room() == "examples" {
			continue
		}
		for _, s := range f.statements() {
			word := defining.FindStringSubmatch(s.text)
			if word == nil || under(f, "engine/embedded") && account.MatchString(s.text) {
				continue
			}
			found = append(found, breach{f.path, s.line, fmt.Sprintf("%s %s: declare it in schema, which converges and verifies it", word[1], word[2])})
		}
	}
	return found
}
