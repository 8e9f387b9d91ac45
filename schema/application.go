package schema

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"
)

// ServerDatabases are the server's own, in lower case. What they hold and show of others is none of an application's
// business, and some of their tables ask every node of a cluster.
var ServerDatabases = []string{"mysql", "information_schema", "performance_schema", "metrics_schema", "sys"}

var applicationName = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

// CheckApplication refuses a name that cannot be the application's own database beside ours, which is database. Names
// that differ in case alone are one database.
func CheckApplication(database, application string) error {
	if !applicationName.MatchString(application) || strings.EqualFold(application, database) || slices.Contains(ServerDatabases, strings.ToLower(application)) {
		return errors.Newf("the application's database %q: want a database of its own beside %s and the server's own, named in letters, digits and _", application, database)
	}
	return nil
}

// AdmitApplication makes an application's own database if it is not there, and lets the application's role of our database
// read and write its rows. Its tables are the application's business.
func AdmitApplication(ctx context.Context, db *sql.DB, database, application string) (err error) {
	if err := CheckApplication(database, application); err != nil {
		return err
	}
	release, err := LockRoles(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, release()) }()
	for _, statement := range []string{
		"CREATE DATABASE IF NOT EXISTS `" + application + "`",
		fmt.Sprintf("GRANT SELECT, INSERT, UPDATE, DELETE ON `%s`.* TO '%s'", grantPattern(application), RoleApplication.name(database)),
	} {
		if err := execute(ctx, db, statement); err != nil {
			return errors.Wrapf(err, "the application's database %s", application)
		}
	}
	return nil
}

// grantPattern gives a name as GRANT reads it: a bare _ there stands for any character, so that a neighbour would be
// granted as well.
func grantPattern(name string) string { return strings.ReplaceAll(name, "_", `\_`) }
