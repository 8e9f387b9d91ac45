package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// idiom is a piece of SQL that does not do here what it promises.
type idiom struct {
	phrase  string // in capitals, with one space
	instead string
	inTests bool // tests may use it: to build a state, or to show that a handler may
}

var idioms = []idiom{
	{"SKIP LOCKED", "SKIP LOCKED: TiDB takes no lock at all for it; lock exact keys in the order of the ranks", false},
	{"FOR SHARE", "FOR SHARE: TiDB refuses it, or locks nothing; lock with FOR UPDATE in ledger/internal/txn", false},
	{"LOCK IN SHARE MODE", "LOCK IN SHARE MODE: TiDB refuses it, or locks nothing; lock with FOR UPDATE in ledger/internal/txn", false},
	{"INSERT IGNORE", "INSERT IGNORE: it hides a conflict; load by exact keys, compare, insert what is missing", false},
	{"ON DUPLICATE KEY", "ON DUPLICATE KEY: it rewrites a fact; load by exact keys, compare, insert what is missing", false},
	{"REPLACE INTO", "REPLACE INTO: it rewrites a fact; load by exact keys, compare, insert what is missing", true},
	{"TRIM(", "TRIM(: identity is exact bytes; refuse what is not canonical instead of repairing it", false},
	{"LOWER(", "LOWER(: identity is exact bytes; refuse what is not canonical instead of repairing it", false},
}

var (
	defining = regexp.MustCompile(`(?i)^["` + "`" + ` ]*(ALTER|CREATE|DROP|RENAME|TRUNCATE) +(TABLE|DATABASE|SCHEMA|INDEX|UNIQUE|VIEW|SEQUENCE|ROLE|USER|TEMPORARY|OR)\b`)
	account  = regexp.MustCompile(`(?i)^["` + "`" + ` ]*(ALTER|CREATE) USER\b`)
)

// mayAdmit are the places besides schema that may make a login or give it a password. Neither is part of a schema: on
// a cluster a person does it.
var mayAdmit = map[string]string{
	"engine/embedded": "gives the root of a new server its password before any schema exists",
	"engine/serve":    "makes the daemon's login on the embedded store, and keeps its password",
}

// mayDefine are the places besides schema that may make a table, because it is not ours.
var mayDefine = map[string]string{
	"engine/bench": "makes the tables of the application that it measures",
}

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

// says finds a phrase as words of its own, in any case; a phrase that ends in a parenthesis may have a space before it.
func says(text, phrase string) bool {
	text = strings.ReplaceAll(strings.ToUpper(text), " (", "(")
	for {
		before, after, found := strings.Cut(text, phrase)
		if !found {
			return false
		}
		if !endsInWord(before) && (strings.HasSuffix(phrase, "(") || !beginsWithWord(after)) {
			return true
		}
		text = after
	}
}

func endsInWord(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return isWord(last)
}

func beginsWithWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return isWord(first)
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) && r != utf8.RuneError || unicode.IsDigit(r)
}

func checkIdioms(t *tree) []breach {
	var found []breach
	for _, f := range t.files {
		for _, s := range f.statements() {
			for _, one := range idioms {
				if says(s.text, one.phrase) && !(one.inTests && f.isHarness()) {
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
			if says(s.text, "FOR UPDATE") {
				found = append(found, breach{f.path, s.line, "FOR UPDATE: let ledger/internal/txn lock, which asserts the order of the ranks"})
			}
		}
	}
	return found
}

// checkDefinitions leaves tests alone, which build states, the tables of mayDefine and the logins of mayAdmit.
func checkDefinitions(t *tree) []breach {
	var found []breach
	for _, f := range t.files {
		if f.isHarness() || f.room() == "schema" || f.room() == "examples" {
			continue
		}
		for _, s := range f.statements() {
			word := defining.FindStringSubmatch(s.text)
			if _, admits := mayAdmit[f.dir()]; word == nil || admits && account.MatchString(s.text) {
				continue
			}
			if _, defines := mayDefine[f.dir()]; defines && strings.EqualFold(word[2], "TABLE") {
				continue
			}
			found = append(found, breach{f.path, s.line, fmt.Sprintf("%s %s: declare it in schema, which converges and verifies it", word[1], word[2])})
		}
	}
	return found
}
