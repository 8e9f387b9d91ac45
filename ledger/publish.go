package ledger

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger/internal/txn"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var kindPublish = txn.NewKind("publish generations")

// Publication is what owners publish together: all of it or nothing.
type Publication struct {
	Scope       serving.Scope
	Generations []serving.Generation
	// Requires are generations that must be there when this is published, of any owner.
	Requires []GenerationName
	// Premises are lines that must stand where the publication was prepared under.
	Premises []Line
	// Selects makes generations current, of this publication or from before.
	Selects []Select
	// Credentials are the credential generations among Generations. Each is born with its dispatch gate.
	Credentials []facts.CredentialGenerationID
}

// Select makes a generation the current one of a line, if the line stands where the caller saw it.
type Select struct {
	Line
	Generation GenerationName
}

// PublishGenerations writes owners' immutable generations, and what is current of them, in one transaction. Publishing
// the same again changes nothing, whoever does it: of two publishers of one generation both succeed if they bring the
// same bytes, and the second is refused if not. A generation that its owner had removed can be read again.
//
// Locks:   owner barriers, credential gates.
// Refuses: SubjectMissing, PublicationBarred, ContentDiffers, WrongState (a line has moved). Nothing is written then.
// Unknown: publish the same again.
func (l *Ledger) PublishGenerations(ctx context.Context, p Publication) error {
	if len(p.Generations) > txn.MaxItems {
		return errors.AssertionFailedf("a publication of %d generations, more than %d", len(p.Generations), txn.MaxItems)
	}
	_, err := txn.Run(ctx, l.db, kindPublish, func(tx *txn.Tx) (struct{}, error) {
		owners, err := lockOwners(tx, p.Scope)
		if err != nil {
			return struct{}{}, err
		}
		if err := p.barred(owners); err != nil {
			return struct{}{}, err
		}
		writes, err := p.prepare(tx, owners)
		if err != nil || len(writes) == 0 {
			return struct{}{}, err
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return struct{}{}, tx.Apply(writes...)
	})
	return err
}

func (p Publication) barred(owners *lockedOwners) error {
	writing := map[serving.Owner]bool{}
	for _, g := range p.Generations {
		writing[g.Owner] = true
	}
	for _, s := range p.Selects {
		writing[s.Owner] = true
	}
	for _, owner := range serving.Owners() {
		if refusal := owners.barred(owner); writing[owner] && refusal != nil {
			return refusal
		}
	}
	return nil
}

func (p Publication) prepare(tx *txn.Tx, owners *lockedOwners) ([]txn.Write, error) {
	if len(p.Credentials) > 0 {
		if _, err := txn.Lock(tx, schema.CredentialGates, p.Credentials); err != nil {
			return nil, err
		}
	}
	generations, err := txn.Load(tx, schema.OwnerGenerations, p.Generations)
	if err != nil {
		return nil, err
	}
	for i, g := range p.Generations {
		if generations.Match(i) == txn.Different {
			return nil, facts.Refuse(facts.ContentDiffers, GenerationName{g.Owner, g.Name}.subject(g.ID), "")
		}
	}
	stands, err := p.standings(tx)
	if err != nil {
		return nil, err
	}
	selections, err := p.selections(tx, owners)
	if err != nil {
		return nil, err
	}
	writes := []txn.Write{txn.Append(generations)}
	if len(stands) > 0 {
		loaded, err := txn.Load(tx, schema.OwnerStandings, stands)
		if err != nil {
			return nil, err
		}
		writes = append(writes, txn.Append(loaded))
	}
	if len(selections) > 0 {
		loaded, err := txn.Load(tx, schema.OwnerSelections, selections)
		if err != nil {
			return nil, err
		}
		writes = append(writes, txn.Append(loaded))
	}
	if len(p.Credentials) > 0 {
		gates := make([]facts.CredentialGenerationDispatchGate, len(p.Credentials))
		for i, id := range p.Credentials {
			gates[i].Generation = id
		}
		loaded, err := txn.Load(tx, schema.CredentialGenerationDispatchGates, gates)
		if err != nil {
			return nil, err
		}
		writes = append(writes, txn.Born(loaded, schema.CredentialGates,
			func(g facts.CredentialGenerationDispatchGate) facts.CredentialGate { return facts.CredentialGate(g) }))
	}
	return writes, nil
}

// standings are the rows that make each generation of the publication readable, after what it requires was found.
func (p Publication) standings(tx *txn.Tx) ([]serving.Standing, error) {
	ours := map[serving.GenerationDigest]bool{}
	var asked []serving.GenerationDigest
	for _, g := range p.Generations {
		ours[g.ID] = true
		asked = append(asked, g.ID)
	}
	required := append([]GenerationName{}, p.Requires...)
	for _, s := range p.Selects {
		required = append(required, s.Generation)
	}
	digests := make([]serving.GenerationDigest, len(required))
	for i, name := range required {
		digest, err := name.digest(p.Scope)
		if err != nil {
			return nil, err
		}
		digests[i] = digest
	}
	last, err := standings(tx, append(asked, digests...))
	if err != nil {
		return nil, err
	}
	for i, digest := range digests {
		if !last[digest].Present && !ours[digest] {
			return nil, facts.Refuse(facts.SubjectMissing, required[i].subject(digest), "its owner does not have it, and the publication needs it")
		}
	}
	var rows []serving.Standing
	for _, g := range asked {
		if !last[g].Present {
			rows = append(rows, serving.Standing{Generation: g, Seq: last[g].Seq + 1, Present: true})
		}
	}
	return rows, nil
}

// selections are the rows that make generations current. One that stands already is a retry.
func (p Publication) selections(tx *txn.Tx, owners *lockedOwners) ([]serving.Selection, error) {
	if len(p.Selects) == 0 {
		return nil, premises(tx, owners, p.Premises)
	}
	lines := make([]serving.SelectorDigest, len(p.Selects))
	for i, s := range p.Selects {
		lines[i] = s.Selector
	}
	present, err := selections(tx, lines)
	if err != nil {
		return nil, err
	}
	var rows []serving.Selection
	retry := false
	for _, s := range p.Selects {
		digest, err := s.Generation.digest(p.Scope)
		if err != nil {
			return nil, err
		}
		last := present[s.Selector]
		switch {
		case last.Seq == s.At+1 && last.Generation == digest:
			retry = true
		case last.Seq != s.At:
			return nil, moved(owners, s.Line, last.Seq)
		default:
			rows = append(rows, serving.Selection{Selector: s.Selector, Seq: s.At + 1, Generation: digest})
		}
	}
	if retry {
		return rows, nil // what it was prepared under was true when it was done
	}
	return rows, premises(tx, owners, p.Premises)
}

// premises refuses a transaction that was prepared under something that has changed.
func premises(tx *txn.Tx, owners *lockedOwners, lines []Line) error {
	for _, line := range lines {
		last, err := selected(tx, line.Selector)
		if err != nil {
			return err
		}
		if last.Seq != line.At {
			return moved(owners, line, last.Seq)
		}
	}
	return nil
}

func moved(owners *lockedOwners, line Line, now uint64) error {
	return facts.Refuse(facts.WrongState, owners.subject(line.Owner), "its line stands at selection %d, and this was prepared at %d", now, line.At)
}
