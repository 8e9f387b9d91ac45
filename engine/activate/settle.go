package activate

import (
	"context"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/machines"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Set is one attempt's barrier set as it stands.
type Set struct {
	ID      facts.BarrierSetID
	Attempt facts.ActivationAttemptID
	Holder  facts.Fence // of its present coordinator
	State   machines.ServingPublicationBarrierSetState
}

// sets are all barrier sets of the deployment's scope.
func (c *Coordinator) sets(ctx context.Context) ([]Set, error) {
	// In this order: whoever has a guard was born before.
	guards, err := readers.Standings(ctx, c.Reader, schema.BarrierSets)
	if err != nil {
		return nil, errors.Wrap(err, "activate: barrier sets")
	}
	births, err := readers.Whole(ctx, c.Reader, schema.ServingPublicationBarrierSets)
	if err != nil {
		return nil, errors.Wrap(err, "activate: barrier sets")
	}
	var all []Set
	for _, guard := range guards {
		at := slices.IndexFunc(births, func(s facts.ServingPublicationBarrierSet) bool { return s.ID == guard.Row.BarrierSet })
		switch {
		case at < 0:
			return nil, errors.AssertionFailedf("barrier set %s has a guard and no birth", guard.Row.BarrierSet)
		case births[at].Scope == c.Deployment.Scope.Digest:
			all = append(all, Set{births[at].ID, births[at].Attempt, guard.Row.Holder, guard.State})
		}
	}
	return all, nil
}

// settle reads back and releases an activation that was committed, which has only one way to go on, and gives the set that
// stands open before a commit, if there is one.
func (c *Coordinator) settle(ctx context.Context) (*Set, error) {
	sets, err := c.sets(ctx)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		switch set.State {
		case machines.ServingPublicationBarrierSetReleased:
		case machines.ServingPublicationBarrierSetActivationCommitted:
			_, err := c.endOpen(ctx, set)
			return nil, err
		default:
			return &set, nil
		}
	}
	return nil, nil
}

// openEnded opens these owners for every attempt that is over: one of them may have died between the release of its set
// and that of its owners. Nobody can tell from here whether they are open already, and it changes nothing if they are. Any
// process may do it, with the last fence of the attempt: an attempt whose set is released has nothing else to do at an
// owner, whoever asks. It costs a request an owner for each attempt that ever was, so it is for whoever met a barrier, or
// was asked to clear away.
func (c *Coordinator) openEnded(ctx context.Context, at ...serving.Owner) error {
	sets, err := c.sets(ctx)
	if err != nil {
		return err
	}
	var all error
	for _, set := range sets {
		if set.State == machines.ServingPublicationBarrierSetReleased {
			all = errors.CombineErrors(all, attempt{c, c.coordinatorOf(set)}.openOwners(ctx, at...))
		}
	}
	return all
}

func (c *Coordinator) coordinatorOf(set Set) ledger.Coordinator {
	return ledger.Coordinator{Set: set.ID, Scope: c.Deployment.Scope, Attempt: set.Attempt, Fence: set.Holder}
}

// takeOver makes this process the coordinator of a set that another one opened, and tells where the set stood then.
func (c *Coordinator) takeOver(ctx context.Context, set Set) (attempt, machines.ServingPublicationBarrierSetState, error) {
	at, standing, err := c.Ledger.TakeOverBarrierSet(ctx, c.coordinatorOf(set))
	if err == nil {
		c.say("taking over barrier set %s, which is %s, under fence %d", set.ID, standing.State, at.Fence)
	}
	return attempt{c, at}, standing.State, errors.Wrap(err, "activate: the take-over")
}

// activated is the epoch that is active, with its accounts. Which one an attempt activated is not believed from here: the
// set's own ledger must name it, or the readback is refused. None is the zero Activated.
func (c *Coordinator) activated(ctx context.Context) (ledger.Activated, error) {
	epochs, err := c.epochs(ctx)
	if err != nil {
		return ledger.Activated{}, err
	}
	for _, epoch := range epochs {
		if epoch.State == machines.ServingEpochActive {
			accounts, err := c.accounts(ctx, epoch.Epoch)
			return ledger.Activated{Epoch: epoch.Epoch, Accounts: accounts}, err
		}
	}
	return ledger.Activated{}, nil
}

// Ending is what Abort did.
type Ending uint8

// The endings.
const (
	// NothingOpen: no attempt stood open.
	NothingOpen Ending = iota + 1
	// GivenUp: the attempt was released, and every gate stands where it stood.
	GivenUp
	// Finished: the activation was committed, which nothing takes back; it was read back and released.
	Finished
)

// Abort gives up the attempt that stands open, and opens the owners again, also those that an ended attempt left behind.
// An activation that was committed is not taken back: it is finished.
//
// Unknown, or interrupted: abort again.
func (c *Coordinator) Abort(ctx context.Context) (Ending, error) {
	ending := NothingOpen
	sets, err := c.sets(ctx)
	if err != nil {
		return ending, err
	}
	for _, set := range sets {
		if set.State != machines.ServingPublicationBarrierSetReleased {
			if ending, err = c.endOpen(ctx, set); err != nil {
				return ending, err
			}
		}
	}
	return ending, c.openEnded(ctx, serving.Owners()...)
}

// endOpen ends one set that was not released when it was seen, by where it stands once it is taken over.
func (c *Coordinator) endOpen(ctx context.Context, set Set) (Ending, error) {
	a, state, err := c.takeOver(ctx, set)
	switch {
	case errors.Is(err, facts.SubjectEnded): // another process has released it since
		return NothingOpen, attempt{c, c.coordinatorOf(set)}.openOwners(ctx, serving.Owners()...)
	case err != nil:
		return 0, err
	case state != machines.ServingPublicationBarrierSetActivationCommitted:
		return GivenUp, a.giveUp(ctx) // nobody else can commit it any more
	}
	activated, err := c.activated(ctx)
	if err != nil {
		return 0, err
	}
	return Finished, a.readBack(ctx, activated)
}

// maxClearances bounds how often an urgent revocation tries: for another time somebody must have begun a new attempt.
const maxClearances = 5

// RevokeUrgently revokes credential generations although an attempt may hold the publication barriers. One that has
// committed nothing is given up first; one that has is read back and released first. The barriers are never passed by.
//
// Refuses: per move, what RevokeCredentials refuses; PublicationBarred if the way could not be cleared, then with the error
// of what could not.
//
// Unknown, or interrupted: revoke again; what was revoked is found.
//
// Spec: Ownership boundaries ("an urgent credential-revocation request aborts the attempt and releases the barrier before
// applying the revocation").
func (c *Coordinator) RevokeUrgently(ctx context.Context, moves []ledger.CredentialMove) (verdicts []ledger.CredentialVerdict, err error) {
	var left error
	for range maxClearances {
		if verdicts, err = c.Ledger.RevokeCredentials(ctx, moves); err != nil {
			return nil, errors.Wrap(err, "activate: an urgent revocation")
		}
		if !barred(verdicts) {
			return verdicts, nil
		}
		c.say("an attempt holds the credential authority's barrier; ending the attempt first")
		if _, left = c.Abort(ctx); left != nil {
			c.say("what the attempt left is not cleared away whole: %v", left) // perhaps enough for a revocation
		}
	}
	return verdicts, left
}

func barred(verdicts []ledger.CredentialVerdict) bool {
	return slices.ContainsFunc(verdicts, func(v ledger.CredentialVerdict) bool {
		return v.Refusal != nil && v.Refusal.Code == facts.PublicationBarred
	})
}
