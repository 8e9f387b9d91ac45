package main

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
)

// senders is how many deliveries the provider has under way at once.
const senders = 8

// door is where the daemon can be reached, or nowhere while it is dead.
type door struct {
	mu      sync.Mutex
	address string
	opened  chan struct{}
}

func newDoor() *door { return &door{opened: make(chan struct{})} }

func (d *door) open(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.address = address
	close(d.opened)
}

func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened = make(chan struct{})
}

// find waits for an open door.
func (d *door) find(ctx context.Context) (string, error) {
	d.mu.Lock()
	opened := d.opened
	d.mu.Unlock()
	select {
	case <-opened:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.address, nil
}

// sender plays the provider. What gets no answer is sent again until it has one.
type sender struct {
	door       *door
	client     *http.Client
	unanswered atomic.Int64 // requests that are under way
	answered   atomic.Int64 // parcels that have their answer
	again      atomic.Int64 // sendings that got no answer
}

func newSender() *sender {
	return &sender{door: newDoor(), client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: senders}}}
}

// sendAll sends the parcels and returns when each has its answer.
func (s *sender) sendAll(ctx context.Context, parcels []*parcel) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan *parcel)
	var running sync.WaitGroup
	for range senders {
		running.Go(func() {
			for one := range queue {
				if err := s.deliver(ctx, one); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, one := range parcels {
		queue <- one // the senders take all, also after a failure
	}
	close(queue)
	running.Wait()
	return context.Cause(ctx)
}

// deliver sends one parcel until it is taken in or refused for good.
func (s *sender) deliver(ctx context.Context, one *parcel) error {
	for {
		address, err := s.door.find(ctx)
		if err != nil {
			return err
		}
		request, err := one.request(ctx, address)
		if err != nil {
			return err
		}
		wait, err := s.send(request, one)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil: // the daemon was killed
			s.again.Add(1)
			wait = 50 * time.Millisecond
		case wait == 0:
			s.answered.Add(1)
			return nil
		}
		if err := pauseFor(ctx, wait); err != nil {
			return err
		}
	}
}

// mostWait bounds how long the provider waits when it is told to come again: it is an impatient one.
const mostWait = time.Second

// send notes the answer, or says when to come again.
func (s *sender) send(request *http.Request, one *parcel) (time.Duration, error) {
	s.unanswered.Add(1)
	defer s.unanswered.Add(-1)
	answer, err := s.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	if answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= 500 {
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return min(mostWait, time.Duration(max(1, seconds))*time.Second), nil
	}
	var problem struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal(body, &problem); err != nil {
		return 0, errors.Wrap(err, "an answer of the door")
	}
	one.status, one.code = answer.StatusCode, problem.Code
	return 0, nil
}

// pauseFor waits in a poll.
func pauseFor(ctx context.Context, wait time.Duration) error {
	ring, stop := clock.Alarm(wait)
	defer stop()
	select {
	case <-ring:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
