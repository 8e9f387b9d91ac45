package facts

import (
	"database/sql/driver"
	"fmt"
	"strings"
)

// SubjectKind says what kind of row a refusal or reason is about, and therefore which exact read shows it.
type SubjectKind uint8

// The kinds of subject. InputSubject and StoreSubject have no row: an input was refused before anything was
// written, and a store is described by its own settings and catalogue.
const (
	InputSubject SubjectKind = iota
	StoreSubject
	AccountSubject
	EpochSubject
	CredentialSubject
	BarrierSubject
	WindowSubject
	ExecutionSubject
	DependencySubject
	EffectSubject
	PermitSubject
	LinkSubject
	OwnerSubject
	GenerationSubject
	ReceiptSubject
	ProjectionSubject
	LaneSubject
	subjectKinds
)

// subjectRow is where a subject's rows are: its fact and ledger by its own id, and its guard or head by the whole key.
type subjectRow struct {
	noun     string
	fact     string   // its table; the ledger's is this and "_ledger"
	standing string   // the table of its guard or head
	columns  []string // the key of that table, in the order of the subject's values; the last one is the subject's id
}

var subjectRows = [subjectKinds]subjectRow{
	InputSubject:      {noun: "input"},
	StoreSubject:      {noun: "store"},
	AccountSubject:    guarded("account", "account_serving_gate", "account_id"),
	EpochSubject:      guarded("epoch", "serving_epoch", "epoch_id"),
	CredentialSubject: guarded("credential generation", "credential_generation_dispatch_gate", "generation_id"),
	BarrierSubject:    guarded("barrier set", "serving_publication_barrier_set", "barrier_set_id"),
	WindowSubject:     headed("window", "projection_window", "window_id"),
	ExecutionSubject:  headed("execution", "execution", "execution_id"),
	DependencySubject: headed("dependency", "execution_dependency", "dependency_id"),
	EffectSubject:     headed("effect", "remote_effect", "effect_id"),
	PermitSubject:     headed("permit", "dispatch_permit", "permit_id"),
	LinkSubject:       headed("link", "remote_link", "link_id"),
	OwnerSubject:      guarded("owner", "owner_publication_barrier", "barrier_id"),
	ReceiptSubject:    headed("receipt", "receipt", "receipt_id"),
	ProjectionSubject: headed("projection", "projection", "projection_id"),
	LaneSubject:       {noun: "lane", fact: "ordering_lane", standing: "ordering_lane_guard", columns: []string{"account_id", "lane_id"}},
	GenerationSubject: {noun: "generation", fact: "owner_generation", columns: []string{"generation_digest"}},
}

func guarded(noun, fact, id string) subjectRow {
	return subjectRow{noun: noun, fact: fact, standing: fact + "_guard", columns: []string{id}}
}

func headed(noun, fact, id string) subjectRow {
	return subjectRow{noun: noun, fact: fact, standing: fact + "_head", columns: []string{"account_id", id}}
}

// String is the noun that people read.
func (k SubjectKind) String() string {
	if k >= subjectKinds {
		return fmt.Sprintf("subject kind %d", uint8(k))
	}
	return subjectRows[k].noun
}

// Subject is the exact row, input or store that a refusal is about.
type Subject struct {
	kind  SubjectKind
	keys  []driver.Valuer
	words []string
}

func guardSubject[K any](kind SubjectKind, id ID[K]) Subject {
	return Subject{kind: kind, keys: []driver.Valuer{id}, words: []string{id.String()}}
}

func headSubject[K any](kind SubjectKind, key HeadKey[K]) Subject {
	return Subject{
		kind:  kind,
		keys:  []driver.Valuer{key.Account, key.Subject},
		words: []string{key.Account.String(), key.Subject.String()},
	}
}

// OfInput is something that a caller handed in, named by where it stands: "header idempotency-key", "field data.id".
// The value itself stays out of it, since it is hostile until it was accepted.
func OfInput(where string) Subject { return Subject{kind: InputSubject, words: []string{where}} }

// OfStore is a setting, a table or a directory of the database that the process was given.
func OfStore(what string) Subject { return Subject{kind: StoreSubject, words: []string{what}} }

// OfAccount is the account's serving gate.
func OfAccount(id AccountID) Subject { return guardSubject(AccountSubject, id) }

// OfEpoch is a serving epoch.
func OfEpoch(id EpochID) Subject { return guardSubject(EpochSubject, id) }

// OfCredential is the dispatch gate of a credential generation.
func OfCredential(id CredentialGenerationID) Subject { return guardSubject(CredentialSubject, id) }

// OfBarrier is a publication barrier set.
func OfBarrier(id BarrierSetID) Subject { return guardSubject(BarrierSubject, id) }

// OfReceipt is a receipt.
func OfReceipt(key ReceiptKey) Subject { return headSubject(ReceiptSubject, key) }

// OfProjection is a projection.
func OfProjection(key ProjectionKey) Subject { return headSubject(ProjectionSubject, key) }

// OfLane is an ordering lane.
func OfLane(key LaneKey) Subject { return headSubject(LaneSubject, key) }

// OfWindow is a projection window.
func OfWindow(key WindowKey) Subject { return headSubject(WindowSubject, key) }

// OfExecution is an execution.
func OfExecution(key ExecutionKey) Subject { return headSubject(ExecutionSubject, key) }

// OfDependency is an execution's dependency.
func OfDependency(key DependencyKey) Subject { return headSubject(DependencySubject, key) }

// OfEffect is a remote effect.
func OfEffect(key EffectKey) Subject { return headSubject(EffectSubject, key) }

// OfPermit is a permit, which is in its account's open set while it has a head.
func OfPermit(key PermitKey) Subject { return headSubject(PermitSubject, key) }

// OfLink is a remote link.
func OfLink(key LinkKey) Subject { return headSubject(LinkSubject, key) }

// OfOwner is the publication barrier of a named owner in a scope.
func OfOwner(owner string, barrier OwnerBarrierID) Subject {
	return Subject{kind: OwnerSubject, keys: []driver.Valuer{barrier}, words: []string{owner, barrier.String()}}
}

// OfGeneration is an owner's exact generation, shown by its own name.
func OfGeneration(name string, generation Digest) Subject {
	return Subject{kind: GenerationSubject, keys: []driver.Valuer{generation}, words: []string{name}}
}

// Kind is what the subject is.
func (s Subject) Kind() SubjectKind { return s.kind }

// String is "permit ACCOUNT/PERMIT".
func (s Subject) String() string { return s.kind.String() + " " + strings.Join(s.words, "/") }
