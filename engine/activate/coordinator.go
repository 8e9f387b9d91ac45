package activate

import (
	"context"
	"fmt"
	"io"
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

// Witness is what remembers outside the database how far each account came.
type Witness interface {
	// Stand begins the witness of a deployment that never served, or opens the one that was begun and finds that it is of
	// this deployment and that the database is not behind it. It is this process's until it is closed.
	Stand(of facts.DeploymentID) (io.Closer, error)
}

// Parts are what a Coordinator works with. All of them are needed, but for Witness by who activates nothing.
type Parts struct {
	Ledger     *ledger.Ledger
	Reader     *readers.Reader
	Owners     owners.Set
	Deployment serving.Founded
	Witness    Witness
	Principal  facts.OwnerName // who attests that there is no predecessor
	Reason     facts.OwnerName // why, as one line
	// Serves tells why a content whose parts fit each other cannot serve, nil if it can: what its definitions mean is not
	// this room's to read. It is a function of what it is given, so that every process judges alike.
	Serves func(candidate serving.Candidate, opened owners.Frozen) error
	// Say is told each step in one sentence, before it is taken or when it was found done.
	Say func(sentence string)
}

// Coordinator carries out the steps to a serving epoch. Any number may work on one deployment at once: what they do is
// fenced, and of two attempts one is refused.
type Coordinator struct {
	Parts
	author serving.Author
}

// Open makes a Coordinator.
func Open(p Parts) (*Coordinator, error) {
	author, err := serving.AuthorOf(facts.ProfileV2)
	if err != nil {
		return nil, err
	}
	if p.Ledger == nil || p.Reader == nil || p.Serves == nil || p.Say == nil || p.Deployment.Scope.IsZero() {
		return nil, errors.AssertionFailedf("a coordinator without a ledger, a reader, a deployment, a judge of definitions or somebody to tell")
	}
	for _, owner := range serving.Owners() {
		if p.Owners.Barrier(owner) == nil {
			return nil, errors.AssertionFailedf("a coordinator without the port of %s", owner)
		}
	}
	return &Coordinator{p, author}, nil
}

func (c *Coordinator) say(format string, args ...any) { c.Say(fmt.Sprintf(format, args...)) }

// Wanted is what an epoch is to freeze: an exact configuration generation under the Catalog's current view.
type Wanted struct {
	Configuration facts.ServiceConfigurationGeneration
	Least         serving.Revision // the view must be of this lineage and at least so far
}

// Prepare prepares an epoch of what the owners have now. If one of exactly that is prepared, verified or active, it is
// this one, and nothing changes: who was interrupted finds his own.
//
// Refuses: OwnerUnavailable, SubjectMissing (an owner has not what is wanted), GenerationMalformed (what it has does not
// fit).
func (c *Coordinator) Prepare(ctx context.Context, wanted Wanted) (ledger.EpochStanding, error) {
	reading := owners.Read(ctx, c.Owners, owners.Question{Scope: c.Deployment.Scope, Least: wanted.Least, Configuration: wanted.Configuration})
	if fault := reading.Fault; !fault.IsZero() {
		return ledger.EpochStanding{}, c.refusePreparation(wanted, fault)
	}
	same, found, err := c.same(ctx, reading)
	switch {
	case err != nil:
		return ledger.EpochStanding{}, err
	case found:
		c.say("epoch %s froze exactly this before: it is %s", same.Epoch.ID, same.State)
		return same, nil
	}
	content := contentOf(reading, facts.Mint[facts.EpochID]())
	if err := c.Serves(content.Candidate, reading.Opened); err != nil {
		return ledger.EpochStanding{}, errors.Wrap(err, "activate: an epoch of what the owners have cannot serve")
	}
	c.say("preparing epoch %s: %d bindings, %d credential generations, %d accounts", content.Candidate.Epoch, len(content.Candidate.Bindings), len(content.Configured), len(content.Accounts))
	standing, err := c.Ledger.PrepareEpoch(ctx, content)
	return standing, errors.Wrap(err, "activate: preparation")
}

func contentOf(r owners.Reading, epoch facts.EpochID) ledger.EpochContent {
	return ledger.EpochContent{Candidate: r.Candidate(epoch), Configured: r.Configured, Accounts: r.Accounts}
}

func (c *Coordinator) refusePreparation(wanted Wanted, fault owners.Fault) error {
	where := facts.OfInput("configuration generation " + wanted.Configuration.String())
	switch fault.Standing {
	case owners.Absent:
		return facts.Refuse(facts.SubjectMissing, facts.OfGeneration(fault.Owner.String()+" "+fault.Name.String(), c.author.Generation(c.Deployment.Scope, fault.Owner, fault.Name).Digest), "an epoch of configuration generation %s would freeze it", wanted.Configuration)
	case owners.Found:
		return facts.Refuse(facts.GenerationMalformed, where, "%s", fault)
	}
	return c.unavailable(where, fault)
}

// unavailable keeps the cause for whoever looks deeper.
func (c *Coordinator) unavailable(about facts.Subject, fault owners.Fault) error {
	return errors.WithSecondaryError(facts.Refuse(facts.OwnerUnavailable, about, "%s", fault), fault.Cause)
}

// same is the epoch that froze exactly what was read and may still serve, the furthest of them.
func (c *Coordinator) same(ctx context.Context, reading owners.Reading) (ledger.EpochStanding, bool, error) {
	epochs, err := c.epochs(ctx)
	if err != nil {
		return ledger.EpochStanding{}, false, err
	}
	author, err := facts.ProfileV2.Author()
	if err != nil {
		return ledger.EpochStanding{}, false, err
	}
	for _, state := range []machines.ServingEpochState{machines.ServingEpochActive, machines.ServingEpochVerified, machines.ServingEpochPrepared} {
		for _, e := range epochs {
			id := e.Epoch.ID
			if e.State != state || e.Frozen.Configuration.Generation != reading.Generation() || e.Fact.Profile != facts.ProfileV2 {
				continue
			}
			if c.author.Epoch(reading.Candidate(id)).Digest == e.Epoch.Digest && author.ShareSet(id, reading.Accounts) == e.Fact.SharesDigest {
				return e.EpochStanding, true, nil
			}
		}
	}
	return ledger.EpochStanding{}, false, nil
}

// Epoch is one epoch as it stands.
type Epoch struct {
	ledger.EpochStanding
	Fact   facts.ServingEpoch
	Frozen serving.EpochAttestation
}

// epochs are all epochs that are not terminal, in the order of their ids.
func (c *Coordinator) epochs(ctx context.Context) ([]Epoch, error) {
	guards, err := readers.Standings(ctx, c.Reader, schema.Epochs)
	if err != nil {
		return nil, errors.Wrap(err, "activate: epochs")
	}
	guards = slices.DeleteFunc(guards, func(g readers.Guard[facts.EpochGuard, machines.ServingEpochState]) bool { return g.State.Terminal() })
	all := make([]Epoch, len(guards))
	for i, guard := range guards {
		if all[i], err = c.epoch(ctx, guard); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c *Coordinator) epoch(ctx context.Context, guard readers.Guard[facts.EpochGuard, machines.ServingEpochState]) (Epoch, error) {
	id := guard.Row.Epoch
	fact, known, err := readers.One(ctx, c.Reader, schema.ServingEpochs, func(e *facts.ServingEpoch) { e.ID = id })
	if err != nil {
		return Epoch{}, errors.Wrapf(err, "activate: epoch %s", id)
	}
	frozen, complete, err := readers.One(ctx, c.Reader, schema.EpochAttestations, func(a *serving.EpochAttestation) { a.Epoch = id })
	switch {
	case err != nil:
		return Epoch{}, errors.Wrapf(err, "activate: epoch %s", id)
	case !known || !complete:
		return Epoch{}, errors.AssertionFailedf("epoch %s has a guard, and no birth or no attestation", id)
	}
	standing := ledger.EpochStanding{Epoch: facts.EpochRef{ID: id, Digest: fact.Digest}, State: guard.State, Fence: guard.Fence}
	return Epoch{standing, fact, frozen}, nil
}

// named is the epoch of an exact reference.
//
// Refuses: SubjectMissing, EpochMismatch.
func (c *Coordinator) named(ctx context.Context, ref facts.EpochRef) (Epoch, error) {
	guard, born, err := readers.Standing(ctx, c.Reader, schema.Epochs, ref.ID)
	switch {
	case err != nil:
		return Epoch{}, errors.Wrapf(err, "activate: epoch %s", ref.ID)
	case !born:
		return Epoch{}, facts.Refuse(facts.SubjectMissing, facts.OfEpoch(ref.ID), "it was never prepared here")
	}
	epoch, err := c.epoch(ctx, guard)
	if err == nil && epoch.Epoch != ref {
		err = facts.Refuse(facts.EpochMismatch, facts.OfEpoch(ref.ID), "it was prepared with digest %s, and %s was named", epoch.Epoch.Digest, ref.Digest)
	}
	return epoch, err
}

// Verify asks every owner anew for what a prepared epoch froze. If all of it is there, byte for byte, the epoch is
// verified; if something is absent or differs, it is rejected, and the cause names owner and generation. An epoch that
// was verified before is judged again.
//
// Refuses: OwnerUnavailable (the epoch stays where it is), SubjectMissing, EpochMismatch, and what JudgeEpoch refuses.
func (c *Coordinator) Verify(ctx context.Context, ref facts.EpochRef) (ledger.Judged, error) {
	epoch, err := c.named(ctx, ref)
	if err != nil {
		return ledger.Judged{}, err
	}
	c.say("asking every owner again for what epoch %s froze", ref.ID)
	judgement, err := c.judgement(ctx, epoch)
	if err != nil {
		return ledger.Judged{EpochStanding: epoch.EpochStanding}, err
	}
	return c.judge(ctx, judgement)
}

func (c *Coordinator) judge(ctx context.Context, judgement ledger.Judgement) (ledger.Judged, error) {
	judged, err := c.Ledger.JudgeEpoch(ctx, judgement)
	switch {
	case err != nil:
		return judged, errors.Wrap(err, "activate: judgement")
	case judged.Cause != nil:
		c.say("epoch %s is rejected: %s", judged.Epoch.ID, judged.Cause.Detail)
	default:
		c.say("epoch %s is %s: every owner has exactly what it froze", judged.Epoch.ID, judged.State)
	}
	return judged, nil
}

// judgement reads every owner afresh. Nothing of the epoch flows into it but what a Question has.
//
// Refuses: OwnerUnavailable.
func (c *Coordinator) judgement(ctx context.Context, epoch Epoch) (ledger.Judgement, error) {
	reading := owners.Read(ctx, c.Owners, owners.Question{Scope: c.Deployment.Scope, Least: epoch.Frozen.Catalog.Revision, Configuration: epoch.Frozen.Configuration.Generation})
	judgement := ledger.Judgement{Epoch: epoch.Epoch}
	switch fault := reading.Fault; {
	case fault.IsZero():
		judgement.Found = contentOf(reading, epoch.Epoch.ID)
		if err := c.Serves(judgement.Found.Candidate, reading.Opened); err != nil {
			judgement.Found, judgement.Differs = ledger.EpochContent{}, "it cannot serve: "+err.Error()
		}
	case fault.Standing == owners.Absent:
		judgement.Absent = ledger.GenerationName{Owner: fault.Owner, Name: fault.Name}
	case fault.Standing == owners.Found:
		judgement.Differs = fault.String()
	default:
		return judgement, c.unavailable(facts.OfEpoch(epoch.Epoch.ID), fault)
	}
	return judgement, nil
}

// Advance takes every step that is left until the deployment serves: prepare, verify, activate. If it serves already, what
// an earlier process left behind is cleared away, and nothing else is prepared: that takes effect with a successor epoch.
// An answer with a cause is a rejection.
//
// Refuses: what Prepare, Verify and Activate refuse.
func (c *Coordinator) Advance(ctx context.Context, wanted Wanted) (ledger.Judged, error) {
	stands, err := c.Stands(ctx)
	if err != nil {
		return ledger.Judged{}, err
	}
	if epoch, serves := stands.in(machines.ServingEpochActive); serves {
		return c.Activate(ctx, epoch.Epoch)
	}
	standing, err := c.Prepare(ctx, wanted)
	if err != nil {
		return ledger.Judged{}, err
	}
	if standing.State == machines.ServingEpochPrepared {
		judged, err := c.Verify(ctx, standing.Epoch)
		if err != nil || judged.Cause != nil {
			return judged, err
		}
	}
	return c.Activate(ctx, standing.Epoch)
}
