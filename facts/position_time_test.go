package facts

import (
	"database/sql"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"pgregory.net/rapid"
)

// One instant in each of the formats, as different sources spell it.
func TestOneInstantHasOnePositionInEveryFormat(t *testing.T) {
	for text, format := range map[string]TimeFormat{
		"2018-04-25T20:42:10Z": RFC3339, "2018-04-25T20:42:10+00:00": RFC3339, "2018-04-25T16:42:10-04:00": RFC3339,
		"2018-04-25T20:42:10.000Z": RFC3339, "2018-04-25T23:42:10.000+0300": OffsetDateTime, "2018-04-25T20:42:10-0000": OffsetDateTime,
		"2018-04-25 23:42:10 +0300": SpacedDateTime, "2018-04-25T20:42:10": UTCDateTime, "2018-04-25T20:42:10.0": UTCDateTime,
		"2018-04-25 20:42:10": SpacedUTC, "2018-04-25 20:42:10 UTC": NamedUTC, "1524688930": UnixSeconds,
		"1524688930000": UnixMillis, "1524688930000000": UnixMicros, "1524688930000000000": UnixNanos,
		"1524688930.000000": UnixDecimal, "1524688930.0": UnixDecimal,
	} {
		p, err := ParseTimePosition(format, text)
		if err != nil || p.String() != "time 2018-04-25T20:42:10Z" {
			t.Errorf("%q as %s is %s, %v", text, format, p, err)
		}
	}
}

func TestFractionsAreExact(t *testing.T) {
	for text, want := range map[string]string{
		"1531431954.000073": "time 2018-07-12T21:45:54.000073Z", "1531431954.1": "time 2018-07-12T21:45:54.1Z",
		"0.000000000000000001": "time 1970-01-01T00:00:00.000000000000000001Z", "-0.5": "time 1969-12-31T23:59:59.5Z",
		"-1": "time 1969-12-31T23:59:59Z", "-1.25": "time 1969-12-31T23:59:58.75Z",
	} {
		if p, err := ParseTimePosition(UnixDecimal, text); err != nil || p.String() != want {
			t.Errorf("%q is %s, %v, want %s", text, p, err, want)
		}
	}
	for text, want := range map[string]string{
		"0": "time 1970-01-01T00:00:00Z", "5": "time 1970-01-01T00:00:00.005Z", "-5": "time 1969-12-31T23:59:59.995Z",
		"-1000": "time 1969-12-31T23:59:59Z", "1999": "time 1970-01-01T00:00:01.999Z",
	} {
		if p, err := ParseTimePosition(UnixMillis, text); err != nil || p.String() != want {
			t.Errorf("%q ms is %s, %v, want %s", text, p, err, want)
		}
	}
	early, late := must(ParseTimePosition(UnixDecimal, "1531431954.000073"))(t), must(ParseTimePosition(UnixDecimal, "1531431954.000074"))(t)
	if order, err := early.Compare(late); order != -1 || err != nil {
		t.Errorf("a microsecond apart: %d, %v", order, err)
	}
}

func TestNoOtherSpellingOfATimeIsRead(t *testing.T) {
	for format, texts := range map[TimeFormat][]string{
		RFC3339: {
			"", "2018-04-25 20:42:10Z", "2018-04-25T20:42:10", "2018-04-25t20:42:10z", "2018-04-25T20:42:10z", "2018-04-25T20:42:10+0300",
			"2018-04-25T20:42:10 Z", " 2018-04-25T20:42:10Z", "2018-04-25T20:42:10Z ", "2018-4-25T20:42:10Z", "2018-02-30T20:42:10Z",
			"2018-04-25T24:00:00Z", "2018-04-25T20:60:10Z", "2016-12-31T23:59:60Z", "2018-04-25T20:42:10.Z", "2018-04-25T20:42:10,5Z",
			"2018-04-25T20:42:10.1234567890123456789Z", "2018-04-25T20:42:10+24:00", "2018-04-25T20:42:10+03:60", "2018-04-25T20:42:10*03:00",
			"2018-04-25T20:42:10+3:00", "12018-04-25T20:42:10Z", "-018-04-25T20:42:10Z", "2018-04-25T9:42:10.5Z", "0000-01-01T00:00:00+00:01",
			"9999-12-31T23:59:59-00:01", "2018-04-25T20:42:10Z" + strings.Repeat("0", 600), "2018-04-25T20:42:1\u0660Z", "1524688930",
		},
		OffsetDateTime: {"2018-04-25T20:42:10Z", "2018-04-25T20:42:10+03:00", "2018-04-25T20:42:10", "2018-04-25T20:42:10 +0300", "2018-04-25T20:42:10+03"},
		SpacedDateTime: {"2018-04-25 20:42:10", "2018-04-25 20:42:10+0300", "2018-04-25T20:42:10 +0300", "2018-04-25 20:42:10  +0300"},
		UTCDateTime:    {"2018-04-25T20:42:10Z", "2018-04-25T20:42:10+00:00", "2018-04-25 20:42:10"},
		SpacedUTC:      {"2018-04-25 20:42:10Z", "2018-04-25 20:42:10 UTC", "2018-04-25T20:42:10", "2018-04-25 20:42"},
		NamedUTC:       {"2018-04-25 20:42:10", "2018-04-25 20:42:10 utc", "2018-04-25 20:42:10 GMT", "2018-04-25 20:42:10UTC"},
		UnixSeconds:    {"", "1524688930.0", "1.5e9", "-0", "01", "+1", "0x1", "1524688930000", "99999999999999999999", "now"},
		UnixMillis:     {"", "-", "1.5", "-0", "253402300800000", "01"},
		UnixMicros:     {"1.5", "-0"},
		UnixNanos:      {"1.5", "-0"},
		UnixDecimal:    {"", "1.", ".5", "-0", "-0.0", "1e9", "1.0000000000000000001", "253402300800.0", "Infinity"},
		0:              {"1524688930"}, timeFormatLimit: {"1524688930"},
	} {
		for _, text := range texts {
			if p, err := ParseTimePosition(format, text); !errors.Is(err, PositionUnreadable) || !p.IsZero() {
				t.Errorf("%q as %s is %s, %v", text, format, p, err)
			}
		}
	}
}

func TestTimeFormatsAreAClosedListOfNames(t *testing.T) {
	page, err := os.ReadFile("../docs/positions.md")
	if err != nil {
		t.Fatal(err)
	}
	for format := RFC3339; format < timeFormatLimit; format++ {
		if read, err := ParseTimeFormat(format.String()); err != nil || read != format {
			t.Errorf("%s reads back as %s, %v", format, read, err)
		}
		if !strings.Contains(string(page), "| `"+format.String()+"` |") {
			t.Errorf("docs/positions.md does not list %s", format)
		}
	}
	for _, text := range []string{"", "RFC3339", "auto", "iso8601", TimeFormat(0).String()} {
		if format, err := ParseTimeFormat(text); !errors.Is(err, PositionUnreadable) || format != 0 {
			t.Errorf("%q is %s, %v", text, format, err)
		}
	}
}

// Frozen encodings: what is stored once must be read the same for ever.
func TestEncodingsAreFrozen(t *testing.T) {
	page, err := os.ReadFile("../docs/positions.md")
	if err != nil {
		t.Fatal(err)
	}
	tuple := must(TuplePosition(must(ParseTimePosition(UnixSeconds, "1"))(t), must(ParseIntegerPosition("-1"))(t)))(t)
	for want, p := range map[string]SourcePosition{
		"0180": must(ParseIntegerPosition("0"))(t), "018101": must(ParseIntegerPosition("1"))(t), "017ffe": must(ParseIntegerPosition("-1"))(t),
		"01820100": must(ParseIntegerPosition("256"))(t), "017efeff": must(ParseIntegerPosition("-256"))(t),
		"0187200000000000" + "01": must(ParseIntegerPosition("9007199254740993"))(t),
		"0202":                    must(ParseDecimalPosition("0"))(t), "020380010b00": must(ParseDecimalPosition("1"))(t),
		"020380020d3300": must(ParseDecimalPosition("12.5"))(t), "02017ffdf2ccff": must(ParseDecimalPosition("-12.5"))(t),
		"02037fff3300": must(ParseDecimalPosition("0.05"))(t), "0380000000000000010000000000000000": must(ParseTimePosition(UnixSeconds, "1"))(t),
		"037fffffffffffffff06f05b59d3b20000": must(ParseTimePosition(UnixDecimal, "-0.5"))(t),
		"0461000162":                         {}, "046100ff620001": must(BytesPosition([]byte("a\x00b")))(t),
		"0503800000000000000100000000000000" + "00017ffe00": tuple,
	} {
		if p.IsZero() {
			raw, _ := hex.DecodeString(want)
			if _, err := DecodePosition(raw); !errors.Is(err, PositionUnreadable) {
				t.Errorf("%s was read: %v", want, err)
			}
			continue
		}
		if got := hex.EncodeToString(p.Encoded()); got != want {
			t.Errorf("%s is encoded as %s, want %s", p, got, want)
		}
		if !strings.Contains(string(page), "`"+want+"`") {
			t.Errorf("docs/positions.md does not show %s, which is %s", want, p)
		}
	}
}

func TestMalformedEncodingsAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "00", "06", "ff", "01", "0181", "018100", "01810001", "017fff", "018001", "01ff" + strings.Repeat("01", 127), "0101" + strings.Repeat("fe", 127),
		"02", "0200", "0204", "0203", "02038001", "0203800100", "02038001010b00", "020380010b0100", "020380016600", "020380010b", "020380010a00",
		"0203ffff0b00", "020300000b00", "02020b", "020380010b00ff", "03", "038000000000000001", "03800000000000000100000000000000ff00",
		"0380000000000000010de0b6b3a7640000", "03ffffffffffffffff0000000000000000", "0361", "04", "040001", "0461", "046100", "04610002", "0461000100",
		"05", "0500", "0501810100", "05018101018101", "0501810101810100ff", "05018101050181010181010000", "05" + strings.Repeat("018101", 9) + "00",
		"0501810106" + "00", "05018101018100" + "00", strings.Repeat("04", 256),
	} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := DecodePosition(raw); !errors.Is(err, PositionUnreadable) || !p.IsZero() {
			t.Errorf("%s was read as %s, %v", text, p, err)
		}
		var stored SourcePosition
		if err := stored.Scan(raw); !errors.HasAssertionFailure(err) {
			t.Errorf("stored %s was read as %s, %v", text, stored, err)
		}
	}
}

func TestStoredPositionsReadBackAndAbsentOnesAreNeverStored(t *testing.T) {
	p := must(ParseIntegerPosition("1"))(t)
	value, err := p.Value()
	if err != nil {
		t.Fatal(err)
	}
	var read sql.Null[SourcePosition]
	if err := read.Scan(value); err != nil || read.V != p {
		t.Errorf("%s reads back as %s, %v", p, read.V, err)
	}
	if err := read.Scan(nil); err != nil || read.Valid {
		t.Errorf("NULL is read as %s, %v", read.V, err)
	}
	if _, err := (SourcePosition{}).Value(); !errors.HasAssertionFailure(err) {
		t.Errorf("an absent position was bound: %v", err)
	}
	if err := new(SourcePosition).Scan(nil); !errors.HasAssertionFailure(err) {
		t.Errorf("NULL was read as a position: %v", err)
	}
}

// Whatever is decoded is what it shows: building it again from its text gives the same bytes.
func rebuilds(p SourcePosition) bool {
	noun, text, _ := strings.Cut(p.String(), " ")
	var again SourcePosition
	var err error
	switch noun {
	case "integer":
		again, err = ParseIntegerPosition(text)
	case "decimal":
		again, err = ParseDecimalPosition(text)
	case "time":
		again, err = ParseTimePosition(RFC3339, text)
	case "bytes":
		raw, _ := hex.DecodeString(text)
		again, err = BytesPosition(raw)
	default:
		for _, element := range p.Elements() {
			if !rebuilds(element) {
				return false
			}
		}
		again, err = TuplePosition(p.Elements()...)
	}
	return err == nil && again == p
}

func TestDecodeIsTheExactInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.ByteRange(0, 6).Draw(t, "kind")
		body := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 3, 11, 0x33, 0x7f, 0x80, 0x81, 0x82, 0xfe, 0xff}), 0, 18).Draw(t, "body")
		raw := append([]byte{kind}, body...)
		if p, err := DecodePosition(raw); err == nil && (string(p.Encoded()) != string(raw) || !rebuilds(p)) {
			t.Fatalf("%x was read as %s", raw, p)
		}
	})
}

func FuzzDecodePosition(f *testing.F) {
	for _, text := range []string{"0180", "017efeff", "02017ffdf2ccff", "0380000000000000010000000000000000", "046100ff620001", "05018101018101" + "00", "0203ffff0b00"} {
		raw, _ := hex.DecodeString(text)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := DecodePosition(raw)
		if err != nil && !errors.Is(err, PositionUnreadable) {
			t.Errorf("%x: %v", raw, err)
		}
		if err == nil && (string(p.Encoded()) != string(raw) || !rebuilds(p)) {
			t.Errorf("%x was read as %s", raw, p)
		}
	})
}

func FuzzParseTimePosition(f *testing.F) {
	for format := RFC3339; format < timeFormatLimit; format++ {
		f.Add(uint8(format), "2018-04-25T20:42:10.5Z")
		f.Add(uint8(format), "1531431954.000073")
	}
	f.Fuzz(func(t *testing.T, format uint8, text string) {
		if p, err := ParseTimePosition(TimeFormat(format), text); err == nil && !rebuilds(p) {
			t.Errorf("%q as %s was read as %s", text, TimeFormat(format), p)
		}
	})
}
