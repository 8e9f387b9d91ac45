package txn

import (
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"connectorcore/proptest/world"
	"connectorcore/schema"
)

// cutter relays to a server and cuts one connection at its nth command from when it was armed: before the server has
// seen it, or after the server has answered it.
type cutter struct {
	server   string
	listener net.Listener
	mu       sync.Mutex
	left     int
	answered bool
}

func newCutter(t *testing.T, server string) *cutter {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{server: server, listener: listener}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { c.relay(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
	})
	return c
}

func (c *cutter) arm(nth int, answered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.answered = nth, answered
}

// meets tells whether the command is the one.
func (c *cutter) meets() (it, answered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left--
	return c.left == 0, c.answered
}

// relay forwards commands by whole packets: every statement of the transaction under test fits in one, and its answer is
// read before the next one is sent.
func (c *cutter) relay(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		return
	}
	drop := make(chan struct{})
	dropped := make(chan struct{})
	go func() {
		defer close(dropped)
		defer func() { _ = client.Close() }()
		answer := make([]byte, 1<<16)
		for {
			n, err := server.Read(answer)
			select {
			case <-drop:
				return
			default:
			}
			if err != nil {
				return
			}
			if _, err := client.Write(answer[:n]); err != nil {
				return
			}
		}
	}()
	for {
		packet, err := packetOf(client)
		if err != nil {
			break
		}
		if packet[3] == 0 { // a command, and no part of a login
			if it, answered := c.meets(); it && answered {
				close(drop)
				_, _ = server.Write(packet)
				<-dropped // the server has answered, and the client never learns it
				break
			} else if it {
				break
			}
		}
		if _, err := server.Write(packet); err != nil {
			break
		}
	}
	_ = client.Close()
	_ = server.Close()
	<-dropped
}

func packetOf(from io.Reader) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	packet := append(head, make([]byte, int(head[0])+int(head[1])<<8+int(head[2])<<16)...)
	_, err := io.ReadFull(from, packet[4:])
	return packet, err
}

// The connection is cut at each command of a transaction in turn, before the server saw it and after it answered: the
// work is done exactly once, and only a cut at COMMIT leaves a doubt that has to be settled.
func TestCutAtEveryCommandDoesTheWorkOnce(t *testing.T) {
	store := world.Converged(t)
	direct := openKernel(t, store, Options{})
	cut := newCutter(t, store.Login.Address)
	var reasons []string
	var cost int
	db, err := Open(store.PoolAt(t, schema.RoleLedger, cut.listener.Addr().String(), nil), Options{
		OnRerun: func(reason string) { reasons = append(reasons, reason) },
		Observe: func(r Report) { cost = r.Statements },
	})
	if err != nil {
		t.Fatal(err)
	}
	whole := newGranting(t, direct)
	if _, err := whole.run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	commands := cost
	for nth := 1; nth <= commands; nth++ {
		for _, answered := range []bool{false, true} {
			g := newGranting(t, direct)
			reasons = nil
			want, reason, touched := grantedNow, "connection", 0
			if nth == commands {
				reason, touched = "unknown commit", 1
				if answered {
					want = grantedBefore
				}
			}
			cut.arm(nth, answered)
			got, err := g.run(t.Context(), db)
			if err != nil || got != want || !slices.Equal(reasons, []string{reason}) {
				t.Errorf("cut at command %d of %d, answered %v: %q, %v, reruns for %v", nth, commands, answered, got, err, reasons)
			}
			if left, n := g.left(t, store.Admin), g.touched(t, store.Admin); left != [3]int{1, 1, 1} || n != touched {
				t.Errorf("cut at command %d of %d, answered %v: left %v, touched %d times", nth, commands, answered, left, n)
			}
			if n := db.pool.Stats().InUse; n != 0 {
				t.Errorf("cut at command %d: %d connections still in use", nth, n)
			}
		}
	}
}

// The server is killed at each step of a transaction and starts again: the same call does the work, once, and what was
// acknowledged is there.
func TestServerKilledAtEveryStepDoesTheWorkOnce(t *testing.T) {
	server := world.OwnServer(t)
	store := world.FreshOn(t, server.Root())
	for _, at := range []string{"credential gate locked", "permit loaded", string(BeforeCommit), string(AfterCommit)} {
		killed := false
		kill := func(step string) {
			if step == at && !killed {
				killed = true
				world.Kill(t, server)
			}
		}
		var reasons []string
		db := openKernel(t, store, Options{OnRerun: func(reason string) { reasons = append(reasons, reason) },
			At: func(b Boundary) {
				if b.Transaction == kindGrant.String() {
					kill(string(b.Point))
				}
			}})
		g := newGranting(t, openKernel(t, store, Options{}))
		g.inside = func(_ int, step string) { kill(step) }
		got, err := g.run(t.Context(), db)
		if err != nil || got != grantedNow || !killed {
			t.Errorf("killed at %q (%v): %q, %v", at, killed, got, err)
		}
		if first := append(reasons, "none")[0]; first != map[string]string{string(BeforeCommit): "unknown commit", string(AfterCommit): "none"}[at] &&
			(first != "connection" || at == string(BeforeCommit) || at == string(AfterCommit)) {
			t.Errorf("killed at %q: reruns for %v", at, reasons)
		}
		mustRun(t, db, func(*Tx) error { return nil }) // waits until the server is back
		if left := g.left(t, store.Admin); left != [3]int{1, 1, 1} {
			t.Errorf("killed at %q: left %v", at, left)
		}
	}
	refusesConnections(t, store)
}

// refusesConnections: a server that has no room for a connection has begun nothing, and is asked again.
func refusesConnections(t *testing.T, store *world.Store) {
	g := newGranting(t, openKernel(t, store, Options{}))
	var reasons []string
	db := openKernel(t, store, Options{OnRerun: func(reason string) {
		if reasons = append(reasons, reason); len(reasons) == 1 {
			if _, err := store.Admin.ExecContext(t.Context(), "SET GLOBAL max_connections=0"); err != nil {
				t.Error(err)
			}
		}
	}})
	if _, err := store.Admin.ExecContext(t.Context(), "SET GLOBAL max_connections=1"); err != nil {
		t.Fatal(err)
	}
	got, err := g.run(t.Context(), db)
	if err != nil || got != grantedNow || !slices.Equal(reasons, []string{"1040"}) {
		t.Errorf("no room for a connection: %q, %v, reruns for %v", got, err, reasons)
	}
}
