package house

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

var nameRules = []rule{
	{"no vague names", checkVague},
	{"typed ids in exported signatures", checkBareIDs},
	{"generated files say so", checkGeneratedHeader},
}

// vague are words that say nothing about what a thing does.
var vague = []string{"manager", "service", "helper", "helpers", "util", "utils", "common", "misc"}

// specNouns hold such a word because the normative text does.
var specNouns = []string{"ConnectorServiceConfiguration", "ServiceConfiguration", "serviceConfiguration"}

var words = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// vagueWord returns the vague word in a name, if there is one.
func vagueWord(name string) string {
	for _, noun := range specNouns {
		name = strings.ReplaceAll(name, noun, "")
	}
	for _, word := range words.FindAllString(name, -1) {
		if slices.Contains(vague, strings.ToLower(word)) {
			return word
		}
	}
	return ""
}

func checkVague(t *tree) []breach {
	const instead = "%s: %q says nothing; name the thing after what it holds or does"
	var found []breach
	for _, f := range t.golang() {
		base := strings.TrimSuffix(path.Base(f.path), ".go")
		if word := vagueWord(base); word != "" {
			found = append(found, breach{f.path, 1, fmt.Sprintf(instead, base, word)})
		}
		if word := vagueWord(f.code.Name.Name); word != "" {
			found = append(found, f.at(f.code.Name, instead, f.code.Name.Name, word))
		}
		ast.Inspect(f.code, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				if word := vagueWord(spec.Name.Name); word != "" {
					found = append(found, f.at(spec, instead, spec.Name.Name, word))
				}
			}
			return true
		})
	}
	return found
}

// identity is a parameter that names a row, a key or a digest.
var identity = regexp.MustCompile(`^(id|ids|key|keys|digest|digests|locator|locators)$|(ID|IDs|Id|Ids|Key|Keys|Digest|Digests|Locator|Locators)$`)

// typedRooms are the rooms whose exported signatures carry typed ids.
var typedRooms = []string{"facts", "schema", "readers", "ledger", "engine"}

// checkBareIDs looks at parameters and named results of exported functions, methods and interface methods.
func checkBareIDs(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		if f.isTest() || f.isGenerator() || !slices.Contains(typedRooms, f.room()) {
			continue
		}
		for _, signature := range f.exported() {
			for _, list := range []*ast.FieldList{signature.Params, signature.Results} {
				for _, name := range bareIDs(list) {
					found = append(found, f.at(name, "%s has no kind: take a typed id, key or digest of facts "+
						"(what parses raw text calls it text or raw)", name.Name))
				}
			}
		}
	}
	return found
}

// exported lists the signatures that another room can see.
func (f *file) exported() []*ast.FuncType {
	var all []*ast.FuncType
	for _, decl := range f.code.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv.List[0].Type)) {
				all = append(all, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if named, ok := spec.(*ast.TypeSpec); ok && named.Name.IsExported() {
					all = append(all, methods(named.Type)...)
				}
			}
		}
	}
	return all
}

func methods(expr ast.Expr) []*ast.FuncType {
	var all []*ast.FuncType
	switch x := expr.(type) {
	case *ast.FuncType:
		all = append(all, x)
	case *ast.InterfaceType:
		for _, field := range x.Methods.List {
			signature, ok := field.Type.(*ast.FuncType)
			if ok && len(field.Names) > 0 && field.Names[0].IsExported() {
				all = append(all, signature)
			}
		}
	}
	return all
}

func exportedReceiver(expr ast.Expr) bool {
	switch x := expr.(type) {
	case *ast.StarExpr:
		return exportedReceiver(x.X)
	case *ast.IndexExpr:
		return exportedReceiver(x.X)
	case *ast.IndexListExpr:
		return exportedReceiver(x.X)
	case *ast.Ident:
		return x.IsExported()
	}
	return false
}

func bareIDs(list *ast.FieldList) []*ast.Ident {
	var bare []*ast.Ident
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			if identity.MatchString(name.Name) && isBare(field.Type) {
				bare = append(bare, name)
			}
		}
	}
	return bare
}

// isBare tells whether a type is string, []byte, or a slice or a variable number of them.
func isBare(expr ast.Expr) bool {
	switch x := expr.(type) {
	case *ast.Ident:
		return x.Name == "string"
	case *ast.Ellipsis:
		return isBare(x.Elt)
	case *ast.ArrayType:
		element, ok := x.Elt.(*ast.Ident)
		return ok && element.Name == "byte" && x.Len == nil || isBare(x.Elt)
	}
	return false
}

var generatedLine = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// checkGeneratedHeader keeps name and header together: the name frees a file of budgets, the header tells tools.
func checkGeneratedHeader(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		said := generatedLine.MatchString(f.text)
		if f.isGenerated() && !said {
			found = append(found, breach{f.path, 1, "its name says generated: begin it with `// Code generated by ... DO NOT EDIT.`, or rename it"})
		}
		if said && !f.isGenerated() && !under(f, "proptest/house") {
			found = append(found, breach{f.path, 1, "it is generated: let its name end in _gen.go, so that the budgets know"})
		}
	}
	return found
}
