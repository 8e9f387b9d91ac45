package txn

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cockroachdb/errors"
)

// accepted are the statements of R28, by their first word.
var accepted = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE"}

// forbiddenCalls are functions whose effect a rollback does not take back, that wait, or that read the server's files.
var forbiddenCalls = []string{
	"GET_LOCK", "RELEASE_LOCK", "RELEASE_ALL_LOCKS", "IS_FREE_LOCK", "IS_USED_LOCK",
	"SLEEP", "BENCHMARK", "LOAD_FILE", "NEXTVAL", "SETVAL",
}

// language says which statements the application's code may run.
type language struct {
	// names are databases in lower case that no statement may name. Privileges keep the application out of every table
	// of ours, but a SELECT of no column, such as SELECT 1 or COUNT(*), asks TiDB for no privilege and may still lock.
	names []string
}

// check refuses what is not one plain statement over the application's own tables.
func (l language) check(query string, arguments int) error {
	tokens, err := scan(query)
	if err != nil {
		return err
	}
	if len(tokens) == 0 || !slices.ContainsFunc(accepted, tokens[0].is) {
		return errors.Newf("the statement is none of %s: the transaction is not the handler's to steer", strings.Join(accepted, ", "))
	}
	marks := 0
	for i, t := range tokens {
		next := token{}
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		if t.kind == symbol && t.text == "?" {
			marks++
		}
		if err := l.checkToken(tokens[0], t, next); err != nil {
			return err
		}
	}
	if arguments > 0 && strings.Count(query, "?") != marks {
		return errors.New("a question mark stands in a text, a quoted name or a comment, where the driver would put an argument: give that text as an argument too")
	}
	return nil
}

func (l language) checkToken(first, t, next token) error {
	switch {
	case t.kind == symbol && t.text == ";":
		return errors.New("a semicolon: one statement at a time, without one")
	case t.kind == symbol && t.text == "@":
		return errors.New("a variable of the session outlives the transaction: use arguments and results")
	case t.is("OUTFILE"), t.is("DUMPFILE"), t.is("INTO") && first.is("SELECT"):
		return errors.New("SELECT ... INTO writes elsewhere than into a table: read the rows")
	case t.is("FOR") && next.is("SHARE"), t.is("LOCK") && next.is("IN"):
		return errors.New("a shared lock is refused by TiDB or locks nothing: lock for update")
	case t.is("SKIP") && next.is("LOCKED"):
		return errors.New("skipping locked rows locks nothing in TiDB: lock exact keys for update")
	case t.is("NEXT") && next.is("VALUE"):
		return errors.New("NEXT VALUE FOR leaves something behind that no rollback takes back")
	case t.names() && next.kind == symbol && next.text == "(" && slices.Contains(forbiddenCalls, strings.ToUpper(t.text)):
		return errors.Newf("function %s: it waits, or leaves something that no rollback takes back", strings.ToUpper(t.text))
	case t.names() && slices.Contains(l.names, strings.ToLower(t.text)):
		return errors.Newf("the name %s is a database of connectorcore or of the server: the application's code stays in its own", t.text)
	}
	return nil
}

type tokenKind uint8

const (
	word   tokenKind = iota + 1 // a keyword, a name or a number
	quoted                      // a name in backquotes
	text                        // a string
	symbol                      // one character of any other kind
)

type token struct {
	kind tokenKind
	text string // of a quoted name what it means, of a string nothing
}

// is tells whether a token is a keyword. A quoted name never is.
func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.text, keyword) }

// names tells whether a token may name something.
func (t token) names() bool { return t.kind == word || t.kind == quoted }

// scan takes a statement apart as TiDB does, under a sql_mode in which double quotes are strings and a backslash
// escapes. Whatever the two could read differently is refused: comments that are executed, hints, and odd bytes.
func scan(query string) ([]token, error) {
	if !utf8.ValidString(query) || strings.ContainsRune(query, 0) {
		return nil, errors.New("the statement is not plain UTF-8 text")
	}
	var tokens []token
	for at := 0; at < len(query); {
		rest := query[at:]
		var one token
		var size int
		var err error
		switch c := rest[0]; {
		case isSpace(c):
			size = 1
		case strings.HasPrefix(rest, "/*"):
			size, err = comment(rest)
		case c == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || isSpace(rest[2])):
			size = len(rest)
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				size = end + 1
			}
		case c == '\'', c == '"', c == '`':
			one, size, err = quote(rest)
		case isWordByte(c):
			for size < len(rest) && isWordByte(rest[size]) {
				size++
			}
			one = token{word, rest[:size]}
		default:
			one, size = token{symbol, rest[:1]}, 1
		}
		if err != nil {
			return nil, err
		}
		if one.kind != 0 {
			tokens = append(tokens, one)
		}
		at += size
	}
	return tokens, nil
}

// comment measures a comment that is nothing but one.
func comment(rest string) (size int, err error) {
	body := rest[2:]
	if strings.HasPrefix(body, "!") || strings.HasPrefix(body, "+") || strings.HasPrefix(body, "T!") || strings.HasPrefix(body, "M!") {
		return 0, errors.New("a comment that is executed, or a hint: write the statement plainly")
	}
	end := strings.Index(body, "*/")
	if end < 0 {
		return 0, errors.New("a comment that does not end")
	}
	return 2 + end + 2, nil
}

// quote measures a string or a quoted name. Its quote is doubled inside it; a string may escape it by a backslash too.
func quote(rest string) (one token, size int, err error) {
	mark := rest[0]
	var said strings.Builder
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && mark != '`':
			i++
		case rest[i] != mark:
			said.WriteByte(rest[i])
		case i+1 < len(rest) && rest[i+1] == mark:
			said.WriteByte(mark)
			i++
		case mark == '`':
			return token{quoted, said.String()}, i + 1, nil
		default:
			return token{kind: text}, i + 1, nil
		}
	}
	return token{}, 0, errors.New("a text or quoted name that does not end")
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// isWordByte takes every byte of a character outside ASCII for a letter, as the server does.
func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}
