package facts

import (
	"database/sql/driver"
	"strings"

	"github.com/cockroachdb/errors"

	"connectorcore/facts/spelling"
)

// KeyMaxBytes is the greatest length of a key or locator. The least is 1.
const KeyMaxBytes = spelling.MaxBytes

// Key is one canonical key or locator of kind K: text that somebody outside chose and that names something here.
//
// It is built by ParseKey only, which validates and never repairs, and it is stored and compared as its exact bytes;
// nothing trims, folds or normalises it later. The zero Key is an absent one. It is not the empty text, which is no
// key at all, and it cannot be bound to a statement.
//
// Spec: Identity rules ("Every external locator and metadata key is canonicalized and validated before insert").
type Key[K keyKind] struct{ text string }

// keyKind is a phantom kind of key, with the noun that a refusal uses.
type keyKind interface{ noun() string }

// AnyKey is every Key, for the functions that make one: facts.ParseKey[facts.TransportKey](text).
type AnyKey interface {
	~struct{ text string }
	noun() string
}

// ParseKey accepts a text which is already canonical: valid UTF-8 in Unicode normal form C, of assigned characters
// only, without control characters, with something visible at both edges, 1 to KeyMaxBytes bytes long. Anything
// else is refused with KeyNotCanonical, saying which rule and at which byte.
func ParseKey[T AnyKey](text string) (T, error) {
	if fault := spelling.Canonical(text); fault != nil {
		var kind T
		return T{}, Refuse(KeyNotCanonical, OfInput(kind.noun()), "%s", fault)
	}
	return T{text}, nil
}

// ParseNumberKey makes a key of a JSON number, whose exact text becomes the key's bytes. Only a plain integer names
// something: 1000 does, while 1e3, 1000.0 and -0 are other spellings of some number and are refused with
// NumberNotInteger, so that two spellings are never merged and one is never split. No digit is ever lost.
func ParseNumberKey[T AnyKey](text string) (T, error) {
	if fault := spelling.Integer(text); fault != nil {
		var kind T
		return T{}, Refuse(NumberNotInteger, OfInput(kind.noun()), "%s", fault)
	}
	return ParseKey[T](text)
}

func (k Key[K]) noun() string {
	var kind K
	return kind.noun()
}

// IsZero tells whether the key is absent.
func (k Key[K]) IsZero() bool { return k.text == "" }

// String is the key's exact text.
func (k Key[K]) String() string { return k.text }

// Compare orders keys by their bytes, the order in which rows of one rank are locked (R08).
func (k Key[K]) Compare(other Key[K]) int { return strings.Compare(k.text, other.text) }

// MarshalText is the exact text. An absent key has none.
func (k Key[K]) MarshalText() ([]byte, error) {
	if k.IsZero() {
		return nil, errors.AssertionFailedf("an absent %s was written as text", k.noun())
	}
	return []byte(k.text), nil
}

// UnmarshalText reads a canonical text and refuses every other.
func (k *Key[K]) UnmarshalText(text []byte) error {
	parsed, err := ParseKey[Key[K]](string(text))
	if err != nil {
		return err
	}
	*k = parsed
	return nil
}

// Value binds the exact bytes, for a VARBINARY column. An absent key is our own bug and never reaches a statement;
// a column that may be NULL is bound through sql.Null.
func (k Key[K]) Value() (driver.Value, error) {
	if k.IsZero() {
		return nil, errors.AssertionFailedf("an absent %s was bound to a statement", k.noun())
	}
	return []byte(k.text), nil
}

// Scan reads stored bytes. They were canonical when they were stored, and a canonical text stays one (see
// spelling.Canonical), so anything else was not written by us.
func (k *Key[K]) Scan(source any) error {
	raw, ok := source.([]byte)
	if !ok {
		return errors.AssertionFailedf("a column of a %s held %T, want bytes", k.noun(), source)
	}
	if fault := spelling.Canonical(string(raw)); fault != nil {
		return errors.AssertionFailedf("a stored %s is not canonical: %s", k.noun(), fault)
	}
	k.text = string(raw)
	return nil
}
