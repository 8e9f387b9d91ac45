package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"connectorcore/engine/platform"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func page(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

// section is the lines below a heading, to the next one.
func section(t *testing.T, lines []string, heading string) []string {
	t.Helper()
	from := slices.Index(lines, heading)
	if from < 0 {
		t.Fatalf("no heading %q", heading)
	}
	rest := lines[from+1:]
	if to := slices.IndexFunc(rest, func(l string) bool { return strings.HasPrefix(l, "## ") }); to >= 0 {
		rest = rest[:to]
	}
	return rest
}

// table is the rows of a table, its head and rule left out.
func table(lines []string) []string {
	var rows []string
	for _, line := range lines {
		if strings.HasPrefix(line, "| ") {
			rows = append(rows, line)
		}
	}
	return rows[min(2, len(rows)):]
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("%s, row %d:\n got %q\nwant %q", what, i+1, got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
		}
	}
}

func TestEveryKeyIsDocumentedAsItIs(t *testing.T) {
	quoted := func(prefix string, names []string) string {
		return "`" + prefix + strings.Join(names, "`, `"+prefix) + "`"
	}
	var want []string
	for _, k := range platform.Keys() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s | %s |", k.Name, quoted("--", k.Flags()), quoted("", k.Env()), k.Default, k.Says))
	}
	equal(t, "the keys", table(section(t, page(t, "configuration.md"), "## Keys")), want)
}

func TestEveryExitCodeIsDocumentedAsItIs(t *testing.T) {
	var want []string
	for code, says := range exitSays {
		want = append(want, fmt.Sprintf("| %d | %s |", code, says))
	}
	equal(t, "the exit codes", table(section(t, page(t, "commands.md"), "## Exit codes")), want)
}

// Every command has its section with its example and its own flags, and every section has its command.
func TestEveryCommandIsDocumentedAsItIs(t *testing.T) {
	lines := page(t, "commands.md")
	var documented, commands []string
	for _, line := range lines {
		if name, is := strings.CutPrefix(line, "## connector "); is {
			documented = append(documented, "connector "+name)
		}
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if cmd.HasSubCommands() {
			return
		}
		commands = append(commands, cmd.CommandPath())
		text := section(t, lines, "## "+cmd.CommandPath())
		if !slices.Contains(text, "    "+strings.TrimSpace(cmd.Example)) {
			t.Errorf("%s: its example is not %q", cmd.CommandPath(), cmd.Example)
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !strings.Contains(strings.Join(text, "\n"), "`--"+f.Name) {
				t.Errorf("%s: --%s is not documented", cmd.CommandPath(), f.Name)
			}
		})
	}
	walk(new(program).root())
	commands = append(commands, "connector completion") // which the library adds when it runs
	slices.Sort(commands)
	slices.Sort(documented)
	equal(t, "the commands", documented, commands)
}

// An example must be a command line that parses: its command is there and knows its flags.
func TestEveryExampleParses(t *testing.T) {
	for _, line := range page(t, "commands.md") {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "    connector ") || words[1] == "completion" {
			continue
		}
		cmd, rest, err := new(program).root().Find(words[1:])
		if err != nil || cmd.HasSubCommands() {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}
