package txn

import (
	"database/sql"

	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// sessionSettings are those settings of a session that decide what a lock and a read mean and that can change under an open
// connection: by whoever stands between, or for all sessions of a server at once. schema sets them, and says why.
var sessionSettings = []struct{ name, want string }{
	{"tidb_txn_mode", "pessimistic"}, {"transaction_isolation", "READ-COMMITTED"},
	{"tidb_rc_read_check_ts", "0"}, {"tidb_enable_external_ts_read", "0"},
}

// stands reads one row of columns and, beside them, how the session is set, so that this takes no statement more. A session
// that is not what it was opened as has locked nothing that can be relied on, or reads what was true before: the
// transaction fails here as schema.ErrSession, and its connection is closed.
func (tx *Tx) stands(columns, from string, args []any, into ...any) error {
	query, got := "SELECT "+columns, make([]string, len(sessionSettings))
	for i, s := range sessionSettings {
		query += ",@@" + s.name
		into = append(into, &got[i])
	}
	if err := tx.query(query+from, args, func(r *sql.Rows) error { return r.Scan(into...) }); err != nil {
		return err
	}
	for i, s := range sessionSettings {
		if got[i] != s.want {
			return tx.fail(errors.Mark(errors.Newf("transaction %q: session variable %s became %q after the connection was opened, and must be %q",
				tx.kind, s.name, got[i], s.want), schema.ErrSession))
		}
	}
	return nil
}
