package activate

import (
	"context"
	"fmt"

	"connectorcore/machines"
	"connectorcore/readers"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Stands is where a deployment stands on its way to serving, as it was read; nothing was locked.
type Stands struct {
	Epochs []Epoch                                     // those that are not terminal
	Gates  map[machines.AccountServingGateState]uint64 // how many accounts stand in each state
	Open   *Set                                        // the barrier set that is not released
}

// Stands reads where the deployment stands.
func (c *Coordinator) Stands(ctx context.Context) (s Stands, err error) {
	if s.Epochs, err = c.epochs(ctx); err != nil {
		return s, err
	}
	gates, err := readers.Standings(ctx, c.Reader, schema.Gates)
	if err != nil {
		return s, errors.Wrap(err, "activate: gates")
	}
	s.Gates = map[machines.AccountServingGateState]uint64{}
	for _, gate := range gates {
		s.Gates[gate.State]++
	}
	sets, err := c.sets(ctx)
	for _, set := range sets {
		if set.State != machines.ServingPublicationBarrierSetReleased {
			s.Open = &set
		}
	}
	return s, err
}

// in is the first epoch in a state.
func (s Stands) in(state machines.ServingEpochState) (Epoch, bool) {
	for _, epoch := range s.Epochs {
		if epoch.State == state {
			return epoch, true
		}
	}
	return Epoch{}, false
}

// Says tells a person in two sentences what stands and what comes next.
func (s Stands) Says() (stands, next string) {
	if s.Open != nil {
		if s.Open.State == machines.ServingPublicationBarrierSetActivationCommitted {
			return fmt.Sprintf("attempt %s has activated, and was not read back yet", s.Open.Attempt), "activate again: it reads back and opens the owners; nothing takes the activation back"
		}
		return fmt.Sprintf("attempt %s is open, its barrier set %s, and no owner may publish", s.Open.Attempt, s.Open.State), "activate again, which goes on with it, or abort it"
	}
	for _, one := range []struct {
		state machines.ServingEpochState
		says  string
		next  string
	}{
		{machines.ServingEpochActive, "the deployment serves under epoch %s", "nothing: what is published now takes effect with a successor epoch"},
		{machines.ServingEpochVerified, "epoch %s is verified, and nothing serves", "activate it"},
		{machines.ServingEpochPrepared, "epoch %s is prepared, and nothing serves", "verify it, then activate it"},
	} {
		if epoch, is := s.in(one.state); is {
			return fmt.Sprintf(one.says, epoch.Epoch.ID), one.next
		}
	}
	return "no epoch is prepared, and nothing serves", "publish a configuration, then activate"
}
