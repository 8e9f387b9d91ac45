package schema

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"connectorcore/facts"
	"connectorcore/schema/internal/live"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// Converge brings a database to the declaration: the database itself, each step that it has not seen, the roles and
// their privileges. It tells what it did and ends by verifying the result.
//
// It is idempotent, and two processes may run it at once: each step is one statement that changes nothing when it is
// run again, and the record of a step is an insert that one of them loses. A database that remembers a step which
// this binary does not have, or has otherwise, is refused and left as it is.
//
// The DSN's user needs the privileges of the migration role: CREATE, ALTER, INDEX and REFERENCES on the database, the
// right to make roles and grant them, and to set one global variable.
func Converge(ctx context.Context, dsn DSN) (applied []Step, err error) {
	steps, err := Steps()
	if err != nil {
		return nil, err
	}
	return converge(ctx, dsn, steps)
}

func converge(ctx context.Context, dsn DSN, steps []Step) (applied []Step, err error) {
	if err := found(ctx, dsn); err != nil {
		return nil, err
	}
	db, err := Connect(ctx, dsn, RoleMigration)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.CombineErrors(err, db.Close()) }()
	if err := refuseStrangers(ctx, db, dsn.Database()); err != nil {
		return nil, err
	}
	if err := execute(ctx, db, schemaStep.create()); err != nil {
		return nil, errors.Wrap(err, "the table of steps")
	}
	pending, err := pendingSteps(ctx, db, steps)
	if err != nil {
		return nil, err
	}
	for _, s := range pending {
		if err := apply(ctx, db, s); err != nil {
			return applied, err
		}
		applied = append(applied, s)
	}
	return applied, settleRoles(ctx, db, dsn.Database())
}

// refuseStrangers refuses a database that was never ours and holds something, before anything of ours is put beside it.
// One that is ours is verified in the end.
func refuseStrangers(ctx context.Context, db *sql.DB, database string) error {
	names, err := live.Texts(ctx, db, "SHOW TABLES")
	if err != nil {
		return errors.Wrapf(err, "the tables of database %s", database)
	}
	var strangers []string
	for _, name := range names {
		if Find(name) == nil {
			strangers = append(strangers, fmt.Sprintf("table %s is not declared", name))
		}
	}
	if len(strangers) == 0 || slices.Contains(names, schemaStep.Name) {
		return nil
	}
	return &DifferenceError{database, strangers}
}

// How often roles are granted and read again. Grants that other databases make on the same server at the same time can
// leave it answering from an older state of its cache, until the next grant.
const (
	roleTries = 6
	rolePause = 200 * time.Millisecond
)

// settleRoles grants and verifies until the server answers with what was granted.
func settleRoles(ctx context.Context, db *sql.DB, database string) error {
	for try := 1; ; try++ {
		if err := convergeRoles(ctx, db, database); err != nil {
			return err
		}
		err := Verify(ctx, db, RoleMigration)
		var difference *DifferenceError
		var server *mysql.MySQLError
		stale := errors.As(err, &difference) && difference.OnlyRoles() || errors.As(err, &server) && server.Number == codeNoSuchGrant
		if !stale || try == roleTries {
			return err
		}
		ring, stop := facts.SystemClock{}.Alarm(time.Duration(try) * rolePause)
		select {
		case <-ring:
		case <-ctx.Done():
		}
		stop()
	}
}

// found checks the server and the session before anything is changed, then makes the database and lets CHECK
// constraints exist: without that variable TiDB takes the declaration and creates none of them.
func found(ctx context.Context, dsn DSN) (err error) {
	db, err := early(ctx, dsn, func(c *mysql.Config) { c.DBName = "" }) // it may not exist yet
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, db.Close()) }()
	for _, statement := range []string{
		"SET GLOBAL " + checkConstraints + " = ON",
		fmt.Sprintf("CREATE DATABASE IF NOT EXISTS `%s`", dsn.Database()),
	} {
		if err := execute(ctx, db, statement); err != nil {
			return errors.Wrapf(err, "preparing store %s", dsn)
		}
	}
	return nil
}

// early is a pool of the migration role on a checked server on which CHECK constraints may still be off.
func early(ctx context.Context, dsn DSN, change func(*mysql.Config)) (*sql.DB, error) {
	config, err := dsn.config()
	if err != nil {
		return nil, err
	}
	change(config)
	demanded := slices.DeleteFunc(slices.Clone(settings), func(s setting) bool { return s.name == checkConstraints })
	connector, err := open(config, RoleMigration, demanded)
	if err != nil {
		return nil, err
	}
	connector.database = dsn.Database() // for what it says of a refused login
	db := sql.OpenDB(connector)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.CombineErrors(err, db.Close())
	}
	if err := CheckServer(ctx, db); err != nil {
		return nil, errors.CombineErrors(err, db.Close())
	}
	return db, nil
}

// pendingSteps compares what the database remembers with what this binary has.
func pendingSteps(ctx context.Context, db *sql.DB, steps []Step) ([]Step, error) {
	done := 0
	query := "SELECT number, digest FROM schema_step ORDER BY number"
	err := live.Each(ctx, db, query, nil, func(rows *sql.Rows) error {
		var number uint64
		var digest []byte
		if err := rows.Scan(&number, &digest); err != nil {
			return err
		}
		if number > uint64(len(steps)) {
			return errors.Newf("the database is at step %d and this binary ends at step %d: run a newer binary", number, len(steps))
		}
		if number != uint64(done+1) {
			return errors.Newf("the database remembers step %d but not step %d: its record of steps is damaged", number, done+1)
		}
		if want := steps[done].digest(); !bytes.Equal(digest, want[:]) {
			return errors.Newf("step %d (%s) of the database differs from this binary's: they do not belong together", number, steps[done].Name)
		}
		done++
		return nil
	})
	if err != nil {
		return nil, errors.Wrap(err, "the steps of the database")
	}
	return steps[done:], nil
}

// apply runs a step and remembers it. Losing the insert to another process is fine if that one ran the same step.
func apply(ctx context.Context, db *sql.DB, s Step) error {
	if err := execute(ctx, db, s.Statement); err != nil {
		return errors.Wrapf(err, "step %d (%s)", s.Number, s.Name)
	}
	digest := s.digest()
	err := execute(ctx, db, "INSERT INTO schema_step (number, digest, statement) VALUES (?, ?, ?)", s.Number, digest[:], []byte(s.Statement))
	var server *mysql.MySQLError
	if !errors.As(err, &server) || server.Number != codeDuplicate {
		return errors.Wrapf(err, "recording step %d (%s)", s.Number, s.Name)
	}
	var other []byte
	if err := db.QueryRowContext(ctx, "SELECT digest FROM schema_step WHERE number = ?", s.Number).Scan(&other); err != nil {
		return errors.Wrapf(err, "step %d, recorded by another process", s.Number)
	}
	if !bytes.Equal(other, digest[:]) {
		return errors.Newf("step %d was recorded by another process with another statement: two different binaries converge this database", s.Number)
	}
	return nil
}

// Pending tells which steps Converge would apply, changing nothing. A database that does not exist needs them all.
func Pending(ctx context.Context, dsn DSN) (pending []Step, err error) {
	steps, err := Steps()
	if err != nil {
		return nil, err
	}
	db, err := early(ctx, dsn, func(*mysql.Config) {})
	if errors.Is(err, ErrNoDatabase) {
		return steps, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.CombineErrors(err, db.Close()) }()
	tables, err := live.Texts(ctx, db, "SHOW TABLES LIKE 'schema\\_step'")
	if err != nil || len(tables) == 0 {
		return steps, errors.Wrap(err, "the table of steps")
	}
	return pendingSteps(ctx, db, steps)
}
