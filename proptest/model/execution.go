package model

// claim gives the next attempt of an execution to one holder, if nobody has it. Who has it is told so again.
func (t *turn) claim(i int, item Item) {
	ask := item.Claim
	if ask == nil {
		return
	}
	before, e := t.before[ask.Execution], t.executions[ask.Execution]
	switch {
	case ask.Stale:
		t.refuse(i, StaleFence)
	case before.ended != "":
		t.refuse(i, SubjectEnded)
	case t.changed[ask.Execution]:
		t.refuse(i, LeaseHeld)
	case !before.due && before.holder == ask.Holder:
	case !before.due:
		t.refuse(i, LeaseHeld)
	default:
		t.changed[ask.Execution] = true
		e.attempt, e.holder, e.due = e.attempt+1, ask.Holder, false
		e.attempts = append(e.attempts, ask.Holder)
	}
}

// end lets an execution go whose attempt brought nothing. How an attempt ended that another one has overtaken is kept, and
// lets nothing go (R27, R45).
func (t *turn) end(i int, item Item) {
	ask := item.End
	if ask == nil {
		return
	}
	before, e := t.before[ask.Execution], t.executions[ask.Execution]
	switch {
	case before.ended != "":
		t.refuse(i, SubjectEnded)
	case before.attempt == ask.Attempt && before.holder == "":
	case before.attempt != ask.Attempt || before.holder != ask.Holder || t.changed[ask.Execution]:
		t.refuse(i, StaleHolder)
		if ask.Attempt < e.attempt && e.attempts[ask.Attempt-1] == ask.Holder && e.ends[ask.Attempt] == "" {
			e.ends[ask.Attempt] = ask.Holder
		}
	default:
		t.changed[ask.Execution] = true
		e.ends[ask.Attempt] = ask.Holder
		e.holder, e.due = "", !ask.Later
	}
}

// complete ends an execution by the Runtime's receipt, once, and only then does its lane move.
func (t *turn) complete(i int, item Item) {
	ask := item.Complete
	if ask == nil {
		return
	}
	e := t.executions[ask.Execution]
	receipt := ask.Receipt + " " + ask.outcome()
	switch {
	case e == nil:
		t.refuse(i, SubjectMissing)
	case e.ended != "" && e.ended != receipt:
		t.refuse(i, ResultContradicts)
	case e.ended == "" && t.changed[ask.Execution]:
		t.refuse(i, WrongState)
	case e.ended == "":
		e.ended, e.outcome = receipt, ask.outcome()
		if l := t.lanes[t.inputs[ask.Execution].lane]; l != nil {
			l.release(ask.Failed)
		}
	}
	lane := ""
	if e != nil {
		lane = t.inputs[ask.Execution].lane
	}
	if next := ask.Next; lane != "" && next != nil && t.took.Verdicts[i].Refusal == "" && !next.Stale {
		t.moves[lane].by(next.Holder)
	}
}

func (c *Completion) outcome() string {
	if c.Failed {
		return "failed"
	}
	return "applied"
}

// Lapse lets the time of executions come that somebody has, or that wait for their next attempt.
func (a *Account) Lapse(names ...string) {
	for _, name := range names {
		a.executions[name].due = true
	}
}
