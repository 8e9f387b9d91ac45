package facts

import (
	"fmt"

	"github.com/cockroachdb/errors"
)

// Every failure is of exactly one of three classes.
//
//  1. A Refusal: a closed code; nothing was written for this item; the caller or an operator knows what to do.
//  2. An unknown outcome (ErrOutcomeUnknown): the commit may or may not have happened. It is settled by running the
//     same writing transaction again with the same minted ids (R05), never by a read and never by waiting.
//  3. An assertion (errors.AssertionFailedf): our own bug. It rolls back, stops the loop that met it and says what
//     was broken.

// ErrOutcomeUnknown matches every failure of the second class.
var ErrOutcomeUnknown = errors.New("the outcome of a commit is unknown")

// OutcomeUnknown says which transaction's commit is in doubt.
//
// It does not unwrap to its cause: a cut connection or a cancelled context explains the doubt and must not be taken
// for the verdict, so neither a Refusal nor context.Canceled is ever found inside it.
type OutcomeUnknown struct {
	Transaction string // the transaction's name, "acquire permits"
	Cause       error  // what hid the answer
}

// UnknownOutcome makes a failure of the second class.
func UnknownOutcome(transaction string, cause error) error {
	return errors.WithStackDepth(&OutcomeUnknown{Transaction: transaction, Cause: cause}, 1)
}

// Error says what happened and what settles it.
func (u *OutcomeUnknown) Error() string {
	return fmt.Sprintf("transaction %q: its commit may or may not have happened (%v); "+
		"run the same transaction again with the same ids", u.Transaction, u.Cause)
}

// Is matches ErrOutcomeUnknown.
func (u *OutcomeUnknown) Is(target error) bool { return target == ErrOutcomeUnknown }
