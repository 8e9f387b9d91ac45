package main

import (
	"context"
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// keeper keeps a daemon running, and kills it when it is told to.
type keeper struct {
	deployment *deployment
	books      *books
	sender     *sender
	defects    defects
	say        func(string, ...any)

	daemon *process
	at     addresses
	dead   map[facts.HolderID]bool // the daemons that were killed, by what their claims name
	kills  int
}

// start starts a daemon and opens the provider's door to it.
func (k *keeper) start(ctx context.Context) (err error) {
	if k.daemon, k.at, err = k.deployment.daemon(ctx, k.defects); err != nil {
		return err
	}
	k.sender.door.open(k.at.Door)
	return nil
}

// end ends the daemon that runs, if one does.
func (k *keeper) end() {
	if k.daemon != nil {
		k.daemon.end()
	}
}

// killing kills the daemon at two points of a run of so many parcels, and starts it again. Enough of them are left after
// the second point for a moment at which everything is under way.
func (k *keeper) killing(ctx context.Context, parcels int) error {
	for _, at := range []int64{int64(parcels) / 4, int64(parcels) / 2} {
		if err := k.caught(ctx, at); err != nil {
			return err
		}
		k.sender.door.shut()
		if err := k.daemon.kill(); err != nil {
			return err
		}
		k.kills++
		if err := k.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// caught stops the daemon at a moment when deliveries are without an answer and executions are claimed, so that the kill
// that follows falls into the middle of both.
func (k *keeper) caught(ctx context.Context, answered int64) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second, errors.New("no moment came at which a delivery was unanswered and an execution claimed"))
	defer cancel()
	for {
		if err := k.alive(); err != nil {
			return err
		}
		if k.sender.answered.Load() >= answered {
			if err := k.daemon.pause(); err != nil {
				return errors.Wrap(err, "stopping the daemon")
			}
			claimed, by, err := k.claimed(ctx)
			if unanswered := k.sender.unanswered.Load(); err == nil && unanswered > 0 && claimed > 0 {
				k.dead[by] = true
				k.say("killing the daemon: %d deliveries have no answer yet, %d executions are claimed", unanswered, claimed)
				return nil
			}
			if err := errors.CombineErrors(err, k.daemon.resume()); err != nil {
				return err
			}
		}
		if err := pauseFor(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// putBy waits until the application has put an input by, as the planted disorder makes it do.
func (k *keeper) putBy(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the application never saw the first input of the record whose disorder is planted"))
	defer cancel()
	for {
		if n, err := k.books.postponed(ctx); err != nil || n > 0 {
			return err
		}
		if err := pauseFor(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// claimed is how many executions the daemon that lives has in its hands, and under which name.
func (k *keeper) claimed(ctx context.Context) (n int, by facts.HolderID, err error) {
	claims, err := k.books.claimed(ctx)
	for holder, count := range claims {
		if !k.dead[holder] {
			n, by = count, holder
		}
	}
	return n, by, err
}

// watch waits until the sending is over, or the daemon has ended by itself.
func (k *keeper) watch(sent <-chan struct{}) error {
	select {
	case <-sent:
		return nil
	case <-k.daemon.ended:
		return k.alive()
	}
}

// alive tells why the daemon is not, if it ended by itself.
func (k *keeper) alive() error {
	select {
	case <-k.daemon.ended:
		return errors.Newf("the daemon has ended by itself (%v); its last words were: %s", k.daemon.how, k.daemon.lastWords())
	default:
		return nil
	}
}
