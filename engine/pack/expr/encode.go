package expr

import (
	"slices"
	"strconv"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"github.com/go-json-experiment/json/jsontext"

	"connectorcore/facts"
)

// encodeDepthMax bounds what an expression may build.
const encodeDepthMax = 64

// appendJSON writes a value as JSON of one spelling: no blanks, members in the byte order of their names, strings
// with the least escaping, numbers in their exact text. What JSON cannot say is refused with ExpressionTypeDiffers.
func appendJSON(out []byte, value ref.Val, depth int) ([]byte, error) {
	if depth > encodeDepthMax {
		return nil, differs("a value of more than %d levels", encodeDepthMax)
	}
	switch v := value.(type) {
	case types.Null:
		return append(out, "null"...), nil
	case types.Bool:
		return strconv.AppendBool(out, bool(v)), nil
	case types.Int:
		return strconv.AppendInt(out, int64(v), 10), nil
	case types.Uint:
		return strconv.AppendUint(out, uint64(v), 10), nil
	case number:
		return append(out, v.text...), nil
	case types.String:
		return appendText(out, string(v))
	case traits.Lister:
		return appendList(out, v, depth)
	case traits.Mapper:
		return appendMembers(out, v, depth)
	default:
		return nil, differs("%s has no JSON: use text", value.Type().TypeName())
	}
}

func appendText(out []byte, text string) ([]byte, error) {
	quoted, err := jsontext.AppendQuote(out, text)
	if err != nil {
		return nil, differs("a string is no valid UTF-8")
	}
	return quoted, nil
}

func appendList(out []byte, list traits.Lister, depth int) ([]byte, error) {
	out = append(out, '[')
	first := true
	for walk := list.Iterator(); walk.HasNext() == types.True; first = false {
		if !first {
			out = append(out, ',')
		}
		var err error
		if out, err = appendJSON(out, walk.Next(), depth+1); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func appendMembers(out []byte, members traits.Mapper, depth int) ([]byte, error) {
	var names []string
	for walk := members.Iterator(); walk.HasNext() == types.True; {
		name, ok := walk.Next().(types.String)
		if !ok {
			return nil, differs("a member is not named by a string")
		}
		names = append(names, string(name))
	}
	slices.Sort(names) // a map literal gives its names in any order
	out = append(out, '{')
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendText(out, name); err != nil {
			return nil, err
		}
		value, err := memberOf(members, name)
		if err != nil {
			return nil, err
		}
		if out, err = appendJSON(append(out, ':'), value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// memberOf reads a member that is known to exist. Copying an object as it is asks nobody for one of its names, so
// names that differ by case only are no hindrance here.
func memberOf(members traits.Mapper, name string) (ref.Val, error) {
	if o, ours := members.(*object); ours {
		return o.members[name], nil
	}
	value, found := members.Find(types.String(name))
	if !found {
		return nil, differs("the member %q is not readable", name)
	}
	return value, nil
}

// AppendJSON writes the value as JSON of one spelling behind out.
func (v Value) AppendJSON(out []byte) ([]byte, error) { return appendJSON(out, v.val(), 0) }

func differs(detail string, args ...any) error {
	return facts.Refuse(facts.ExpressionTypeDiffers, facts.OfInput("expression"), detail, args...)
}
