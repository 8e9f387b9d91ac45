package facts

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cockroachdb/errors"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"connectorcore/facts/spelling"
)

// refusedAt asserts that a text is no key, for the stated rule and at the stated byte.
func refusedAt(t *testing.T, text, rule string, offset int) {
	t.Helper()
	key, err := ParseKey[SourceEventKey](text)
	if !errors.Is(err, KeyNotCanonical) {
		t.Errorf("%q was not refused: %q, %v", text, key, err)
		return
	}
	if !strings.Contains(err.Error(), rule) || !strings.Contains(err.Error(), fmt.Sprintf("at byte %d:", offset)) {
		t.Errorf("%q: message %q does not say %q at byte %d", text, err, rule, offset)
	}
	if !key.IsZero() {
		t.Errorf("%q: a refused text still made the key %q", text, key)
	}
}

func mustKey(t *testing.T, text string) SourceEventKey {
	t.Helper()
	key, err := ParseKey[SourceEventKey](text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestScenario023ControlCharactersAreNoPartOfAKey(t *testing.T) {
	refusedAt(t, "a\x00b", "control character U+0000", 1)
	refusedAt(t, "\x00", "control character U+0000", 0)
	refusedAt(t, "ab\n", "control character U+000A", 2)
	refusedAt(t, "a\x7fb", "control character U+007F", 1)
	refusedAt(t, "é\u0085x", "control character U+0085", 2)

	var key SourceEventKey
	if err := json.Unmarshal([]byte(`"a\u0000b"`), &key); !errors.Is(err, KeyNotCanonical) {
		t.Errorf("an escaped NUL became a key: %q, %v", key, err)
	}
}

func TestScenario027NumbersBeyondAFloatStayDistinctKeys(t *testing.T) {
	first, err := ParseNumberKey[SourceEventKey]("9007199254740993")
	if err != nil {
		t.Fatal(err)
	}
	second, err := ParseNumberKey[SourceEventKey]("9007199254740992")
	if err != nil {
		t.Fatal(err)
	}
	if first == second || first.String() != "9007199254740993" || second.String() != "9007199254740992" {
		t.Errorf("the keys are %q and %q", first, second)
	}
	for _, text := range []string{"0", "-1", "820982911946154508", strings.Repeat("9", KeyMaxBytes)} {
		if key, err := ParseNumberKey[SourceEventKey](text); err != nil || key.String() != text {
			t.Errorf("integer %s became %q, %v", text, key, err)
		}
	}
}

func TestScenario027OtherSpellingsOfANumberAreNoKey(t *testing.T) {
	for text, offset := range map[string]int{
		"1e3": 1, "1000.0": 4, "1E3": 1, "-0": 1, "1e400": 1, "01": 0, "-01": 1, "+1": 0, "": 0, "-": 1, " 1": 0, "1 ": 1,
		"0x10": 1, "1_000": 1, "NaN": 0, "Infinity": 0, "\u0661": 0, // the last is an arabic-indic digit
	} {
		key, err := ParseNumberKey[SourceEventKey](text)
		if !errors.Is(err, NumberNotInteger) || !key.IsZero() {
			t.Errorf("number %q became the key %q, %v", text, key, err)
		} else if !strings.Contains(err.Error(), fmt.Sprintf("at byte %d:", offset)) {
			t.Errorf("number %q: message %q does not point at byte %d", text, err, offset)
		}
	}
	if _, err := ParseNumberKey[SourceEventKey](strings.Repeat("9", KeyMaxBytes+1)); !errors.Is(err, KeyNotCanonical) {
		t.Errorf("an integer of %d digits: %v", KeyMaxBytes+1, err)
	}
}

func TestScenario031AbsentAndEmptyNeverAlias(t *testing.T) {
	refusedAt(t, "", "empty", 0)
	var absent SourceEventKey
	if _, err := absent.Value(); !errors.HasAssertionFailure(err) {
		t.Errorf("an absent key was bound: %v", err)
	}
	if _, err := absent.MarshalText(); !errors.HasAssertionFailure(err) {
		t.Errorf("an absent key was written: %v", err)
	}
	for _, stored := range []any{nil, []byte{}, ""} {
		if err := absent.Scan(stored); !errors.HasAssertionFailure(err) {
			t.Errorf("stored %#v was read as a key: %v", stored, err)
		}
	}
	var optional sql.Null[SourceEventKey]
	if err := optional.Scan(nil); err != nil || optional.Valid {
		t.Errorf("NULL was read as %+v, %v", optional, err)
	}
	if err := optional.Scan([]byte{}); !errors.HasAssertionFailure(err) {
		t.Errorf("an empty value was read as %+v, %v", optional, err)
	}
}

func TestScenario035TrailingSpaceIsNoKey(t *testing.T) {
	refusedAt(t, "k ", "ends with the blank U+0020", 1)
	refusedAt(t, " k", "begins with the blank U+0020", 0)
	if mustKey(t, "k") == mustKey(t, "K") {
		t.Error("two keys that differ in case are one")
	}
	if mustKey(t, "a b").String() != "a b" {
		t.Error("a blank inside a key was changed")
	}
}

func TestScenario037EachBlankAloneAndAtEitherEdgeIsNoKey(t *testing.T) {
	tested := 0
	for char := rune(0); char <= unicode.MaxRune; char++ {
		if !unicode.Is(unicode.White_Space, char) && !spelling.IsBlank(char) {
			continue
		}
		tested++
		for _, text := range []string{string(char), string(char) + "k", "k" + string(char)} {
			if key, err := ParseKey[SourceEventKey](text); !errors.Is(err, KeyNotCanonical) {
				t.Errorf("U+%04X in %q became the key %q, %v", char, text, key, err)
			}
		}
	}
	if tested < 60 {
		t.Errorf("only %d blanks were tried", tested)
	}
	for _, char := range "\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2064\u2066\u2069\u2800\u3164\ufeff\uffa0" {
		refusedAt(t, string(char)+"k", fmt.Sprintf("begins with the blank U+%04X", char), 0)
		refusedAt(t, "k"+string(char), fmt.Sprintf("ends with the blank U+%04X", char), 1)
	}
	refusedAt(t, "\u00a0k", "begins with the blank U+00A0", 0)
	refusedAt(t, "k\u200b", "ends with the blank U+200B", 1)
	refusedAt(t, "\ufeffk", "begins with the blank U+FEFF", 0)
	refusedAt(t, "  ", "begins with the blank U+0020", 0)
	refusedAt(t, "\t", "control character U+0009", 0)
	if key := mustKey(t, "\u2764\ufe0f"); key.String() != "\u2764\ufe0f" {
		t.Errorf("an emoji that ends with a variation selector became %q", key)
	}
}

func TestScenario039OnlyTheComposedSpellingIsAKey(t *testing.T) {
	composed, decomposed := "caf\u00e9", "cafe\u0301"
	if key := mustKey(t, composed); key.String() != composed {
		t.Errorf("the composed spelling became %q", key)
	}
	refusedAt(t, decomposed, "not in Unicode normal form C", 3)
	refusedAt(t, "\u212b", "not in Unicode normal form C", 0)
	refusedAt(t, "\uac00\u11a8", "not in Unicode normal form C", 2)
	refusedAt(t, "a\u0301\u0327", "not in Unicode normal form C", 0)

	var stored SourceEventKey
	if err := stored.Scan([]byte(decomposed)); !errors.HasAssertionFailure(err) {
		t.Errorf("a look-up normalised a stored key to %q, %v", stored, err)
	}
}

func TestScenario041KeysAreComparedOverTheirWholeLength(t *testing.T) {
	prefix := strings.Repeat("x", KeyMaxBytes-1)
	if mustKey(t, prefix+"a") == mustKey(t, prefix+"b") || mustKey(t, prefix) == mustKey(t, prefix+"a") {
		t.Error("two keys with one long prefix are one key")
	}
	refusedAt(t, prefix+"ab", "513 bytes long and may be 512", KeyMaxBytes)
	refusedAt(t, prefix+"é", "513 bytes long and may be 512", KeyMaxBytes)
}

func TestInvalidEncodingIsNoKey(t *testing.T) {
	refusedAt(t, "a\xff", "not valid UTF-8", 1)
	refusedAt(t, "\xc0\xaf", "not valid UTF-8", 0)
	refusedAt(t, "ab\xed\xa0\x80", "not valid UTF-8", 2)
	refusedAt(t, "\xe2\x82", "not valid UTF-8", 0)
	if key := mustKey(t, "\ufffd"); key.String() != "\ufffd" {
		t.Errorf("the replacement character, sent as such, became %q", key)
	}
}

// A key that was accepted stays canonical only if each of its characters is assigned, and only if the two tables that
// judge it are of one version of Unicode.
func TestUnassignedCharactersAreNoKeyAndTheTablesAgree(t *testing.T) {
	refusedAt(t, "a\u0378", "no assigned character", 1)
	refusedAt(t, "\U000E01F0", "no assigned character", 0)
	refusedAt(t, "x\uffff", "no assigned character", 1)
	if unicode.Version != norm.Version {
		t.Errorf("characters are judged by Unicode %s and normal forms by %s", unicode.Version, norm.Version)
	}
}

func TestStoredBytesAreTheKeysBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("ab \u00a0e\u0301\u00e9\u200b\x00\U0001F600")))).Draw(t, "text")
		key, err := ParseKey[TransportKey](text)
		if err != nil {
			if !errors.Is(err, KeyNotCanonical) || !key.IsZero() {
				t.Fatalf("%q: %q, %v", text, key, err)
			}
			return
		}
		if !utf8.ValidString(text) || norm.NFC.String(text) != text || strings.TrimSpace(text) != text ||
			len(text) == 0 || len(text) > 512 || strings.ContainsFunc(text, unicode.IsControl) {
			t.Fatalf("%q is not canonical and became a key", text)
		}
		value, err := key.Value()
		if err != nil || string(value.([]byte)) != text || key.String() != text {
			t.Fatalf("%q is bound as %q, %v", text, value, err)
		}
		var read TransportKey
		if err := read.Scan(value); err != nil || read != key || read.Compare(key) != 0 {
			t.Fatalf("%q reads back as %q, %v", text, read, err)
		}
		if written, err := key.MarshalText(); err != nil || string(written) != text {
			t.Fatalf("%q is written as %q, %v", text, written, err)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	for _, text := range []string{"", "k", "k ", "\u00a0", "e\u0301", "a\x00", "\xff", "\ufeffk", "1e3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := ParseKey[TransportKey](text)
		if err == nil && (key.String() != text || norm.NFC.String(text) != text) {
			t.Errorf("%q became %q", text, key)
		}
		if err != nil && !errors.Is(err, KeyNotCanonical) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
