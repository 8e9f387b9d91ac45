package ledger

import (
	"context"

	"connectorcore/facts"
	"connectorcore/ledger/turn"
)

// TakeTurn takes one turn of an account; see turn.Take.
func (l *Ledger) TakeTurn(ctx context.Context, account facts.AccountID, items []turn.Item) ([]turn.Verdict, error) {
	return turn.Take(ctx, l.db, account, items)
}
