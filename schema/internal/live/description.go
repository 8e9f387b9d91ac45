package live

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Line is one thing of a table: what it is, and everything about it that must agree.
type Line struct{ Name, Says string }

// Description is a table, described the same way by the declaration and by the live catalogue.
type Description struct {
	Columns    []Line // in order
	Keys       []Line
	Checks     []Line
	References []Line
	options    string // of a live table: what it is beyond a plain one
}

// Column says a column. The standard is the expression of its default, or "" if it has none.
func Column(name, typ string, nullable bool, standard string) Line {
	says := typ
	if !nullable {
		says += " NOT NULL"
	}
	if standard != "" {
		says += " DEFAULT " + standard
	}
	return Line{name, says}
}

// Key says a key over columns, in their order. The primary key is named PRIMARY.
func Key(name string, unique, clustered bool, columns []string) Line {
	says := strings.Join(columns, ", ")
	if unique {
		says = "unique " + says
	}
	if clustered {
		says = "clustered " + says
	}
	return Line{name, says}
}

// Check says a CHECK by its expression, which has no brackets around the whole.
func Check(name, expr string) Line { return Line{name, plainExpression(expr)} }

// Reference says a foreign key that neither deletes nor rewrites: columns, and what they are in the parent.
func Reference(name string, columns []string, parent string, parentColumns []string) Line {
	return Line{name, fmt.Sprintf("%s -> %s (%s)", strings.Join(columns, ", "), parent, strings.Join(parentColumns, ", "))}
}

// plainExpression writes a CHECK the one way in which the declared and the stored text agree. TiDB stores it in lower
// case, with quoted names, a character set before each literal and the word row before each list, and without the
// blanks after commas. What stands between quotes is data and stays as it is.
func plainExpression(expr string) string {
	parts := strings.Split(expr, "'")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = storedForm.Replace(strings.ToLower(parts[i]))
	}
	return strings.Join(parts, "'")
}

var storedForm = strings.NewReplacer("`", "", "_utf8mb4", "", ", ", ",", "row(", "(")

// Compare names each difference between a table as it is wanted and as it was read.
func Compare(table string, want, got *Description) []string {
	differences := compareColumns(table, want.Columns, got.Columns)
	differences = append(differences, compareLines(table, "key", want.Keys, got.Keys)...)
	differences = append(differences, compareLines(table, "check", want.Checks, got.Checks)...)
	differences = append(differences, compareLines(table, "reference", want.References, got.References)...)
	if got.options != "" {
		differences = append(differences, fmt.Sprintf("table %s: it is no plain table (%s)", table, got.options))
	}
	return differences
}

// compareColumns also compares the order: rows are written and read by position.
func compareColumns(table string, want, got []Line) []string {
	differences := compareLines(table, "column", want, got)
	if len(differences) == 0 && !slices.Equal(want, got) {
		differences = append(differences, fmt.Sprintf("table %s: its columns stand in another order", table))
	}
	return differences
}

func compareLines(table, what string, want, got []Line) []string {
	var differences []string
	index := map[string]string{}
	for _, g := range got {
		index[g.Name] = g.Says
	}
	for _, w := range want {
		says, ok := index[w.Name]
		delete(index, w.Name)
		switch {
		case !ok:
			differences = append(differences, fmt.Sprintf("table %s: %s %s is missing", table, what, w.Name))
		case says != w.Says:
			differences = append(differences, fmt.Sprintf("table %s: %s %s is (%s), declared as (%s)", table, what, w.Name, says, w.Says))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(index)) {
		differences = append(differences, fmt.Sprintf("table %s: %s %s is not declared", table, what, name))
	}
	return differences
}
