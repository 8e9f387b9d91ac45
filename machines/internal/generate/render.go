package main

import (
	"bytes"
	"fmt"
	"strings"
)

const header = "// Code generated from machines/tables.txt by machines/internal/generate; DO NOT EDIT.\n\n"

func renderGo(t *tables) []byte {
	var b bytes.Buffer
	b.WriteString(header + "package machines\n\nimport \"database/sql/driver\"\n\n")
	b.WriteString("// Machine names one of the machines of tables.txt. The zero Machine is none.\ntype Machine uint8\n\nconst (\n")
	for i, m := range t.machines {
		fmt.Fprintf(&b, "\t%s Machine = %d\n", m.name, i+1)
	}
	b.WriteString(")\n\n")
	for _, m := range t.machines {
		renderStates(&b, m)
		if len(m.edges) > 0 {
			renderEdges(&b, m)
		}
	}
	renderDefinitions(&b, t)
	return b.Bytes()
}

func renderStates(b *bytes.Buffer, m *machine) {
	typ := m.name + "State"
	fmt.Fprintf(b, "// %s is a state of %s. The zero value is no state.\ntype %s uint8\n\nconst (\n", typ, m.name, typ)
	for i, s := range m.states {
		fmt.Fprintf(b, "\t%s %s = %d\n", goName(m.name, s), typ, i+1)
	}
	fmt.Fprintf(b, ")\n\nfunc (%s) state() {}\n\n", typ)
	methods := []struct{ doc, signature, body string }{
		{"Machine is " + m.name + ".", "Machine() Machine", "return " + m.name},
		{"String is the state's name in the spec.", "String() string", "return " + m.name + ".stateName(uint8(s))"},
		{"Valid tells whether s is a state of the machine.", "Valid() bool", fmt.Sprintf("return s >= 1 && s <= %d", len(m.states))},
		{"Terminal tells whether no edge leaves s.", "Terminal() bool", "return " + m.name + ".TerminalState(s.String())"},
		{"Value is the state as it is stored.", "Value() (driver.Value, error)", "return " + m.name + ".stateValue(uint8(s))"},
	}
	for _, f := range methods {
		fmt.Fprintf(b, "// %s\nfunc (s %s) %s { %s }\n\n", f.doc, typ, f.signature, f.body)
	}
	fmt.Fprintf(b, "// Scan reads a stored state and refuses any other bytes.\nfunc (s *%s) Scan(source any) error {\n"+
		"\tn, err := %s.scanState(source)\n\t*s = %s(n)\n\treturn err\n}\n\n", typ, m.name, typ)
}

func renderEdges(b *bytes.Buffer, m *machine) {
	typ, state := m.name+"Edge", m.name+"State"
	fmt.Fprintf(b, "// %s is an edge of %s. The zero value is no edge.\ntype %s uint8\n\nconst (\n", typ, m.name, typ)
	for i, e := range m.edges {
		fmt.Fprintf(b, "\t// %s -> %s\n\t%s %s = %d\n", e.from, e.to, goName(m.name, e.name), typ, i+1)
	}
	fmt.Fprintf(b, ")\n\nfunc (%s) edge() {}\n\n", typ)
	methods := []struct{ doc, signature, body string }{
		{"Machine is " + m.name + ".", "Machine() Machine", "return " + m.name},
		{"String is the edge's name in tables.txt.", "String() string", "return " + m.name + ".edgeName(uint8(e))"},
		{"Valid tells whether e is an edge of the machine.", "Valid() bool", fmt.Sprintf("return e >= 1 && e <= %d", len(m.edges))},
		{"Proof is what the edge demands.", "Proof() Proof", "return " + m.name + ".transition(uint8(e)).Proof"},
		{"From is the state that the edge leaves.", "From() " + state, fmt.Sprintf("return %s(%s.stateNumber(%s.transition(uint8(e)).From))", state, m.name, m.name)},
		{"To is the state that the edge enters.", "To() " + state, fmt.Sprintf("return %s(%s.stateNumber(%s.transition(uint8(e)).To))", state, m.name, m.name)},
		{"Value is the edge as it is stored.", "Value() (driver.Value, error)", "return " + m.name + ".edgeValue(uint8(e))"},
	}
	for _, f := range methods {
		fmt.Fprintf(b, "// %s\nfunc (e %s) %s { %s }\n\n", f.doc, typ, f.signature, f.body)
	}
}

func renderDefinitions(b *bytes.Buffer, t *tables) {
	b.WriteString("var definitions = [...]definition{\n")
	for _, m := range t.machines {
		fmt.Fprintf(b, "\t{\n\t\tname: %q,\n\t\toutside: %t,\n\t\tstates: %#v,\n\t\tstarts: %#v,\n\t\ttransitions: []Transition{\n", m.name, m.outside, m.states, m.starts)
		for _, e := range m.edges {
			fmt.Fprintf(b, "\t\t\t{%q, %q, %q, %q},\n", e.name, e.from, e.to, e.proof)
		}
		b.WriteString("\t\t},\n\t},\n")
	}
	b.WriteString("}\n\nvar proofs = map[Proof]string{\n")
	for _, p := range t.proofs {
		fmt.Fprintf(b, "\t%q: %q,\n", p.name, p.sentence)
	}
	b.WriteString("}\n")
}

// renderChecks makes the CHECK expressions: the allowed triples of each ledger, and the start states of each birth.
func renderChecks(t *tables) []byte {
	var b bytes.Buffer
	b.WriteString(header + "package schema\n\nimport \"connectorcore/machines\"\n\n")
	b.WriteString("// ledgerChecks lists, for each machine with a ledger, the (from_state, edge, to_state) triples that the database itself admits.\n")
	b.WriteString("var ledgerChecks = map[machines.Machine]string{\n")
	for _, m := range t.machines {
		if m.outside || len(m.edges) == 0 {
			continue
		}
		triples := make([]string, len(m.edges))
		for i, e := range m.edges {
			triples[i] = fmt.Sprintf("('%s', '%s', '%s')", e.from, e.name, e.to)
		}
		fmt.Fprintf(&b, "\tmachines.%s: \"(from_state, edge, to_state) IN (\" +\n\t\t%q,\n", m.name, strings.Join(triples, ", ")+")")
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func renderDocs(t *tables) []byte {
	var b bytes.Buffer
	b.WriteString("# Machines\n\nGenerated from `machines/tables.txt`; `make generate` writes it again. An edge is known by its name: where two\nproofs justify the same pair of states there are two edges.\n")
	for _, m := range t.machines {
		fmt.Fprintf(&b, "\n## %s\n\n", m.name)
		if m.outside {
			b.WriteString("Kept outside the database that may be restored; the Go table is all there is of it here.\n\n")
		}
		fmt.Fprintf(&b, "Born in: %s.\n", "`"+strings.Join(m.starts, "`, `")+"`")
		if len(m.edges) == 0 {
			b.WriteString("It has no edge: the fact is terminal when it is written.\n")
			continue
		}
		b.WriteString("\n```mermaid\nstateDiagram-v2\n")
		fmt.Fprintf(&b, "    [*] --> %s\n", m.starts[0])
		for _, e := range m.edges {
			fmt.Fprintf(&b, "    %s --> %s: %s\n", e.from, e.to, e.name)
		}
		b.WriteString("```\n\n| edge | from | to | proof |\n| --- | --- | --- | --- |\n")
		for _, e := range m.edges {
			fmt.Fprintf(&b, "| `%s` | `%s` | `%s` | %s |\n", e.name, e.from, e.to, t.says(e.proof))
		}
	}
	return b.Bytes()
}

func (t *tables) says(name string) string {
	for _, p := range t.proofs {
		if p.name == name {
			return p.sentence
		}
	}
	return ""
}
