package main

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// books reads the store and the application's log as an administrator would. Nothing is written through it.
type books struct{ db *sql.DB }

func openBooks(migrationFile string) (*books, error) {
	raw, err := os.ReadFile(migrationFile)
	if err != nil {
		return nil, errors.Wrap(err, "the administrator's DSN")
	}
	config, err := mysql.ParseDSN(strings.TrimSpace(string(raw)))
	if err != nil {
		return nil, errors.New("the administrator's DSN cannot be read")
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, errors.Wrap(err, "the administrator's DSN")
	}
	return &books{sql.OpenDB(connector)}, nil
}

func (b *books) count(ctx context.Context, query string) (n int, err error) {
	return n, errors.Wrap(b.db.QueryRowContext(ctx, query).Scan(&n), "the books")
}

// claimed is how many open executions each process has claimed, dead ones included.
func (b *books) claimed(ctx context.Context) (map[facts.HolderID]int, error) {
	rows, err := b.db.QueryContext(ctx, "SELECT a.holder_id, COUNT(*) FROM execution_head h JOIN execution_attempt a ON a.execution_id = h.execution_id GROUP BY a.holder_id")
	if err != nil {
		return nil, errors.Wrap(err, "the books")
	}
	defer rows.Close()
	claims := map[facts.HolderID]int{}
	for rows.Next() {
		var holder facts.HolderID
		var n int
		if err := rows.Scan(&holder, &n); err != nil {
			return nil, errors.Wrap(err, "the books")
		}
		claims[holder] = n
	}
	return claims, errors.Wrap(rows.Err(), "the books")
}

// waiting is how many windows are open, how many inputs wait for their turn, how many executions for another fact, and how
// many deliveries for something that is not written yet.
func (b *books) waiting(ctx context.Context) (int, error) {
	return b.count(ctx, "SELECT (SELECT COUNT(*) FROM projection_window_head) + (SELECT COUNT(*) FROM projection_head) + "+
		"(SELECT COUNT(*) FROM execution_head WHERE state = 'waiting_dependency') + (SELECT COUNT(*) FROM receipt_head)")
}

// superseded is how many inputs the ledger has ended because a greater one overtook them.
func (b *books) superseded(ctx context.Context) (int, error) {
	return b.count(ctx, "SELECT COUNT(*) FROM projection_ledger WHERE to_state = 'superseded'")
}

// postponed is how many inputs the application has put by, which only a planted defect makes it do.
func (b *books) postponed(ctx context.Context) (int, error) {
	return b.count(ctx, "SELECT COUNT(*) FROM crm.postponed")
}

// aside is how many components were set aside, by reason, and how many inputs while they waited for their turn.
func (b *books) aside(ctx context.Context) (map[string]int, error) {
	rows, err := b.db.QueryContext(ctx, "SELECT reason, COUNT(*) FROM receipt_component WHERE verdict = 'quarantined' GROUP BY reason "+
		"UNION ALL SELECT 'in its lane', COUNT(*) FROM projection_ledger WHERE to_state = 'quarantined' HAVING COUNT(*) > 0")
	if err != nil {
		return nil, errors.Wrap(err, "the books")
	}
	defer rows.Close()
	aside := map[string]int{}
	for rows.Next() {
		var reason string
		var n int
		if err := rows.Scan(&reason, &n); err != nil {
			return nil, errors.Wrap(err, "the books")
		}
		aside[reason] = n
	}
	return aside, errors.Wrap(rows.Err(), "the books")
}

// done names what a command was about.
type done struct {
	account    facts.AccountID
	definition string
	record     string
}

// line is one line of the application's log.
type line struct {
	command facts.CommandID
	digest  facts.Digest // of the input
}

// held names what the application holds: the records of one account are in several tables.
type held struct {
	account facts.AccountID
	record  string
}

// logged is what the application wrote down: the lines of its log about each thing, in the order in which it wrote them,
// and what its tables hold in the end.
type logged struct {
	lines map[done][]line
	holds map[held][]string
}

// log reads what the application wrote down. The lines of a record are in the order of the record's revisions, which the
// database counted under the lock of its row.
func (b *books) log(ctx context.Context) (l logged, err error) {
	l = logged{map[done][]line{}, map[held][]string{}}
	rows, err := b.db.QueryContext(ctx, "SELECT command, account, definition, record, input_digest FROM crm.applied_log ORDER BY revision")
	if err != nil {
		return l, errors.Wrap(err, "the application's log")
	}
	defer rows.Close()
	for rows.Next() {
		var one line
		var about done
		if err := rows.Scan(&one.command, &about.account, &about.definition, &about.record, &one.digest); err != nil {
			return l, errors.Wrap(err, "the application's log")
		}
		l.lines[about] = append(l.lines[about], one)
	}
	if err := rows.Err(); err != nil {
		return l, errors.Wrap(err, "the application's log")
	}
	return l, b.hold(ctx, l.holds)
}

// hold reads what the application says that its source says of each record.
func (b *books) hold(ctx context.Context, holds map[held][]string) error {
	const of = "SELECT account, record, source FROM crm."
	rows, err := b.db.QueryContext(ctx, of+"contacts UNION ALL "+of+"issues UNION ALL "+of+"invoices UNION ALL "+of+"activity")
	if err != nil {
		return errors.Wrap(err, "the application's tables")
	}
	defer rows.Close()
	for rows.Next() {
		var one held
		var source string
		if err := rows.Scan(&one.account, &one.record, &source); err != nil {
			return errors.Wrap(err, "the application's tables")
		}
		holds[one] = append(holds[one], source)
	}
	return errors.Wrap(rows.Err(), "the application's tables")
}

// settled waits until everything that is owed is in the log, no execution and no window is open any more, and no input
// waits for its turn. It gives up after a minute, and what is missing then is lost.
func (b *books) settled(ctx context.Context, o owed) (logged, error) {
	given := clock.Now()
	for {
		open, err := b.count(ctx, "SELECT (SELECT COUNT(*) FROM execution_head WHERE state = 'ready') + "+
			"(SELECT COUNT(*) FROM projection_head) + (SELECT COUNT(*) FROM projection_window_head)")
		if err != nil {
			return logged{}, err
		}
		l, err := b.log(ctx) // after the count: what ended before it is in the log
		if err != nil || open == 0 && o.against(l).lost == 0 || clock.Now().Sub(given) > time.Minute {
			return l, err
		}
		if err := pauseFor(ctx, 100*time.Millisecond); err != nil {
			return l, err
		}
	}
}
