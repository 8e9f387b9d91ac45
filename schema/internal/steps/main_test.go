package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const landed = "../../steps.sql"

func TestEveryDeclaredTableHasItsStep(t *testing.T) {
	if err := run(landed, true); err != nil {
		t.Fatal(err)
	}
}

func TestATableWithoutAStepFailsTheCheckAndIsAppended(t *testing.T) {
	whole, err := os.ReadFile(landed)
	if err != nil {
		t.Fatal(err)
	}
	// The steps behind the last table are written by hand; what is made begins at that table and ends with it.
	last := strings.LastIndex(string(whole), ": create table ")
	last = strings.LastIndex(string(whole[:last]), "\n-- step ")
	if next := strings.Index(string(whole[last+1:]), "\n-- step "); next >= 0 {
		whole = whole[:last+1+next]
	}
	path := filepath.Join(t.TempDir(), "steps.sql")
	if err := os.WriteFile(path, whole[:last], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(path, true); err == nil || !strings.Contains(err.Error(), "run make generate") {
		t.Errorf("the check of a file without its last step gave %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(whole[:last]) {
		t.Errorf("the check wrote the file, %v", err)
	}
	for range 2 { // the second time there is nothing to append
		if err := run(path, false); err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(whole) {
			t.Errorf("appended the wrong step, %v", err)
		}
	}
	if err := run(filepath.Join(t.TempDir(), "none.sql"), true); err == nil {
		t.Error("a missing file passed the check")
	}
}
