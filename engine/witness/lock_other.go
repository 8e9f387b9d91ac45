//go:build !unix

package witness

import (
	"os"
	"runtime"

	"github.com/cockroachdb/errors"
)

var errLocked = errors.New("locked by another process")

// lockFile refuses: without a lock that ends with its process, two daemons could write one witness.
func lockFile(string) (*os.File, error) {
	return nil, errors.Newf("files cannot be locked on %s", runtime.GOOS)
}
