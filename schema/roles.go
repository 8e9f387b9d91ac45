package schema

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"
)

// Role is one of the four roles of R42. A role's name in TiDB is the database's name and the role's, so that two
// deployments on one cluster share nothing.
type Role string

const (
	// RoleMigration makes and changes tables. It is the connecting user's own privileges; nothing at run time has it.
	RoleMigration Role = "migration"
	// RoleLedger reads everything of ours, appends facts and transitions, moves guards and ends heads.
	RoleLedger Role = "ledger"
	// RoleApplication is the application's own schema; of ours it can touch nothing.
	RoleApplication Role = "application"
	// RoleReader reads.
	RoleReader Role = "reader"
)

var runtimeRoles = []Role{RoleLedger, RoleApplication, RoleReader}

// maxDatabaseName leaves room for the longest role suffix in TiDB's 32 characters of a user name.
const maxDatabaseName = 32 - len("_application")

func (r Role) name(database string) string { return database + "_" + string(r) }

// privileges are what a role may do to a table of a kind, sorted.
func (r Role) privileges(k Kind) []string {
	switch {
	case r == RoleReader, r == RoleLedger && k == Catalogue:
		return []string{"SELECT"}
	case r == RoleLedger && k == Guard:
		return []string{"INSERT", "SELECT", "UPDATE"}
	case r == RoleLedger && k == Head:
		return []string{"DELETE", "INSERT", "SELECT", "UPDATE"}
	case r == RoleLedger:
		return []string{"INSERT", "SELECT"}
	}
	return nil
}

// convergeRoles makes the roles and grants what is missing. It takes nothing away: what a role has beyond its
// declaration is a difference that verify names and a person removes.
func convergeRoles(ctx context.Context, db *sql.DB, database string) error {
	for _, r := range runtimeRoles {
		if err := execute(ctx, db, fmt.Sprintf("CREATE ROLE IF NOT EXISTS '%s'", r.name(database))); err != nil {
			return errors.Wrapf(err, "role %s", r.name(database))
		}
		granted, err := grantsOf(ctx, db, r.name(database), database)
		if err != nil {
			return err
		}
		for _, t := range tables {
			want := r.privileges(t.Kind)
			if len(want) == 0 || slices.Equal(granted[t.Name], want) {
				continue
			}
			statement := fmt.Sprintf("GRANT %s ON `%s`.`%s` TO '%s'", strings.Join(want, ", "), database, t.Name, r.name(database))
			if err := execute(ctx, db, statement); err != nil {
				return errors.Wrapf(err, "privileges of role %s on %s", r.name(database), t.Name)
			}
		}
	}
	return nil
}

// grantsOf are the privileges that a role or user holds directly, by table name; "*" stands for the whole database
// and "*.*" for everything.
func grantsOf(ctx context.Context, db *sql.DB, user, database string) (map[string][]string, error) {
	granted, err := grants(ctx, db, fmt.Sprintf("SHOW GRANTS FOR '%s'", user), database)
	return granted, errors.Wrapf(err, "the privileges of %s", user)
}

func grants(ctx context.Context, db *sql.DB, query, database string) (map[string][]string, error) {
	lines, err := column(ctx, db, query)
	if err != nil {
		return nil, err
	}
	granted := map[string][]string{}
	for _, line := range lines {
		rest, ok := strings.CutPrefix(line, "GRANT ")
		what, target, on := strings.Cut(rest, " ON ")
		scope, _, to := strings.Cut(target, " TO ")
		if !ok || !on || !to {
			continue // a role granted to a role or user
		}
		scope = strings.ReplaceAll(scope, "`", "")
		name, ours := strings.CutPrefix(scope, database+".")
		switch {
		case what == "USAGE":
			continue
		case scope == "*.*":
			name = scope
		case !ours:
			continue
		}
		privileges := strings.Split(what, ",")
		slices.Sort(privileges)
		granted[name] = privileges
	}
	return granted, nil
}

// Admit lets an existing login of the cluster run the daemon: it gets the runtime roles and nothing else, with the
// reader's as default, because a login without any privilege cannot select the database. Only the migration role
// calls it.
func Admit(ctx context.Context, db *sql.DB, database, login string) error {
	if strings.ContainsAny(login, "'\\`") || login == "" {
		return errors.Newf("login %q: want a plain user name without quotes", login)
	}
	names := make([]string, len(runtimeRoles))
	for i, r := range runtimeRoles {
		names[i] = "'" + r.name(database) + "'"
	}
	for _, statement := range []string{
		fmt.Sprintf("GRANT %s TO '%s'", strings.Join(names, ", "), login),
		fmt.Sprintf("SET DEFAULT ROLE '%s' TO '%s'", RoleReader.name(database), login),
	} {
		if err := execute(ctx, db, statement); err != nil {
			return errors.Wrapf(err, "admitting login %s to database %s", login, database)
		}
	}
	return nil
}

// CheckLogin refuses a runtime login that holds privileges beside its roles: with them it could rewrite history
// whatever role it takes.
func CheckLogin(ctx context.Context, db *sql.DB) error {
	var login string
	if err := db.QueryRowContext(ctx, "SELECT CURRENT_USER()").Scan(&login); err != nil {
		return errors.Wrap(err, "the current login")
	}
	at := strings.LastIndexByte(login, '@') // without a name, SHOW GRANTS would add what the active role brings
	lines, err := column(ctx, db, fmt.Sprintf("SHOW GRANTS FOR '%s'@'%s'", login[:max(at, 0)], login[at+1:]))
	if err != nil {
		return errors.Wrapf(err, "the privileges of login %s", login)
	}
	for _, line := range lines {
		if strings.Contains(line, " ON ") && !strings.HasPrefix(line, "GRANT USAGE ON *.* ") {
			return errors.Newf("login %s holds privileges of its own (%s): use a login that holds only the roles of this database", login, line)
		}
	}
	return nil
}
