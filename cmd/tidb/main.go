// Command tidb builds the real tidb-server, once, into the user's cache directory, where engine/embedded looks for it:
//
//	go -C cmd/tidb run .
//
// It is a module of its own so that nobody who links the library inherits TiDB's dependencies or its replaces. The
// versions are pinned in go.mod; this program adds only the flags that the build needs, and the proof that they are
// safe (see build.go).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// release is what VERSION() of the built server ends in. engine/embedded demands the same words.
	release = "v8.5.6"
	// coldGigabytes is the disk that a build with nothing cached takes: modules, build cache and link.
	coldGigabytes = 6
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		say("%v", err)
		os.Exit(1)
	}
}

// run builds the server unless the one in place was made from equal inputs.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("tidb", flag.ContinueOnError)
	free := flags.Int("free-gb", coldGigabytes, "refuse to build with fewer free gigabytes; lower it if the build cache is warm")
	if err := flags.Parse(args); err != nil {
		return err
	}
	target, err := targetPath()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return fmt.Errorf("cannot make the directory for tidb-server: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(filepath.Dir(target), "build.lock"))
	if err != nil {
		return err
	}
	defer unlock()

	// The inputs are read under the lock: of two builders, the second sees what the first has made.
	inputs, err := readInputs(ctx)
	if err != nil {
		return err
	}
	if inPlace(target, inputs.digest()) {
		say("%s is in place: %s", release, target)
		return nil
	}
	if err := checkSpace(ctx, target, *free); err != nil {
		return err
	}
	began := time.Now()
	if err := build(ctx, inputs, target); err != nil {
		return err
	}
	say("done in %s: %s", time.Since(began).Round(time.Second), target)
	return nil
}

// targetPath is where the server is kept: $(os.UserCacheDir())/connectorcore/tidb-v8.5.6/tidb-server.
func targetPath() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory for tidb-server, set HOME or XDG_CACHE_HOME: %w", err)
	}
	return filepath.Join(cache, "connectorcore", "tidb-"+release, "tidb-server"), nil
}

// say writes one line of progress. Whole lines only: the same text must read well on a terminal and in a CI log.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "tidb: "+format+"\n", args...) }
