// Package spelling says which texts are spelled in the one way that names something: a canonical key, a plain
// integer. It is pure and knows no kind of key; the room facts makes refusals of its faults.
package spelling

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fault is why a text is no key: the rule, the first byte that breaks it, and what its author can do.
type Fault struct {
	Rule   string
	Offset int
	Advice string
}

// String is the fault as a clause: at byte N: RULE; ADVICE.
func (f *Fault) String() string {
	return fmt.Sprintf("at byte %d: %s; %s", f.Offset, f.Rule, f.Advice)
}

// MaxBytes is the greatest length of a canonical text. The least is 1.
const MaxBytes = 512

const explicitPack = "correct it at its source, or let the pack canonicalise it explicitly"

// Canonical finds the first rule that the text breaks, nil if none. The rules are tried in the order below.
//
// INVARIANT: what is accepted once is accepted by every later version of Unicode. That is why a character which is
// not assigned yet is refused: only an assigned one keeps its normal form for ever, and a stored key must never
// become a wrong one because the library was upgraded.
func Canonical(text string) *Fault {
	if text == "" {
		return &Fault{"it is empty", 0, "leave it out where it is optional, and name it where it is not"}
	}
	if len(text) > MaxBytes {
		return &Fault{
			fmt.Sprintf("it is %d bytes long and may be %d", len(text), MaxBytes),
			MaxBytes, "choose a shorter key; it is never cut",
		}
	}
	for offset := 0; offset < len(text); {
		char, size := utf8.DecodeRuneInString(text[offset:])
		if fault := characterFault(char, size, offset); fault != nil {
			return fault
		}
		offset += size
	}
	if first, _ := utf8.DecodeRuneInString(text); IsBlank(first) {
		return blankFault("begins", first, 0)
	}
	if last, size := utf8.DecodeLastRuneInString(text); IsBlank(last) {
		return blankFault("ends", last, len(text)-size)
	}
	if !norm.NFC.IsNormalString(text) {
		return &Fault{"it is not in Unicode normal form C", firstDifference(text, norm.NFC.String(text)), explicitPack}
	}
	return nil
}

func characterFault(char rune, size, offset int) *Fault {
	switch {
	case char == utf8.RuneError && size <= 1:
		return &Fault{"it is not valid UTF-8", offset, explicitPack}
	case unicode.Is(unicode.Cc, char):
		return &Fault{fmt.Sprintf("it holds the control character U+%04X", char), offset, explicitPack}
	case !unicode.In(char, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cf, unicode.Co):
		return &Fault{
			fmt.Sprintf("U+%04X is no assigned character of Unicode %s", char, unicode.Version),
			offset, explicitPack,
		}
	}
	return nil
}

func blankFault(edge string, char rune, offset int) *Fault {
	return &Fault{fmt.Sprintf("it %s with the blank U+%04X", edge, char), offset, explicitPack}
}

// blanks is the closed list of characters that a reader cannot see at the edge of a key: every White_Space character
// of Unicode, and those that have no width or no ink. It is written out so that a later Unicode cannot change it.
// Inside a key they are allowed, and so are variation selectors and tags at its end, since an emoji ends with them.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0009, Hi: 0x000D, Stride: 1}, // tab to carriage return; control characters as well
		{Lo: 0x0020, Hi: 0x0020, Stride: 1}, // space
		{Lo: 0x0085, Hi: 0x0085, Stride: 1}, // next line; a control character as well
		{Lo: 0x00A0, Hi: 0x00A0, Stride: 1}, // no-break space
		{Lo: 0x00AD, Hi: 0x00AD, Stride: 1}, // soft hyphen
		{Lo: 0x034F, Hi: 0x034F, Stride: 1}, // combining grapheme joiner
		{Lo: 0x061C, Hi: 0x061C, Stride: 1}, // arabic letter mark
		{Lo: 0x115F, Hi: 0x1160, Stride: 1}, // hangul fillers
		{Lo: 0x1680, Hi: 0x1680, Stride: 1}, // ogham space mark
		{Lo: 0x17B4, Hi: 0x17B5, Stride: 1}, // khmer inherent vowels, invisible
		{Lo: 0x180E, Hi: 0x180E, Stride: 1}, // mongolian vowel separator
		{Lo: 0x2000, Hi: 0x200F, Stride: 1}, // en quad to hair space, zero-width space, joiners, direction marks
		{Lo: 0x2028, Hi: 0x202F, Stride: 1}, // line and paragraph separator, embeddings, narrow no-break space
		{Lo: 0x205F, Hi: 0x206F, Stride: 1}, // mathematical space, word joiner, invisible operators, isolates
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // braille pattern without dots
		{Lo: 0x3000, Hi: 0x3000, Stride: 1}, // ideographic space
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // hangul filler
		{Lo: 0xFEFF, Hi: 0xFEFF, Stride: 1}, // byte order mark
		{Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1}, // half-width hangul filler
		{Lo: 0xFFF9, Hi: 0xFFFB, Stride: 1}, // interlinear annotation marks
	},
	R32: []unicode.Range32{
		{Lo: 0x1BCA0, Hi: 0x1BCA3, Stride: 1}, // shorthand format controls
		{Lo: 0x1D173, Hi: 0x1D17A, Stride: 1}, // musical format controls
	},
	LatinOffset: 5,
}

// IsBlank tells whether a reader cannot see a character at the edge of a key.
func IsBlank(char rune) bool { return unicode.Is(blanks, char) }

// Integer finds why a number's text is not the one spelling of an integer, nil if it is.
func Integer(text string) *Fault {
	const advice = "name it by a plain integer or by a text"
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	start := len(text) - len(digits)
	if digits == "" {
		return &Fault{"it has no digit", start, advice}
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return &Fault{fmt.Sprintf("%q is no digit of a plain integer", digits[i]), start + i, advice}
		}
	}
	if digits[0] == '0' && text != "0" {
		return &Fault{"a plain integer has no leading zero and no negative zero", start, advice}
	}
	return nil
}

func firstDifference(a, b string) int {
	for i := 0; i < min(len(a), len(b)); i++ {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
