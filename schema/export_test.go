package schema

import (
	"context"
	"database/sql"
)

// What the tests of the package schema_test reach into the room for.
var (
	ConvergeSteps  = converge
	Apply          = apply
	CheckVersion   = checkVersion
	MaxDatabase    = maxDatabaseName
	ServerSettings = serverOnly
)

func (t *Table) Create() string      { return t.create() }
func (s Step) Digest() [32]byte      { return s.digest() }
func StepsSource() string            { return stepsSource }
func (r Role) Name(db string) string { return r.name(db) }

// References is what verify compares of a live table's foreign keys, and of a declared one's.
func References(ctx context.Context, db *sql.DB, declared *Table) (live, want map[string]string, err error) {
	c := &catalogue{tables: map[string]*description{}}
	err = c.readForeign(ctx, db)
	live, want = map[string]string{}, map[string]string{}
	for _, l := range c.table(declared.Name).foreign {
		live[l.name] = l.says
	}
	for _, l := range describe(declared).foreign {
		want[l.name] = l.says
	}
	return live, want, err
}

// Settings are name, want and why of each session setting.
func Settings() (all [][3]string) {
	for _, s := range settings {
		all = append(all, [3]string{s.name, s.want, s.why})
	}
	return all
}
