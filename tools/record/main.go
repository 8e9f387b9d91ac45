// Command record runs the tests of every module with the race detector, shows what a person needs, and keeps the
// event stream of the main module for proof. The last line is always `N passed, N failed, N skipped`.
//
// Arguments are handed to `go test` in the main module instead of `./...`; such a run is one's own business, so it
// keeps no record and leaves the nested modules alone.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"connectorcore/tools/internal/gotest"
	"connectorcore/tools/internal/repo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	counts, err := record(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		counts.Failed++
	}
	fmt.Println(counts)
	if counts.Failed > 0 {
		os.Exit(1)
	}
}

func record(ctx context.Context, args []string) (gotest.Counts, error) {
	root, err := repo.Root()
	if err != nil {
		return gotest.Counts{}, err
	}
	if len(args) > 0 {
		return show(ctx, root, append([]string{"-race"}, args...), nil)
	}
	counts, err := recordMain(ctx, root)
	if err != nil {
		return counts, err
	}
	files, err := repo.Files(ctx, root)
	if err != nil {
		return counts, err
	}
	for _, dir := range repo.Modules(files)[1:] {
		if !hasGo(files, dir) {
			continue
		}
		fmt.Printf("module %s\n", dir)
		nested, err := show(ctx, filepath.Join(root, dir), []string{"-race", "./..."}, nil)
		counts = counts.Plus(nested)
		if err != nil {
			return counts, err
		}
	}
	return counts, nil
}

func hasGo(files []string, dir string) bool {
	for _, file := range files {
		if strings.HasPrefix(file, dir+"/") && strings.HasSuffix(file, ".go") {
			return true
		}
	}
	return false
}

// recordMain keeps a stream, and its stamp only if the tree was the same before and after: a record of a tree that
// changed under the tests tells of no tree at all.
func recordMain(ctx context.Context, root string) (counts gotest.Counts, err error) {
	stamp, path := filepath.Join(root, repo.Stamp), filepath.Join(root, repo.Record)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return counts, err
	}
	if err := os.Remove(stamp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return counts, err
	}
	before, err := repo.Digest(ctx, root)
	if err != nil {
		return counts, err
	}
	err = repo.WriteFile(path, func(raw io.Writer) error {
		counts, err = show(ctx, root, []string{"-race", "-timeout", "20m", "./..."}, raw)
		return err
	})
	if err != nil {
		return counts, err
	}
	after, err := repo.Digest(ctx, root)
	if err != nil {
		return counts, err
	}
	if before != after {
		fmt.Println("the tree changed while its tests ran, so this run is no record for make proof")
		return counts, nil
	}
	return counts, repo.WriteFile(stamp, func(out io.Writer) error {
		_, err := fmt.Fprintln(out, after)
		return err
	})
}

func show(ctx context.Context, dir string, args []string, raw io.Writer) (gotest.Counts, error) {
	shower := gotest.NewShower(os.Stdout)
	run, clean, err := gotest.Execute(ctx, gotest.Options{
		Dir: dir, Args: args, Raw: raw,
		Each:  shower.Event,
		Stray: func(line string) { fmt.Print(line) },
	})
	if run == nil {
		return gotest.Counts{}, err
	}
	counts := run.Count()
	if err == nil && !clean && counts.Failed == 0 {
		err = errors.New("go test failed without naming a test; what it printed is above")
	}
	return counts, err
}
