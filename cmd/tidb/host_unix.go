//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock makes builders of one user take turns. The kernel frees it when its holder dies, so no stale lock is possible.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock of the build: %w", err)
	}
	// It is asked for again and again instead of waited for, because a waiting flock cannot be interrupted.
	for waited := time.Duration(0); ; waited += 200 * time.Millisecond {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			file.Close()
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		}
		if waited%heartbeat == 0 {
			say("another build of tidb-server is running, waiting for it: %s elapsed", waited)
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, errors.New("interrupted while waiting for another build of tidb-server")
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// checkSpace refuses to begin a build that would end in ENOSPC a quarter of an hour later.
func checkSpace(ctx context.Context, target string, gigabytes int) error {
	places := []string{filepath.Dir(target)}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOTMPDIR"} {
		if place, err := goTool(ctx, "env", name); err == nil && place != "" {
			places = append(places, place)
		}
	}
	places = append(places, os.TempDir())
	for _, place := range places {
		var fs syscall.Statfs_t
		if syscall.Statfs(existing(place), &fs) != nil {
			continue // the build itself will say what is wrong with that place
		}
		free := fs.Bavail * uint64(fs.Bsize)
		if free < uint64(gigabytes)<<30 {
			return fmt.Errorf("not enough disk space to build tidb-server: %s has %.1f GB free and a build with nothing cached needs about %d GB; free some, or pass -free-gb 1 if the Go build cache is warm",
				place, float64(free)/(1<<30), gigabytes)
		}
	}
	return nil
}

// existing is the nearest parent that is there: a cache that was never used has no directory yet.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}
