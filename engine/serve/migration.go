package serve

import (
	"context"
	"database/sql"
	"log/slog"

	"connectorcore/engine/embedded"
	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// Migration is a database that is reached by the login which may change its schema.
type Migration struct {
	Server
	dsn schema.DSN
	own *own // nil for a cluster
}

// OpenMigration reaches the database by its migration DSN, or runs the embedded store until Close. It has checked that
// the server answers, is new enough and, if it is a single-process store, safe. It has changed nothing, but that with
// mayBegin a new data directory is begun if there is none.
func OpenMigration(ctx context.Context, config platform.Store, log *slog.Logger, mayBegin bool) (*Migration, error) {
	m := &Migration{dsn: config.MigrationDSN}
	if m.dsn == "" {
		started, err := startOwn(ctx, config.Dir, log, mayBegin)
		if err != nil {
			return nil, err
		}
		m.own, m.dsn = started, started.rootDSN()
	}
	found, err := probe(ctx, m.dsn)
	m.Server = found
	if err == nil && found.Embedded {
		err = m.checkSettings(ctx)
	}
	if err != nil {
		return nil, errors.CombineErrors(err, m.Close())
	}
	return m, nil
}

// checkSettings looks at the whole server, since the database may not be there yet.
func (m *Migration) checkSettings(ctx context.Context) error {
	return m.bare(func(db *sql.DB) error {
		return refuse(embedded.CheckSettings(ctx, db), m.about(), facts.StoreSettingsUnsafe)
	})
}

// bare runs on a pool that chooses no database.
func (m *Migration) bare(run func(*sql.DB) error) (err error) {
	config, err := parse(m.dsn)
	if err != nil {
		return err
	}
	config.DBName = ""
	db, err := openBare(config)
	if err != nil {
		return refuse(err, m.about(), facts.StoreUnreachable)
	}
	defer func() { err = errors.CombineErrors(err, db.Close()) }()
	return run(db)
}

// Pending are the steps that Apply would apply. Nothing is changed.
func (m *Migration) Pending(ctx context.Context) ([]schema.Step, error) {
	pending, err := schema.Pending(ctx, m.dsn)
	return pending, refuseApply(err, m.about())
}

// PendingOf is OpenMigration and Pending without a store that was never begun: there all steps are pending, and it is
// not begun for the question.
func PendingOf(ctx context.Context, config platform.Store, log *slog.Logger) (pending []schema.Step, err error) {
	if config.MigrationDSN == "" {
		begun, err := exists(config.Dir)
		if err != nil {
			return nil, err
		}
		if !begun {
			return schema.Steps()
		}
	}
	m, err := OpenMigration(ctx, config, log, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.CombineErrors(err, m.Close()) }()
	return m.Pending(ctx)
}

// Apply brings the database to the declared schema, verifies it, and tells which steps it took. A login, if one is
// named, is an existing one of the cluster that is given the roles of a daemon; on the embedded store the daemon's
// own login is always there.
//
// Several processes may apply at once.
func (m *Migration) Apply(ctx context.Context, login string) ([]schema.Step, error) {
	if m.own != nil {
		if login != "" {
			return nil, errors.New("the embedded store has its own daemon's login: --login is for a cluster that is named by a DSN")
		}
		return m.own.apply(ctx)
	}
	if login != "" {
		if err := m.refuseUnknown(ctx, login); err != nil {
			return nil, err
		}
	}
	applied, err := schema.Converge(ctx, m.dsn)
	if err != nil || login == "" {
		return applied, refuseApply(err, m.about())
	}
	return applied, m.with(ctx, func(db *sql.DB) error { return schema.Admit(ctx, db, m.Database, login) })
}

// Application makes an application's own database beside this one, and lets the application's role write in it. Its tables
// are made by whoever owns the application.
func (m *Migration) Application(ctx context.Context, name string) error {
	return m.with(ctx, func(db *sql.DB) error { return schema.AdmitApplication(ctx, db, m.Database, name) })
}

// refuseUnknown refuses a login that is not there, before anything is changed for it.
func (m *Migration) refuseUnknown(ctx context.Context, login string) error {
	return m.bare(func(db *sql.DB) error {
		var there int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM mysql.user WHERE user = ?", login).Scan(&there); err != nil {
			return errors.Wrapf(err, "store %s: looking for login %s", m.about(), login)
		}
		if there == 0 {
			return errors.Newf("store %s: there is no login %s: create it with a password and without privileges, then apply again", m.about(), login)
		}
		return nil
	})
}

// Verify compares the whole database and every role with the declaration. It returns each difference, and the refusal
// that they are.
func (m *Migration) Verify(ctx context.Context) ([]string, error) {
	if err := choose(ctx, m.dsn, m.Server); err != nil {
		return nil, err
	}
	err := m.with(ctx, func(db *sql.DB) error { return schema.Verify(ctx, db, schema.RoleMigration) })
	var found *schema.DifferenceError
	var answer *mysql.MySQLError
	switch {
	case errors.As(err, &found):
		return found.Differences, refuse(err, m.about(), facts.SchemaDiffers)
	case errors.As(err, &answer) && answer.Number == codeNoSuchGrant:
		return nil, facts.Refuse(facts.SchemaDiffers, facts.OfStore(m.about()), "a role is missing: run 'connector schema apply'")
	case errors.As(err, &answer) && isDenied(answer.Number):
		return nil, errors.Wrapf(err, "store %s: login %s is no migration login, which alone sees every role", m.about(), m.Login)
	}
	return nil, err
}

// with runs on a pool of the migration role.
func (m *Migration) with(ctx context.Context, run func(*sql.DB) error) (err error) {
	db, err := schema.Connect(ctx, m.dsn, schema.RoleMigration)
	if err != nil {
		return refuse(err, m.about(), facts.StoreSessionUnsafe)
	}
	defer func() { err = errors.CombineErrors(err, db.Close()) }()
	return run(db)
}

// Close ends the embedded store, if this process runs it.
func (m *Migration) Close() error {
	if m.own == nil {
		return nil
	}
	return m.own.stop()
}

// refuseApply gives an error of converging its code where there is one. Its steps fail for reasons of their own too,
// and those keep their own sentence.
func refuseApply(err error, about string) error {
	var difference *schema.DifferenceError
	var answer *mysql.MySQLError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, schema.ErrSession):
		return refuse(err, about, facts.StoreSessionUnsafe)
	case errors.As(err, &difference), isGone(err):
		return refuse(err, about, facts.SchemaDiffers)
	case errors.As(err, &answer) && isDenied(answer.Number):
		return errors.Wrapf(err, "store %s: this login may not change the schema; name one that may by store.migration_dsn", about)
	}
	return err
}
