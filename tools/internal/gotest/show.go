package gotest

import (
	"fmt"
	"io"
	"strings"
)

// Shower prints a stream for a person: one line a package as it ends, and everything that a failed test, a package
// that died or a build that broke had to say. What passed stays silent.
type Shower struct {
	out    io.Writer
	held   map[Name][]string // output of tests that have not ended
	builds map[string][]string
	tests  map[string]int // top-level tests that ended, by package
	failed map[string]bool
}

// NewShower prints to out.
func NewShower(out io.Writer) *Shower {
	return &Shower{
		out: out, held: map[Name][]string{}, builds: map[string][]string{}, tests: map[string]int{}, failed: map[string]bool{},
	}
}

// Event takes the next event of the stream.
func (s *Shower) Event(event Event) {
	name := Name{event.Package, event.Test}
	switch event.Action {
	case "build-output":
		s.builds[event.ImportPath] = append(s.builds[event.ImportPath], event.Output)
	case "output":
		s.held[name] = append(s.held[name], event.Output)
	case "pass", "skip", "fail":
		if event.Test == "" {
			s.packageEnded(event)
			return
		}
		s.testEnded(name, Outcome(event.Action))
	}
}

// testEnded prints a failed test's output. A failed parent's lines follow those of its failed subtests, each under
// its own name.
func (s *Shower) testEnded(name Name, outcome Outcome) {
	if !strings.Contains(name.Test, "/") {
		s.tests[name.Package]++
	}
	if outcome == Fail {
		s.failed[name.Package] = true
		s.print(name)
	}
	if outcome == Skip {
		fmt.Fprintf(s.out, "skip %s.%s\n", name.Package, name.Test)
	}
	delete(s.held, name)
}

func (s *Shower) packageEnded(event Event) {
	if event.Action == "fail" {
		for _, line := range s.builds[event.FailedBuild] {
			fmt.Fprint(s.out, line)
		}
		// Tests without an end were running when the process died; the package's own lines say of what.
		for name := range s.held {
			if name.Package == event.Package && name.Test != "" {
				s.print(name)
			}
		}
		if event.FailedBuild == "" && !s.failed[event.Package] {
			s.print(Name{Package: event.Package})
		}
		fmt.Fprintf(s.out, "FAIL %s (%.1f s)\n", event.Package, event.Elapsed)
	}
	if event.Action == "pass" && s.tests[event.Package] > 0 {
		fmt.Fprintf(s.out, "ok   %s (%d tests, %.1f s)\n", event.Package, s.tests[event.Package], event.Elapsed)
	}
	for name := range s.held {
		if name.Package == event.Package {
			delete(s.held, name)
		}
	}
}

func (s *Shower) print(name Name) {
	fmt.Fprintf(s.out, "---- %s.%s\n", name.Package, name.Test)
	for _, line := range s.held[name] {
		if !strings.HasPrefix(line, "=== ") {
			fmt.Fprint(s.out, line)
		}
	}
}
