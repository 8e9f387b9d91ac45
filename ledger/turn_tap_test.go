package ledger_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"sync"
	"time"

	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

// step is one command of a turn on its way to the server.
type step struct {
	n     int // from 1, counted from the tap's last reset
	query string
	args  []driver.NamedValue
	conn  wire // the connection that it goes on, past the tap
}

// is tells whether the command is a statement on a table.
func (s step) is(verb, table string) bool {
	return strings.HasPrefix(s.query, verb) && strings.Contains(s.query, " "+table+" ")
}

// tap stands in a ledger's connections and sees every command before it goes to the server: statements, and as "BEGIN"
// and "COMMIT" those of database/sql. Whatever before returns is the command's answer, and the server never sees it.
type tap struct {
	driver.Connector
	mu     sync.Mutex
	n      int
	before func(step) error
}

// tapped is a ledger of a pool of its own whose commands go through a tap.
func (s *scene) tapped(options ...ledger.Option) (*ledger.Ledger, *tap) {
	s.t.Helper()
	connector, err := schema.Connector(s.store.DSN(), schema.RoleLedger)
	ok(s.t, err)
	p := &tap{Connector: world.Counted(s.t, connector)}
	pool := sql.OpenDB(p)
	s.t.Cleanup(func() { _ = pool.Close() })
	return s.open(pool, options...), p
}

// watch resets the count and sets what is called before every command from now on.
func (p *tap) watch(before func(step) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n, p.before = 0, before
}

// count is how many commands went by since the last watch.
func (p *tap) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}

func (p *tap) pass(conn wire, query string, args []driver.NamedValue) error {
	p.mu.Lock()
	p.n++
	one, before := step{p.n, query, args, conn}, p.before
	p.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(one)
}

// wire is all that database/sql asks of a connection.
type wire interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	driver.NamedValueChecker
}

func (p *tap) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return tappedConn{conn.(wire), p}, nil
}

type tappedConn struct {
	wire
	tap *tap
}

func (c tappedConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	if err := c.tap.pass(c.wire, "BEGIN", nil); err != nil {
		return nil, err
	}
	tx, err := c.wire.BeginTx(ctx, options)
	return tappedTx{tx, c}, err
}

func (c tappedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.tap.pass(c.wire, query, args); err != nil {
		return nil, err
	}
	return c.wire.ExecContext(ctx, query, args)
}

func (c tappedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.tap.pass(c.wire, query, args); err != nil {
		return nil, err
	}
	return c.wire.QueryContext(ctx, query, args)
}

type tappedTx struct {
	driver.Tx
	conn tappedConn
}

// Commit rolls back what its tap answers for: such an answer says that nothing was committed.
func (tx tappedTx) Commit() error {
	if err := tx.conn.tap.pass(tx.conn.wire, "COMMIT", nil); err != nil {
		_ = tx.Tx.Rollback()
		return err
	}
	return tx.Tx.Commit()
}

// blocked returns when n statements of this database wait for a row lock.
func (s *scene) blocked(n int) {
	s.t.Helper()
	const waiting = "SELECT COUNT(*) FROM information_schema.tidb_trx WHERE state = 'LockWaiting' AND db = DATABASE()"
	for deadline := time.Now().Add(20 * time.Second); s.count(waiting) < n; {
		if time.Now().After(deadline) {
			s.t.Fatalf("no %d statements came to wait for a lock", n)
		}
	}
}

// clock runs so many seconds beside the machine's, and its alarms ring at once: a rerun's budget ends without waiting.
type clock struct {
	beside time.Duration
	mu     sync.Mutex
	rang   time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.beside + c.rang)
}

func (c *clock) Alarm(delay time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rang += 10 * max(delay, 0)
	ring := make(chan time.Time, 1)
	ring <- time.Now()
	return ring, func() {}
}
