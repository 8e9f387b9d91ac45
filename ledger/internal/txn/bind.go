package txn

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// maxRows bounds the rows or keys of one statement, so that a batch's cost depends on its size class alone.
const maxRows = 256

// values turns a row's addresses into what the driver binds, so that rows can be compared and bound alike. A count
// past 2^63 is an error here and never wraps.
func values(addresses []any) ([]driver.Value, error) {
	bound := make([]driver.Value, len(addresses))
	for i, at := range addresses {
		value, err := driver.DefaultParameterConverter.ConvertValue(at)
		if err != nil {
			return nil, errors.Wrapf(err, "value %d of a row", i+1)
		}
		bound[i] = value
	}
	return bound, nil
}

// sameRow compares two rows as they are bound, byte for byte.
func sameRow(a, b []driver.Value) bool {
	return slices.EqualFunc(a, b, func(x, y driver.Value) bool {
		switch x := x.(type) {
		case []byte:
			y, ok := y.([]byte)
			return ok && bytes.Equal(x, y) && (x == nil) == (y == nil)
		case time.Time:
			y, ok := y.(time.Time)
			return ok && x.Equal(y)
		}
		return x == y
	})
}

// key is a primary key as it is bound and ordered.
type key struct {
	sort   string
	values []driver.Value
}

// keyFrom builds a key from the addresses of its fields. Every key column but the last is of a fixed length: bytes, or
// a count, which never is negative. So the order of the concatenation is the order of the rows.
func keyFrom(addresses []any) (key, error) {
	bound, err := values(addresses)
	if err != nil {
		return key{}, err
	}
	var sort strings.Builder
	for _, v := range bound {
		switch v := v.(type) {
		case []byte:
			sort.Write(v)
		case int64:
			sort.Write(binary.BigEndian.AppendUint64(nil, uint64(v)))
		default:
			return key{}, errors.AssertionFailedf("a key column is bound as %T, want bytes or a count", v)
		}
	}
	return key{sort.String(), bound}, nil
}

// ordered sorts keys and drops repeated ones.
func ordered(keys []key) []key {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b key) int { return strings.Compare(a.sort, b.sort) })
	return slices.CompactFunc(keys, func(a, b key) bool { return a.sort == b.sort })
}

// tuples renders "(?,?),(?,?)", or "?,?" for one column.
func tuples(rows, columns int) string {
	one := "?" + strings.Repeat(",?", columns-1)
	if columns > 1 {
		one = "(" + one + ")"
	}
	return one + strings.Repeat(","+one, rows-1)
}

// inserted renders "(?,?),(?,?)", or "(?),(?)" for one column.
func inserted(rows, columns int) string {
	if columns == 1 {
		return "(?)" + strings.Repeat(",(?)", rows-1)
	}
	return tuples(rows, columns)
}

// names renders "(a,b)", or "a" for one column.
func names(columns ...string) string {
	if len(columns) == 1 {
		return columns[0]
	}
	return "(" + strings.Join(columns, ",") + ")"
}

// selectByKey renders "SELECT a,b FROM t WHERE (k,l) IN (...)" for a number of keys.
func selectByKey(table *schema.Table, columns []string, keys int) string {
	return "SELECT " + strings.Join(columns, ",") + " FROM " + table.Name +
		" WHERE " + names(table.Primary...) + " IN (" + tuples(keys, len(table.Primary)) + ")"
}

// flat lists the values of several rows in order.
func flat(rows [][]driver.Value) []any {
	var all []any
	for _, row := range rows {
		for _, v := range row {
			all = append(all, v)
		}
	}
	return all
}

func keyValues(keys []key) [][]driver.Value {
	rows := make([][]driver.Value, len(keys))
	for i, k := range keys {
		rows[i] = k.values
	}
	return rows
}
