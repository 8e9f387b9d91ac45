package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectorcore/engine/embedded"
	"connectorcore/proptest/world"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// testWait bounds every wait of these tests; none of them waits that long unless it fails.
const testWait = 90 * time.Second

// binaryDir is where the command is built; TestMain removes it.
var binaryDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "connector-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binaryDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// binary is the real command, built once for this process.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(binaryDir, "connector")
	output, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	return path, errors.Wrapf(err, "go build: %s", output)
})

// shell runs the command as a user would, with an environment of its own.
type shell struct {
	t       *testing.T
	dir     string   // working directory and base of all data
	environ []string // beside what the process needs
	secrets []string // must never be printed
}

func newShell(t *testing.T) *shell {
	t.Helper()
	return &shell{t: t, dir: t.TempDir()}
}

// with is the same shell with more variables. A password in one of them is a secret from then on.
func (s *shell) with(environ ...string) *shell {
	more := *s
	more.environ = append(slices.Clone(s.environ), environ...)
	more.secrets = slices.Clone(s.secrets)
	for _, e := range environ {
		_, text, _ := strings.Cut(e, "=")
		if config, err := mysql.ParseDSN(text); err == nil && config.Passwd != "" {
			more.secrets = append(more.secrets, config.Passwd)
		}
	}
	return &more
}

// dsn is with a DSN for the daemon.
func (s *shell) dsn(config *mysql.Config) *shell {
	return s.with("CONNECTOR_DSN=" + config.FormatDSN())
}

func (s *shell) command(ctx context.Context, args ...string) *exec.Cmd {
	s.t.Helper()
	path, err := binary()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = s.dir
	cmd.Env = append([]string{"XDG_DATA_HOME=" + filepath.Join(s.dir, "data")}, s.environ...)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "PATH", "TMPDIR"} {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}

// answer is what a command printed, and how it ended.
type answer struct {
	code     int
	out, err string
}

func (s *shell) run(args ...string) answer {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), testWait)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := s.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("%v: %v", args, err)
	}
	return s.checked(answer{cmd.ProcessState.ExitCode(), out.String(), errs.String()})
}

// checked looks for secrets in all that was printed.
func (s *shell) checked(a answer) answer {
	s.t.Helper()
	for _, secret := range s.secrets {
		if strings.Contains(a.out+a.err, secret) {
			s.t.Errorf("a secret is printed: %s%s", a.out, a.err)
		}
	}
	return a
}

// done runs a command that must succeed.
func (s *shell) done(args ...string) answer {
	s.t.Helper()
	a := s.run(args...)
	if a.code != exitDone {
		s.t.Fatalf("%v: exit code %d: %s%s", args, a.code, a.out, a.err)
	}
	return a
}

// refused runs a command that must end with this code and one sentence that holds all the words.
func (s *shell) refused(code int, args []string, words ...string) {
	s.t.Helper()
	a := s.run(args...)
	if a.code != code {
		s.t.Errorf("%v: exit code %d, want %d: %s", args, a.code, code, a.err)
	}
	if a.out != "" && args[0] != "schema" {
		s.t.Errorf("%v: printed data of a failure: %s", args, a.out)
	}
	if line, ended := strings.CutSuffix(a.err, "\n"); !ended || line == "" || strings.Contains(line, "\n") || !strings.HasPrefix(line, "connector: ") {
		s.t.Errorf("%v: not one sentence: %q", args, a.err)
	}
	for _, word := range words {
		if !strings.Contains(a.err, word) {
			s.t.Errorf("%v: want %q in: %s", args, word, a.err)
		}
	}
}

// decode reads a command's JSON.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	strict := json.NewDecoder(strings.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&value); err != nil {
		t.Fatalf("not the JSON that was promised: %v: %s", err, text)
	}
	return value
}

func configOf(login embedded.Login, database string) *mysql.Config {
	config := login.Config()
	config.DBName = database
	return config
}

// set is a DSN with one parameter.
func set(config *mysql.Config, name, value string) *mysql.Config {
	changed := config.Clone()
	changed.Params = map[string]string{name: value}
	return changed
}

// deadAddress is a port of this host at which nobody listens.
func deadAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// picture is all that a start could change: the catalogue, the record of steps, accounts, privileges and globals.
func picture(t *testing.T, admin *sql.DB, database string) string {
	t.Helper()
	var all strings.Builder
	for _, query := range []string{
		"SELECT schema_name FROM information_schema.schemata WHERE schema_name = '" + database + "'",
		"SELECT table_name, column_name, column_type, is_nullable, column_default, ordinal_position FROM information_schema.columns WHERE table_schema = '" + database + "' ORDER BY 1, 6",
		"SELECT table_name, key_name, column_name, seq_in_index FROM information_schema.tidb_indexes WHERE table_schema = '" + database + "' ORDER BY 1, 2, 4",
		"SELECT constraint_name, check_clause FROM information_schema.tidb_check_constraints WHERE constraint_schema = '" + database + "' ORDER BY 1",
		"SELECT user, host, authentication_string FROM mysql.user WHERE user LIKE '" + database + "%' ORDER BY 1",
		"SELECT user, table_name, table_priv FROM mysql.tables_priv WHERE db = '" + database + "' ORDER BY 1, 2",
		"SELECT from_user, to_user FROM mysql.role_edges WHERE to_user LIKE '" + database + "%' ORDER BY 1, 2",
		"SHOW GLOBAL VARIABLES",
	} {
		appendRows(t, &all, admin, query)
	}
	if strings.Contains(all.String(), "schema_step|") {
		appendRows(t, &all, admin, "SELECT number, HEX(digest), applied_at FROM "+database+".schema_step ORDER BY 1")
	}
	return all.String()
}

func appendRows(t *testing.T, to *strings.Builder, db *sql.DB, query string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	cells, places := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range cells {
		places[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			to.WriteString(c.String + "|")
		}
		to.WriteString("\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// unchanged fails the test if what is done between it and its return value changes anything.
func unchanged(t *testing.T, admin *sql.DB, database string) (check func()) {
	t.Helper()
	before := strings.Split(picture(t, admin, database), "\n")
	return func() {
		t.Helper()
		after := strings.Split(picture(t, admin, database), "\n")
		for _, line := range after {
			if !slices.Contains(before, line) {
				t.Errorf("new or changed: %s", line)
			}
		}
		for _, line := range before {
			if !slices.Contains(after, line) {
				t.Errorf("gone or changed: %s", line)
			}
		}
	}
}

func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// migrationOf is the administrator's login to the database of a store on the shared server.
func migrationOf(t *testing.T, store *world.Store) *mysql.Config {
	t.Helper()
	return configOf(world.Server(t), store.Name)
}
