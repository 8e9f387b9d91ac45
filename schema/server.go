package schema

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"

	"github.com/cockroachdb/errors"
)

// minRelease is the oldest TiDB whose pessimistic locks hold: before it, two known bugs let a lock be taken over.
var minRelease = [3]int{8, 5, 6}

var (
	releasePattern = regexp.MustCompile(`-TiDB-v(\d+)\.(\d+)\.(\d+)(-.*)?$`)
	earlyPattern   = regexp.MustCompile(`^-(alpha|beta|rc|pre|dev)`)
)

// CheckServer refuses a server that is no TiDB, or one older than the protocol needs. An early build of the oldest
// admitted release, such as v8.5.6-alpha, comes before it and is refused; a build with another suffix is that release.
func CheckServer(ctx context.Context, db *sql.DB) error {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return errors.Wrap(err, "the server's version")
	}
	return checkVersion(version)
}

func checkVersion(version string) error {
	match := releasePattern.FindStringSubmatch(version)
	if match == nil {
		return errors.Newf("the server calls itself %q, which is no TiDB: connectorcore needs TiDB v8.5.6 or newer", version)
	}
	for i, want := range minRelease {
		got, err := strconv.Atoi(match[i+1])
		if err != nil {
			return errors.Newf("the server calls itself %q: its version cannot be read", version)
		}
		if got != want {
			return older(version, got < want)
		}
	}
	return older(version, earlyPattern.MatchString(match[len(minRelease)+1]))
}

func older(version string, isOlder bool) error {
	if !isOlder {
		return nil
	}
	return errors.Newf("the server is %q: connectorcore needs TiDB v%s or newer, whose locks cannot be taken over; upgrade the cluster", version, release(minRelease))
}

func release(r [3]int) string { return fmt.Sprintf("%d.%d.%d", r[0], r[1], r[2]) }
