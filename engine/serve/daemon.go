package serve

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/engine/execute"
	"connectorcore/engine/frozen"
	"connectorcore/engine/ingress"
	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Application is where commands go: a handler in this process with a database of its own, or an address.
type Application struct {
	Handler  execute.Handler
	Database string // of the handler, in the cluster of the store; made by 'connector schema application'
	URL      string // of a remote application, instead of both
}

// Daemon admits deliveries and drives the work of every account of its deployment, until it is closed.
type Daemon struct {
	Door       string // the address that the door listens at, host:port
	Operations string // that of /healthz, /readyz and /metrics

	log     *slog.Logger
	owners  *platform.Owners
	driver  *drive.Driver
	door    *ingress.Door
	servers []*http.Server
	failed  chan error
}

// Serve starts a daemon over an open store, which stays the caller's. It serves what is active, and answers 503 while
// nothing is.
//
// Refuses: ConfigurationInvalid, ConformanceOnly (a production deployment serves only after its cutover, which there is
// not yet: R39).
func (s *Store) Serve(ctx context.Context, config *platform.Config, app Application, log *slog.Logger, options drive.Options) (*Daemon, error) {
	metrics := prometheus.NewRegistry()
	l, err := ledger.Open(s.Pool(schema.RoleLedger), ledger.WithMetrics(metrics))
	if err != nil {
		return nil, err
	}
	r := readers.Open(s.Pool(schema.RoleReader))
	d := &Daemon{log: log, failed: make(chan error, 2)}
	if d.owners, err = platform.OpenOwners(ctx, l, r); err != nil {
		return nil, err
	}
	deployment := d.owners.Deployment()
	if deployment.Class != serving.Conformance {
		return nil, facts.Refuse(facts.ConformanceOnly, facts.OfInput("deployment "+deployment.ID.String()), "it is of class %s, and every path into it is shut", deployment.Class)
	}
	log.Warn("this is a conformance deployment: it is for trials, and nothing makes it a production deployment", "deployment", deployment.ID.String())
	secrets, err := OpenSecrets(config.Secrets)
	if err != nil {
		return nil, err
	}
	options.Log, options.Metrics = log, metrics
	d.driver, err = drive.Open(drive.Parts{Ledger: l, Reader: r, Directory: frozen.NewDirectory(r, d.owners.Set()),
		Runtime: func(queue ledger.Queue) (execute.Runtime, error) { return s.runtime(ctx, l, app, queue) }}, options)
	if err != nil {
		return nil, err
	}
	d.door, err = ingress.NewDoor(ingress.Options{Directory: d.driver, Secrets: secrets, Admitter: d.driver, Clock: facts.SystemClock{}, Registerer: metrics, Log: log, Origin: config.Serve.Origin})
	if err != nil {
		return nil, errors.CombineErrors(err, d.Close(ctx))
	}
	if d.Door, err = d.listen("serve.listen", config.Serve.Listen, d.door); err == nil {
		d.Operations, err = d.listen("serve.operations", config.Serve.Operations, d.operations(metrics))
	}
	if err != nil {
		return nil, errors.CombineErrors(err, d.Close(ctx))
	}
	d.driver.Start()
	return d, nil
}

// runtime is the Runtime of the application.
func (s *Store) runtime(ctx context.Context, l *ledger.Ledger, app Application, queue ledger.Queue) (execute.Runtime, error) {
	switch {
	case app.URL != "" && app.Handler == nil:
		return execute.NewRemote(app.URL, nil)
	case app.URL != "" || app.Handler == nil:
		return nil, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("serve.application"), "want the address of an application, or a program that links its handler, and not both")
	}
	hosted, err := l.Host(ctx, s.Pool(schema.RoleApplication), ledger.Hosting{Database: app.Database, Queue: queue})
	if err != nil {
		return nil, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("the application's database "+app.Database), "%v; 'connector schema application' makes it", err)
	}
	return execute.NewInDatabase(l, hosted, app.Handler), nil
}

// listen serves a handler at the address that a setting names, and gives the one that it became.
func (d *Daemon) listen(setting, address string, handler http.Handler) (string, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", facts.Refuse(facts.ConfigurationInvalid, facts.OfInput(setting+" "+address), "%v: name an address that is free here", err)
	}
	server := ingress.NewServer(handler, d.log)
	d.servers = append(d.servers, server)
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			d.failed <- errors.Wrapf(err, "serve: the listener at %s", address)
		}
	}()
	return listener.Addr().String(), nil
}

// operations is what an operator's tools ask. It answers to whoever reaches it, so it listens on a private address.
func (d *Daemon) operations(metrics *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		epoch, active, err := d.owners.Active(r.Context())
		switch {
		case err != nil:
			answer(w, http.StatusServiceUnavailable, "the store does not answer")
		case !active:
			answer(w, http.StatusServiceUnavailable, "no epoch is active: run 'connector activate --principal NAME'")
		default:
			answer(w, http.StatusOK, "conformance deployment, serving under epoch "+epoch.String())
		}
	})
	return mux
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // who asked may have gone
}

// Wait returns when the context ends, or with what made the daemon stop to listen.
func (d *Daemon) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-d.failed:
		return err
	}
}

// closing bounds how long a daemon lets its work come to an end. What is left is found by the next one.
const closing = 20 * time.Second

// Close stops to listen, lets what was begun end, and gives up what takes longer than 20 seconds.
func (d *Daemon) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	var err error
	for _, server := range d.servers {
		err = errors.CombineErrors(err, server.Shutdown(ctx))
	}
	err = errors.CombineErrors(err, d.driver.Close(ctx))
	if d.door != nil {
		d.door.Close()
	}
	return err
}

// Run is a whole daemon: it opens the store, serves the application until the context ends, and closes both. It tells the
// addresses when it listens.
func Run(ctx context.Context, config *platform.Config, app Application, log *slog.Logger, options drive.Options, listening func(*Daemon) error) (err error) {
	store, err := OpenStore(ctx, config.Store, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, store.Close()) }()
	d, err := store.Serve(ctx, config, app, log, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, d.Close(ctx)) }()
	if err := listening(d); err != nil {
		return err
	}
	return d.Wait(ctx)
}
