package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The load of the tear proof: transactions over four tables, each with a second index, from eight writers.
const (
	tearWriters = 8
	tearTables  = 4
)

// rowsPerTable: most transactions have 200 rows, whose keys fit TiDB's own commit batch of 16 KiB; every fifth has 1,000,
// which are one batch only by our setting.
func rowsPerTable(txn int64) int {
	if txn%5 == 0 {
		return 250
	}
	return 50
}

// tearLoad writes transactions and remembers which of them the server has acknowledged.
type tearLoad struct {
	db   *sql.DB
	next atomic.Int64 // numbers transactions, over all lives of the server
	open atomic.Int64 // transactions that have begun and got no answer to COMMIT yet

	mu           sync.Mutex
	acknowledged map[int64]bool
}

func newTearLoad(t *testing.T, server *Server) *tearLoad {
	t.Helper()
	l := &tearLoad{db: open(t, server), acknowledged: map[int64]bool{}}
	l.db.SetMaxIdleConns(tearWriters)
	execute(t, l.db, "CREATE DATABASE tear")
	for i := range tearTables {
		execute(t, l.db, fmt.Sprintf("CREATE TABLE tear.t%d (txn BIGINT, ordinal INT, b VARCHAR(40), PRIMARY KEY (txn, ordinal), KEY (b))", i))
	}
	return l
}

// run writes until the server dies, from tearWriters goroutines, and returns when all have seen it.
func (l *tearLoad) run() {
	var group sync.WaitGroup
	for range tearWriters {
		group.Go(func() {
			for l.write() == nil {
			}
		})
	}
	group.Wait()
}

func (l *tearLoad) write() error {
	txn := l.next.Add(1)
	tx, err := l.db.Begin()
	if err != nil {
		return err
	}
	l.open.Add(1)
	defer l.open.Add(-1)
	defer tx.Rollback()
	for i := range tearTables {
		values := make([]string, rowsPerTable(txn))
		for ordinal := range values {
			values[ordinal] = fmt.Sprintf("(%d, %d, 'row %d of %d')", txn, ordinal, ordinal, txn)
		}
		if _, err := tx.Exec(fmt.Sprintf("INSERT INTO tear.t%d VALUES %s", i, strings.Join(values, ", "))); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged[txn] = true
	return nil
}

func (l *tearLoad) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acknowledged)
}

// findings are the transactions that a kill has damaged.
type findings struct {
	lost int // acknowledged, and wholly absent
	torn int // some rows there and some not, acknowledged or not
	// corrupt is what ADMIN CHECK TABLE says of rows without index entries.
	corrupt []string
}

func (f findings) clean() bool { return f.lost == 0 && f.torn == 0 && len(f.corrupt) == 0 }

// inspect compares every transaction that was ever begun with the rows of all tables.
func (l *tearLoad) inspect(t *testing.T) findings {
	t.Helper()
	rowsOf := map[int64]int{}
	for i := range tearTables {
		rows, err := l.db.QueryContext(t.Context(), fmt.Sprintf("SELECT txn, COUNT(*) FROM tear.t%d GROUP BY txn", i))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var txn int64
			var count int
			if err := rows.Scan(&txn, &count); err != nil {
				t.Fatal(err)
			}
			rowsOf[txn] += count
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	var found findings
	for txn := range l.acknowledged {
		if rowsOf[txn] == 0 {
			found.lost++
		}
	}
	for txn, count := range rowsOf {
		if count != tearTables*rowsPerTable(txn) {
			found.torn++
		}
	}
	for i := range tearTables {
		if _, err := l.db.ExecContext(t.Context(), fmt.Sprintf("ADMIN CHECK TABLE tear.t%d", i)); err != nil {
			found.corrupt = append(found.corrupt, err.Error())
		}
	}
	return found
}

// killUnderLoad runs the load, kills the server once it has acknowledged some transactions of this life and others are
// open, and returns how many were open at that moment, with the server serving again.
func (l *tearLoad) killUnderLoad(t *testing.T, server *Server, acknowledge int) int64 {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); l.run() }()
	ctx, cancel := context.WithTimeout(t.Context(), testWait)
	defer cancel()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for goal := l.count() + acknowledge; l.count() < goal || l.open.Load() < tearWriters/2; {
		select {
		case <-poll.C:
		case <-done:
			t.Fatal("the load ended before the kill")
		case <-ctx.Done():
			t.Fatal("the load is too slow")
		}
	}
	atTheKill := l.open.Load()
	killServer(t, server)
	<-done
	return atTheKill
}

func TestKillDuringOpenTransactionsLosesNothing(t *testing.T) {
	server := start(t, Options{Dir: t.TempDir()})
	load := newTearLoad(t, server)
	open := int64(0)
	const kills = 12
	for i := range kills {
		open += load.killUnderLoad(t, server, 5+3*i)
		if found := load.inspect(t); !found.clean() {
			t.Fatalf("after kill %d of %d acknowledged transactions: %+v", i+1, load.count(), found)
		}
	}
	t.Logf("%d kills with %d transactions open; %d begun, %d acknowledged, none lost, none torn",
		kills, open, load.next.Load(), load.count())
	if err := CheckSettings(t.Context(), load.db); err != nil {
		t.Error(err)
	}
}

// The control: the same load on a store with a region for each table, which is TiDB's default. If it were not torn
// here, the test above would prove nothing.
func TestKillWithSplitTablesTears(t *testing.T) {
	server := start(t, Options{Dir: t.TempDir(), splitTable: true})
	load := newTearLoad(t, server)
	const kills = 20
	for i := range kills {
		load.killUnderLoad(t, server, 5+3*i)
		if found := load.inspect(t); !found.clean() {
			t.Logf("kill %d of %d acknowledged transactions: %+v", i+1, load.count(), found)
			return
		}
	}
	t.Errorf("%d kills and %d acknowledged transactions, and nothing is torn: this load cannot find tears", kills, load.count())
}
