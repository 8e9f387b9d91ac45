package schema

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

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
	live, err := readCatalogue(ctx, db, as, database)
	if err != nil {
		return errors.Wrapf(err, "the catalogue of database %s", database)
	}
	differences := compareTables(live, as)
	if len(differences) == 0 {
		return nil
	}
	return &DifferenceError{database, differences}
}

// line is one thing in a catalogue: what it is, and everything about it that must agree.
type line struct{ name, says string }

// description is a table, described the same way by the declaration and by the live catalogue.
type description struct {
	columns []line // in order
	keys    []line
	checks  []line
	foreign []line
	options string // of a live table: what it is beyond a plain one
}

// catalogue is a live database: its tables, and per role what each may do with each table.
type catalogue struct {
	tables map[string]*description
	grants map[Role]held
}

func compareTables(live *catalogue, as Role) []string {
	var differences []string
	for _, t := range tables {
		got := live.tables[t.Name]
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
		want := describe(t)
		differences = append(differences, compareColumns(t.Name, want.columns, got.columns)...)
		differences = append(differences, compareLines(t.Name, "key", want.keys, got.keys)...)
		differences = append(differences, compareLines(t.Name, "check", want.checks, got.checks)...)
		differences = append(differences, compareLines(t.Name, "reference", want.foreign, got.foreign)...)
		if got.options != "" {
			differences = append(differences, fmt.Sprintf("table %s: it is no plain table (%s)", t.Name, got.options))
		}
	}
	for _, name := range sorted(live.tables) {
		if Find(name) == nil {
			differences = append(differences, fmt.Sprintf("table %s is not declared", name))
		}
	}
	return append(differences, compareGrants(live.grants)...)
}

// compareColumns also compares the order: rows are written and read by position.
func compareColumns(table string, want, got []line) []string {
	differences := compareLines(table, "column", want, got)
	if len(differences) == 0 && !slices.Equal(want, got) {
		differences = append(differences, fmt.Sprintf("table %s: its columns stand in another order", table))
	}
	return differences
}

func compareLines(table, what string, want, got []line) []string {
	var differences []string
	index := map[string]string{}
	for _, g := range got {
		index[g.name] = g.says
	}
	for _, w := range want {
		says, ok := index[w.name]
		delete(index, w.name)
		switch {
		case !ok:
			differences = append(differences, fmt.Sprintf("table %s: %s %s is missing", table, what, w.name))
		case says != w.says:
			differences = append(differences, fmt.Sprintf("table %s: %s %s is (%s), declared as (%s)", table, what, w.name, says, w.says))
		}
	}
	for _, name := range sorted(index) {
		differences = append(differences, fmt.Sprintf("table %s: %s %s is not declared", table, what, name))
	}
	return differences
}

func compareGrants(live map[Role]held) []string {
	var differences []string
	for _, role := range runtimeRoles {
		has, read := live[role]
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
		for _, scope := range sorted(has.on) {
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

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
