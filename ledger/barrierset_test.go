package ledger_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// releaseOwners opens every owner's barrier again.
func (s *scene) releaseOwners(ctx context.Context, l *ledger.Ledger, c ledger.Coordinator) error {
	verdicts, err := l.ReleaseBarriers(ctx, s.asks(c))
	for _, v := range verdicts {
		if v.Refusal != nil {
			return v.Refusal
		}
	}
	return err
}

// A scope has one set that is not released, whoever opens it and however many at once, with one receipt an owner.
func TestU07AScopeHasOneOpenSetWithOneReceiptAnOwner(t *testing.T) {
	s := newScene(t)
	const attempts = 6
	var group sync.WaitGroup
	outcome := make([]error, attempts)
	coordinators := make([]ledger.Coordinator, attempts)
	for i := range attempts {
		coordinators[i] = s.coordinator()
		group.Go(func() { _, outcome[i] = s.ledger.OpenBarrierSet(t.Context(), coordinators[i]) })
	}
	group.Wait()
	at := slices.Index(outcome, nil)
	if at < 0 {
		t.Fatal(outcome)
	}
	c := coordinators[at]
	for i, err := range outcome {
		if i != at && (!errors.Is(err, facts.WrongState) || !strings.Contains(err.Error(), c.Set.String())) {
			t.Errorf("attempt %d: %v, want the open set to be named", i, err)
		}
	}
	receipts, err := s.acquire(t.Context(), s.ledger, c)
	ok(t, err)
	for i := range receipts { // one at a time, each of them twice
		_, err := s.ledger.HoldBarrierSet(t.Context(), c)
		if !errors.Is(err, facts.BarrierNotHeld) || !strings.Contains(err.Error(), receipts[i].Owner.String()) {
			t.Errorf("held without %s: %v", receipts[i].Owner, err)
		}
		for range 2 {
			_, err := s.ledger.RecordBarrierReceipts(t.Context(), c, receipts[i:i+1])
			ok(t, err)
		}
		for what, change := range map[string]func(*serving.BarrierReceipt){
			"fence": func(r *serving.BarrierReceipt) { r.Fence++ }, "digest": func(r *serving.BarrierReceipt) { r.Receipt.Digest[0]++ },
			"bytes": func(r *serving.BarrierReceipt) { flipOpaque(&r.Receipt.Bytes, 5) },
		} {
			changed := receipts[i]
			change(&changed)
			_, err := s.ledger.RecordBarrierReceipts(t.Context(), c, []serving.BarrierReceipt{changed})
			refused(t, "a second receipt of another "+what, err, facts.BarrierReceiptDiffers)
		}
	}
	held, err := s.ledger.HoldBarrierSet(t.Context(), c)
	if n := s.count("SELECT COUNT(*) FROM serving_publication_barrier_receipt WHERE barrier_set_id=?", c.Set); err != nil || held.State.String() != "held" || n != 7 {
		t.Errorf("%+v with %d receipts, %v", held, n, err)
	}
	_, err = s.ledger.OpenBarrierSet(t.Context(), s.coordinator())
	refused(t, "a second set beside a held one", err, facts.WrongState)
	s.rawSecond(c)
	_, err = s.ledger.ReleaseBarrierSet(t.Context(), c, ledger.Activated{})
	ok(t, err)
	_, err = s.ledger.OpenBarrierSet(t.Context(), s.coordinator())
	ok(t, err)
}

// rawSecond tries a second open set of the scope by the ledger role's own hands.
func (s *scene) rawSecond(c ledger.Coordinator) {
	s.t.Helper()
	_, err := s.store.Pool(s.t, schema.RoleLedger).ExecContext(s.t.Context(),
		"INSERT INTO serving_publication_barrier_set_guard (barrier_set_id, open_scope, holder_fence, state, fence) VALUES (?, ?, 1, 'acquiring', 1)",
		facts.Mint[facts.BarrierSetID](), c.Scope.Digest)
	if err == nil || !strings.Contains(err.Error(), "1062") {
		s.t.Errorf("TiDB took a second open set of a scope: %v", err)
	}
}

// calls are everything that a coordinator may ask of its set.
func (s *scene) calls(receipts []serving.BarrierReceipt) map[string]func(ledger.Coordinator) error {
	ctx := s.t.Context()
	return map[string]func(ledger.Coordinator) error{
		"open": func(c ledger.Coordinator) error { _, err := s.ledger.OpenBarrierSet(ctx, c); return err },
		"record": func(c ledger.Coordinator) error {
			_, err := s.ledger.RecordBarrierReceipts(ctx, c, receipts)
			return err
		},
		"hold": func(c ledger.Coordinator) error { _, err := s.ledger.HoldBarrierSet(ctx, c); return err },
		"release": func(c ledger.Coordinator) error {
			_, err := s.ledger.ReleaseBarrierSet(ctx, c, ledger.Activated{})
			return err
		},
	}
}

// In each state of the set a later coordinator takes over, and from then on the earlier one is refused whatever it asks,
// at the set and at each owner. Neither a released set nor another attempt can be taken over.
func TestP48ATakeOverInEveryStateMakesTheEarlierCoordinatorStale(t *testing.T) {
	s := newScene(t)
	content, ref := s.verified()
	s.walk()
	c := s.coordinator()
	var receipts []serving.BarrierReceipt
	stages := []struct {
		state string
		reach func(c ledger.Coordinator) error
	}{
		{"acquiring", func(c ledger.Coordinator) error { _, err := s.ledger.OpenBarrierSet(t.Context(), c); return err }},
		{"held", func(c ledger.Coordinator) error { return s.hold(t.Context(), s.ledger, c) }},
		{"activation_committed", func(c ledger.Coordinator) error {
			_, err := s.ledger.ActivateFirst(t.Context(), s.activation(c, content, ref))
			return err
		}},
	}
	for _, stage := range stages {
		ok(t, stage.reach(c))
		later := c
		for n := range facts.Fence(2) { // whatever fence it names, the next one is given, and never one twice
			asked := c
			asked.Fence = 90 * n
			taken, standing, err := s.ledger.TakeOverBarrierSet(t.Context(), asked)
			if later = c; err != nil || standing.State.String() != stage.state || standing.Holder != taken.Fence || taken.Fence != c.Fence+n+1 {
				t.Errorf("%s: taken over as %+v with %+v, %v", stage.state, taken, standing, err)
			}
			later.Fence = taken.Fence
		}
		receipts, _ = s.acquire(t.Context(), s.ledger, later)
		for _, fence := range []facts.Fence{c.Fence, c.Fence + 1} {
			stale := c
			stale.Fence = fence
			for name, call := range s.calls(receipts) {
				refused(t, stage.state+": stale "+name, call(stale), facts.StaleHolder)
			}
			refused(t, stage.state+": a stale release at the owners", s.releaseOwners(t.Context(), s.ledger, stale), facts.StaleHolder)
			_, err := s.acquire(t.Context(), s.ledger, stale)
			refused(t, stage.state+": a stale acquire at the owners", err, facts.StaleHolder)
		}
		foreign := later
		foreign.Attempt = facts.Mint[facts.ActivationAttemptID]()
		_, _, err := s.ledger.TakeOverBarrierSet(t.Context(), foreign)
		refused(t, stage.state+": another attempt's take-over", err, facts.ContentDiffers)
		for name, call := range s.calls(receipts) {
			refused(t, stage.state+": another attempt's "+name, call(foreign), facts.ContentDiffers)
		}
		c = later
	}
	if got := s.ledgerOf("serving_publication_barrier_set_ledger", c.Set); got != "1 hold,2 commit_activation" {
		t.Errorf("its ledger: %s", got)
	}
	_, err := s.ledger.ReleaseBarrierSet(t.Context(), c, ledger.Activated{Epoch: ref, Accounts: s.accounts})
	ok(t, err)
	_, _, err = s.ledger.TakeOverBarrierSet(t.Context(), c)
	refused(t, "a take-over of a released set", err, facts.SubjectEnded)
}

// However many processes take over at once, each is given a fence of its own, and only the last one may go on.
func TestP48NoTwoProcessesHoldOneFence(t *testing.T) {
	s := newScene(t)
	c := s.coordinator()
	_, err := s.ledger.OpenBarrierSet(t.Context(), c)
	ok(t, err)
	const processes = 6
	taken := make([]ledger.Coordinator, processes)
	var group sync.WaitGroup
	for i := range processes {
		group.Go(func() {
			var err error
			if taken[i], _, err = s.ledger.TakeOverBarrierSet(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	slices.SortFunc(taken, func(a, b ledger.Coordinator) int { return int(a.Fence) - int(b.Fence) })
	for i, one := range taken {
		if one.Fence != facts.Fence(i+2) {
			t.Errorf("process %d was given fence %d", i, one.Fence)
		}
		_, err := s.ledger.OpenBarrierSet(t.Context(), one)
		if last := i == processes-1; last != (err == nil) {
			t.Errorf("fence %d: %v", one.Fence, err)
		}
	}
	missing := c
	missing.Set = facts.Mint[facts.BarrierSetID]()
	_, _, err = s.ledger.TakeOverBarrierSet(t.Context(), missing)
	refused(t, "a take-over of a set that nobody opened", err, facts.SubjectMissing)
	missing.Fence = 2
	if _, err := s.ledger.OpenBarrierSet(t.Context(), missing); !errors.HasAssertionFailure(err) && !errors.Is(err, facts.WrongState) {
		t.Errorf("a set was opened at fence 2: %v", err)
	}
}

// later is a clock that is a hundred years ahead.
type later struct{ facts.SystemClock }

func (l later) Now() time.Time { return l.SystemClock.Now().AddDate(100, 0, 0) }

// No time is in what decides about a set: neither its guard nor an owner's has one, and a ledger of the far future finds
// every barrier as it was left.
func TestP48TimeAloneUnlocksNothing(t *testing.T) {
	s := newScene(t)
	c := s.coordinator()
	ok(t, s.hold(t.Context(), s.ledger, c))
	for _, table := range []*schema.Table{schema.BarrierSets.Table, schema.OwnerBarrierGuards.Table} {
		for _, column := range table.Columns {
			if strings.Contains(column.Type, "time") {
				t.Errorf("%s.%s is a time", table.Name, column.Name)
			}
		}
	}
	future := s.open(s.store.Pool(t, schema.RoleLedger), ledger.WithClock(later{}))
	_, err := future.OpenBarrierSet(t.Context(), s.coordinator())
	refused(t, "another set, a hundred years later", err, facts.WrongState)
	_, err = s.acquire(t.Context(), future, s.coordinator())
	refused(t, "another attempt at the owners", err, facts.PublicationBarred)
	_, err = future.PrepareEpoch(t.Context(), s.content()) // preparing publishes nothing
	ok(t, err)
	standing, err := future.HoldBarrierSet(t.Context(), c)
	if err != nil || standing.State.String() != "held" {
		t.Errorf("%+v, %v", standing, err)
	}
}

func TestASetIsReleasedByTheProofThatFitsItsState(t *testing.T) {
	for want, reach := range map[string]func(*scene, ledger.Coordinator) error{
		"1 release_acquiring_open": func(s *scene, c ledger.Coordinator) error {
			_, err := s.ledger.OpenBarrierSet(t.Context(), c)
			return err
		},
		"1 hold,2 release_held_open": func(s *scene, c ledger.Coordinator) error { return s.hold(t.Context(), s.ledger, c) },
	} {
		s := newScene(t)
		_, ref := s.verified()
		s.walk()
		c := s.coordinator()
		ok(t, reach(s, c))
		for range 2 { // it does not know whether it activated; the set does
			standing, err := s.ledger.ReleaseBarrierSet(t.Context(), c, ledger.Activated{Epoch: ref, Accounts: s.accounts})
			if err != nil || standing.State.String() != "released" {
				t.Errorf("%+v, %v", standing, err)
			}
		}
		if got := s.ledgerOf("serving_publication_barrier_set_ledger", c.Set); got != want {
			t.Errorf("its ledger: %s, want %s", got, want)
		}
		_, err := s.ledger.OpenBarrierSet(t.Context(), c)
		refused(t, "opened again", err, facts.SubjectEnded)
		_, err = s.ledger.HoldBarrierSet(t.Context(), c)
		refused(t, "held again", err, facts.SubjectEnded)
	}
}

// After the commit the set is released only by a readback of exactly what it activated.
func TestASetThatActivatedIsReleasedByItsReadbackOnly(t *testing.T) {
	s := newScene(t)
	content, ref := s.verified()
	_, other := s.verified()
	s.walk()
	c := s.coordinator()
	ok(t, s.hold(t.Context(), s.ledger, c))
	_, err := s.ledger.ActivateFirst(t.Context(), s.activation(c, content, ref))
	ok(t, err)
	release := func(a ledger.Activated) error {
		_, err := s.ledger.ReleaseBarrierSet(t.Context(), c, a)
		return err
	}
	refused(t, "without its epoch", release(ledger.Activated{}), facts.WrongState)
	refused(t, "with another epoch", release(ledger.Activated{Epoch: other, Accounts: s.accounts}), facts.WrongState)
	refused(t, "with an account less", release(ledger.Activated{Epoch: ref, Accounts: s.accounts[:1]}), facts.ShareSetDiffers)
	damage := func(statement, repair string, want facts.Code) {
		t.Helper()
		_, err := s.store.Admin.ExecContext(t.Context(), statement)
		ok(t, err)
		refused(t, statement, release(ledger.Activated{Epoch: ref, Accounts: s.accounts}), want)
		_, err = s.store.Admin.ExecContext(t.Context(), repair)
		ok(t, err)
	}
	damage("UPDATE account_serving_gate_guard SET state='v2_validating' LIMIT 1", "UPDATE account_serving_gate_guard SET state='v2_serving'", facts.NotServing)
	damage("UPDATE account_serving_gate_guard SET epoch_digest=REVERSE(epoch_digest) LIMIT 1", "UPDATE account_serving_gate_guard SET epoch_digest=(SELECT epoch_digest FROM serving_epoch WHERE epoch_id=account_serving_gate_guard.epoch_id)", facts.EpochMismatch)
	damage("UPDATE serving_epoch_guard SET state='draining' WHERE state='active'", "UPDATE serving_epoch_guard SET state='active' WHERE state='draining'", facts.EpochNotActive)
	ok(t, release(ledger.Activated{Epoch: ref, Accounts: s.accounts}))
	if got := s.ledgerOf("serving_publication_barrier_set_ledger", c.Set); got != "1 hold,2 commit_activation,3 release_after_readback" {
		t.Errorf("its ledger: %s", got)
	}
}

// The COMMIT of each of the set's transactions is lost, or only its answer: it is done once.
func TestR05UnknownMovesOfASetAreSettled(t *testing.T) {
	for _, kind := range []world.FaultKind{world.CutBeforeCommit, world.CutAfterCommit} {
		s := newScene(t)
		proxy := world.NewProxy(t, s.store.Login.Address)
		l := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil))
		c, later := s.coordinator(), ledger.Coordinator{}
		receipts := []serving.BarrierReceipt(nil)
		for _, step := range []func() error{
			func() error { _, err := l.OpenBarrierSet(t.Context(), c); return err },
			func() (err error) { receipts, err = s.acquire(t.Context(), l, c); return err },
			func() error { _, err := l.RecordBarrierReceipts(t.Context(), c, receipts); return err },
			func() error { _, err := l.HoldBarrierSet(t.Context(), c); return err },
			func() (err error) { later, _, err = l.TakeOverBarrierSet(t.Context(), c); return err },
			func() error { _, err := l.ReleaseBarrierSet(t.Context(), later, ledger.Activated{}); return err },
			func() error { return s.releaseOwners(t.Context(), l, later) },
		} {
			fault := proxy.Arm(kind, 1)
			ok(t, step())
			<-fault.Fired()
		}
		if got := s.ledgerOf("serving_publication_barrier_set_ledger", c.Set); got != "1 hold,2 release_held_open" {
			t.Errorf("its ledger: %s", got)
		}
		if n := s.count("SELECT COUNT(*) FROM owner_publication_barrier_guard WHERE state='open' AND fence=3"); n != 7 {
			t.Errorf("%d owners' barriers are open after one hold and one release", n)
		}
	}
}
