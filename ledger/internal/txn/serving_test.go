package txn

import (
	"slices"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// serving is an epoch with two accounts whose gates serve under it.
type serving struct {
	epoch    facts.EpochRef
	accounts []facts.AccountID
}

// path from birth to v2_serving, as a conformance deployment walks it.
var toServing = []machines.AccountServingGateEdge{
	machines.AccountServingGateBeginV1Halt, machines.AccountServingGateStopV1, machines.AccountServingGateCertifyV1Drain,
	machines.AccountServingGateBeginV2Validation, machines.AccountServingGateActivateFirst,
}

func newServing(t *testing.T, db *DB) serving {
	t.Helper()
	s := serving{accounts: []facts.AccountID{gates.bear(t, db), gates.bear(t, db)}}
	slices.SortFunc(s.accounts, facts.AccountID.Compare)
	local := epochs
	fact := epochOf(s.accounts...)
	local.fresh = func() facts.ServingEpoch { return fact }
	local.with = func(tx *Tx, f facts.ServingEpoch) (Write, error) {
		var shares []facts.EpochShare
		for _, account := range s.accounts {
			shares = append(shares, facts.EpochShare{Epoch: f.ID, Account: account})
		}
		loaded, err := Load(tx, schema.EpochShares, shares)
		return Append(loaded), err
	}
	local.bear(t, db)
	s.epoch = facts.EpochRef{ID: fact.ID, Digest: fact.Digest}
	if err := epochs.move(t, db, fact.ID, machines.ServingEpochVerify, machines.ServingEpochActivateFirst); err != nil {
		t.Fatal(err)
	}
	for _, account := range s.accounts {
		s.carrying(s.epoch).mustMove(t, db, account, toServing...)
	}
	return s
}

type gateSubject = subject[facts.AccountServingGate, facts.AccountID, facts.Gate, machines.AccountServingGateState, machines.AccountServingGateEdge]

// carrying are gates whose moves point them at an epoch.
func (serving) carrying(epoch facts.EpochRef) gateSubject {
	local := gates
	local.carry = func(k facts.AccountID) *facts.Gate { return &facts.Gate{Account: k, Epoch: epoch} }
	return local
}

func (s subject[R, K, G, S, E]) mustMove(t *testing.T, db *DB, k K, edges ...E) {
	t.Helper()
	if err := s.move(t, db, k, edges...); err != nil {
		t.Fatal(err)
	}
}

// lockServing is a production transaction that does nothing else.
func lockServing(t *testing.T, db *DB, account facts.AccountID) (facts.Fence, error) {
	t.Helper()
	return Run(t.Context(), db, kindPhase, func(tx *Tx) (facts.Fence, error) {
		held, err := LockServing(tx, account)
		if err != nil {
			return 0, err
		}
		return held.Fence(), nil
	})
}

func TestLockServingHoldsGateShareAndActiveEpoch(t *testing.T) {
	store := world.Converged(t)
	var last Report
	db := openKernel(t, store, Options{Observe: func(r Report) { last = r }})
	s := newServing(t, db)
	fence, err := lockServing(t, db, s.accounts[0])
	if err != nil || fence != facts.Fence(len(toServing)+1) {
		t.Errorf("fence %d, %v", fence, err)
	}
	if last.Statements != 5 {
		t.Errorf("%d statements, want BEGIN, gate, share, epoch, state", last.Statements)
	}
}

// Every way in which an account does not serve is refused by its own code; the gate is not trusted about the epoch.
func TestLockServingRefusesWhateverDoesNotServe(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	s := newServing(t, db)
	expect := func(what string, account facts.AccountID, want facts.Code) {
		t.Helper()
		if _, err := lockServing(t, db, account); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	expect("no gate", facts.Mint[facts.AccountID](), facts.SubjectMissing)
	walked := gates.bear(t, db)
	for i, edge := range toServing {
		expect("a gate before edge "+edge.String(), walked, facts.NotServing)
		if i < len(toServing)-1 {
			s.carrying(facts.EpochRef{}).mustMove(t, db, walked, edge)
		}
	}
	s.carrying(s.epoch).mustMove(t, db, walked, machines.AccountServingGateActivateFirst)
	expect("an account without a share", walked, facts.ShareMissing)
	first := s.accounts[0]
	other := newServing(t, db)
	corrupt := func(query string, args ...any) {
		t.Helper()
		if _, err := store.Admin.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	corrupt("UPDATE account_serving_gate_guard SET epoch_digest=? WHERE account_id=?", other.epoch.Digest, first)
	expect("a gate with another digest", first, facts.EpochMismatch)
	corrupt("UPDATE account_serving_gate_guard SET epoch_id=?, epoch_digest=? WHERE account_id=?", other.epoch.ID, other.epoch.Digest, first)
	expect("a gate with another's epoch", first, facts.ShareMissing)
	corrupt("UPDATE account_serving_gate_guard SET epoch_id=?, epoch_digest=? WHERE account_id=?", s.epoch.ID, s.epoch.Digest, first)
	for _, state := range machines.ServingEpoch.States() {
		if state == "active" {
			continue
		}
		corrupt("UPDATE serving_epoch_guard SET state=?, fence=9 WHERE epoch_id=?", []byte(state), s.epoch.ID)
		expect("a gate that names an epoch in "+state, first, facts.EpochNotActive)
	}
	s.carrying(s.epoch).mustMove(t, db, s.accounts[1], machines.AccountServingGateBeginV2Halt)
	expect("a halting gate", s.accounts[1], facts.NotServing)
}

// A transition of the epoch holds the shares while the production transaction has only begun: what that reads after
// it got its share is the new state, never the one from before its lock (R06).
func TestR06EpochStateIsReadAfterTheShareIsHeld(t *testing.T) {
	store := world.Converged(t)
	db, other := openKernel(t, store, Options{}), openKernel(t, store, Options{})
	s := newServing(t, db)
	got := make(chan error, 1)
	_, err := Run(t.Context(), other, kindMove, func(tx *Tx) (bool, error) {
		held, err := LockEpochs(tx, []facts.EpochID{s.epoch.ID})
		if err != nil {
			return false, err
		}
		go func() {
			_, err := lockServing(t, db, s.accounts[0])
			got <- err
		}()
		waitUntilBlocked(t, store.Admin) // gate locked, waiting for the share
		return true, tx.Apply(Move(held, []Step[facts.EpochID, facts.EpochGuard, machines.ServingEpochEdge]{
			{Key: s.epoch.ID, Edge: machines.ServingEpochDrain, Evidence: show(t, machines.ServingEpochDrain.Proof())}}))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, facts.EpochNotActive) {
		t.Errorf("after the epoch left active, the waiting transaction ended with %v", err)
	}
}

// The other order: while a production transaction holds its share, no transition of the epoch gets past it.
func TestR07EpochWaitsForEveryShare(t *testing.T) {
	store := world.Converged(t)
	db, other := openKernel(t, store, Options{}), openKernel(t, store, Options{})
	s := newServing(t, db)
	drained := make(chan error, 1)
	mustRun(t, db, func(tx *Tx) error {
		if _, err := LockServing(tx, s.accounts[1]); err != nil {
			return err
		}
		go func() { drained <- epochs.move(t, other, s.epoch.ID, machines.ServingEpochDrain) }()
		waitUntilBlocked(t, store.Admin)
		select {
		case err := <-drained:
			t.Errorf("the epoch moved while a share was held: %v", err)
		default:
		}
		return nil
	})
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

// The shares are the ones that the epoch was prepared with, all of them; otherwise an account would be left outside.
func TestR07EpochWithAnotherSetOfSharesIsRefused(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	added, removed := newServing(t, db), newServing(t, db)
	for query, s := range map[string]serving{
		"INSERT INTO serving_epoch_share (epoch_id, account_id) VALUES (?, REPEAT('x', 16))": added,
		"DELETE FROM serving_epoch_share WHERE epoch_id=? LIMIT 1":                           removed,
	} {
		if _, err := store.Admin.ExecContext(t.Context(), query, s.epoch.ID); err != nil {
			t.Fatal(err)
		}
		if err := epochs.move(t, db, s.epoch.ID, machines.ServingEpochDrain); !errors.Is(err, facts.ShareSetDiffers) {
			t.Errorf("%s: %v", query, err)
		}
	}
	if err := epochs.move(t, db, facts.Mint[facts.EpochID](), machines.ServingEpochDrain); !errors.Is(err, facts.SubjectMissing) {
		t.Errorf("an epoch that was never prepared: %v", err)
	}
}

// An epoch whose guard alone is held cannot be moved.
func TestR07EpochIsNotMovedByItsGuardAlone(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	local := epochs
	local.lock = nil
	s := newServing(t, db)
	err := local.move(t, db, s.epoch.ID, machines.ServingEpochDrain)
	if !errors.HasAssertionFailure(err) || !strings.Contains(err.Error(), "LockEpochs") {
		t.Errorf("moved by its guard alone: %v", err)
	}
}
