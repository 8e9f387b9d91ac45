package expr

import (
	"bytes"
	"io"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"github.com/go-json-experiment/json/jsontext"

	"connectorcore/facts"
)

// Value is something that an expression reads: a JSON value, or one that Text, Whole or Object made. The zero Value
// is JSON null.
type Value struct{ of ref.Val }

func (v Value) val() ref.Val {
	if v.of == nil {
		return types.NullValue
	}
	return v.of
}

// Text is a string.
func Text(text string) Value { return Value{types.String(text)} }

// Whole is an int, for what we count ourselves. A number of a payload never becomes one.
func Whole(count int64) Value { return Value{types.Int(count)} }

// Object is an object of named values.
func Object(members map[string]Value) Value {
	names, inner := make([]string, 0, len(members)), make(map[string]ref.Val, len(members))
	for name, member := range members {
		names, inner[name] = append(names, name), member.val()
	}
	return Value{newObject(names, inner)}
}

// List is a list of values.
func List(items []Value) Value {
	inner := make([]ref.Val, len(items))
	for i, item := range items {
		inner[i] = item.val()
	}
	return Value{types.NewRefValList(types.DefaultTypeAdapter, inner)}
}

// Decode reads exactly one JSON value: strict UTF-8 without lone surrogates, no name twice in an object after
// unescaping, at most depth levels deep. Anything else is refused with BodyUnreadable, or with BodyTooDeep. Numbers
// are not interpreted at all.
func Decode(body []byte, depth int) (Value, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	value, err := decode(decoder, depth)
	if err != nil {
		return Value{}, err
	}
	if _, err := decoder.ReadToken(); err != io.EOF {
		return Value{}, unreadable("something follows the value at byte %d", decoder.InputOffset())
	}
	return Value{value}, nil
}

func unreadable(detail string, args ...any) error {
	return facts.Refuse(facts.BodyUnreadable, facts.OfInput("body"), detail, args...)
}

// failure keeps the library's words out, since they repeat bytes of the body.
func failure(decoder *jsontext.Decoder) error {
	return unreadable("it is no strict JSON near byte %d", decoder.InputOffset())
}

func decode(decoder *jsontext.Decoder, depth int) (ref.Val, error) {
	token, err := decoder.ReadToken()
	if err != nil {
		return nil, failure(decoder)
	}
	if decoder.StackDepth() > depth {
		return nil, facts.Refuse(facts.BodyTooDeep, facts.OfInput("body"), "more than %d levels at byte %d", depth, decoder.InputOffset())
	}
	switch token.Kind() {
	case 'n':
		return types.NullValue, nil
	case 't', 'f':
		return types.Bool(token.Bool()), nil
	case '"':
		return types.String(token.String()), nil
	case '0':
		return number{token.String()}, nil
	case '[':
		return decodeList(decoder, depth)
	default:
		return decodeObject(decoder, depth)
	}
}

func decodeList(decoder *jsontext.Decoder, depth int) (ref.Val, error) {
	items := []ref.Val{}
	for decoder.PeekKind() != ']' {
		item, err := decode(decoder, depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, failure(decoder)
	}
	return types.NewRefValList(types.DefaultTypeAdapter, items), nil
}

func decodeObject(decoder *jsontext.Decoder, depth int) (ref.Val, error) {
	names, members := []string{}, map[string]ref.Val{}
	for decoder.PeekKind() != '}' {
		token, err := decoder.ReadToken()
		if err != nil {
			return nil, failure(decoder)
		}
		name := token.String()
		member, err := decode(decoder, depth)
		if err != nil {
			return nil, err
		}
		names, members[name] = append(names, name), member
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, failure(decoder)
	}
	return newObject(names, members), nil
}
