package txn

import (
	"database/sql"
	"strings"

	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// stands reads one row of columns and, beside them, how the session is set, so that this takes no statement more. A session
// that is not what it was opened as has locked nothing that can be relied on, or reads what was true before: the
// transaction fails here as schema.ErrSession, and its connection is closed.
func (tx *Tx) stands(columns, from string, args []any, into ...any) error {
	drift := schema.DriftColumns()
	got := make([]string, strings.Count(drift, ",")+1)
	for i := range got {
		into = append(into, &got[i])
	}
	if err := tx.query("SELECT "+columns+","+drift+from, args, func(r *sql.Rows) error { return r.Scan(into...) }); err != nil {
		return err
	}
	if err := schema.CheckDrift(got); err != nil {
		return tx.fail(errors.Wrapf(err, "transaction %q", tx.kind))
	}
	return nil
}
