package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"unicode/utf8"

	"github.com/cockroachdb/errors"
)

// Writer takes the values of one preimage in the declared order. The first wrong call is kept, later ones are
// ignored, and End then gives no digest, so a chain of calls needs one check.
type Writer struct {
	shape  *Shape
	hash   hash.Hash
	out    io.Writer
	levels []level
	fault  error
	ended  bool
	number [9]byte // scratch of a tag and 8 bytes
}

// level is a list of fields that is being written: the shape's own, or those of a group's item.
type level struct {
	fields []Field
	next   int
}

// Begin starts a preimage of the shape under the profile that authors it. A profile that may only be read authors
// nothing.
func (s *Shape) Begin(profile string) *Writer { return s.BeginTo(profile, io.Discard) }

// BeginTo also copies the preimage's bytes, for those who want to see what was hashed.
func (s *Shape) BeginTo(profile string, trace io.Writer) *Writer {
	w := &Writer{shape: s, hash: sha256.New(), levels: []level{{fields: s.fields}}}
	w.out = w.hash
	if trace != io.Discard {
		w.out = io.MultiWriter(w.hash, trace)
	}
	if profile != ProfileV2 {
		w.fail("profile %q authors no digest", profile)
		return w
	}
	w.framed(Text, []byte(profile))
	w.framed(Text, []byte(s.label))
	return w
}

// Text writes a text.
func (w *Writer) Text(name, value string) *Writer {
	if !utf8.ValidString(value) {
		w.fail("field %s is not valid UTF-8", name)
	}
	if w.accept(name, Text) {
		w.framed(Text, []byte(value))
	}
	return w
}

// Bytes writes opaque bytes.
func (w *Writer) Bytes(name string, value []byte) *Writer {
	if w.accept(name, Bytes) {
		w.framed(Bytes, value)
	}
	return w
}

// Sum writes a digest. The zero digest stands for none and is refused.
func (w *Writer) Sum(name string, value [32]byte) *Writer {
	if value == [32]byte{} {
		w.fail("field %s is the zero digest", name)
	}
	if w.accept(name, Sum) {
		w.raw(append([]byte{byte(Sum)}, value[:]...))
	}
	return w
}

// ID writes an id. The zero id names nothing and is refused.
func (w *Writer) ID(name string, value [16]byte) *Writer {
	if value == [16]byte{} {
		w.fail("field %s is the zero id", name)
	}
	if w.accept(name, ID) {
		w.raw(append([]byte{byte(ID)}, value[:]...))
	}
	return w
}

// Uint writes a number.
func (w *Writer) Uint(name string, value uint64) *Writer {
	if w.accept(name, Uint) {
		w.numbered(Uint, value)
	}
	return w
}

// Null writes that an optional field is absent.
func (w *Writer) Null(name string) *Writer {
	if w.fault != nil {
		return w
	}
	field, ok := w.upcoming()
	if !ok || field.Name != name || !field.Optional {
		w.fail("field %s was left out where %s was due", name, due(field, ok))
		return w
	}
	w.levels[len(w.levels)-1].next++
	w.raw([]byte{byte(Null), byte(field.Kind)})
	return w
}

// Group writes count items, in the order of their ordinals; each writes the fields of one item.
func (w *Writer) Group(name string, count int, each func(item *Writer, ordinal int)) *Writer {
	if count < 0 {
		w.fail("group %s has %d items", name, count)
	}
	field, _ := w.upcoming()
	if !w.accept(name, Group) {
		return w
	}
	w.numbered(Group, uint64(count))
	for ordinal := 0; ordinal < count && w.fault == nil; ordinal++ {
		w.numbered(Ordinal, uint64(ordinal))
		w.levels = append(w.levels, level{fields: field.Items})
		each(w, ordinal)
		if rest, more := w.upcoming(); more {
			w.fail("item %d of %s ended where %s was due", ordinal, name, rest.Name)
		}
		w.levels = w.levels[:len(w.levels)-1]
	}
	return w
}

// End closes the preimage and gives its digest. An incomplete or faulty preimage has none: the error is an
// assertion, and the digest beside it is zero.
func (w *Writer) End() ([32]byte, error) {
	if w.ended {
		w.fail("the preimage was ended already")
	}
	if field, more := w.upcoming(); more {
		w.fail("the preimage ended where %s was due", field.Name)
	}
	w.raw([]byte{byte(endTag)})
	w.ended = true
	if w.fault != nil {
		return [32]byte{}, w.fault
	}
	return [32]byte(w.hash.Sum(nil)), nil
}

// accept tells whether the named field of that kind is due, and moves on.
func (w *Writer) accept(name string, kind Kind) bool {
	if w.fault != nil {
		return false
	}
	field, ok := w.upcoming()
	if !ok || field.Name != name || field.Kind != kind {
		w.fail("%s %s was written where %s was due", kind, name, due(field, ok))
		return false
	}
	w.levels[len(w.levels)-1].next++
	return true
}

func (w *Writer) upcoming() (Field, bool) {
	top := w.levels[len(w.levels)-1]
	if top.next >= len(top.fields) {
		return Field{}, false
	}
	return top.fields[top.next], true
}

func due(field Field, ok bool) string {
	if !ok {
		return "the end"
	}
	return field.Kind.String() + " " + field.Name
}

func (w *Writer) fail(format string, args ...any) {
	if w.fault == nil {
		w.fault = errors.AssertionFailedf("digest of "+w.shape.label+": "+format, args...)
	}
}

func (w *Writer) framed(kind Kind, value []byte) {
	w.numbered(kind, uint64(len(value)))
	w.raw(value)
}

func (w *Writer) numbered(kind Kind, number uint64) {
	w.number[0] = byte(kind)
	binary.BigEndian.PutUint64(w.number[1:], number)
	w.raw(w.number[:])
}

func (w *Writer) raw(value []byte) {
	if _, err := w.out.Write(value); err != nil {
		w.fail("writing its trace: %v", err)
	}
}
