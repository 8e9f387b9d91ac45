package owners

import "github.com/cockroachdb/errors"

// Standing is which of the three answers an owner gave. The zero Standing is Unavailable, so that a forgotten answer
// decides nothing.
type Standing uint8

// The three answers.
const (
	// Unavailable means that nobody could say. It decides nothing: ask again.
	Unavailable Standing = iota
	// Found means that the owner has exactly what was asked for.
	Found
	// Absent means that the owner says, with authority, that it has no such thing.
	Absent
)

// String is the word that people read.
func (s Standing) String() string {
	return [...]string{"unavailable for now", "found", "authoritatively absent"}[min(s, Absent)]
}

// Answer is what an owner says to one question. There is no error beside it: whatever kept an owner from answering is
// the cause of Unavailable.
type Answer[T any] struct {
	standing Standing
	value    T
	cause    error
}

// Have is the answer with the thing itself.
func Have[T any](value T) Answer[T] { return Answer[T]{standing: Found, value: value} }

// None is the authoritative answer that there is no such thing.
func None[T any]() Answer[T] { return Answer[T]{standing: Absent} }

// Nobody is the answer that decides nothing, with what kept the owner from saying more.
func Nobody[T any](cause error) Answer[T] { return Answer[T]{cause: cause} }

// Standing is which answer it is.
func (a Answer[T]) Standing() Standing { return a.standing }

// Value is the thing that was found. There is none in the other two answers.
func (a Answer[T]) Value() (T, bool) { return a.value, a.standing == Found }

// Cause is why nobody could say, for an operator's eyes. It is nil in the other two answers.
func (a Answer[T]) Cause() error {
	if a.standing == Unavailable && a.cause == nil {
		return errors.New("no answer was given")
	}
	return a.cause
}
