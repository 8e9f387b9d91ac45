package ledger

import (
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"
)

// lockedOwners are the publication barriers of the seven owners of a scope, all held by this transaction. Whoever
// writes for one owner locks them all: authoring is rare, and what one owner publishes may name what another one has.
//
// INVARIANT: an activation attempt holds an owner's barrier by a transition of this row. So it is either found here,
// and the write is refused, or it waits until the write has committed.
type lockedOwners struct {
	scope  serving.Scope
	ids    map[serving.Owner]facts.OwnerBarrierID
	guards *barrierGuards
}

// lockOwners is the first lock of every authoring transaction, the lowest rank of all (R08).
//
// Refuses: SubjectMissing (no deployment was founded with this scope).
func lockOwners(tx *txn.Tx, scope serving.Scope) (*lockedOwners, error) {
	author, err := serving.AuthorOf(facts.ProfileV2)
	if err != nil {
		return nil, err
	}
	locked := &lockedOwners{scope: scope, ids: map[serving.Owner]facts.OwnerBarrierID{}}
	var keys []facts.OwnerBarrierID
	for _, owner := range serving.Owners() {
		locked.ids[owner] = author.Barrier(scope, owner).ID
		keys = append(keys, locked.ids[owner])
	}
	if locked.guards, err = txn.Lock(tx, schema.OwnerBarrierGuards, keys); err != nil {
		return nil, err
	}
	for _, owner := range serving.Owners() {
		if _, born := locked.guards.Find(locked.ids[owner]); !born {
			return nil, facts.Refuse(facts.SubjectMissing, locked.subject(owner), "no deployment was founded with scope %s", scope)
		}
	}
	return locked, nil
}

func (l *lockedOwners) subject(owner serving.Owner) facts.Subject {
	return facts.OfOwner(owner.String(), l.ids[owner])
}

// barred is the refusal of an owner's write while an attempt holds its barrier, nil while it is open.
func (l *lockedOwners) barred(owner serving.Owner) *facts.Refusal {
	guard, _ := l.guards.Find(l.ids[owner])
	if guard.State == machines.OwnerPublicationBarrierOpen {
		return nil
	}
	return facts.Refuse(facts.PublicationBarred, l.subject(owner), "activation attempt %s holds it", guard.Row.Attempt)
}

// GenerationName is an owner's exact generation by its own name.
type GenerationName struct {
	Owner serving.Owner
	Name  serving.Name
}

func (n GenerationName) digest(scope serving.Scope) (serving.GenerationDigest, error) {
	author, err := serving.AuthorOf(facts.ProfileV2)
	return author.Generation(scope, n.Owner, n.Name), err
}

func (n GenerationName) subject(digest serving.GenerationDigest) facts.Subject {
	return facts.OfGeneration(n.Owner.String()+" "+n.Name.String(), digest.Digest)
}

// Line is a point in the history of an owner's line: how often it was selected. A premise that differs from what
// stands there refuses the transaction.
type Line struct {
	Owner    serving.Owner
	Selector serving.SelectorDigest
	At       uint64 // selections so far
}

// selected is the line's present selection; none has the seq 0.
func selected(tx *txn.Tx, line serving.SelectorDigest) (serving.Selection, error) {
	last, _, err := txn.Last(tx, schema.OwnerSelections, serving.Selection{Selector: line}, 1)
	return last, err
}

// selections are the present selections of lines. One line may have a long history, of which only the end is read; the
// lines of many credentials have short ones, which are read together.
func selections(tx *txn.Tx, lines []serving.SelectorDigest) (map[serving.SelectorDigest]serving.Selection, error) {
	last := make(map[serving.SelectorDigest]serving.Selection, len(lines))
	if len(lines) == 1 {
		one, err := selected(tx, lines[0])
		last[lines[0]] = one
		return last, err
	}
	parents := make([]serving.Selection, len(lines))
	for i, line := range lines {
		parents[i].Selector = line
	}
	all, err := txn.Children(tx, schema.OwnerSelections, parents, 1)
	for _, one := range all {
		last[one.Selector] = one
	}
	return last, err
}

// standings are the present standings of generations; one that was never published has none.
func standings(tx *txn.Tx, generations []serving.GenerationDigest) (map[serving.GenerationDigest]serving.Standing, error) {
	parents := make([]serving.Standing, len(generations))
	for i, g := range generations {
		parents[i].Generation = g
	}
	all, err := txn.Children(tx, schema.OwnerStandings, parents, 1)
	last := make(map[serving.GenerationDigest]serving.Standing, len(all))
	for _, one := range all {
		last[one.Generation] = one
	}
	return last, err
}
