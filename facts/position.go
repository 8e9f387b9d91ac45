package facts

import (
	"database/sql/driver"
	"strings"

	"github.com/cockroachdb/errors"
)

// PositionMaxBytes is the greatest encoded size of a SourcePosition: it fits a VARBINARY(255), whose length is one
// byte, and keeps a lane's key and its high-water far below the limits of an index. What would be longer is refused.
const PositionMaxBytes = 255

// PositionKind is what a SourcePosition is made of. It is the first byte of the encoding and never changes.
type PositionKind byte

// The kinds of position. Zero is no kind, so that absent bytes are no position.
const (
	IntegerPositions PositionKind = 0x01 // of any size up to 126 bytes of magnitude, about 303 digits
	DecimalPositions PositionKind = 0x02 // exact; 1.0 and 1.00 are one position
	TimePositions    PositionKind = 0x03 // an instant of the years 0000 to 9999, exact to 10^-18 s
	BytesPositions   PositionKind = 0x04 // compared byte by byte, a shorter one before its continuations
	TuplePositions   PositionKind = 0x05 // 2 to 8 of the others, the first one decides first
)

// String is the kind's noun.
func (k PositionKind) String() string {
	switch k {
	case IntegerPositions:
		return "integer"
	case DecimalPositions:
		return "decimal"
	case TimePositions:
		return "time"
	case BytesPositions:
		return "bytes"
	case TuplePositions:
		return "tuple"
	default:
		return "no position"
	}
}

// SourcePosition is a place in the order of a source, in an encoding whose byte order is the order of the values.
// docs/positions.md describes the encoding. The zero SourcePosition is an absent one.
//
// It is built by one function for each kind and by DecodePosition, and it is never made of a float: whatever cannot
// be represented exactly is refused with PositionUnreadable.
//
// Spec: Durable source ordering ("typed totally ordered SourcePosition").
type SourcePosition struct{ encoded string }

// Kind is what the position is made of.
func (p SourcePosition) Kind() PositionKind {
	if p.IsZero() {
		return 0
	}
	return PositionKind(p.encoded[0])
}

// IsZero tells whether the position is absent.
func (p SourcePosition) IsZero() bool { return p.encoded == "" }

// Encoded is the exact encoding, at most PositionMaxBytes bytes, in a copy of the caller's own.
func (p SourcePosition) Encoded() []byte { return []byte(p.encoded) }

// Compare orders two positions of one kind, tuples of one sequence of kinds. Others have no order and are refused
// with PositionKindsDiffer; an absent position has none either.
func (p SourcePosition) Compare(other SourcePosition) (int, error) {
	mine, theirs := p.shape(), other.shape()
	if mine != theirs || mine == "" {
		return 0, Refuse(PositionKindsDiffer, OfInput("source position"), "%s and %s", shapeNoun(mine), shapeNoun(theirs))
	}
	return strings.Compare(p.encoded, other.encoded), nil
}

// shape is the kind byte, and for a tuple also the kind bytes of its elements.
func (p SourcePosition) shape() string {
	if p.Kind() != TuplePositions {
		return p.encoded[:min(1, len(p.encoded))]
	}
	shape := p.encoded[:1]
	for rest := p.encoded[1:]; rest[0] != tupleEnd; {
		shape += rest[:1]
		size, _ := elementSize(rest)
		rest = rest[size:]
	}
	return shape
}

func shapeNoun(shape string) string {
	if shape == "" {
		return PositionKind(0).String()
	}
	nouns := make([]string, 0, len(shape))
	for _, kind := range []byte(shape[1:]) {
		nouns = append(nouns, PositionKind(kind).String())
	}
	noun := PositionKind(shape[0]).String()
	if len(nouns) > 0 {
		noun += " of " + strings.Join(nouns, ", ")
	}
	return noun
}

// Value binds the encoding, for a VARBINARY(255) column. An absent position is our own bug and never reaches a
// statement; a column that may be NULL is bound through sql.Null.
func (p SourcePosition) Value() (driver.Value, error) {
	if p.IsZero() {
		return nil, errors.AssertionFailedf("an absent source position was bound to a statement")
	}
	return []byte(p.encoded), nil
}

// Scan reads stored bytes, which only DecodePosition's inverse can have written.
func (p *SourcePosition) Scan(source any) error {
	raw, ok := source.([]byte)
	if !ok {
		return errors.AssertionFailedf("a column of a source position held %T, want bytes", source)
	}
	decoded, err := DecodePosition(raw)
	if err != nil {
		return errors.AssertionFailedf("a stored source position is malformed: %v", err)
	}
	*p = decoded
	return nil
}

// SourceOrder is what decides which of two facts of one partition is newer: the position first, then the tie-breaker,
// both as bytes. Both equal is a tie; two facts that tie and differ in content are quarantined and never ordered by
// their arrival.
type SourceOrder struct {
	Position   SourcePosition
	TieBreaker SourcePosition // absent where the route's contract proves that positions are unique
}

// Compare orders two facts; zero is a tie. An order with a tie-breaker and one without have none.
func (o SourceOrder) Compare(other SourceOrder) (int, error) {
	order, err := o.Position.Compare(other.Position)
	if err != nil {
		return 0, err
	}
	if o.TieBreaker.IsZero() && other.TieBreaker.IsZero() {
		return order, nil
	}
	tie, err := o.TieBreaker.Compare(other.TieBreaker)
	if err != nil || order != 0 {
		return order, err
	}
	return tie, nil
}
