package platform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/spf13/pflag"
)

const (
	secret = "s3cret-Zq7"
	dsnA   = "daemon:" + secret + "@tcp(a.example:4000)/connector"
	dsnB   = "daemon:" + secret + "@tcp(b.example:4000)/connector"
	dsnC   = "daemon:" + secret + "@tcp(c.example:4000)/connector"
)

// try loads from a file's text (none if empty), an environment and a command line.
func try(t *testing.T, file string, environ []string, args ...string) (*Config, string, error) {
	t.Helper()
	flags := pflag.NewFlagSet("connector", pflag.ContinueOnError)
	AddFlags(flags)
	path := filepath.Join(t.TempDir(), "connector.yaml")
	if file != "" {
		write(t, path, file)
		args = append(args, "--config", path)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	config, err := Load(environ, flags)
	return config, path, err
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c *Config) value(t *testing.T, key string) Value {
	t.Helper()
	for _, v := range c.Values {
		if v.Key == key {
			return v
		}
	}
	t.Fatalf("no key %s", key)
	return Value{}
}

func TestAFlagComesBeforeTheEnvironmentThenTheFileThenTheDefault(t *testing.T) {
	file := "log:\n  level: warn\n"
	environ := []string{"CONNECTOR_LOG_LEVEL=error"}
	for _, c := range []struct {
		file    string
		environ []string
		args    []string
		level   string
		origin  string
	}{
		{"", nil, nil, "INFO", "default"},
		{file, nil, nil, "WARN", "connector.yaml:2"},
		{file, environ, nil, "ERROR", "CONNECTOR_LOG_LEVEL"},
		{file, environ, []string{"--log-level=debug"}, "DEBUG", "--log-level"},
	} {
		config, _, err := try(t, c.file, c.environ, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := config.Log.Level.String(); got != c.level {
			t.Errorf("%s: level %s, want %s", c.origin, got, c.level)
		}
		if got := filepath.Base(config.value(t, "log.level").Origin); got != c.origin {
			t.Errorf("origin %q, want %q", got, c.origin)
		}
	}
}

// Each key must be reachable by each of its spellings, or the documentation would promise one that does nothing.
func TestEveryKeyIsReadFromEachOfItsSpellings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dsn")
	write(t, path, dsnA+"\n")
	values := map[string]string{
		"store.dsn": dsnA, "store.migration_dsn": dsnA, "store.dsn_file": path, "store.migration_dsn_file": path,
		"store.dir": "/data", "store.witness": "/witness", "secrets.dir": "/secrets", "secrets.identity_file": "/identity",
		"secrets.vault_address": "https://vault.example:8200", "secrets.vault_token_file": "/token", "secrets.vault_namespace": "ns", "log.level": "warn", "log.format": "json",
		"serve.listen": "127.0.0.1:0", "serve.origin": "https://hooks.example", "serve.operations": "127.0.0.1:0", "serve.application": "http://127.0.0.1:9000",
	}
	for _, k := range Keys() {
		text := values[k.Name]
		section, leaf, _ := strings.Cut(k.Name, ".")
		check := func(origin, file string, environ []string, args ...string) {
			config, _, err := try(t, file, environ, args...)
			if err != nil {
				t.Fatalf("%s by %s: %v", k.Name, origin, err)
			}
			if got := filepath.Base(config.value(t, k.Name).Origin); got != origin {
				t.Errorf("%s: origin %q, want %q", k.Name, got, origin)
			}
		}
		check("connector.yaml:2", section+":\n  "+leaf+": "+text+"\n", nil)
		for _, name := range k.Env() {
			check(name, "", []string{name + "=" + text})
		}
		for _, name := range k.Flags() {
			check("--"+name, "", nil, "--"+name, text)
		}
	}
}

func TestOfASecretAndItsFileTheHigherSourceCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dsn")
	write(t, path, dsnC+"\r\n")
	inFile := "store:\n  dsn_file: " + path + "\n"
	for _, c := range []struct {
		name, file string
		environ    []string
		want, from string
	}{
		{"the file alone", inFile, nil, dsnC, "connector.yaml:2, from " + path},
		{"a variable above the file's file", inFile, []string{"CONNECTOR_DSN=" + dsnA}, dsnA, "CONNECTOR_DSN"},
		{"a variable's file above the file's text", "store:\n  dsn: " + dsnB + "\n", []string{"CONNECTOR_STORE_DSN_FILE=" + path}, dsnC, "CONNECTOR_STORE_DSN_FILE, from " + path},
	} {
		config, _, err := try(t, c.file, c.environ)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if string(config.Store.DSN) != c.want || config.Store.MigrationDSN != config.Store.DSN {
			t.Errorf("%s: the wrong DSN", c.name)
		}
		if got := config.value(t, "store.dsn").Origin; !strings.HasSuffix(got, c.from) {
			t.Errorf("%s: origin %q, want %q", c.name, got, c.from)
		}
		if c.want == dsnA && config.value(t, "store.dsn_file").Text != "" {
			t.Errorf("%s: a file that was not read is shown as read", c.name)
		}
	}
}

// Everything that is wrong is refused, with where it stands and what to write instead, and never with a secret.
func TestWhatIsUnknownOrInvalidIsRefusedWithItsPlace(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	write(t, empty, "\n")
	for _, c := range []struct {
		name, file string
		environ    []string
		args       []string
		want       []string
	}{
		{"unknown key", "log:\n  level: info\nstore:\n  dns: " + dsnA + "\n", nil, nil, []string{"connector.yaml:4: unknown key store.dns, the nearest is store.dsn"}},
		{"unknown section", "sotre:\n  dsn: x\n", nil, nil, []string{"connector.yaml:2: unknown key sotre.dsn, the nearest is store.dsn"}},
		{"unknown key in flow style", "{log: {levle: info}}\n", nil, nil, []string{"connector.yaml: unknown key log.levle, the nearest is log.level"}},
		{"a DSN as a key", "\"" + dsnA + "\": 1\n", nil, nil, []string{"connector.yaml:1: unknown key (text)"}},
		{"a section as a value", "store: " + dsnA + "\n", nil, nil, []string{"connector.yaml:1: store is a section"}},
		{"a list as a value", "log:\n  level: [info]\n", nil, nil, []string{"connector.yaml:2: log.level: want one value"}},
		{"deeper than a key", "log:\n  level:\n    x: 1\n", nil, nil, []string{"connector.yaml:3: unknown key log.level.x, the nearest is log.level"}},
		{"an empty value", "log:\n  level:\n", nil, nil, []string{"connector.yaml:2: log.level is empty"}},
		{"an empty variable", "", []string{"CONNECTOR_DSN="}, nil, []string{"CONNECTOR_DSN: store.dsn is empty"}},
		{"an empty flag", "", nil, []string{"--dsn", ""}, []string{"--dsn: store.dsn is empty"}},
		{"unknown variable", "", []string{"CONNECTOR_STORE_DNS=" + dsnA}, nil, []string{"CONNECTOR_STORE_DNS: no such variable, the nearest is CONNECTOR_STORE_DSN"}},
		{"two spellings of a variable", "", []string{"CONNECTOR_DSN=" + dsnA, "CONNECTOR_STORE_DSN=" + dsnB}, nil, []string{"CONNECTOR_STORE_DSN: store.dsn is also given by CONNECTOR_DSN"}},
		{"two spellings of a flag", "", nil, []string{"--dsn", dsnA, "--store-dsn", dsnB}, []string{"--store-dsn: store.dsn is also given by --dsn"}},
		{"a secret and its file", "", []string{"CONNECTOR_DSN=" + dsnA, "CONNECTOR_STORE_DSN_FILE=x"}, nil, []string{"CONNECTOR_DSN: store.dsn is also given by CONNECTOR_STORE_DSN_FILE"}},
		{"a secret's file that is not there", "", []string{"CONNECTOR_STORE_DSN_FILE=/nowhere/dsn"}, nil, []string{"CONNECTOR_STORE_DSN_FILE: store.dsn_file: open /nowhere/dsn"}},
		{"a secret's file that is empty", "", []string{"CONNECTOR_STORE_DSN_FILE=" + empty}, nil, []string{"CONNECTOR_STORE_DSN_FILE: store.dsn_file: ", "is empty"}},
		{"an invalid level", "", []string{"CONNECTOR_LOG_LEVEL=loud"}, nil, []string{`CONNECTOR_LOG_LEVEL: log.level: "loud" is not one of debug, info, warn, error`}},
		{"an invalid format", "log:\n  format: xml\n", nil, nil, []string{`connector.yaml:2: log.format: "xml" is not one of text, json`}},
		{"two at once", "log:\n  level: loud\n", []string{"CONNECTOR_X=1"}, nil, []string{"connector.yaml:2: log.level", "CONNECTOR_X: no such variable"}},
		{"a file that is not there", "", []string{"CONNECTOR_CONFIG=/nowhere/c.yaml"}, nil, []string{"CONNECTOR_CONFIG: open /nowhere/c.yaml"}},
		{"an empty file name", "", []string{"CONNECTOR_CONFIG="}, nil, []string{"CONNECTOR_CONFIG: it is empty"}},
		{"a file that is one text", dsnA + "\n", nil, nil, []string{"connector.yaml: yaml:"}},
		{"a file that is no YAML", "log: [" + secret + "\n", nil, nil, []string{"connector.yaml: yaml: line"}},
		{"a key twice", "log:\n  level: info\n  level: warn\n", nil, nil, []string{"connector.yaml: yaml:", "already defined at line 2"}},
		{"two documents", "log:\n  level: info\n---\nlog:\n  level: warn\n", nil, nil, []string{"connector.yaml:3: a second document"}},
		{"no DSN", "", []string{"CONNECTOR_DSN=" + secret}, nil, []string{"CONNECTOR_DSN: store.dsn: it cannot be read as a DSN"}},
		{"a DSN without tcp()", "", []string{"CONNECTOR_DSN=root:" + secret + "@db:4000/connector"}, nil, []string{"it cannot be read as a DSN"}},
		{"a DSN that lost its @", "", []string{"CONNECTOR_DSN=root:x(" + secret + ")/connector"}, nil, []string{"it cannot be read as a DSN"}},
		{"a DSN without a database", "", []string{"CONNECTOR_DSN=root:" + secret + "@tcp(db:4000)/"}, nil, []string{"names no database"}},
		{"a DSN to the server's own database", "", []string{"CONNECTOR_DSN=root:" + secret + "@tcp(db:4000)/MySQL"}, nil, []string{"database MySQL is the server's own"}},
		{"a directory that only a shell knows", "store:\n  dir: ~/data\n", nil, nil, []string{"connector.yaml:2: store.dir: ", "begins with ~"}},
		{"a DSN that counts found rows", "", []string{"CONNECTOR_DSN=" + dsnA + "?clientFoundRows=true"}, nil, []string{"clientFoundRows"}},
		{"a DSN that gives up too early", "", []string{"CONNECTOR_DSN=" + dsnA + "?readTimeout=1s"}, nil, []string{"readTimeout=1s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, path, err := try(t, c.file, c.environ, c.args...)
			var refusal *facts.Refusal
			if !errors.As(err, &refusal) || refusal.Code != facts.ConfigurationInvalid {
				t.Fatalf("got %v", err)
			}
			text := strings.ReplaceAll(err.Error(), path, "connector.yaml")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("want %q in %s", want, text)
				}
			}
			if strings.Contains(text, secret) || strings.Contains(text, "\n") {
				t.Errorf("a secret, or more than one line: %s", text)
			}
		})
	}
}

func TestWhatIsRightIsNotRefused(t *testing.T) {
	for name, c := range map[string]struct {
		file    string
		environ []string
	}{
		"reserved for tests":       {"", []string{"CONNECTOR_TEST_DSN=anything", "CONNECTORX=1", "OTHER=1"}},
		"an empty file":            {"# nothing\n", nil},
		"empty sections":           {"store:\nlog: {}\n", nil},
		"a document marker on top": {"# head\n---\nlog:\n  level: info\n", nil},
		"quoted and flow style":    {"\"log\": {'level': \"info\"}\n", nil},
	} {
		if _, _, err := try(t, c.file, c.environ); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASecretIsMaskedAndItsPlaceIsShown(t *testing.T) {
	config, _, err := try(t, "", []string{"CONNECTOR_DSN=" + dsnA + "?tls=false", "CONNECTOR_STORE_MIGRATION_DSN=root:" + secret + "@tcp(a.example:4000)/connector"})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range config.Values {
		if strings.Contains(v.Text+v.Origin, secret) {
			t.Errorf("%s shows its secret", v.Key)
		}
	}
	if got := config.value(t, "store.dsn").Text; got != "daemon:***@tcp(a.example:4000)/connector" {
		t.Errorf("got %q", got)
	}
}

func TestTheDataDirectoryFollowsTheBaseDirectories(t *testing.T) {
	t.Setenv("HOME", "/home-of-a-test")
	for base, want := range map[string]string{
		"/data":    "/data/connectorcore/store",
		"":         "/home-of-a-test/.local/share/connectorcore/store",
		"relative": "/home-of-a-test/.local/share/connectorcore/store", // the XDG rule: ignored
	} {
		t.Setenv("XDG_DATA_HOME", base)
		config, _, err := try(t, "", nil)
		if err != nil || config.Store.Dir != want {
			t.Errorf("%q: got %+v, %v", base, config, err)
		}
	}
	config, _, err := try(t, "", nil, "--store-dir", "data")
	here, _ := os.Getwd()
	if err != nil || config.Store.Dir != filepath.Join(here, "data") {
		t.Errorf("relative: got %+v, %v", config, err)
	}
}

// A daemon on a cluster keeps no data of its own: a container or a unit without a home must not keep it from starting.
func TestOnlyTheEmbeddedStoreNeedsAHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_DATA_HOME", "")
	for _, variable := range []string{"CONNECTOR_DSN", "CONNECTOR_STORE_MIGRATION_DSN"} {
		config, _, err := try(t, "", []string{variable + "=" + dsnA})
		if err != nil || config.Store.Dir != "" {
			t.Errorf("%s: %+v, %v", variable, config, err)
		}
	}
	if _, _, err := try(t, "", nil); err == nil || !strings.Contains(err.Error(), "store.dir: there is no home directory") {
		t.Errorf("got %v", err)
	}
}

func TestTheWitnessIsBesideTheConfigurationAndNeverInTheStore(t *testing.T) {
	base := t.TempDir()
	t.Setenv("XDG_DATA_HOME", base)
	config, _, err := try(t, "", nil)
	must(t, err)
	if want := filepath.Join(base, "connectorcore", "store.witness"); config.Store.Witness != want || config.value(t, "store.witness").Text != want {
		t.Errorf("without a file it is %s, want %s", config.Store.Witness, want)
	}
	config, file, err := try(t, "log:\n  level: warn\n", nil)
	must(t, err)
	if want := strings.TrimSuffix(file, ".yaml") + ".witness"; config.Store.Witness != want || config.value(t, "store.witness").Origin != "default" {
		t.Errorf("beside %s it is %s", file, config.Store.Witness)
	}
	config, _, err = try(t, "", nil, "--store-witness", filepath.Join(base, "w"), "--store-dir", base+"/d")
	must(t, err)
	if config.Store.Witness != filepath.Join(base, "w") {
		t.Errorf("it is %s", config.Store.Witness)
	}
	for _, inside := range []string{base + "/d/w", base + "/d/e/../w", base + "/d"} {
		if _, _, err := try(t, "", nil, "--store-witness", inside, "--store-dir", base+"/d"); !errors.Is(err, facts.ConfigurationInvalid) || !strings.Contains(err.Error(), "store.witness") {
			t.Errorf("%s: %v", inside, err)
		}
	}
	// Beside a DSN there may be no home, and then there is no default.
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("HOME", "")
	if config, _, err = try(t, "", []string{"CONNECTOR_DSN=" + dsnA}); err != nil || config.Store.Witness != "" {
		t.Errorf("without a home it is %q, %v", config.Store.Witness, err)
	}
	// With a cluster there is no data directory that it could be in.
	if _, _, err := try(t, "", []string{"CONNECTOR_DSN=" + dsnA}, "--store-witness", base+"/d/w", "--store-dir", base+"/d"); err != nil {
		t.Error(err)
	}
}
