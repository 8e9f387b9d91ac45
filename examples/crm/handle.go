package main

import (
	"context"
	"crypto/sha256"

	"connectorcore/engine/execute"
	"connectorcore/ledger"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// application is the code that the daemon asks. It holds nothing between two commands.
type application struct {
	defects defects // that the demo has planted
}

// input is what a pack's mapping made of an event: the record that it is about, the fields that the source owns, and
// what those begin with that belong to us.
type input struct {
	Record      string         `json:"record"`
	Source      jsontext.Value `json:"source"`
	Application jsontext.Value `json:"application"`
}

// handle does what one command asks for. All that it writes commits together with its answer, or not at all; so it needs
// no key of its own against doing it twice.
func (a *application) handle(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
	if _, known := tables[c.Definition.String()]; !known {
		return execute.Answer{Outcome: execute.Rejected}, nil // nobody taught us this command, and trying again will not
	}
	var in input
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return execute.Answer{}, errors.Wrap(err, "the command's input")
	}
	do := apply
	switch in.Record {
	case a.defects.twice:
		do = applyTwice
	case a.defects.late:
		do = applyLate
	}
	if err := do(ctx, h, c, in); err != nil {
		return execute.Answer{}, err
	}
	return execute.Answer{Outcome: execute.Applied}, nil
}

// apply brings the command's record forward, and writes a line about it.
func apply(ctx context.Context, h *ledger.Handle, c execute.Command, in input) error {
	if err := put(ctx, h, tables[c.Definition.String()], c.Account[:], in); err != nil {
		return err
	}
	return note(ctx, h, c, in)
}

// note writes a line into the log, with the revision that the record has now: so the lines of a record tell in which
// order they were written, whoever wrote them.
func note(ctx context.Context, h *ledger.Handle, c execute.Command, in input) error {
	digest := sha256.Sum256(c.Input)
	_, err := h.Exec(ctx, "INSERT INTO applied_log (command, account, definition, record, input_digest, revision) "+
		"SELECT ?, account, ?, record, ?, revision FROM "+tables[c.Definition.String()]+" WHERE account = ? AND record = ?",
		c.Command[:], c.Definition.String(), digest[:], c.Account[:], in.Record)
	return err
}

// put brings a record to what the source says of it. What the application owns it keeps from the first time on.
func put(ctx context.Context, h *ledger.Handle, table string, account []byte, in input) error {
	changed, err := h.Exec(ctx, "UPDATE "+table+" SET source = ?, revision = revision + 1 WHERE account = ? AND record = ?",
		[]byte(in.Source), account, in.Record)
	if err != nil {
		return err
	}
	if rows, err := changed.RowsAffected(); err != nil || rows > 0 {
		return err
	}
	_, err = h.Exec(ctx, "INSERT INTO "+table+" (account, record, source, own, revision) VALUES (?, ?, ?, ?, 1)",
		account, in.Record, []byte(in.Source), []byte(in.Application))
	return err
}
