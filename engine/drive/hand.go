package drive

import (
	"context"
	"sync"
)

// hand is what this process works on, from before it asks for it until it knows what became of it. The sweep leaves that
// alone, however long it takes and whatever its lease says: no process runs one execution twice at once.
//
// It is bounded by who puts something in: what is beyond the bound stays in its rows.
type hand[K comparable] struct {
	most int
	room func() // called when there is room again for somebody who found none

	mutex  sync.Mutex
	held   map[K]bool
	wanted bool          // somebody found no room
	empty  chan struct{} // closed while nothing is held
}

func newHand[K comparable](most int, room func()) *hand[K] {
	h := &hand[K]{most: most, room: room, held: map[K]bool{}, empty: make(chan struct{})}
	close(h.empty)
	return h
}

// take puts something in, unless it is there.
func (h *hand[K]) take(k K) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.held[k] {
		return false
	}
	if len(h.held) == 0 {
		h.empty = make(chan struct{})
	}
	h.held[k] = true
	return true
}

func (h *hand[K]) drop(k K) {
	if h.dropped(k) {
		h.room()
	}
}

// dropped tells whether somebody waits for the room that there is now.
func (h *hand[K]) dropped(k K) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if !h.held[k] {
		return false
	}
	delete(h.held, k)
	if len(h.held) == 0 {
		close(h.empty)
	}
	calls := h.wanted && len(h.held) <= h.most/2
	h.wanted = h.wanted && !calls
	return calls
}

// full tells that more is better left to another process, or to later.
func (h *hand[K]) full() bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	none := len(h.held) >= h.most
	h.wanted = h.wanted || none
	return none
}

// wait returns when nothing is held, or with the context's end.
func (h *hand[K]) wait(ctx context.Context) error {
	h.mutex.Lock()
	empty := h.empty
	h.mutex.Unlock()
	select {
	case <-empty:
		return nil
	default:
	}
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
