// Command schemadoc writes docs/schema.md from the declaration of the tables. With -check it writes nothing and fails
// if the page on disk is not the one that it would write.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

func main() {
	out := flag.String("out", "docs/schema.md", "the page to write")
	check := flag.Bool("check", false, "only compare the page with what would be written")
	flag.Parse()
	if err := run(*out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "schemadoc:", err)
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
		return errors.Newf("%s is not what the declaration in schema says; run go generate ./schema", out)
	}
	return nil
}

const head = `# Tables

Generated from the declaration in ` + "`schema`" + ` by ` + "`go generate ./schema`" + `; do not edit.

Every table is declared once. From the declaration come the steps that make it, the comparison with the live catalogue
at each start, the privileges of the roles and this page. Identity is bytes: no column is text, has a collation, or is
JSON or an ENUM. Every primary key is clustered.

| kind | a row | lives |
| --- | --- | --- |
| fact | says what happened, or that something was born | for ever, as it was written |
| ledger | is one transition of a machine, with the fence that it consumed and its evidence | for ever, as it was written |
| guard | is locked by whoever decides about what it stands for | for ever, moved by each transition |
| head | is the guard of a subject that has not ended | until its subject ends |
| catalogue | is bookkeeping of converge | for ever, as it was written |

`

const rolesHead = `## Roles

A role is named after its database: ` + "`DATABASE_ledger`" + `. A daemon's login holds these three, and nothing else. Whoever
converges the database does so as a user of the cluster with the privileges to make tables and roles; nothing at run
time has them. No role may delete a guard, rewrite a fact or a transition, truncate, alter or drop.

`

const rolesTail = `
TiDB v8.5.6 asks for no privilege where a statement names no column of a table (pingcap/tidb#71495): whoever can log in
can count rows, and can lock them by a locking read of a constant. Columns stay unreadable, and nothing can be changed.
`

// page is the whole document.
func page() []byte {
	var text bytes.Buffer
	text.WriteString(head)
	text.WriteString(rolesHead)
	roles(&text)
	text.WriteString(rolesTail)
	text.WriteString("\n## Order of locks\n\nA transaction locks in this order and never goes back. A table of a rank stands beside it; the other ranks wait for theirs.\n\n")
	locks(&text)
	text.WriteString("\n## All tables\n\n| table | kind | a row |\n| --- | --- | --- |\n")
	tables := schema.Tables()
	for _, t := range tables {
		fmt.Fprintf(&text, "| [`%s`](#%s) | %s | %s |\n", t.Name, t.Name, t.Kind, t.Says)
	}
	for _, t := range tables {
		section(&text, t)
	}
	return text.Bytes()
}

var kinds = []schema.Kind{schema.Fact, schema.Ledger, schema.Guard, schema.Head, schema.Catalogue}

func roles(text *bytes.Buffer) {
	all := schema.RuntimeRoles()
	text.WriteString("| kind of table |")
	for _, r := range all {
		fmt.Fprintf(text, " %s |", r)
	}
	text.WriteString("\n| --- |" + strings.Repeat(" --- |", len(all)) + "\n")
	for _, k := range kinds {
		fmt.Fprintf(text, "| %s |", k)
		for _, r := range all {
			fmt.Fprintf(text, " %s |", may(r, k))
		}
		text.WriteString("\n")
	}
}

func may(r schema.Role, k schema.Kind) string {
	if list := r.Privileges(k); len(list) > 0 {
		return strings.Join(list, ", ")
	}
	return "nothing"
}

func locks(text *bytes.Buffer) {
	for rank := schema.RankOwnerBarrier; rank <= schema.RankLink; rank++ {
		table := ""
		for _, t := range schema.Tables() {
			if t.Rank == rank {
				table = ": `" + t.Name + "`"
			}
		}
		fmt.Fprintf(text, "%d. %s%s\n", rank, rank, table)
	}
}

func section(text *bytes.Buffer, t *schema.Table) {
	fmt.Fprintf(text, "\n### %s\n\n%s\n\n- Kind: %s.", t.Name, t.Says, t.Kind)
	if t.Rank != 0 {
		fmt.Fprintf(text, " Lock rank: %d, %s.", t.Rank, t.Rank)
	}
	text.WriteString("\n- Privileges:")
	for i, r := range schema.RuntimeRoles() {
		if i > 0 {
			text.WriteString(";")
		}
		fmt.Fprintf(text, " %s %s", r, may(r, t.Kind))
	}
	fmt.Fprintf(text, ".\n- Primary key: `%s`. Read by: %s.\n", strings.Join(t.Primary, ", "), t.Reader)
	for _, i := range t.Indexes {
		unique := "key"
		if i.Unique {
			unique = "unique key"
		}
		fmt.Fprintf(text, "- `%s`, %s: `%s`. Read by: %s.\n", i.Name, unique, strings.Join(i.Columns, ", "), i.Reader)
	}
	for _, c := range t.Checks {
		fmt.Fprintf(text, "- `%s`, check: `%s`\n", c.Name, c.Expr)
	}
	for _, f := range t.Foreigns {
		fmt.Fprintf(text, "- `%s`, reference: `%s` to `%s (%s)`\n", f.Name, strings.Join(f.Columns, ", "), f.Parent, strings.Join(f.ParentKeys, ", "))
	}
	text.WriteString("\n| column | type | absent | written by |\n| --- | --- | --- | --- |\n")
	written := t.ColumnNames()
	for _, c := range t.Columns {
		absent, writer := "never", "its writer"
		if c.Nullable {
			absent = "NULL"
		}
		if !slices.Contains(written, c.Name) {
			writer = "the database: `" + c.Default + "`"
		}
		fmt.Fprintf(text, "| `%s` | %s | %s | %s |\n", c.Name, c.Type, absent, writer)
	}
}
