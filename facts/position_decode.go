package facts

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// Marks of the encodings of bytes and tuples.
const (
	bytesMark    = 0x00 // begins an escape or the end
	bytesEscape  = 0xFF // a zero byte of the value is bytesMark, bytesEscape
	bytesEnd     = 0x01 // the value ends with bytesMark, bytesEnd
	tupleEnd     = 0x00 // below every kind
	tupleLeast   = 2
	tupleMost    = 8
	malformedFmt = "byte %d of the encoding is malformed"
)

// BytesPosition is the position of a text or of opaque bytes, compared byte by byte. Empty bytes are no position.
func BytesPosition(value []byte) (SourcePosition, error) {
	if len(value) == 0 {
		return SourcePosition{}, unreadable(BytesPositions, "it is empty")
	}
	if len(value) > PositionMaxBytes {
		return SourcePosition{}, unreadable(BytesPositions, "%d bytes exceed %d", len(value), PositionMaxBytes)
	}
	escaped := bytes.ReplaceAll(value, []byte{bytesMark}, []byte{bytesMark, bytesEscape})
	encoded := append([]byte{byte(BytesPositions)}, escaped...)
	return finished(append(encoded, bytesMark, bytesEnd))
}

// TuplePosition composes 2 to 8 positions; the first one decides first. A tuple has no tuple inside.
func TuplePosition(elements ...SourcePosition) (SourcePosition, error) {
	if len(elements) < tupleLeast || len(elements) > tupleMost {
		return SourcePosition{}, unreadable(TuplePositions, "%d elements, want %d to %d", len(elements), tupleLeast, tupleMost)
	}
	encoded := []byte{byte(TuplePositions)}
	for i, element := range elements {
		if element.IsZero() || element.Kind() == TuplePositions {
			return SourcePosition{}, unreadable(TuplePositions, "element %d is %s", i, element.Kind())
		}
		encoded = append(encoded, element.encoded...)
	}
	return finished(append(encoded, tupleEnd))
}

// Elements are the positions that a tuple is made of; any other position is its own only element.
func (p SourcePosition) Elements() []SourcePosition {
	if p.Kind() != TuplePositions {
		return []SourcePosition{p}
	}
	var elements []SourcePosition
	for rest := p.encoded[1:]; rest[0] != tupleEnd; {
		size, _ := elementSize(rest)
		elements = append(elements, SourcePosition{encoded: rest[:size]})
		rest = rest[size:]
	}
	return elements
}

// DecodePosition reads an encoding. It is the exact inverse of Encoded: bytes that no position encodes to are refused
// with PositionUnreadable.
func DecodePosition(raw []byte) (SourcePosition, error) {
	encoded := string(raw)
	if encoded == "" || len(encoded) > PositionMaxBytes {
		return SourcePosition{}, unreadable(0, "%d bytes, want 1 to %d", len(encoded), PositionMaxBytes)
	}
	if PositionKind(encoded[0]) != TuplePositions {
		size, ok := elementSize(encoded)
		if !ok || size != len(encoded) {
			return SourcePosition{}, unreadable(PositionKind(encoded[0]), malformedFmt, min(size, len(encoded)))
		}
		return SourcePosition{encoded: encoded}, nil
	}
	at, elements := 1, 0
	for ; at < len(encoded) && encoded[at] != tupleEnd; elements++ {
		size, ok := elementSize(encoded[at:])
		if !ok {
			return SourcePosition{}, unreadable(TuplePositions, malformedFmt, at+size)
		}
		at += size
	}
	if at != len(encoded)-1 || elements < tupleLeast || elements > tupleMost {
		return SourcePosition{}, unreadable(TuplePositions, malformedFmt, at)
	}
	return SourcePosition{encoded: encoded}, nil
}

// elementSize is how many bytes at the beginning of the text encode one position that is no tuple. Where they do
// not, it is where the fault lies.
func elementSize(text string) (size int, ok bool) {
	switch PositionKind(text[0]) {
	case IntegerPositions:
		return integerSize(text)
	case DecimalPositions:
		return decimalSize(text)
	case TimePositions:
		return timeSize(text)
	case BytesPositions:
		return bytesSize(text)
	default:
		return 0, false
	}
}

func integerSize(text string) (int, bool) {
	if len(text) < 2 {
		return 1, false
	}
	size, highest := int(text[1])-integerZero, byte(0x00)
	if size < 0 {
		size, highest = -size, 0xFF
	}
	if size > integerMaxMagnitude || len(text) < 2+size {
		return 1, false
	}
	if size > 0 && text[2] == highest {
		return 2, false // a magnitude has no leading zero
	}
	return 2 + size, true
}

func decimalSize(text string) (int, bool) {
	if len(text) < 2 {
		return 1, false
	}
	flip := byte(0x00)
	switch text[1] {
	case decimalNull:
		return 2, true
	case decimalNegative:
		flip = 0xFF
	case decimalPositive:
	default:
		return 1, false
	}
	const first = 4 // kind, sign and two bytes of exponent come before the first pair
	for at := first; at < len(text); at++ {
		pair := text[at] ^ flip
		switch {
		case pair == decimalEnd:
			last := text[at-1] ^ flip
			if at == first || last == 1 { // the last pair is never 00
				return at, false
			}
			return at + 1, spellable([]byte(text[1 : at+1]))
		case pair > 100, at == first && pair < 11: // the first digit is never 0
			return at, false
		}
	}
	return len(text), false
}

// spellable tells whether a decimal has a spelling short enough to be read, as every one that we encode has.
func spellable(encoded []byte) bool {
	exponent := binary.BigEndian.Uint16(encoded[1:])
	if encoded[0] == decimalNegative {
		exponent = ^exponent
	}
	if exponent < 0x8000-numberTextMax || exponent > 0x8000+numberTextMax {
		return false
	}
	return len(decimalText(encoded)) <= numberTextMax
}

func timeSize(text string) (int, bool) {
	if len(text) < 1+timeBodySize {
		return len(text), false
	}
	seconds := int64(binary.BigEndian.Uint64([]byte(text[1:9])) ^ 1<<63)
	fraction := binary.BigEndian.Uint64([]byte(text[9:17]))
	if seconds < timeFirst || seconds > timeLast {
		return 1, false
	}
	return 1 + timeBodySize, fraction < attosecond
}

func bytesSize(text string) (int, bool) {
	for at := 1; at+1 < len(text); at++ {
		if text[at] != bytesMark {
			continue
		}
		at++
		switch text[at] {
		case bytesEnd:
			return at + 1, at > 2 // empty bytes are no position
		case bytesEscape:
		default:
			return at, false
		}
	}
	return len(text), false
}

// String shows the position to people: its kind and exact value, bytes in hexadecimal.
func (p SourcePosition) String() string {
	body := []byte(p.encoded)
	switch p.Kind() {
	case IntegerPositions:
		number, _ := p.Integer()
		return "integer " + number.String()
	case DecimalPositions:
		return "decimal " + decimalText(body[1:])
	case TimePositions:
		return "time " + timeText(body[1:])
	case BytesPositions:
		value := bytes.ReplaceAll(body[1:len(body)-2], []byte{bytesMark, bytesEscape}, []byte{bytesMark})
		return "bytes " + hex.EncodeToString(value)
	case TuplePositions:
		var words []string
		for _, element := range p.Elements() {
			words = append(words, element.String())
		}
		return "(" + strings.Join(words, ", ") + ")"
	default:
		return p.Kind().String()
	}
}
