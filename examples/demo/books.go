package main

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"time"

	"connectorcore/examples/provider"
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

// waiting is how many inputs wait for their order, how many executions for another fact, and how many deliveries for their
// window.
func (b *books) waiting(ctx context.Context) (int, error) {
	return b.count(ctx, "SELECT (SELECT COUNT(*) FROM projection_head) + (SELECT COUNT(*) FROM execution_head WHERE state = 'waiting_dependency') + (SELECT COUNT(*) FROM receipt_head)")
}

// aside is how many components were set aside, by reason.
func (b *books) aside(ctx context.Context) (map[string]int, error) {
	rows, err := b.db.QueryContext(ctx, "SELECT reason, COUNT(*) FROM receipt_component WHERE verdict = 'quarantined' GROUP BY reason")
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

// logged is the application's own log: how many commands applied each thing, and how many lines each command has.
type logged struct {
	commands map[done]map[facts.CommandID]int
	rows     int
}

// log reads the application's log.
func (b *books) log(ctx context.Context) (l logged, err error) {
	l.commands = map[done]map[facts.CommandID]int{}
	rows, err := b.db.QueryContext(ctx, "SELECT command, account, definition, record FROM crm.applied_log")
	if err != nil {
		return l, errors.Wrap(err, "the application's log")
	}
	defer rows.Close()
	for rows.Next() {
		var command facts.CommandID
		var one done
		if err := rows.Scan(&command, &one.account, &one.definition, &one.record); err != nil {
			return l, errors.Wrap(err, "the application's log")
		}
		if l.commands[one] == nil {
			l.commands[one] = map[facts.CommandID]int{}
		}
		l.commands[one][command]++
		l.rows++
	}
	return l, errors.Wrap(rows.Err(), "the application's log")
}

// owed is what the provider may ask for: what was answered 2xx leads to these commands, by the packs alone.
type owed struct {
	now   map[done]bool // applied as soon as it can be
	later map[provider.Waiting]int
}

func owedFor(parcels []*parcel) owed {
	o := owed{map[done]bool{}, map[provider.Waiting]int{}}
	seen := map[*matter]bool{}
	for _, one := range parcels {
		if one.trick != honest || !one.taken() || seen[one.matter] {
			continue
		}
		seen[one.matter] = true
		for _, c := range one.commands {
			if c.Waits == provider.Nothing {
				o.now[done{one.account.id, c.Definition.String(), c.Record.String()}] = true
			} else {
				o.later[c.Waits]++
			}
		}
	}
	return o
}

// taken tells whether the door took a parcel in.
func (p *parcel) taken() bool { return p.status >= 200 && p.status < 300 }

// lost is how much of what is owed has no line in the log.
func (o owed) lost(l logged) (n int) {
	for one := range o.now {
		if len(l.commands[one]) == 0 {
			n++
		}
	}
	return n
}

// twice is how many things were applied more than once, be it by one command or by two.
func (l logged) twice() (n int) {
	for _, commands := range l.commands {
		lines := 0
		for _, times := range commands {
			lines += times
		}
		if lines > 1 {
			n++
		}
	}
	return n
}

// unasked is how many things were applied for which no delivery that was taken in asked.
func (o owed) unasked(l logged) (n int) {
	for one := range l.commands {
		if !o.now[one] {
			n++
		}
	}
	return n
}

// settled waits until everything that is owed is in the log and no execution is open any more. It gives up after a
// minute, and what is missing then is lost.
func (b *books) settled(ctx context.Context, o owed) (logged, error) {
	given := clock.Now()
	for {
		l, err := b.log(ctx)
		if err != nil {
			return l, err
		}
		open, err := b.count(ctx, "SELECT COUNT(*) FROM execution_head WHERE state = 'ready'")
		if err != nil || open == 0 && o.lost(l) == 0 || clock.Now().Sub(given) > time.Minute {
			return l, err
		}
		if err := pauseFor(ctx, 100*time.Millisecond); err != nil {
			return l, err
		}
	}
}
