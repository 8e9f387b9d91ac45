package model

import (
	"maps"
	"slices"
)

// Account is everything that the turns of one account have left, by the rules and not by the engine's code: plain maps under
// names that a test gives. Take is a turn, and Lines is what the tables must hold after it.
//
// It knows nothing of ids, bytes, statements or bounds of size, and it has no clock: a test says when a lease has lapsed and
// when a time has passed. Windows would gather what follows from an event before it is an input (follow), and dependencies
// would make an execution wait at its birth (bear).
//
// Spec: Inbound facts; Durable source ordering; State machines. Rules R01, R02, R11, R16, R18, R21 to R23.
type Account struct {
	// Rank says which of two inputs is taken that came under two keys and say the same at one place. No rule does: it does not
	// matter which.
	Rank func(a, b string) int

	contracts  map[string]Contract // by route
	keys       map[string]string   // transport key to receipt
	receipts   map[string]*receipt
	events     map[string]*event
	inputs     map[string]*input // by event and route
	lanes      map[string]*lane  // by route and partition
	executions map[string]*execution
}

// The refusals that a turn gives.
const (
	StaleFence        = "stale_fence"
	ContentDiffers    = "content_differs"
	SubjectEnded      = "subject_ended"
	SubjectMissing    = "subject_missing"
	WrongState        = "wrong_state"
	LeaseHeld         = "lease_held"
	StaleHolder       = "stale_holder"
	ResultContradicts = "result_contradicts"
)

// Item is one thing that a turn does. Exactly one field is set.
type Item struct {
	Admit       *Admission
	Materialize *Materialization
	Claim       *Claim
	End         *End
	Complete    *Completion
	Advance     *Advance
}

// Premise is under what an item was prepared: Stale if the gate has moved since.
type Premise struct{ Stale bool }

// Admission is a delivery. Admitted is what a redelivery is compared by, and Body what was received. Holder claims what is
// born of it, if it is not empty.
type Admission struct {
	Premise
	Receipt, Key, Admitted, Body, Holder string
	Content                              *Contents
}

// Materialization brings the content of a pending receipt.
type Materialization struct {
	Premise
	Receipt, Holder string
	Content         *Contents
}

// Contents are what follows from a body. Open says that something of it cannot be written yet.
type Contents struct {
	Events []*SourceEvent // nil for a component that is none
	Open   bool
}

// SourceEvent is an event of the source. Follows is the position that it names before its own, absent where a strict sequence begins.
type SourceEvent struct {
	Key, Says, Partition string
	At                   Position
	Tie                  string
	Follows              Position
	Routes               []string // that take it
}

// Claim asks for the next attempt.
type Claim struct {
	Premise
	Execution, Holder string
}

// End says that an attempt brought no result, and that the next one is due at once or Later.
type End struct {
	Execution, Holder string
	Attempt           int
	Later             bool
}

// Completion is the Runtime's receipt for an execution. Next claims what has the lane after it.
type Completion struct {
	Execution, Receipt string
	Failed             bool
	Next               *Next
}

// Next is a claim of whatever comes next in a lane.
type Next struct {
	Premise
	Holder string
}

// Advance asks that a lane be moved on for inputs of it whose time may have come.
type Advance struct {
	Premise
	Lane, Holder string
	Due          []string
}

// Verdict is what became of an item: a refusal, or none.
type Verdict struct {
	Refusal   string
	Duplicate bool
}

// Took is what a turn did beside its verdicts: the claimed executions that were born, and the gaps that are past their time
// and are held.
type Took struct {
	Verdicts   []Verdict
	Born, Gaps []string
}

type (
	receipt struct {
		admitted, body string
		state          string
		components     []string
		redelivered    map[string]string // body to answer
	}
	event struct {
		*SourceEvent
		receipt string
		ordinal int
	}
	execution struct {
		attempt  int
		holder   string
		due      bool   // nobody has it, or not any more
		ended    string // the Runtime's receipt
		outcome  string
		attempts []string       // holder by ordinal
		ends     map[int]string // by ordinal
	}
)

const (
	pending      = "pending"
	bornWhole    = "whole"
	materialized = "materialized"
)

// New is an account whose routes have these contracts.
func New(contracts map[string]Contract) *Account {
	return &Account{contracts: contracts, keys: map[string]string{}, receipts: map[string]*receipt{}, events: map[string]*event{},
		inputs: map[string]*input{}, lanes: map[string]*lane{}, executions: map[string]*execution{}}
}

// Clone is an account of its own that stands where this one does.
func (a *Account) Clone() *Account {
	c := New(a.contracts)
	c.Rank = a.Rank
	c.keys, c.events = maps.Clone(a.keys), maps.Clone(a.events)
	for name, r := range a.receipts {
		one := *r
		one.components, one.redelivered = slices.Clone(r.components), maps.Clone(r.redelivered)
		c.receipts[name] = &one
	}
	for name, i := range a.inputs {
		one := *i
		c.inputs[name] = &one
	}
	for name, l := range a.lanes {
		one := *l
		c.lanes[name] = &one
	}
	for name, e := range a.executions {
		one := *e
		one.attempts, one.ends = slices.Clone(e.attempts), maps.Clone(e.ends)
		c.executions[name] = &one
	}
	return c
}

// turn is a turn that is taken.
type turn struct {
	*Account
	items    []Item
	settling bool
	took     Took

	backlog bool // a receipt is pending, or was when the turn began (R23)
	seen    map[string]bool
	before  map[string]execution // as they stood when the turn began
	changed map[string]bool      // executions
	moves   map[string]*move
}

// Take takes a turn. An unknown commit that had happened is the same turn once more, settling.
func (a *Account) Take(items []Item, settling bool) Took {
	t := &turn{Account: a, items: items, settling: settling, seen: map[string]bool{}, before: map[string]execution{}, changed: map[string]bool{}}
	t.took.Verdicts = make([]Verdict, len(items))
	for _, r := range a.receipts {
		t.backlog = t.backlog || r.state == pending
	}
	for name, e := range a.executions {
		t.before[name] = *e
	}
	t.begin()
	for _, kind := range []func(int, Item){t.admit, t.materialize, t.claim, t.end, t.complete, t.advance} {
		for i, item := range items {
			kind(i, item)
		}
	}
	t.decide()
	return t.took
}

func (t *turn) refuse(i int, code string) { t.took.Verdicts[i].Refusal = code }

// admit: a key has one receipt for ever. The same again is a duplicate, whatever the gate does; what differs is a conflict.
func (t *turn) admit(i int, item Item) {
	ask := item.Admit
	if ask == nil {
		return
	}
	name, known := t.keys[ask.Key]
	switch {
	case known && name == ask.Receipt: // this very admission, of which somebody did not know what became
	case known:
		t.redelivered(i, ask, t.receipts[name])
	case ask.Stale:
		t.refuse(i, StaleFence)
	default:
		t.keys[ask.Key] = ask.Receipt
		r := &receipt{admitted: ask.Admitted, body: ask.Body, state: pending, redelivered: map[string]string{}}
		t.receipts[ask.Receipt] = r
		if ask.Content != nil {
			t.bring(ask.Receipt, ask.Content, ask.Holder)
		}
		if ask.Content != nil && !ask.Content.Open {
			r.state = bornWhole
		}
		t.backlog = t.backlog || r.state == pending
	}
}

func (t *turn) redelivered(i int, ask *Admission, first *receipt) {
	answer := "duplicate"
	if ask.Admitted != first.admitted {
		answer = "conflict"
		t.refuse(i, ContentDiffers)
	} else {
		t.took.Verdicts[i].Duplicate = true
	}
	if answer == "conflict" || ask.Body != first.body {
		first.redelivered[ask.Body] = answer
	}
}

// materialize writes what is missing below a receipt, once.
func (t *turn) materialize(i int, item Item) {
	ask := item.Materialize
	if ask == nil {
		return
	}
	r := t.receipts[ask.Receipt]
	switch {
	case ask.Stale:
		t.refuse(i, StaleFence)
	case t.seen[ask.Receipt]:
		t.refuse(i, WrongState)
	case r.state == materialized && t.settling:
		t.seen[ask.Receipt] = true
	case r.state != pending:
		t.refuse(i, SubjectEnded)
	default:
		t.seen[ask.Receipt] = true
		t.bring(ask.Receipt, ask.Content, ask.Holder)
		if !ask.Content.Open {
			r.state = materialized
		}
	}
}

// bring writes the components that a receipt does not have yet, and what follows from each event that is new. An event is one
// whoever brings it; other content under its key is set aside (R16).
func (t *turn) bring(name string, content *Contents, holder string) {
	r := t.receipts[name]
	for ordinal := len(r.components); ordinal < len(content.Events); ordinal++ {
		brought := content.Events[ordinal]
		if brought == nil {
			r.components = append(r.components, "quarantined event_unmatched")
			continue
		}
		stands := t.events[brought.Key]
		switch {
		case stands == nil:
			t.events[brought.Key] = &event{brought, name, ordinal}
			t.follow(brought, holder)
			fallthrough
		case stands.same(brought):
			r.components = append(r.components, "event "+brought.Key)
		default:
			r.components = append(r.components, "quarantined content_differs "+brought.Key)
		}
	}
}

func (e *event) same(other *SourceEvent) bool {
	return e.Says == other.Says && e.Partition == other.Partition && e.At == other.At && e.Tie == other.Tie
}

// follow makes the inputs of an event: those that need no lane are executed, and the others wait in theirs.
func (t *turn) follow(e *SourceEvent, holder string) {
	for _, route := range e.Routes {
		i := &input{name: e.Key + ">" + route, says: e.Says, state: waiting}
		t.inputs[i.name] = i
		if contract := t.contracts[route]; contract.Kind == Independent {
			i.state = minted
			t.bear(i.name, holder)
		} else {
			i.at, i.tie, i.follows = e.At, e.Tie, e.Follows
			t.enter(i, route+"/"+e.Partition, contract, holder)
		}
	}
}

// bear is the birth of an execution, claimed or not.
func (t *turn) bear(name, holder string) {
	e := &execution{due: holder == "", ends: map[int]string{}}
	t.executions[name] = e
	if holder != "" {
		e.attempt, e.holder, e.attempts = 1, holder, []string{holder}
		t.took.Born = append(t.took.Born, name)
	}
}
