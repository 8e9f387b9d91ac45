package mutant

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"connectorcore/tools/internal/repo"
)

// Yard is a scratch worktree in which mutants are tried one after the other. It always stands in the same ignored
// folder of the repository, so that the build cache still knows what was compiled there the last time.
type Yard struct {
	Dir  string // the worktree
	root string
	lock *os.File
}

// Open makes the worktree from the tree as it is: the last commit, and with dirty also what is not committed. What an
// earlier yard left behind because it was killed goes first.
func Open(ctx context.Context, root string, dirty bool) (*Yard, error) {
	if err := os.MkdirAll(filepath.Join(root, ".proof"), 0o755); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(root, ".proof", "mutants.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	yard := &Yard{Dir: filepath.Join(root, ".proof", "mutants"), root: root, lock: lock}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("mutants are being tried in this repository already: wait for them to end"), lock.Close())
	}
	commit, err := snapshot(ctx, root, dirty)
	if err == nil {
		err = yard.clear(ctx)
	}
	if err == nil {
		_, err = repo.Git(ctx, root, "worktree", "add", "--quiet", "--force", "--detach", yard.Dir, commit)
	}
	if err != nil {
		return nil, errors.Join(err, yard.Close())
	}
	return yard, nil
}

// Close removes the worktree. It works after an interrupt too.
func (y *Yard) Close() error {
	return errors.Join(y.clear(context.Background()), y.lock.Close())
}

func (y *Yard) clear(ctx context.Context) error {
	if err := os.RemoveAll(y.Dir); err != nil {
		return err
	}
	_, err := repo.Git(ctx, y.root, "worktree", "prune")
	return err
}

// Reset takes every trace of a mutant out of the worktree.
func (y *Yard) Reset(ctx context.Context) error {
	_, err := repo.Git(ctx, y.Dir, "reset", "--quiet", "--hard")
	if err == nil {
		_, err = repo.Git(ctx, y.Dir, "clean", "-fdxq")
	}
	return err
}

// snapshot is a commit that holds the tree. For a dirty tree it is made with an index of its own and belongs to no
// branch, so that nothing of the person's own work is touched.
func snapshot(ctx context.Context, root string, dirty bool) (string, error) {
	status, err := repo.Git(ctx, root, "status", "--porcelain", "--untracked-files=all", "--", ".", ":(exclude)"+repo.Results)
	if err != nil {
		return "", err
	}
	if status == "" {
		return "HEAD", nil
	}
	if !dirty {
		return "", fmt.Errorf("the tree holds changes that are not committed, and a result is only worth keeping for a known tree: "+
			"commit them, or give -dirty to try the tree as it is\n%s", strings.TrimRight(status, "\n"))
	}
	scratch, err := os.MkdirTemp("", "index")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(scratch, "index"),
		"GIT_AUTHOR_NAME=mutants", "GIT_AUTHOR_EMAIL=mutants@localhost",
		"GIT_COMMITTER_NAME=mutants", "GIT_COMMITTER_EMAIL=mutants@localhost",
	}
	if _, err := repo.GitEnv(ctx, root, env, "add", "--all"); err != nil {
		return "", err
	}
	tree, err := repo.GitEnv(ctx, root, env, "write-tree")
	if err != nil {
		return "", err
	}
	commit, err := repo.GitEnv(ctx, root, env, "commit-tree", "-p", "HEAD", "-m", "the tree as it is", strings.TrimSpace(tree))
	return strings.TrimSpace(commit), err
}
