package inbound

import "connectorcore/facts"

// ProjectionWindow is the birth of a window, which gathers events of one grouping key before they are one input. Its
// deadline never moves.
//
// Spec: Inbound facts (ProjectionWindow).
type ProjectionWindow struct {
	ID       facts.WindowID
	Account  facts.AccountID
	Epoch    facts.EpochID
	Grouping facts.Digest // of account, epoch, exact route and key: at most one window of it takes input
	Route    facts.RouteID
	Version  facts.DefinitionVersion
	Key      facts.GroupingKey
	Deadline facts.Instant // until when it takes input at the longest, by the database's time
}

// WindowMember is the one decision into which window of an exact route an event goes. It is written once, with the event,
// whichever window it names (R19).
type WindowMember struct {
	Window  facts.WindowID
	Ordinal uint64 // from 0, in the order in which they came
	Account facts.AccountID
	Event   facts.EventID
	Route   facts.Digest // of the epoch's exact route
}

// WindowHead is a window that is not closed yet. One that is full has no Grouping: it takes no more input and hinders no
// successor, and it waits to be sealed.
//
// Due is when it is to be sealed: at its deadline, when its source has been quiet for long enough, or at once.
type WindowHead struct {
	Account  facts.AccountID
	Window   facts.WindowID
	Grouping facts.Digest
	Members  uint64
	Bytes    uint64 // of the members' payloads
	Deadline facts.Instant
	Due      facts.Instant
}
