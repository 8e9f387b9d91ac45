package ledger

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var (
	kindRevoke   = txn.NewKind("revoke credential generations")
	kindReenable = txn.NewKind("reenable credential generations")
)

// CredentialMove asks that one credential generation be revoked or enabled again.
type CredentialMove struct {
	Scope      serving.Scope
	Generation facts.CredentialGenerationID
	Fence      facts.Fence     // the gate's, as the caller saw it
	Principal  facts.OwnerName // who authorised it
	Reason     facts.OwnerName // why, as one line
}

// CredentialVerdict is the gate's fence after a move, or why it was refused.
type CredentialVerdict struct {
	Fence   facts.Fence
	Refusal *facts.Refusal
}

// credentialBody is what the ledger keeps of an authorised move.
type credentialBody struct {
	proof     machines.Proof
	Principal string
	Reason    string
}

// Proof is that of the edge.
func (b credentialBody) Proof() machines.Proof { return b.proof }

// Version is 1.
func (credentialBody) Version() uint16 { return 1 }

type (
	credentialEdge   = machines.CredentialGenerationDispatchGateEdge
	credentialGuards = txn.Guards[facts.CredentialGenerationID, facts.CredentialGate, machines.CredentialGenerationDispatchGateState, credentialEdge]
	credentialStep   = txn.Step[facts.CredentialGenerationID, facts.CredentialGate, credentialEdge]
)

// RevokeCredentials keeps credential generations from being used by any Permit that is not yet sending. It changes no
// generation and no Permit.
//
// Locks:   owner barriers, credential gates.
// Refuses: SubjectMissing, StaleCredentialFence, WrongState, PublicationBarred (per move, in this order).
// Unknown: ask the same again; the transition that consumed the fence tells whether it was done.
//
// Spec: Ownership boundaries ("An authorized revocation locks the same row, advances its fence").
func (l *Ledger) RevokeCredentials(ctx context.Context, moves []CredentialMove) ([]CredentialVerdict, error) {
	return l.moveCredentials(ctx, kindRevoke, machines.CredentialGenerationDispatchGateRevoke, moves)
}

// ReenableCredentials lets revoked credential generations be used again, by Permits that are acquired from then on. What
// was abandoned stays abandoned.
//
// Locks:   owner barriers, credential gates.
// Refuses: SubjectMissing, StaleCredentialFence, WrongState, PublicationBarred (per move, in this order).
// Unknown: ask the same again; the transition that consumed the fence tells whether it was done.
func (l *Ledger) ReenableCredentials(ctx context.Context, moves []CredentialMove) ([]CredentialVerdict, error) {
	return l.moveCredentials(ctx, kindReenable, machines.CredentialGenerationDispatchGateReenable, moves)
}

func (l *Ledger) moveCredentials(ctx context.Context, kind *txn.Kind, edge credentialEdge, moves []CredentialMove) ([]CredentialVerdict, error) {
	asked, err := askCredentials(edge, moves)
	if err != nil {
		return nil, err
	}
	return txn.Batch(ctx, l.db, kind, moves, func(tx *txn.Tx) ([]CredentialVerdict, error) {
		owners, err := lockOwners(tx, moves[0].Scope)
		if err != nil {
			return nil, err
		}
		gates, err := txn.Lock(tx, schema.CredentialGates, asked.ids)
		if err != nil {
			return nil, err
		}
		published, err := asked.published(tx, moves[0].Scope)
		if err != nil {
			return nil, err
		}
		verdicts := make([]CredentialVerdict, len(moves))
		var steps []credentialStep
		for i, move := range moves {
			done, err := asked.done(tx, gates, move, edge, i)
			if err != nil {
				return nil, err
			}
			verdicts[i] = decideCredential(gates, move, edge, published[move.Generation], done, owners.barred(serving.Credentials))
			if !done && verdicts[i].Refusal == nil {
				steps = append(steps, credentialStep{Key: move.Generation, Edge: edge, Evidence: asked.evidence[i]})
			}
		}
		if len(steps) == 0 {
			return verdicts, nil
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return verdicts, tx.Apply(txn.Move(gates, steps))
	})
}

// askedCredentials is what is known of a batch of moves before its transaction.
type askedCredentials struct {
	ids      []facts.CredentialGenerationID
	evidence []facts.Evidence
}

func askCredentials(edge credentialEdge, moves []CredentialMove) (askedCredentials, error) {
	asked := askedCredentials{}
	seen := map[facts.CredentialGenerationID]bool{}
	for i, move := range moves {
		if move.Generation.IsZero() || seen[move.Generation] || move.Scope != moves[0].Scope || move.Principal.IsZero() {
			return asked, errors.AssertionFailedf("move %d of credential generation %s is incomplete, stands twice, or is of another scope", i, move.Generation)
		}
		seen[move.Generation] = true
		evidence, err := facts.Prove(credentialBody{edge.Proof(), move.Principal.String(), move.Reason.String()})
		if err != nil {
			return asked, err
		}
		asked.ids, asked.evidence = append(asked.ids, move.Generation), append(asked.evidence, evidence)
	}
	return asked, nil
}

// published tells which of the generations the credential authority of the scope ever had. A gate without one here is of
// another scope, whose barrier this transaction does not hold.
func (a askedCredentials) published(tx *txn.Tx, scope serving.Scope) (map[facts.CredentialGenerationID]bool, error) {
	parents := make([]serving.Standing, len(a.ids))
	of := map[serving.GenerationDigest]facts.CredentialGenerationID{}
	for i, id := range a.ids {
		name, err := facts.ParseKey[serving.Name](id.String())
		if err != nil {
			return nil, err
		}
		if parents[i].Generation, err = (GenerationName{serving.Credentials, name}).digest(scope); err != nil {
			return nil, err
		}
		of[parents[i].Generation] = id
	}
	there, err := txn.Children(tx, schema.OwnerStandings, parents, 1)
	published := map[facts.CredentialGenerationID]bool{}
	for _, standing := range there {
		published[of[standing.Generation]] = true
	}
	return published, err
}

// done tells whether the move's fence was consumed by this very move.
func (a askedCredentials) done(tx *txn.Tx, gates *credentialGuards, move CredentialMove, edge credentialEdge, i int) (bool, error) {
	if gate, born := gates.Find(move.Generation); !born || gate.Fence <= move.Fence {
		return false, nil
	}
	return txn.Taken(tx, schema.CredentialGates, move.Generation, move.Fence, edge, a.evidence[i])
}

func decideCredential(gates *credentialGuards, move CredentialMove, edge credentialEdge, published, done bool, barred *facts.Refusal) CredentialVerdict {
	subject := facts.OfCredential(move.Generation)
	gate, born := gates.Find(move.Generation)
	switch {
	case !born || !published:
		return CredentialVerdict{Refusal: facts.Refuse(facts.SubjectMissing, subject, "the credential authority of this scope never had it")}
	case done:
		return CredentialVerdict{Fence: move.Fence + 1}
	case gate.Fence != move.Fence:
		return CredentialVerdict{Refusal: facts.Refuse(facts.StaleCredentialFence, subject, "its gate is at fence %d, and the request was made at %d", gate.Fence, move.Fence)}
	case gate.State != edge.From():
		return CredentialVerdict{Refusal: facts.Refuse(facts.WrongState, subject, "it is %s", gate.State)}
	case barred != nil:
		return CredentialVerdict{Refusal: barred}
	}
	return CredentialVerdict{Fence: move.Fence + 1}
}
