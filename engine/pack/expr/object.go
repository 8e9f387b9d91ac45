package expr

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"github.com/cockroachdb/errors"
)

// object is a JSON object whose members are always visited in the byte order of their names.
//
// A name is found by its exact bytes. Where another name of the same object differs from it by letter case only, the
// two are one name to many readers; asking for either is refused, so that nothing is ever keyed by the wrong one.
type object struct {
	names     []string // sorted
	members   map[string]ref.Val
	ambiguous map[string]string // a name, and the other that it may be taken for; nil in nearly every object
}

var _ traits.Mapper = (*object)(nil)

func newObject(names []string, members map[string]ref.Val) *object {
	slices.Sort(names)
	o := &object{names: names, members: members}
	folded := make(map[string]string, len(names))
	for _, name := range names {
		key := folding(name)
		if other, taken := folded[key]; taken {
			if o.ambiguous == nil {
				o.ambiguous = map[string]string{}
			}
			o.ambiguous[name], o.ambiguous[other] = other, name
		}
		folded[key] = name
	}
	return o
}

// folding maps every letter to the first one of its simple case folding.
func folding(name string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return unicode.ToUpper(r)
		}
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}

func (o *object) Type() ref.Type { return types.MapType }
func (o *object) Value() any     { return o.members }

// Find is how CEL selects a member.
func (o *object) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.NewErr("a member is named by a string: %s", key.Type().TypeName()), false
	}
	if other, twice := o.ambiguous[string(name)]; twice {
		return types.NewErr("ambiguous member: %q stands beside %q", other, string(name)), false
	}
	value, found := o.members[string(name)]
	return value, found
}

func (o *object) Get(index ref.Val) ref.Val {
	value, found := o.Find(index)
	if found || value != nil {
		return value
	}
	return types.NewErr("no such key: %v", index.Value())
}

func (o *object) Contains(key ref.Val) ref.Val {
	value, found := o.Find(key)
	if value != nil && types.IsError(value) {
		return value
	}
	return types.Bool(found)
}

func (o *object) Size() ref.Val { return types.Int(len(o.names)) }

func (o *object) Iterator() traits.Iterator { return &names{rest: o.names} }

func (o *object) Equal(other ref.Val) ref.Val {
	that, ok := other.(*object)
	if !ok || !slices.Equal(o.names, that.names) {
		return types.False
	}
	for _, name := range o.names {
		if types.Equal(o.members[name], that.members[name]) != types.True {
			return types.False
		}
	}
	return types.True
}

func (o *object) ConvertToNative(desc reflect.Type) (any, error) {
	return nil, errors.AssertionFailedf("an object was converted to %s outside of this package", desc)
}

func (o *object) ConvertToType(to ref.Type) ref.Val { return convertedTo(types.MapType, o, to) }

// names walks an object.
type names struct{ rest []string }

func (n *names) HasNext() ref.Val { return types.Bool(len(n.rest) > 0) }

func (n *names) Next() ref.Val {
	if len(n.rest) == 0 {
		return nil
	}
	name := n.rest[0]
	n.rest = n.rest[1:]
	return types.String(name)
}

func (n *names) Type() ref.Type        { return types.IteratorType }
func (n *names) Value() any            { return nil }
func (n *names) Equal(ref.Val) ref.Val { return types.False }

func (n *names) ConvertToNative(desc reflect.Type) (any, error) {
	return nil, errors.AssertionFailedf("an iterator was converted to %s", desc)
}

func (n *names) ConvertToType(to ref.Type) ref.Val { return convertedTo(types.IteratorType, n, to) }
