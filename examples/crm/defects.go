package main

import (
	"context"

	"connectorcore/engine/execute"
	"connectorcore/ledger"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
)

// defects are what an application may do wrong without the daemon's doing. The demo plants them to show that it sees them.
// None is there unless a flag names its record.
type defects struct {
	twice string // a record whose application is logged twice
	late  string // a record whose first input is applied behind its second
}

func applyTwice(ctx context.Context, h *ledger.Handle, c execute.Command, in input) error {
	if err := apply(ctx, h, c, in); err != nil {
		return err
	}
	return note(ctx, h, c, in)
}

// applyLate says of a record's first input that it is applied, and only puts it by. It is applied behind the second one.
func applyLate(ctx context.Context, h *ledger.Handle, c execute.Command, in input) error {
	first, found := c, false
	err := h.Query(ctx, func(row ledger.Row) error {
		found = true
		return row.Scan(&first.Command, &first.Input)
	}, "SELECT command, input FROM postponed WHERE account = ? AND record = ?", c.Account[:], in.Record)
	if err != nil {
		return err
	}
	if !found {
		_, err := h.Exec(ctx, "INSERT INTO postponed (account, record, command, input) VALUES (?, ?, ?, ?)", c.Account[:], in.Record, c.Command[:], c.Input)
		return err
	}
	if err := apply(ctx, h, c, in); err != nil {
		return err
	}
	var old input
	if err := json.Unmarshal(first.Input, &old); err != nil {
		return errors.Wrap(err, "the input that was put by")
	}
	return apply(ctx, h, first, old)
}
