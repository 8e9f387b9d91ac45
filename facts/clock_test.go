package facts

import (
	"testing"
	"time"
)

func TestClockDifferencesAreNeverNegative(t *testing.T) {
	var clock Clock = SystemClock{}
	first := clock.Now()
	if elapsed := clock.Now().Sub(first); elapsed < 0 {
		t.Fatalf("the clock ran back by %v", -elapsed)
	}
}

func TestAlarmRingsAtOnceForAPastTimeAndNotBeforeAFutureOne(t *testing.T) {
	clock := SystemClock{}
	for _, delay := range []time.Duration{-time.Hour, 0, time.Millisecond} {
		start := clock.Now()
		ring, stop := clock.Alarm(delay)
		<-ring
		if elapsed := clock.Now().Sub(start); elapsed < delay {
			t.Errorf("an alarm of %v rang after %v", delay, elapsed)
		}
		stop()
		stop()
	}
}

func TestStoppedAlarmStaysSilent(t *testing.T) {
	ring, stop := SystemClock{}.Alarm(time.Hour)
	stop()
	select {
	case <-ring:
		t.Fatal("a stopped alarm rang")
	default:
	}
}
