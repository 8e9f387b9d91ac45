package schema

import (
	"context"
	"database/sql"

	"connectorcore/schema/internal/live"
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
func References(ctx context.Context, db *sql.DB, declared *Table) (got, want map[string]string, err error) {
	c, err := live.Read(ctx, db, []string{declared.Name})
	if err != nil || c[declared.Name] == nil {
		return nil, nil, err
	}
	got, want = map[string]string{}, map[string]string{}
	for _, l := range c[declared.Name].References {
		got[l.Name] = l.Says
	}
	for _, l := range describe(declared).References {
		want[l.Name] = l.Says
	}
	return got, want, nil
}

// Settings are name, want and why of each session setting.
func Settings() (all [][3]string) {
	for _, s := range settings {
		all = append(all, [3]string{s.name, s.want, s.why})
	}
	return all
}
