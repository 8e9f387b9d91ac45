package house

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// regenerated copies the named files of a module, runs every generator in the copy, and returns what it changed. The
// copy keeps the rule independent of how a generator works, and leaves the tree alone.
func regenerated(t *testing.T, from string, names []string) []breach {
	t.Helper()
	copied := t.TempDir()
	before := map[string]string{}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		before[name] = string(content)
		path := filepath.Join(copied, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command("go", "generate", "./...")
	command.Dir = copied
	// Without the folder in what is compiled, the next copy finds this one's work in the build cache.
	command.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath"), "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go generate: %v\n%s", err, out)
	}
	var found []breach
	err := filepath.WalkDir(copied, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(copied, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if was, known := before[filepath.ToSlash(name)]; err == nil && (!known || was != string(content)) {
			found = append(found, breach{filepath.ToSlash(name), firstDifference(was, string(content)),
				"differs from what its generator writes: run make generate, and change the source, not the result"})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func firstDifference(a, b string) int {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(left), len(right)) {
		if left[i] != right[i] {
			return i + 1
		}
	}
	return min(len(left), len(right))
}

func TestGeneratedFilesAreClean(t *testing.T) {
	for _, b := range regenerated(t, root(t), listed(t, root(t))) {
		t.Errorf("%s:%d: generated files are clean: %s", b.path, b.line, b.instead)
	}
}

func TestAnEditedGeneratedFileIsFound(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":          "module throwaway\n\ngo 1.26\n",
		"a/doc.go":        "package a\n\n//go:generate go run ./gen\n",
		"a/gen/main.go":   "package main\n\nimport \"os\"\n\nfunc main() {\n\tos.WriteFile(\"good_gen.go\", []byte(text), 0o644)\n\tos.WriteFile(\"edited_gen.go\", []byte(text), 0o644)\n\tos.WriteFile(\"new_gen.go\", []byte(text), 0o644)\n}\n\nconst text = \"package a\\n\\nconst A = 1\\n\"\n",
		"a/good_gen.go":   "package a\n\nconst A = 1\n",
		"a/edited_gen.go": "package a\n\nconst A = 2\n",
	}
	var names []string
	for name, text := range files {
		names = append(names, name)
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, b := range regenerated(t, dir, names) {
		got = append(got, fmt.Sprintf("%s:%d", b.path, b.line))
	}
	if want := []string{"a/edited_gen.go:3", "a/new_gen.go:1"}; !slices.Equal(got, want) {
		t.Fatalf("found %q, want %q", got, want)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a/edited_gen.go")); err != nil || string(text) != files["a/edited_gen.go"] {
		t.Fatalf("the tree itself was changed: %q, %v", text, err)
	}
}
