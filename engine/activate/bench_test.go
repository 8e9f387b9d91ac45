package activate

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// BenchmarkFirstActivation brings 1,000 accounts with 10 bindings each to serve, every owner read through its port. For
// each step it prints statements and seconds, and the keys of its large transactions, whose bytes the ledger's own benchmark
// counts. Run it once: -benchtime=1x.
func BenchmarkFirstActivation(b *testing.B) {
	for range b.N {
		b.StopTimer()
		s := stage(b, serving.Conformance, 0)
		s.publishMany(1000, 10)
		l := s.open(s.store.Pool(b, schema.RoleLedger), ledger.AtBoundary(func(at ledger.Boundary) {
			if at.Point == "before commit" && strings.Contains("prepare epoch, judge epoch, activate first epoch, release barrier set", at.Transaction) {
				keys := s.count("SELECT IFNULL(MAX(mem_buffer_keys), 0) FROM information_schema.tidb_trx")
				b.Logf("  %-22s %6d keys in its transaction", at.Transaction, keys)
			}
		}))
		own, err := platform.OpenOwners(b.Context(), l, s.reader)
		ok(b, err)
		c := s.coordinator(over(own.Set()), func(p *Parts) { p.Ledger = l })
		wanted := s.wanted()
		most := peak()
		statements := world.Statements(b)
		measure := func(name string, call func() error) {
			before, began := statements.Count(), time.Now()
			ok(b, call())
			took := time.Since(began)
			b.Logf("%-10s %6d statements, %6.2f s", name, statements.Count()-before, took.Seconds())
			b.ReportMetric(took.Seconds(), name+"-s")
		}
		b.StartTimer()
		var ref facts.EpochRef
		measure("read", func() error {
			if fault := owners.Read(b.Context(), own.Set(), owners.Question{Scope: own.Scope(), Least: wanted.Least, Configuration: wanted.Configuration}).Fault; !fault.IsZero() {
				return errors.Newf("%s", fault)
			}
			return nil
		})
		measure("prepare", func() error {
			standing, err := c.Prepare(b.Context(), wanted)
			ref = standing.Epoch
			return err
		})
		measure("verify", func() error {
			judged, err := c.Verify(b.Context(), ref)
			if judged.Cause != nil {
				return judged.Cause
			}
			return err
		})
		measure("activate", func() error {
			judged, err := c.Activate(b.Context(), ref)
			if judged.Cause != nil {
				return judged.Cause
			}
			return err
		})
		b.StopTimer()
		s.stands("benchmark", serves)
		b.Logf("memory of this process: %d MiB in use at most", most()>>20)
	}
}

// peak watches the memory of this process and gives, when it is asked, the most that was in use.
func peak() func() uint64 {
	runtime.GC()
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		most := uint64(0)
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				done <- most
				return
			case <-tick.C:
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				most = max(most, memory.HeapInuse+memory.StackInuse)
			}
		}
	}()
	return func() uint64 { close(stop); return <-done }
}

// publishMany publishes a pack of its own for each account, and the account's configuration and credential.
func (s *scene) publishMany(accounts, each int) {
	t := s.t
	c := owners.Configuration{Limits: owners.DefaultLimits()}
	var generations []facts.PackGenerationID
	for range accounts {
		s.accounts = append(s.accounts, facts.Mint[facts.AccountID]())
	}
	slices.SortFunc(s.accounts, facts.AccountID.Compare)
	for n, account := range s.accounts {
		p := s.packOf(fmt.Sprintf("pack-%04d", n))
		p.Payload = facts.Digest{byte(n), byte(n >> 8), 7}
		for i := range each {
			d := platform.PackDefinition{Kind: serving.BindingKinds()[i%4], Name: key[facts.DefinitionID](t, fmt.Sprintf("contact-%02d", i)), Version: key[facts.DefinitionVersion](t, "1"),
				Digest: facts.Digest{2}, Canonical: []byte(strings.Repeat("definition ", 40))}
			p.Definitions = append(p.Definitions, d)
		}
		p.Definitions[0].Credentials = []owners.CredentialRef{{Name: key[facts.CredentialIdentity](t, "signing"), Provider: key[facts.ProviderScope](t, p.Name.String())}}
		ok(t, s.at.PublishPack(t.Context(), p))
		generations = append(generations, p.Generation)
		g := owners.CredentialGeneration{ID: facts.Mint[facts.CredentialGenerationID](), Identity: key[facts.CredentialIdentity](t, "signing"), Account: account, Provider: key[facts.ProviderScope](t, p.Name.String()),
			Backend: key[facts.OwnerName](t, "file"), Version: key[facts.SecretVersion](t, "v-1")}
		s.credentials = append(s.credentials, g)
		c.Accounts = append(c.Accounts, owners.AccountConfiguration{Account: account, Provider: g.Provider, Organization: key[facts.RemoteIdentity](t, "org"),
			Routes:      []owners.RouteRef{{Pack: p.Name, Route: key[facts.DefinitionID](t, "contact-00"), Version: key[facts.DefinitionVersion](t, "1")}},
			Credentials: []owners.CredentialMapping{{Ref: owners.CredentialRef{Name: g.Identity, Provider: g.Provider}, Generation: g.ID}}})
	}
	for chunk := range slices.Chunk(s.credentials, 250) {
		ok(t, s.at.PublishCredentials(t.Context(), chunk))
	}
	_, err := s.at.Authorise(t.Context(), generations)
	ok(t, err)
	_, err = s.at.PublishConfiguration(t.Context(), c)
	ok(t, err)
}
