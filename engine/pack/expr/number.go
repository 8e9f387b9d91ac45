package expr

import (
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"github.com/cockroachdb/errors"

	"connectorcore/facts"
)

// The opaque types that expressions see beside those of CEL.
var (
	numberType   = types.NewOpaqueType("number")
	positionType = types.NewOpaqueType("position")
)

// number is a JSON number as its author wrote it. It has no arithmetic and no order: integer, decimal, time and text
// give it a type. Two numbers are equal if they are spelled alike, so 1000, 1000.0 and 1e3 are three numbers.
type number struct{ text string }

func (n number) Type() ref.Type { return numberType }
func (n number) Value() any     { return n.text }

func (n number) Equal(other ref.Val) ref.Val {
	that, ok := other.(number)
	return types.Bool(ok && that == n)
}

func (n number) ConvertToNative(desc reflect.Type) (any, error) {
	return nil, errors.AssertionFailedf("a number was converted to %s outside of this package", desc)
}

func (n number) ConvertToType(to ref.Type) ref.Val { return convertedTo(numberType, n, to) }

// position is a typed place in an order: what integer, decimal, time, opaque and tuple give.
type position struct{ of facts.SourcePosition }

func (p position) Type() ref.Type { return positionType }
func (p position) Value() any     { return p.of }

func (p position) Equal(other ref.Val) ref.Val {
	that, ok := other.(position)
	return types.Bool(ok && that == p)
}

func (p position) ConvertToNative(desc reflect.Type) (any, error) {
	return nil, errors.AssertionFailedf("a position was converted to %s outside of this package", desc)
}

func (p position) ConvertToType(to ref.Type) ref.Val { return convertedTo(positionType, p, to) }

func convertedTo(own *types.Type, value ref.Val, to ref.Type) ref.Val {
	switch to {
	case own:
		return value
	case types.TypeType:
		return own
	}
	return types.NewErr("%s is not convertible to %s: use text, integer, decimal or time", own.TypeName(), to.TypeName())
}
