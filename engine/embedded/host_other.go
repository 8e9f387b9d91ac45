//go:build !unix

package embedded

import (
	"os"
	"runtime"
	"syscall"

	"github.com/cockroachdb/errors"
)

var errLocked = errors.New("locked by another process")

// lockFile refuses: tidb-server itself is not made for this system.
func lockFile(string) (*os.File, error) {
	return nil, errors.Newf("there is no embedded TiDB on %s; use a TiDB cluster by DSN", runtime.GOOS)
}

func childAttributes() *syscall.SysProcAttr { return nil }
