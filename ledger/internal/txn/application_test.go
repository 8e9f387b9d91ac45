package txn

import (
	"context"
	"database/sql"
	"runtime"
	"strings"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/outbound"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var kindHosted = NewKind("test: hosted")

// hosting is an application with one table, beside a store with an account that serves. The ledger's part of its
// transactions takes the account's gate and writes a permit's fact, as a sign that it was there.
type hosting struct {
	t       *testing.T
	store   *world.Store
	kernel  *DB
	app     *Application
	own     *world.Application
	account facts.AccountID
	reruns  []string
	turn    Turn
	// pool of the application's sessions
	pool *sql.DB
}

func newHosting(t *testing.T, options Options, deadline time.Duration) *hosting {
	t.Helper()
	store := world.Converged(t)
	return hostingOn(t, store, store.Login.Address, options, deadline)
}

func hostingOn(t *testing.T, store *world.Store, address string, options Options, deadline time.Duration) *hosting {
	t.Helper()
	h := &hosting{t: t, store: store}
	h.own = store.Hosted(t, map[string]string{"contact": "id BIGINT PRIMARY KEY, n BIGINT NOT NULL"})
	options.OnRerun = func(reason string) { h.reruns = append(h.reruns, reason) }
	h.kernel = openKernel(t, store, options)
	h.pool = store.PoolAt(t, schema.RoleApplication, address, nil)
	var err error
	h.app, err = h.kernel.Host(t.Context(), h.pool, Hosting{Database: h.own.Name, Deadline: deadline})
	if err != nil {
		t.Fatal(err)
	}
	h.account = newServing(t, h.kernel).accounts[0]
	return h
}

type code = func(context.Context, *Handle) (string, error)

// run runs code, then marks under the account's gate that it did.
func (h *hosting) run(mark outbound.DispatchPermit, do code) (string, error) {
	return h.runContext(h.t.Context(), mark, do)
}

func (h *hosting) runContext(ctx context.Context, mark outbound.DispatchPermit, do code) (string, error) {
	return RunHosted(ctx, h.app, kindHosted, h.hosted(mark, do))
}

func (h *hosting) hosted(mark outbound.DispatchPermit, do code) Hosted[string] {
	return Hosted[string]{
		Code: func(host *Host) (func(*Tx) (string, error), error) {
			said, err := Call(host, do)
			return func(tx *Tx) (string, error) {
				loaded, err := h.load(tx, mark)
				if err != nil || loaded.Match(0) != Missing {
					return "before", err
				}
				return said, tx.Apply(Append(loaded))
			}, err
		},
		Settle: func(tx *Tx) (string, error) {
			loaded, err := h.load(tx, mark)
			if err == nil && loaded.Match(0) == Missing {
				err = ErrCodeDue
			}
			return "before", err
		},
		Turn: h.turn,
	}
}

func (h *hosting) load(tx *Tx, mark outbound.DispatchPermit) (*Loaded[outbound.DispatchPermit], error) {
	if _, err := LockServing(tx, h.account); err != nil {
		return nil, err
	}
	return Load(tx, schema.DispatchPermits, []outbound.DispatchPermit{mark})
}

func (h *hosting) mark() outbound.DispatchPermit {
	return outbound.DispatchPermit{ID: facts.Mint[facts.PermitID](), Account: h.account, Effect: facts.Mint[facts.EffectID](),
		Attempt: facts.Mint[facts.AttemptID](), Holder: facts.Mint[facts.HolderID](), Generation: facts.Mint[facts.CredentialGenerationID](), GateFence: 1, CredentialFence: 1}
}

// stands is "N contacts, N marks": what the application and the ledger have written.
func (h *hosting) stands(mark outbound.DispatchPermit) string {
	h.t.Helper()
	return h.own.Text(h.t, "SELECT CONCAT((SELECT COUNT(*) FROM "+h.own.Name+".contact), ' contacts, ', (SELECT COUNT(*) FROM dispatch_permit WHERE permit_id=?), ' marks')", mark.ID)
}

func insert(ctx context.Context, h *Handle) (string, error) {
	_, err := h.Exec(ctx, "INSERT INTO contact (id,n) VALUES (?,?)", 1, 1)
	return "now", err
}

// idle waits until no connection is in use: what was left to itself has been let go of.
func (h *hosting) idle() {
	h.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); h.pool.Stats().InUse > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("%d connections are still in use", h.pool.Stats().InUse)
		}
	}
}

// The application's rows and the ledger's commit together, and the session is the application's again.
func TestR28ApplicationAndLedgerCommitTogether(t *testing.T) {
	var last Report
	h := newHosting(t, Options{Observe: func(r Report) { last = r }}, 0)
	mark := h.mark()
	got, err := h.run(mark, func(ctx context.Context, handle *Handle) (string, error) {
		if _, err := insert(ctx, handle); err != nil {
			return "", err
		}
		var seen int
		read := func(row Row) error { return row.Scan(&seen) }
		if err := handle.Query(ctx, read, "SELECT n FROM contact WHERE id=? FOR UPDATE", 1); err != nil || seen != 1 {
			t.Errorf("read back %d, %v", seen, err)
		}
		if _, err := handle.Exec(ctx, "REPLACE INTO contact (id,n) VALUES (2,2)"); err != nil {
			return "", err
		}
		if changed, err := handle.Exec(ctx, "UPDATE contact SET n=n+1"); err != nil {
			return "", err
		} else if n, err := changed.RowsAffected(); n != 2 || err != nil {
			t.Errorf("%d changed, %v", n, err)
		}
		_, err := handle.Exec(ctx, "/* one of them */ DELETE FROM contact WHERE id=2 -- that one")
		return "now", err
	})
	if err != nil || got != "now" || h.stands(mark) != "1 contacts, 1 marks" {
		t.Errorf("%q, %v: %s", got, err, h.stands(mark))
	}
	// BEGIN, USE, SAVEPOINT, five of the code, RELEASE, SET ROLE, USE, gate, share, epoch, state, load, insert, COMMIT
	if last.Statements != 18 || last.Outcome != Done {
		t.Errorf("%+v", last)
	}
	h.pool.SetMaxOpenConns(1)
	var role string
	if err := h.pool.QueryRow("SELECT CURRENT_ROLE()").Scan(&role); err != nil || !strings.Contains(role, "_application") {
		t.Errorf("the session is left in role %s, %v", role, err)
	}
	if got, err := h.run(mark, func(ctx context.Context, handle *Handle) (string, error) {
		_, err := handle.Exec(ctx, "UPDATE contact SET n=77")
		return "again", err
	}); err != nil || got != "before" {
		t.Errorf("a second time: %q, %v", got, err)
	}
	if n := h.own.Text(t, "SELECT n FROM "+h.own.Name+".contact"); n != "2" {
		t.Errorf("the ledger's part wrote nothing and n is %s", n)
	}
}

// Whatever the code does to its transaction ends its attempt: nothing of it and nothing of the ledger stands, and the
// account is as it was.
func TestR28HandlerCannotEndOrEscapeItsTransaction(t *testing.T) {
	h := newHosting(t, Options{Budget: Budget{Rerun: time.Second}}, 0)
	ours := h.store.Name
	statements := []string{
		"COMMIT", "ROLLBACK", "commit", "/* x */ commit", "-- x\ncommit", "# x\ncommit", "/*!40101 commit */", "/*T! commit */", "(COMMIT)",
		"BEGIN", "START TRANSACTION", "SAVEPOINT s", "RELEASE SAVEPOINT application_code", "ROLLBACK TO application_code",
		"SET autocommit=1", "SET ROLE ALL", "SET @a=1", "SELECT @a:=1", "SELECT 1 INTO @a", "SELECT 1 INTO OUTFILE 'f'", "SELECT @@autocommit",
		"CREATE TABLE other (id INT)", "ALTER TABLE contact ADD COLUMN x INT", "TRUNCATE TABLE contact", "DROP TABLE contact", "ANALYZE TABLE contact",
		"PREPARE s FROM 'commit'", "EXECUTE s", "CALL p()", "LOCK TABLES contact WRITE", "LOAD DATA LOCAL INFILE 'f' INTO TABLE contact", "XA START 'x'",
		"USE mysql", "KILL 1", "DO SLEEP(1)", "EXPLAIN ANALYZE DELETE FROM contact", "SHOW TABLES", "WITH a AS (SELECT 1) SELECT * FROM a", "BATCH ON id LIMIT 1 DELETE FROM contact",
		"SELECT 1; COMMIT", "SELECT 1;", "SELECT SLEEP(1)", "SELECT `sleep` (1)", "SELECT GET_LOCK('a',1)", "SELECT release_all_locks()", "SELECT BENCHMARK(9,1)", "SELECT NEXTVAL(s)", "INSERT INTO contact (id,n) SELECT NEXT /* x */ VALUE FOR s, 1",
		"SELECT /*+ SET_VAR(autocommit=1) */ 1", "SELECT 1 FROM contact FOR " + "SHARE", "SELECT 1 FROM contact LOCK " + "IN SHARE MODE", "SELECT 1 FROM contact FOR UPDATE SKIP " + "LOCKED",
		"UPDATE account_serving_gate_guard SET fence=fence+1", "UPDATE " + ours + ".account_serving_gate_guard SET fence=fence+1",
		"INSERT INTO " + ours + ".receipt (receipt_id) VALUES ('a')", "DELETE FROM `" + ours + "`.execution_head", "DELETE FROM `" + strings.ToUpper(ours) + "` . execution_head",
		"SELECT 1 FROM " + ours + ".account_serving_gate_guard FOR UPDATE", "SELECT COUNT(*) FROM " + ours + ".execution", "SELECT * FROM mysql.user", "SELECT info FROM information_schema.cluster_processlist",
		"SELECT 'an open text", "SELECT `an open name", "SELECT 1 /* an open comment", "SELECT \x00", "SELECT '\xff'", "", "/* nothing */", "SELECT 1 FROM no_such_table", "INSERT INTO contact (id,n) VALUES (1,1)",
	}
	before := h.own.Text(t, "SELECT CONCAT(state,fence) FROM account_serving_gate_guard WHERE account_id=?", h.account)
	for _, statement := range statements {
		mark := h.mark()
		tried := 0
		_, err := h.run(mark, func(ctx context.Context, handle *Handle) (string, error) {
			tried++
			if _, err := insert(ctx, handle); err != nil {
				t.Error(err)
			}
			if tried%2 == 1 {
				if _, err := handle.Exec(ctx, statement); err == nil {
					t.Errorf("%q was let through", statement)
				}
			} else if err := handle.Query(ctx, func(Row) error { return nil }, statement); err == nil {
				t.Errorf("%q was let through", statement)
			}
			if _, err := handle.Exec(ctx, "UPDATE contact SET n=2"); err == nil {
				t.Errorf("after %q the handle goes on", statement)
			}
			return "as if nothing had been", nil
		})
		var failure *HandlerFailure
		if !errors.As(err, &failure) || errors.HasAssertionFailure(err) || tried != 1 {
			t.Errorf("%q, tried %d times: %v", statement, tried, err)
		}
		if got := h.stands(mark); got != "0 contacts, 0 marks" {
			t.Errorf("after %q: %s", statement, got)
		}
	}
	if after := h.own.Text(t, "SELECT CONCAT(state,fence) FROM account_serving_gate_guard WHERE account_id=?", h.account); after != before || len(h.reruns) != 0 {
		t.Errorf("the gate went from %s to %s, reruns for %v", before, after, h.reruns)
	}
}

// What is the application's own is let through, whatever it looks like.
func TestR28HandlerMayUseItsOwnTablesFreely(t *testing.T) {
	h := newHosting(t, Options{}, 0)
	mark := h.mark()
	_, err := h.run(mark, func(ctx context.Context, handle *Handle) (string, error) {
		for statement, args := range map[string][]any{
			"SELECT 'it''s; a \\' COMMIT @x', \"/*! x */\", `n` FROM contact WHERE n < ? -- ; why":                {7},
			"INSERT INTO contact (id,n) SELECT 5, COUNT(*) FROM contact ON DUPLICATE" + " KEY UPDATE n=n+1":       nil,
			"SELECT c.n, 1-1 FROM contact c JOIN contact AS d ON c.id=d.id WHERE c.id IN (?,?) FOR UPDATE NOWAIT": {1, 2},
			"select `;` from (select 1 as `;`) `into`":                                                            nil,
			"UPDATE contact SET n=? WHERE id=?":                                                                   {sql.NullInt64{}.Int64, (*nilValuer)(nil)},
			"SELECT " + strings.Repeat("(", 50) + "1" + strings.Repeat(")", 50):                                   nil,
			"SELECT " + h.own.Name + ".contact.n FROM " + h.own.Name + ".contact":                                 nil,
		} {
			if strings.HasPrefix(strings.ToUpper(statement), "SELECT") {
				if err := handle.Query(ctx, func(Row) error { return nil }, statement, args...); err != nil {
					return "", err
				}
			} else if _, err := handle.Exec(ctx, statement, args...); err != nil {
				return "", err
			}
		}
		return "now", nil
	})
	if err != nil {
		t.Error(err)
	}
	_, err = h.run(h.mark(), func(ctx context.Context, handle *Handle) (string, error) {
		_, err := handle.Exec(ctx, "INSERT INTO contact (id,n) VALUES (?, LENGTH('?'))", 9)
		return "", err
	})
	if err == nil || !strings.Contains(err.Error(), "question mark") {
		t.Errorf("a mark inside a text: %v", err)
	}
}

type nilValuer struct{}

func (*nilValuer) Value() (any, error) { return nil, errors.New("asked") }

// A transaction that was ended past the handle is found by its savepoint: an assertion, and the connection is closed.
func TestR28EndedTransactionIsAnAssertionAndItsConnectionIsClosed(t *testing.T) {
	h := newHosting(t, Options{}, 0)
	for _, ending := range []string{"COMMIT", "ROLLBACK"} {
		mark := h.mark()
		closed := h.pool.Stats().OpenConnections
		_, err := h.run(mark, func(ctx context.Context, handle *Handle) (string, error) {
			_, err := handle.raw.ExecContext(ctx, ending) // as if the words had got past
			return "now", err
		})
		if !errors.HasAssertionFailure(err) || !strings.Contains(err.Error(), "it was ended while") || h.stands(mark) != "0 contacts, 0 marks" {
			t.Errorf("after %s: %v; %s", ending, err, h.stands(mark))
		}
		if open := h.pool.Stats().OpenConnections; open >= max(closed, 1) || len(h.reruns) > 0 {
			t.Errorf("after %s: %d connections are open, reruns for %v", ending, open, h.reruns)
		}
	}
}

// Every way in which code can end badly is its own failure: nothing stands, the kernel goes on, and a handle that was
// kept does nothing any more.
func TestR28EveryBadEndOfAHandlerIsItsFailure(t *testing.T) {
	h := newHosting(t, Options{}, 2*time.Second)
	release := make(chan struct{})
	kept := make(chan *Handle, 20)
	own := errors.New("the contact has no name")
	for name, do := range badEnds(own, release) {
		mark := h.mark()
		_, err := h.run(mark, func(ctx context.Context, handle *Handle) (string, error) {
			kept <- handle
			if _, err := insert(ctx, handle); err != nil {
				t.Error(err)
			}
			return do(ctx, handle)
		})
		var failure *HandlerFailure
		if !errors.As(err, &failure) || errors.HasAssertionFailure(err) || strings.Contains(err.Error(), "a secret") {
			t.Errorf("%s: %v", name, err)
		}
		if errors.Is(err, own) || errors.Is(err, facts.WrongState) || name == "an error" && !errors.Is(failure.Cause, own) {
			t.Errorf("%s: the cause of %v", name, err)
		}
		if _, err := insert(t.Context(), <-kept); err == nil || !strings.Contains(err.Error(), "dead") && !strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the kept handle: %v", name, err)
		}
		if got := h.stands(mark); got != "0 contacts, 0 marks" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if len(h.reruns) > 0 {
		t.Errorf("reruns for %v", h.reruns)
	}
	close(release)
	h.idle()
	if got, err := h.run(h.mark(), insert); err != nil || got != "now" {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}

// badEnds are what code may do instead of its work. It goes on where the test lets it.
func badEnds(own error, release chan struct{}) map[string]code {
	return map[string]code{
		"an error": func(ctx context.Context, handle *Handle) (string, error) { return "", own },
		"a refusal of ours": func(context.Context, *Handle) (string, error) {
			return "", facts.Refuse(facts.WrongState, facts.OfInput("x"), "")
		},
		"an error of ours": func(context.Context, *Handle) (string, error) { return "", ErrCodeDue },
		"a panic":          func(context.Context, *Handle) (string, error) { panic("a secret") },
		"an end":           func(context.Context, *Handle) (string, error) { runtime.Goexit(); return "", nil },
		"a panic in a row": func(ctx context.Context, handle *Handle) (string, error) {
			return "", handle.Query(ctx, func(Row) error { panic("a secret") }, "SELECT n FROM contact")
		},
		"an end in a row": func(ctx context.Context, handle *Handle) (string, error) {
			return "", handle.Query(ctx, func(Row) error { runtime.Goexit(); return nil }, "SELECT n FROM contact")
		},
		"its deadline":       func(ctx context.Context, handle *Handle) (string, error) { <-release; return "now", nil },
		"its deadline, seen": func(ctx context.Context, handle *Handle) (string, error) { <-ctx.Done(); return "", ctx.Err() },
		"its deadline, in a row": func(ctx context.Context, handle *Handle) (string, error) {
			return "", handle.Query(ctx, func(Row) error { <-release; return nil }, "SELECT n FROM contact")
		},
		"a statement in a row": func(ctx context.Context, handle *Handle) (string, error) {
			_ = handle.Query(ctx, func(Row) error { _, err := insert(ctx, handle); return err }, "SELECT n FROM contact")
			return "now", nil
		},
		"a goroutine that is left in a row": func(ctx context.Context, handle *Handle) (string, error) {
			reading := make(chan struct{})
			go func() {
				_ = handle.Query(ctx, func(Row) error { close(reading); <-release; return nil }, "SELECT n FROM contact")
			}()
			<-reading
			return "now", nil
		},
		"a cancelled statement": func(ctx context.Context, handle *Handle) (string, error) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, _ = handle.Exec(ctx, "UPDATE contact SET n=3")
			return "now", nil
		},
	}
}
