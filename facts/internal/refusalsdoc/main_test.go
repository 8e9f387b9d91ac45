package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestPageOnDiskIsTheTable(t *testing.T) {
	if err := run("../../../docs/refusals.md", true); err != nil {
		t.Fatal(err)
	}
}

func TestCheckFailsOnAnyOtherPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "refusals.md")
	if err := run(path, true); err == nil {
		t.Error("a missing page passed the check")
	}
	if err := os.WriteFile(path, append(page(), ' '), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(path, true); err == nil {
		t.Error("an edited page passed the check")
	}
	if err := run(path, false); err != nil {
		t.Fatal(err)
	}
	if err := run(path, true); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(page(), page()) {
		t.Error("two pages of one table differ")
	}
}
