//go:build unix

package embedded

import (
	"os"
	"syscall"

	"github.com/cockroachdb/errors"
)

var errLocked = errors.New("locked by another process")

// lockFile takes an flock. It belongs to the open file, so a child that inherits the descriptor holds it too, and the
// kernel frees it when the last holder is gone: no stale lock is possible.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errLocked
	}
	return nil, err
}
