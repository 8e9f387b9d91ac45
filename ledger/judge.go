package ledger

import (
	"context"

	"connectorcore/facts"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var kindJudge = txn.NewKind("judge epoch")

// Judgement is what a coordinator read afresh at every owner for one candidate epoch. An owner that gave no answer
// decides nothing, and no Judgement is made of it.
type Judgement struct {
	Epoch facts.EpochRef
	// Found is the content as it was reconstructed from the owners' present answers. It counts if nothing is absent and
	// nothing differs.
	Found EpochContent
	// Absent is the first generation of which its owner says with authority that it is not there.
	Absent GenerationName
	// Differs is the first answer that does not say what its owner's protocol demands, so that there is no content: the
	// owner, the generation and the field. It is empty if every answer did.
	Differs string
}

// Judged is where the epoch stands after a judgement, and why it was rejected.
type Judged struct {
	EpochStanding
	Cause *facts.Refusal // OwnerDisagrees, with the first difference; nil if it was verified
}

// verifiedBody is what the ledger keeps of a verification.
type verifiedBody struct {
	Profile     string
	Digest      []byte
	Bindings    uint64
	Credentials uint64
	Shares      uint64
}

// Proof is that every owner was read again.
func (verifiedBody) Proof() machines.Proof { return machines.ServingEpochVerify.Proof() }

// Version is 1.
func (verifiedBody) Version() uint16 { return 1 }

// rejectedBody is what the ledger keeps of a rejection.
type rejectedBody struct {
	Digest []byte // of the candidate
	Fault  string // what was absent, or the first row and field that differed
}

// Proof is that an owner disagrees.
func (rejectedBody) Proof() machines.Proof { return machines.ServingEpochRejectPrepared.Proof() }

// Version is 1.
func (rejectedBody) Version() uint16 { return 1 }

// JudgeEpoch verifies a prepared epoch if every owner's present answer is, byte for byte, what it froze, and rejects a
// prepared or verified one if not. The same judgement again changes nothing.
//
// The stored rows are compared with the fresh ones under the epoch's lock, each column of each, and their digest is made
// again: so nothing decides that an echo of the candidate could have brought.
//
// Locks:   epoch, shares.
// Refuses: SubjectMissing, ShareSetDiffers, EpochMismatch, SubjectEnded, WrongState. Nothing is written then.
// Unknown: judge the same again; the transition that was taken tells whether it was this one.
//
// Spec: State machines ("prepared -> verified | rejected is an external-owner verification transition").
func (l *Ledger) JudgeEpoch(ctx context.Context, judgement Judgement) (Judged, error) {
	if judgement.Absent == (GenerationName{}) && judgement.Differs == "" && judgement.Found.Candidate.Epoch != judgement.Epoch.ID {
		return Judged{}, errors.AssertionFailedf("epoch %s is judged by a candidate of epoch %s", judgement.Epoch.ID, judgement.Found.Candidate.Epoch)
	}
	return txn.Run(ctx, l.db, kindJudge, func(tx *txn.Tx) (Judged, error) {
		epochs, err := txn.LockEpochs(tx, []facts.EpochID{judgement.Epoch.ID})
		if err != nil {
			return Judged{}, err
		}
		prepared, err := preparedEpoch(tx, judgement.Epoch)
		if err != nil {
			return Judged{}, err
		}
		guard, _ := epochs.Find(prepared.ID)
		fault, err := judgement.fault(tx, prepared)
		if err != nil {
			return Judged{}, err
		}
		edge, fence := decideJudgement(guard.State, guard.Fence, fault)
		evidence, err := judgement.evidence(fault)
		if err != nil {
			return Judged{}, err
		}
		judged := Judged{EpochStanding: EpochStanding{judgement.Epoch, edge.To(), fence + 1}}
		if fault != "" {
			judged.Cause = facts.Refuse(facts.OwnerDisagrees, facts.OfEpoch(prepared.ID), "%s", fault)
		}
		if edge.From() != guard.State {
			if fault == "" && guard.State == machines.ServingEpochRejected {
				return Judged{}, notJudged(prepared.ID, guard.State, fault) // a verification before that does not stand
			}
			same, err := txn.Taken(tx, schema.Epochs, prepared.ID, fence, edge, evidence)
			judged.State, judged.Fence = guard.State, guard.Fence
			if err != nil || same {
				return judged, err
			}
			return Judged{}, notJudged(prepared.ID, guard.State, fault)
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return judged, tx.Apply(txn.Move(epochs, []txn.Step[facts.EpochID, facts.EpochGuard, machines.ServingEpochEdge]{
			{Key: prepared.ID, Edge: edge, Evidence: evidence}}))
	})
}

// preparedEpoch is the immutable epoch with this exact reference, read under its lock.
//
// Refuses: EpochMismatch.
func preparedEpoch(tx *txn.Tx, ref facts.EpochRef) (facts.ServingEpoch, error) {
	prepared, known, err := txn.ReadOne(tx, schema.ServingEpochs, func(e *facts.ServingEpoch) { e.ID = ref.ID })
	switch {
	case err != nil:
		return prepared, err
	case !known || prepared.Digest != ref.Digest:
		return prepared, facts.Refuse(facts.EpochMismatch, facts.OfEpoch(ref.ID), "it was prepared with digest %s, and %s was named", prepared.Digest, ref.Digest)
	}
	return prepared, nil
}

func (j Judgement) fault(tx *txn.Tx, prepared facts.ServingEpoch) (string, error) {
	switch {
	case j.Absent != (GenerationName{}):
		return j.Absent.Owner.String() + " " + j.Absent.Name.String() + " is absent, says its owner", nil
	case j.Differs != "":
		return j.Differs, nil
	}
	return j.Found.fault(tx, prepared)
}

func (j Judgement) evidence(fault string) (facts.Evidence, error) {
	if fault != "" {
		return facts.Prove(rejectedBody{j.Epoch.Digest[:], fault})
	}
	c := j.Found.Candidate
	return facts.Prove(verifiedBody{facts.ProfileV2.String(), j.Epoch.Digest[:], uint64(len(c.Bindings)), uint64(len(c.Credentials)), uint64(len(j.Found.Accounts))})
}

// decideJudgement is the edge that a judgement takes, and the fence that the edge consumes. If the epoch does not stand
// where the edge begins, it is the edge by which it would have been taken before.
func decideJudgement(state machines.ServingEpochState, fence facts.Fence, fault string) (machines.ServingEpochEdge, facts.Fence) {
	switch {
	case fault == "":
		return machines.ServingEpochVerify, 1
	case state == machines.ServingEpochVerified || state == machines.ServingEpochRejected && fence == 3:
		return machines.ServingEpochRejectVerified, 2
	}
	return machines.ServingEpochRejectPrepared, 1
}

func notJudged(id facts.EpochID, state machines.ServingEpochState, fault string) error {
	if fault == "" {
		fault = "every owner still agrees with it"
	}
	if state.Terminal() {
		return facts.Refuse(facts.SubjectEnded, facts.OfEpoch(id), "it is %s by another judgement, and now %s", state, fault)
	}
	return facts.Refuse(facts.WrongState, facts.OfEpoch(id), "it is %s, and now %s", state, fault)
}
