package form

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// At is a place in a file of a pack. Line is counted from 1; zero is the file as a whole.
type At struct {
	File string
	Line int
}

// String is FILE:LINE. Canonical bytes have neither.
func (a At) String() string {
	switch {
	case a.File == "":
		return "canonical bytes"
	case a.Line == 0:
		return a.File
	}
	return fmt.Sprintf("%s:%d", a.File, a.Line)
}

// Fault is one thing that is wrong with a pack: where, what, and what its author can do.
type Fault struct {
	At   At
	Path string // of the value: events[0].key; empty for a file as a whole
	What string
	Hint string
}

// String is one line: FILE:LINE: PATH: WHAT; HINT.
func (f Fault) String() string {
	text := f.At.String() + ": "
	if f.Path != "" {
		text += f.Path + ": "
	}
	text += f.What
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return text
}

// Faults is every fault of a pack, in the order of files and lines. As an error it is one line each.
type Faults []Fault

// Error gives all faults.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// Complaint is what is wrong with a value, said by somebody who does not know where it stands.
type Complaint struct{ What, Hint string }

// Report gathers faults.
type Report struct{ faults Faults }

// Add notes one fault.
func (r *Report) Add(at At, path, what, hint string) {
	r.faults = append(r.faults, Fault{At: at, Path: path, What: what, Hint: hint})
}

// Faults gives what was gathered, sorted; nil if nothing was.
func (r *Report) Faults() Faults {
	slices.SortStableFunc(r.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.Path, b.Path))
	})
	return slices.CompactFunc(r.faults, func(a, b Fault) bool { return a == b })
}

// Err is the faults as an error, nil if there are none.
func (r *Report) Err() error {
	if len(r.faults) == 0 {
		return nil
	}
	return r.Faults()
}

// nearest finds the known word that somebody probably meant, empty if none is near.
func nearest(word string, known []string) string {
	best, distance := "", 1+len(word)/3
	for _, candidate := range known {
		if d := edits(word, candidate); d <= distance && (best == "" || d < distance) {
			best, distance = candidate, d
		}
	}
	return best
}

// edits is the number of characters to insert, delete or replace between two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Among is a hint for a word out of a closed list.
func Among(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known are " + strings.Join(known, ", ")
}
