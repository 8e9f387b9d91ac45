package world

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestADatabaseIsFreshAndGoneAfterItsTest(t *testing.T) {
	var names [2]string
	for i := range names {
		t.Run("one", func(t *testing.T) {
			db := Database(t)
			names[i] = db.Name
			if len(db.Name) > 18 {
				t.Errorf("%s is too long for role names", db.Name)
			}
			for _, statement := range []string{
				"CREATE TABLE t (a INT PRIMARY KEY)", "CREATE ROLE " + db.Name + "_ledger", "CREATE USER " + db.Name + "_user IDENTIFIED BY 'x'",
			} {
				if _, err := db.Admin.Exec(statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
			var at time.Time
			if err := db.Admin.QueryRow("SELECT NOW(6)").Scan(&at); err != nil || time.Since(at).Abs() > time.Hour {
				t.Errorf("times are not in UTC: %v, %v", at, err)
			}
		})
	}
	if names[0] == names[1] {
		t.Errorf("two tests had the database %s", names[0])
	}
	root, err := Server(t).Open()
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range names {
		var left int
		err := root.QueryRow(`SELECT (SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?)
+ (SELECT COUNT(*) FROM mysql.user WHERE user IN (?, ?))`, name, name+"_ledger", name+"_user").Scan(&left)
		if err != nil || left != 0 {
			t.Errorf("%s: %d things left, %v", name, left, err)
		}
	}
}

// recorder is a test that is over when its end is called; it keeps what was logged.
type recorder struct {
	testing.TB
	cleanups []func()
	lines    []string
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Logf(format string, a ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, a...))
}
func (r *recorder) Helper() {}
func (r *recorder) end() {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
}

func TestATestThatRanStatementsSaysHowMany(t *testing.T) {
	r := &recorder{TB: t}
	db := Database(r)
	_, err := db.Admin.Exec("CREATE TABLE t (a INT PRIMARY KEY)") // 1
	must(t, err)
	_, err = db.Admin.Exec("INSERT INTO t VALUES (?)", 1) // 2 and 3: not interpolated, so prepared and executed
	must(t, err)
	tx, err := db.Admin.Begin() // 4
	must(t, err)
	if _, err := tx.Exec("INSERT INTO t VALUES (1)"); err == nil { // 5: an answer is an answer
		t.Error("a duplicate went in")
	}
	must(t, tx.Rollback())
	statement, err := db.Admin.Prepare("SELECT a FROM t WHERE a = ?") // 6
	must(t, err)
	var a int
	must(t, statement.QueryRow(1).Scan(&a)) // 7
	must(t, statement.Close())
	Statements(r).Add(10)
	r.end()
	if got := strings.Join(r.lines, "|"); got != "proof: 17 statements on TiDB" {
		t.Errorf("logged %q", got)
	}
}

func TestATestThatRanNothingSaysNothing(t *testing.T) {
	r := &recorder{TB: t}
	Database(r)
	own := OwnServer(t)
	config := own.Root().Config()
	gone := NewProxy(t, own.Root().Address)
	config.Addr = gone.Address()
	gone.close()
	if err := Open(r, config).Ping(); err == nil {
		t.Error("a closed proxy answers")
	}
	r.end()
	if len(r.lines) > 0 {
		t.Errorf("logged %q", r.lines)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
