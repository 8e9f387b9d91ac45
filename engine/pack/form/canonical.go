package form

import (
	"bytes"
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json/jsontext"
)

// Encode makes the node of a struct: every key that has a value, defaults included. An absent value has no key, and
// an integer is the text of its digits, so that a canonical form is made of texts, lists and maps only.
func Encode(of any) (*Node, error) { return encodeStruct(reflect.ValueOf(of).Elem()) }

func encodeStruct(of reflect.Value) (*Node, error) {
	node := &Node{Kind: Map}
	for i := range of.NumField() {
		rule, ok := ruleOf(of.Type().Field(i))
		if !ok {
			continue
		}
		value, err := encode(of.Field(i))
		if err != nil {
			return nil, errors.Wrapf(err, "key %s", rule.Name)
		}
		if value != nil {
			node.Members = append(node.Members, Member{Name: rule.Name, Value: value})
		}
	}
	return node, nil
}

// encode gives nil for what is absent.
func encode(of reflect.Value) (*Node, error) {
	switch value := of.Addr().Interface().(type) {
	case Reader:
		return textNode(value.ScalarText()), nil
	case encoding.TextMarshaler:
		if of.IsZero() {
			return nil, nil
		}
		text, err := value.MarshalText()
		return textNode(string(text)), err
	case *string:
		return textNode(*value), nil
	case *int64:
		return textNode(strconv.FormatInt(*value, 10)), nil
	}
	switch of.Kind() {
	case reflect.Pointer:
		if of.IsNil() {
			return nil, nil
		}
		return encodeStruct(of.Elem())
	case reflect.Slice:
		if of.Len() == 0 {
			return nil, nil
		}
		list := &Node{Kind: List}
		for i := range of.Len() {
			item, err := encode(of.Index(i))
			if err != nil || item == nil {
				return nil, errors.CombineErrors(err, errors.AssertionFailedf("item %d of a list is absent", i))
			}
			list.Items = append(list.Items, item)
		}
		return list, nil
	default:
		return encodeStruct(of)
	}
}

func textNode(text string) *Node {
	if text == "" {
		return nil
	}
	return &Node{Text: text}
}

// AppendCanonical writes the one form of a node: JSON without blanks, of strings, lists and objects only, the members
// in the byte order of their names, and no character escaped that JSON lets stand. docs/packs.md describes it.
func AppendCanonical(out []byte, node *Node) []byte {
	switch node.Kind {
	case List:
		out = append(out, '[')
		for i, item := range node.Items {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendCanonical(out, item)
		}
		return append(out, ']')
	case Map:
		members := slices.SortedFunc(slices.Values(node.Members), func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendText(out, m.Name), ':')
			out = AppendCanonical(out, m.Value)
		}
		return append(out, '}')
	default:
		return appendText(out, node.Text)
	}
}

// appendText cannot fail: what is read is valid UTF-8.
func appendText(out []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(out, strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		return out
	}
	return quoted
}

// canonicalMaxBytes bounds a stored pack.
const canonicalMaxBytes = 8 << 20

// ReadCanonical reads bytes that AppendCanonical wrote, and refuses all others, another spelling of the same value
// included.
func ReadCanonical(raw []byte) (*Node, error) {
	if len(raw) > canonicalMaxBytes {
		return nil, errors.Newf("%d bytes are no canonical form: the most is %d", len(raw), canonicalMaxBytes)
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(raw))
	node, err := readCanonical(decoder, 0)
	if err != nil {
		return nil, errors.Wrapf(err, "this is no canonical form: byte %d", decoder.InputOffset())
	}
	if again := AppendCanonical(nil, node); !bytes.Equal(again, raw) {
		return nil, errors.Newf("this is no canonical form: it differs from the one spelling at byte %d", firstDifference(again, raw))
	}
	return node, nil
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func readCanonical(decoder *jsontext.Decoder, depth int) (*Node, error) {
	token, err := decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	if depth > depthMax+2 {
		return nil, errors.New("it is nested too deep")
	}
	node := &Node{}
	switch token.Kind() {
	case '"':
		node.Text = token.String()
		return node, nil
	case '[':
		node.Kind = List
		for decoder.PeekKind() != ']' {
			item, err := readCanonical(decoder, depth+1)
			if err != nil {
				return nil, err
			}
			node.Items = append(node.Items, item)
		}
	case '{':
		node.Kind = Map
		for decoder.PeekKind() != '}' {
			name, err := decoder.ReadToken()
			if err != nil {
				return nil, err
			}
			text := name.String()
			value, err := readCanonical(decoder, depth+1)
			if err != nil {
				return nil, err
			}
			node.Members = append(node.Members, Member{Name: text, Value: value})
		}
	default:
		return nil, errors.New("neither a string, a list nor an object")
	}
	_, err = decoder.ReadToken()
	return node, err
}
