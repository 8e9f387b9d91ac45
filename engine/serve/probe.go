package serve

import (
	"context"
	"database/sql"
	"time"

	"connectorcore/engine/embedded"
	"connectorcore/facts"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// Server is what the first questions to a server have found.
type Server struct {
	Address  string
	Database string
	Login    string
	Version  string // as VERSION() gives it
	Embedded bool   // a single-process store, whoever started it
}

// about names the store in messages, without a secret.
func (s Server) about() string { return s.Address + "/" + s.Database }

// How long a server may take to be reached, to take a login, and to answer one question or take one. A listener that
// says nothing is a server that is down, and whoever starts a daemon must hear that.
const (
	probeDial  = 5 * time.Second
	probeEnter = 10 * time.Second
	probeRead  = 30 * time.Second
	probeWrite = 10 * time.Second
)

// probe asks a server what it is. Its connection chooses no database and sets no variable: both could fail for
// reasons that are not the first to be told. It changes nothing.
func probe(ctx context.Context, dsn schema.DSN) (found Server, err error) {
	config, err := parse(dsn)
	if err != nil {
		return found, err
	}
	found = Server{Address: config.Addr, Database: config.DBName, Login: config.User}
	config.DBName = ""
	db, err := openBare(config)
	if err != nil {
		return found, refuse(err, found.about(), facts.StoreUnreachable)
	}
	defer func() { err = errors.CombineErrors(err, db.Close()) }()
	if err := enter(ctx, db); err != nil {
		return found, refuseLogin(err, found)
	}
	if err := schema.CheckServer(ctx, db); err != nil {
		return found, refuse(err, found.about(), facts.StoreTooOld)
	}
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&found.Version); err != nil {
		return found, refuse(err, found.about(), facts.StoreTooOld)
	}
	found.Embedded, err = embedded.Detect(ctx, db)
	return found, refuse(err, found.about(), facts.StoreSettingsUnsafe)
}

// enter logs in, in bounded time.
func enter(ctx context.Context, db *sql.DB) error {
	bounded, cancel := context.WithTimeout(ctx, probeEnter)
	defer cancel()
	err := db.PingContext(bounded)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return errors.Wrapf(err, "it let nobody in within %s", probeEnter)
	}
	return err
}

// refuseLogin says of a server that cannot be entered at all whether it is the server or the login.
func refuseLogin(err error, found Server) error {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) && answer.Number == codeAccessDenied {
		return facts.Refuse(facts.StoreUnreachable, facts.OfStore(found.about()), "it refuses user or password: %v", err)
	}
	return refuse(err, found.about(), facts.StoreUnreachable)
}

// choose makes sure that the login may choose the database, before a session is judged in it.
func choose(ctx context.Context, dsn schema.DSN, found Server) (err error) {
	config, err := parse(dsn)
	if err != nil {
		return err
	}
	db, err := openBare(config)
	if err != nil {
		return refuse(err, found.about(), facts.StoreUnreachable)
	}
	defer func() { err = errors.CombineErrors(err, db.Close()) }()
	err = enter(ctx, db)
	var answer *mysql.MySQLError
	switch {
	case !errors.As(err, &answer):
	case answer.Number == codeUnknownDatabase:
		return facts.Refuse(facts.SchemaDiffers, facts.OfStore(found.about()),
			"database %s does not exist: run 'connector schema apply'", found.Database)
	case answer.Number == codeDatabaseDenied:
		return facts.Refuse(facts.PrivilegesDiffer, facts.OfStore(found.about()),
			"login %s may not use database %s, or there is none: run 'connector schema apply --login %s' with a migration login",
			found.Login, found.Database, found.Login)
	}
	return refuse(err, found.about(), facts.StoreUnreachable)
}

func parse(dsn schema.DSN) (*mysql.Config, error) {
	config, err := mysql.ParseDSN(string(dsn))
	if err != nil {
		return nil, errors.New("the DSN cannot be read: want user:password@tcp(host:port)/database") // the driver's error repeats it
	}
	return config, nil
}

// openBare makes a pool whose sessions are as the server gives them.
func openBare(config *mysql.Config) (*sql.DB, error) {
	config.Params, config.Logger = nil, &mysql.NopLogger{}
	for at, unset := range map[*time.Duration]time.Duration{
		&config.Timeout: probeDial, &config.ReadTimeout: probeRead, &config.WriteTimeout: probeWrite,
	} {
		if *at == 0 {
			*at = unset
		}
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
