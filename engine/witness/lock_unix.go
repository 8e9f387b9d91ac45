//go:build unix

package witness

import (
	"os"
	"syscall"

	"github.com/cockroachdb/errors"
)

var errLocked = errors.New("locked by another process")

// lockFile takes a file for this process alone. The kernel gives it free when the process dies, so that no lock is stale.
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
