package world

import (
	"database/sql"
	"testing"
	"time"
)

// through makes a table and a pool of one connection that runs through a proxy.
func through(t *testing.T) (*DB, *Proxy, *sql.DB) {
	t.Helper()
	db := Database(t)
	_, err := db.Admin.Exec("CREATE TABLE t (a INT PRIMARY KEY, b INT)")
	must(t, err)
	proxy := NewProxy(t, db.Login.Address)
	config := db.Login.Config()
	config.DBName, config.Addr = db.Name, proxy.Address()
	return db, proxy, Open(t, config)
}

func fired(t *testing.T, f *Fault) {
	t.Helper()
	select {
	case <-f.Fired():
	case <-time.After(20 * time.Second):
		t.Fatal("the fault was not met")
	}
}

// insert runs one transaction and returns what COMMIT answered.
func insert(t *testing.T, pool *sql.DB, a int) error {
	t.Helper()
	tx, err := pool.Begin()
	must(t, err)
	_, err = tx.Exec("INSERT INTO t VALUES (?, 0)", a)
	must(t, err)
	return tx.Commit()
}

func rowsOf(t *testing.T, db *DB) (n int) {
	t.Helper()
	must(t, db.Admin.QueryRow("SELECT COUNT(*) FROM t").Scan(&n))
	return n
}

func TestAProxyWithoutFaultsIsNotThere(t *testing.T) {
	db, _, pool := through(t)
	must(t, insert(t, pool, 1))
	big := make([]byte, 1<<20)
	var length int
	must(t, pool.QueryRow("SELECT LENGTH(?)", big).Scan(&length))
	if rowsOf(t, db) != 1 || length != len(big) {
		t.Errorf("%d rows, %d bytes", rowsOf(t, db), length)
	}
}

func TestACutBeforeCommitLeavesNothing(t *testing.T) {
	db, proxy, pool := through(t)
	fault := proxy.Arm(CutBeforeCommit, 1)
	if err := insert(t, pool, 1); err == nil {
		t.Error("the client got an answer")
	}
	fired(t, fault)
	if n := rowsOf(t, db); n != 0 {
		t.Errorf("%d rows", n)
	}
	must(t, insert(t, pool, 1)) // one fault meets one COMMIT
}

func TestACutAfterCommitLeavesTheRowsAndNoAnswer(t *testing.T) {
	db, proxy, pool := through(t)
	fault := proxy.Arm(CutAfterCommit, 2)
	must(t, insert(t, pool, 1))
	if err := insert(t, pool, 2); err == nil {
		t.Error("the client got an answer")
	}
	fired(t, fault)
	if n := rowsOf(t, db); n != 2 || !fault.Committed() {
		t.Errorf("%d rows, committed %t", n, fault.Committed())
	}
}

func TestAHeldCommitWaitsWhileOthersGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*Fault)
		rows int
	}{"released": {(*Fault).Release, 2}, "dropped": {(*Fault).Drop, 1}} {
		t.Run(name, func(t *testing.T) {
			db, proxy, pool := through(t)
			fault := proxy.Arm(HoldCommit, 1)
			answer := make(chan error, 1)
			go func() { answer <- insert(t, pool, 1) }()
			fired(t, fault)
			_, err := db.Admin.Exec("INSERT INTO t VALUES (2, 0)")
			must(t, err)
			must(t, func() error { _, err := pool.Exec("DELETE FROM t WHERE a = 3"); return err }()) // the proxy serves others
			if n := rowsOf(t, db); n != 1 {
				t.Errorf("%d rows while the COMMIT is held", n)
			}
			c.end(fault)
			if err := <-answer; (err == nil) != (c.rows == 2) {
				t.Errorf("COMMIT answered %v", err)
			}
			if n := rowsOf(t, db); n != c.rows {
				t.Errorf("%d rows, want %d", n, c.rows)
			}
		})
	}
}

func TestAHeldCommitThatItsClientGaveUpMayStillCommit(t *testing.T) {
	db, proxy, pool := through(t)
	fault := proxy.Arm(HoldCommit, 1)
	config := db.Login.Config()
	config.DBName, config.Addr, config.ReadTimeout = db.Name, proxy.Address(), 300*time.Millisecond
	if err := insert(t, Open(t, config), 1); err == nil {
		t.Error("the client got an answer")
	}
	fired(t, fault)
	if n := rowsOf(t, db); n != 0 {
		t.Errorf("%d rows before the release", n)
	}
	fault.Release()
	eventually(t, "the late COMMIT commits", func() bool { return rowsOf(t, db) == 1 })
	must(t, insert(t, pool, 2))
}

func TestCutAllCutsWhatIsOpenAndTakesNewOnes(t *testing.T) {
	_, proxy, pool := through(t)
	tx, err := pool.Begin()
	must(t, err)
	proxy.CutAll()
	if _, err := tx.Exec("INSERT INTO t VALUES (1, 0)"); err == nil {
		t.Error("a cut connection works")
	}
	must(t, insert(t, pool, 1))
}
