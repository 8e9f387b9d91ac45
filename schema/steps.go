package schema

import (
	"crypto/sha256"
	_ "embed" // for the steps
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/errors"
)

// stepsSource holds the forward-only steps. A landed step never changes; a new table is appended by make generate,
// any other change is written by hand as one idempotent statement.
//
//go:embed steps.sql
var stepsSource string

// Step is one statement that brings a database forward.
type Step struct {
	Number    uint64
	Name      string
	Statement string
}

// digest is what the database remembers of a step, so that a changed step is found.
func (s Step) digest() [32]byte { return sha256.Sum256([]byte(s.Statement)) }

const stepMark = "-- step "

// Steps are all steps, in order, numbered from 1 without a gap.
func Steps() ([]Step, error) { return ParseSteps(stepsSource) }

// ParseSteps reads steps: a line "-- step N: name", then one statement that ends with a semicolon.
func ParseSteps(source string) ([]Step, error) {
	var steps []Step
	for i, part := range strings.Split("\n"+source, "\n"+stepMark) {
		if i == 0 {
			continue // what stands above the first step
		}
		head, body, _ := strings.Cut(part, "\n")
		number, name, ok := strings.Cut(head, ": ")
		n, err := strconv.ParseUint(number, 10, 64)
		if !ok || err != nil || n != uint64(len(steps)+1) {
			return nil, errors.Newf("steps.sql: step %q: want '-- step %d: name'", head, len(steps)+1)
		}
		statement, ended := strings.CutSuffix(strings.TrimSpace(body), ";")
		if !ended || statement == "" || strings.Contains(statement, ";") {
			return nil, errors.Newf("steps.sql: step %d: want one statement that ends with a semicolon", n)
		}
		steps = append(steps, Step{n, name, statement})
	}
	return steps, nil
}

// MissingSteps renders a step for each declared table that no step makes yet.
func MissingSteps(source string) (string, error) {
	steps, err := ParseSteps(source)
	if err != nil {
		return "", err
	}
	made := map[string]bool{}
	for _, s := range steps {
		made[s.Name] = true
	}
	var b strings.Builder
	next := len(steps) + 1
	for _, t := range tables {
		name := "create table " + t.Name
		if t == schemaStep || made[name] {
			continue
		}
		fmt.Fprintf(&b, "\n%s%d: %s\n%s;\n", stepMark, next, name, t.create())
		next++
	}
	return b.String(), nil
}
