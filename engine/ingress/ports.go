package ingress

import (
	"context"

	"connectorcore/engine/pack"
	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/readers/owners"
)

// Directory knows what an account's channels are.
type Directory interface {
	// Open gives the channel of an account under the epoch that serves now. The door asks again when an Admitter
	// answers StaleFence or EpochMismatch: whoever remembers answers must forget the account's before that.
	//
	// Refuses: SubjectMissing (no such account, or it has no such channel), NotServing, GateHalted, EpochNotActive.
	Open(ctx context.Context, account facts.AccountID, channel facts.Channel) (Opening, error)
}

// Opening is a channel of an account, as one exact epoch froze it.
type Opening struct {
	Channel    *pack.Channel
	Premise    inbound.Premise
	Limits     owners.Limits
	Credential *Credential // nil for a channel without signatures
}

// Credential is where the secrets of the exact generation are that verifies a channel's deliveries.
type Credential struct {
	Generation facts.CredentialGenerationID
	Backend    facts.OwnerName
	Version    facts.SecretVersion
}

// Secrets resolves an immutable secret version. The door wipes what it is given.
type Secrets interface {
	// Resolve gives the set of exactly this version.
	//
	// Refuses: SecretUnusable, OwnerUnavailable.
	Resolve(ctx context.Context, backend facts.OwnerName, version facts.SecretVersion) (platform.SecretSet, error)
}

// Delivery is a delivery whose sender is proved, or whose channel asks for no proof.
type Delivery struct {
	Account  facts.AccountID
	Premise  inbound.Premise // what it was verified under (R11)
	Channel  facts.Channel
	Key      facts.TransportKey
	Body     []byte             // exactly as received
	Identity []facts.HeaderLine // the frozen identity headers that it carries, in the order of their names
	Content  facts.Digest       // what a duplicate is compared by (R18): facts.Author.AdmittedContent

	// Header is every line as received, in the order of the names, less those that prove the sender or authorise
	// somebody: expressions of the channel may read headers that identify nothing.
	Header []facts.HeaderLine

	Credential facts.CredentialGenerationID // whose secret verified it; zero for a channel without signatures
	Member     platform.SecretKey           // the member of the secret set that verified it (R43); zero likewise
}

// Admitted is where a delivery stands after a commit.
type Admitted struct {
	Receipt facts.ReceiptID
	New     bool // false for a duplicate, whose original Receipt this is
}

// Admitter makes deliveries durable.
type Admitter interface {
	// Admit returns after the Receipt is committed, or found. What it was given it keeps to itself: the caller may have
	// gone, and an admission that began ends as if it had stayed. The context bounds how long the caller waits; an error
	// of that kind means that the delivery may yet be admitted, and its redelivery finds out.
	//
	// An error with a method RetryAfter() time.Duration says when to come again.
	//
	// Refuses: StaleFence, EpochMismatch (prepare it again), NotServing, GateHalted, EpochNotActive, Revoked,
	// ContentDiffers (the transport key stands for other bytes), AccountBusy, BatchTooLarge.
	Admit(ctx context.Context, delivery Delivery) (Admitted, error)
}
