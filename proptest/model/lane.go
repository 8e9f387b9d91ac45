package model

import "slices"

// Kind is a kind of ordering contract.
type Kind int

// The ordering contracts.
const (
	Independent Kind = iota
	Latest
	Strict
)

// Contract is what a route says of the order of its inputs.
type Contract struct {
	Kind  Kind
	First Position // of a strict sequence
	// Settles: an input of the latest position is ready only when its time has passed.
	Settles bool
	// GapHolds keeps what waits for a gap beyond its time; otherwise it is set aside.
	GapHolds bool
	// FailedAdvances lets a failed result move the lane like any other.
	FailedAdvances bool
}

// Position is a place in the order of a source. Positions of two kinds have no order; of which of them a lane begins with,
// the names of the kinds decide.
type Position struct {
	Kind string // empty if it is absent
	N    int
}

func (p Position) absent() bool { return p.Kind == "" }

// against tells where a position is, seen from another one of its kind.
func (p Position) against(other Position) (order int, comparable bool) {
	return p.N - other.N, p.Kind == other.Kind
}

// input is one input of the application. It waits in its lane until it is minted, superseded or quarantined, for ever.
type input struct {
	name, says, lane string
	at               Position
	tie              string
	follows          Position
	state, reason    string
	passed           bool // the time until which the lane waits for it is over
}

const (
	waiting     = "waiting"
	minted      = "minted"
	superseded  = "superseded"
	quarantined = "quarantined"
)

// place is where something stands in its lane, and what it says there.
type place struct {
	at        Position
	tie, says string
}

func (i *input) place() place { return place{i.at, i.tie, i.says} }

// lane is a partition under one route: the place that was completed last, and the one execution that has it.
type lane struct {
	contract Contract
	state    string // free, taken or held
	high     place
	active   string
	now      place // of the active one
}

const (
	free  = "free"
	taken = "taken"
	held  = "held"
)

// release: a result moves the lane, unless it failed and the route does not say that this is as good (R22).
func (l *lane) release(failed bool) {
	if failed && !l.contract.FailedAdvances {
		l.state = held
		return
	}
	l.state, l.high, l.active, l.now = free, l.now, "", place{}
}

// move is what the items of a turn have to do with one lane.
type move struct {
	standing lane            // as it stood when the turn began
	there    bool            // it was there
	ends     bool            // a completion names it
	named    map[string]bool // the inputs of it whose time may have come
	brought  map[string]bool
	anybody  bool // an item stands behind a decision
	claimer  string
}

func (m *move) by(holder string) {
	m.anybody = true
	if m.claimer == "" {
		m.claimer = holder
	}
}

func (t *turn) begin() {
	t.moves = map[string]*move{}
	for name, l := range t.lanes {
		t.moves[name] = &move{standing: *l, there: true, named: map[string]bool{}, brought: map[string]bool{}}
	}
	for _, item := range t.items {
		switch {
		case item.Complete != nil && t.inputs[item.Complete.Execution] != nil:
			if m := t.moves[t.inputs[item.Complete.Execution].lane]; m != nil {
				m.ends = true
			}
		case item.Advance != nil && t.moves[item.Advance.Lane] != nil:
			for _, name := range item.Advance.Due {
				t.moves[item.Advance.Lane].named[name] = true
			}
		}
	}
}

// enter puts an input into its lane, which is born with its first one (R24).
func (t *turn) enter(i *input, name string, contract Contract, holder string) {
	i.lane = name
	if t.lanes[name] == nil {
		t.lanes[name] = &lane{contract: contract, state: free}
		t.moves[name] = &move{named: map[string]bool{}, brought: map[string]bool{}}
	}
	t.moves[name].brought[i.name] = true
	t.moves[name].by(holder)
}

func (t *turn) advance(i int, item Item) {
	ask := item.Advance
	switch {
	case ask == nil:
	case ask.Stale:
		t.refuse(i, StaleFence)
	case t.moves[ask.Lane] == nil:
		t.refuse(i, SubjectMissing)
	default:
		t.moves[ask.Lane].by(ask.Holder)
	}
}

// decide moves every lane on behind which an item stands, after everything that the turn brings and completes.
func (t *turn) decide() {
	for name, m := range t.moves {
		if !m.anybody {
			continue
		}
		l, seen := t.lanes[name], t.looksAt(name, m)
		for _, i := range seen {
			l.compare(i)
		}
		if l.state == free && m.claimer != "" {
			if chosen := l.choose(seen, t.Rank); chosen != nil {
				l.state, l.active, l.now = taken, chosen.name, chosen.place()
				t.bear(chosen.name, m.claimer)
			}
		}
		for _, i := range seen {
			if i.state == waiting && m.named[i.name] {
				t.gap(l, i)
			}
		}
	}
}

// looksAt are the inputs that a decision sees: what the turn brings, what an item names, and of a lane that may be free all
// that waits, or what claims the place after the last one.
func (t *turn) looksAt(name string, m *move) (seen []*input) {
	free := m.there && (m.standing.state == free || m.standing.state == taken && m.ends)
	after := m.standing.high.at
	if m.standing.state == taken {
		after = m.standing.now.at
	}
	for _, i := range t.inputs {
		if i.lane != name || i.state != waiting {
			continue
		}
		if m.brought[i.name] || m.named[i.name] || free && (t.lanes[name].contract.Kind == Latest || i.follows == after) {
			seen = append(seen, i)
		}
	}
	return seen
}

func (i *input) end(state, reason string) { i.state, i.reason = state, reason }

// compare holds an input against what the lane has completed, or where its sequence begins. Nothing at or below that is ever
// applied: it is superseded, and set aside if it claims the very place and says something else there. In a sequence a place
// is a position, whatever breaks ties elsewhere.
func (l *lane) compare(i *input) {
	mark := l.high
	switch {
	case mark.at.absent() && l.contract.Kind == Latest:
		return
	case mark.at.absent():
		switch order, comparable := i.at.against(l.contract.First); {
		case !comparable:
			i.end(quarantined, "position_kinds_differ")
		case order < 0:
			i.end(superseded, "")
		}
		return
	}
	order, comparable := i.at.against(mark.at)
	above := order > 0
	if order == 0 && l.contract.Kind == Latest {
		above = i.tie > mark.tie
	}
	same := order == 0 && (l.contract.Kind == Strict || i.tie == mark.tie)
	switch {
	case !comparable:
		i.end(quarantined, "position_kinds_differ")
	case same && i.place() != mark:
		i.end(quarantined, "position_tied")
	case !above:
		i.end(superseded, "")
	}
}

// claims tells whether an input may have the free lane.
func (l *lane) claims(i *input) bool {
	if l.contract.Kind == Strict {
		return i.follows == l.high.at
	}
	return i.passed || !l.contract.Settles
}

// choose gives the one that takes the lane. Two that claim one place and differ are both set aside, and the next lower place
// is tried; a copy of the one that is taken is over. What the latest position overtakes is over too, ready or not.
func (l *lane) choose(seen []*input, rank func(a, b string) int) *input {
	slices.SortFunc(seen, func(a, b *input) int {
		switch {
		case a.at.Kind != b.at.Kind:
			return map[bool]int{true: -1, false: 1}[a.at.Kind > b.at.Kind]
		case a.at.N != b.at.N:
			return b.at.N - a.at.N
		case a.tie != b.tie:
			return map[bool]int{true: -1, false: 1}[a.tie > b.tie]
		}
		return 0
	})
	for _, i := range seen {
		if i.state != waiting || !l.claims(i) {
			continue
		}
		rivals := slices.DeleteFunc(slices.Clone(seen), func(other *input) bool {
			alike := other.at == i.at && other.tie == i.tie
			if l.contract.Kind == Strict {
				alike = other.follows == i.follows
			}
			return !alike || other.state != waiting
		})
		if slices.ContainsFunc(rivals, func(other *input) bool { return other.place() != i.place() }) {
			for _, other := range rivals {
				other.end(quarantined, "position_tied")
			}
			continue
		}
		ready := slices.DeleteFunc(slices.Clone(rivals), func(other *input) bool { return !l.claims(other) })
		chosen := slices.MinFunc(ready, func(a, b *input) int { return rank(a.name, b.name) })
		for _, other := range rivals {
			other.end(superseded, "")
		}
		chosen.state = minted
		l.overtake(seen, chosen)
		return chosen
	}
	return nil
}

// overtake ends what waits below the latest position. What has no order with it can have no place in its lane.
func (l *lane) overtake(seen []*input, chosen *input) {
	if l.contract.Kind != Latest {
		return
	}
	for _, i := range seen {
		order, comparable := i.at.against(chosen.at)
		switch {
		case i.state != waiting:
		case !comparable:
			i.end(quarantined, "position_kinds_differ")
		case order < 0 || order == 0 && i.tie < chosen.tie:
			i.end(superseded, "")
		}
	}
}

// gap acts on an input whose predecessor has not come by its time. It is not acted on while a receipt is pending, which may
// hold what is missing (R23); and whatever is done moves no lane (R22).
func (t *turn) gap(l *lane, i *input) {
	switch {
	case l.contract.Kind != Strict || l.state != free || !i.passed || l.claims(i) || t.backlog:
	case l.contract.GapHolds:
		t.took.Gaps = append(t.took.Gaps, i.name)
	default:
		i.end(quarantined, "sequence_gap")
	}
}

// Pass lets the time of waiting inputs pass.
func (a *Account) Pass(names ...string) {
	for _, name := range names {
		a.inputs[name].passed = true
	}
}
