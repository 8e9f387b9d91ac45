package facts

import (
	"bytes"
	"database/sql/driver"
	"encoding/hex"

	"github.com/cockroachdb/errors"
	"github.com/google/uuid"
)

// ID is the 16-byte name of one row of kind K. The kind is a phantom: it exists so that a permit's id cannot be
// passed where an attempt's is asked for.
//
// Roots are minted at random before their transaction begins; everything else is derived from its exact parents
// (R15), so that recovery finds the same bytes. The zero ID names nothing and is refused wherever an id is stored.
//
// Spec: Identity rules ("Internal relations use typed identifiers and foreign keys").
type ID[K any] [16]byte

// AnyID is every ID, for the functions that make one: facts.Mint[facts.ReceiptID]().
type AnyID interface {
	~[16]byte
	IsZero() bool
}

// Mint draws a random id. It is for roots only: a Receipt, an Attempt, a Permit, a holder.
func Mint[I AnyID]() I { return I(uuid.New()) }

// ParseID reads the canonical text form, 36 lower-case characters. Any other spelling of the same value is refused,
// because an id has one text form.
func ParseID[I AnyID](text string) (I, error) {
	parsed, err := uuid.Parse(text)
	if err != nil || parsed.String() != text {
		return I{}, errors.Newf("id %q: want 36 characters like 0b9ad3a2-6f3c-4b7e-8c51-6d1f5c8a90e2, in lower case", text)
	}
	if parsed == uuid.Nil {
		return I{}, errors.New("id: the zero id names nothing")
	}
	return I(parsed), nil
}

// IsZero tells whether the ID names nothing.
func (id ID[K]) IsZero() bool { return id == ID[K]{} }

// String is the canonical text form.
func (id ID[K]) String() string { return uuid.UUID(id).String() }

// SafeValue marks an id as free of secrets for redactable errors.
func (id ID[K]) SafeValue() {}

// MarshalText is the canonical text form.
func (id ID[K]) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the canonical text form and refuses every other.
func (id *ID[K]) UnmarshalText(text []byte) error {
	parsed, err := ParseID[ID[K]](string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// Compare orders ids by their bytes, the order in which rows of one rank are locked (R08).
func (id ID[K]) Compare(other ID[K]) int { return bytes.Compare(id[:], other[:]) }

// Value binds the 16 bytes. A zero id is our own bug and never reaches a statement.
func (id ID[K]) Value() (driver.Value, error) {
	if id.IsZero() {
		return nil, errors.AssertionFailedf("a zero id was bound to a statement")
	}
	return id[:], nil
}

// Scan reads exactly 16 bytes that name something. A nullable column is scanned into sql.Null.
func (id *ID[K]) Scan(source any) error {
	raw, ok := source.([]byte)
	if !ok || len(raw) != len(id) {
		return errors.AssertionFailedf("an id column held %T of %d bytes, want 16 bytes", source, len(raw))
	}
	if ID[K](raw).IsZero() {
		return errors.AssertionFailedf("an id column held the zero id, which names nothing")
	}
	copy(id[:], raw)
	return nil
}

// Digest is a SHA-256 under a closed digest profile, or the exact digest bytes that an outside owner handed us.
type Digest [32]byte

// IsZero tells whether no digest was set.
func (d Digest) IsZero() bool { return d == Digest{} }

// String is the lower-case hexadecimal form.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// SafeValue marks a digest as free of secrets for redactable errors.
func (d Digest) SafeValue() {}

// Value binds the 32 bytes. A zero digest is our own bug and never reaches a statement.
func (d Digest) Value() (driver.Value, error) {
	if d.IsZero() {
		return nil, errors.AssertionFailedf("a zero digest was bound to a statement")
	}
	return d[:], nil
}

// Scan reads exactly 32 bytes.
func (d *Digest) Scan(source any) error {
	raw, ok := source.([]byte)
	if !ok || len(raw) != len(d) {
		return errors.AssertionFailedf("a digest column held %T of %d bytes, want 32 bytes", source, len(raw))
	}
	if Digest(raw).IsZero() {
		return errors.AssertionFailedf("a digest column held the zero digest, which no content has")
	}
	copy(d[:], raw)
	return nil
}
