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

// runtimeRoles are the roles of a daemon's pools. The first is the one that a login has by default, so that what can
// be checked without the others is checked before them.
var runtimeRoles = []schema.Role{schema.RoleReader, schema.RoleLedger, schema.RoleApplication}

// Store is the daemon's database: checked, and with one pool for each runtime role.
type Store struct {
	Server
	pools map[schema.Role]*sql.DB
	own   *embedded.Server // nil for a cluster
}

// Option changes how a store is opened.
type Option func(*options)

type options struct{ apply bool }

// Apply brings the embedded store to the declared schema before it is checked. On a cluster it does nothing: its
// schema is changed by a login that a daemon does not have.
func Apply() Option { return func(o *options) { o.apply = true } }

// OpenStore opens the database for a daemon: the one of the DSN, or else the embedded store in the data directory,
// which it then runs until Close. Nothing is changed before all of this was found to be so, in this order: the server
// answers and takes the login; it is a TiDB of the release that the protocol needs; a session has every setting; a
// single-process store, whoever started it, has the settings without which it tears transactions; the login holds
// nothing but its roles; the catalogue and the privileges are, for each role, the declared ones.
//
// The log receives what the supervisor of the embedded store has to say.
func OpenStore(ctx context.Context, config platform.Store, log *slog.Logger, with ...Option) (*Store, error) {
	var o options
	for _, option := range with {
		option(&o)
	}
	if config.DSN != "" {
		return open(ctx, config.DSN)
	}
	if err := RefuseHalfCluster(config); err != nil {
		return nil, err
	}
	own, err := startOwn(ctx, config.Dir, log, o.apply)
	if err != nil {
		return nil, err
	}
	if o.apply {
		_, err = own.apply(ctx)
	}
	var store *Store
	var dsn schema.DSN
	if err == nil {
		dsn, err = own.daemonDSN()
	}
	if err == nil {
		store, err = open(ctx, dsn)
	}
	if err != nil {
		return nil, errors.CombineErrors(err, own.stop())
	}
	store.own = own.server
	return store, nil
}

// RefuseHalfCluster refuses a configuration that has a migration login to a cluster and no daemon's login: the embedded
// store, which stands in for a missing DSN, would be another database than the one that is migrated.
func RefuseHalfCluster(config platform.Store) error {
	if config.DSN == "" && config.MigrationDSN != "" {
		return facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("store.dsn"),
			"store.migration_dsn names a cluster and store.dsn is missing: give both, or neither for the embedded store")
	}
	return nil
}

// The connections of one pool. The most bounds what a storm of failures, or application code that never returns, can take of
// the server; no transaction waits for a second connection of a pool, so those that wait for one get it. Connections that
// idle are kept, because each new one asks for its role and all its settings.
const (
	poolMost = 64
	poolIdle = 16
)

// open checks a server and opens the pools.
func open(ctx context.Context, dsn schema.DSN) (*Store, error) {
	found, err := probe(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if err := choose(ctx, dsn, found); err != nil {
		return nil, err
	}
	s := &Store{Server: found, pools: map[schema.Role]*sql.DB{}}
	for _, role := range runtimeRoles {
		pool, err := schema.Connect(ctx, dsn, role)
		if err != nil {
			return nil, errors.CombineErrors(refuseSession(err, found, role), s.closePools())
		}
		pool.SetMaxOpenConns(poolMost)
		pool.SetMaxIdleConns(poolIdle)
		s.pools[role] = pool
	}
	if err := s.check(ctx); err != nil {
		return nil, errors.CombineErrors(err, s.closePools())
	}
	return s, nil
}

// refuseSession tells a login that was not admitted from a session that is not safe.
func refuseSession(err error, found Server, role schema.Role) error {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) && answer.Number == codeRoleNotGranted {
		return facts.Refuse(facts.PrivilegesDiffer, facts.OfStore(found.about()),
			"login %s does not hold the %s role of database %s: name a login that holds nothing else to 'connector schema apply --login'",
			found.Login, role, found.Database)
	}
	return refuse(err, found.about(), facts.StoreSessionUnsafe)
}

func (s *Store) check(ctx context.Context) error {
	reader := s.pools[schema.RoleReader]
	if s.Embedded {
		if err := embedded.CheckSettings(ctx, reader); err != nil {
			return refuse(err, s.about(), facts.StoreSettingsUnsafe)
		}
	}
	if err := schema.CheckLogin(ctx, reader); err != nil {
		return refuse(err, s.about(), facts.PrivilegesDiffer)
	}
	for _, role := range runtimeRoles {
		if err := schema.Verify(ctx, s.pools[role], role); err != nil {
			return refuse(err, s.about(), facts.SchemaDiffers)
		}
	}
	return nil
}

// Pool is the pool of a runtime role, nil for any other. It belongs to the store: do not close it.
func (s *Store) Pool(role schema.Role) *sql.DB { return s.pools[role] }

// Roles are the roles that have a pool.
func (s *Store) Roles() []schema.Role { return append([]schema.Role(nil), runtimeRoles...) }

// Close closes the pools and ends the embedded store in order.
func (s *Store) Close() error {
	err := s.closePools()
	if s.own == nil {
		return err
	}
	return errors.CombineErrors(err, s.own.Stop(context.Background())) // Stop bounds itself
}

func (s *Store) closePools() error {
	var err error
	for _, role := range runtimeRoles {
		if pool := s.pools[role]; pool != nil {
			err = errors.CombineErrors(err, pool.Close())
		}
	}
	return err
}
