package serve

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"connectorcore/engine/embedded"
	"connectorcore/facts"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// The embedded store holds one deployment: one database and one daemon's login.
const (
	ownDatabase = "connector"
	ownLogin    = "connector_daemon"
)

// Files of ours in the data directory, beside those of the supervisor; mode 0600.
const (
	passwordName     = "daemon.password" // of ownLogin, drawn by the first apply
	daemonDSNName    = "daemon.dsn"      // whole DSNs, there only while the store is served to others
	migrationDSNName = "migration.dsn"
)

// own is an embedded store that this process runs.
type own struct {
	dir    string
	server *embedded.Server
}

// exists tells whether a data directory was ever begun.
func exists(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return false, nil
	}
	return len(entries) > 0, errors.Wrap(err, "store: the data directory")
}

// refuseMissing refuses a data directory that holds no store: looking at one begins none.
func refuseMissing(dir string) error {
	if begun, err := exists(dir); begun || err != nil {
		return err
	}
	return facts.Refuse(facts.SchemaDiffers, facts.OfStore(dir),
		"there is no embedded store yet: run 'connector schema apply' to begin one, or name a TiDB by CONNECTOR_DSN")
}

// startOwn starts the embedded store.
func startOwn(ctx context.Context, dir string, log *slog.Logger, mayBegin bool) (*own, error) {
	if !mayBegin {
		if err := refuseMissing(dir); err != nil {
			return nil, err
		}
	}
	server, err := embedded.Start(ctx, embedded.Options{Dir: dir, Log: log})
	if err != nil {
		return nil, refuseDirectory(err, dir)
	}
	o := &own{dir, server}
	if err := o.withdraw(); err != nil { // those of a serve that was killed name a port of the past
		return nil, errors.CombineErrors(err, o.stop())
	}
	return o, nil
}

// withdraw removes the DSNs of a served store.
func (o *own) withdraw() error {
	var err error
	for _, name := range []string{daemonDSNName, migrationDSNName} {
		if gone := os.Remove(filepath.Join(o.dir, name)); !os.IsNotExist(gone) {
			err = errors.CombineErrors(err, errors.Wrap(gone, "store: a DSN that is served no longer"))
		}
	}
	return err
}

// refuseDirectory gives what the supervisor says of a directory its code. Anything else is its own sentence.
func refuseDirectory(err error, dir string) error {
	switch {
	case errors.Is(err, embedded.ErrInUse):
		return facts.Refuse(facts.StoreDirectoryInUse, facts.OfStore(dir), "%v%s", err, whereServed(dir))
	case errors.Is(err, embedded.ErrForeign):
		return facts.Refuse(facts.StoreDirectoryForeign, facts.OfStore(dir), "%v", err)
	}
	return err
}

// whereServed tells where the DSNs are, if the directory is served to others.
func whereServed(dir string) string {
	path := filepath.Join(dir, migrationDSNName)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return ", which is in " + daemonDSNName + " or " + migrationDSNName + " there: give it by --store-dsn-file"
}

// stop ends the server in order; the supervisor bounds it.
func (o *own) stop() error { return o.server.Stop(context.Background()) }

// rootDSN is the login of the migration role: on an embedded store the supervisor owns root.
func (o *own) rootDSN() schema.DSN { return dsnOf(o.server.Root()) }

func dsnOf(login embedded.Login) schema.DSN {
	config := login.Config()
	config.DBName = ownDatabase
	return schema.DSN(config.FormatDSN())
}

// daemonDSN is the daemon's login, made by the last apply.
func (o *own) daemonDSN() (schema.DSN, error) {
	text, err := os.ReadFile(filepath.Join(o.dir, passwordName))
	if os.IsNotExist(err) {
		return "", facts.Refuse(facts.SchemaDiffers, facts.OfStore(o.dir), "it has no daemon's login yet: run 'connector schema apply'")
	}
	if err != nil {
		return "", errors.Wrap(err, "store: the password of the daemon's login")
	}
	password := embedded.NewPassword(strings.TrimSpace(string(text)))
	return dsnOf(embedded.Login{Address: o.server.Root().Address, User: ownLogin, Password: password}), nil
}

// apply converges the schema and gives the daemon its login.
func (o *own) apply(ctx context.Context) ([]schema.Step, error) {
	applied, err := schema.Converge(ctx, o.rootDSN())
	if err != nil {
		return applied, refuseApply(err, o.dir)
	}
	return applied, errors.Wrap(o.admit(ctx), "store: the daemon's login")
}

// admit makes the daemon's login, with a password that stays the same from the first apply on.
//
// The password is on disk before the login has it, and given to the login each time, so that a death in between leaves
// a login which the next apply completes.
func (o *own) admit(ctx context.Context) (err error) {
	path := filepath.Join(o.dir, passwordName)
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		text = []byte(rand.Text() + "\n")
		err = writeSecret(path, string(text))
	}
	if err != nil {
		return err
	}
	db, err := schema.Connect(ctx, o.rootDSN(), schema.RoleMigration)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, db.Close()) }()
	// TiDB takes no parameter here. It hides the password of these two statements from its own logs.
	literal := "'" + strings.NewReplacer("'", "", `\`, "").Replace(strings.TrimSpace(string(text))) + "'"
	for _, statement := range []string{
		"CREATE USER IF NOT EXISTS '" + ownLogin + "' IDENTIFIED BY " + literal,
		"ALTER USER '" + ownLogin + "' IDENTIFIED BY " + literal,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return schema.Admit(ctx, db, ownDatabase, ownLogin)
}

// writeSecret replaces a file whole, readable by its owner only.
func writeSecret(path, text string) error {
	staged := path + ".new"
	if err := os.Remove(staged); err != nil && !os.IsNotExist(err) {
		return err
	}
	file, err := os.OpenFile(staged, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	err = errors.CombineErrors(err, errors.CombineErrors(file.Sync(), file.Close()))
	if err != nil {
		return err
	}
	return os.Rename(staged, path)
}
