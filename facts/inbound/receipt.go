package inbound

import "connectorcore/facts"

// Birth is whether a fact was born with everything that follows from it, or with a head that says what is missing.
type Birth uint8

// The births.
const (
	// BornOpen has a head until what is missing is there, and then a row in its ledger.
	BornOpen Birth = iota + 1
	// BornWhole never has a head, and no row in its ledger.
	BornWhole
)

// String is the stored word.
func (b Birth) String() string { return [...]string{"no birth", "open", "whole"}[min(b, BornWhole)] }

// AdmissionKey is the sole transport identity of a delivery. Key is the digest of account, channel and transport key;
// Admitted is what a redelivery is compared by (R18), and Body is the digest of the raw body, which may differ from a
// redelivery's in volatile members alone. It lives for ever, and nothing of ours can delete it.
//
// Spec: Inbound facts (ReceiptAdmissionKey).
type AdmissionKey struct {
	Account  facts.AccountID
	Key      facts.Digest
	Receipt  facts.ReceiptID
	Admitted facts.Digest
	Body     facts.Digest
}

// Receipt is one accepted delivery, exactly as it was received.
//
// Spec: Inbound facts (Receipt).
type Receipt struct {
	ID           facts.ReceiptID
	Account      facts.AccountID
	Epoch        facts.EpochID
	Channel      facts.Channel
	TransportKey facts.TransportKey
	Body         []byte // at most 4 MiB
	Header       []byte // the lines of its header less those that prove its sender, as EncodeHeader writes them
	// Credential and Member say which secret verified it. Both are absent on a channel without signatures.
	Credential facts.CredentialGenerationID
	Member     facts.DefinitionID
	Birth      Birth // whole, if its own admission wrote every child
}

// RedeliveryAnswer is what a redelivery was answered.
type RedeliveryAnswer uint8

// The answers.
const (
	AnsweredDuplicate RedeliveryAnswer = iota + 1 // only volatile members differ
	AnsweredConflict                              // it was refused
)

// String is the stored word.
func (a RedeliveryAnswer) String() string {
	return [...]string{"no answer", "duplicate", "conflict"}[min(a, AnsweredConflict)]
}

// Redelivery is a later delivery under a Receipt's transport key that was not the same, byte for byte: with other volatile
// members, or with other content, which was refused. It is kept as evidence and moves no state (R18, R45).
type Redelivery struct {
	Receipt facts.ReceiptID
	Body    facts.Digest // of the raw body
	Account facts.AccountID
	Answer  RedeliveryAnswer
	Raw     []byte
	Header  []byte
}

// ReceiptHead is a Receipt whose children are not all written. Due is when it is looked at again.
type ReceiptHead struct {
	Account facts.AccountID
	Receipt facts.ReceiptID
	Due     facts.Instant
}

// ComponentVerdict is what became of a component.
type ComponentVerdict uint8

// The verdicts.
const (
	// ComponentEvent: it is the event that it names, which another component may have brought first.
	ComponentEvent ComponentVerdict = iota + 1
	// ComponentQuarantined: no event was made of it, for the reason that it carries.
	ComponentQuarantined
)

// String is the stored word.
func (v ComponentVerdict) String() string {
	return [...]string{"no verdict", "event", "quarantined"}[min(v, ComponentQuarantined)]
}

// Component is one item of a Receipt and what became of it, decided once.
//
// Spec: Inbound facts (ReceiptComponent).
type Component struct {
	Receipt facts.ReceiptID
	Ordinal uint64
	Account facts.AccountID
	Verdict ComponentVerdict
	Reason  facts.Code    // of a quarantine
	Event   facts.EventID // also of a quarantine for a conflict: the event whose content differs
	Content facts.Digest  // of the event; absent if none could be made
}

// Event is one immutable normalized event of the source.
//
// Spec: Inbound facts (Event).
type Event struct {
	ID         facts.EventID
	Account    facts.AccountID
	Epoch      facts.EpochID
	Receipt    facts.ReceiptID // of the component that brought it first
	Ordinal    uint64
	Key        facts.SourceEventKey
	Kind       facts.EventKind
	Locator    facts.SourceLocator
	Occurrence facts.SourcePosition // absent where the source does not say
	Contract   facts.Digest         // of the ordering contract, and the three below: absent where no route depends on order
	Partition  facts.OrderingPartition
	Order      facts.SourceOrder
	Content    facts.Digest
	Payload    []byte
	// Follows names every Projection that follows from it, as FollowsOf writes them: they are written by its own transaction
	// or by none. So whether all of them are completed is known exactly, by keys alone and whatever routes there are now.
	Follows []byte
	// Unwritten counts the routes that took it and of which nothing is written yet.
	Unwritten uint64
}

// Projection is one application input under one exact route: of an event, or of a window, where Event is the member whose
// place it takes.
//
// Spec: Inbound facts (Projection).
type Projection struct {
	ID        facts.ProjectionID
	Account   facts.AccountID
	Epoch     facts.EpochID
	Event     facts.EventID
	Route     facts.RouteID
	Version   facts.DefinitionVersion
	Canonical facts.CanonicalProjectionDigest
	Input     []byte
	Window    facts.WindowID           // of which it is the input; zero for an immediate route
	Lane      facts.LaneID             // zero for an order-independent route
	Ref       facts.ExecutionRefDigest // of the one Execution that it may mint
	Needs     uint64                   // how many facts that Execution requires
	Birth     Birth                    // whole, if its Execution was born with it
}

// ExecutionAttempt is one claim of an Execution. The claim's ordinal is its fence: a later one makes it stale.
//
// Spec: Inbound facts (ExecutionAttempt).
type ExecutionAttempt struct {
	Execution facts.ExecutionID
	Ordinal   uint64 // from 1
	Account   facts.AccountID
	Holder    facts.HolderID
	GateFence facts.Fence
}

// AttemptEnd is how an attempt that brought no result ended. It moves no state (R45).
type AttemptEnd struct {
	Execution facts.ExecutionID
	Ordinal   uint64
	Account   facts.AccountID
	Reason    facts.Code
	Detail    []byte // what the handler said, at most 4096 bytes of text
}
