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
	subjectKinds
)

// subjectRow is where a subject's rows are: its guard or head by clustered key, and its ledger by subject id.
type subjectRow struct {
	noun    string
	columns []string // the key columns of the guard or head, in the order of the subject's values
	guard   string
	ledger  string
}

var subjectRows = [subjectKinds]subjectRow{
	InputSubject:      {noun: "input"},
	StoreSubject:      {noun: "store"},
	AccountSubject:    {"account", []string{"account_id"}, "account_serving_gate_guard", "account_serving_gate_ledger"},
	EpochSubject:      {"epoch", []string{"epoch_id"}, "serving_epoch_guard", "serving_epoch_ledger"},
	CredentialSubject: {"credential generation", []string{"generation_id"}, "credential_generation_dispatch_gate_guard", "credential_generation_dispatch_gate_ledger"},
	BarrierSubject:    {"barrier set", []string{"barrier_set_id"}, "serving_publication_barrier_set_guard", "serving_publication_barrier_set_ledger"},
	WindowSubject:     {"window", []string{"window_id"}, "projection_window_head", "projection_window_ledger"},
	ExecutionSubject:  {"execution", []string{"execution_id"}, "execution_head", "execution_ledger"},
	DependencySubject: {"dependency", []string{"dependency_id"}, "execution_dependency_head", "execution_dependency_ledger"},
	EffectSubject:     {"effect", []string{"effect_id"}, "remote_effect_head", "remote_effect_ledger"},
	PermitSubject:     {"permit", []string{"account_id", "permit_id"}, "dispatch_permit_head", "dispatch_permit_ledger"},
	LinkSubject:       {"link", []string{"link_id"}, "remote_link_head", "remote_link_ledger"},
}

// String is the noun that people read.
func (k SubjectKind) String() string {
	if k >= subjectKinds {
		return fmt.Sprintf("subject kind %d", uint8(k))
	}
	return subjectRows[k].noun
}

// Columns are the key columns that identify one subject of the kind.
func (k SubjectKind) Columns() []string { return append([]string(nil), subjectRows[k].columns...) }

// Subject is the exact row, input or store that a refusal is about.
type Subject struct {
	kind  SubjectKind
	keys  []driver.Valuer
	words []string
}

func subject[K any](kind SubjectKind, id ID[K]) Subject {
	return Subject{kind: kind, keys: []driver.Valuer{id}, words: []string{id.String()}}
}

// OfInput is something that a caller handed in, named by where it stands: "header idempotency-key", "field data.id".
// The value itself stays out of it, since it is hostile until it was accepted.
func OfInput(where string) Subject { return Subject{kind: InputSubject, words: []string{where}} }

// OfStore is a setting, a table or a directory of the database that the process was given.
func OfStore(what string) Subject { return Subject{kind: StoreSubject, words: []string{what}} }

// OfAccount is the account's serving gate.
func OfAccount(id AccountID) Subject { return subject(AccountSubject, id) }

// OfEpoch is a serving epoch.
func OfEpoch(id EpochID) Subject { return subject(EpochSubject, id) }

// OfCredential is the dispatch gate of a credential generation.
func OfCredential(id CredentialGenerationID) Subject { return subject(CredentialSubject, id) }

// OfBarrier is a publication barrier set.
func OfBarrier(id BarrierSetID) Subject { return subject(BarrierSubject, id) }

// OfWindow is a projection window.
func OfWindow(id WindowID) Subject { return subject(WindowSubject, id) }

// OfExecution is an execution.
func OfExecution(id ExecutionID) Subject { return subject(ExecutionSubject, id) }

// OfDependency is an execution's dependency.
func OfDependency(id DependencyID) Subject { return subject(DependencySubject, id) }

// OfEffect is a remote effect.
func OfEffect(id EffectID) Subject { return subject(EffectSubject, id) }

// OfPermit is a permit in its account's open set.
func OfPermit(account AccountID, id PermitID) Subject {
	return Subject{
		kind:  PermitSubject,
		keys:  []driver.Valuer{account, id},
		words: []string{account.String(), id.String()},
	}
}

// OfLink is a remote link.
func OfLink(id LinkID) Subject { return subject(LinkSubject, id) }

// Kind is what the subject is.
func (s Subject) Kind() SubjectKind { return s.kind }

// String is "permit ACCOUNT/PERMIT".
func (s Subject) String() string { return s.kind.String() + " " + strings.Join(s.words, "/") }
