// Package throwaway makes small repositories for the tests of the tools: a main module, one room with a few tests,
// and a git history.
package throwaway

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectorcore/tools/internal/repo"
)

// Repository is a git repository in a temporary folder, which is also the working directory of the test.
type Repository struct{ Root string }

// New makes a repository with the given files, all committed, and goes into its folder tools.
func New(t *testing.T, files map[string]string) Repository {
	t.Helper()
	// git must not find the settings of the person who runs the tests.
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		os.Unsetenv(name)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := Repository{root}
	r.Write(t, "go.mod", "module connectorcore\n\ngo 1.26\n")
	r.Write(t, "tools/go.mod", "module connectorcore/tools\n\ngo 1.26\n")
	r.Write(t, ".gitignore", "/.proof/\n")
	for name, text := range files {
		r.Write(t, name, text)
	}
	r.Git(t, "init", "-q")
	r.Commit(t)
	t.Chdir(filepath.Join(root, "tools"))
	return r
}

// Write replaces one file.
func (r Repository) Write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(r.Root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Read returns one file.
func (r Repository) Read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.Root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Git runs a git command that must work.
func (r Repository) Git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := repo.Git(context.Background(), r.Root, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// Commit records everything.
func (r Repository) Commit(t *testing.T) {
	t.Helper()
	r.Git(t, "add", "-A")
	r.Git(t, "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "test: a state")
}
