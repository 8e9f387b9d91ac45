package schema

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
)

// describe says of a declared table what readCatalogue says of a live one.
func describe(t *Table) *description {
	d := &description{}
	for _, c := range t.Columns {
		d.columns = append(d.columns, line{c.Name, columnSays(c.Type, c.Nullable, c.Default)})
	}
	d.keys = append(d.keys, line{"PRIMARY", keySays(true, true, t.Primary)})
	for _, i := range t.Indexes {
		d.keys = append(d.keys, line{i.Name, keySays(i.Unique, false, i.Columns)})
	}
	for _, c := range t.Checks {
		d.checks = append(d.checks, line{c.Name, plainExpression(c.Expr)})
	}
	for _, f := range t.Foreigns {
		d.foreign = append(d.foreign, line{f.Name, foreignSays(f.Columns, f.Parent, f.ParentKeys)})
	}
	return d
}

func columnSays(typ string, nullable bool, standard string) string {
	says := typ
	if !nullable {
		says += " NOT NULL"
	}
	if standard != "" {
		says += " DEFAULT " + standard
	}
	return says
}

func keySays(unique, clustered bool, columns []string) string {
	says := strings.Join(columns, ", ")
	if unique {
		says = "unique " + says
	}
	if clustered {
		says = "clustered " + says
	}
	return says
}

func foreignSays(columns []string, parent string, keys []string) string {
	return fmt.Sprintf("%s -> %s (%s)", strings.Join(columns, ", "), parent, strings.Join(keys, ", "))
}

var introducer = regexp.MustCompile(`\b_utf8(mb4)?'`)

// plainExpression strips what TiDB adds when it stores a CHECK: quotes around names, character set introducers, the
// word row, and brackets. Two different declared checks never become equal by it, because declared ones do not differ
// in brackets alone.
func plainExpression(expr string) string {
	expr = introducer.ReplaceAllString(strings.ToLower(expr), "'")
	expr = strings.ReplaceAll(expr, "row(", "(")
	return strings.Join(strings.Fields(strings.NewReplacer("`", "", "(", " ", ")", " ", ",", " ").Replace(expr)), " ")
}

func readCatalogue(ctx context.Context, db *sql.DB, as Role, database string) (*catalogue, error) {
	live := &catalogue{tables: map[string]*description{}, grants: map[Role]map[string][]string{}}
	for _, read := range []func(context.Context, *sql.DB) error{live.readColumns, live.readKeys, live.readChecks, live.readForeign} {
		if err := read(ctx, db); err != nil {
			return nil, err
		}
	}
	return live, live.readGrants(ctx, db, as, database)
}

func (c *catalogue) table(name string) *description {
	if c.tables[name] == nil {
		c.tables[name] = &description{}
	}
	return c.tables[name]
}

func (c *catalogue) readColumns(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, `SELECT table_name, column_name, column_type, is_nullable, IFNULL(column_default, ''), extra
		FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position`, nil,
		func(rows *sql.Rows) error {
			var table, name, typ, nullable, standard, extra string
			if err := rows.Scan(&table, &name, &typ, &nullable, &standard, &extra); err != nil {
				return err
			}
			if extra = strings.TrimSpace(strings.Replace(extra, "DEFAULT_GENERATED", "", 1)); extra != "" {
				typ += " " + extra
			}
			t := c.table(table)
			t.columns = append(t.columns, line{name, columnSays(typ, nullable == "YES", standard)})
			return nil
		})
}

func (c *catalogue) readKeys(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, `SELECT table_name, key_name, MAX(non_unique), MAX(clustered),
		GROUP_CONCAT(CONCAT(column_name, IFNULL(CONCAT('(', sub_part, ')'), '')) ORDER BY seq_in_index SEPARATOR ', ')
		FROM information_schema.tidb_indexes WHERE table_schema = DATABASE() GROUP BY table_name, key_name`, nil,
		func(rows *sql.Rows) error {
			var table, name, clustered, columns string
			var notUnique int
			if err := rows.Scan(&table, &name, &notUnique, &clustered, &columns); err != nil {
				return err
			}
			t := c.table(table)
			t.keys = append(t.keys, line{name, keySays(notUnique == 0, clustered == "YES", strings.Split(columns, ", "))})
			return nil
		})
}

func (c *catalogue) readChecks(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, `SELECT table_name, constraint_name, check_clause
		FROM information_schema.tidb_check_constraints WHERE constraint_schema = DATABASE()`, nil,
		func(rows *sql.Rows) error {
			var table, name, clause string
			if err := rows.Scan(&table, &name, &clause); err != nil {
				return err
			}
			t := c.table(table)
			t.checks = append(t.checks, line{name, plainExpression(clause)})
			return nil
		})
}

func (c *catalogue) readForeign(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, `SELECT table_name, constraint_name, referenced_table_name,
		GROUP_CONCAT(column_name ORDER BY ordinal_position SEPARATOR ', '),
		GROUP_CONCAT(referenced_column_name ORDER BY ordinal_position SEPARATOR ', ')
		FROM information_schema.key_column_usage
		WHERE table_schema = DATABASE() AND referenced_table_name IS NOT NULL
		GROUP BY table_name, constraint_name, referenced_table_name`, nil,
		func(rows *sql.Rows) error {
			var table, name, parent, columns, keys string
			if err := rows.Scan(&table, &name, &parent, &columns, &keys); err != nil {
				return err
			}
			t := c.table(table)
			t.foreign = append(t.foreign, line{name, foreignSays(strings.Split(columns, ", "), parent, strings.Split(keys, ", "))})
			return nil
		})
}

// readGrants reads every role as the migration role, and its own effective privileges as a runtime role.
func (c *catalogue) readGrants(ctx context.Context, db *sql.DB, as Role, database string) error {
	if as != RoleMigration {
		granted, err := grants(ctx, db, "SHOW GRANTS", database)
		c.grants[as] = granted
		return err
	}
	for _, role := range runtimeRoles {
		granted, err := grantsOf(ctx, db, role.name(database), database)
		if err != nil {
			return err
		}
		c.grants[role] = granted
	}
	return nil
}
