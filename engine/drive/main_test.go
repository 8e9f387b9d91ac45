package drive_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/engine/execute"
	"connectorcore/engine/frozen"
	"connectorcore/engine/ingress"
	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/proptest/stage"
	"connectorcore/proptest/world"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// ordersEnv makes this test binary a daemon, which is what a test kills. It lives until it is killed or its standard input
// ends, so that it never outlives its test.
const ordersEnv = "DRIVE_TEST_ORDERS"

// orders are what such a daemon is told.
type orders struct {
	DSN      string
	Database string            // the application's
	Secrets  map[string][]byte // by version, encoded
	Lease    time.Duration
	Dies     int // at its nth boundary; at none for 0
	Names    bool
	Counts   bool // its application is counting, and else noting
}

func TestMain(m *testing.M) {
	if text := os.Getenv(ordersEnv); text != "" {
		if err := daemon(text); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func (o orders) Fetch(_ context.Context, version facts.SecretVersion) ([]byte, error) {
	encoded, there := o.Secrets[version.String()]
	if !there {
		return nil, errors.Newf("no version %s", version)
	}
	return append([]byte(nil), encoded...), nil
}

// daemon says where its door is, and names each boundary before it goes on from it.
func daemon(text string) error {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	ctx := context.Background()
	pools := map[schema.Role]*sql.DB{}
	for _, role := range []schema.Role{schema.RoleLedger, schema.RoleReader, schema.RoleApplication} {
		pool, err := schema.Connect(ctx, schema.DSN(o.DSN), role)
		if err != nil {
			return err
		}
		pools[role] = pool
	}
	var met atomic.Int64
	l, err := ledger.Open(pools[schema.RoleLedger], ledger.AtBoundary(func(b ledger.Boundary) {
		nth := int(met.Add(1))
		if o.Names {
			fmt.Println(b)
		}
		if nth == o.Dies {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}))
	if err != nil {
		return err
	}
	r := readers.Open(pools[schema.RoleReader])
	own, err := platform.OpenOwners(ctx, l, r)
	if err != nil {
		return err
	}
	backend, err := facts.ParseKey[facts.OwnerName]("memory")
	if err != nil {
		return err
	}
	driver, err := drive.Open(drive.Parts{Ledger: l, Reader: r, Directory: frozen.NewDirectory(r, own.Set()),
		Runtime: func(queue ledger.Queue) (execute.Runtime, error) {
			hosted, err := l.Host(ctx, pools[schema.RoleApplication], ledger.Hosting{Database: o.Database, Queue: queue})
			return execute.NewInDatabase(l, hosted, map[bool]execute.Handler{false: noting, true: counting}[o.Counts]), err
		}}, drive.Options{Lease: o.Lease, Sweep: 100 * time.Millisecond, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	secrets := platform.OpenSecrets(map[facts.OwnerName]platform.SecretBackend{backend: o})
	door, err := ingress.NewDoor(ingress.Options{Directory: driver, Secrets: secrets, Admitter: driver, Clock: facts.SystemClock{}})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	driver.Start()
	go func() { _ = http.Serve(listener, door) }() //nolint:gosec // a test's
	fmt.Println("http://" + listener.Addr().String())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// process is a daemon that runs.
type process struct {
	t    testing.TB
	door string
	cmd  *exec.Cmd

	dead  chan struct{}
	mutex sync.Mutex
	met   []string
}

// ordersOf are the orders for a daemon of a stage.
func ordersOf(t testing.TB, s *stage.Stage, app *world.Application) orders {
	t.Helper()
	o := orders{DSN: string(s.Store.DSN()), Database: app.Name, Secrets: map[string][]byte{}, Lease: time.Second}
	for _, account := range s.Accounts {
		set, err := platform.NewSecretSet([]platform.SecretMember{{Name: stage.Key[facts.DefinitionID](t, "primary"), Secret: platform.NewSecret(append([]byte(nil), account.Secret...)), Outbound: true}})
		if err != nil {
			t.Fatal(err)
		}
		if o.Secrets["secret-of-"+account.Pack.Head().Name.String()], err = platform.EncodeSecrets(set); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func start(t testing.TB, o orders) *process {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(os.Args[0]), dead: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), ordersEnv+"="+string(text))
	p.cmd.Stderr = t.Output()
	alive, err := p.cmd.StdinPipe() // it is closed when this process ends, however it does
	if err != nil {
		t.Fatal(err)
	}
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	doors := make(chan string, 1)
	go p.read(output, doors)
	t.Cleanup(func() { p.kill(); _ = alive.Close() })
	select {
	case p.door = <-doors:
	case <-p.dead:
		t.Fatalf("the daemon did not start: %q", p.boundaries())
	case <-time.After(time.Minute):
		t.Fatal("the daemon did not come to listen")
	}
	return p
}

// read takes what the daemon says until it is dead.
func (p *process) read(output io.Reader, doors chan<- string) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if line := lines.Text(); strings.HasPrefix(line, "http://") {
			doors <- line
		} else {
			p.mutex.Lock()
			p.met = append(p.met, line)
			p.mutex.Unlock()
		}
	}
	_ = p.cmd.Wait()
	close(p.dead)
}

func (p *process) boundaries() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return append([]string(nil), p.met...)
}

// kill ends the daemon as a crash does.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	<-p.dead
}

// died waits until the daemon has killed itself.
func (p *process) died() {
	p.t.Helper()
	select {
	case <-p.dead:
	case <-time.After(time.Minute):
		p.t.Fatalf("the daemon lives after %q", p.boundaries())
	}
}
