package serving

import (
	"database/sql/driver"
	"fmt"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// Opaque is a sequence of bytes exactly as an owner handed it out. It cannot be changed: it is copied on its way in
// and on its way out, so that no reader of a receipt can alter what another one compares.
type Opaque struct{ bytes string }

// OpaqueOf copies bytes.
func OpaqueOf(raw []byte) Opaque { return Opaque{string(raw)} }

// Bytes is a copy of the caller's own.
func (o Opaque) Bytes() []byte { return []byte(o.bytes) }

// Len is the number of bytes.
func (o Opaque) Len() int { return len(o.bytes) }

// IsZero tells whether there is no byte.
func (o Opaque) IsZero() bool { return o.bytes == "" }

// String says how many bytes there are; their content is its owner's business.
func (o Opaque) String() string { return fmt.Sprintf("(%d bytes)", len(o.bytes)) }

// Value binds the exact bytes. None is our own bug and never reaches a statement.
func (o Opaque) Value() (driver.Value, error) {
	if o.IsZero() {
		return nil, errors.AssertionFailedf("no opaque bytes were bound to a statement")
	}
	return []byte(o.bytes), nil
}

// Scan reads the exact bytes.
func (o *Opaque) Scan(source any) error {
	raw, ok := source.([]byte)
	if !ok {
		return errors.AssertionFailedf("a column of opaque bytes held %T", source)
	}
	o.bytes = string(raw)
	return nil
}

// Receipt is an owner's statement about one exact generation. The same generation has the same receipt, byte for byte,
// however often and by whomever it is asked for.
type Receipt struct {
	Protocol facts.Protocol // how the owner wrote the bytes
	Bytes    Opaque
	Digest   facts.Digest // the owner's own digest of its receipt
}

func (r Receipt) fault() string {
	switch {
	case r.Protocol.IsZero():
		return "its receipt names no protocol"
	case r.Bytes.IsZero():
		return "its receipt is empty"
	case r.Digest.IsZero():
		return "its receipt has no digest"
	}
	return ""
}
