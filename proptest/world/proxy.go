package world

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/cockroachdb/errors"
)

// FaultKind is what happens to a COMMIT on its way.
type FaultKind int

const (
	// CutBeforeCommit cuts the connection; the server never sees the COMMIT.
	CutBeforeCommit FaultKind = iota + 1
	// CutAfterCommit forwards the COMMIT, waits for the server's answer, drops it and cuts the connection: the outcome
	// stands on the server, and the client cannot know it.
	CutAfterCommit
	// HoldCommit keeps the COMMIT until Release or Drop, so that other transactions can run between.
	HoldCommit
)

// Fault is one armed fault. It meets one COMMIT.
type Fault struct {
	kind  FaultKind
	nth   int
	fired chan struct{}
	goOn  chan bool // HoldCommit: true forwards, false cuts
	once  sync.Once
	// committed is the server's answer, written before fired is closed.
	committed bool
}

// Fired closes when the connection was cut (CutBeforeCommit), when the server has answered and the connection was cut
// (CutAfterCommit), or when the COMMIT is held (HoldCommit).
func (f *Fault) Fired() <-chan struct{} { return f.fired }

// Committed tells, after Fired of a CutAfterCommit, whether the server answered OK. If it died instead, nobody knows.
func (f *Fault) Committed() bool { return f.committed }

// Release lets a held COMMIT go on to the server, even if its client has gone meanwhile, as a slow network would.
func (f *Fault) Release() { f.once.Do(func() { f.goOn <- true }) }

// Drop cuts the connection of a held COMMIT; the server never sees it.
func (f *Fault) Drop() { f.once.Do(func() { f.goOn <- false }) }

// Proxy stands between clients and one MySQL server and forwards everything, but for the faults that it is armed with.
// It knows a COMMIT by its packet: a text command of this one word, as database/sql sends it. The traffic must be plain:
// no TLS, no compression.
type Proxy struct {
	server   string
	listener net.Listener

	mu     sync.Mutex
	faults []*Fault
	conns  map[net.Conn]struct{}
	closed bool
	group  sync.WaitGroup
}

// NewProxy opens a proxy on a free loopback port, closed at the test's end.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("world: proxy: %v", err)
	}
	p := &Proxy{server: server, listener: listener, conns: map[net.Conn]struct{}{}}
	p.group.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Address is where clients connect instead of to the server.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Arm sets a fault for the nth COMMIT from now, 1 for the next, on whatever connection it comes.
func (p *Proxy) Arm(kind FaultKind, nth int) *Fault {
	f := &Fault{kind: kind, nth: nth, fired: make(chan struct{}), goOn: make(chan bool, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, f)
	return f
}

// CutAll cuts every connection that is open now. New ones are accepted.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	for _, f := range p.faults {
		f.Drop() // a held COMMIT must not hold the test's end
	}
	p.mu.Unlock()
	_ = p.listener.Close()
	p.CutAll()
	p.group.Wait()
}

// track keeps a connection for CutAll. It refuses when the proxy is closed.
func (p *Proxy) track(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = conn.Close()
		return false
	}
	p.conns[conn] = struct{}{}
	return true
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if !p.track(client) {
			return
		}
		p.group.Go(func() { p.serve(client) })
	}
}

// serve relays one connection until either side ends it.
func (p *Proxy) serve(client net.Conn) {
	link := &link{proxy: p, client: client, last: make(chan *Fault, 1)}
	defer link.cut()
	server, err := net.Dial("tcp", p.server)
	if err != nil || !p.track(server) {
		return
	}
	link.server = server
	p.group.Go(func() { defer link.cut(); link.answers() })
	link.commands()
}

// link is one client's connection to the server.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	// last holds the CutAfterCommit whose COMMIT was forwarded: the next answer belongs to it.
	last chan *Fault
}

func (l *link) cut() {
	_ = l.client.Close()
	if l.server != nil {
		_ = l.server.Close()
	}
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	delete(l.proxy.conns, l.client)
	delete(l.proxy.conns, l.server)
}

// commands relays from the client, packet by packet.
func (l *link) commands() {
	for {
		packet, err := readPacket(l.client)
		if err != nil {
			return
		}
		if isCommit(packet) {
			if f := l.proxy.meet(); f != nil && !l.suffer(f) {
				return
			}
		}
		if _, err := l.server.Write(packet); err != nil {
			return
		}
	}
}

// suffer does what the fault says and tells whether the COMMIT goes on to the server.
func (l *link) suffer(f *Fault) bool {
	switch f.kind {
	case CutBeforeCommit:
		l.cut()
		close(f.fired)
		return false
	case CutAfterCommit:
		l.last <- f
		return true
	default:
		close(f.fired)
		return <-f.goOn
	}
}

// answers relays from the server, packet by packet.
func (l *link) answers() {
	for {
		packet, err := readPacket(l.server)
		select {
		case f := <-l.last: // without an answer the server has died, and the client learns no more either
			l.cut()
			f.committed = err == nil && len(packet) > header && packet[header] == okAnswer
			close(f.fired)
			return
		default:
		}
		if err != nil {
			return
		}
		if _, err := l.client.Write(packet); err != nil {
			return
		}
	}
}

// meet counts a COMMIT and returns the fault that waits for it.
func (p *Proxy) meet() *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	var met *Fault
	left := p.faults[:0]
	for _, f := range p.faults {
		if f.nth--; f.nth == 0 && met == nil {
			met = f
		} else if f.nth == 0 {
			f.nth = 1 // two for one COMMIT: the second meets the next
		}
		// A held one stays known, for close; it is not met twice because its count is below one from now on.
		if f.nth > 0 || f.kind == HoldCommit {
			left = append(left, f)
		}
	}
	p.faults = left
	return met
}

const (
	header   = 4 // three bytes of length, one of sequence
	comQuery = 3
	okAnswer = 0
)

// readPacket reads one packet with its header.
func readPacket(from io.Reader) ([]byte, error) {
	var head [header]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, errors.Wrap(err, "world: proxy")
	}
	packet := make([]byte, header+int(head[0])+int(head[1])<<8+int(head[2])<<16)
	copy(packet, head[:])
	_, err := io.ReadFull(from, packet[header:])
	return packet, errors.Wrap(err, "world: proxy")
}

// isCommit: a command starts a new sequence; what a client sends while it logs in, or in the middle of a long command,
// does not.
func isCommit(packet []byte) bool {
	if len(packet) <= header || packet[3] != 0 || packet[header] != comQuery {
		return false
	}
	text := bytes.TrimRight(bytes.TrimSpace(packet[header+1:]), "; \t\r\n")
	return bytes.EqualFold(text, []byte("COMMIT"))
}
