package schema

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"connectorcore/schema/internal/live"

	"github.com/cockroachdb/errors"
)

// DifferenceError lists every way in which a live database is not the declared one.
type DifferenceError struct {
	Database    string
	Differences []string
}

// OnlyRoles tells whether the tables are as declared and only what roles may do is not.
func (e *DifferenceError) OnlyRoles() bool {
	return len(e.Differences) > 0 && !slices.ContainsFunc(e.Differences, func(d string) bool { return !strings.HasPrefix(d, "role ") })
}

// Error gives every difference a line.
func (e *DifferenceError) Error() string {
	return fmt.Sprintf("database %s is not as declared:\n  %s", e.Database, strings.Join(e.Differences, "\n  "))
}

// Verify compares the live catalogue with the declaration: tables, columns, types, keys, checks, references, and what
// the roles may do. It returns a *DifferenceError that names each difference, or nil.
//
// As the migration role it sees the whole database and every role; as a runtime role it sees what that role can reach.
func Verify(ctx context.Context, db *sql.DB, as Role) error {
	var database string
	if err := db.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&database); err != nil {
		return errors.Wrap(err, "the name of the database")
	}
	found, err := readCatalogue(ctx, db, as, database)
	if err != nil {
		return errors.Wrapf(err, "the catalogue of database %s", database)
	}
	differences := compareTables(found, as)
	if len(differences) == 0 {
		return nil
	}
	return &DifferenceError{database, differences}
}

// catalogue is a live database: its tables, and per role what each may do with each table.
type catalogue struct {
	tables live.Catalogue
	grants map[Role]held
}

func readCatalogue(ctx context.Context, db *sql.DB, as Role, database string) (*catalogue, error) {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	read, err := live.Read(ctx, db, names)
	if err != nil {
		return nil, err
	}
	c := &catalogue{tables: read, grants: map[Role]held{}}
	return c, c.readGrants(ctx, db, as, database)
}

// readGrants reads every role as the migration role, and its own effective privileges as a runtime role.
func (c *catalogue) readGrants(ctx context.Context, db *sql.DB, as Role, database string) error {
	if as != RoleMigration {
		has, err := grants(ctx, db, "SHOW GRANTS", database)
		has.roles = nil // the login's, of which this role is one
		c.grants[as] = has
		return err
	}
	for _, role := range runtimeRoles {
		has, err := grantsOf(ctx, db, role.name(database), database)
		if err != nil {
			return err
		}
		c.grants[role] = has
	}
	return nil
}

// describe says of a declared table what the live catalogue says of the one that stands there.
func describe(t *Table) *live.Description {
	d := &live.Description{}
	for _, c := range t.Columns {
		d.Columns = append(d.Columns, live.Column(c.Name, c.Type, c.Nullable, c.Default))
	}
	d.Keys = append(d.Keys, live.Key("PRIMARY", true, true, t.Primary))
	for _, i := range t.Indexes {
		d.Keys = append(d.Keys, live.Key(i.Name, i.Unique, false, i.Columns))
	}
	for _, c := range t.Checks {
		d.Checks = append(d.Checks, live.Check(c.Name, c.Expr))
	}
	for _, f := range t.Foreigns {
		d.References = append(d.References, live.Reference(f.Name, f.Columns, f.Parent, f.ParentKeys))
	}
	return d
}

func compareTables(found *catalogue, as Role) []string {
	var differences []string
	for _, t := range tables {
		got := found.tables[t.Name]
		concerned := as == RoleMigration || len(as.Privileges(t.Kind)) > 0
		switch {
		case got == nil && concerned:
			differences = append(differences, fmt.Sprintf("table %s is missing", t.Name))
		case got != nil && !concerned:
			differences = append(differences, fmt.Sprintf("role %s: it sees table %s, which it may not", as, t.Name))
		}
		if got == nil || !concerned {
			continue
		}
		differences = append(differences, live.Compare(t.Name, describe(t), got)...)
	}
	for _, name := range slices.Sorted(maps.Keys(found.tables)) {
		if Find(name) == nil {
			differences = append(differences, fmt.Sprintf("table %s is not declared", name))
		}
	}
	return append(differences, compareGrants(found.grants)...)
}

func compareGrants(found map[Role]held) []string {
	var differences []string
	for _, role := range runtimeRoles {
		has, read := found[role]
		if !read {
			continue
		}
		for _, t := range tables {
			want := role.Privileges(t.Kind)
			if got := has.on[t.Name]; !slices.Equal(got, want) {
				differences = append(differences, fmt.Sprintf("role %s: on table %s it may (%s), declared as (%s)",
					role, t.Name, strings.Join(got, ", "), strings.Join(want, ", ")))
			}
		}
		for _, scope := range slices.Sorted(maps.Keys(has.on)) {
			if Find(scope) == nil && !role.mayReach(scope) {
				differences = append(differences, fmt.Sprintf("role %s: it may (%s) on %s, which is not declared",
					role, strings.Join(has.on[scope], ", "), scope))
			}
		}
		for _, other := range has.roles {
			differences = append(differences, fmt.Sprintf("role %s: it holds role %s, which is not declared", role, other))
		}
	}
	return differences
}
