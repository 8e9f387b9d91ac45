package expr

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"connectorcore/engine/pack/form"
)

// Result is what an expression must give.
type Result string

// The results.
const (
	Bool     Result = "bool"
	Str      Result = "text"     // a string
	Key      Result = "key"      // a string, or a number of the payload that is a plain integer
	Position Result = "position" // what integer, decimal, time, opaque or tuple gives
	JSON     Result = "json"     // anything that JSON can say
)

var resultTypes = map[Result][]*types.Type{
	Bool:     {types.BoolType},
	Str:      {types.StringType, types.DynType},
	Key:      {types.StringType, types.DynType},
	Position: {positionType},
}

var resultHints = map[Result]string{
	Bool:     "compare: payload.draft == true",
	Str:      "use text(x) for a number of the payload",
	Key:      "name a member of the payload, or make a string of one by text, trim or nfc",
	Position: `use integer(x), decimal(x), time(x, "rfc3339"), opaque(x), or tuple([...]) of them`,
	JSON:     "use text(x) for what JSON cannot say",
}

// compiled checks a source in its scope: its syntax, its types, and what the types do not show.
func compiled(source string, scope Scope, result Result) (*cel.Ast, *form.Complaint) {
	all, err := environments()
	if err != nil {
		return nil, &form.Complaint{What: err.Error(), Hint: "report it: it is a defect of ours"}
	}
	checked, issues := all[scope].Compile(source)
	if issues.Err() != nil {
		return nil, complaint(issues, scope)
	}
	if found := forbidden(checked.NativeRep()); found != nil {
		return nil, found
	}
	if !gives(checked.OutputType(), result) {
		return nil, &form.Complaint{
			What: fmt.Sprintf("the expression gives %s where %s is wanted", checked.OutputType(), result), Hint: resultHints[result]}
	}
	return checked, nil
}

// complaint keeps the first issue of the library, in one line.
func complaint(issues *cel.Issues, scope Scope) *form.Complaint {
	first := issues.Errors()[0]
	what := strings.ReplaceAll(strings.TrimSpace(first.Message), "\n", " ")
	hint := scope.describe()
	for _, name := range withheld {
		if strings.Contains(what, "reference to '"+name+"'") {
			hint = "packs have no " + name + "(): use integer, decimal, time or text, which are exact"
		}
	}
	return &form.Complaint{What: fmt.Sprintf("column %d of the expression: %s", first.Location.Column()+1, what), Hint: hint}
}

func gives(output *types.Type, result Result) bool {
	wanted, closed := resultTypes[result]
	if !closed {
		return output.Kind() != types.DoubleKind && output.Kind() != types.BytesKind && !output.IsExactType(positionType)
	}
	for _, one := range wanted {
		if output.IsExactType(one) {
			return true
		}
	}
	return false
}

// forbidden finds what has types and still is not exact or not the same in every run.
func forbidden(tree *ast.AST) *form.Complaint {
	var found *form.Complaint
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if found != nil {
			return
		}
		switch e.Kind() {
		case ast.LiteralKind:
			if _, double := e.AsLiteral().(types.Double); double {
				found = &form.Complaint{What: "a number with a point or an exponent is inexact", Hint: `write decimal("1.5")`}
			}
		case ast.ComprehensionKind:
			if holdsMap(e.AsComprehension().IterRange()) {
				found = &form.Complaint{What: "the members of a map literal have no fixed order, so nothing may walk over one",
					Hint: "walk over a list, or over a value of the payload"}
			}
		case ast.ListKind:
			found = mixedList(tree, e.AsList())
		case ast.CallKind:
			found = looseComparison(tree, e.AsCall())
		}
	}))
	return found
}

// holdsMap tells whether a map literal stands anywhere in what is walked over. A variable can hold one only if an
// outer walk took it from such a place, and that walk is refused itself.
func holdsMap(walked ast.Expr) bool {
	found := false
	ast.PreOrderVisit(walked, ast.NewExprVisitor(func(e ast.Expr) { found = found || e.Kind() == ast.MapKind }))
	return found
}

// looseComparison finds a number of the payload, whose type nobody knows, beside an int: they are never equal, which
// nobody who writes payload.count == 5 expects.
func looseComparison(tree *ast.AST, call ast.CallExpr) *form.Complaint {
	switch call.FunctionName() {
	case operators.Equals, operators.NotEquals, operators.In:
	default:
		return nil
	}
	left, right := tree.GetType(call.Args()[0].ID()), tree.GetType(call.Args()[1].ID())
	if call.FunctionName() == operators.In && len(right.Parameters()) > 0 {
		right = right.Parameters()[0]
	}
	if isInt(left) && isDyn(right) || isInt(right) && isDyn(left) {
		return &form.Complaint{What: "a number of the payload is compared with an int, and is equal to none",
			Hint: "write integer(payload.count) == integer(5), or compare text(payload.count)"}
	}
	return nil
}

// mixedList finds an int beside something else, for the same reason: its type is lost to the check of comparisons.
func mixedList(tree *ast.AST, list ast.ListExpr) *form.Complaint {
	ints := 0
	for _, element := range list.Elements() {
		if isInt(tree.GetType(element.ID())) {
			ints++
		}
	}
	if ints == 0 || ints == list.Size() {
		return nil
	}
	return &form.Complaint{What: "a list holds ints beside other values", Hint: "write text(5), or keep the ints in a list of their own"}
}

func isInt(t *types.Type) bool { return t.IsExactType(types.IntType) || t.IsExactType(types.UintType) }
func isDyn(t *types.Type) bool { return t.Kind() == types.DynKind }
