package ledger_test

import (
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

// BenchmarkFirstActivation prepares, verifies and activates an epoch of 1,000 accounts with 10 bindings each. For each
// transaction it prints statements, the bytes that were sent for it, the keys that TiDB held for it just before its COMMIT,
// and seconds. Run it once: -benchtime=1x.
func BenchmarkFirstActivation(b *testing.B) {
	for range b.N {
		b.StopTimer()
		s := stage(b, setting{serving.Conformance, 1000, 10})
		keys := map[string]int{}
		address, sent := s.counting()
		l := s.open(s.store.PoolAt(b, schema.RoleLedger, address, nil), ledger.AtBoundary(func(at ledger.Boundary) {
			if at.Point == "before commit" {
				keys[at.Transaction] = s.keys()
			}
		}))
		content, c := s.content(), s.coordinator()
		s.walk()
		ok(b, s.hold(b.Context(), s.ledger, c))
		statements := world.Statements(b)
		measure := func(name string, call func() error) {
			before, size, began := statements.Count(), sent.Load(), time.Now()
			ok(b, call())
			took := time.Since(began)
			b.Logf("%-22s %4d statements, %6.2f MB sent, %6d keys, %.2f s", name, // one statement is the counting's own
				statements.Count()-before-1, float64(sent.Load()-size)/1e6, keys[name], took.Seconds())
			b.ReportMetric(took.Seconds(), strings.Fields(name)[0]+"-s")
		}
		b.StartTimer()
		var standing ledger.EpochStanding
		measure("prepare epoch", func() (err error) { standing, err = l.PrepareEpoch(b.Context(), content); return err })
		measure("judge epoch", func() error {
			judged, err := l.JudgeEpoch(b.Context(), ledger.Judgement{Epoch: standing.Epoch, Found: content})
			if err == nil && judged.Cause != nil {
				return judged.Cause
			}
			return err
		})
		measure("activate first epoch", func() error {
			_, err := l.ActivateFirst(b.Context(), s.activation(c, content, standing.Epoch))
			return err
		})
		measure("release barrier set", func() error {
			_, err := l.ReleaseBarrierSet(b.Context(), c, ledger.Activated{Epoch: standing.Epoch, Accounts: s.accounts})
			return err
		})
		b.StopTimer()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		b.Logf("memory of this process: %d MiB from the system at most", memory.Sys>>20)
	}
}

// counting is the address of a relay to the server, and how many bytes clients have sent through it: statements and
// everything that was bound to them.
func (s *scene) counting() (address string, sent *atomic.Int64) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ok(s.t, err)
	s.t.Cleanup(func() { _ = listener.Close() })
	sent = new(atomic.Int64)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", s.store.Login.Address)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
			go func() { _, _ = io.Copy(io.MultiWriter(server, (*counted)(sent)), client); _ = server.Close() }()
		}
	}()
	return listener.Addr().String(), sent
}

type counted atomic.Int64

func (c *counted) Write(p []byte) (int, error) {
	(*atomic.Int64)(c).Add(int64(len(p)))
	return len(p), nil
}

// keys is how many keys the greatest open transaction has written.
func (s *scene) keys() (keys int) {
	ok(s.t, s.store.Admin.QueryRowContext(s.t.Context(), "SELECT MAX(mem_buffer_keys) FROM information_schema.tidb_trx").Scan(&keys))
	return keys
}
