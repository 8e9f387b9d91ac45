package schema_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// otherwise is for each session setting a value that a DSN might carry, and how the server then reads it back.
var otherwise = map[string][2]string{
	"tidb_txn_mode":            {"'optimistic'", "optimistic"},
	"transaction_isolation":    {"'REPEATABLE-READ'", "REPEATABLE-READ"},
	"tidb_low_resolution_tso":  {"1", "1"},
	"tidb_snapshot":            {"'2020-06-01 00:00:00'", "2020-06-01 00:00:00"},
	"tidb_read_staleness":      {"-5", "-5"},
	"sql_mode":                 {"'NO_ENGINE_SUBSTITUTION'", "NO_ENGINE_SUBSTITUTION"},
	"foreign_key_checks":       {"0", "0"},
	"innodb_lock_wait_timeout": {"50", "50"},
	"time_zone":                {"'+02:00'", "+02:00"},
	"autocommit":               {"0", "0"},
	"tidb_constraint_check_in_place_pessimistic": {"0", "0"},
	"tidb_foreign_key_check_in_shared_lock":      {"1", "1"},
	"tidb_enable_noop_functions":                 {"'ON'", "ON"},
	"tidb_idle_transaction_timeout":              {"0", "0"},
	"sql_select_limit":                           {"5", "5"}, // not fewer, or the reading back would be cut itself
}

// withParams is the administrator's DSN for a database with session variables set by hand.
func withParams(db *world.DB, params map[string]string) schema.DSN {
	config := db.Login.Config()
	config.DBName, config.Params = db.Name, params
	return schema.DSN(config.FormatDSN())
}

func connect(t *testing.T, dsn schema.DSN, role schema.Role) error {
	t.Helper()
	db, err := schema.Connect(t.Context(), dsn, role)
	if err == nil {
		_ = db.Close()
	}
	return err
}

func TestR06EverySettingThatADSNSetsOtherwiseIsRefused(t *testing.T) {
	db := world.DatabaseOn(t, world.OwnServer(t).Root())
	// Without a safe point, which the embedded store never has, the server refuses to look at any snapshot.
	run(t, db.Admin, "INSERT INTO mysql.tidb (variable_name, variable_value, comment) VALUES ('tikv_gc_safe_point', '20200101-00:00:00 +0000', '')")
	defaults := map[string]string{}
	for _, s := range schema.Settings() {
		name, want, why := s[0], s[1], s[2]
		if slices.Contains(schema.ServerSettings, name) {
			continue // no session's own: below
		}
		defaults[name] = "'" + want + "'"
		other, ok := otherwise[name]
		if !ok {
			t.Errorf("%s: no other value to try", name)
			continue
		}
		before := settingOf(t, db.Admin, name)
		for _, spelling := range []string{name, strings.ToUpper(name)} {
			err := connect(t, withParams(db, map[string]string{spelling: other[0]}), schema.RoleMigration)
			message := fmt.Sprintf("session variable %s is %q and must be %q, because %s", name, other[1], want, why)
			if err == nil || !strings.Contains(err.Error(), message) || !strings.Contains(err.Error(), db.Login.Address) || !errors.Is(err, schema.ErrSession) {
				t.Errorf("%s=%s gave %v\nwant %s", spelling, other[0], err, message)
			}
		}
		if after := settingOf(t, db.Admin, name); after != before {
			t.Errorf("%s of one session became %q in another, which had %q: read it back and never set it", name, after, before)
		}
	}
	if err := connect(t, withParams(db, defaults), schema.RoleMigration); err != nil {
		t.Errorf("the settings themselves in a DSN: %v", err)
	}
	reordered := map[string]string{"sql_mode": "'ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_IN_DATE,NO_ZERO_DATE,STRICT_TRANS_TABLES'"}
	if err := connect(t, withParams(db, reordered), schema.RoleMigration); err != nil {
		t.Errorf("a mode in another order: %v", err)
	}
	if err := connect(t, withParams(db, map[string]string{"no_such_variable": "1"}), schema.RoleMigration); err == nil || !strings.Contains(err.Error(), "no_such_variable") {
		t.Errorf("an unknown variable gave %v", err)
	}
	globalsDoNotReachASession(t, db)
}

// globalsDoNotReachASession: an operator's global default loses to what each session sets, but for the variables that
// are no session's own.
func globalsDoNotReachASession(t *testing.T, db *world.DB) {
	t.Helper()
	for name, other := range otherwise {
		sessionOnly := slices.Contains([]string{"tidb_snapshot", "tidb_read_staleness", "tidb_constraint_check_in_place_pessimistic"}, name)
		if _, err := db.Admin.Exec("SET GLOBAL " + name + " = " + other[0]); (err != nil) != sessionOnly {
			t.Errorf("SET GLOBAL %s = %s: %v", name, other[0], err)
		}
	}
	plain := withParams(db, nil)
	if err := connect(t, plain, schema.RoleMigration); err != nil {
		t.Errorf("with every global default otherwise: %v", err)
	}
	for _, c := range [][3]string{{"tidb_enable_check_constraint", "0", "1"}, {"tidb_rc_read_check_ts", "1", "0"}} {
		run(t, db.Admin, "SET GLOBAL "+c[0]+" = "+c[1])
		want := fmt.Sprintf("session variable %s is %q and must be %q, because ", c[0], c[1], c[2])
		if err := connect(t, plain, schema.RoleMigration); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with %s otherwise: %v", c[0], err)
		}
		run(t, db.Admin, "SET GLOBAL "+c[0]+" = "+c[2])
	}
	if err := connect(t, plain, schema.RoleMigration); err != nil {
		t.Errorf("with the server's own settings mended: %v", err)
	}
}

// settingOf reads on a connection that was there before: the pool keeps one.
func settingOf(t *testing.T, db *sql.DB, name string) (value string) {
	t.Helper()
	if err := db.QueryRow("SELECT @@" + name).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestEveryConnectionOfAPoolIsInItsRoleAndItsSession(t *testing.T) {
	store := world.Converged(t)
	pool := store.Pool(t, schema.RoleLedger)
	var held []*sql.Conn
	for range 3 {
		conn, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
		var role, isolation string
		if err := conn.QueryRowContext(t.Context(), "SELECT CURRENT_ROLE(), @@transaction_isolation").Scan(&role, &isolation); err != nil {
			t.Fatal(err)
		}
		if role != "`"+schema.RoleLedger.Name(store.Name)+"`@`%`" || isolation != "READ-COMMITTED" {
			t.Errorf("a connection has role %s and isolation %s", role, isolation)
		}
	}
	for _, conn := range held {
		_ = conn.Close()
	}
	var at time.Time
	if err := pool.QueryRow("SELECT applied_at FROM schema_step WHERE number = 1").Scan(&at); err != nil || at.Location() != time.UTC {
		t.Errorf("a time is read as %v, %v", at, err)
	}
}

const secret = "s3cret/w@rd"

func TestOptionsThatBreakAFenceOrATimeoutAreRefused(t *testing.T) {
	for option, want := range map[string]string{
		"clientFoundRows=true": "sets clientFoundRows or multiStatements: remove them",
		"multiStatements=true": "sets clientFoundRows or multiStatements: remove them",
		"readTimeout=29s":      "sets readTimeout=29s: want at least 30s",
	} {
		_, err := schema.Connector(schema.DSN("daemon:"+secret+"@tcp(db.example:4000)/ledger?"+option), schema.RoleLedger)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "db.example:4000") || strings.Contains(err.Error(), secret) {
			t.Errorf("%s gave %v", option, err)
		}
	}
	for _, option := range []string{"clientFoundRows=false", "multiStatements=false", "readTimeout=30s", "readTimeout=2m", "timeout=1s", "writeTimeout=1s", "parseTime=false", "loc=Local"} {
		if _, err := schema.Connector(schema.DSN("daemon:"+secret+"@tcp(db.example:4000)/ledger?"+option), schema.RoleLedger); err != nil {
			t.Errorf("%s gave %v", option, err)
		}
	}
}

func TestADSNNeverShowsItsPassword(t *testing.T) {
	for _, dsn := range []schema.DSN{"daemon:" + secret + "@tcp(db.example:4000)/ledger", "daemon:" + secret, "tcp(" + secret, "daemon:" + secret + "@tcp(db.example:4000"} {
		holder := struct {
			DSN  schema.DSN
			More []schema.DSN
		}{dsn, []schema.DSN{dsn}}
		var log strings.Builder
		for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
			slog.New(handler).Info("start", "dsn", dsn, "config", holder)
		}
		asJSON, err := json.Marshal(holder)
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{dsn.String(), string(asJSON), log.String(), fmt.Sprint(dsn), fmt.Sprintln(holder)}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
			texts = append(texts, fmt.Sprintf(verb, dsn), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder))
		}
		if connector, err := schema.Connector(dsn, schema.RoleLedger); err == nil {
			texts = append(texts, fmt.Sprintf("%v %+v %#v", connector, connector, connector))
		} else {
			texts = append(texts, err.Error(), fmt.Sprintf("%+v", err))
		}
		for _, text := range texts {
			if strings.Contains(text, "s3cret") || strings.Contains(text, fmt.Sprintf("%x", "s3cret")) {
				t.Errorf("it shows in %s", text)
			}
		}
	}
	readable := schema.DSN("daemon:" + secret + "@tcp(db.example:4000)/ledger?timeout=1s")
	if readable.String() != "db.example:4000/ledger" || fmt.Sprintf("%#v", readable) != "db.example:4000/ledger" || readable.Database() != "ledger" {
		t.Errorf("a readable DSN prints as %s", readable)
	}
	if unreadable := schema.DSN("daemon:" + secret); unreadable.String() != "(an unreadable DSN)" || unreadable.Database() != "" {
		t.Errorf("an unreadable DSN prints as %s", unreadable)
	}
}

func TestAnUnusableDSNSaysWhatToDoWithoutThePassword(t *testing.T) {
	store := world.Converged(t)
	config := store.Login.Config()
	config.DBName = store.Name
	wrong := func(change func(*mysql.Config)) schema.DSN {
		c := config.Clone()
		c.Passwd = secret
		change(c)
		return schema.DSN(c.FormatDSN())
	}
	stranger := wrong(func(c *mysql.Config) { c.Passwd = config.Passwd })
	for name, c := range map[string]struct {
		dsn  schema.DSN
		role schema.Role
		want []string
	}{
		"unreadable":   {schema.DSN("daemon:" + secret + "@tcp(db.example:4000"), schema.RoleLedger, []string{"the DSN cannot be read: want user:password@tcp(host:port)/database"}},
		"no database":  {wrong(func(c *mysql.Config) { c.DBName = "" }), schema.RoleLedger, []string{"names no database: want user:password@tcp(host:port)/database", store.Login.Address}},
		"password":     {wrong(func(*mysql.Config) {}), schema.RoleLedger, []string{"refuses this user", "(error 1045)", "check user, password and roles", store.Name, store.Login.Address}},
		"user":         {wrong(func(c *mysql.Config) { c.User = "nobody" }), schema.RoleLedger, []string{"refuses this user", "(error 1045)"}},
		"another name": {wrong(func(c *mysql.Config) { c.Passwd, c.DBName = config.Passwd, "elsewhere" }), schema.RoleLedger, []string{"refuses this user for database elsewhere", "(error 1044)"}},
		"address":      {wrong(func(c *mysql.Config) { c.Addr = "127.0.0.1:1" }), schema.RoleLedger, []string{"TiDB at 127.0.0.1:1 cannot be reached: check the DSN and that the server runs"}},
		"role":         {stranger, schema.Role("strange"), []string{"role strange of database " + store.Name, "run 'connector schema apply'"}},
	} {
		err := connect(t, c.dsn, c.role)
		if err == nil {
			t.Errorf("%s: connected", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwant %q", name, err, want)
			}
		}
		if text := fmt.Sprintf("%+v", err); strings.Contains(text, "s3cret") || strings.Contains(text, config.Passwd) {
			t.Errorf("%s shows the password: %s", name, text)
		}
	}
	if _, err := schema.Converge(t.Context(), wrong(func(*mysql.Config) {})); err == nil || !strings.Contains(err.Error(), "for database "+store.Name) || strings.Contains(err.Error(), secret) {
		t.Errorf("converge with a wrong password: %v", err)
	}
}
