package schema

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// setting is one session variable that the protocol stands on, and what goes wrong without it.
type setting struct {
	name, want, why string
}

// settings are set on each new connection where a session can set them, and read back from it: a proxy, a global
// override or a server upgrade that changes one of them is found before a statement runs (R06).
var settings = []setting{
	{"tidb_txn_mode", "pessimistic", "an optimistic transaction takes no lock, so two writers would both pass a gate"},
	{"transaction_isolation", "READ-COMMITTED", "under another level a read after the lock returns what was true before it"},
	{"tidb_rc_read_check_ts", "0", "with it a read may return what was true before the lock"},
	{"tidb_low_resolution_tso", "0", "with it a read may be seconds old"},
	{"tidb_snapshot", "", "with it every read is from the past"},
	{"tidb_read_staleness", "0", "with it every read is from the past"},
	{"tidb_enable_external_ts_read", "0", "with it every read is from the past"},
	{"sql_mode", "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY",
		"a lenient session truncates and pads values silently"},
	{"foreign_key_checks", "1", "the declared reference from an effect to its command would not be kept"},
	{"tidb_constraint_check_in_place_pessimistic", "1", "a duplicate would be found only at COMMIT and abort the transaction there"},
	{"tidb_foreign_key_check_in_shared_lock", "0", "shared locks lose rows on the embedded store and fail on upgrade elsewhere"},
	{"tidb_enable_noop_functions", "OFF", "statements that lock nothing would be accepted"},
	{checkConstraints, "1", "without it a CHECK is accepted and not created"},
	{"innodb_lock_wait_timeout", "5", "a lock wait must end well before the driver gives the connection up"},
	{"tidb_idle_transaction_timeout", strconv.Itoa(int(IdleLimit / time.Second)), "a stalled process would hold an account's gate"},
	{"sql_select_limit", "18446744073709551615", "with a limit a lock of several guards returns some of them and no error, and a head reads as ended"},
	{"time_zone", "+00:00", "stored times are UTC"},
	{"autocommit", "1", "a statement outside a transaction would open one"},
}

// IdleLimit is how long a transaction may idle between two statements before the server ends it and its connection.
const IdleLimit = 15 * time.Second

// checkConstraints is the variable that lets a CHECK exist; Converge turns it on.
const checkConstraints = "tidb_enable_check_constraint"

// serverOnly are read back but never set: they are no session's own. TiDB takes a session's SET of
// tidb_rc_read_check_ts and changes its whole server by it.
var serverOnly = []string{checkConstraints, "tidb_rc_read_check_ts", "tidb_enable_external_ts_read"}

// drifting are those settings that decide what a lock and a read mean and that can change under an open connection: by
// whoever stands between, or for all sessions of a server at once.
var drifting = []string{"tidb_txn_mode", "transaction_isolation", "tidb_rc_read_check_ts", "tidb_enable_external_ts_read"}

// DriftColumns are what a transaction reads beside its own first columns, so that it costs no statement, and hands to
// CheckDrift.
func DriftColumns() string { return "@@" + strings.Join(drifting, ",@@") }

// CheckDrift refuses a session that is not set any more as its connection was opened, with ErrSession. It gets the texts of
// DriftColumns, in their order.
func CheckDrift(got []string) error {
	for i, name := range drifting {
		s := settings[slices.IndexFunc(settings, func(s setting) bool { return s.name == name })]
		if !s.holds(got[i]) {
			return errors.Mark(errors.Newf("session variable %s became %q after the connection was opened, and must be %q, because %s", name, got[i], s.want, s.why), ErrSession)
		}
	}
	return nil
}

// The driver's own limits. The read limit must outlast a lock wait and the slowest statement: if it ends first, a
// commit that merely waited becomes an unknown outcome.
const (
	dialTimeout  = 5 * time.Second
	readTimeout  = 30 * time.Second
	writeTimeout = 10 * time.Second
)

// Connector opens connections in one role with every session setting set, and refuses a connection whose settings
// read back otherwise. The DSN is go-sql-driver's; a session variable that it sets itself is left as it says, so that
// a wrong one is refused and not silently replaced.
//
// Errors name the address and never the password.
func Connector(dsn DSN, role Role) (driver.Connector, error) {
	config, err := dsn.config()
	if err != nil {
		return nil, err
	}
	return open(config, role, settings)
}

// open opens with every session setting and reads back those that are demanded.
func open(config *mysql.Config, role Role, demanded []setting) (*connector, error) {
	given := map[string]bool{}
	for name := range config.Params {
		given[strings.ToLower(name)] = true
	}
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	for _, s := range settings {
		if !given[s.name] && !slices.Contains(serverOnly, s.name) {
			config.Params[s.name] = "'" + s.want + "'"
		}
	}
	base, err := mysql.NewConnector(config)
	if err != nil {
		return nil, errors.Wrapf(err, "connection settings for TiDB at %s", config.Addr)
	}
	return &connector{Connector: base, address: config.Addr, database: config.DBName, role: role, demanded: demanded}, nil
}

// DSN is a go-sql-driver data source name. It holds a password: every verb, logger and encoder prints its address and
// database instead. The text is reached by a conversion to string, which only this room needs.
type DSN string

// String is address and database.
func (d DSN) String() string {
	config, err := mysql.ParseDSN(string(d))
	if err != nil {
		return "(an unreadable DSN)"
	}
	return config.Addr + "/" + config.DBName
}

// Format prints what String says under every verb: the default for %d or %#v would show the text itself.
func (d DSN) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, d.String()) }

// MarshalText hands encoders what String says.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Database is the name of the database that the DSN selects.
func (d DSN) Database() string {
	config, err := mysql.ParseDSN(string(d))
	if err != nil {
		return ""
	}
	return config.DBName
}

func (d DSN) config() (*mysql.Config, error) {
	config, err := mysql.ParseDSN(string(d))
	if err != nil {
		// The driver's error repeats the text, password included.
		return nil, errors.New("the DSN cannot be read: want user:password@tcp(host:port)/database")
	}
	if config.DBName == "" {
		return nil, errors.Newf("the DSN for %s names no database: want user:password@tcp(host:port)/database", config.Addr)
	}
	if !plainName.MatchString(config.DBName) {
		return nil, errors.Newf("database name %q at %s: want 1 to %d characters of a-z, 0-9 and _, which its roles' names are made of",
			config.DBName, config.Addr, maxDatabaseName)
	}
	if config.ClientFoundRows || config.MultiStatements {
		return nil, errors.Newf("the DSN for %s sets clientFoundRows or multiStatements: remove them, a fence is compared by changed rows", config.Addr)
	}
	config.InterpolateParams, config.ParseTime, config.Loc = true, true, time.UTC
	config.RejectReadOnly, config.CheckConnLiveness = true, true
	config.Logger = &mysql.NopLogger{} // what the driver would print comes back as an error too
	setDuration(&config.Timeout, dialTimeout)
	setDuration(&config.ReadTimeout, readTimeout)
	setDuration(&config.WriteTimeout, writeTimeout)
	if config.ReadTimeout < readTimeout {
		return nil, errors.Newf("the DSN for %s sets readTimeout=%s: want at least %s, so that a lock wait does not become an unknown outcome",
			config.Addr, config.ReadTimeout, readTimeout)
	}
	return config, nil
}

// plainName keeps a database's name out of every question of quoting and of upper and lower case.
var plainName = regexp.MustCompile(fmt.Sprintf("^[a-z0-9_]{1,%d}$", maxDatabaseName))

func setDuration(at *time.Duration, to time.Duration) {
	if *at == 0 {
		*at = to
	}
}

// ErrNoDatabase marks the refusal of a DSN whose database does not exist.
var ErrNoDatabase = errors.New("the database does not exist")

// ErrSession marks the refusal of a session whose settings the protocol cannot stand on.
var ErrSession = errors.New("the session is not safe")

type connector struct {
	driver.Connector
	address, database string
	role              Role
	demanded          []setting
}

// Connect opens one connection, takes the role and reads the settings back.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, c.explain(err)
	}
	if err := c.prepare(ctx, conn); err != nil {
		return nil, errors.CombineErrors(err, conn.Close())
	}
	return conn, nil
}

func (c *connector) explain(err error) error {
	var server *mysql.MySQLError
	switch {
	case errors.As(err, &server) && server.Number == codeUnknownDatabase:
		return errors.Mark(errors.Newf("database %s does not exist at %s: run 'connector schema apply'", c.database, c.address), ErrNoDatabase)
	case errors.As(err, &server) && (server.Number == codeAccessDenied || server.Number == codeDatabaseDenied):
		return errors.Newf("TiDB at %s refuses this user for database %s (error %d): check user, password and roles", c.address, c.database, server.Number)
	case errors.As(err, &server):
		return errors.Wrapf(err, "TiDB at %s", c.address)
	}
	return errors.Wrapf(err, "TiDB at %s cannot be reached: check the DSN and that the server runs", c.address)
}

func (c *connector) prepare(ctx context.Context, conn driver.Conn) error {
	if c.role != RoleMigration {
		execer, ok := conn.(driver.ExecerContext)
		if !ok {
			return errors.AssertionFailedf("the driver's connection executes nothing")
		}
		if _, err := execer.ExecContext(ctx, c.role.Take(c.database), nil); err != nil {
			return errors.Wrapf(err, "TiDB at %s: role %s of database %s: run 'connector schema apply'", c.address, c.role, c.database)
		}
	}
	return c.readBack(ctx, conn)
}

func (c *connector) readBack(ctx context.Context, conn driver.Conn) error {
	queryer, ok := conn.(driver.QueryerContext)
	if !ok {
		return errors.AssertionFailedf("the driver's connection queries nothing")
	}
	got, err := readRow(ctx, queryer, readBackQuery(c.demanded), len(c.demanded))
	if err != nil {
		return errors.Wrapf(err, "TiDB at %s: reading the session's settings back", c.address)
	}
	for i, s := range c.demanded {
		if !s.holds(got[i]) {
			return errors.Mark(errors.Newf("TiDB at %s: session variable %s is %q and must be %q, because %s",
				c.address, s.name, got[i], s.want, s.why), ErrSession)
		}
	}
	return nil
}

// readRow copies each value before the rows are closed: until then the driver lends its own buffer.
func readRow(ctx context.Context, queryer driver.QueryerContext, query string, columns int) ([]string, error) {
	rows, err := queryer.QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	values := make([]driver.Value, columns)
	if err := rows.Next(values); err != nil {
		return nil, errors.CombineErrors(err, rows.Close())
	}
	texts := make([]string, columns)
	for i, v := range values {
		texts[i] = text(v)
	}
	return texts, rows.Close()
}

func readBackQuery(demanded []setting) string {
	names := make([]string, len(demanded))
	for i, s := range demanded {
		names[i] = "@@" + s.name
	}
	return "SELECT " + strings.Join(names, ", ")
}

func text(v driver.Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	default:
		return fmt.Sprint(v)
	}
}

// holds compares a list such as sql_mode without regard to order.
func (s setting) holds(got string) bool {
	a, b := strings.Split(got, ","), strings.Split(s.want, ",")
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// Connect opens a pool in one role. It reaches the server once, so that a wrong DSN or setting is an error here and
// not later.
func Connect(ctx context.Context, dsn DSN, role Role) (*sql.DB, error) {
	c, err := Connector(dsn, role)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.CombineErrors(err, db.Close())
	}
	return db, nil
}
