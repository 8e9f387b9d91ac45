package platform

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"connectorcore/facts"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/spf13/pflag"
)

// Config is a whole and valid configuration.
type Config struct {
	Store   Store
	Secrets SecretPlaces
	Serve   Serve
	Log     Log
	// Values are all keys in order, each with its value as it may be shown and with where it came from.
	Values []Value
}

// Store says where the database is.
type Store struct {
	DSN          schema.DSN // the daemon's login; empty for the embedded store
	MigrationDSN schema.DSN // the login that may change the schema; equal to DSN if none was given
	Dir          string     // the data directory of the embedded store, absolute; may be empty beside a DSN
	Witness      string     // the file of OpenWitness, absolute, outside Dir; may be empty beside a DSN
}

// SecretPlaces say where secrets are. Each may be empty.
type SecretPlaces struct {
	Dir, IdentityFile string // of the backend file; absolute
	VaultAddress      string
	VaultTokenFile    string // absolute
	VaultNamespace    string
}

// Serve says where a daemon listens and whom it serves.
type Serve struct {
	Listen      string // the door's host:port
	Origin      string // how providers reach the door; empty takes it from each request
	Operations  string // host:port of /healthz, /readyz and /metrics
	Application string // the base address of a remote application; empty for a program that links its own
}

// Log says what is logged.
type Log struct {
	Level  slog.Level
	Format string // text or json
}

// Logger writes log lines as configured.
func (l Log) Logger(to io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: l.Level}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(to, options))
	}
	return slog.New(slog.NewTextHandler(to, options))
}

// Value is a key as it may be shown to anybody: a secret is masked.
type Value struct {
	Key    string `json:"key"`
	Text   string `json:"value"`
	Origin string `json:"origin"` // "default", "connector.yaml:3", "CONNECTOR_STORE_DIR", "--store-dir"
}

// Load reads the configuration: a flag comes before the environment, the environment before the file, the file before
// the default. The environment is os.Environ's form. The flags are those of AddFlags, parsed.
//
// Anything unknown or invalid is refused, all of it in one Invalid, each with where it stands. No secret is in it.
//
// Of a secret and its file, only the source of the highest precedence that names either of them counts; a source that
// names both is refused.
func Load(environ []string, flags *pflag.FlagSet) (*Config, error) {
	l := &loading{}
	file := l.fileName(environ, flags)
	l.layers = []layer{l.readFlags(flags), l.readEnv(environ), l.readFile(file)}
	texts := map[string]string{}
	config := &Config{}
	for _, k := range keys {
		found := l.resolve(k)
		if found.text == "" && k.follows != nil {
			found.text = k.follows(file.text, texts["store.dir"])
		}
		texts[k.Name] = found.text
		config.Values = append(config.Values, Value{Key: k.Name, Text: found.shown(k), Origin: found.origin})
	}
	if err := l.refusal(); err != nil {
		return nil, err
	}
	config.Store = Store{DSN: schema.DSN(texts["store.dsn"]), MigrationDSN: schema.DSN(texts["store.migration_dsn"])}
	if config.Store.MigrationDSN == "" {
		config.Store.MigrationDSN = config.Store.DSN
	}
	if texts["store.dir"] != "" { // Abs would make it the working directory
		dir, err := filepath.Abs(texts["store.dir"])
		if err != nil {
			return nil, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("store.dir"), "%v", err)
		}
		config.Store.Dir = dir
	}
	var err error
	if config.Secrets, err = secretPlaces(texts); err != nil {
		return nil, err
	}
	witness, err := witnessAt(texts["store.witness"], config.Store)
	if err != nil {
		return nil, err
	}
	config.Store.Witness = witness
	config.Serve = Serve{texts["serve.listen"], texts["serve.origin"], texts["serve.operations"], texts["serve.application"]}
	config.Log.Format = texts["log.format"]
	if err := config.Log.Level.UnmarshalText([]byte(texts["log.level"])); err != nil {
		return nil, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("log.level"), "%v", err)
	}
	return config, nil
}

// secretPlaces are the places as they are named, from the working directory on.
func secretPlaces(texts map[string]string) (SecretPlaces, error) {
	p := SecretPlaces{VaultAddress: texts["secrets.vault_address"], VaultNamespace: texts["secrets.vault_namespace"]}
	for key, path := range map[string]*string{"secrets.dir": &p.Dir, "secrets.identity_file": &p.IdentityFile, "secrets.vault_token_file": &p.VaultTokenFile} {
		if texts[key] == "" {
			continue
		}
		absolute, err := filepath.Abs(texts[key])
		if err != nil {
			return p, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput(key), "%v", err)
		}
		*path = absolute
	}
	return p, nil
}

// witnessAt is the absolute path of the witness. Where there is neither a configuration file nor a home, there is none.
func witnessAt(text string, store Store) (string, error) {
	if text == "" {
		return "", nil
	}
	path, err := filepath.Abs(text)
	if err != nil {
		return "", facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("store.witness"), "%v", err)
	}
	if inside, err := filepath.Rel(store.Dir, path); store.DSN == "" && err == nil && filepath.IsLocal(inside) {
		return "", facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("store.witness"),
			"it is inside store.dir, and would be brought back with an old copy of it: name a path outside")
	}
	return path, nil
}

// given is one value as a source gives it.
type given struct{ text, origin string }

func (g given) shown(k Key) string {
	if k.secret && g.text != "" {
		return maskDSN(g.text)
	}
	return g.text
}

// layer is one source, by key.
type layer map[string]given

// loading collects what is wrong, so that a person corrects a file once and not once a mistake.
type loading struct {
	layers   []layer // the highest precedence first
	problems []string
}

func (l *loading) problem(where, format string, args ...any) {
	l.problems = append(l.problems, where+": "+fmt.Sprintf(format, args...))
}

func (l *loading) refusal() error {
	if len(l.problems) == 0 {
		return nil
	}
	return &Invalid{l.problems}
}

// Invalid is a configuration that is refused, with each fault and its place. It is a ConfigurationInvalid.
type Invalid struct{ Faults []string }

// Error is all faults on one line.
func (i *Invalid) Error() string { return i.Unwrap().Error() }

// Unwrap is the refusal.
func (i *Invalid) Unwrap() error {
	return facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("configuration"), "%s", strings.Join(i.Faults, "; "))
}

// put adds a value to a layer, unless it is empty or the key has one there by another spelling.
func (l *loading) put(to layer, key, text, origin string) {
	switch before, twice := to[key]; {
	case text == "":
		// An unset variable in a script must not silently choose the default, which for a DSN is another database.
		l.problem(origin, "%s is empty: give it a value or leave it out", key)
	case twice:
		l.problem(origin, "%s is also given by %s: leave one of them out", key, before.origin)
	default:
		to[key] = given{text, origin}
	}
}

// resolve finds a key's value, and checks it.
func (l *loading) resolve(k Key) given {
	found := l.lookUp(k)
	if found.text == "" {
		return found
	}
	if err := k.check(found.text); err != nil {
		l.problem(found.origin, "%s: %v", k.Name, err)
	}
	return found
}

func (l *loading) lookUp(k Key) given {
	for _, from := range l.layers {
		value, here := from[k.Name]
		if k.fills != "" {
			if _, secret := from[k.fills]; secret && !here {
				break // a source that gives the secret itself hides the files of those below it
			}
		}
		if k.secret {
			if file, also := from[k.Name+"_file"]; also {
				return l.readSecret(k, file, value, here)
			}
		}
		if here {
			return value
		}
	}
	if k.standard == nil {
		return given{origin: "default"}
	}
	text, err := k.standard()
	if err != nil && !l.onCluster() {
		l.problem("default", "%s: %v", k.Name, err)
	}
	return given{text, "default"}
}

// onCluster tells whether a database is named, so that no embedded store will ask for its directory: a daemon in a
// container or under systemd often has no home.
func (l *loading) onCluster() bool {
	for _, from := range l.layers {
		for _, k := range keys {
			if _, named := from[k.Name]; named && (k.secret || k.fills != "") {
				return true
			}
		}
	}
	return false
}

// secretMax bounds what is read as a secret: a file that is longer is another file.
const secretMax = 64 << 10

// readSecret reads the secret from its file, less one line end.
func (l *loading) readSecret(k Key, file, direct given, both bool) given {
	if both {
		l.problem(direct.origin, "%s is also given by %s: leave one of them out", k.Name, file.origin)
		return direct
	}
	origin := file.origin + ", from " + file.text
	text, err := ReadPrivate(file.text)
	if err != nil {
		l.problem(file.origin, "%s_file: %v", k.Name, err)
		return given{origin: origin}
	}
	return given{string(text), origin}
}

// ReadPrivate reads a file with one secret, less one line end: at most 64 KiB, and not empty. It refuses a file that
// everybody on the host may read or write; a group may, because that is how a container is given a secret. Windows keeps
// that elsewhere, and is not asked.
func ReadPrivate(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	about, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case about.IsDir():
		return nil, errors.Newf("%s is a folder", path)
	case runtime.GOOS != "windows" && about.Mode().Perm()&0o006 != 0:
		return nil, errors.Newf("everybody on this host may read or write %s: take that away with chmod o-rw", path)
	}
	text, err := io.ReadAll(io.LimitReader(file, secretMax+1))
	if err != nil {
		return nil, err
	}
	text = withoutLineEnd(text)
	switch {
	case len(text) == 0:
		return nil, errors.Newf("%s is empty", path)
	case len(text) > secretMax:
		return nil, errors.Newf("%s is longer than %d bytes", path, secretMax)
	}
	return text, nil
}

// withoutLineEnd takes one line end away, which an editor or a shell put there.
func withoutLineEnd(text []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
}

// fileName is the configuration file, or empty.
func (l *loading) fileName(environ []string, flags *pflag.FlagSet) given {
	if flag := flags.Lookup(FileFlag); flag != nil && flag.Changed {
		return l.named(given{flag.Value.String(), "--" + FileFlag})
	}
	i := slices.IndexFunc(environ, func(e string) bool { return strings.HasPrefix(e, FileEnv+"=") })
	if i < 0 {
		return given{}
	}
	return l.named(given{strings.TrimPrefix(environ[i], FileEnv+"="), FileEnv})
}

func (l *loading) named(file given) given {
	if file.text == "" {
		l.problem(file.origin, "it is empty: name a file or leave it out")
	}
	return file
}
