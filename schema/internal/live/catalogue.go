package live

import (
	"context"
	"database/sql"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Catalogue is what the session sees of its database: each table by its name, views among them.
type Catalogue map[string]*Description

// Read reads the catalogue of the session's database: one statement for each kind of thing, and one more for each
// declared table that stands there. That a table which is not declared stands there is difference enough. An error is
// the database's own.
func Read(ctx context.Context, db *sql.DB, declared []string) (Catalogue, error) {
	c := Catalogue{}
	for _, read := range []func(context.Context, *sql.DB) error{c.readColumns, c.readKeys, c.readChecks, c.readReferences} {
		if err := read(ctx, db); err != nil {
			return nil, err
		}
	}
	return c, c.readStatements(ctx, db, declared)
}

func (c Catalogue) table(name string) *Description {
	if c[name] == nil {
		c[name] = &Description{}
	}
	return c[name]
}

func (c Catalogue) readColumns(ctx context.Context, db *sql.DB) error {
	return Each(ctx, db, `SELECT table_name, column_name, column_type, is_nullable,
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
			t.Columns = append(t.Columns, Column(name, typ, nullable == "YES", standard))
			return nil
		})
}

func (c Catalogue) readKeys(ctx context.Context, db *sql.DB) error {
	return Each(ctx, db, `SELECT table_name, key_name, MAX(non_unique), CONCAT(MAX(clustered), MAX(is_visible)),
		GROUP_CONCAT(CONCAT(IFNULL(expression, column_name), IFNULL(CONCAT('(', sub_part, ')'), '')) ORDER BY seq_in_index SEPARATOR ', ')
		FROM information_schema.tidb_indexes WHERE table_schema = DATABASE() GROUP BY table_name, key_name`, nil,
		func(rows *sql.Rows) error {
			var table, name, flags, columns string
			var notUnique int
			if err := rows.Scan(&table, &name, &notUnique, &flags, &columns); err != nil {
				return err
			}
			key := Key(name, notUnique == 0, strings.HasPrefix(flags, "YES"), strings.Split(columns, ", "))
			if strings.HasSuffix(flags, "NO") {
				key.Says += " invisible" // to the planner: the read path that it serves would scan
			}
			t := c.table(table)
			t.Keys = append(t.Keys, key)
			return nil
		})
}

func (c Catalogue) readChecks(ctx context.Context, db *sql.DB) error {
	return Each(ctx, db, `SELECT table_name, constraint_name, check_clause
		FROM information_schema.tidb_check_constraints WHERE constraint_schema = DATABASE()`, nil,
		func(rows *sql.Rows) error {
			var table, name, clause string
			if err := rows.Scan(&table, &name, &clause); err != nil {
				return err
			}
			t := c.table(table)
			clause = strings.TrimSuffix(strings.TrimPrefix(clause, "("), ")") // around the whole
			t.Checks = append(t.Checks, Check(name, clause))
			return nil
		})
}

func (c Catalogue) readReferences(ctx context.Context, db *sql.DB) error {
	return Each(ctx, db, `SELECT k.table_name, k.constraint_name, k.referenced_table_name,
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
			reference := Reference(name, strings.Split(columns, ", "), parent, strings.Split(keys, ", "))
			reference.Says += rules
			t.References = append(t.References, reference)
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
func (c Catalogue) readStatements(ctx context.Context, db *sql.DB, declared []string) error {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if !slices.Contains(declared, name) {
			continue
		}
		statement, err := c.statement(ctx, db, name)
		if err != nil {
			return err
		}
		t := c[name]
		for _, match := range unenforced.FindAllStringSubmatch(statement, -1) {
			for i := range t.Checks {
				if t.Checks[i].Name == match[1] {
					t.Checks[i].Says += " not enforced"
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
func (c Catalogue) statement(ctx context.Context, db *sql.DB, name string) (statement string, err error) {
	err = Each(ctx, db, "SHOW CREATE TABLE `"+name+"`", nil, func(rows *sql.Rows) error {
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
