package facts

import "time"

// Clock is the only way in which this project learns the time of its own machine.
//
// It may delay work, measure it, put a time into a log and raise an alert. It may never permit: no fence is opened,
// no permit closed, no lease taken over and no deadline declared past because this clock said so. Due times are
// ordered by the database's clock, which all processes share, and safety is proved from rows.
type Clock interface {
	// Now is the present, with a monotonic reading: the difference of two of its values is not moved by a step of
	// the wall clock.
	Now() time.Time

	// Alarm rings once, no sooner than delay from now; a delay of zero or less rings at once. The caller calls stop
	// when it no longer listens, after which the channel may stay silent for ever. Stop may be called twice.
	Alarm(delay time.Duration) (ring <-chan time.Time, stop func())
}

// SystemClock is the machine's clock. This file is the only place that may ask for it.
type SystemClock struct{}

// Now is the machine's time.
func (SystemClock) Now() time.Time { return time.Now() }

// Alarm rings by a timer of the Go runtime.
func (SystemClock) Alarm(delay time.Duration) (<-chan time.Time, func()) {
	timer := time.NewTimer(delay)
	return timer.C, func() { timer.Stop() }
}
