package txn

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/outbound"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

var kindGrant = NewKind("test: grant")

// verdict is how a grant ended for its one permit.
type verdict string

const (
	grantedNow    verdict = "granted now"
	grantedBefore verdict = "granted before"
)

// granting is a small transaction in the shape of the real ones: under a credential gate it takes an effect from
// prepared to dispatching and bears the permit that was minted for it.
type granting struct {
	effect facts.EffectKey
	permit outbound.DispatchPermit
	fence  facts.Fence
	inside func(attempt int, step string) // a test's foot in the door
	runs   int
}

func newGranting(t testing.TB, db *DB) *granting {
	t.Helper()
	effect := effects.bear(t, db)
	permit := permits.fresh()
	permit.Account, permit.Effect = effect.Account, effect.Subject
	permit.Generation = credentials.bear(t, db)
	return &granting{effect: effect, permit: permit, fence: 1}
}

func (g *granting) at(step string) {
	if g.inside != nil {
		g.inside(g.runs, step)
	}
}

// run is repeatable: its verdict comes from guard and ledger, whatever an earlier run of it left.
func (g *granting) run(ctx context.Context, db *DB) (verdict, error) {
	return Run(ctx, db, kindGrant, func(tx *Tx) (verdict, error) {
		g.runs++
		gate, err := Lock(tx, schema.CredentialGates, []facts.CredentialGenerationID{g.permit.Generation})
		if err != nil {
			return "", err
		}
		g.at("credential gate locked")
		heads, err := Lock(tx, schema.EffectHeads, []facts.EffectKey{g.effect})
		if err != nil {
			return "", err
		}
		loaded, err := Load(tx, schema.DispatchPermits, []outbound.DispatchPermit{g.permit})
		if err != nil {
			return "", err
		}
		g.at("permit loaded")
		if loaded.Match(0) == Equal {
			return grantedBefore, nil
		}
		if held, _ := gate.Find(g.permit.Generation); held.State != machines.CredentialGenerationDispatchGateEnabled || held.Fence != g.fence {
			return "", facts.Refuse(facts.Revoked, facts.OfCredential(g.permit.Generation), "")
		}
		evidence, err := facts.Prove(shown{machines.RemoteEffectDispatch.Proof(), "grant"})
		if err != nil {
			return "", err
		}
		return grantedNow, tx.Apply(
			Born(loaded, schema.PermitHeads, permits.guard),
			Move(heads, []Step[facts.EffectKey, outbound.EffectHead, machines.RemoteEffectEdge]{{Key: g.effect, Edge: machines.RemoteEffectDispatch, Evidence: evidence}}),
		)
	})
}

// left is what the grant left behind: permits born, permits open, transitions of the effect.
func (g *granting) left(t testing.TB, admin *sql.DB) [3]int {
	t.Helper()
	var n [3]int
	for i, query := range []string{
		"SELECT COUNT(*) FROM dispatch_permit WHERE permit_id=?",
		"SELECT COUNT(*) FROM dispatch_permit_head WHERE permit_id=?",
		"SELECT COUNT(*) FROM remote_effect_ledger WHERE subject_id=?",
	} {
		subject := any(g.permit.ID)
		if i == 2 {
			subject = g.effect.Subject
		}
		if err := admin.QueryRowContext(t.Context(), query, subject).Scan(&n[i]); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// touched is how often an unknown commit under the credential gate was settled.
func (g *granting) touched(t testing.TB, admin *sql.DB) (n int) {
	t.Helper()
	err := admin.QueryRowContext(t.Context(), "SELECT touched FROM credential_generation_dispatch_gate_guard WHERE generation_id=?", g.permit.Generation).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// pacer is a clock whose alarms ring when the test lets them, so that a test can act between two runs of a closure.
type pacer struct {
	facts.SystemClock
	asked chan chan<- time.Time
}

func newPacer() *pacer { return &pacer{asked: make(chan chan<- time.Time)} }

func (p *pacer) Alarm(time.Duration) (<-chan time.Time, func()) {
	ring := make(chan time.Time, 1)
	p.asked <- ring
	return ring, func() {}
}

// between runs an action while the kernel waits to run its closure again.
func (p *pacer) between(t testing.TB, action func()) {
	t.Helper()
	select {
	case ring := <-p.asked:
		action()
		ring <- time.Time{}
	case <-time.After(30 * time.Second):
		t.Error("the kernel did not come to a rerun")
	}
}

// proxied opens a kernel whose connections run through a fault proxy.
func proxied(t testing.TB, store *world.Store, options Options) (*DB, *world.Proxy) {
	t.Helper()
	proxy := world.NewProxy(t, store.Login.Address)
	db, err := Open(store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil), options)
	if err != nil {
		t.Fatal(err)
	}
	return db, proxy
}

// impatient opens a kernel whose connections give up sooner than schema.Connector permits, as the administrator.
func impatient(t testing.TB, store *world.Store, address string, read time.Duration, options Options) *DB {
	t.Helper()
	config := world.Server(t).Config()
	config.Addr, config.DBName, config.ReadTimeout, config.ParseTime = address, store.Name, read, true
	config.Params = map[string]string{"transaction_isolation": "'READ-COMMITTED'", "tidb_txn_mode": "'pessimistic'", "innodb_lock_wait_timeout": "1", "time_zone": "'+00:00'"}
	config.InterpolateParams = true
	db, err := Open(world.Open(t, config), options)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// revoke takes a credential gate out of use, past the kernel under test.
func revoke(t testing.TB, db *DB, generation facts.CredentialGenerationID) {
	t.Helper()
	if err := credentials.move(t, db, generation, machines.CredentialGenerationDispatchGateRevoke); err != nil {
		t.Error(err)
	}
}
