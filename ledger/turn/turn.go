package turn

import (
	"context"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var kindTurn = txn.NewKind("account turn")

const (
	// MaxItems bounds the items of one turn, MaxRows the rows that follow from them, and MaxBytes their bodies, payloads and
	// inputs (R12). What is beyond the last two stays pending.
	MaxItems = txn.MaxItems
	MaxRows  = 5000
	MaxBytes = 16 << 20
	// MaxInput bounds one payload or input, in bytes: the store takes rows of at most 6 MiB. It stays what it is, since what
	// is left of a Receipt is derived again by it.
	MaxInput = 5 << 20

	// handOver is how long a head is left to the process that made it, before a sweep of any process looks at it.
	handOver = 5 * time.Second
	// waiting is how long a pending Receipt is left alone of which everything is written that can be.
	waiting = 10 * time.Minute
)

type (
	receiptGuards   = txn.Guards[facts.ReceiptKey, inbound.ReceiptHead, machines.ReceiptState, machines.ReceiptEdge]
	receiptStep     = txn.Step[facts.ReceiptKey, inbound.ReceiptHead, machines.ReceiptEdge]
	executionGuards = txn.Guards[facts.ExecutionKey, inbound.ExecutionHead, machines.ExecutionState, machines.ExecutionEdge]
	executionStep   = txn.Step[facts.ExecutionKey, inbound.ExecutionHead, machines.ExecutionEdge]

	laneGuards       = txn.Guards[facts.LaneKey, inbound.Lane, machines.OrderingLaneState, machines.OrderingLaneEdge]
	laneStep         = txn.Step[facts.LaneKey, inbound.Lane, machines.OrderingLaneEdge]
	projectionGuards = txn.Guards[facts.ProjectionKey, inbound.ProjectionHead, machines.ProjectionState, machines.ProjectionEdge]
	projectionStep   = txn.Step[facts.ProjectionKey, inbound.ProjectionHead, machines.ProjectionEdge]

	windowGuards = txn.Guards[facts.WindowKey, inbound.WindowHead, machines.ProjectionWindowState, machines.ProjectionWindowEdge]
	windowStep   = txn.Step[facts.WindowKey, inbound.WindowHead, machines.ProjectionWindowEdge]

	dependencyGuards = txn.Guards[facts.DependencyKey, inbound.DependencyHead, machines.ExecutionDependencyState, machines.ExecutionDependencyEdge]
	dependencyStep   = txn.Step[facts.DependencyKey, inbound.DependencyHead, machines.ExecutionDependencyEdge]
)

// turn is one attempt at a turn's transaction.
type turn struct {
	tx       *txn.Tx
	account  facts.AccountID
	items    []Item
	derived  [][]derived // by item
	seals    []*sealing  // by item
	verdicts []Verdict
	held     *txn.Account

	lanes       map[facts.LaneID]*lane
	laneHeld    *laneGuards
	windows     map[facts.WindowKey]*window
	inputOf     map[facts.Digest]*window // the one that takes the input of a grouping
	windowHeld  *windowGuards
	receipts    *receiptGuards
	projections *projectionGuards
	dependents  *dependencyGuards
	executions  *executionGuards
	events      map[facts.EventID]inbound.Event                       // stored, or brought by an item of this turn
	results     map[facts.ExecutionID]machines.ApplicationResultState // of what is completed here
	requiring   []requiring
	rows        rows
	backlogged  *bool // whether the account has pending Receipts, once it is asked
	room        room  // for what may be left to another turn
}

// rows are what a turn writes.
type rows struct {
	keys         []inbound.AdmissionKey
	redeliveries []inbound.Redelivery
	whole, open  []inbound.Receipt
	components   []inbound.Component
	events       []inbound.Event
	lanes        []inbound.OrderingLane
	laneSteps    []laneStep
	windows      []inbound.ProjectionWindow
	members      []inbound.WindowMember
	sealed       []windowStep
	minted       []inbound.Projection
	waiting      []inbound.Projection
	places       map[facts.ProjectionID]inbound.ProjectionHead // as they are born
	settled      []projectionStep                              // of what was born here
	decided      []projectionStep                              // of what has waited
	delayed      []inbound.ProjectionHead
	executions   []inbound.Execution
	heads        map[facts.ExecutionID]inbound.ExecutionHead // as they are born
	begun        []executionStep                             // of those
	needs        []inbound.ProjectionNeed
	dependencies []inbound.ExecutionDependency
	looks        map[facts.DependencyID]facts.Instant // when each of those is looked at first
	metAtOnce    []dependencyStep                     // of those
	met          []dependencyStep                     // of what has waited
	unmet        []inbound.DependencyHead
	attempts     []inbound.ExecutionAttempt
	ends         []inbound.AttemptEnd
	carried      []inbound.ExecutionHead
	postponed    []inbound.ReceiptHead
	receiptDone  []receiptStep
	executed     []executionStep
}

// Take takes one turn of an account.
//
// Locks:   gate, and where it serves share and epoch; lanes; window heads; receipt heads; projection heads; dependency heads;
// execution heads.
// Refuses: SubjectMissing (the account has no gate, for the whole call); per item: NotServing, ShareMissing,
// EpochMismatch, EpochNotActive, StaleFence, Revoked, ContentDiffers, SubjectMissing, SubjectEnded, WrongState,
// StaleHolder, LeaseHeld.
// Unknown: take the same turn again; what was done before is found by its minted and derived ids.
//
// INVARIANT: whoever writes a Receipt, an Event, a window, a Projection, an Execution or a dependency of an account holds its
// gate. So what is
// missing under the gate stays missing until this turn commits.
func Take(ctx context.Context, db *txn.DB, account facts.AccountID, items []Item) ([]Verdict, error) {
	derived, seals, err := prepare(account, items)
	if err != nil {
		return nil, err
	}
	return txn.Batch(ctx, db, kindTurn, items, func(tx *txn.Tx) ([]Verdict, error) {
		t := &turn{tx: tx, account: account, items: items, derived: derived, seals: seals, verdicts: make([]Verdict, len(items)), room: room{MaxRows, MaxBytes},
			events: map[facts.EventID]inbound.Event{}, results: map[facts.ExecutionID]machines.ApplicationResultState{}}
		t.rows.looks = map[facts.DependencyID]facts.Instant{}
		t.rows.heads, t.rows.places = map[facts.ExecutionID]inbound.ExecutionHead{}, map[facts.ProjectionID]inbound.ProjectionHead{}
		return t.take()
	})
}

// prepare derives what does not depend on the database, once for every rerun.
func prepare(account facts.AccountID, items []Item) ([][]derived, []*sealing, error) {
	all, seals := make([][]derived, len(items)), make([]*sealing, len(items))
	for i, item := range items {
		set := 0
		for _, is := range []bool{item.Admit != nil, item.Materialize != nil, item.Claim != nil, item.End != nil, item.Complete != nil, item.Advance != nil, item.Seal != nil, item.Meet != nil} {
			if is {
				set++
			}
		}
		var err error
		switch {
		case set != 1:
			return nil, nil, errors.AssertionFailedf("item %d of a turn is %d things", i, set)
		case item.Admit != nil && item.Admit.Content != nil:
			all[i], err = item.Admit.Content.derive(account, item.Admit.Epoch, item.Admit.Receipt)
		case item.Materialize != nil:
			all[i], err = item.Materialize.Content.derive(account, item.Materialize.Epoch, item.Materialize.Receipt)
		case item.Seal != nil:
			seals[i], err = item.Seal.derive(account)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return all, seals, nil
}

func (t *turn) take() ([]Verdict, error) {
	var err error
	if t.held, err = txn.LockAccount(t.tx, t.account); err != nil {
		return nil, err
	}
	if err := t.lockHeads(); err != nil {
		return nil, err
	}
	for _, decide := range []func() error{t.admit, t.materialize, t.claim, t.end, t.complete, t.seal, t.meet, t.advance, t.require} {
		if err := decide(); err != nil {
			return nil, err
		}
	}
	writes, err := t.writes()
	if err != nil || len(writes) == 0 {
		return t.verdicts, err
	}
	// Every check is above this line; below it the transaction commits whole or not at all.
	return t.verdicts, t.tx.Apply(writes...)
}

// lockHeads locks the lanes and heads that the items name, one statement a kind.
func (t *turn) lockHeads() (err error) {
	if err := t.lockLanes(); err != nil {
		return err
	}
	if err := t.lockWindows(); err != nil {
		return err
	}
	var receipts []facts.ReceiptKey
	var executions []facts.ExecutionKey
	for _, item := range t.items {
		switch {
		case item.Materialize != nil:
			receipts = append(receipts, t.receiptKey(item.Materialize.Receipt))
		case item.Claim != nil:
			executions = append(executions, t.executionKey(item.Claim.Execution))
		case item.End != nil:
			executions = append(executions, t.executionKey(item.End.Execution))
		case item.Complete != nil:
			executions = append(executions, t.executionKey(item.Complete.Execution))
		}
	}
	if len(receipts) > 0 {
		if t.receipts, err = txn.Lock(t.tx, schema.ReceiptHeads, receipts); err != nil {
			return err
		}
	}
	if err := t.lockWaiting(); err != nil {
		return err
	}
	waits, err := t.lockDependents()
	if err != nil {
		return err
	}
	if executions = append(executions, waits...); len(executions) > 0 {
		t.executions, err = txn.Lock(t.tx, schema.ExecutionHeads, executions)
	}
	return err
}

func (t *turn) receiptKey(id facts.ReceiptID) facts.ReceiptKey {
	return facts.ReceiptKey{Account: t.account, Subject: id}
}

func (t *turn) executionKey(id facts.ExecutionID) facts.ExecutionKey {
	return facts.ExecutionKey{Account: t.account, Subject: id}
}

// serves refuses an item that needs the account to serve, under what it was prepared under (R10, R11).
func (t *turn) serves(premise inbound.Premise) *facts.Refusal {
	if t.held.Serving == nil {
		return t.held.Refusal
	}
	return t.held.Serving.Premise(premise.Fence, premise.Epoch)
}

// second refuses an item in a mode of the first protocol, in which nothing here is legal. What was accepted before is
// answered, ended and completed in every mode of the second one.
func (t *turn) second() *facts.Refusal {
	switch t.held.State {
	case machines.AccountServingGateV2Serving, machines.AccountServingGateHaltingV2, machines.AccountServingGateV2Halted:
		return nil
	}
	return t.held.Refusal
}

// writes loads what is written; whatever may be there already was read before.
func (t *turn) writes() ([]txn.Write, error) {
	w := txn.Collect(t.tx)
	r := &t.rows
	txn.AddFresh(w, schema.AdmissionKeys, r.keys)
	txn.AddLoaded(w, schema.Redeliveries, r.redeliveries)
	txn.AddFresh(w, schema.Receipts, r.whole)
	due := t.held.Now.Add(handOver)
	txn.AddBorn(w, schema.Receipts, r.open, schema.ReceiptHeads, func(f inbound.Receipt) inbound.ReceiptHead {
		return inbound.ReceiptHead{Account: f.Account, Receipt: f.ID, Due: due}
	})
	txn.AddFresh(w, schema.Components, r.components)
	txn.AddFresh(w, schema.Events, r.events)
	births, moves := t.laneMoves()
	txn.AddBorn(w, schema.OrderingLanes, r.lanes, schema.Lanes, func(f inbound.OrderingLane) inbound.Lane { return inbound.Lane{Account: f.Account, ID: f.ID} }, births...)
	t.windowMoves(w)
	txn.AddFresh(w, schema.Projections, r.minted)
	txn.AddBorn(w, schema.Projections, r.waiting, schema.ProjectionHeads, func(f inbound.Projection) inbound.ProjectionHead { return r.places[f.ID] }, r.settled...)
	txn.AddBorn(w, schema.Executions, r.executions, schema.ExecutionHeads, func(f inbound.Execution) inbound.ExecutionHead { return r.heads[f.ID] }, r.begun...)
	txn.AddFresh(w, schema.ProjectionNeeds, r.needs)
	txn.AddBorn(w, schema.ExecutionDependencies, r.dependencies, schema.DependencyHeads, func(f inbound.ExecutionDependency) inbound.DependencyHead {
		return inbound.DependencyHead{Account: f.Account, Dependency: f.ID, Execution: f.Execution, Event: f.Event, Due: r.looks[f.ID]}
	}, r.metAtOnce...)
	txn.AddFresh(w, schema.ExecutionAttempts, r.attempts)
	if ends := txn.AddLoaded(w, schema.AttemptEnds, r.ends); ends != nil {
		for i, end := range r.ends {
			if ends.Match(i) == txn.Different { // its head says that the attempt goes on: neither is taken for the other's mend
				return nil, errors.AssertionFailedf("attempt %d of execution %s has ended otherwise, and its head is held", end.Ordinal, end.Execution)
			}
		}
	}
	txn.AddMove(w, t.laneHeld, moves)
	txn.AddMove(w, t.projections, r.decided)
	txn.AddCarry(w, t.projections, r.delayed)
	txn.AddMove(w, t.dependents, r.met)
	txn.AddCarry(w, t.dependents, r.unmet)
	txn.AddCarry(w, t.executions, r.carried)
	txn.AddCarry(w, t.receipts, r.postponed)
	txn.AddMove(w, t.receipts, r.receiptDone)
	txn.AddMove(w, t.executions, r.executed)
	return w.Writes, w.Err
}
