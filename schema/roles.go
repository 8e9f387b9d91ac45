package schema

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"connectorcore/schema/internal/live"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
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

// RuntimeRoles are the roles that a daemon's login holds.
func RuntimeRoles() []Role { return slices.Clone(runtimeRoles) }

var runtimeRoles = []Role{RoleLedger, RoleApplication, RoleReader}

// maxDatabaseName leaves room for the longest role suffix in TiDB's 32 characters of a user name.
const maxDatabaseName = 32 - len("_application")

func (r Role) name(database string) string { return database + "_" + string(r) }

// Take is the statement by which a session of a login of this database takes the role.
func (r Role) Take(database string) string { return "SET ROLE '" + r.name(database) + "'" }

// Privileges are what a role may do to a table of a kind, sorted.
func (r Role) Privileges(k Kind) []string {
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
//
// One process does it at a time: TiDB fails the second of two grants to one role that run at once, and may go on
// answering from what it had cached before them.
func convergeRoles(ctx context.Context, db *sql.DB, database string) (err error) {
	release, err := LockRoles(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, release()) }()
	for _, r := range runtimeRoles {
		if err := convergeRole(ctx, db, database, r); err != nil {
			return err
		}
	}
	return nil
}

func convergeRole(ctx context.Context, db *sql.DB, database string, r Role) error {
	name := r.name(database)
	for _, statement := range []string{
		fmt.Sprintf("CREATE ROLE IF NOT EXISTS '%s'", name),
		fmt.Sprintf("GRANT USAGE ON *.* TO '%s'", name), // grants nothing; this server now knows what another one did
	} {
		if err := execute(ctx, db, statement); err != nil {
			return errors.Wrapf(err, "role %s", name)
		}
	}
	has, err := grantsOf(ctx, db, name, database)
	if err != nil {
		return err
	}
	for _, t := range tables {
		want := r.Privileges(t.Kind)
		if len(want) == 0 || slices.Equal(has.on[t.Name], want) {
			continue
		}
		statement := fmt.Sprintf("GRANT %s ON `%s`.`%s` TO '%s'", strings.Join(want, ", "), database, t.Name, name)
		if err := execute(ctx, db, statement); err != nil {
			return errors.Wrapf(err, "privileges of role %s on %s", name, t.Name)
		}
	}
	return nil
}

// lockWait is shorter than the driver's read limit, and is tried again until the context ends.
const lockWait = 10

// rolesLock is one for the whole cluster: users and roles of all databases are in one cache of each server, and two
// changes at once can leave it answering from the older one.
const rolesLock = "connectorcore_roles"

// LockRoles takes the advisory lock under which users, roles and grants are changed, on a connection of its own, which
// lets go of it however this process ends. It guards nothing else: a fence or an outbound call never stands on such a
// lock.
func LockRoles(ctx context.Context, db *sql.DB) (release func() error, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Wrap(err, "the lock on users and roles")
	}
	for {
		var taken sql.NullBool
		if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?)", rolesLock, lockWait).Scan(&taken); err != nil && !crowded(err) {
			return nil, errors.CombineErrors(errors.Wrap(err, "the lock on users and roles"), conn.Close())
		}
		if taken.Bool {
			break
		}
	}
	return func() error {
		var released sql.NullBool // by SELECT: TiDB takes a DO and evaluates nothing of it
		err := conn.QueryRowContext(context.WithoutCancel(ctx), "SELECT RELEASE_LOCK(?)", rolesLock).Scan(&released)
		return errors.CombineErrors(err, conn.Close())
	}, nil
}

// crowded tells that the lock was not taken because too many wait for it: the server counts how often it looks, not how long.
func crowded(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && server.Number == 1105 && strings.Contains(server.Message, "pessimistic lock retry limit reached")
}

// mayReach tells whether a role may hold privileges on what is not ours: the application has its own schema, and no
// schema of ours or of the server's is that.
func (r Role) mayReach(scope string) bool {
	schema, _, qualified := strings.Cut(scope, ".")
	return r == RoleApplication && qualified && schema != "*" && !strings.EqualFold(schema, "mysql")
}

// held is what a role or user holds directly. Privileges are listed by table name for tables of the database; "*"
// stands for the whole database, "*.*" for everything, and anything else has its schema before it.
type held struct {
	on    map[string][]string
	roles []string
}

func grantsOf(ctx context.Context, db *sql.DB, user, database string) (held, error) {
	has, err := grants(ctx, db, fmt.Sprintf("SHOW GRANTS FOR '%s'", user), database)
	return has, errors.Wrapf(err, "the privileges of %s", user)
}

func grants(ctx context.Context, db *sql.DB, query, database string) (held, error) {
	lines, err := live.Texts(ctx, db, query)
	if err != nil {
		return held{}, err
	}
	has := held{on: map[string][]string{}}
	for _, line := range lines {
		has.add(line, database)
	}
	for _, privileges := range has.on {
		slices.Sort(privileges)
	}
	return has, nil
}

var (
	privilegePattern = regexp.MustCompile(`[^,(]+(\([^)]*\))?`) // a name, perhaps with its columns
	rolePattern      = regexp.MustCompile(`'([^']*)'@'`)
)

// add reads a line of SHOW GRANTS: "GRANT a,b ON scope TO user", or "GRANT 'role'@'%' TO user". A table has a line
// more for privileges on single columns.
func (h *held) add(line, database string) {
	what, to, _ := strings.Cut(strings.TrimPrefix(line, "GRANT "), " TO ")
	what, scope, isPrivilege := strings.Cut(what, " ON ")
	if !isPrivilege {
		for _, match := range rolePattern.FindAllStringSubmatch(what, -1) {
			h.roles = append(h.roles, match[1])
		}
		return
	}
	scope = strings.TrimPrefix(strings.ReplaceAll(scope, "`", ""), database+".")
	var privileges []string
	if what != "USAGE" { // which is none
		privileges = privilegePattern.FindAllString(strings.ReplaceAll(what, "`", ""), -1)
	}
	if strings.HasSuffix(to, " WITH GRANT OPTION") {
		privileges = append(privileges, "GRANT OPTION")
	}
	if len(privileges) > 0 {
		h.on[scope] = append(h.on[scope], privileges...)
	}
}

// Admit lets an existing login of the cluster run the daemon: it gets the runtime roles and nothing else, with the
// reader's as default, because a login without any privilege cannot select the database. Only the migration role
// calls it.
func Admit(ctx context.Context, db *sql.DB, database, login string) (err error) {
	if strings.ContainsAny(login, "'\\`") || login == "" {
		return errors.Newf("login %q: want a plain user name without quotes", login)
	}
	release, err := LockRoles(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, release()) }()
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

// CheckLogin refuses a runtime login that holds anything beside the runtime roles of its database: with privileges of
// its own it could rewrite history whatever role it takes.
func CheckLogin(ctx context.Context, db *sql.DB) error {
	var login, database string
	if err := db.QueryRowContext(ctx, "SELECT CURRENT_USER(), DATABASE()").Scan(&login, &database); err != nil {
		return errors.Wrap(err, "the current login")
	}
	at := strings.LastIndexByte(login, '@') // without a name, SHOW GRANTS would add what the active role brings
	has, err := grants(ctx, db, fmt.Sprintf("SHOW GRANTS FOR '%s'@'%s'", login[:max(at, 0)], login[at+1:]), database)
	if err != nil {
		return errors.Wrapf(err, "the privileges of login %s", login)
	}
	const advice = "use a login that holds only the runtime roles of this database"
	if scopes := slices.Sorted(maps.Keys(has.on)); len(scopes) > 0 {
		return errors.Newf("login %s holds privileges of its own (%s on %s): %s",
			login, strings.Join(has.on[scopes[0]], ", "), scopes[0], advice)
	}
	for _, name := range has.roles {
		if !slices.ContainsFunc(runtimeRoles, func(r Role) bool { return r.name(database) == name }) {
			return errors.Newf("login %s holds role %s: %s", login, name, advice)
		}
	}
	return nil
}
