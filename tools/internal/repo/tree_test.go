package repo_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"connectorcore/tools/internal/repo"
	"connectorcore/tools/internal/throwaway"
)

func TestRootIsTheMainModule(t *testing.T) {
	r := throwaway.New(t, nil)
	root, err := repo.Root()
	if err != nil || root != r.Root {
		t.Fatalf("found %q (%v), want %q", root, err, r.Root)
	}
	t.Chdir(filepath.Dir(r.Root))
	if root, err := repo.Root(); err == nil {
		t.Fatalf("found %q outside every repository", root)
	}
}

func TestModulesBeginWithTheMainOne(t *testing.T) {
	throwaway.New(t, nil)
	got := repo.Modules([]string{"cmd/tidb/go.mod", "go.mod", "tools/go.mod", "tools/go.mod.txt"})
	if !slices.Equal(got, []string{".", "cmd/tidb", "tools"}) {
		t.Fatalf("got %q", got)
	}
}

// Each change of what a test could see must change the digest, and nothing else may.
func TestDigestNamesTheTree(t *testing.T) {
	r := throwaway.New(t, map[string]string{"a.txt": "1", "b.txt": "2", "script": "x"})
	digest := func() string {
		t.Helper()
		sum, err := repo.Digest(context.Background(), r.Root)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	seen := map[string]string{}
	before := digest()
	seen[before] = "the beginning"
	changes := []struct {
		name   string
		change func()
	}{
		{"a changed file", func() { r.Write(t, "a.txt", "3") }},
		{"content moved between files", func() { r.Write(t, "a.txt", "2"); r.Write(t, "b.txt", "3") }},
		{"an untracked file", func() { r.Write(t, "c.txt", "") }},
		{"a removed file", func() { must(t, os.Remove(filepath.Join(r.Root, "b.txt"))) }},
		{"a file that may be executed", func() { must(t, os.Chmod(filepath.Join(r.Root, "script"), 0o755)) }},
		{"a link", func() { must(t, os.Symlink("a.txt", filepath.Join(r.Root, "link"))) }},
	}
	for _, c := range changes {
		c.change()
		now := digest()
		if earlier, ok := seen[now]; ok {
			t.Fatalf("%s left the digest of %s", c.name, earlier)
		}
		seen[now], before = c.name, now
	}
	r.Write(t, ".proof/test.json", "ignored")
	r.Write(t, repo.Results, "written after the tests")
	if digest() != before {
		t.Fatal("an ignored file or the mutants' results changed the digest")
	}
	r.Commit(t)
	if digest() != before {
		t.Fatal("a commit changed the digest although no file changed")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
