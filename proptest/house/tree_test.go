package house

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "connectorcore"

// tree is the repository as the rules see it: tracked and untracked files that are not ignored.
type tree struct {
	files  []*file // by path
	matrix string  // the table of claims beside the repository, "" where it is not present
}

// file is one text file.
type file struct {
	path string // from the root, with slashes
	text string
	fset *token.FileSet
	code *ast.File // nil unless it is Go
}

// breach is one place where a rule is not kept.
type breach struct {
	path    string
	line    int
	instead string // what to write instead
}

// rule is one law of the house.
type rule struct {
	name  string
	check func(*tree) []breach
}

// root is the folder of the main module: two above this room.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// repository reads the tree of this repository.
func repository(t *testing.T) *tree {
	t.Helper()
	dir := root(t)
	texts := map[string]string{}
	for _, name := range listed(t, dir) {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.ContainsRune(content, 0) { // pictures and databases have no words
			texts[name] = string(content)
		}
	}
	whole, err := grow(texts)
	if err != nil {
		t.Fatal(err)
	}
	if matrix, err := os.ReadFile(filepath.Join(dir, "../shared/spec/matrix.tsv")); err == nil {
		whole.matrix = string(matrix)
	}
	return whole
}

// listed names the regular files that git would commit.
func listed(t *testing.T, dir string) []string {
	t.Helper()
	command := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir = dir
	out, err := command.Output()
	if err != nil {
		t.Fatalf("git ls-files in %s: %v: the rules look at what git would commit, so they need a clone", dir, err)
	}
	var names []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if info, err := os.Lstat(filepath.Join(dir, name)); name != "" && err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// grow parses texts into a tree.
func grow(texts map[string]string) (*tree, error) {
	whole := &tree{}
	for name, text := range texts {
		f := &file{path: name, text: text}
		if path.Ext(name) == ".go" && !strings.Contains(name, "/testdata/") {
			f.fset = token.NewFileSet()
			code, err := parser.ParseFile(f.fset, name, text, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			f.code = code
		}
		whole.files = append(whole.files, f)
	}
	slices.SortFunc(whole.files, func(a, b *file) int { return cmp.Compare(a.path, b.path) })
	return whole, nil
}

// golang lists the Go files.
func (t *tree) golang() []*file {
	var all []*file
	for _, f := range t.files {
		if f.code != nil {
			all = append(all, f)
		}
	}
	return all
}

// find returns a file, or nil.
func (t *tree) find(name string) *file {
	for _, f := range t.files {
		if f.path == name {
			return f
		}
	}
	return nil
}

// exists tells whether a file or a folder with files has this name.
func (t *tree) exists(name string) bool {
	return name == "." || slices.ContainsFunc(t.files, func(f *file) bool {
		return f.path == name || strings.HasPrefix(f.path, name+"/")
	})
}

// dir is the package's folder.
func (f *file) dir() string { return path.Dir(f.path) }

// room is the top-level folder, "" for a file at the top.
func (f *file) room() string { return roomOf(f.path) }

func roomOf(name string) string {
	top, _, deeper := strings.Cut(name, "/")
	if !deeper {
		return ""
	}
	return top
}

// isTest tells whether only `go test` compiles the file.
func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// isGenerated tells whether a generator wrote the file.
func (f *file) isGenerated() bool { return strings.HasSuffix(f.path, "_gen.go") }

// isHarness tells whether no part of the product is made of the file: tests, the rooms that attack, and the tools.
func (f *file) isHarness() bool { return f.isTest() || f.room() == "proptest" || f.room() == "tools" }

// isNested tells whether the file is in a module of its own, which may import nothing but the standard library.
func (f *file) isNested() bool { return f.room() == "tools" || strings.HasPrefix(f.path, "cmd/tidb/") }

// isGenerator tells whether the file belongs to a command that writes other files and is never shipped.
func (f *file) isGenerator() bool {
	return f.code != nil && f.code.Name.Name == "main" && strings.Contains(f.path, "/internal/")
}

// line is where a node begins.
func (f *file) line(node ast.Node) int { return f.fset.Position(node.Pos()).Line }

// at makes a breach at a node.
func (f *file) at(node ast.Node, instead string, args ...any) breach {
	return breach{f.path, f.line(node), fmt.Sprintf(instead, args...)}
}

// imports maps the name by which the file calls a package to its path.
func (f *file) imports() map[string]string {
	names := map[string]string{}
	for _, spec := range f.code.Imports {
		whole := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(whole)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = whole
	}
	return names
}

// uses lists the places where the file names one of the things of a package.
func (f *file) uses(pack string, things ...string) []*ast.SelectorExpr {
	imports := f.imports()
	var found []*ast.SelectorExpr
	ast.Inspect(f.code, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// An identifier with an object is a variable or a type of this file that only looks like the package.
		owner, ok := selector.X.(*ast.Ident)
		if ok && owner.Obj == nil && imports[owner.Name] == pack && slices.Contains(things, selector.Sel.Name) {
			found = append(found, selector)
		}
		return true
	})
	return found
}
