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

// plainExpression writes a CHECK the one way in which the declared and the stored text agree. TiDB stores it in lower
// case, with quoted names, a character set before each literal and the word row before each list, and without the
// blanks after commas. What stands between quotes is data and stays as it is.
func plainExpression(expr string) string {
	parts := strings.Split(expr, "'")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = storedForm.Replace(strings.ToLower(parts[i]))
	}
	return strings.Join(parts, "'")
}

var storedForm = strings.NewReplacer("`", "", "_utf8mb4", "", ", ", ",", "row(", "(")

func readCatalogue(ctx context.Context, db *sql.DB, as Role, database string) (*catalogue, error) {
	live := &catalogue{tables: map[string]*description{}, grants: map[Role]held{}}
	for _, read := range []func(context.Context, *sql.DB) error{live.readColumns, live.readKeys, live.readChecks, live.readForeign, live.readStatements} {
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
	return each(ctx, db, `SELECT table_name, column_name, column_type, is_nullable,
		IF(column_default = '', "''", IFNULL(column_default, '')), extra
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
	return each(ctx, db, `SELECT table_name, key_name, MAX(non_unique), CONCAT(MAX(clustered), MAX(is_visible)),
		GROUP_CONCAT(CONCAT(IFNULL(expression, column_name), IFNULL(CONCAT('(', sub_part, ')'), '')) ORDER BY seq_in_index SEPARATOR ', ')
		FROM information_schema.tidb_indexes WHERE table_schema = DATABASE() GROUP BY table_name, key_name`, nil,
		func(rows *sql.Rows) error {
			var table, name, flags, columns string
			var notUnique int
			if err := rows.Scan(&table, &name, &notUnique, &flags, &columns); err != nil {
				return err
			}
			says := keySays(notUnique == 0, strings.HasPrefix(flags, "YES"), strings.Split(columns, ", "))
			if strings.HasSuffix(flags, "NO") {
				says += " invisible" // to the planner: the read path that it serves would scan
			}
			t := c.table(table)
			t.keys = append(t.keys, line{name, says})
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
			clause = strings.TrimSuffix(strings.TrimPrefix(clause, "("), ")") // around the whole
			t.checks = append(t.checks, line{name, plainExpression(clause)})
			return nil
		})
}

func (c *catalogue) readForeign(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, `SELECT k.table_name, k.constraint_name, k.referenced_table_name,
		GROUP_CONCAT(k.column_name ORDER BY k.ordinal_position SEPARATOR ', '),
		GROUP_CONCAT(k.referenced_column_name ORDER BY k.ordinal_position SEPARATOR ', '),
		MAX(CONCAT(IF(r.delete_rule = 'NO ACTION', '', CONCAT(' ON DELETE ', r.delete_rule)),
			IF(r.update_rule = 'NO ACTION', '', CONCAT(' ON UPDATE ', r.update_rule))))
		FROM information_schema.key_column_usage k JOIN information_schema.referential_constraints r
		ON r.constraint_schema = k.table_schema AND r.table_name = k.table_name AND r.constraint_name = k.constraint_name
		WHERE k.table_schema = DATABASE() AND k.referenced_table_name IS NOT NULL
		GROUP BY k.table_name, k.constraint_name, k.referenced_table_name`, nil,
		func(rows *sql.Rows) error {
			var table, name, parent, columns, keys, rules string
			if err := rows.Scan(&table, &name, &parent, &columns, &keys, &rules); err != nil {
				return err
			}
			t := c.table(table)
			says := foreignSays(strings.Split(columns, ", "), parent, strings.Split(keys, ", "))
			t.foreign = append(t.foreign, line{name, says + rules})
			return nil
		})
}

var (
	unenforced  = regexp.MustCompile("(?m)^ *CONSTRAINT `([^`]+)` CHECK .*NOT ENFORCED \\*/,?$")
	plainOption = regexp.MustCompile("^ENGINE=InnoDB DEFAULT CHARSET=\\w+ COLLATE=\\w+( COMMENT='([^']|'')*')?" +
		"( /\\*T!\\[placement\\] PLACEMENT POLICY=`[^`]*` \\*/)?$")
)

// readStatements finds what only SHOW CREATE TABLE tells: a CHECK that stands there and is not enforced, and what
// follows the last bracket, where a time to live would delete facts and a cache would serve old ones.
func (c *catalogue) readStatements(ctx context.Context, db *sql.DB) error {
	for _, name := range sorted(c.tables) {
		if Find(name) == nil {
			continue
		}
		statement, err := c.statement(ctx, db, name)
		if err != nil {
			return err
		}
		t := c.tables[name]
		for _, match := range unenforced.FindAllStringSubmatch(statement, -1) {
			for i := range t.checks {
				if t.checks[i].name == match[1] {
					t.checks[i].says += " not enforced"
				}
			}
		}
		first, _, _ := strings.Cut(statement, "(")
		_, last, _ := strings.Cut(statement, "\n) ")
		if strings.TrimSpace(first) != "CREATE TABLE `"+name+"`" || !plainOption.MatchString(last) {
			t.options = strings.TrimSpace(first) + " (...) " + last
		}
	}
	return nil
}

// statement is what SHOW CREATE TABLE says. Of a view it has two columns more.
func (c *catalogue) statement(ctx context.Context, db *sql.DB, name string) (statement string, err error) {
	err = each(ctx, db, "SHOW CREATE TABLE `"+name+"`", nil, func(rows *sql.Rows) error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(sql.RawBytes)
		}
		values[1] = &statement
		return rows.Scan(values...)
	})
	return statement, err
}

// readGrants reads every role as the migration role, and its own effective privileges as a runtime role.
func (c *catalogue) readGrants(ctx context.Context, db *sql.DB, as Role, database string) error {
	if as != RoleMigration {
		has, err := grants(ctx, db, "SHOW GRANTS", database)
		has.roles = nil // the login's, of which this role is one
		c.grants[as] = has
		return err
	}
	for _, role := range runtimeRoles {
		has, err := grantsOf(ctx, db, role.name(database), database)
		if err != nil {
			return err
		}
		c.grants[role] = has
	}
	return nil
}
