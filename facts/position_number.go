package facts

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"

	"connectorcore/facts/spelling"
)

// Sizes that the encodings of numbers rest on.
const (
	integerMaxMagnitude = 126  // bytes, so that the header of a negative number stays above zero
	integerZero         = 0x80 // the header: this plus the size of the magnitude, or minus it
	numberTextMax       = 512  // bytes of text that a number may be written in

	decimalNegative = 0x01
	decimalNull     = 0x02
	decimalPositive = 0x03
	decimalEnd      = 0x00
)

// IntegerPosition is the position of a whole number.
func IntegerPosition(number *big.Int) (SourcePosition, error) {
	magnitude := number.Bytes()
	if len(magnitude) > integerMaxMagnitude {
		return SourcePosition{}, unreadable(IntegerPositions, "%d bytes of magnitude exceed %d", len(magnitude), integerMaxMagnitude)
	}
	encoded := []byte{byte(IntegerPositions), integerZero}
	if number.Sign() < 0 {
		encoded[1] -= byte(len(magnitude))
		encoded = append(encoded, complement(magnitude)...)
	} else {
		encoded[1] += byte(len(magnitude))
		encoded = append(encoded, magnitude...)
	}
	return finished(encoded)
}

// ParseIntegerPosition reads the plain spelling of an integer, as for ParseNumberKey: 1000, never 1e3 or 1000.0.
func ParseIntegerPosition(text string) (SourcePosition, error) {
	if len(text) > numberTextMax {
		return SourcePosition{}, unreadable(IntegerPositions, "%d bytes of text exceed %d", len(text), numberTextMax)
	}
	if fault := spelling.Integer(text); fault != nil {
		return SourcePosition{}, unreadable(IntegerPositions, "%s", fault)
	}
	number, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return SourcePosition{}, unreadable(IntegerPositions, "its %d bytes are no integer", len(text))
	}
	return IntegerPosition(number)
}

// Integer is the whole number that the position stands for; the second result tells whether it is one.
func (p SourcePosition) Integer() (*big.Int, bool) {
	if p.Kind() != IntegerPositions {
		return nil, false
	}
	body := []byte(p.encoded[2:])
	if p.encoded[1] < integerZero {
		return new(big.Int).Neg(new(big.Int).SetBytes(complement(body))), true
	}
	return new(big.Int).SetBytes(body), true
}

// ParseDecimalPosition reads digits with an optional fraction: -12.50. An exponent, a negative zero, a leading zero
// and a bare point are refused: a position has few spellings, and none that needs rounding.
func ParseDecimalPosition(text string) (SourcePosition, error) {
	whole, fraction, fault := splitDecimal(text)
	if fault != nil {
		return SourcePosition{}, unreadable(DecimalPositions, "%s", fault)
	}
	negative := strings.HasPrefix(whole, "-")
	whole = strings.TrimLeft(strings.TrimPrefix(whole, "-"), "0")
	exponent := len(whole)
	digits := whole + fraction
	significant := strings.TrimLeft(digits, "0")
	exponent -= len(digits) - len(significant)
	significant = strings.TrimRight(significant, "0")
	if significant == "" {
		if negative {
			return SourcePosition{}, unreadable(DecimalPositions, "a negative zero is no position")
		}
		return finished([]byte{byte(DecimalPositions), decimalNull})
	}
	return finished(encodeDecimal(negative, exponent, significant))
}

// encodeDecimal encodes 0.DIGITS x 10^exponent, where the digits neither begin nor end with a zero. Two digits make
// a byte of 1 to 100, and a zero byte ends them.
func encodeDecimal(negative bool, exponent int, digits string) []byte {
	body := binary.BigEndian.AppendUint16(nil, uint16(exponent+0x8000))
	if len(digits)%2 == 1 {
		digits += "0"
	}
	for i := 0; i < len(digits); i += 2 {
		body = append(body, 1+(digits[i]-'0')*10+digits[i+1]-'0')
	}
	body = append(body, decimalEnd)
	if negative {
		return append([]byte{byte(DecimalPositions), decimalNegative}, complement(body)...)
	}
	return append([]byte{byte(DecimalPositions), decimalPositive}, body...)
}

// decimalText is the shortest plain spelling of an encoded decimal without its kind byte.
func decimalText(encoded []byte) string {
	if encoded[0] == decimalNull {
		return "0"
	}
	body, sign := encoded[1:], ""
	if encoded[0] == decimalNegative {
		body, sign = complement(body), "-"
	}
	exponent := int(binary.BigEndian.Uint16(body)) - 0x8000
	var digits strings.Builder
	for _, pair := range body[2 : len(body)-1] {
		fmt.Fprintf(&digits, "%02d", pair-1)
	}
	text := strings.TrimRight(digits.String(), "0")
	switch {
	case exponent <= 0:
		return sign + "0." + strings.Repeat("0", -exponent) + text
	case exponent >= len(text):
		return sign + text + strings.Repeat("0", exponent-len(text))
	default:
		return sign + text[:exponent] + "." + text[exponent:]
	}
}

// splitDecimal checks the spelling and parts it at its point. The sign stays with the whole part.
func splitDecimal(text string) (whole, fraction string, fault *spelling.Fault) {
	if len(text) > numberTextMax {
		return "", "", &spelling.Fault{
			Rule: fmt.Sprintf("%d bytes of text exceed %d", len(text), numberTextMax), Offset: numberTextMax, Advice: "shorten it",
		}
	}
	whole, fraction, pointed := strings.Cut(text, ".")
	if fault := spelling.Integer(whole); fault != nil && whole != "-0" {
		return "", "", fault
	}
	if pointed && fraction == "" {
		return "", "", &spelling.Fault{Rule: "no digit follows the point", Offset: len(text), Advice: "write 12 or 12.0"}
	}
	for i := range len(fraction) {
		if fraction[i] < '0' || fraction[i] > '9' {
			return "", "", &spelling.Fault{
				Rule: fmt.Sprintf("%q is no digit of a plain decimal", fraction[i]), Offset: len(whole) + 1 + i,
				Advice: "write it without an exponent",
			}
		}
	}
	return whole, fraction, nil
}

func complement(raw []byte) []byte {
	flipped := bytes.Clone(raw)
	for i := range flipped {
		flipped[i] = ^flipped[i]
	}
	return flipped
}

func unreadable(kind PositionKind, detail string, args ...any) error {
	return Refuse(PositionUnreadable, OfInput(kind.String()+" position"), detail, args...)
}

// finished checks the size, which no kind may exceed.
func finished(encoded []byte) (SourcePosition, error) {
	if len(encoded) > PositionMaxBytes {
		return SourcePosition{}, unreadable(PositionKind(encoded[0]), "its encoding takes %d bytes and may take %d", len(encoded), PositionMaxBytes)
	}
	return SourcePosition{encoded: string(encoded)}, nil
}
