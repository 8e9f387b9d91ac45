package house

import (
	"fmt"
	"go/ast"
	"strings"
)

// The budgets. What outgrows one is split by what it is about.
const (
	mostFunctionLines = 70
	mostSourceLines   = 400
	mostTestLines     = 600
	mostPackageLines  = 3000 // of a room or sub-room, without tests and generated files
	mostMethods       = 7
)

var budgetRules = []rule{
	{"function length", checkFunctions},
	{"file length", checkFileLengths},
	{"room length", checkRoomLengths},
	{"interface width", checkInterfaces},
}

func (f *file) lines() int { return strings.Count(f.text, "\n") }

// checkFunctions counts from the word func to the closing brace. A function value at the top of a file is a
// function; one inside another function is part of it.
func checkFunctions(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		if f.isGenerated() {
			continue
		}
		ast.Inspect(f.code, func(node ast.Node) bool {
			switch node.(type) {
			case *ast.FuncDecl, *ast.FuncLit:
			default:
				return true
			}
			length := f.fset.Position(node.End()).Line - f.line(node) + 1
			if length > mostFunctionLines {
				found = append(found, f.at(node, "%d lines, at most %d: give a paragraph of it a name of its own", length, mostFunctionLines))
			}
			return false
		})
	}
	return found
}

func checkFileLengths(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		most := mostSourceLines
		if f.isTest() {
			most = mostTestLines
		}
		if !f.isGenerated() && f.lines() > most {
			found = append(found, breach{f.path, most + 1, fmt.Sprintf(
				"%d lines, at most %d: split by what the parts are about, one noun a file", f.lines(), most)})
		}
	}
	return found
}

func checkRoomLengths(t *tree) []breach {
	var found []breach
	total := map[string]int{}
	for _, f := range t.golang() {
		if f.isGenerated() || f.isTest() {
			continue
		}
		before := total[f.dir()]
		total[f.dir()] += f.lines()
		if before <= mostPackageLines && total[f.dir()] > mostPackageLines {
			found = append(found, breach{f.path, 1, fmt.Sprintf(
				"here %s passes %d lines: split it by what it is about (inbound, outbound), never into leftovers", f.dir(), mostPackageLines)})
		}
	}
	return found
}

// checkInterfaces counts methods, those of embedded interfaces of the same package included. What is embedded from
// elsewhere is not ours to split and does not count: a driver must be wrapped with all that it can do.
func checkInterfaces(t *tree) []breach {
	known := map[string]*ast.InterfaceType{} // by folder and name
	type place struct {
		f    *file
		spec *ast.TypeSpec
	}
	var declared []place
	for _, f := range t.golang() {
		ast.Inspect(f.code, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				if face, ok := spec.Type.(*ast.InterfaceType); ok {
					known[f.dir()+"."+spec.Name.Name] = face
					declared = append(declared, place{f, spec})
				}
			}
			return true
		})
	}
	var count func(dir string, face *ast.InterfaceType, depth int) int
	count = func(dir string, face *ast.InterfaceType, depth int) int {
		sum := 0
		for _, field := range face.Methods.List {
			name, embedded := field.Type.(*ast.Ident)
			inner := known[dir+"."+identName(name, embedded)]
			switch {
			case len(field.Names) > 0:
				sum += len(field.Names)
			case inner != nil && depth < 10:
				sum += count(dir, inner, depth+1)
			}
		}
		return sum
	}
	var found []breach
	for _, p := range declared {
		width := count(p.f.dir(), p.spec.Type.(*ast.InterfaceType), 0)
		if width > mostMethods && !p.f.isGenerated() {
			found = append(found, p.f.at(p.spec, "%s has %d methods, at most %d: split it by who calls it", p.spec.Name.Name, width, mostMethods))
		}
	}
	return found
}

func identName(ident *ast.Ident, ok bool) string {
	if !ok {
		return ""
	}
	return ident.Name
}
