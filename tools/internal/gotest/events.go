// Package gotest runs `go test -json` and reads its event stream.
package gotest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Event is one line of the stream, in the shape of `go doc test2json` and `go help buildjson`.
type Event struct {
	Action      string
	Package     string
	ImportPath  string // of build-output and build-fail
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string // the import path whose build ended this package
}

// Name is one test or subtest of one package.
type Name struct{ Package, Test string }

// Outcome is how a test ended. The zero Outcome is a test that began and did not end: its process died.
type Outcome string

// The outcomes, of which the worst one wins if a test ran more than once.
const (
	Unfinished Outcome = ""
	Pass       Outcome = "pass"
	Skip       Outcome = "skip"
	Fail       Outcome = "fail"
)

// Test is what the stream told of one test or subtest.
type Test struct {
	Outcome    Outcome
	Statements int // statements on TiDB that the test itself reported; its subtests report their own
}

// Package is what the stream told of one package.
type Package struct {
	Outcome     Outcome
	FailedBuild bool // it or its tests did not compile, or the package could not be loaded
}

// Run is all that a stream told.
type Run struct {
	Tests    map[Name]*Test
	Packages map[string]*Package
}

// NewRun is a run of which nothing was heard yet.
func NewRun() *Run { return &Run{Tests: map[Name]*Test{}, Packages: map[string]*Package{}} }

// marker is the line that the test world logs when a test ends.
var marker = regexp.MustCompile(`(?:^|\s)proof: ([0-9]+) statements on TiDB\s*$`)

// Add takes one event.
func (r *Run) Add(event Event) {
	if event.Package == "" {
		return
	}
	if event.Test == "" {
		r.addPackage(event)
		return
	}
	name := Name{event.Package, event.Test}
	test := r.Tests[name]
	if test == nil {
		test = &Test{}
		r.Tests[name] = test
	}
	switch outcome := Outcome(event.Action); outcome {
	case Pass, Skip, Fail:
		test.Outcome = worse(test.Outcome, outcome)
	}
	if event.Action == "output" {
		if found := marker.FindStringSubmatch(event.Output); found != nil {
			count, err := strconv.Atoi(found[1])
			if err == nil {
				test.Statements += count
			}
		}
	}
}

func (r *Run) addPackage(event Event) {
	pack := r.Packages[event.Package]
	if pack == nil {
		pack = &Package{}
		r.Packages[event.Package] = pack
	}
	switch outcome := Outcome(event.Action); outcome {
	case Pass, Skip, Fail:
		pack.Outcome = worse(pack.Outcome, outcome)
	}
	if event.FailedBuild != "" {
		pack.FailedBuild = true
	}
}

func worse(a, b Outcome) Outcome {
	rank := map[Outcome]int{Unfinished: 0, Pass: 1, Skip: 2, Fail: 3}
	if rank[a] > rank[b] {
		return a
	}
	return b
}

// Read takes a whole stream. Lines that are not events are kept from nobody: each goes to stray.
func (r *Run) Read(stream io.Reader, each func(Event), stray func(string)) error {
	reader := bufio.NewReader(stream)
	for {
		line, err := reader.ReadString('\n')
		if line != "" {
			var event Event
			if json.Unmarshal([]byte(line), &event) == nil && event.Action != "" {
				r.Add(event)
				each(event)
			} else {
				stray(line)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the event stream of go test: %w", err)
		}
	}
}

// Load reads a recorded stream.
func Load(stream io.Reader) (*Run, error) {
	run := NewRun()
	var odd string
	err := run.Read(stream, func(Event) {}, func(line string) { odd = line })
	if err == nil && strings.TrimSpace(odd) != "" {
		err = fmt.Errorf("the record holds a line that is no event of go test: %.80q", odd)
	}
	return run, err
}

// Counts is the number of top-level tests by outcome. A package that failed without a failed test (it did not
// compile, or its process died) counts as one failure, and a test that never ended as another.
type Counts struct{ Passed, Failed, Skipped int }

// Count sums up a run.
func (r *Run) Count() Counts {
	var counts Counts
	failed := map[string]bool{}
	for name, test := range r.Tests {
		if strings.Contains(name.Test, "/") {
			continue
		}
		switch test.Outcome {
		case Pass:
			counts.Passed++
		case Skip:
			counts.Skipped++
		default:
			counts.Failed++
			failed[name.Package] = true
		}
	}
	for path, pack := range r.Packages {
		if pack.Outcome == Fail && !failed[path] {
			counts.Failed++
		}
	}
	return counts
}

// Plus adds the counts of another module.
func (c Counts) Plus(other Counts) Counts {
	return Counts{c.Passed + other.Passed, c.Failed + other.Failed, c.Skipped + other.Skipped}
}

// String is the closing line of a run.
func (c Counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
}
