package txn

import (
	"database/sql"
	"slices"

	"connectorcore/facts"
	"connectorcore/machines"
	"connectorcore/schema"
)

// Serving is an account's gate, held in v2_serving under its exact active epoch, together with the account's share of
// that epoch. While it is held neither the gate nor the epoch can move.
type Serving struct {
	gates   *Guards[facts.AccountID, facts.Gate, machines.AccountServingGateState, machines.AccountServingGateEdge]
	account facts.AccountID
}

// Fence is the gate's fence, with which an item's premise is compared (R11).
func (s *Serving) Fence() facts.Fence { return s.gates.held[s.account].Fence }

// Epoch is the exact epoch under which the account serves.
func (s *Serving) Epoch() facts.EpochRef { return s.gates.held[s.account].Row.Epoch }

// LockServing locks an account's gate and its share of the gate's epoch, then reads the epoch's state.
//
// The state is read by a statement of its own that begins after the share's lock has returned (R06): a transition of
// the epoch locks every share, so what is read then cannot change before this transaction ends. A join or sub-query
// in the locking statement would return what was true before the lock.
//
// Refuses: SubjectMissing, NotServing, ShareMissing, EpochMismatch, EpochNotActive (in this order).
func LockServing(tx *Tx, account facts.AccountID) (*Serving, error) {
	return holdServing(tx, account, &Account{})
}

func holdServing(tx *Tx, account facts.AccountID, into *Account) (*Serving, error) {
	gates, err := Lock(tx, schema.Gates, []facts.AccountID{account})
	if err != nil {
		return nil, err
	}
	gate, born := gates.Find(account)
	into.State = gate.State
	switch {
	case !born:
		return nil, facts.Refuse(facts.SubjectMissing, facts.OfAccount(account), "the account has no gate")
	case gate.State != machines.AccountServingGateV2Serving:
		return nil, facts.Refuse(facts.NotServing, facts.OfAccount(account), "its gate is in %s", gate.State)
	}
	held, err := lockShare(tx, facts.EpochShare{Epoch: gate.Row.Epoch.ID, Account: account})
	if err != nil {
		return nil, err
	}
	if !held {
		return nil, facts.Refuse(facts.ShareMissing, facts.OfAccount(account), "epoch %s has no share of it", gate.Row.Epoch.ID)
	}
	if into.Now, err = activeEpoch(tx, account, gate.Row.Epoch); err != nil {
		return nil, err
	}
	return &Serving{gates, account}, nil
}

// LockedEpochs are epochs whose state may be moved: their guards are held, and every share that ever belonged to them.
type LockedEpochs = Guards[facts.EpochID, facts.EpochGuard, machines.ServingEpochState, machines.ServingEpochEdge]

// LockEpochs locks epochs for a transition of their state: the epoch rows, then all their shares in account order. Two
// epochs are locked together, so that a succession keeps the one order. No production transaction under any of these
// epochs can be between its share's lock and its end (R07).
//
// The shares are compared with the count and digest that the epoch fact holds: a share that is missing would leave an
// account outside the transition.
//
// Refuses: SubjectMissing, ShareSetDiffers.
func LockEpochs(tx *Tx, ids []facts.EpochID) (*LockedEpochs, error) {
	guards, err := Lock(tx, schema.Epochs, ids)
	if err != nil {
		return nil, err
	}
	if err := tx.climb(schema.EpochShares.Table); err != nil {
		return nil, err
	}
	ids = slices.Clone(ids)
	slices.SortFunc(ids, facts.EpochID.Compare)
	for _, id := range slices.Compact(ids) {
		if err := lockShares(tx, id); err != nil {
			return nil, err
		}
	}
	guards.whole = true
	return guards, nil
}

// lockShares locks every share of one epoch and compares the set with the epoch's own account of it.
func lockShares(tx *Tx, id facts.EpochID) error {
	var accounts []facts.AccountID
	query := "SELECT epoch_id,account_id FROM serving_epoch_share WHERE epoch_id=? ORDER BY account_id FOR UPDATE"
	err := tx.query(query, []any{id}, func(r *sql.Rows) error {
		var share facts.EpochShare
		err := r.Scan(schema.EpochShares.Fields(&share)...)
		accounts = append(accounts, share.Account)
		return err
	})
	if err != nil {
		return err
	}
	epoch, known, err := ReadOne(tx, schema.ServingEpochs, func(e *facts.ServingEpoch) { e.ID = id })
	switch {
	case err != nil:
		return err
	case !known:
		return facts.Refuse(facts.SubjectMissing, facts.OfEpoch(id), "no such epoch was prepared")
	}
	author, err := epoch.Profile.Author()
	if err != nil {
		return err
	}
	if uint64(len(accounts)) != epoch.ShareCount || author.ShareSet(id, accounts) != epoch.SharesDigest {
		return facts.Refuse(facts.ShareSetDiffers, facts.OfEpoch(id), "it has %d shares, and was prepared with %d of another digest", len(accounts), epoch.ShareCount)
	}
	return nil
}

// lockShare locks one share and tells whether it exists. Shares are made with their epoch and never after, so one
// that is missing stays missing (R07).
func lockShare(tx *Tx, share facts.EpochShare) (held bool, err error) {
	if err := tx.climb(schema.EpochShares.Table); err != nil {
		return false, err
	}
	k, err := keyFrom(schema.EpochShares.Fields(&share))
	if err != nil {
		return false, tx.fail(err)
	}
	table := schema.EpochShares.Table
	query := selectByKey(table, table.ColumnNames(), 1) + " FOR UPDATE"
	err = tx.query(query, flat(keyValues([]key{k})), func(r *sql.Rows) error {
		held = true
		return r.Scan(schema.EpochShares.Fields(&share)...)
	})
	return held, err
}

// activeEpoch compares the gate's exact reference with the epoch, and asks for its state and for the database's time.
func activeEpoch(tx *Tx, account facts.AccountID, ref facts.EpochRef) (now facts.Instant, err error) {
	epoch, known, err := ReadOne(tx, schema.ServingEpochs, func(e *facts.ServingEpoch) { e.ID = ref.ID })
	if err != nil {
		return now, err
	}
	if !known || epoch.Digest != ref.Digest {
		return now, facts.Refuse(facts.EpochMismatch, facts.OfAccount(account), "its gate names epoch %s with digest %s", ref.ID, ref.Digest)
	}
	var state machines.ServingEpochState
	err = tx.stands("state,CURRENT_TIMESTAMP(6)", " FROM "+schema.Epochs.Table.Name+" WHERE epoch_id=?", []any{ref.ID}, &state, &now)
	switch {
	case err != nil:
		return now, err
	case state != machines.ServingEpochActive:
		return now, facts.Refuse(facts.EpochNotActive, facts.OfEpoch(ref.ID), "it is in %s", state)
	}
	return now, nil
}
