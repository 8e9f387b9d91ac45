package facts

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"connectorcore/facts/spelling"
)

// TimeFormat is one of the closed list of spellings of an instant. A route names the one that its source uses;
// nothing guesses, and a value in any other spelling is refused.
type TimeFormat uint8

// The formats. Where a fraction may stand, it has 1 to 18 digits. A leap second has no instant here and is refused.
const (
	RFC3339         TimeFormat = iota + 1 // 2018-04-25T20:42:10.5Z, 2018-04-25T20:42:10-04:00
	OffsetDateTime                        // 2018-04-25T20:42:10.000+0300, an offset without colon
	SpacedDateTime                        // 2018-04-25 20:42:10 +0300
	UTCDateTime                           // 2018-04-25T20:42:10, without a zone: stated here to be UTC
	SpacedUTC                             // 2018-04-25 20:42:10, without a zone: stated here to be UTC
	NamedUTC                              // 2018-04-25 20:42:10 UTC
	UnixSeconds                           // 1524688930
	UnixMillis                            // 1524688930000
	UnixMicros                            // 1524688930000000
	UnixNanos                             // 1524688930000000000
	UnixDecimal                           // 1531431954.000073, seconds
	timeFormatLimit                       // no format
)

// timeRow is how a format is spelled: a calendar date with a separator and a zone, or a count of units.
type timeRow struct {
	name      string
	separator string
	zone      func(rest string) (offset int, ok bool)
	digits    int  // of a unix count: how many of its last digits are a fraction of a second
	decimal   bool // of a unix count: it may have a decimal fraction
}

var timeRows = [timeFormatLimit]timeRow{
	RFC3339:        {name: "rfc3339", separator: "T", zone: zoneColon},
	OffsetDateTime: {name: "offset_date_time", separator: "T", zone: zonePlain},
	SpacedDateTime: {name: "spaced_date_time", separator: " ", zone: zoneSpaced},
	UTCDateTime:    {name: "utc_date_time", separator: "T", zone: zoneFixed("")},
	SpacedUTC:      {name: "spaced_utc", separator: " ", zone: zoneFixed("")},
	NamedUTC:       {name: "named_utc", separator: " ", zone: zoneFixed(" UTC")},
	UnixSeconds:    {name: "unix_seconds"},
	UnixMillis:     {name: "unix_millis", digits: 3},
	UnixMicros:     {name: "unix_micros", digits: 6},
	UnixNanos:      {name: "unix_nanos", digits: 9},
	UnixDecimal:    {name: "unix_decimal", decimal: true},
}

// String is the format's name in a pack.
func (f TimeFormat) String() string {
	if f == 0 || f >= timeFormatLimit {
		return "no time format"
	}
	return timeRows[f].name
}

// ParseTimeFormat reads a format's name.
func ParseTimeFormat(text string) (TimeFormat, error) {
	for format := RFC3339; format < timeFormatLimit; format++ {
		if timeRows[format].name == text {
			return format, nil
		}
	}
	return 0, Refuse(PositionUnreadable, OfInput("time format"), "%q is not in the closed list", text)
}

// The instants of the years 0000 to 9999. A count in the wrong unit falls out of them more often than not.
const (
	timeFirst    = -62167219200
	timeLast     = 253402300799
	fractionMax  = 18 // digits: an instant is exact to 10^-18 s
	timeBodySize = 16
)

// ParseTimePosition reads an instant in exactly the named format.
func ParseTimePosition(format TimeFormat, text string) (SourcePosition, error) {
	if format == 0 || format >= timeFormatLimit {
		return SourcePosition{}, unreadable(TimePositions, "no time format was named")
	}
	if len(text) > numberTextMax {
		return SourcePosition{}, unreadable(TimePositions, "%d bytes of text exceed %d", len(text), numberTextMax)
	}
	row := timeRows[format]
	read := row.calendar
	if row.zone == nil {
		read = row.unix
	}
	seconds, fraction, ok := read(text)
	if !ok {
		return SourcePosition{}, unreadable(TimePositions, "its %d bytes are no %s", len(text), format)
	}
	if seconds < timeFirst || seconds > timeLast {
		return SourcePosition{}, unreadable(TimePositions, "as %s it is outside of the years 0000 to 9999", format)
	}
	encoded := binary.BigEndian.AppendUint64([]byte{byte(TimePositions)}, uint64(seconds)^1<<63)
	return finished(binary.BigEndian.AppendUint64(encoded, fraction))
}

// calendar reads YYYY-MM-DD, the separator, HH:MM:SS, a fraction and the zone.
func (r timeRow) calendar(text string) (seconds int64, fraction uint64, ok bool) {
	const date, clock = len("2006-01-02"), len("15:04:05")
	whole := date + len(r.separator) + clock
	if len(text) < whole {
		return 0, 0, false
	}
	layout := "2006-01-02" + r.separator + "15:04:05"
	read, err := time.Parse(layout, text[:whole])
	if err != nil || read.Format(layout) != text[:whole] { // the library also reads other spellings of an hour
		return 0, 0, false
	}
	rest := text[whole:]
	if strings.HasPrefix(rest, ".") {
		digits := leadingDigits(rest[1:])
		if fraction, ok = attoseconds(digits); !ok {
			return 0, 0, false
		}
		rest = rest[1+len(digits):]
	}
	offset, ok := r.zone(rest)
	return read.Unix() - int64(offset), fraction, ok
}

// unix reads a count of seconds or of parts of them, or of seconds with a decimal fraction. An instant before the
// epoch is the next lower second and a fraction above it.
func (r timeRow) unix(text string) (seconds int64, fraction uint64, ok bool) {
	whole, part := text, ""
	if r.decimal {
		var fault *spelling.Fault
		if whole, part, fault = splitDecimal(text); fault != nil {
			return 0, 0, false
		}
	} else if fault := spelling.Integer(text); fault != nil {
		return 0, 0, false
	}
	negative := strings.HasPrefix(whole, "-")
	whole = strings.TrimPrefix(whole, "-")
	if r.digits > 0 {
		whole = strings.Repeat("0", max(0, r.digits+1-len(whole))) + whole
		whole, part = whole[:len(whole)-r.digits], whole[len(whole)-r.digits:]
	}
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	if part != "" {
		if fraction, ok = attoseconds(part); !ok {
			return 0, 0, false
		}
	}
	if !negative {
		return seconds, fraction, true
	}
	if seconds == 0 && fraction == 0 {
		return 0, 0, false // a negative zero
	}
	if fraction > 0 {
		return -seconds - 1, attosecond - fraction, true
	}
	return -seconds, 0, true
}

const attosecond = 1_000_000_000_000_000_000 // how many make a second

func attoseconds(digits string) (uint64, bool) {
	if digits == "" || len(digits) > fractionMax {
		return 0, false
	}
	number, err := strconv.ParseUint(digits+strings.Repeat("0", fractionMax-len(digits)), 10, 64)
	return number, err == nil
}

func leadingDigits(text string) string {
	return text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
}

func zoneColon(rest string) (int, bool) {
	if rest == "Z" {
		return 0, true
	}
	if len(rest) != len("+00:00") || rest[3] != ':' {
		return 0, false
	}
	return zonePlain(rest[:3] + rest[4:])
}

func zoneSpaced(rest string) (int, bool) {
	after, ok := strings.CutPrefix(rest, " ")
	if !ok {
		return 0, false
	}
	return zonePlain(after)
}

func zonePlain(rest string) (int, bool) {
	if len(rest) != len("+0000") || leadingDigits(rest[1:]) != rest[1:] {
		return 0, false
	}
	hours, minutes := int(rest[1]-'0')*10+int(rest[2]-'0'), int(rest[3]-'0')*10+int(rest[4]-'0')
	if hours > 23 || minutes > 59 {
		return 0, false
	}
	switch offset := (hours*60 + minutes) * 60; rest[0] {
	case '+':
		return offset, true
	case '-':
		return -offset, true
	default:
		return 0, false
	}
}

func zoneFixed(suffix string) func(string) (int, bool) {
	return func(rest string) (int, bool) { return 0, rest == suffix }
}

// timeText is the instant in RFC3339, in UTC, with the shortest fraction.
func timeText(body []byte) string {
	seconds := int64(binary.BigEndian.Uint64(body) ^ 1<<63)
	text := time.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05")
	if fraction := binary.BigEndian.Uint64(body[8:]); fraction > 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%018d", fraction), "0")
	}
	return text + "Z"
}
