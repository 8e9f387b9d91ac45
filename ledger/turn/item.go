package turn

import (
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/machines"
)

// Item is one thing that a turn does. Exactly one field is set.
type Item struct {
	Admit       *Admission
	Materialize *Materialization
	Claim       *Claim
	End         *End
	Complete    *Completion
	Advance     *Advance
	Seal        *Seal
	Meet        *Meet
}

// Verdict is what became of an item.
type Verdict struct {
	Refusal *facts.Refusal
	// Receipt is the one that an admitted key is bound to: the admission's own, or that of an earlier delivery, which
	// this one is a Duplicate of. It is also set beside a refusal for other content.
	Receipt   facts.ReceiptID
	Duplicate bool
	// Born are the executions that the item brought: those of an admission's or materialization's components, in their order,
	// those that have taken a lane which the item moved on, and those whose last requirement the item found met.
	Born []Born
	// Pending says that a Receipt was not materialized whole, or a window not sealed: there was no room, something cannot be
	// written yet, or a Receipt is to be read first.
	Pending bool
	// Aside is why the window of a Seal was set aside.
	Aside facts.Code
	// Attempt is the ordinal of a claim.
	Attempt uint64
	// Failed is why a Meet has set its execution aside: DependencyExpired or DependencyRejected.
	Failed facts.Code
	// Gaps are the Projections of an Advance whose gap is past its deadline and which the route holds.
	Gaps []facts.ProjectionID
}

// Born is an execution that came into the world, or that waits no longer, and its command.
type Born struct {
	Execution  facts.ExecutionID
	Projection facts.ProjectionID
	Event      facts.EventID // that the Projection is of
	Command    facts.CommandID
	Ref        facts.ExecutionRefDigest
	Attempt    uint64       // of its claim; 0 if it was not claimed, or waits for another fact
	Lane       facts.LaneID // that it has taken; zero for an order-independent route
	Route      facts.RouteID
	Version    facts.DefinitionVersion
	Input      []byte
}

// Admission asks that a verified delivery be accepted.
type Admission struct {
	inbound.Premise
	Receipt      facts.ReceiptID // minted by the caller, the same in every rerun
	Channel      facts.Channel
	TransportKey facts.TransportKey
	Admitted     facts.Digest // what a redelivery is compared by (R18)
	Body         []byte
	Header       []byte
	// Credential is the generation that verified it; it is absent on a channel without signatures.
	Credential facts.CredentialGenerationID
	Member     facts.DefinitionID
	// Content is what the pack makes of it; nil leaves that to a Materialization.
	Content *Content
	Claim   *Holding // claims each execution at its birth; nil leaves them
}

// Materialization asks that the children of a pending Receipt be written. Components that have their row keep it.
type Materialization struct {
	inbound.Premise
	Receipt facts.ReceiptID
	Content Content
	Claim   *Holding
}

// Content is what the frozen pack makes of a Receipt.
type Content struct {
	Profile    facts.Profile // of the epoch: every id is derived under it (R15)
	Components []Component   // by ordinal, from 0, without a gap
	// Open says that something follows from the body which cannot be written yet, so that the Receipt stays pending.
	Open bool
}

// Component is one item of a body: the event that it is, or why it is none.
type Component struct {
	Reason facts.Code // why it is quarantined; zero if Event is set
	Event  *Event
}

// Event is a normalized event with the inputs that follow from it.
type Event struct {
	facts.EventContent // its Payload digest is made here, of Payload
	Key                facts.SourceEventKey
	Payload            []byte
	Inputs             []Input // one for each immediate route that takes it, by route
	Joins              []Join  // one for each route with a window that takes it, by route
	Unwritten          uint64  // how many more routes take it whose inputs cannot be written yet
}

// Input is one application input, and what its command says of it.
type Input struct {
	Route          facts.RouteID
	Version        facts.DefinitionVersion
	PackGeneration facts.PackGenerationID
	Command        facts.DefinitionID
	CommandVersion facts.DefinitionVersion
	Bytes          []byte
	// Order says how the input waits for its turn. Without one it needs no lane: its Execution is born with it.
	Order *Order
	// Follows is the position before the input's own in a strict sequence; absent at the sequence's beginning.
	Follows facts.SourcePosition
	// Needs is what its Execution waits for: at most MaxNeeds facts of the same account.
	Needs []Need
}

// MaxNeeds bounds what one execution waits for.
const MaxNeeds = 16

// Need is a requirement: that an event of the same account is completed, within a time that begins with the Execution.
//
// Spec: Inbound facts (ExecutionDependency).
type Need struct {
	Event    facts.SourceEventKey
	Deadline time.Duration // whole microseconds
}

// Order is what a frozen route says of its lanes.
//
// Spec: Durable source ordering (OrderingContract).
type Order struct {
	// First is where a strict sequence begins. Without one the lane takes the latest position that is ready.
	First facts.SourcePosition
	// Wait is how long an input of a strict sequence waits for the one before it, and another one until it is ready.
	Wait time.Duration
	// GapHolds keeps an input waiting beyond that time, and alerts; otherwise it is quarantined.
	GapHolds bool
	// FailedAdvances lets a failed result release the lane like any other; otherwise it holds it.
	FailedAdvances bool
	// Needs is how many facts an input of the route requires at most: room is kept for them.
	Needs int
}

func (o *Order) strict() bool { return !o.First.IsZero() }

// Holding is who claims, and for how long nobody else may.
type Holding struct {
	Holder facts.HolderID
	Lease  time.Duration // whole microseconds; it delays another claim and permits nothing
}

// Claim asks for the next attempt of an execution.
type Claim struct {
	inbound.Premise
	Holding
	Execution facts.ExecutionID
}

// End says that an attempt brought no result. The execution is due again after the delay.
type End struct {
	Execution facts.ExecutionID
	Attempt   uint64
	Holder    facts.HolderID
	Reason    facts.Code
	Detail    []byte
	Delay     time.Duration
}

// Completion brings the Runtime's receipt for an execution. Whoever has it may bring it.
type Completion struct {
	Execution facts.ExecutionID
	Profile   facts.Profile // of the execution's epoch, under which its command is derived
	Command   facts.CommandID
	Ref       facts.ExecutionRefDigest
	Outcome   machines.ApplicationResultState
	Result    facts.Digest
	Receipt   facts.Digest // of the Runtime's commit receipt
	// Lane is the execution's, zero for an order-independent route, and Order what its route says of it.
	Lane  facts.LaneID
	Order Order
	// Event is that of the execution's Projection, where others may wait for it; zero asks for none that do. It is a hint:
	// whoever waits looks for itself as well (R23).
	Event facts.EventID
	// Next claims what has the lane after it, and what waited for its event and is ready now; nil leaves them.
	Next *Next
}

// Next is a claim of whatever a completion lets go on.
type Next struct {
	inbound.Premise
	Holding
}

// Advance asks that a lane be moved on, for Projections that wait in it and are due.
type Advance struct {
	inbound.Premise
	Profile     facts.Profile // of the epoch
	Lane        facts.LaneID
	Order       Order
	Projections []facts.ProjectionID
	Claim       *Holding // claims what takes the lane; nil leaves it
}

// Join says into whose window an event goes, and what the frozen route says of such a window.
//
// Spec: Inbound facts (ProjectionWindow).
type Join struct {
	Route    facts.RouteID
	Version  facts.DefinitionVersion
	Grouping facts.GroupingKey
	Members  uint64        // its frozen size
	Close    time.Duration // after its first member, at the latest
	Quiet    time.Duration // after its last member; 0 for a window that does not close by that
}

// Seal asks that a window be closed whose time has come, or that is full, with the input that a mapping has made of its
// members before. It is refused if the window has another membership by then.
type Seal struct {
	inbound.Premise
	Profile  facts.Profile // of the epoch
	Window   facts.WindowID
	Grouping facts.GroupingKey
	Members  []inbound.Event // all of them as they are stored, in the order of the membership; payloads are not read
	Latest   bool            // only the greatest is the input; see Arrange
	Input    Input           // of a window that is set aside only the route and its version count
	Reason   facts.Code      // why there is no input: the window is set aside
	Claim    *Holding        // claims the execution, if it is born with the projection; nil leaves it
}

// Meet asks whether what an execution waits for is there, for dependencies of it that are due.
type Meet struct {
	inbound.Premise
	Profile      facts.Profile // of the epoch
	Execution    facts.ExecutionID
	Dependencies []facts.DependencyID
	// Lane is the execution's, zero for an order-independent route, and Order what its route says of it.
	Lane  facts.LaneID
	Order Order
	Claim *Holding // claims the execution when nothing is left to wait for; nil leaves it
}
