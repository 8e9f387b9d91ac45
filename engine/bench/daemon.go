package bench

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"

	"connectorcore/engine/drive"
	"connectorcore/engine/platform"
	"connectorcore/engine/serve"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// Listening is the first line that the daemon's process prints.
type Listening struct {
	Door       string `json:"door"`
	Operations string `json:"operations"`
}

// The files that the processes of a run leave in its folder.
const (
	completedFile = "completed.json"
	profileFile   = "daemon.pprof"
)

// Daemon is the daemon's process: the product's own daemon with the application of W1 linked in. It serves until the
// context ends, and leaves in the folder when each completion was durable, and where its time went.
func Daemon(ctx context.Context, config *platform.Config, log *slog.Logger, dir string, listening func(Listening) error) (err error) {
	store, err := serve.OpenStore(ctx, config.Store, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, store.Close()) }()
	a := &application{deliveries: map[facts.ExecutionID]string{}}
	daemon, err := store.Serve(ctx, config, serve.Application{Handler: a.handle, Database: database}, log, drive.Options{Completed: a.ended})
	if err != nil {
		return err
	}
	stop, err := profile(filepath.Join(dir, profileFile))
	if err == nil {
		if err = listening(Listening{daemon.Door, daemon.Operations}); err == nil {
			err = daemon.Wait(ctx)
		}
		err = errors.CombineErrors(err, stop())
	}
	if err := errors.CombineErrors(err, daemon.Close(ctx)); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	raw, err := json.Marshal(a.completed)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, completedFile), raw, 0o600)
	}
	return errors.Wrap(err, "bench: the completions")
}

// profile samples where the processor's time goes, a hundred times a second, until it is stopped.
func profile(path string) (stop func() error, err error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, errors.Wrap(err, "bench: the profile")
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.CombineErrors(errors.Wrap(err, "bench: the profile"), file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Wrap(file.Close(), "bench: the profile")
	}, nil
}
