package machines

import (
	"database/sql/driver"
	"fmt"
	"slices"
)

// State is a state of one of the machines of this package. The set is closed: no other package can add to it.
type State interface {
	fmt.Stringer
	driver.Valuer
	Machine() Machine
	Valid() bool
	Terminal() bool
	state()
}

// Edge is a named transition of one of the machines of this package. The set is closed.
type Edge interface {
	fmt.Stringer
	driver.Valuer
	Machine() Machine
	Valid() bool
	Proof() Proof
	edge()
}

// EdgeOf is an edge between states of type S. A function that asks for it cannot be handed another machine's edge.
type EdgeOf[S State] interface {
	Edge
	From() S
	To() S
}

// Transition is one row of a machine's table, as text.
type Transition struct {
	Edge, From, To string
	Proof          Proof
}

// definition is what the generated table says of one machine.
type definition struct {
	name        string
	outside     bool
	states      []string
	starts      []string
	transitions []Transition
}

// String is the machine's name in the spec.
func (m Machine) String() string { return m.definition().name }

// Valid tells whether m names a machine.
func (m Machine) Valid() bool { return m != 0 && int(m) <= len(definitions) }

// Outside tells whether the machine's rows live outside the database (R40).
func (m Machine) Outside() bool { return m.definition().outside }

// States are all states, in the order in which the table first names them.
func (m Machine) States() []string { return slices.Clone(m.definition().states) }

// Starts are the states in which a subject may be born (R03). Only a machine without edges has more than one.
func (m Machine) Starts() []string { return slices.Clone(m.definition().starts) }

// Transitions are all edges, in the order of the table.
func (m Machine) Transitions() []Transition { return slices.Clone(m.definition().transitions) }

// Allows tells whether the named edge exists and leads from one state to the other.
func (m Machine) Allows(edge, from, to string) bool {
	return slices.ContainsFunc(m.definition().transitions, func(t Transition) bool {
		return t.Edge == edge && t.From == from && t.To == to
	})
}

// TerminalState tells whether no edge leaves the named state.
func (m Machine) TerminalState(name string) bool {
	d := m.definition()
	return slices.Contains(d.states, name) &&
		!slices.ContainsFunc(d.transitions, func(t Transition) bool { return t.From == name })
}

// Machines are all machines, in the order of the table.
func Machines() []Machine {
	all := make([]Machine, len(definitions))
	for i := range all {
		all[i] = Machine(i + 1)
	}
	return all
}

// Proof names what must be shown, and recorded as evidence, before an edge is taken.
type Proof string

// Says is the sentence that the table gives for the proof.
func (p Proof) Says() string { return proofs[p] }

var undefined = definition{name: "no machine"}

func (m Machine) definition() *definition {
	if !m.Valid() {
		return &undefined
	}
	return &definitions[m-1]
}

// stateName and edgeName give invalid values a name of their own, so that an error that prints one says what it is.
func (m Machine) stateName(n uint8) string {
	if d := m.definition(); n != 0 && int(n) <= len(d.states) {
		return d.states[n-1]
	}
	return fmt.Sprintf("no state of %s (%d)", m, n)
}

func (m Machine) edgeName(n uint8) string {
	if d := m.definition(); n != 0 && int(n) <= len(d.transitions) {
		return d.transitions[n-1].Edge
	}
	return fmt.Sprintf("no edge of %s (%d)", m, n)
}

func (m Machine) transition(n uint8) Transition {
	if d := m.definition(); n != 0 && int(n) <= len(d.transitions) {
		return d.transitions[n-1]
	}
	return Transition{}
}

func (m Machine) stateNumber(name string) uint8 {
	return uint8(slices.Index(m.definition().states, name) + 1)
}

// InvalidError says that a stored or bound value is no state or edge of its machine. It is a bug of ours or damage to
// the database, never bad input.
type InvalidError struct {
	Machine Machine
	What    string // "state" or "edge"
	Got     string
}

// Error names the machine, what was expected and what was found.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s: %q is no %s of this machine", e.Machine, e.Got, e.What)
}

func (m Machine) stateValue(n uint8) (driver.Value, error) {
	if n == 0 || int(n) > len(m.definition().states) {
		return nil, &InvalidError{m, "state", m.stateName(n)}
	}
	return []byte(m.stateName(n)), nil
}

func (m Machine) edgeValue(n uint8) (driver.Value, error) {
	if n == 0 || int(n) > len(m.definition().transitions) {
		return nil, &InvalidError{m, "edge", m.edgeName(n)}
	}
	return []byte(m.edgeName(n)), nil
}

// scanState compares bytes exactly: a trailing blank or another case is no state.
func (m Machine) scanState(source any) (uint8, error) {
	raw, ok := source.([]byte)
	if !ok {
		return 0, &InvalidError{m, "state", fmt.Sprintf("%T", source)}
	}
	n := m.stateNumber(string(raw))
	if n == 0 {
		return 0, &InvalidError{m, "state", string(raw)}
	}
	return n, nil
}
