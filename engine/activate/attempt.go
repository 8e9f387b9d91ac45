package activate

import (
	"context"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/machines"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// maxGates is how many gates are born or walked in one transaction (R12).
const maxGates = 500

// Activate makes a verified epoch the one under which every account of a conformance deployment serves, from wherever an
// earlier process stopped. It takes over an attempt that stands open; an activation that was committed is read back and
// released. Where everything is done already, nothing changes.
//
// While it runs, no owner publishes, selects, retains or revokes anything. An owner that disagrees has the epoch rejected,
// which the answer tells; one that is silent refuses the activation, and the epoch stays verified. In both the attempt is
// given up.
//
// Refuses: ConformanceOnly, SubjectMissing, EpochMismatch, WrongState (the epoch is not verified, or another one serves),
// SubjectEnded (it was rejected), ConfigurationInvalid (no witness), OwnerUnavailable, BarrierNotHeld, StaleHolder (another
// process took over: it goes on), and what the ledger's steps refuse.
//
// Unknown, or interrupted: activate again.
//
// Spec: Ownership boundaries (ServingPublicationBarrierSet); rules R39, R41.
func (c *Coordinator) Activate(ctx context.Context, ref facts.EpochRef) (ledger.Judged, error) {
	if c.Deployment.Class != serving.Conformance {
		return ledger.Judged{}, facts.Refuse(facts.ConformanceOnly, facts.OfEpoch(ref.ID), "deployment %s is of class %s, which is activated by the cutover protocol only", c.Deployment.ID, c.Deployment.Class)
	}
	epoch, err := c.named(ctx, ref)
	if err != nil {
		return ledger.Judged{}, err
	}
	open, err := c.settle(ctx)
	if err != nil {
		return ledger.Judged{}, err
	}
	if epoch, err = c.named(ctx, ref); err != nil { // what was settled may have activated it
		return ledger.Judged{}, err
	}
	if epoch.State == machines.ServingEpochActive {
		c.say("epoch %s is active; nothing is left to do but to see that every owner is open", ref.ID)
		return ledger.Judged{EpochStanding: epoch.EpochStanding}, c.openEnded(ctx, serving.Owners()...)
	}
	if err := c.mayBegin(ctx, epoch); err != nil {
		return ledger.Judged{}, err
	}
	if c.Witness == nil {
		return ledger.Judged{}, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("store.witness"), "an activation needs the witness of its deployment, and no place for one is known")
	}
	witness, err := c.Witness.Stand(c.Deployment.ID)
	if err != nil {
		return ledger.Judged{}, err
	}
	judged, err := c.attempt(ctx, epoch, open)
	return judged, errors.CombineErrors(err, witness.Close())
}

// mayBegin refuses an epoch that is not verified, and a deployment that serves another one.
func (c *Coordinator) mayBegin(ctx context.Context, epoch Epoch) error {
	about := facts.OfEpoch(epoch.Epoch.ID)
	switch {
	case epoch.State == machines.ServingEpochRejected:
		return facts.Refuse(facts.SubjectEnded, about, "it was rejected; prepare another one")
	case epoch.State != machines.ServingEpochVerified:
		return facts.Refuse(facts.WrongState, about, "it is %s; verify it first", epoch.State)
	}
	others, err := c.epochs(ctx)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.State == machines.ServingEpochActive || other.State == machines.ServingEpochDraining {
			return facts.Refuse(facts.WrongState, about, "the deployment serves under epoch %s, which is %s: a first activation has no predecessor", other.Epoch.ID, other.State)
		}
	}
	return nil
}

// attempt carries an activation out, in the set that stands open or in a new one.
func (c *Coordinator) attempt(ctx context.Context, epoch Epoch, open *Set) (ledger.Judged, error) {
	accounts, err := c.accounts(ctx, epoch.Epoch)
	if err != nil {
		return ledger.Judged{}, err
	}
	if err := c.walk(ctx, accounts); err != nil {
		return ledger.Judged{}, err
	}
	a, err := c.begin(ctx, open)
	if err != nil {
		return ledger.Judged{}, err
	}
	judged, err := a.carryOut(ctx, epoch)
	switch {
	case err != nil:
		return judged, a.end(ctx, err)
	case judged.Cause != nil:
		return judged, a.giveUp(ctx)
	}
	return judged, a.readBack(ctx, ledger.Activated{Epoch: epoch.Epoch, Accounts: accounts})
}

// accounts are the shares of an epoch.
func (c *Coordinator) accounts(ctx context.Context, epoch facts.EpochRef) ([]facts.AccountID, error) {
	shares, err := readers.Many(ctx, c.Reader, schema.EpochShares, []facts.EpochShare{{Epoch: epoch.ID}}, 1)
	accounts := make([]facts.AccountID, len(shares))
	for i, share := range shares {
		accounts[i] = share.Account
	}
	return accounts, errors.Wrapf(err, "activate: the shares of epoch %s", epoch.ID)
}

// walk bears the gates and takes them to v2_validating. No gate serves by that.
func (c *Coordinator) walk(ctx context.Context, accounts []facts.AccountID) error {
	c.say("walking the gates of %d accounts to v2_validating", len(accounts))
	for batch := range slices.Chunk(accounts, maxGates) {
		born, err := c.Ledger.BearGates(ctx, c.Deployment.ID, batch)
		if err := refusedGate(born, err); err != nil {
			return errors.Wrap(err, "activate: the birth of gates")
		}
		walked, err := c.Ledger.WalkGates(ctx, ledger.Walk{Deployment: c.Deployment.ID, Accounts: batch, Principal: c.Principal, Reason: c.Reason})
		if err := refusedGate(walked, err); err != nil {
			return errors.Wrap(err, "activate: the walk of gates")
		}
	}
	return nil
}

func refusedGate(verdicts []ledger.GateVerdict, err error) error {
	for _, verdict := range verdicts {
		if err == nil && verdict.Refusal != nil {
			return verdict.Refusal
		}
	}
	return err
}

// attempt is an attempt of which this process is the coordinator.
type attempt struct {
	*Coordinator
	at ledger.Coordinator
}

// begin takes over the set that stands open, or opens a new one.
func (c *Coordinator) begin(ctx context.Context, open *Set) (attempt, error) {
	if open != nil {
		a, _, err := c.takeOver(ctx, *open)
		if !errors.Is(err, facts.SubjectEnded) {
			return a, err
		} // it was released since it was seen
	}
	a := attempt{c, ledger.Coordinator{Set: facts.Mint[facts.BarrierSetID](), Scope: c.Deployment.Scope, Attempt: facts.Mint[facts.ActivationAttemptID](), Fence: 1}}
	c.say("opening barrier set %s for attempt %s", a.at.Set, a.at.Attempt)
	_, err := c.Ledger.OpenBarrierSet(ctx, a.at)
	return a, errors.Wrap(err, "activate: the barrier set")
}

// carryOut acquires every owner's barrier, reads every owner again while they are held, and activates. An answer with a
// cause is a rejection.
func (a attempt) carryOut(ctx context.Context, epoch Epoch) (ledger.Judged, error) {
	holds, err := a.acquire(ctx)
	if err != nil {
		return ledger.Judged{}, err
	}
	if _, err := a.Ledger.HoldBarrierSet(ctx, a.at); err != nil {
		return ledger.Judged{}, errors.Wrap(err, "activate: the barrier set")
	}
	if err := a.verifyHolds(ctx, holds); err != nil {
		return ledger.Judged{}, err
	}
	a.say("every barrier is held; asking every owner again for what epoch %s froze", epoch.Epoch.ID)
	judgement, err := a.judgement(ctx, epoch)
	if err != nil {
		return ledger.Judged{}, err
	}
	if judgement.Found.Candidate.Epoch.IsZero() {
		return a.judge(ctx, judgement)
	}
	standing, err := a.Ledger.ActivateFirst(ctx, ledger.Activation{Coordinator: a.at, Deployment: a.Deployment.ID, Epoch: epoch.Epoch, Found: judgement.Found})
	if errors.Is(err, facts.OwnerDisagrees) {
		return a.judge(ctx, judgement)
	}
	if err == nil {
		a.say("epoch %s is active, and the gate of every account serves under it", epoch.Epoch.ID)
	}
	return ledger.Judged{EpochStanding: standing}, errors.Wrap(err, "activate: the activation")
}

// acquire asks the owners for their barriers, one after the other in their order, and records each receipt before the
// next one is asked. An owner that let an earlier process of this attempt hold its barrier gives the same receipt again,
// and refuses that process from then on.
func (a attempt) acquire(ctx context.Context) ([]owners.Hold, error) {
	var holds []owners.Hold
	for _, owner := range serving.Owners() {
		a.say("acquiring the publication barrier of %s", owner)
		hold, err := a.Owners.Barrier(owner).Acquire(ctx, a.ask())
		if errors.Is(err, facts.PublicationBarred) { // by an attempt that is over, since a scope has one open set
			if err := a.openEnded(ctx, owner); err != nil {
				return nil, err
			}
			hold, err = a.Owners.Barrier(owner).Acquire(ctx, a.ask())
		}
		if err != nil {
			return nil, a.refuseBarrier(owner, err)
		}
		if hold.Owner != owner || hold.Scope != a.at.Scope || hold.Attempt != a.at.Attempt || hold.Fence == 0 {
			return nil, facts.Refuse(facts.BarrierNotHeld, facts.OfBarrier(a.at.Set), "%s answers with a hold of %s for attempt %s", owner, hold.Owner, hold.Attempt)
		}
		receipt := serving.BarrierReceipt{Set: a.at.Set, Owner: owner, Fence: hold.Fence, Receipt: hold.Receipt}
		if _, err := a.Ledger.RecordBarrierReceipts(ctx, a.at, []serving.BarrierReceipt{receipt}); err != nil {
			return nil, errors.Wrapf(err, "activate: the receipt of %s", owner)
		}
		holds = append(holds, hold)
	}
	return holds, nil
}

func (a attempt) ask() owners.Ask {
	return owners.Ask{Scope: a.at.Scope, Attempt: a.at.Attempt, Fence: a.at.Fence}
}

// refuseBarrier makes an owner that gave no answer a refusal, and leaves a refusal and an end of the caller as they are.
func (a attempt) refuseBarrier(owner serving.Owner, err error) error {
	var refusal *facts.Refusal
	if errors.As(err, &refusal) || errors.Is(err, context.Canceled) {
		return errors.Wrapf(err, "activate: the barrier of %s", owner)
	}
	return errors.WithSecondaryError(facts.Refuse(facts.OwnerUnavailable, facts.OfBarrier(a.at.Set), "the barrier of %s: nobody could say (%v)", owner, err), err)
}

// verifyHolds asks each owner whether it holds its barrier now.
func (a attempt) verifyHolds(ctx context.Context, holds []owners.Hold) error {
	for _, hold := range holds {
		answer := a.Owners.Barrier(hold.Owner).Verify(ctx, hold)
		stands, found := answer.Value()
		switch {
		case found && stands == hold:
		case answer.Standing() == owners.Unavailable:
			return a.refuseBarrier(hold.Owner, answer.Cause())
		default:
			return facts.Refuse(facts.BarrierNotHeld, facts.OfBarrier(a.at.Set), "%s let this attempt hold its barrier, and says now that it does not", hold.Owner)
		}
	}
	return nil
}

// end tells what becomes of an attempt that came to an error. One that another process took over is that one's. One of
// which it is not known what was committed, or whose process was stopped, stays open for the next one. Every other is
// given up, so that the owners may publish again.
func (a attempt) end(ctx context.Context, cause error) error {
	switch {
	case errors.Is(cause, facts.StaleHolder):
		a.say("another process has taken this attempt over, and goes on with it")
		return cause
	case ctx.Err() != nil || errors.Is(cause, facts.ErrOutcomeUnknown) || errors.HasAssertionFailure(cause):
		a.say("barrier set %s stays open: run again to go on, or give it up", a.at.Set)
		return cause
	}
	if err := a.giveUp(ctx); err != nil {
		a.say("barrier set %s could not be given up whole: %v", a.at.Set, err)
		return errors.CombineErrors(cause, err)
	}
	return cause
}

// giveUp releases the set of an attempt of which nothing was committed, and then the owners.
func (a attempt) giveUp(ctx context.Context) error {
	a.say("giving up barrier set %s, and opening the owners again", a.at.Set)
	if _, err := a.Ledger.ReleaseBarrierSet(ctx, a.at, ledger.Activated{}); err != nil {
		return errors.Wrap(err, "activate: the release of the barrier set")
	}
	return a.openOwners(ctx, serving.Owners()...)
}

// readBack releases the set of an attempt whose activation was committed, after it was read back, and then the owners.
func (a attempt) readBack(ctx context.Context, activated ledger.Activated) error {
	a.say("reading back epoch %s and the gates of %d accounts", activated.Epoch.ID, len(activated.Accounts))
	if _, err := a.Ledger.ReleaseBarrierSet(ctx, a.at, activated); err != nil {
		return errors.Wrap(err, "activate: the readback")
	}
	return a.openOwners(ctx, serving.Owners()...)
}

// openOwners opens these owners' barriers for an attempt whose set is released: as many as answer, whatever one of them
// says.
func (a attempt) openOwners(ctx context.Context, at ...serving.Owner) error {
	var all error
	for _, owner := range at {
		if err := a.Owners.Barrier(owner).Release(ctx, a.ask()); err != nil {
			all = errors.CombineErrors(all, a.refuseBarrier(owner, err))
		}
	}
	return all
}
