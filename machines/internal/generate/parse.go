package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

type edge struct{ name, from, to, proof string }

type machine struct {
	name    string
	outside bool
	starts  []string
	states  []string
	edges   []edge
}

type proof struct{ name, sentence string }

type tables struct {
	machines []*machine
	proofs   []proof
}

var (
	machineName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	wordName    = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
)

// parse reads the table. Every error names its line.
func parse(source string) (*tables, error) {
	t := &tables{}
	for i, line := range strings.Split(source, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if err := t.line(words); err != nil {
			return nil, fmt.Errorf("tables.txt:%d: %w", i+1, err)
		}
	}
	return t, t.check()
}

func (t *tables) line(words []string) error {
	switch {
	case words[0] == "machine" && len(words) == 2:
		return t.open(words[1])
	case words[0] == "proof" && len(words) > 2:
		if t.proofNamed(words[1]) {
			return fmt.Errorf("proof %s is declared twice", words[1])
		}
		t.proofs = append(t.proofs, proof{words[1], strings.Join(words[2:], " ")})
		return nil
	case len(t.machines) == 0:
		return fmt.Errorf("%q stands before the first machine", words[0])
	}
	return t.machines[len(t.machines)-1].line(words)
}

func (t *tables) open(name string) error {
	if !machineName.MatchString(name) {
		return fmt.Errorf("machine %q: want a name like RemoteEffect", name)
	}
	if slices.ContainsFunc(t.machines, func(m *machine) bool { return m.name == name }) {
		return fmt.Errorf("machine %s is declared twice", name)
	}
	t.machines = append(t.machines, &machine{name: name})
	return nil
}

func (t *tables) proofNamed(name string) bool {
	return slices.ContainsFunc(t.proofs, func(p proof) bool { return p.name == name })
}

func (m *machine) line(words []string) error {
	switch {
	case len(words) == 1 && words[0] == "outside":
		m.outside = true
		return nil
	case words[0] == "start" && len(words) == 2:
		if slices.Contains(m.starts, words[1]) {
			return fmt.Errorf("%s: start %s is declared twice", m.name, words[1])
		}
		m.starts = append(m.starts, words[1])
		return m.state(words[1])
	case len(words) == 4:
		return m.edge(edge{words[0], words[1], words[2], words[3]})
	}
	return fmt.Errorf("%s: want 'start STATE' or 'edge FROM TO PROOF', got %q", m.name, strings.Join(words, " "))
}

func (m *machine) edge(e edge) error {
	if !wordName.MatchString(e.name) {
		return fmt.Errorf("%s: edge %q: want a name like begin_send", m.name, e.name)
	}
	if slices.ContainsFunc(m.edges, func(other edge) bool { return other.name == e.name }) {
		return fmt.Errorf("%s: edge %s is declared twice", m.name, e.name)
	}
	if e.from == e.to {
		return fmt.Errorf("%s: edge %s moves nothing", m.name, e.name)
	}
	m.edges = append(m.edges, e)
	if err := m.state(e.from); err != nil {
		return err
	}
	return m.state(e.to)
}

func (m *machine) state(name string) error {
	if !wordName.MatchString(name) {
		return fmt.Errorf("%s: state %q: want a name like v2_serving", m.name, name)
	}
	if !slices.Contains(m.states, name) {
		m.states = append(m.states, name)
	}
	return nil
}

// check refuses what would generate a machine that nobody can be born into, leave or explain.
func (t *tables) check() error {
	used := map[string]bool{}
	for _, m := range t.machines {
		if len(m.starts) == 0 {
			return fmt.Errorf("machine %s has no start state", m.name)
		}
		if len(m.starts) > 1 && len(m.edges) > 0 {
			return fmt.Errorf("machine %s has edges and several start states", m.name)
		}
		if err := m.reachable(); err != nil {
			return err
		}
		for _, e := range m.edges {
			used[e.proof] = true
			if !t.proofNamed(e.proof) {
				return fmt.Errorf("machine %s: edge %s: proof %s is not declared", m.name, e.name, e.proof)
			}
		}
	}
	for _, p := range t.proofs {
		if !used[p.name] {
			return fmt.Errorf("proof %s is used by no edge", p.name)
		}
	}
	return nil
}

func (m *machine) reachable() error {
	reached := slices.Clone(m.starts)
	for i := 0; i < len(reached); i++ {
		for _, e := range m.edges {
			if e.from == reached[i] && !slices.Contains(reached, e.to) {
				reached = append(reached, e.to)
			}
		}
	}
	for _, s := range m.states {
		if !slices.Contains(reached, s) {
			return fmt.Errorf("machine %s: no path leads to state %s", m.name, s)
		}
	}
	for _, e := range m.edges {
		if slices.Contains(m.states, e.name) {
			return fmt.Errorf("machine %s: %s names an edge and a state", m.name, e.name)
		}
	}
	return nil
}

// goName joins a machine's name and a table word: RemoteEffect, no_effect -> RemoteEffectNoEffect.
func goName(machine, word string) string {
	name := machine
	for _, part := range strings.Split(word, "_") {
		name += strings.ToUpper(part[:1]) + part[1:]
	}
	return name
}
