package expr

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"connectorcore/facts"
)

// packFunctions are the functions of packs. Each is pure, and each is charged by the size of what it reads.
var packFunctions = []cel.EnvOption{
	cel.Function("integer", typed("integer_dyn", facts.ParseIntegerPosition)),
	cel.Function("decimal", typed("decimal_dyn", facts.ParseDecimalPosition)),
	cel.Function("opaque", cel.Overload("opaque_string", []*cel.Type{cel.StringType}, positionType,
		cel.UnaryBinding(func(text ref.Val) ref.Val { return placed(facts.BytesPosition([]byte(text.(types.String)))) }))),
	cel.Function("time", cel.Overload("time_dyn_string", []*cel.Type{cel.DynType, cel.StringType}, positionType,
		cel.BinaryBinding(timeOf))),
	cel.Function("tuple", cel.Overload("tuple_list", []*cel.Type{cel.ListType(positionType)}, positionType,
		cel.UnaryBinding(tupleOf))),
	cel.Function("text", cel.Overload("text_dyn", []*cel.Type{cel.DynType}, cel.StringType, cel.UnaryBinding(textOf))),
	cel.Function("pointer",
		cel.Overload("pointer_dyn_string", []*cel.Type{cel.DynType, cel.StringType}, cel.DynType,
			cel.BinaryBinding(func(from, path ref.Val) ref.Val { return follow(from, path, nil) })),
		cel.Overload("pointer_dyn_string_dyn", []*cel.Type{cel.DynType, cel.StringType, cel.DynType}, cel.DynType,
			cel.FunctionBinding(func(args ...ref.Val) ref.Val { return follow(args[0], args[1], args[2]) }))),
	cel.Function("concat", cel.Overload("concat_list", []*cel.Type{cel.ListType(cel.StringType)}, cel.StringType,
		cel.UnaryBinding(concatOf))),
	ofText("nfc", norm.NFC.String),
	ofText("trim", strings.TrimSpace),
	ofText("lower", lowerASCII),
	ofText("hex", func(text string) string { return hex.EncodeToString([]byte(text)) }),
	ofText("base64", func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }),
	ofText("sha256", func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}),
}

// Functions lists the names of the pack functions, for docs/packs.md and its test.
func Functions() []string {
	return []string{"integer", "decimal", "opaque", "time", "tuple", "text", "pointer", "concat",
		"nfc", "trim", "lower", "hex", "base64", "sha256"}
}

func ofText(name string, apply func(string) string) cel.EnvOption {
	return cel.Function(name, cel.Overload(name+"_string", []*cel.Type{cel.StringType}, cel.StringType,
		cel.UnaryBinding(func(text ref.Val) ref.Val { return types.String(apply(string(text.(types.String)))) })))
}

func typed(overload string, parse func(string) (facts.SourcePosition, error)) cel.FunctionOpt {
	return cel.Overload(overload, []*cel.Type{cel.DynType}, positionType, cel.UnaryBinding(func(value ref.Val) ref.Val {
		text, err := spelled(value)
		if err != nil {
			return types.WrapErr(err)
		}
		return placed(parse(text))
	}))
}

// spelled is the text of what may be typed: a number of a payload, a string, or an int of the expression's own.
func spelled(value ref.Val) (string, error) {
	switch v := value.(type) {
	case number:
		return v.text, nil
	case types.String:
		return string(v), nil
	case types.Int:
		return strconv.FormatInt(int64(v), 10), nil
	default:
		return "", differs("a %s is neither a number nor a string", value.Type().TypeName())
	}
}

func placed(of facts.SourcePosition, err error) ref.Val {
	if err != nil {
		return types.WrapErr(err)
	}
	return position{of}
}

func timeOf(value, name ref.Val) ref.Val {
	text, err := spelled(value)
	if err != nil {
		return types.WrapErr(err)
	}
	format, err := facts.ParseTimeFormat(string(name.(types.String)))
	if err != nil {
		return types.WrapErr(err)
	}
	return placed(facts.ParseTimePosition(format, text))
}

func tupleOf(list ref.Val) ref.Val {
	var elements []facts.SourcePosition
	for walk := list.(traits.Lister).Iterator(); walk.HasNext() == types.True; {
		element, ok := walk.Next().(position)
		if !ok {
			return types.WrapErr(differs("a tuple is made of positions"))
		}
		elements = append(elements, element.of)
	}
	return placed(facts.TuplePosition(elements...))
}

func textOf(value ref.Val) ref.Val {
	if truth, ok := value.(types.Bool); ok {
		return types.String(strconv.FormatBool(bool(truth)))
	}
	text, err := spelled(value)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.String(text)
}

func concatOf(list ref.Val) ref.Val {
	var out strings.Builder
	for walk := list.(traits.Lister).Iterator(); walk.HasNext() == types.True; {
		text, ok := walk.Next().(types.String)
		if !ok {
			return types.WrapErr(differs("concat joins strings: use text"))
		}
		out.WriteString(string(text))
	}
	return types.String(out.String())
}

func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// follow walks a JSON Pointer. Where it leads nowhere the fallback stands in, if there is one; an ambiguous name has
// no fallback.
func follow(from, path, fallback ref.Val) ref.Val {
	way := jsontext.Pointer(path.(types.String))
	if !way.IsValid() {
		return types.WrapErr(differs("%q is no JSON Pointer", string(way)))
	}
	at := from
	for token := range way.Tokens() {
		next := step(at, token)
		if next != nil && types.IsError(next) {
			return next
		}
		if next == nil {
			if fallback != nil {
				return fallback
			}
			return types.NewErr("the pointer leads to nothing: %q", string(way))
		}
		at = next
	}
	return at
}

// step gives nil where there is nothing.
func step(from ref.Val, token string) ref.Val {
	switch at := from.(type) {
	case traits.Mapper:
		value, found := at.Find(types.String(token))
		if value != nil && types.IsError(value) || found {
			return value
		}
	case traits.Lister:
		index, err := strconv.ParseUint(token, 10, 31)
		if err == nil && strconv.FormatUint(index, 10) == token && types.Int(index) < at.Size().(types.Int) {
			return at.Get(types.Int(index))
		}
	}
	return nil
}
