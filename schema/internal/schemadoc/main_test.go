package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectorcore/schema"
)

func TestPageOnDiskIsTheDeclaration(t *testing.T) {
	if err := run("../../../docs/schema.md", true); err != nil {
		t.Fatal(err)
	}
}

func TestCheckFailsOnAnyOtherPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schema.md")
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
}

func TestPageTellsEverythingThatIsDeclared(t *testing.T) {
	text := string(page())
	for _, table := range schema.Tables() {
		_, section, found := strings.Cut(text, "\n### "+table.Name+"\n")
		section, _, _ = strings.Cut(section, "\n### ")
		wants := []string{table.Says, table.Kind.String(), table.Reader, strings.Join(table.Primary, ", ")}
		for _, c := range table.Columns {
			wants = append(wants, "| `"+c.Name+"` | "+c.Type+" |", c.Default)
		}
		for _, i := range table.Indexes {
			wants = append(wants, i.Name, i.Reader)
		}
		for _, c := range table.Checks {
			wants = append(wants, c.Name, c.Expr)
		}
		for _, r := range schema.RuntimeRoles() {
			wants = append(wants, string(r)+" "+strings.Join(r.Privileges(table.Kind), ", "))
		}
		if table.Rank != 0 {
			wants = append(wants, table.Rank.String())
		}
		for _, want := range wants {
			if !found || !strings.Contains(section, want) {
				t.Errorf("%s: the page does not say %q", table.Name, want)
			}
		}
	}
}
