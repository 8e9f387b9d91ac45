package txn

import (
	"database/sql/driver"
	"io"
	"net"
	"slices"
	"strconv"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// Server error numbers that decide what happens next. The lists are closed: what is in none of them is an assertion
// before COMMIT, and unknown at COMMIT.
const (
	codeDuplicateKey = 1062
	codeNoSavepoint  = 1305 // of a savepoint that no longer stands
	codeInconsistent = 8141 // row and index disagree: stop, do not try again
)

// notCommitted are the answers to COMMIT after which the transaction surely left nothing behind. Every other answer,
// a broken connection included, leaves the outcome unknown.
var notCommitted = []uint16{
	codeDuplicateKey,
	1205,       // lock wait timeout
	1213,       // deadlock
	8005, 9007, // write conflict
	8022,       // commit failed and was rolled back
	8024,       // invalid transaction
	8027, 8028, // the schema changed underneath
	8147, // lazy uniqueness check failed
}

// transient are the statement errors after which the same closure may succeed. The transaction is rolled back first:
// some of these end it at the server, some leave it open with its locks.
var transient = append(slices.Clone(notCommitted),
	1040,       // no room for another connection: nothing was begun
	1105,       // TiDB's word for many things, "pessimistic lock retry limit reached" among them
	1317, 3024, // interrupted, took too long
	3572,       // NOWAIT refused
	8002,       // an optimistic read could not be replayed
	8055, 9006, // older than the garbage collector's safe point
	8175, 8176, // memory limits
	8229,                               // the transaction's time is over
	8252,                               // the resource group is throttled
	9001, 9002, 9003, 9004, 9005, 9010, // placement driver or storage is busy or away
	9011,
)

// errLostFence says that a guarded write met another fence than the lock had returned: the lock was lost on the way.
var errLostFence = errors.New("a guard moved although its lock was held")

// rerunReason tells why a failed statement permits a rerun; an empty reason forbids it.
func rerunReason(err error) string {
	var server *mysql.MySQLError
	switch {
	case errors.Is(err, errLostFence):
		return "fence"
	case errors.As(err, &server) && slices.Contains(transient, server.Number):
		return strconv.Itoa(int(server.Number))
	case errors.As(err, &server):
		return ""
	case broken(err):
		return "connection"
	}
	return ""
}

// assertListed marks a statement's error that is in no list as our own bug: a refused privilege, a violated CHECK, a
// column that is not there.
func assertListed(err error) error {
	var server *mysql.MySQLError
	if errors.As(err, &server) && rerunReason(err) == "" {
		return errors.WithAssertionFailure(err)
	}
	return err
}

// broken tells that the connection is gone. Before COMMIT was sent nothing can have been committed.
func broken(err error) bool {
	var network net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
}

// surelyNotCommitted judges an error of COMMIT itself.
func surelyNotCommitted(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && slices.Contains(notCommitted, server.Number)
}

func hasCode(err error, code uint16) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && server.Number == code
}
