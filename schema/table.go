package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Kind says how rows of a table live, and with it what the ledger role may do to them (R42).
type Kind uint8

const (
	Fact      Kind = iota + 1 // written once: SELECT, INSERT
	Ledger                    // appended transitions of one machine: SELECT, INSERT
	Guard                     // standing fenced row that nobody can delete: also UPDATE
	Head                      // fenced row that lives while its subject is nonterminal: also UPDATE and DELETE
	Catalogue                 // bookkeeping of converge: the ledger role only reads it
)

// String is the word that docs use.
func (k Kind) String() string {
	words := [...]string{"no kind", "fact", "ledger", "guard", "head", "catalogue"}
	if int(k) >= len(words) {
		return words[0]
	}
	return words[k]
}

// Column types. Identity is bytes: no collation, no padding, no ENUM decides it (design of the ledger tables).
const (
	typeID        = "binary(16)"
	typeDigest    = "binary(32)"
	typeState     = "varbinary(32)"
	typeEdge      = "varbinary(48)"
	typeProfile   = "varbinary(64)"
	typeKey       = "varbinary(512)"
	typePosition  = "varbinary(255)"
	typeCount     = "bigint unsigned"
	typeInstant   = "datetime(6)"
	typeEvidence  = "mediumblob"
	typeStatement = "blob"
)

// Column is one column. NULL is allowed only where absence is a fact of its own.
type Column struct {
	Name     string
	Type     string
	Nullable bool
	Default  string // "" or an expression that the database fills in
}

// Index is a key beside the primary one. Reader names the read path or the rule that needs it: an index without a
// reader does not exist.
type Index struct {
	Name    string
	Columns []string
	Unique  bool
	Reader  string
}

// Check is a named CHECK constraint.
type Check struct {
	Name string
	Expr string
}

// ForeignKey is a declared reference. There are few: a child's insert locks its parent exclusively (R20).
type ForeignKey struct {
	Name       string
	Columns    []string
	Parent     string
	ParentKeys []string
}

// Table is the declaration of one table.
type Table struct {
	Name     string
	Kind     Kind
	Says     string // one sentence: what one row is
	Columns  []Column
	Primary  []string // clustered, exact parent first
	Reader   string   // who reads by the primary key
	Indexes  []Index
	Checks   []Check
	Foreigns []ForeignKey
	Rank     Rank // of a guard or head: its place in the lock order
}

// ColumnNames are the columns that a writer fills, in order; those with a default are the database's own.
func (t *Table) ColumnNames() []string {
	names := make([]string, 0, len(t.Columns))
	for _, c := range t.Columns {
		if c.Default == "" {
			names = append(names, c.Name)
		}
	}
	return names
}

// create renders the statement that makes the table. It is one statement, and running it twice changes nothing.
func (t *Table) create() string {
	lines := make([]string, 0, len(t.Columns)+len(t.Indexes)+len(t.Checks)+2)
	for _, c := range t.Columns {
		lines = append(lines, c.render())
	}
	lines = append(lines, fmt.Sprintf("PRIMARY KEY (%s) CLUSTERED", strings.Join(t.Primary, ", ")))
	for _, i := range t.Indexes {
		lines = append(lines, i.render())
	}
	for _, c := range t.Checks {
		lines = append(lines, fmt.Sprintf("CONSTRAINT %s CHECK (%s)", c.Name, c.Expr))
	}
	for _, f := range t.Foreigns {
		lines = append(lines, fmt.Sprintf("CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)",
			f.Name, strings.Join(f.Columns, ", "), f.Parent, strings.Join(f.ParentKeys, ", ")))
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (\n  %s\n)", t.Name, strings.Join(lines, ",\n  "))
}

func (c Column) render() string {
	line := c.Name + " " + c.Type
	if !c.Nullable {
		line += " NOT NULL"
	}
	if c.Default != "" {
		line += " DEFAULT " + c.Default
	}
	return line
}

func (i Index) render() string {
	kind := "KEY"
	if i.Unique {
		kind = "UNIQUE KEY"
	}
	return fmt.Sprintf("%s %s (%s)", kind, i.Name, strings.Join(i.Columns, ", "))
}

// Rank is a guard's place in the one order in which every transaction locks (R08). A transaction's rank only rises.
type Rank uint8

// The ranks, from the first lock to the last. Places without a table yet are kept for it.
const (
	RankOwnerBarrier Rank = iota + 1
	RankGate
	RankEpoch
	RankShare
	RankBarrierSet
	RankCredentialGate
	RankLane
	RankWindow
	RankReceipt
	RankProjection
	RankDependency
	RankCommand
	RankExecution
	RankEffect
	RankPermit
	RankLink
)

var rankNames = [...]string{"", "owner barrier", "gate", "epoch", "share", "barrier set", "credential gate", "lane", "window",
	"receipt head", "projection head", "dependency head", "command head", "execution head", "effect head", "permit", "link"}

// String names what is locked at the rank.
func (r Rank) String() string {
	if int(r) >= len(rankNames) {
		return fmt.Sprintf("no rank (%d)", r)
	}
	return rankNames[r]
}

// Tables are all declared tables, in the order in which they are made: parents before children.
func Tables() []*Table { return slices.Clone(tables) }

// tables is filled by the declarations of this room, in the order of their files' init-free variables below.
var tables = slices.Concat(catalogueTables, servingTables, ownerTables, epochTables, inboundTables, outboundTables)

// Find is the declaration of the named table, or nil.
func Find(name string) *Table {
	for _, t := range tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}
