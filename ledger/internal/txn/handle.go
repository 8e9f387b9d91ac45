package txn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"reflect"
	"sync"

	"github.com/cockroachdb/errors"
)

// Handle is the application's own part of a transaction, in the hands of its code: SELECT, INSERT, UPDATE, DELETE and
// REPLACE over the application's own tables, under the application's role, in the application's database (R28). It
// cannot begin, end or change the transaction, and sees nothing of ours.
//
// A SELECT may lock the application's own rows for update. Refused are: more than one statement, comments that are
// executed and hints, variables of the session, SELECT INTO, locks that TiDB does not take (shared ones, skipping locked
// rows), functions that lock, wait or leave something behind (GET_LOCK, SLEEP, NEXTVAL and the like), and every name of
// a database of connectorcore or of the server.
//
// The first refused statement, and the first error of server or driver, ends the attempt, whatever the code returns:
// after some errors the server has undone the transaction and would run the rest outside of it. A unique key that may
// be taken is therefore read first, or written by a statement that says what happens then.
//
// It is used by one goroutine at a time, and is dead when the code it was given to returns or its time is over.
type Handle struct {
	raw   *sql.Tx
	ctx   context.Context // ends with the code's time
	rules language
	count func() // of each statement

	mu     sync.Mutex
	busy   bool
	dead   bool
	poison error
}

// Row is one row of a result. It lives until the function that was given it returns.
type Row struct{ rows *sql.Rows }

// Scan copies the columns of the row, as database/sql does.
func (r Row) Scan(into ...any) error { return r.rows.Scan(into...) }

// Exec runs INSERT, UPDATE, DELETE or REPLACE.
func (h *Handle) Exec(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	var result sql.Result
	err := h.run(ctx, statement, args, func(ctx context.Context, bound []any) (err error) {
		result, err = h.raw.ExecContext(ctx, statement, bound...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// Query runs a SELECT and hands each row to a function. An error of the function ends the reading and is returned; it
// does not end the attempt. No other statement can run while rows are read.
func (h *Handle) Query(ctx context.Context, each func(Row) error, statement string, args ...any) error {
	var own error
	err := h.run(ctx, statement, args, func(ctx context.Context, bound []any) error {
		rows, err := h.raw.QueryContext(ctx, statement, bound...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // for a panic in the function
		for own == nil && rows.Next() {
			own = each(Row{rows})
		}
		if own != nil {
			return rows.Close()
		}
		return errors.CombineErrors(rows.Err(), rows.Close())
	})
	if err != nil {
		return err
	}
	return own
}

// run lets one statement through.
func (h *Handle) run(ctx context.Context, statement string, args []any, do func(context.Context, []any) error) error {
	if err := h.begin(); err != nil {
		return err
	}
	ended := false
	defer func() { h.end(ended) }() // a panic or an end of the goroutine in between included
	if err := h.rules.check(statement, len(args)); err != nil {
		ended = true
		return h.fail(errors.Wrapf(err, "refused: %s", firstWord(statement)))
	}
	bound, err := bind(args)
	if err != nil {
		ended = true
		return h.fail(errors.Wrapf(err, "refused: %s", firstWord(statement)))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	h.count()
	err = do(ctx, bound)
	ended = true
	if err != nil {
		return h.fail(errors.Wrapf(err, "%s", firstWord(statement)))
	}
	return nil
}

// begin takes the handle for one statement.
func (h *Handle) begin() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.dead:
		return errors.New("the handle is dead: the code that it was given to has returned, or its time is over; nothing was done")
	case h.poison != nil:
		return h.poison
	case h.busy:
		h.poison = errors.New("two statements at once: a handle is one connection, so read a result to its end and use no second goroutine")
		return h.poison
	}
	h.busy = true
	return nil
}

func (h *Handle) end(ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy = false
	if !ended && h.poison == nil {
		h.poison = errors.New("a statement was left in the middle")
	}
}

// fail poisons the handle.
func (h *Handle) fail(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.poison == nil {
		h.poison = err
	}
	return h.poison
}

// kill ends the handle for good. It tells whether a statement is still running, and what had gone wrong.
func (h *Handle) kill() (running bool, poison error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dead = true
	return h.busy, h.poison
}

// bind asks arguments for their values here, in the code's own time: under the driver's locks an argument that never
// answers would hold the end of the transaction too.
func bind(args []any) ([]any, error) {
	bound := make([]any, len(args))
	for i, arg := range args {
		bound[i] = arg
		valuer, ok := arg.(driver.Valuer)
		if !ok {
			continue
		}
		if at := reflect.ValueOf(arg); at.Kind() == reflect.Pointer && at.IsNil() {
			bound[i] = nil
			continue
		}
		value, err := valuer.Value()
		if err != nil {
			return nil, errors.Wrapf(err, "argument %d", i+1)
		}
		bound[i] = value
	}
	return bound, nil
}

// firstWord is enough of a statement to find it: its text may hold values.
func firstWord(statement string) string {
	tokens, err := scan(statement)
	if err != nil || len(tokens) == 0 || tokens[0].kind != word || len(tokens[0].text) > 20 {
		return "a statement"
	}
	return "a statement " + tokens[0].text
}
