package facts

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"pgregory.net/rapid"
)

// agrees asserts that the order of two positions is the wanted one, in Compare and in the encoded bytes, and that
// both are read back from their encodings.
func agrees(t *rapid.T, a, b SourcePosition, want int) {
	order, err := a.Compare(b)
	if err != nil || order != want || bytes.Compare(a.Encoded(), b.Encoded()) != want {
		t.Fatalf("%s against %s is %d, %v, want %d", a, b, order, err, want)
	}
	for _, p := range []SourcePosition{a, b} {
		if read, err := DecodePosition(p.Encoded()); err != nil || read != p || len(p.Encoded()) > PositionMaxBytes {
			t.Fatalf("%s reads back as %s, %v", p, read, err)
		}
	}
}

func must(p SourcePosition, err error) func(t interface{ Fatal(...any) }) SourcePosition {
	return func(t interface{ Fatal(...any) }) SourcePosition {
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// drawInteger draws a number of any admitted size, often near a power of 256.
func drawInteger(t *rapid.T, name string) *big.Int {
	number := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, integerMaxMagnitude).Draw(t, name))
	if rapid.Bool().Draw(t, name+" near a power") {
		power := uint(rapid.IntRange(0, 8*integerMaxMagnitude-1).Draw(t, name+" power"))
		number.Add(new(big.Int).Lsh(big.NewInt(1), power), big.NewInt(int64(rapid.IntRange(-1, 0).Draw(t, name+" step"))))
	}
	if rapid.Bool().Draw(t, name+" negative") {
		number.Neg(number)
	}
	return number
}

func TestIntegerOrderIsTheOrderOfTheNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawInteger(t, "a"), drawInteger(t, "b")
		if rapid.Bool().Draw(t, "close") {
			b = new(big.Int).Add(a, big.NewInt(int64(rapid.IntRange(-2, 2).Draw(t, "distance"))))
			if len(b.Bytes()) > integerMaxMagnitude {
				return
			}
		}
		p, q := must(ParseIntegerPosition(a.String()))(t), must(IntegerPosition(b))(t)
		agrees(t, p, q, a.Cmp(b))
		if number, ok := p.Integer(); !ok || number.Cmp(a) != 0 || p.String() != "integer "+a.String() {
			t.Fatalf("%s reads back as %v, %s", a, number, p)
		}
	})
}

// drawDecimal draws a spelling; zeros at both ends are frequent, so that one value has several.
func drawDecimal(t *rapid.T, name string) string {
	text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,3}|[1-9]0{1,30})(\.[0-9]{1,4}0{0,3}|\.0{1,30}[1-9]|\.[0-9]{60})?`).Draw(t, name)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

func TestDecimalOrderIsTheOrderOfTheExactValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawDecimal(t, "a"), drawDecimal(t, "b")
		if rapid.Bool().Draw(t, "related") {
			b = a
			if strings.Contains(a, ".") {
				b += rapid.StringMatching(`0{0,3}[0-9]?`).Draw(t, "more")
			}
		}
		if strings.HasPrefix(b, "-") && strings.Trim(b, "-0.") == "" {
			return
		}
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		p, q := must(ParseDecimalPosition(a))(t), must(ParseDecimalPosition(b))(t)
		agrees(t, p, q, x.Cmp(y))
		shown, ok := new(big.Rat).SetString(strings.TrimPrefix(p.String(), "decimal "))
		if !ok || shown.Cmp(x) != 0 {
			t.Fatalf("%s is shown as %s", a, p)
		}
		if again := must(ParseDecimalPosition(strings.TrimPrefix(p.String(), "decimal ")))(t); again != p {
			t.Fatalf("%s is read from what it shows as %s", p, again)
		}
	})
}

func TestScenario027OneDecimalHasOnePositionInAllItsSpellings(t *testing.T) {
	for _, texts := range [][]string{{"1", "1.0", "1.00"}, {"0", "0.0"}, {"-12.5", "-12.500"}, {"1000", "1000.0"}} {
		first := must(ParseDecimalPosition(texts[0]))(t)
		for _, text := range texts[1:] {
			if other := must(ParseDecimalPosition(text))(t); other != first {
				t.Errorf("%s and %s are two positions", texts[0], text)
			}
		}
	}
	if must(ParseDecimalPosition("0.1"))(t) == must(ParseDecimalPosition("0.1000000000000000055511151231257827"))(t) {
		t.Error("a decimal went through a float")
	}
	if must(ParseDecimalPosition("1.000000000000000005"))(t) == must(ParseDecimalPosition("1"))(t) {
		t.Error("a decimal was rounded")
	}
}

func TestScenario027OtherSpellingsOfANumberAreNoPosition(t *testing.T) {
	for _, text := range []string{"", "-", "1e3", "1E3", "1000.0", "-0", "1e400", "01", "+1", "0x1", "1_0", " 1", "NaN", strings.Repeat("9", 310)} {
		if p, err := ParseIntegerPosition(text); !errors.Is(err, PositionUnreadable) || !p.IsZero() {
			t.Errorf("integer %q: %s, %v", text, p, err)
		}
	}
	for _, text := range []string{
		"", "-", ".", "1.", ".5", "-.5", "1e3", "1.0e3", "-0", "-0.00", "1e400", "01.5", "+1", "1,5", "1.5.5", " 1", "Inf", "1.-5",
		strings.Repeat("9", 513), "0." + strings.Repeat("7", 509),
	} {
		if p, err := ParseDecimalPosition(text); !errors.Is(err, PositionUnreadable) || !p.IsZero() {
			t.Errorf("decimal %q: %s, %v", text, p, err)
		}
	}
	first, second := must(ParseIntegerPosition("9007199254740992"))(t), must(ParseIntegerPosition("9007199254740993"))(t)
	if order, err := first.Compare(second); order != -1 || err != nil {
		t.Errorf("2^53 and its successor compare as %d, %v", order, err)
	}
}

func TestBytesOrderIsTheOrderOfTheBytes(t *testing.T) {
	value := rapid.SliceOfN(rapid.OneOf(rapid.ByteRange(0, 2), rapid.ByteRange(253, 255), rapid.Byte()), 1, 20)
	rapid.Check(t, func(t *rapid.T) {
		a, b := value.Draw(t, "a"), value.Draw(t, "b")
		if rapid.Bool().Draw(t, "prefix") {
			b = append(bytes.Clone(a), value.Draw(t, "rest")...)
		}
		p := must(BytesPosition(a))(t)
		agrees(t, p, must(BytesPosition(b))(t), bytes.Compare(a, b))
		if want := fmt.Sprintf("bytes %x", a); p.String() != want {
			t.Fatalf("%s is shown as %s", want, p)
		}
	})
}

// instant is what a time position stands for, kept apart from the encoding.
type instant struct {
	at    time.Time
	attos uint64
}

func (i instant) compare(other instant) int {
	return cmp.Or(i.at.Compare(other.at), cmp.Compare(i.attos, other.attos))
}

func drawInstant(t *rapid.T, name string) instant {
	return instant{
		at:    time.Unix(rapid.OneOf(rapid.Int64Range(timeFirst, timeLast), rapid.Int64Range(-3, 3)).Draw(t, name), 0).UTC(),
		attos: rapid.OneOf(rapid.Uint64Range(0, attosecond-1), rapid.Uint64Range(0, 2)).Draw(t, name+" fraction"),
	}
}

func (i instant) text(offset int) string {
	zone := time.FixedZone("", offset*60)
	local := i.at.In(zone)
	return fmt.Sprintf("%s.%018d%s", local.Format("2006-01-02T15:04:05"), i.attos, local.Format("-07:00"))
}

func TestTimeOrderIsTheOrderOfTheInstantsWhateverTheirOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawInstant(t, "a"), drawInstant(t, "b")
		if rapid.Bool().Draw(t, "close") {
			b.at = a.at
		}
		offset := rapid.IntRange(-14*60, 14*60)
		x, y := a.text(offset.Draw(t, "zone a")), b.text(offset.Draw(t, "zone b"))
		if len(x) != 44 || len(y) != 44 || x[0] == '-' || y[0] == '-' {
			return // the offset left the years of four digits
		}
		agrees(t, must(ParseTimePosition(RFC3339, x))(t), must(ParseTimePosition(RFC3339, y))(t), a.compare(b))
	})
}

func TestTupleOrderIsDecidedByItsFirstDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (SourcePosition, *big.Int, []byte, *big.Rat) {
			number := drawInteger(t, name+" integer")
			number.Rem(number, big.NewInt(3))
			raw := rapid.SliceOfN(rapid.ByteRange(0, 2), 1, 4).Draw(t, name+" bytes")
			decimal := drawDecimal(t, name+" decimal")
			value, _ := new(big.Rat).SetString(decimal)
			return must(TuplePosition(
				must(IntegerPosition(number))(t), must(BytesPosition(raw))(t), must(ParseDecimalPosition(decimal))(t),
			))(t), number, raw, value
		}
		p, n1, b1, d1 := draw("a")
		q, n2, b2, d2 := draw("b")
		agrees(t, p, q, cmp.Or(n1.Cmp(n2), bytes.Compare(b1, b2), d1.Cmp(d2)))
		if again := must(TuplePosition(p.Elements()...))(t); again != p {
			t.Fatalf("the elements of %s make %s", p, again)
		}
	})
}

func TestPositionsOfDifferentKindsHaveNoOrder(t *testing.T) {
	integer, decimal := must(ParseIntegerPosition("1"))(t), must(ParseDecimalPosition("1"))(t)
	instant, raw := must(ParseTimePosition(UnixSeconds, "1"))(t), must(BytesPosition([]byte("1")))(t)
	all := []SourcePosition{
		{}, integer, decimal, instant, raw,
		must(TuplePosition(integer, raw))(t), must(TuplePosition(integer, decimal))(t), must(TuplePosition(integer, raw, raw))(t),
	}
	for i, p := range all {
		for j, q := range all {
			_, err := p.Compare(q)
			if comparable := i == j && i > 0; (err == nil) != comparable || (err != nil && !errors.Is(err, PositionKindsDiffer)) {
				t.Errorf("%s against %s: %v", p, q, err)
			}
		}
	}
}

func TestEqualPositionAndTieBreakerIsATie(t *testing.T) {
	one, two := must(ParseIntegerPosition("1"))(t), must(ParseIntegerPosition("2"))(t)
	raw := must(BytesPosition([]byte("x")))(t)
	for _, c := range []struct {
		a, b SourceOrder
		want int
		fail bool
	}{
		{SourceOrder{one, one}, SourceOrder{one, one}, 0, false},
		{SourceOrder{one, one}, SourceOrder{one, two}, -1, false},
		{SourceOrder{two, one}, SourceOrder{one, two}, 1, false},
		{SourceOrder{Position: one}, SourceOrder{Position: one}, 0, false},
		{SourceOrder{Position: one}, SourceOrder{one, one}, 0, true},
		{SourceOrder{one, raw}, SourceOrder{two, one}, 0, true},
		{SourceOrder{}, SourceOrder{}, 0, true},
	} {
		order, err := c.a.Compare(c.b)
		if (err != nil) != c.fail || !c.fail && order != c.want {
			t.Errorf("%+v against %+v: %d, %v", c.a, c.b, order, err)
		}
	}
}

func TestSizesBeyondTheLimitAreRefused(t *testing.T) {
	biggest := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 8*integerMaxMagnitude), big.NewInt(1))
	for _, number := range []*big.Int{biggest, new(big.Int).Neg(biggest)} {
		if _, err := IntegerPosition(number); err != nil {
			t.Error(err)
		}
	}
	if _, err := IntegerPosition(new(big.Int).Add(biggest, big.NewInt(1))); !errors.Is(err, PositionUnreadable) {
		t.Errorf("an integer beyond the limit: %v", err)
	}
	longest := must(BytesPosition(bytes.Repeat([]byte{1}, PositionMaxBytes-3)))(t)
	if len(longest.Encoded()) != PositionMaxBytes {
		t.Errorf("the longest bytes take %d", len(longest.Encoded()))
	}
	one := must(ParseIntegerPosition("1"))(t)
	refused := map[string]func() (SourcePosition, error){
		"bytes too long":      func() (SourcePosition, error) { return BytesPosition(bytes.Repeat([]byte{1}, PositionMaxBytes-2)) },
		"zeros too long":      func() (SourcePosition, error) { return BytesPosition(make([]byte, 127)) },
		"no bytes":            func() (SourcePosition, error) { return BytesPosition(nil) },
		"tuple too long":      func() (SourcePosition, error) { return TuplePosition(one, longest) },
		"tuple of one":        func() (SourcePosition, error) { return TuplePosition(one) },
		"tuple of nine":       func() (SourcePosition, error) { return TuplePosition(slices.Repeat([]SourcePosition{one}, 9)...) },
		"tuple with a gap":    func() (SourcePosition, error) { return TuplePosition(one, SourcePosition{}) },
		"tuple within itself": func() (SourcePosition, error) { return TuplePosition(one, must(TuplePosition(one, one))(t)) },
	}
	for name, make := range refused {
		if p, err := make(); !errors.Is(err, PositionUnreadable) || !p.IsZero() {
			t.Errorf("%s: %s, %v", name, p, err)
		}
	}
}
