// Package repo finds the repository that a tool was started in and names the exact content of its tree.
package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Module is the main module; the nested ones begin with it and a slash.
const Module = "connectorcore"

// Paths that the tools share, relative to the root.
const (
	Claims  = "proptest/claims.tsv"
	Mutants = "proptest/mutants"
	Results = "proptest/mutants/results.tsv"
	Record  = ".proof/test.json" // the event stream of the last whole `make test`
	Stamp   = ".proof/test.tree" // the digest of the tree that it ran on
)

// Root is the folder of the main module, found from the working directory upwards. The tools are run inside their
// own nested module, so the nearest go.mod is usually not the one that is meant.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && moduleOf(text) == Module {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod with `module %s` in %s or above it: run this inside the repository", Module, start)
		}
	}
}

func moduleOf(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// Modules lists the folders of all modules, the main one (".") first.
func Modules(files []string) []string {
	modules := []string{"."}
	for _, file := range files {
		if dir, ok := strings.CutSuffix(file, "/go.mod"); ok {
			modules = append(modules, dir)
		}
	}
	return modules
}

// Files lists what the tree is made of: tracked and untracked files that are not ignored and exist, in order, with
// slashes and relative to the root.
func Files(ctx context.Context, root string) ([]string, error) {
	out, err := Git(ctx, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var files []string
	for name := range strings.SplitSeq(out, "\x00") {
		if name == "" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Digest names the exact content of the tree and the Go release that would compile it. The results of mutants are
// left out: no test reads them, and they are written after the tests that a record tells of.
func Digest(ctx context.Context, root string) (string, error) {
	files, err := Files(ctx, root)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", runtime.Version())
	for _, name := range files {
		if name == Results {
			continue
		}
		if err := addFile(sum, root, name); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// addFile frames one file by its name, its kind and its length, so that no two trees have the same bytes.
func addFile(sum hash.Hash, root, name string) error {
	path := filepath.Join(root, name)
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	var content []byte
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		content = []byte(target)
	case info.IsDir(): // a repository inside this one; git names it, but it is none of our tree
		return nil
	default:
		if content, err = os.ReadFile(path); err != nil {
			return err
		}
	}
	fmt.Fprintf(sum, "%q %t %v %d\n", name, info.Mode()&0o111 != 0, info.Mode().Type(), len(content))
	_, err = sum.Write(content)
	return err
}

// FileDigest is the SHA-256 of one file's bytes, or "absent".
func FileDigest(root, name string) (string, error) {
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return "absent", nil
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

// Git runs one git command in dir and returns what it printed.
func Git(ctx context.Context, dir string, args ...string) (string, error) {
	return GitEnv(ctx, dir, nil, args...)
}

// GitEnv is Git with variables added to the environment.
func GitEnv(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), env...)
	var out, complaint bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaint
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}

// WriteFile replaces a file at once, so that a reader sees the old one or the new one.
func WriteFile(path string, write func(io.Writer) error) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // fails after the rename, as it should
	if err := errors.Join(write(temporary), temporary.Chmod(0o644), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
