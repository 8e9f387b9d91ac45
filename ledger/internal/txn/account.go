package txn

import (
	"connectorcore/facts"
	"connectorcore/machines"
)

// Account is an account's gate, held in whatever state it stands, with the time that the database had then. If it
// serves, the whole serving lock is held too.
type Account struct {
	State   machines.AccountServingGateState
	Serving *Serving       // nil if the account does not serve
	Refusal *facts.Refusal // why it does not; nil if it does
	// Now orders due times. It permits nothing by itself.
	Now facts.Instant
}

// LockAccount locks an account's gate, and where the gate serves what LockServing locks. A kind of item that is legal in
// other modes too goes on without the serving lock, beside items that are refused with Refusal (R10).
//
// Refuses: SubjectMissing (the account has no gate).
func LockAccount(tx *Tx, account facts.AccountID) (*Account, error) {
	held := &Account{}
	serving, err := holdServing(tx, account, held)
	switch refusal, refused := err.(*facts.Refusal); {
	case refused && refusal.Code != facts.SubjectMissing && tx.poison == nil:
		held.Refusal = refusal
	case err != nil:
		return nil, err
	default:
		held.Serving = serving
		return held, nil
	}
	if err = nil; held.Now.IsZero() {
		err = tx.stands("CURRENT_TIMESTAMP(6)", "", nil, &held.Now)
	}
	return held, err
}

// Premise refuses an item that was prepared under another fence or epoch than what is held here (R11).
func (s *Serving) Premise(fence facts.Fence, epoch facts.EpochRef) *facts.Refusal {
	switch {
	case fence != s.Fence():
		return facts.Refuse(facts.StaleFence, facts.OfAccount(s.account), "its gate is at fence %d, and the item was prepared at %d", s.Fence(), fence)
	case epoch != s.Epoch():
		return facts.Refuse(facts.EpochMismatch, facts.OfAccount(s.account), "it serves under epoch %s, and the item was prepared under %s", s.Epoch().ID, epoch.ID)
	}
	return nil
}
