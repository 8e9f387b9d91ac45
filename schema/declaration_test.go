package schema_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"connectorcore/machines"
	"connectorcore/schema"
)

// The only types a column may have: bytes, whole numbers and times. No text, no collation, no JSON, no ENUM.
var columnTypes = regexp.MustCompile(`^(binary\(16\)|binary\(32\)|varbinary\([0-9]+\)|blob|mediumblob|bigint unsigned|datetime\(6\))$`)

// What names something is bytes, and what a read is keyed by is an id, a digest, or a number that counts.
// keyTypes are ids, digests, counts, and words of a closed list.
var keyTypes = regexp.MustCompile(`^(binary\(16\)|binary\(32\)|bigint unsigned|varbinary\(32\))$`)

func column(t *schema.Table, name string) *schema.Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

func columnList(t *schema.Table) (names []string) {
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return names
}

func TestEveryTableAndIndexNamesItsReader(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range schema.Tables() {
		if seen[table.Name] {
			t.Errorf("%s is declared twice", table.Name)
		}
		seen[table.Name] = true
		if table.Reader == "" || !strings.HasSuffix(table.Says, ".") {
			t.Errorf("%s: reader %q, what a row is %q: want both", table.Name, table.Reader, table.Says)
		}
		for _, index := range table.Indexes {
			if index.Reader == "" {
				t.Errorf("%s: index %s has no reader", table.Name, index.Name)
			}
		}
		if schema.Find(table.Name) != table {
			t.Errorf("%s is not found by its name", table.Name)
		}
	}
	if schema.Find("no_such_table") != nil {
		t.Error("an undeclared table was found")
	}
}

func TestNoColumnIsTextAndEveryNameOfAThingIsBytes(t *testing.T) {
	for _, table := range schema.Tables() {
		for _, c := range table.Columns {
			if !columnTypes.MatchString(c.Type) {
				t.Errorf("%s.%s is %s", table.Name, c.Name, c.Type)
			}
			want := ""
			switch {
			case strings.HasSuffix(c.Name, "_id"):
				want = "binary(16)"
			case strings.HasSuffix(c.Name, "digest"):
				want = "binary(32)"
			case strings.HasSuffix(c.Name, "_at"):
				want = "datetime(6)"
			}
			if want != "" && c.Type != want {
				t.Errorf("%s.%s is %s, want %s", table.Name, c.Name, c.Type, want)
			}
		}
	}
}

func TestPrimaryKeysComeFirstAndAreWholeIdsInOrder(t *testing.T) {
	for _, table := range schema.Tables() {
		names := columnList(table)
		if len(table.Primary) == 0 || len(names) < len(table.Primary) || !slices.Equal(names[:len(table.Primary)], table.Primary) {
			t.Errorf("%s: primary key (%s) is not the beginning of (%s)", table.Name, strings.Join(table.Primary, ", "), strings.Join(names, ", "))
		}
		keys := [][]string{table.Primary}
		for _, index := range table.Indexes {
			if !index.Unique && slices.Contains([]string{"due_at", "lane_id sort_key"}, strings.Join(index.Columns, " ")) {
				continue // the range of a sweep, and the order of a lane: they find, and identify nothing
			}
			keys = append(keys, index.Columns)
		}
		for _, key := range keys {
			for _, name := range key {
				// A prefix such as name(8) is no column's name.
				// A set that is released names no scope, and any number of released ones may; so with windows that are full.
				sparse := table == schema.BarrierSets.Table && name == schema.ColumnOpenScope ||
					table == schema.WindowHeads.Table && name == schema.ColumnGrouping
				if c := column(table, name); c == nil || c.Nullable != sparse || !keyTypes.MatchString(c.Type) {
					t.Errorf("%s: key column %s is no whole column of bytes or numbers that is always there", table.Name, name)
				}
			}
		}
		for _, foreign := range table.Foreigns {
			if parent := schema.Find(foreign.Parent); parent == nil || !slices.Equal(parent.Primary, foreign.ParentKeys) {
				t.Errorf("%s: %s refers to what is no primary key", table.Name, foreign.Name)
			}
		}
	}
}

func TestNamesFitAndAreUniqueInTheDatabase(t *testing.T) {
	plain := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	constraints := map[string]string{}
	for _, table := range schema.Tables() {
		names := append([]string{table.Name}, columnList(table)...)
		for _, index := range table.Indexes {
			names = append(names, index.Name)
		}
		for _, check := range table.Checks {
			names = append(names, check.Name)
			if other := constraints[check.Name]; other != "" {
				t.Errorf("check %s stands in %s and %s", check.Name, other, table.Name)
			}
			constraints[check.Name] = table.Name
		}
		for _, foreign := range table.Foreigns {
			names = append(names, foreign.Name)
		}
		slices.Sort(names)
		for i, name := range names {
			if !plain.MatchString(name) || len(name) > 64 {
				t.Errorf("%s: %q has %d characters, want 1 to 64 of a-z, 0-9 and _", table.Name, name, len(name))
			}
			if i > 0 && names[i-1] == name {
				t.Errorf("%s: the name %s is used twice", table.Name, name)
			}
		}
	}
}

func TestOnlyGuardsHaveAStateAndTheyEndWithItsFence(t *testing.T) {
	tail := []string{"state", "fence", "touched"}
	for _, table := range schema.Tables() {
		names := columnList(table)
		switch table.Kind {
		case schema.Guard, schema.Head:
			if n := len(names) - len(tail); n < 1 || !slices.Equal(names[n:], tail) {
				t.Errorf("%s ends with (%s), want (%s)", table.Name, strings.Join(names, ", "), strings.Join(tail, ", "))
			}
			if !slices.Equal(append(slices.Clone(schema.GuardTail), schema.ColumnTouched), tail) {
				t.Errorf("a statement would name %v and %s", schema.GuardTail, schema.ColumnTouched)
			}
		default:
			if slices.Contains(names, "state") || slices.Contains(names, "touched") {
				t.Errorf("%s is a %s and has a state that somebody would have to change", table.Name, table.Kind)
			}
		}
	}
}

func TestR08EveryLockableTableHasARankOfItsOwn(t *testing.T) {
	ranks := map[schema.Rank]string{}
	for _, table := range schema.Tables() {
		lockable := table.Kind == schema.Guard || table.Kind == schema.Head || table.Name == "serving_epoch_share"
		if lockable != (table.Rank != 0) {
			t.Errorf("%s is a %s with rank %d", table.Name, table.Kind, table.Rank)
		}
		if other := ranks[table.Rank]; table.Rank != 0 && other != "" {
			t.Errorf("%s and %s have one rank, %s", other, table.Name, table.Rank)
		}
		ranks[table.Rank] = table.Name
	}
	// The order of R08, typed by hand.
	order := []string{"owner barrier", "gate", "epoch", "share", "barrier set", "credential gate", "lane", "window", "receipt head",
		"projection head", "dependency head", "command head", "execution head", "effect head", "permit", "link"}
	for i, name := range order {
		if got := schema.Rank(i + 1).String(); got != name {
			t.Errorf("rank %d is %s, want %s", i+1, got, name)
		}
	}
	byTable := map[string]string{
		"owner_publication_barrier_guard": "owner barrier", "account_serving_gate_guard": "gate", "serving_epoch_guard": "epoch", "serving_epoch_share": "share",
		"serving_publication_barrier_set_guard": "barrier set", "credential_generation_dispatch_gate_guard": "credential gate", "ordering_lane_guard": "lane",
		"receipt_head": "receipt head", "projection_head": "projection head", "projection_window_head": "window", "execution_dependency_head": "dependency head", "execution_head": "execution head",
		"remote_effect_head": "effect head", "dispatch_permit_head": "permit", "remote_link_head": "link",
	}
	for rank, table := range ranks {
		if rank != 0 && byTable[table] != rank.String() {
			t.Errorf("%s has rank %s, want %s", table, rank, byTable[table])
		}
	}
	if got := schema.Rank(200).String(); got != "no rank (200)" {
		t.Errorf("an undeclared rank is called %q", got)
	}
}

// standing are the machines whose guard outlives every state: what it guards must never be without one.
var standing = []machines.Machine{
	machines.AccountServingGate, machines.ServingEpoch, machines.CredentialGenerationDispatchGate, machines.ServingPublicationBarrierSet,
	machines.OwnerPublicationBarrier, machines.OrderingLane,
}

func TestEveryMachineInsideTheDatabaseHasItsTables(t *testing.T) {
	for _, m := range machines.Machines() {
		name := snake(m.String())
		want := map[string]schema.Kind{}
		switch {
		case m.Outside():
		case len(m.Transitions()) == 0: // born as it ends
			want[name] = schema.Fact
		case slices.Contains(standing, m):
			want = map[string]schema.Kind{name: schema.Fact, name + "_guard": schema.Guard, name + "_ledger": schema.Ledger}
		default:
			want = map[string]schema.Kind{name: schema.Fact, name + "_head": schema.Head, name + "_ledger": schema.Ledger}
		}
		for _, suffix := range []string{"", "_guard", "_head", "_ledger"} {
			var kind schema.Kind
			if table := schema.Find(name + suffix); table != nil {
				kind = table.Kind
			}
			if kind != want[name+suffix] {
				t.Errorf("%s: table %s%s is a %s, want %s", m, name, suffix, kind, want[name+suffix])
			}
		}
	}
}

// snake is written a second time here, so that a table's name is not compared with itself.
func snake(name string) string {
	return strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(name, "${1}_${2}"))
}
