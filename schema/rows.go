package schema

import (
	"connectorcore/facts"
	"connectorcore/machines"
	"strings"
	"unicode"
)

// Rows says how values of type R are rows of one table. Fields gives the addresses of the value's fields in the
// order of Table.ColumnNames: the same addresses are scanned into and bound from.
type Rows[R any] struct {
	Table  *Table
	Fields func(*R) []any
}

// GuardRows says how the guards of one machine are rows: the key that is locked, what the guard carries beside state
// and fence, and the ledger to which its transitions are appended.
//
// K is the exact primary key, G the whole guard without state and fence. The columns of the guard's table are G's
// fields, then state, fence and touched.
type GuardRows[K comparable, G any, S machines.State, E machines.EdgeOf[S]] struct {
	Machine machines.Machine
	Table   *Table
	Ledger  *Table
	Key     func(*K) []any // addresses in the order of Table.Primary
	Fields  func(*G) []any // addresses in the order of the columns before state
	KeyOf   func(*G) K
	Subject func(K) facts.SubjectID // the ledger's subject
	Start   S
}

// Deletes tells whether the guard goes away when its subject ends.
func (g *GuardRows[K, G, S, E]) Deletes() bool { return g.Table.Kind == Head }

// standing makes the rows of a guard that nobody can delete and that carries nothing but its own id. The edge only
// names the machine's edge type.
func standing[K any, G any, S machines.State, E machines.EdgeOf[S]](start S, _ E, guard, ledger *Table, id func(*G) *facts.ID[K]) GuardRows[facts.ID[K], G, S, E] {
	return GuardRows[facts.ID[K], G, S, E]{
		Machine: start.Machine(), Table: guard, Ledger: ledger, Start: start,
		Key:     func(k *facts.ID[K]) []any { return []any{k} },
		Fields:  func(g *G) []any { return []any{id(g)} },
		KeyOf:   func(g *G) facts.ID[K] { return *id(g) },
		Subject: func(k facts.ID[K]) facts.SubjectID { return facts.SubjectID(k) },
	}
}

// heads makes the rows of a head: account and subject, and what else it is found or made unique by.
func heads[K any, G any, S machines.State, E machines.EdgeOf[S]](start S, _ E, head, ledger *Table,
	key func(*G) (*facts.AccountID, *facts.ID[K]), rest func(*G) []any) GuardRows[facts.HeadKey[K], G, S, E] {
	return GuardRows[facts.HeadKey[K], G, S, E]{
		Machine: start.Machine(), Table: head, Ledger: ledger, Start: start,
		Key: func(k *facts.HeadKey[K]) []any { return []any{&k.Account, &k.Subject} },
		Fields: func(g *G) []any {
			account, subject := key(g)
			return append([]any{account, subject}, rest(g)...)
		},
		KeyOf: func(g *G) facts.HeadKey[K] {
			account, subject := key(g)
			return facts.HeadKey[K]{Account: *account, Subject: *subject}
		},
		Subject: func(k facts.HeadKey[K]) facts.SubjectID { return facts.SubjectID(k.Subject) },
	}
}

// The columns that every guard ends with, and those of every ledger.
const (
	columnState   = "state"
	columnFence   = "fence"
	columnTouched = "touched"
)

// Names that statements outside this room are built from.
var (
	GuardTail     = []string{columnState, columnFence}
	ColumnTouched = columnTouched
)

// guardTable declares the guard of a machine. A standing guard keeps every state, a head only those that an edge
// leaves; a guard at fence 1 was never moved, so it stands where its machine starts (R03).
func guardTable(m machines.Machine, kind Kind, rank Rank, t Table) *Table {
	suffix := map[Kind]string{Guard: "_guard", Head: "_head"}[kind]
	t.Name = snake(m) + suffix
	t.Kind, t.Rank = kind, rank
	t.Columns = append(t.Columns,
		Column{Name: columnState, Type: typeState},
		Column{Name: columnFence, Type: typeCount},
		Column{Name: columnTouched, Type: typeCount, Default: "0"},
	)
	var states []string
	for _, s := range m.States() {
		if kind == Guard || !m.TerminalState(s) {
			states = append(states, s)
		}
	}
	t.Checks = append(t.Checks,
		Check{t.Name + "_state", "state IN (" + quoted(states) + ")"},
		Check{t.Name + "_birth", "fence > 1 OR fence = 1 AND state IN (" + quoted(m.Starts()) + ")"},
	)
	return &t
}

// ledgerTable declares the transitions of a machine. The database itself refuses a triple that the machine does not
// list, and a first transition that does not leave the start state.
func ledgerTable(m machines.Machine) *Table {
	name := snake(m) + "_ledger"
	return &Table{
		Name: name, Kind: Ledger,
		Says: "One transition of " + m.String() + ": the subject, the fence that it consumed, and its evidence.",
		Columns: []Column{
			{Name: "subject_id", Type: typeID},
			{Name: "seq", Type: typeCount},
			{Name: "from_state", Type: typeState},
			{Name: "edge", Type: typeEdge},
			{Name: "to_state", Type: typeState},
			{Name: "evidence", Type: typeEvidence},
			{Name: "recorded_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
		},
		Primary: []string{"subject_id", "seq"},
		Reader:  "the history of one subject, by exact subject",
		Checks: []Check{
			{name + "_edges", ledgerChecks[m]},
			{name + "_birth", "seq > 1 OR seq = 1 AND from_state IN (" + quoted(m.Starts()) + ")"},
		},
	}
}

func quoted(words []string) string { return "'" + strings.Join(words, "', '") + "'" }

// snake is the table name of a machine: RemoteEffect -> remote_effect.
func snake(m machines.Machine) string {
	var b strings.Builder
	for i, r := range m.String() {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
