package world

import (
	"os"
	"syscall"

	"github.com/cockroachdb/errors"
)

// openLock opens a lock file without locking it. The descriptor is closed on exec, so no child keeps a lock alive.
func openLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	return file, errors.Wrap(err, "world: lock file")
}

// flock locks, asking again when a signal interrupts the call. how is LOCK_SH or LOCK_EX, with or without LOCK_NB.
func flock(file *os.File, how int) error {
	for {
		if err := syscall.Flock(int(file.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// isFree tells whether nobody holds the lock at this moment.
func isFree(path string) (bool, error) {
	file, err := openLock(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	err = flock(file, syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, errors.Wrap(err, "world: lock file")
}
