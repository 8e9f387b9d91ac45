package digest

import (
	"fmt"
	"strings"
)

// ProfileV2 is the exact id of the one profile under which anything is authored.
const ProfileV2 = "nexuscrm.connector-digest-profile.v2"

// Kind is how a field is framed.
type Kind byte

// The kinds. Their numbers are the tag bytes of the framing and never change.
const (
	Null    Kind = 0x00 // an absent optional field: this tag, then the tag of what is absent
	Text    Kind = 0x01 // a length of 8 bytes, then that many bytes of UTF-8, exactly as they are
	Bytes   Kind = 0x02 // a length of 8 bytes, then that many bytes
	Sum     Kind = 0x03 // the 32 bytes of a digest
	ID      Kind = 0x04 // the 16 bytes of an id
	Uint    Kind = 0x05 // 8 bytes, unsigned, most significant first
	Group   Kind = 0x06 // a count of 8 bytes, then each item behind its Ordinal
	Ordinal Kind = 0x07 // the zero-based ordinal of the item that follows, 8 bytes
	endTag  Kind = 0xFF // closes a preimage
)

// String is the word that docs/digests.md uses.
func (k Kind) String() string {
	switch k {
	case Text:
		return "text"
	case Bytes:
		return "bytes"
	case Sum:
		return "digest"
	case ID:
		return "id"
	case Uint:
		return "uint"
	case Group:
		return "group"
	default:
		return fmt.Sprintf("tag %02x", byte(k))
	}
}

// Field is one declared place of a preimage.
type Field struct {
	Name     string
	Kind     Kind
	Optional bool    // may be Null
	Items    []Field // of a Group: the fields of each item
}

// Optional declares that a field may be explicitly absent, which is another preimage than an empty value.
func Optional(field Field) Field {
	field.Optional = true
	return field
}

// OfText declares a text. OfBytes, OfSum, OfID and OfUint declare the other single values.
func OfText(name string) Field { return Field{Name: name, Kind: Text} }

// OfBytes declares opaque bytes.
func OfBytes(name string) Field { return Field{Name: name, Kind: Bytes} }

// OfSum declares a digest of 32 bytes.
func OfSum(name string) Field { return Field{Name: name, Kind: Sum} }

// OfID declares an id of 16 bytes.
func OfID(name string) Field { return Field{Name: name, Kind: ID} }

// OfUint declares an unsigned number of at most 64 bits.
func OfUint(name string) Field { return Field{Name: name, Kind: Uint} }

// OfGroup declares a counted list of items, all of one shape, in an order that the caller owes.
func OfGroup(name string, items ...Field) Field { return Field{Name: name, Kind: Group, Items: items} }

// Shape is one closed preimage: what is digested (its label) and the exact fields in their order. A shape never
// changes under a profile; another list of fields is another label.
type Shape struct {
	label  string
	fields []Field
}

// Declare makes a Shape.
func Declare(label string, fields ...Field) *Shape { return &Shape{label: label, fields: fields} }

// Label is the domain of the shape, unique among all shapes of a profile.
func (s *Shape) Label() string { return s.label }

// String is the shape as docs/digests.md lists it: "label: name kind, name kind?, name [name kind, ...]".
func (s *Shape) String() string { return s.label + ": " + list(s.fields) }

func list(fields []Field) string {
	words := make([]string, 0, len(fields))
	for _, field := range fields {
		word := field.Name + " " + field.Kind.String()
		if field.Kind == Group {
			word = field.Name + " [" + list(field.Items) + "]"
		}
		if field.Optional {
			word += "?"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}
