package execute

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/machines"
)

// Runtime commits an application's behaviour, once for each command, and answers for it.
//
// Errors: a *facts.Refusal, by which nothing was committed for that command, or nothing stands under its reference; a
// *ledger.HandlerFailure, by which the application ended the attempt and nothing of it stands; facts.ErrOutcomeUnknown,
// after which the same command is submitted again or asked for. Anything else is an attempt that committed nothing.
type Runtime interface {
	// Submit has commands of one account applied, and gives one verdict each, in their order. A failure of one is none of
	// its neighbours'. A command that has its result gets that.
	Submit(ctx context.Context, account facts.AccountID, commands []Command) []Verdict
	// Query reads the result of a command. Refuses ResultMissing, which proves nothing: it may be committing now.
	Query(ctx context.Context, subject Subject) (Result, error)
	// Close commits failed for a command, so that nothing of it can commit later, or gives the result that it has.
	Close(ctx context.Context, command Command) (Result, error)
}

// Subject names a command, and the profile under which its receipt is authored: that of its execution's epoch.
type Subject struct {
	inbound.CommandRef
	Profile facts.Profile
}

// Command is one execution's work for the application.
//
// Spec: Runtime-owned result ("complete ExecutionRef").
type Command struct {
	Subject
	inbound.Premise                         // of its claim
	Definition      facts.DefinitionID      // which of the application's commands it is
	Version         facts.DefinitionVersion // exactly
	Attempt         uint64                  // of the claim, from 1
	Replay          bool                    // no external effect may come of it
	Input           []byte                  // as the frozen mapping rendered it
}

// Result is the one result of a command. Its receipt is what a completion shows; the payload stays with the Runtime.
type Result struct {
	Receipt inbound.RuntimeReceipt
	Payload []byte
}

// Verdict is what became of one submitted command: its result, or why it has none yet.
type Verdict struct {
	Result Result
	Err    error
}

// Outcome is what a handler says of its command.
type Outcome = machines.ApplicationResultState

// The outcomes that a handler may say. An error is an attempt's failure instead, and is tried again; failed is said by a
// close alone.
const (
	Applied  = machines.ApplicationResultApplied
	Noop     = machines.ApplicationResultNoop
	Rejected = machines.ApplicationResultRejected
)

// Answer is a handler's outcome, with bytes of its own that it may ask for later.
type Answer = ledger.Answer
