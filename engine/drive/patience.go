package drive

import (
	"sync"
	"time"

	"connectorcore/facts"
)

// The pauses of what could not be done: the first one, and the longest.
const (
	pauseFirst = time.Second
	pauseMost  = time.Minute
	pausesMost = 10000 // subjects; a process that knows of more forgets them all, and asks again
)

// patience leaves subjects alone for a while that could not be moved on: an account that does not serve, an epoch that
// cannot be opened, a Receipt that is refused. It is a hint of one process, and delays only.
type patience struct {
	clock facts.Clock

	mutex sync.Mutex
	waits map[[16]byte]wait
}

type wait struct {
	until time.Time
	pause time.Duration
}

func newPatience(clock facts.Clock) *patience {
	return &patience{clock: clock, waits: map[[16]byte]wait{}}
}

// due tells whether a subject may be tried.
func (p *patience) due(id [16]byte) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	one, waits := p.waits[id]
	return !waits || !p.clock.Now().Before(one.until)
}

// later leaves a subject alone, each time twice as long as the last.
func (p *patience) later(id [16]byte) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.waits) >= pausesMost {
		clear(p.waits)
	}
	now, one := p.clock.Now(), p.waits[id]
	if now.Before(one.until) {
		return // it was not tried since
	}
	one.pause = min(max(2*one.pause, pauseFirst), pauseMost)
	one.until = now.Add(one.pause)
	p.waits[id] = one
}

// well forgets that a subject ever failed.
func (p *patience) well(id [16]byte) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.waits, id)
}
