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

var kindActivate = txn.NewKind("activate first epoch")

// Activation is a first activation: who carries it out, of which verified epoch, and what the owners answered when they
// were read again while their barriers were held.
type Activation struct {
	Coordinator
	Deployment facts.DeploymentID
	Epoch      facts.EpochRef
	Found      EpochContent
}

// activationBody is what the ledger keeps of an activation, the same on the set, the epoch and every gate. The
// coordinator is not in it: any of the attempt's finds that it was done.
type activationBody struct {
	proof   machines.Proof
	Attempt string
	Set     string
	Epoch   string
	Digest  []byte
}

// Proof is that of the edge.
func (b activationBody) Proof() machines.Proof { return b.proof }

// Version is 1.
func (activationBody) Version() uint16 { return 1 }

func (c Coordinator) proveActivation(proof machines.Proof, epoch facts.EpochRef) (facts.Evidence, error) {
	return facts.Prove(activationBody{proof, c.Attempt.String(), c.Set.String(), epoch.ID.String(), epoch.Digest[:]})
}

// ActivateFirst makes a verified epoch the one under which every account of a conformance deployment serves. The barrier
// set, the epoch and every gate move in one commit, or nothing does; a gate never points at an epoch that is not active.
//
// Locks:   gates of the whole account set, epoch, shares, barrier set.
// Refuses: ConfigurationInvalid, ConformanceOnly, SubjectMissing (the epoch), ShareSetDiffers (its shares are damaged),
// EpochMismatch, SubjectMissing (the set), ContentDiffers, ShareSetDiffers (they are not these accounts), StaleHolder,
// BarrierNotHeld, WrongState (the epoch is not verified), SubjectMissing or WrongState (a gate is not there, or not in
// v2_validating), ShareSetDiffers (a gate has no share), OwnerDisagrees (JudgeEpoch is to reject the epoch). In this
// order; nothing is written then.
// Unknown: activate the same again; the set's own transition tells whether it was done.
//
// Spec: Offline V1 shutdown, cold rollback, and V2 cutover, step 8; rules R07, R39.
func (l *Ledger) ActivateFirst(ctx context.Context, a Activation) (EpochStanding, error) {
	if err := a.complete(); err != nil {
		return EpochStanding{}, err
	}
	if a.Found.Candidate.Epoch != a.Epoch.ID {
		return EpochStanding{}, errors.AssertionFailedf("epoch %s is activated with a candidate of epoch %s", a.Epoch.ID, a.Found.Candidate.Epoch)
	}
	return txn.Run(ctx, l.db, kindActivate, func(tx *txn.Tx) (EpochStanding, error) {
		held, err := a.lock(tx)
		if err != nil {
			return EpochStanding{}, err
		}
		evidence, err := a.proveActivation(commitEdge.Proof(), a.Epoch)
		if err != nil {
			return EpochStanding{}, err
		}
		if held.set.Fence > 1 {
			done, err := txn.Taken(tx, schema.BarrierSets, a.Set, commitFence, commitEdge, evidence)
			if err != nil || done {
				return EpochStanding{a.Epoch, held.epoch.State, held.epoch.Fence}, err
			}
		}
		if err := a.decide(held); err != nil {
			return EpochStanding{}, err
		}
		if err := strangers(tx, a.Epoch.ID, a.Found.Accounts); err != nil {
			return EpochStanding{}, err
		}
		fault, err := a.Found.fault(tx, held.prepared)
		switch {
		case err != nil:
			return EpochStanding{}, err
		case fault != "":
			return EpochStanding{}, facts.Refuse(facts.OwnerDisagrees, facts.OfEpoch(a.Epoch.ID), "%s", fault)
		}
		writes, err := a.writes(held, evidence)
		if err != nil {
			return EpochStanding{}, err
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return EpochStanding{a.Epoch, machines.ServingEpochActive, held.epoch.Fence + 1}, tx.Apply(writes...)
	})
}

// commitFence is the fence that a set's commit consumes: it is born at 1, and held by the edge that consumes that.
const commitFence = 2

// heldActivation is everything that a first activation moves, held by its transaction.
type heldActivation struct {
	gates    *gateGuards
	epochs   *txn.LockedEpochs
	sets     *setGuards
	prepared facts.ServingEpoch
	epoch    txn.Guard[facts.EpochGuard, machines.ServingEpochState]
	set      setGuard
}

// lock takes every lock in the order of the ranks and refuses what is not there at all, or not of this deployment.
func (a Activation) lock(tx *txn.Tx) (held heldActivation, err error) {
	if held.gates, err = txn.Lock(tx, schema.Gates, a.Found.Accounts); err != nil {
		return held, err
	}
	deployment, err := founded(tx, a.Deployment)
	switch {
	case err != nil:
		return held, err
	case deployment.Class != serving.Conformance:
		return held, facts.Refuse(facts.ConformanceOnly, facts.OfEpoch(a.Epoch.ID), "deployment %s is of class %s", deployment.ID, deployment.Class)
	case deployment.Scope != a.Scope:
		return held, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("deployment "+a.Deployment.String()), "its scope is %s, and the attempt's is %s", deployment.Scope, a.Scope)
	}
	if held.epochs, err = txn.LockEpochs(tx, []facts.EpochID{a.Epoch.ID}); err != nil {
		return held, err
	}
	if held.prepared, err = preparedEpoch(tx, a.Epoch); err != nil {
		return held, err
	}
	held.epoch, _ = held.epochs.Find(a.Epoch.ID)
	if held.sets, held.set, err = a.lockSet(tx); err != nil {
		return held, err
	}
	return held, exactly(held.prepared, a.Found.Accounts)
}

// decide refuses an activation whose set, epoch or gates do not stand where its edges begin.
func (a Activation) decide(held heldActivation) error {
	if err := a.holds(held.set); err != nil {
		return err
	}
	switch {
	case held.set.State != commitEdge.From():
		return facts.Refuse(facts.BarrierNotHeld, facts.OfBarrier(a.Set), "the set is %s", held.set.State)
	case held.epoch.State != machines.ServingEpochVerified:
		return facts.Refuse(facts.WrongState, facts.OfEpoch(a.Epoch.ID), "it is %s, not verified", held.epoch.State)
	}
	for _, account := range a.Found.Accounts {
		gate, born := held.gates.Find(account)
		switch {
		case !born:
			return facts.Refuse(facts.SubjectMissing, facts.OfAccount(account), "the account has no gate")
		case gate.State != machines.AccountServingGateV2Validating:
			return facts.Refuse(facts.WrongState, facts.OfAccount(account), "its gate is in %s, not in v2_validating", gate.State)
		}
	}
	return nil
}

func (a Activation) writes(held heldActivation, commit facts.Evidence) ([]txn.Write, error) {
	epoch, gate := machines.ServingEpochActivateFirst, machines.AccountServingGateActivateFirst
	activated, err := a.proveActivation(epoch.Proof(), a.Epoch)
	if err != nil {
		return nil, err
	}
	steps := make([]gateStep, len(a.Found.Accounts))
	for i, account := range a.Found.Accounts {
		steps[i] = gateStep{Key: account, Edge: gate, Evidence: activated, Row: &facts.Gate{Account: account, Epoch: a.Epoch}}
	}
	return []txn.Write{
		txn.Move(held.sets, []setStep{{Key: a.Set, Edge: commitEdge, Evidence: commit}}),
		txn.Move(held.epochs, []txn.Step[facts.EpochID, facts.EpochGuard, machines.ServingEpochEdge]{{Key: a.Epoch.ID, Edge: epoch, Evidence: activated}}),
		txn.Move(held.gates, steps),
	}, nil
}
