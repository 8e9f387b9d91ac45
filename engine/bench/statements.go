package bench

import (
	"cmp"
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"
)

// Kind is one kind of statement, as the database has counted it: it summarises what it executes by what is left of a
// statement without its values.
type Kind struct {
	Kind       string  `json:"kind"` // "insert receipt", "lock execution_head", "commit"
	Statements float64 `json:"statements_per_op"`
	Rows       float64 `json:"rows_per_op"` // inserted, changed or deleted
	Ms         float64 `json:"ms_per_op"`   // of the statement itself, waiting for locks included
}

// restart lets the database begin to count anew, in one window that does not end while a run lasts.
func restart(ctx context.Context, db *sql.DB) error {
	for _, statement := range []string{
		"SET GLOBAL tidb_stmt_summary_refresh_interval = 1000000000",
		"SET GLOBAL tidb_enable_stmt_summary = OFF",
		"SET GLOBAL tidb_enable_stmt_summary = ON",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return errors.Wrap(err, "bench: the database's own count of statements")
		}
	}
	return nil
}

// statements are all that the daemon's login has executed since restart, by kind, each for one of n operations.
func statements(ctx context.Context, db *sql.DB, login string, n int) (kinds []Kind, err error) {
	rows, err := db.QueryContext(ctx, "SELECT COALESCE(digest_text, ''), SUM(exec_count), SUM(exec_count * avg_affected_rows), SUM(sum_latency) / 1000000 "+
		"FROM information_schema.statements_summary WHERE sample_user = ? GROUP BY digest_text", login)
	if err != nil {
		return nil, errors.Wrap(err, "bench: the database's own count of statements")
	}
	defer func() { err = errors.CombineErrors(err, rows.Close()) }()
	sums := map[string]Kind{}
	for rows.Next() {
		var text string
		var k Kind
		if err := rows.Scan(&text, &k.Statements, &k.Rows, &k.Ms); err != nil {
			return nil, errors.Wrap(err, "bench: the database's own count of statements")
		}
		k.Kind = kindOf(text)
		sum := sums[k.Kind]
		sums[k.Kind] = Kind{k.Kind, sum.Statements + k.Statements/float64(n), sum.Rows + k.Rows/float64(n), sum.Ms + k.Ms/float64(n)}
	}
	for _, k := range sums {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b Kind) int { return cmp.Or(cmp.Compare(b.Ms, a.Ms), cmp.Compare(a.Kind, b.Kind)) })
	return kinds, errors.Wrap(rows.Err(), "bench: the database's own count of statements")
}

var (
	tableOf = regexp.MustCompile("(?:insert into|update|from) `?([a-z0-9_]+)`?")
	locks   = regexp.MustCompile(`for +update`)
)

// kindOf is what a statement does, and to which table.
func kindOf(text string) string {
	verb, _, _ := strings.Cut(text, " ")
	if verb == "select" && locks.MatchString(text) {
		verb = "lock"
	}
	if table := tableOf.FindStringSubmatch(text); table != nil {
		return verb + " " + table[1]
	}
	return verb
}
