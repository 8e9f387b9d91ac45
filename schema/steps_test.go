package schema_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"connectorcore/schema"
)

// testdata/steps.txt remembers each step that ever landed: databases were made by it and remember its digest, so it
// never changes. A new step is appended there by hand, in the commit that makes it.
func TestALandedStepNeverChanges(t *testing.T) {
	frozen, err := os.ReadFile("testdata/steps.txt")
	if err != nil {
		t.Fatal(err)
	}
	landed := slices.Collect(strings.Lines(string(frozen)))
	steps, err := schema.Steps()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range landed {
		if i >= len(steps) {
			t.Errorf("landed and gone: %s", line)
		} else if got := frozenLine(steps[i]) + "\n"; got != line {
			t.Errorf("a landed step was changed:\n  was %s  is  %swrite what is to change as a new step", line, got)
		}
	}
	for _, s := range steps[min(len(landed), len(steps)):] {
		t.Errorf("append to testdata/steps.txt: %s", frozenLine(s))
	}
}

func frozenLine(s schema.Step) string { return fmt.Sprintf("%d %x %s", s.Number, s.Digest(), s.Name) }

func TestStepsAreNumberedFromOneAndMakeEveryTableOnce(t *testing.T) {
	steps, err := schema.Steps()
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]int{}
	for i, s := range steps {
		if s.Number != uint64(i+1) {
			t.Errorf("step %d stands at place %d", s.Number, i+1)
		}
		if table, ok := strings.CutPrefix(s.Name, "create table "); ok {
			made[table]++
			if want := "CREATE TABLE IF NOT EXISTS " + table + " ("; !strings.HasPrefix(s.Statement, want) {
				t.Errorf("step %d (%s) does not begin with %q", s.Number, s.Name, want)
			}
		}
	}
	for _, table := range schema.Tables() {
		want := 1
		if table.Name == "schema_step" {
			want = 0 // it remembers the steps, so it is there before the first
		}
		if made[table.Name] != want {
			t.Errorf("%d steps make %s, want %d", made[table.Name], table.Name, want)
		}
	}
	missing, err := schema.MissingSteps(schema.StepsSource())
	if err != nil || missing != "" {
		t.Errorf("missing steps: %q, %v", missing, err)
	}
}

func TestDamagedStepsAreRefused(t *testing.T) {
	good := "-- a word first\n\n-- step 1: one\nSELECT 1;\n\n-- step 2: two\nSELECT\n  2;\n"
	steps, err := schema.ParseSteps(good)
	if err != nil || len(steps) != 2 || steps[1].Name != "two" || steps[1].Statement != "SELECT\n  2" {
		t.Fatalf("parsed %+v, %v", steps, err)
	}
	for name, change := range map[string][2]string{
		"a gap":               {"step 2:", "step 3:"},
		"the same number":     {"step 2:", "step 1:"},
		"beginning at zero":   {"step 1:", "step 0:"},
		"no number":           {"step 2:", "step two:"},
		"no name":             {"step 2: two", "step 2"},
		"two statements":      {"SELECT 1;", "SELECT 1; SELECT 1;"},
		"no end":              {"SELECT 1;", "SELECT 1"},
		"nothing but an end":  {"  2;", "  2\n;\n;"},
		"an empty statement":  {"SELECT 1;", ";"},
		"no statement at all": {"SELECT 1;", ""},
	} {
		damaged := strings.Replace(good, change[0], change[1], 1)
		if steps, err := schema.ParseSteps(damaged); err == nil || !strings.Contains(err.Error(), "steps.sql: step") {
			t.Errorf("%s: parsed %+v, %v", name, steps, err)
		}
	}
}
