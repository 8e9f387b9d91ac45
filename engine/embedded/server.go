package embedded

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/cockroachdb/errors"
)

const (
	// readyWait bounds one start. A first start takes about 3 s and a later one 0.5 s on an idle machine.
	readyWait = 120 * time.Second
	// stopWait bounds SIGTERM: the server itself gives open transactions 16 s.
	stopWait = 30 * time.Second
	// A server that ended by itself is started again at once, then after pauses that double from the first to the last;
	// failedStarts in a row end the supervision.
	firstPause   = 200 * time.Millisecond
	lastPause    = 10 * time.Second
	failedStarts = 7
)

// Options say what to supervise.
type Options struct {
	// Dir is the permanent data directory; made if it is not there.
	Dir string
	// Binary is the tidb-server; empty means BinaryPath.
	Binary string
	// Log receives starts, stops and deaths of the server. nil keeps silent.
	Log *slog.Logger

	// splitTable is for the control of the tear proof only: it makes a store that loses acknowledged rows.
	splitTable bool
	// pause replaces firstPause in tests.
	pause time.Duration
}

// Phase is what the supervised server is doing.
type Phase int

const (
	// Serving: it was ready, and its settings were read back.
	Serving Phase = iota + 1
	// Restarting: it ended by itself and is being started again on the same directory and address.
	Restarting
	// Stopped: it is gone and will not come back; State.Err says why, nil after Stop.
	Stopped
)

// State is the server as its supervisor knows it.
type State struct {
	Phase Phase
	// Starts counts the lives of the tidb-server that became ready, 1 for the first.
	Starts int
	// PID is the process of the present life while Serving, else 0.
	PID int
	Err error
}

// Server is a supervised tidb-server. Its methods may be called by several goroutines.
type Server struct {
	options Options
	dir     *dataDir
	login   Login
	port    int

	cancel context.CancelFunc // asks the supervision to end
	hurry  chan struct{}      // closed when the end must not wait for the server
	rush   sync.Once
	done   chan struct{}

	mu      sync.Mutex
	state   State
	changed chan struct{}
}

// BinaryPath is where the module cmd/tidb puts the server that it builds.
func BinaryPath() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", errors.Wrap(err, "embedded: no cache directory, set HOME or XDG_CACHE_HOME")
	}
	return filepath.Join(cache, "connectorcore", "tidb-"+Release, "tidb-server"), nil
}

// FindBinary is BinaryPath if a server was built there, else one sentence that says how to build it.
func FindBinary() (string, error) {
	path, err := BinaryPath()
	if err != nil {
		return "", err
	}
	return path, checkBinary(path)
}

func checkBinary(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return errors.Newf("embedded: tidb-server is not built (there is none at %s); run `make tidb` once, it takes 10 to 15 minutes", path)
	}
	return nil
}

// Start claims the directory, starts the server and returns when it serves with every setting read back, or says in
// one sentence why it must not. The context bounds the start only; the server then runs until Stop, until it was
// refused after a restart, or until this process ends: on Linux the kernel kills it with us, elsewhere the directory
// stays locked until it is gone.
func Start(ctx context.Context, options Options) (*Server, error) {
	if options.Binary == "" {
		path, err := BinaryPath()
		if err != nil {
			return nil, err
		}
		options.Binary = path
	}
	if err := checkBinary(options.Binary); err != nil {
		return nil, err
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.pause == 0 {
		options.pause = firstPause
	}
	dir, err := claim(options.Dir, stamp{Release: Release, SplitTable: options.splitTable})
	if err != nil {
		return nil, err
	}
	s := &Server{options: options, dir: dir, hurry: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{})}
	first, err := s.firstLaunch(ctx)
	if err != nil {
		dir.release()
		return nil, err
	}
	s.set(State{Phase: Serving, Starts: 1, PID: first.process.Pid})
	running, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go s.supervise(running, first)
	return s, nil
}

// Root is the login of the server's root account.
func (s *Server) Root() Login { return s.login }

// State is the present state, and a channel that closes when it is no longer the present one.
func (s *Server) State() (State, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.changed
}

// Done closes when the server is gone and will not come back; State then says why.
func (s *Server) Done() <-chan struct{} { return s.done }

// Stop ends the server with SIGTERM, and kills it if it has not ended within 30 s or when the context ends. It returns
// when the server is gone and the directory is free. The error says that it had to be killed (nothing acknowledged is
// lost by that), or why it had ended before. Stop may be called again.
func (s *Server) Stop(ctx context.Context) error {
	s.cancel()
	select {
	case <-s.done:
	case <-ctx.Done():
		s.rush.Do(func() { close(s.hurry) })
		<-s.done
	}
	state, _ := s.State()
	return state.Err
}

func (s *Server) set(next State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = next
	close(s.changed)
	s.changed = make(chan struct{})
}

// firstLaunch finds a port and launches. The port is free when it is looked up and may be taken a moment later by
// another process; then another one is looked up.
func (s *Server) firstLaunch(ctx context.Context) (*child, error) {
	password, err := s.dir.password()
	if err != nil {
		return nil, err
	}
	for range 3 {
		if s.port, err = freePort(); err != nil {
			return nil, errors.Wrap(err, "embedded: no free port on the loopback interface")
		}
		s.login = Login{Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), User: "root", Password: password}
		var c *child
		if c, err = s.launch(ctx); err == nil {
			return c, nil
		}
		if portFree(s.port) || ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// launch starts one life of the server and waits until it may be used. On an error no server runs.
func (s *Server) launch(ctx context.Context) (*child, error) {
	if err := s.dir.say(s.login.Address); err != nil {
		return nil, err
	}
	if err := s.dir.writeConfig(s.port); err != nil {
		return nil, err
	}
	c, err := startChild(s.options.Binary, s.dir)
	if err != nil {
		return nil, err
	}
	err = s.awaitReady(ctx, c)
	if err == nil {
		err = s.dir.finish()
	}
	if err != nil {
		c.kill()
		<-c.exited
		return nil, err
	}
	return c, nil
}

// supervise keeps the server alive until it is told to stop or finds that it must not.
func (s *Server) supervise(ctx context.Context, c *child) {
	starts := 1
	end := func(err error) {
		s.cancel()
		s.dir.release()
		s.set(State{Phase: Stopped, Starts: starts, Err: err})
		close(s.done)
	}
	for {
		select {
		case <-ctx.Done():
			end(s.end(c))
			return
		case <-c.exited:
		}
		s.options.Log.Warn("tidb-server ended by itself, starting it again", "status", c.status, "last words", lastWords(s.dir))
		s.set(State{Phase: Restarting, Starts: starts})
		next, err := s.revive(ctx)
		if ctx.Err() != nil && next == nil {
			end(nil)
			return
		}
		if err != nil {
			s.options.Log.Error("tidb-server is given up", "cause", err)
			end(err)
			return
		}
		c, starts = next, starts+1
		s.options.Log.Info("tidb-server serves again", "address", s.login.Address, "starts", starts)
		s.set(State{Phase: Serving, Starts: starts, PID: c.process.Pid})
	}
}

// revive starts the server again on the same directory and port, a bounded number of times.
func (s *Server) revive(ctx context.Context) (*child, error) {
	pause := s.options.pause
	for failed := 1; ; failed++ {
		c, err := s.launch(ctx)
		if err == nil || ctx.Err() != nil || errors.Is(err, errRefused) {
			return c, err
		}
		if failed == failedStarts {
			return nil, errors.Wrapf(err, "tidb-server failed to start %d times in a row", failed)
		}
		s.options.Log.Warn("tidb-server did not start", "cause", err, "next try in", pause)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// end stops a running child: in order if it obeys in time, else by force.
func (s *Server) end(c *child) error {
	c.terminate()
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	select {
	case <-c.exited:
		return nil
	case <-timer.C:
	case <-s.hurry:
	}
	c.kill()
	<-c.exited
	return errors.New("embedded: tidb-server did not end in the time it was given and was killed; what it acknowledged is kept")
}
