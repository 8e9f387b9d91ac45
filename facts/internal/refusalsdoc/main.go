// Command refusalsdoc writes docs/refusals.md from the closed table of facts. With -check it writes nothing and
// fails if the page on disk is not the one that it would write.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/cockroachdb/errors"

	"connectorcore/facts"
)

func main() {
	out := flag.String("out", "docs/refusals.md", "the page to write")
	check := flag.Bool("check", false, "only compare the page with what would be written")
	flag.Parse()
	if err := run(*out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "refusalsdoc:", err)
		os.Exit(1)
	}
}

func run(out string, check bool) error {
	want := page()
	if !check {
		return errors.Wrapf(os.WriteFile(out, want, 0o644), "writing %s", out)
	}
	have, err := os.ReadFile(out)
	if err != nil {
		return errors.Wrapf(err, "reading %s", out)
	}
	if !bytes.Equal(have, want) {
		return errors.Newf("%s is not what the table in facts says; run go generate ./facts", out)
	}
	return nil
}

const head = `# Refusals and reasons

Generated from the table in ` + "`facts`" + ` by ` + "`go generate ./facts`" + `; do not edit.

Every refusal of an item and every reason to halt or to quarantine is one row here. Its text is stable: it is stored,
shown and used as a metric label. Rows stand in their order of precedence: where several apply, the first one is the
answer. Codes of facts whose tables do not exist yet join with those tables.

- **not started**: the process refuses to start and has changed nothing.
- **refused**: one item of a transaction is refused; nothing of it was written, and its neighbours go on.
- **halted**: the subject stands still in a nonterminal state. No time-out ends that.
- **quarantined**: the subject is set aside for good. A remedy makes a new fact; it never edits the old one.

The alert is how long a reason may stand before somebody is told. It is never a deadline after which something
becomes safe. Each marker in an evidence query is bound to the subject's exact key.

`

// page is the whole document.
func page() []byte {
	var text bytes.Buffer
	text.WriteString(head)
	text.WriteString("| code | class | owner | alert |\n| --- | --- | --- | --- |\n")
	for _, reason := range facts.Reasons() {
		fmt.Fprintf(&text, "| [`%s`](#%s) | %s | %s | %s |\n", reason.Text, reason.Text, reason.Class, reason.Owner, alert(reason))
	}
	text.WriteString("\n## What may be done\n\nThis list is closed. Nothing on it cancels, edits or reopens a fact.\n\n")
	for _, remedy := range facts.Remedies() {
		fmt.Fprintf(&text, "- `%s`: %s.\n", remedy, remedy.Sentence())
	}
	text.WriteString("\n## The codes\n")
	for _, reason := range facts.Reasons() {
		section(&text, reason)
	}
	return text.Bytes()
}

func section(text *bytes.Buffer, reason facts.Reason) {
	fmt.Fprintf(text, "\n### %s\n\n%s%s.\n\n", reason.Text, strings.ToUpper(reason.Meaning[:1]), reason.Meaning[1:])
	fmt.Fprintf(text, "- Class: %s. Owner: %s. Alert: %s.\n", reason.Class, reason.Owner, alert(reason))
	verbs := make([]string, 0, len(reason.Remedies))
	for _, remedy := range reason.Remedies {
		verbs = append(verbs, "`"+remedy.String()+"`")
	}
	fmt.Fprintf(text, "- Remedies: %s.\n", strings.Join(verbs, ", "))
	for _, kind := range reason.Subjects {
		statement := reason.Evidence.Statement(kind)
		switch {
		case kind == facts.InputSubject:
			fmt.Fprintf(text, "- Evidence (%s): none is stored; the request is still in its sender's hands.\n", kind)
		case statement == "":
			fmt.Fprintf(text, "- Evidence (%s): the message of the start itself, since there is no session to ask with.\n", kind)
		default:
			fmt.Fprintf(text, "- Evidence (%s): `%s`\n", kind, statement)
		}
	}
}

func alert(reason facts.Reason) string {
	switch {
	case reason.Alert == facts.NoAlert:
		return "none"
	case reason.Alert == 0:
		return "at once"
	default:
		return fmt.Sprintf("after %d min", int(reason.Alert.Minutes()))
	}
}
