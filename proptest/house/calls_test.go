package house

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

var callRules = []rule{
	{"one clock", checkClock},
	{"no sleep but in a poll", checkSleep},
	{"no untyped decoding", checkUntyped},
	{"one error library", checkErrors},
	{"no panic", checkPanic},
	{"only engine and cmd log", checkLogs},
	{"only cmd exits", checkExit},
	{"only txn holds a transaction", checkTransactions},
}

// clockFile is the one place that reads the system's clock.
const clockFile = "facts/clock.go"

// mayWait are the places, besides tests, that may measure time because a process takes time: they wait for it, and
// never decide by the clock whether something is safe.
var mayWait = map[string]string{
	"engine/embedded": "waits for tidb-server to be ready and to end",
	"cmd":             "tells a person how long something takes",
	"proptest":        "bounds how long a test waits",
	"tools":           "bounds how long a tool waits",
}

func under(f *file, folder string) bool { return strings.HasPrefix(f.path, folder+"/") }

func checkClock(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		allowed := f.path == clockFile || f.isTest()
		for folder := range mayWait {
			allowed = allowed || under(f, folder)
		}
		if allowed {
			continue
		}
		for _, use := range f.uses("time", "Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick") {
			found = append(found, f.at(use, "time.%s: take a facts.Clock; due times are ordered by the database's clock", use.Sel.Name))
		}
	}
	return found
}

// checkSleep finds pauses that stand for a signal. Inside a loop a pause is a poll, which ends by what it sees.
func checkSleep(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		var loops []ast.Node
		ast.Inspect(f.code, func(node ast.Node) bool {
			switch node.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				loops = append(loops, node)
			}
			return true
		})
		for _, use := range f.uses("time", "Sleep") {
			inLoop := slices.ContainsFunc(loops, func(loop ast.Node) bool { return loop.Pos() < use.Pos() && use.Pos() < loop.End() })
			if !inLoop || !f.isHarness() && !under(f, "engine/embedded") && !under(f, "cmd") {
				found = append(found, f.at(use, "time.Sleep: wait for a signal, or poll with a deadline (in the product: by the clock port)"))
			}
		}
	}
	return found
}

// checkUntyped finds decoding into any, map[string]any and the like, as far as one file shows what a name is.
func checkUntyped(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		ast.Inspect(f.code, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || selector.Sel.Name != "Decode" && !strings.HasPrefix(selector.Sel.Name, "Unmarshal") {
				return true
			}
			if slices.ContainsFunc(call.Args, isUntyped) {
				found = append(found, f.at(call, "%s into an untyped value: numbers and duplicate keys are lost there; decode into a struct, or read tokens", selector.Sel.Name))
			}
			return true
		})
	}
	return found
}

// isUntyped tells whether an expression or a type is any, or is made of any.
func isUntyped(expr ast.Expr) bool {
	switch x := expr.(type) {
	case *ast.InterfaceType:
		return len(x.Methods.List) == 0
	case *ast.MapType:
		return isUntyped(x.Value)
	case *ast.ArrayType:
		return isUntyped(x.Elt)
	case *ast.StarExpr:
		return isUntyped(x.X)
	case *ast.UnaryExpr:
		return x.Op == token.AND && isUntyped(x.X)
	case *ast.CompositeLit:
		return x.Type != nil && isUntyped(x.Type)
	case *ast.CallExpr: // new(any), make(map[string]any)
		maker, ok := x.Fun.(*ast.Ident)
		return ok && (maker.Name == "new" || maker.Name == "make") && len(x.Args) > 0 && isUntyped(x.Args[0])
	case *ast.Ident:
		if x.Name == "any" {
			return true
		}
		return x.Obj != nil && declaredUntyped(x.Obj)
	}
	return false
}

func declaredUntyped(object *ast.Object) bool {
	switch decl := object.Decl.(type) {
	case *ast.ValueSpec:
		if decl.Type != nil {
			return isUntyped(decl.Type)
		}
		for i, name := range decl.Names {
			if name.Name == object.Name && i < len(decl.Values) {
				return isUntyped(decl.Values[i])
			}
		}
	case *ast.AssignStmt:
		for i, left := range decl.Lhs {
			name, ok := left.(*ast.Ident)
			self := ok && i < len(decl.Rhs) && mentions(decl.Rhs[i], object)
			if ok && name.Name == object.Name && len(decl.Lhs) == len(decl.Rhs) && !self {
				return isUntyped(decl.Rhs[i])
			}
		}
	}
	return false // a parameter of type any is the caller's business: database/sql asks for one
}

func mentions(expr ast.Expr, object *ast.Object) bool {
	found := false
	ast.Inspect(expr, func(node ast.Node) bool {
		ident, ok := node.(*ast.Ident)
		found = found || ok && ident.Obj == object
		return !found
	})
	return found
}

// checkErrors leaves the nested modules and the generators to the standard library: they are never shipped, and a
// generator must run when nothing else compiles.
func checkErrors(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		if f.isNested() || f.isGenerator() {
			continue
		}
		for _, spec := range f.code.Imports {
			if path := strings.Trim(spec.Path.Value, `"`); path == "errors" || path == "github.com/pkg/errors" {
				found = append(found, f.at(spec, "%s: use github.com/cockroachdb/errors (New, Newf, Wrapf, AssertionFailedf, Is)", path))
			}
		}
		for _, use := range f.uses("fmt", "Errorf") {
			found = append(found, f.at(use, "fmt.Errorf: use errors.Newf or errors.Wrapf of github.com/cockroachdb/errors"))
		}
	}
	return found
}

func checkPanic(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		if f.isHarness() {
			continue
		}
		ast.Inspect(f.code, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok {
				if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "panic" && name.Obj == nil {
					found = append(found, f.at(call, "panic: return errors.AssertionFailedf, which rolls back and says what was broken"))
				}
			}
			return true
		})
	}
	return found
}

func checkLogs(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		if f.isHarness() || f.isGenerator() || f.room() == "engine" || f.room() == "cmd" || f.room() == "examples" {
			continue
		}
		for _, spec := range f.code.Imports {
			if path := strings.Trim(spec.Path.Value, `"`); path == "log" || path == "log/slog" {
				found = append(found, f.at(spec, "%s: return the error or a value; only engine and cmd speak to an operator", path))
			}
		}
		for _, use := range f.uses("fmt", "Print", "Printf", "Println") {
			found = append(found, f.at(use, "fmt.%s: return the text; only engine and cmd speak to an operator", use.Sel.Name))
		}
	}
	return found
}

func checkExit(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		if f.isHarness() || f.isGenerator() || f.room() == "cmd" || f.room() == "examples" {
			continue
		}
		ends := append(f.uses("os", "Exit"), f.uses("log", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln")...)
		for _, use := range ends {
			found = append(found, f.at(use, "%s: return an error, so that deferred work is done and cmd chooses the exit code", use.Sel.Name))
		}
	}
	return found
}

const kernel = "ledger/internal/txn"

// checkTransactions finds the type and the calls that make one: a transaction that is handed around gets committed
// by somebody who should not.
func checkTransactions(t *tree) []breach {
	const instead = "%s: write a protocol transaction of ledger; only ledger/internal/txn begins, holds and ends one"
	var found []breach
	for _, f := range t.golang() {
		if f.isHarness() || under(f, kernel) || f.room() == "examples" {
			continue
		}
		for _, use := range f.uses("database/sql", "Tx") {
			found = append(found, f.at(use, instead, "sql.Tx"))
		}
		ast.Inspect(f.code, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if ok && (selector.Sel.Name == "BeginTx" || selector.Sel.Name == "Begin" && len(call.Args) == 0) {
				found = append(found, f.at(call, instead, selector.Sel.Name))
			}
			return true
		})
	}
	return found
}
