package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Lines say everything that stands, in an order of their own.
func (a *Account) Lines() (lines []string) {
	say := func(form string, args ...any) {
		lines = append(lines, strings.TrimRight(fmt.Sprintf(form, args...), " "))
	}
	for name, r := range a.receipts {
		say("receipt %s %s", name, r.state)
		for ordinal, component := range r.components {
			say("component %s/%d %s", name, ordinal, component)
		}
		for body, answer := range r.redelivered {
			say("redelivery %s %s %s", name, body, answer)
		}
	}
	for key, e := range a.events {
		say("event %s %s %s/%d", key, e.Says, e.receipt, e.ordinal)
	}
	for name, i := range a.inputs {
		say("input %s %s %s", name, i.state, i.reason)
	}
	for name, l := range a.lanes {
		say("lane %s %s %s after %s", name, l.state, l.active, l.high)
	}
	for name, e := range a.executions {
		switch {
		case e.ended != "":
			say("execution %s completed %s", name, e.ended)
		case e.due:
			say("execution %s attempt %d of %s, due", name, e.attempt, e.holder)
		default:
			say("execution %s attempt %d of %s", name, e.attempt, e.holder)
		}
		for n, holder := range e.attempts {
			say("attempt %s#%d %s", name, n+1, holder)
		}
		for n := range e.ends {
			say("end %s#%d", name, n)
		}
	}
	slices.Sort(lines)
	return lines
}

func (p place) String() string {
	if p.at.absent() {
		return "nothing"
	}
	return fmt.Sprintf("%s/%s=%s", p.at, p.tie, p.says)
}

func (p Position) String() string { return fmt.Sprint(p.Kind, p.N) }

// Due are the waiting inputs that a lane which is free would take, and those of it that wait for a time to come: somebody must
// look at them soon, or at that time.
func (a *Account) Due() (soon, timed []string) {
	for _, name := range slices.Sorted(maps.Keys(a.inputs)) {
		i := a.inputs[name]
		if l := a.lanes[i.lane]; i.state == waiting && l.state == free {
			if l.claims(i) {
				soon = append(soon, name)
			} else if !i.passed {
				timed = append(timed, name)
			}
		}
	}
	return soon, timed
}

// The names of what stands, sorted, for a test that chooses among it.
type Names struct {
	Keys, Pending  []string
	Open, Ended    []string // executions
	Waiting, Lanes []string
}

// Names gives them.
func (a *Account) Names() (n Names) {
	n.Keys, n.Lanes = slices.Sorted(maps.Keys(a.keys)), slices.Sorted(maps.Keys(a.lanes))
	for _, name := range slices.Sorted(maps.Keys(a.receipts)) {
		if a.receipts[name].state == pending {
			n.Pending = append(n.Pending, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.executions)) {
		if a.executions[name].ended == "" {
			n.Open = append(n.Open, name)
		} else {
			n.Ended = append(n.Ended, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.inputs)) {
		if a.inputs[name].state == waiting {
			n.Waiting = append(n.Waiting, name)
		}
	}
	return n
}

// LaneOf is the lane of an input, empty if it needs none.
func (a *Account) LaneOf(input string) string { return a.inputs[input].lane }

// Attempt is the last attempt of an execution, and who made it.
func (a *Account) Attempt(name string) (ordinal int, holder string) {
	e := a.executions[name]
	if len(e.attempts) == 0 {
		return 0, ""
	}
	return e.attempt, e.attempts[len(e.attempts)-1]
}

// AttemptOf tells who made an attempt.
func (a *Account) AttemptOf(name string, ordinal int) string {
	return a.executions[name].attempts[ordinal-1]
}
