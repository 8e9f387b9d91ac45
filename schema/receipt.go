package schema

import (
	"database/sql/driver"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/machines"
)

var admissionKeyFact = &Table{
	Name: "receipt_admission_key", Kind: Fact,
	Says: "One transport identity: the digest of account, channel and transport key, and the Receipt that it is bound to for ever.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "key_digest", Type: typeDigest},
		{Name: "receipt_id", Type: typeID},
		{Name: "admitted_digest", Type: typeDigest},
		{Name: "body_digest", Type: typeDigest},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"account_id", "key_digest"},
	Reader:  "admission, by exact key: a redelivery finds its Receipt",
}

var receiptFact = &Table{
	Name: "receipt", Kind: Fact,
	Says: "One accepted delivery, exactly as it was received.",
	Columns: []Column{
		{Name: "receipt_id", Type: typeID},
		{Name: "account_id", Type: typeID},
		{Name: "epoch_id", Type: typeID},
		{Name: "channel", Type: typeKey},
		{Name: "transport_key", Type: typeKey},
		{Name: "body", Type: typeEvidence},
		{Name: "header", Type: typeEvidence},
		{Name: "credential_generation_id", Type: typeID, Nullable: true},
		{Name: "secret_member", Type: typeKey, Nullable: true},
		{Name: "birth", Type: typeState},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"receipt_id"},
	Reader:  "materialization, by exact Receipt",
	Checks: []Check{
		{"receipt_birth", "birth IN (" + quoted(births[1:]) + ")"},
		{"receipt_verified", "(credential_generation_id IS NULL) = (secret_member IS NULL)"},
	},
}

var receiptHead = guardTable(machines.Receipt, Head, RankReceipt, Table{
	Says: "A Receipt whose children are not all written.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "receipt_id", Type: typeID},
		{Name: "due_at", Type: typeInstant},
	},
	Primary: []string{"account_id", "receipt_id"},
	Reader:  "materialization, by exact Receipt, locked; the account's open Receipts",
	Indexes: []Index{{Name: "receipt_head_due", Columns: []string{"due_at"}, Reader: "the sweep for what a dead process left, from a moving lower bound"}},
})

var componentFact = &Table{
	Name: "receipt_component", Kind: Fact,
	Says: "One item of a Receipt and what became of it, decided once.",
	Columns: []Column{
		{Name: "receipt_id", Type: typeID},
		{Name: "ordinal", Type: typeCount},
		{Name: "account_id", Type: typeID},
		{Name: "verdict", Type: typeState},
		{Name: "reason", Type: typeEdge, Nullable: true},
		{Name: "event_id", Type: typeID, Nullable: true},
		{Name: "content_digest", Type: typeDigest, Nullable: true},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"receipt_id", "ordinal"},
	Reader:  "materialization, all components of one Receipt",
	Checks: []Check{
		{"receipt_component_verdict", "verdict IN (" + quoted(componentVerdicts[1:]) + ")"},
		{"receipt_component_reason", "(verdict = 'quarantined') = (reason IS NOT NULL)"},
		{"receipt_component_event", "verdict != 'event' OR event_id IS NOT NULL AND content_digest IS NOT NULL"},
	},
}

var redeliveryFact = &Table{
	Name: "receipt_redelivery", Kind: Fact,
	Says: "A later delivery under a Receipt's transport key that was not the same, byte for byte. It moves no state.",
	Columns: []Column{
		{Name: "receipt_id", Type: typeID},
		{Name: "body_digest", Type: typeDigest},
		{Name: "account_id", Type: typeID},
		{Name: "answer", Type: typeState},
		{Name: "body", Type: typeEvidence},
		{Name: "header", Type: typeEvidence},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"receipt_id", "body_digest"},
	Reader:  "admission, by exact Receipt and body; whoever asks what else came under a Receipt's key",
	Checks:  []Check{{"receipt_redelivery_answer", "answer IN (" + quoted(redeliveryAnswers[1:]) + ")"}},
}

var receiptLedger = ledgerTable(machines.Receipt)

// Rows of deliveries.
var (
	AdmissionKeys = Rows[inbound.AdmissionKey]{admissionKeyFact, func(r *inbound.AdmissionKey) []any {
		return []any{&r.Account, &r.Key, &r.Receipt, &r.Admitted, &r.Body}
	}}
	Receipts = Rows[inbound.Receipt]{receiptFact, func(r *inbound.Receipt) []any {
		return []any{&r.ID, &r.Account, &r.Epoch, &r.Channel, &r.TransportKey, blob{&r.Body}, blob{&r.Header},
			optional[facts.CredentialGenerationID]{&r.Credential}, optional[facts.DefinitionID]{&r.Member}, wordColumn[inbound.Birth]{&r.Birth, births, "birth"}}
	}}
	Redeliveries = Rows[inbound.Redelivery]{redeliveryFact, func(r *inbound.Redelivery) []any {
		return []any{&r.Receipt, &r.Body, &r.Account, wordColumn[inbound.RedeliveryAnswer]{&r.Answer, redeliveryAnswers, "redelivery answer"}, blob{&r.Raw}, blob{&r.Header}}
	}}
	Components = Rows[inbound.Component]{componentFact, func(r *inbound.Component) []any {
		return []any{&r.Receipt, &r.Ordinal, &r.Account, wordColumn[inbound.ComponentVerdict]{&r.Verdict, componentVerdicts, "verdict"}, codeColumn{&r.Reason},
			optional[facts.EventID]{&r.Event}, optional[facts.Digest]{&r.Content}}
	}}
)

// ReceiptHeads are the heads of Receipts that are not materialized whole.
var ReceiptHeads = heads(machines.ReceiptPending, machines.ReceiptMaterialize, receiptHead, receiptLedger,
	func(g *inbound.ReceiptHead) (*facts.AccountID, *facts.ReceiptID) { return &g.Account, &g.Receipt },
	func(g *inbound.ReceiptHead) []any { return []any{instant{&g.Due}} })

var redeliveryAnswers = []string{"", inbound.AnsweredDuplicate.String(), inbound.AnsweredConflict.String()}

// blob stores bytes as they are. No bytes are a value of their own and never NULL.
type blob struct{ at *[]byte }

func (b blob) Value() (driver.Value, error) { return append([]byte{}, *b.at...), nil }

func (b blob) Scan(source any) error {
	raw, ok := source.([]byte)
	if !ok {
		return misread("bytes", source)
	}
	*b.at = append([]byte{}, raw...)
	return nil
}

// codeColumn stores a reason code by its stable text; no code is NULL.
type codeColumn struct{ at *facts.Code }

func (c codeColumn) Value() (driver.Value, error) {
	switch {
	case *c.at == 0:
		return nil, nil
	case c.at.String() == "":
		return nil, unbound("a code outside the table of reasons")
	}
	return []byte(c.at.String()), nil
}

func (c codeColumn) Scan(source any) error {
	if source == nil {
		*c.at = 0
		return nil
	}
	raw, _ := source.([]byte)
	code, err := facts.ParseCode(string(raw))
	*c.at = code
	return err
}

var births = []string{"", inbound.BornOpen.String(), inbound.BornWhole.String()}

// wordColumn stores a small enumeration as its words, of which the zero value has none.
type wordColumn[T ~uint8] struct {
	at    *T
	words []string
	noun  string
}

func (w wordColumn[T]) Value() (driver.Value, error) {
	if n := int(*w.at); n > 0 && n < len(w.words) {
		return []byte(w.words[n]), nil
	}
	return nil, unbound("no " + w.noun)
}

func (w wordColumn[T]) Scan(source any) error {
	raw, _ := source.([]byte)
	n := slices.Index(w.words, string(raw))
	if n <= 0 {
		return misread("a "+w.noun, source)
	}
	*w.at = T(n)
	return nil
}

var componentVerdicts = []string{"", inbound.ComponentEvent.String(), inbound.ComponentQuarantined.String()}
