package platform

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
	"github.com/spf13/pflag"
)

// Key is one key of the configuration. A key a.b is spelled a.b in the file, CONNECTOR_A_B in the environment and
// --a-b on the command line.
type Key struct {
	Name    string // dotted
	Default string // what holds if nobody sets it, in the words of the documentation
	Says    string // what it is, as a clause

	// secret keys are never shown. Each has a companion key that names a file with the secret.
	secret bool
	// fills is the secret key that this key's file holds.
	fills string
	// alias is a second, shorter spelling: CONNECTOR_<ALIAS> and --<alias>.
	alias string
	// check refuses a value. Its error must not repeat a secret.
	check func(text string) error
	// standard is the value if nobody sets it; nil means empty.
	standard func() (string, error)
	// follows is the value if nobody sets it and it depends on the configuration file, which may be none, and on
	// store.dir.
	follows func(file, dir string) string
}

// Keys are all keys, in the order of the documentation.
func Keys() []Key { return slices.Clone(keys) }

var keys = []Key{
	{
		Name: "store.dsn", Default: "none: the embedded store", secret: true, alias: "dsn", check: checkDSN,
		Says: "the daemon's login to a TiDB cluster, as user:password@tcp(host:port)/database",
	},
	{
		Name: "store.dsn_file", Default: "none", fills: "store.dsn", check: checkSomething,
		Says: "a file that holds store.dsn, so that the secret stands in no environment and in no list of processes",
	},
	{
		Name: "store.migration_dsn", Default: "store.dsn", secret: true, check: checkDSN,
		Says: "the login that may change the schema of the cluster; only the schema commands use it",
	},
	{
		Name: "store.migration_dsn_file", Default: "none", fills: "store.migration_dsn", check: checkSomething,
		Says: "a file that holds store.migration_dsn",
	},
	{
		Name: "store.dir", Default: "$XDG_DATA_HOME/connectorcore/store, else ~/.local/share/connectorcore/store",
		check: checkDir, standard: defaultDir,
		Says: "the data directory of the embedded store; a relative path starts at the working directory",
	},
	{
		Name: "store.witness", Default: "the configuration file with the ending .witness, else store.dir with .witness behind it",
		check: checkSomething, follows: besideConfiguration,
		Says: "the file that remembers, outside the database, how far each account has come; it is never brought back together with the database",
	},
	{
		Name: "secrets.dir", Default: "none", check: checkDir,
		Says: "the folder of the secret backend file, which holds one age-encrypted file for each version",
	},
	{
		Name: "secrets.identity_file", Default: "none", check: checkSomething,
		Says: "the age identity that decrypts the files of secrets.dir; only its owner may read it",
	},
	{
		Name: "secrets.vault_address", Default: "none", check: checkSomething,
		Says: "the server of the secret backend vault, a KV engine of version 2, as https://host:port",
	},
	{
		Name: "secrets.vault_token_file", Default: "none", check: checkSomething,
		Says: "a file that holds the token with which that server is asked",
	},
	{
		Name: "secrets.vault_namespace", Default: "none", check: checkSomething,
		Says: "the namespace in which that server is asked",
	},
	{
		Name: "serve.listen", Default: "127.0.0.1:8480", check: checkAddress, standard: always("127.0.0.1:8480"),
		Says: "where the door for deliveries listens, as host:port",
	},
	{
		Name: "serve.origin", Default: "none: taken from each request", check: checkOrigin,
		Says: "how providers reach the door, as https://host; needed behind a proxy by schemes that sign the address",
	},
	{
		Name: "serve.operations", Default: "127.0.0.1:8481", check: checkAddress, standard: always("127.0.0.1:8481"),
		Says: "where /healthz, /readyz and /metrics are, as host:port; it is for operators only",
	},
	{
		Name: "serve.application", Default: "none", check: checkOrigin,
		Says: "the base address of the application that commands are submitted to, for a daemon that links none",
	},
	{
		Name: "log.level", Default: "info", check: oneOf("debug", "info", "warn", "error"), standard: always("info"),
		Says: "the least important line that is logged: debug, info, warn or error",
	},
	{
		Name: "log.format", Default: "text", check: oneOf("text", "json"), standard: always("text"),
		Says: "how a log line is written: text or json",
	},
}

// reservedPrefix is for the tests of this project. Such a variable may be set and says nothing to the daemon.
const reservedPrefix = "CONNECTOR_TEST_"

// The file of the configuration is named by a flag or a variable, because it cannot name itself.
const (
	FileFlag = "config"
	FileEnv  = "CONNECTOR_CONFIG"
)

const envPrefix = "CONNECTOR_"

// Env are the variables that set the key, the regular one first.
func (k Key) Env() []string {
	return k.spellings(func(s string) string {
		return envPrefix + strings.ToUpper(strings.ReplaceAll(s, ".", "_"))
	})
}

// Flags are the flags that set the key, without the dashes, the regular one first.
func (k Key) Flags() []string {
	return k.spellings(func(s string) string { return strings.NewReplacer(".", "-", "_", "-").Replace(s) })
}

func (k Key) spellings(spell func(string) string) []string {
	all := []string{spell(k.Name)}
	if k.alias != "" {
		all = append(all, spell(k.alias))
	}
	return all
}

// AddFlags declares every flag of the configuration. None has a default of its own: an absent flag must not hide
// what the environment or the file says.
func AddFlags(flags *pflag.FlagSet) {
	flags.String(FileFlag, "", "the configuration file, YAML; also "+FileEnv)
	for _, k := range keys {
		for i, name := range k.Flags() {
			says := k.Says + " (default " + k.Default + ")"
			if i > 0 {
				says = "short for --" + k.Flags()[0]
			}
			flags.String(name, "", says)
		}
	}
}

func keyNamed(name string) (Key, bool) {
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

func always(text string) func() (string, error) { return func() (string, error) { return text, nil } }

// defaultDir follows the XDG base directories: a store is data, neither configuration nor a cache that anybody may
// delete.
func defaultDir() (string, error) {
	if base := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "connectorcore", "store"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("there is no home directory to keep the embedded store in: set it, or set HOME")
	}
	return filepath.Join(home, ".local", "share", "connectorcore", "store"), nil
}

// besideConfiguration is where the witness is if nobody says. It is not in the data directory, because whoever brings an
// old copy of that back would bring an old witness back with it.
func besideConfiguration(file, dir string) string {
	switch {
	case file == "" && dir == "":
		return ""
	case file == "":
		return filepath.Clean(dir) + ".witness"
	}
	return strings.TrimSuffix(file, filepath.Ext(file)) + ".witness"
}

// checkSomething accepts any text: that it is not empty is asked of every key.
func checkSomething(string) error { return nil }

// checkDir refuses what a shell would have replaced: the store would begin in a directory that is called ~.
func checkDir(text string) error {
	if strings.HasPrefix(text, "~") {
		return errors.Newf("%q begins with ~, which only a shell replaces: write the whole path, or ./~ for that name", text)
	}
	return nil
}

func checkAddress(text string) error {
	host, port, err := net.SplitHostPort(text)
	if number, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || host == "" && number == 0 {
		return errors.Newf("%q is no address to listen at: want host:port, with port 0 for any free one", text)
	}
	return nil
}

// checkOrigin takes an address without what could hold a secret.
func checkOrigin(text string) error {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return errors.New("want http://host:port or https://host, without user, query or fragment")
	}
	return nil
}

func oneOf(words ...string) func(string) error {
	return func(text string) error {
		if slices.Contains(words, text) {
			return nil
		}
		return errors.Newf("%q is not one of %s", text, strings.Join(words, ", "))
	}
}

// checkDSN asks for all that can be known without a connection. A text that is not quite a DSN may have its password
// in any part, so that nothing of it is repeated before its parts are known.
func checkDSN(text string) error {
	config, err := mysql.ParseDSN(text)
	if err != nil || config.Net != "tcp" && config.Net != "unix" {
		return errors.New("it cannot be read as a DSN: want user:password@tcp(host:port)/database")
	}
	if slices.Contains(systemDatabases, strings.ToLower(config.DBName)) {
		return errors.Newf("database %s is the server's own: name another one, which `schema apply` makes", config.DBName)
	}
	_, err = schema.Connector(schema.DSN(text), schema.RoleReader)
	return err
}

// systemDatabases belong to the server. A DSN that was copied from an administrator's often ends in one of them.
var systemDatabases = []string{"mysql", "sys", "information_schema", "performance_schema", "metrics_schema"}

// maskDSN shows who connects to where, and nothing that might be a secret.
func maskDSN(text string) string {
	config, err := mysql.ParseDSN(text)
	if err != nil {
		return hidden
	}
	return config.User + ":" + hidden + "@" + config.Net + "(" + config.Addr + ")/" + config.DBName
}

const hidden = "***"
