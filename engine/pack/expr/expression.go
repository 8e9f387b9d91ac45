package expr

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
	"github.com/cockroachdb/errors"

	"connectorcore/engine/pack/form"
	"connectorcore/facts"
)

// Expression is one expression of a definition: its source as it is frozen, and what evaluates it. The zero
// Expression is an absent one.
type Expression struct {
	source  string
	path    string
	result  Result
	ast     *cel.Ast
	program cel.Program
}

// Inputs are the variables of an evaluation by name, exactly those of the expression's scope.
type Inputs map[string]Value

// IsZero tells whether there is no expression.
func (e *Expression) IsZero() bool { return e.source == "" }

// ScalarText is the frozen source.
func (e *Expression) ScalarText() string { return e.source }

// ParseScalar compiles a source. The rule's option expr is SCOPE/RESULT.
func (e *Expression) ParseScalar(text string, rule form.Rule) *form.Complaint {
	scope, result, _ := strings.Cut(rule.Option("expr"), "/")
	made, complaint := New(Scope(scope), Result(result), rule.Path, text)
	if complaint != nil {
		return complaint
	}
	*e = *made
	return nil
}

// New compiles a source which stands at a path. Blanks around it are no part of it.
func New(scope Scope, result Result, path, text string) (*Expression, *form.Complaint) {
	source := strings.TrimSpace(text)
	if source == "" {
		return nil, &form.Complaint{What: "the expression is empty", Hint: "leave the key out, or write an expression"}
	}
	checked, complaint := compiled(source, scope, result)
	if complaint != nil {
		return nil, complaint
	}
	return &Expression{source: source, path: path, result: result, ast: checked}, nil
}

// Names tells whether a text stands in the expression as a constant or as a member: whether it may read what is called so.
func (e *Expression) Names(text string) bool {
	if e.IsZero() {
		return false
	}
	found := false
	ast.PreOrderVisit(e.ast.NativeRep().Expr(), ast.NewExprVisitor(func(part ast.Expr) {
		switch part.Kind() {
		case ast.LiteralKind:
			found = found || part.AsLiteral().Value() == any(text)
		case ast.SelectKind:
			found = found || part.AsSelect().FieldName() == text
		}
	}))
	return found
}

// Bind makes the expression ready to run under a cost limit. An expression without one never runs.
func (e *Expression) Bind(cost int64) error {
	if e.IsZero() {
		return nil
	}
	all, err := environments()
	if err != nil {
		return err
	}
	scope := all[Constant] // a program takes its functions from the environment, and its variables from its inputs
	e.program, err = scope.Program(e.ast, cel.CostLimit(uint64(cost)), cel.CostTracking(charge{}))
	return errors.Wrapf(err, "the expression %s", e.path)
}

// charge counts the pack functions by the bytes that they read and write; the standard ones are counted by the
// library.
type charge struct{}

const bytesForOne = 16 // bytes that cost 1

func (charge) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	if !isOurs[function] {
		return nil
	}
	cost := uint64(1)
	for _, value := range append(args[:len(args):len(args)], result) {
		if sized, ok := value.(traits.Sizer); ok {
			if size, ok := sized.Size().(types.Int); ok {
				cost += uint64(size) / bytesForOne
			}
		}
	}
	return &cost
}

var isOurs = func() map[string]bool {
	ours := map[string]bool{}
	for _, name := range Functions() {
		ours[name] = true
	}
	return ours
}()

// run evaluates. Whatever goes wrong is a refusal that names the expression's place and repeats no byte of the input.
func (e *Expression) run(in Inputs) (ref.Val, error) {
	if e.program == nil {
		return nil, errors.AssertionFailedf("the expression %q was not bound", e.path)
	}
	variables := make(map[string]any, len(in))
	for name, value := range in {
		variables[name] = value.val()
	}
	value, _, err := e.program.Eval(variables)
	if err == nil {
		return value, nil
	}
	var own *facts.Refusal
	var cancelled interpreter.EvalCancelledError
	switch {
	case errors.As(err, &own):
		return nil, e.refuse(own.Code, "%s", own.Detail)
	case errors.As(err, &cancelled):
		return nil, e.refuse(facts.ExpressionTooCostly, "")
	default:
		kind, _, _ := strings.Cut(err.Error(), ":")
		return nil, e.refuse(facts.ExpressionFailed, "%s", kind)
	}
}

func (e *Expression) refuse(code facts.Code, detail string, args ...any) error {
	return facts.Refuse(code, facts.OfInput(e.path), detail, args...)
}

func (e *Expression) mistyped(value ref.Val) error {
	return e.refuse(facts.ExpressionTypeDiffers, "it gave a %s where %s is wanted", value.Type().TypeName(), e.result)
}

// Bool evaluates a condition.
func (e *Expression) Bool(in Inputs) (bool, error) {
	value, err := e.run(in)
	if err != nil {
		return false, err
	}
	truth, ok := value.(types.Bool)
	if !ok {
		return false, e.mistyped(value)
	}
	return bool(truth), nil
}

// Text evaluates a string.
func (e *Expression) Text(in Inputs) (string, error) {
	value, err := e.run(in)
	if err != nil {
		return "", err
	}
	text, ok := value.(types.String)
	if !ok {
		return "", e.mistyped(value)
	}
	return string(text), nil
}

// Position evaluates a place in an order.
func (e *Expression) Position(in Inputs) (facts.SourcePosition, error) {
	value, err := e.run(in)
	if err != nil {
		return facts.SourcePosition{}, err
	}
	place, ok := value.(position)
	if !ok {
		return facts.SourcePosition{}, e.mistyped(value)
	}
	return place.of, nil
}

// JSON evaluates anything and writes it as JSON of one spelling: no blanks, members in the byte order of their
// names, numbers of the payload in their exact text.
func (e *Expression) JSON(in Inputs) ([]byte, error) {
	value, err := e.run(in)
	if err != nil {
		return nil, err
	}
	encoded, err := appendJSON(nil, value, 0)
	return encoded, e.placed(err)
}

// placed moves a refusal to the expression's place.
func (e *Expression) placed(err error) error {
	var own *facts.Refusal
	if errors.As(err, &own) {
		return e.refuse(own.Code, "%s", own.Detail)
	}
	return err
}

// EvalKey evaluates a key of facts: a string as it is, or the exact text of a number that is a plain integer.
func EvalKey[K facts.AnyKey](e *Expression, in Inputs, longest int64) (key K, err error) {
	value, err := e.run(in)
	if err != nil {
		return key, err
	}
	text := fmt.Sprint(value.Value())
	switch value.(type) {
	case types.String:
		key, err = facts.ParseKey[K](text)
	case number:
		key, err = facts.ParseNumberKey[K](text)
	default:
		return key, e.mistyped(value)
	}
	if err == nil && int64(len(text)) > longest {
		var none K
		return none, e.refuse(facts.KeyNotCanonical, "it is %d bytes long and may be %d", len(text), longest)
	}
	return key, e.placed(err)
}
