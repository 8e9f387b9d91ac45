package serve

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"connectorcore/engine/embedded"

	"github.com/cockroachdb/errors"
)

// Embedded is the embedded store while this process serves it to others.
type Embedded struct {
	Address          string // host:port
	Database         string
	Login            string // the daemon's
	DSNFile          string // holds the daemon's DSN; empty before the first apply
	MigrationDSNFile string // holds the DSN of the migration role

	own *own
}

// StartEmbedded starts the embedded store for others, who find their DSN in a file of the data directory; a store that
// is not there is begun. It does not ask whether the schema is the declared one: whoever repairs it needs the store
// served. With apply it brings the schema to the declared one first, and gives the daemon its login.
func StartEmbedded(ctx context.Context, dir string, log *slog.Logger, apply bool) (*Embedded, error) {
	own, err := startOwn(ctx, dir, log, true)
	if err != nil {
		return nil, err
	}
	if apply {
		_, err = own.apply(ctx)
	}
	e := &Embedded{Address: own.server.Root().Address, Database: ownDatabase, Login: ownLogin, own: own}
	if err == nil {
		err = e.publish()
	}
	if err != nil {
		return nil, errors.CombineErrors(err, e.Close())
	}
	return e, nil
}

// publish writes the DSNs. They name a port, which is another one at each start.
func (e *Embedded) publish() error {
	e.MigrationDSNFile = filepath.Join(e.own.dir, migrationDSNName)
	if err := writeSecret(e.MigrationDSNFile, string(e.own.rootDSN())+"\n"); err != nil {
		return errors.Wrap(err, "store: the migration DSN")
	}
	if _, err := os.Stat(filepath.Join(e.own.dir, passwordName)); os.IsNotExist(err) {
		return nil
	}
	dsn, err := e.own.daemonDSN()
	if err != nil {
		return err
	}
	e.DSNFile = filepath.Join(e.own.dir, daemonDSNName)
	return errors.Wrap(writeSecret(e.DSNFile, string(dsn)+"\n"), "store: the daemon's DSN")
}

// PID is the process of the tidb-server, 0 while it is started again.
func (e *Embedded) PID() int {
	state, _ := e.own.server.State()
	return state.PID
}

// Wait returns when the context ends (nil), or when the store has ended for good before that (why).
func (e *Embedded) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-e.own.server.Done():
		state, _ := e.own.server.State()
		return errors.Wrap(endedOr(state), "store: the embedded store has ended")
	}
}

func endedOr(state embedded.State) error {
	if state.Err != nil {
		return state.Err
	}
	return errors.AssertionFailedf("nobody stopped it")
}

// Close withdraws the DSNs and ends the store in order.
func (e *Embedded) Close() error {
	return errors.CombineErrors(e.own.withdraw(), e.own.stop())
}
