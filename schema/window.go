package schema

import (
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/machines"
)

var windowFact = &Table{
	Name: "projection_window", Kind: Fact,
	Says: "The birth of a window of one grouping key under an exact route, with its immutable deadline.",
	Columns: []Column{
		{Name: "window_id", Type: typeID},
		{Name: "account_id", Type: typeID},
		{Name: "epoch_id", Type: typeID},
		{Name: "grouping_digest", Type: typeDigest},
		{Name: "route", Type: typeKey},
		{Name: "route_version", Type: typeKey},
		{Name: "grouping_key", Type: typeKey},
		{Name: "deadline_at", Type: typeInstant},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"window_id"},
	Reader:  "sealing, by exact window",
}

var memberFact = &Table{
	Name: "window_member", Kind: Fact,
	Says: "The one decision into which window of an exact route an event goes.",
	Columns: []Column{
		{Name: "window_id", Type: typeID},
		{Name: "ordinal", Type: typeCount},
		{Name: "account_id", Type: typeID},
		{Name: "event_id", Type: typeID},
		{Name: "route_digest", Type: typeDigest},
		{Name: "born_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"window_id", "ordinal"},
	Reader:  "sealing: the membership of one exact window, in its order",
	Indexes: []Index{{Name: "window_member_event", Columns: []string{"event_id", "route_digest"}, Unique: true,
		Reader: "R19: an event is in one window of an exact route; which one, for an operator and the auditor"}},
}

// ColumnGrouping is what an open window takes input of; it is absent when the window is full.
const ColumnGrouping = "grouping_digest"

var windowHead = guardTable(machines.ProjectionWindow, Head, RankWindow, Table{
	Says: "A window that is not closed yet.",
	Columns: []Column{
		{Name: "account_id", Type: typeID},
		{Name: "window_id", Type: typeID},
		{Name: ColumnGrouping, Type: typeDigest, Nullable: true},
		{Name: "members", Type: typeCount},
		{Name: "payload_bytes", Type: typeCount},
		{Name: "deadline_at", Type: typeInstant},
		{Name: "due_at", Type: typeInstant},
	},
	Primary: []string{"account_id", "window_id"},
	Reader:  "sealing and input, by exact window, locked; the account's open windows",
	Indexes: []Index{
		{Name: "projection_window_head_grouping", Columns: []string{ColumnGrouping}, Unique: true,
			Reader: "U13: at most one window of an account, epoch, exact route and grouping key takes input; input finds it"},
		{Name: "projection_window_head_due", Columns: []string{"due_at"}, Reader: "the sweep for windows that are to be sealed, from a moving lower bound"},
	},
})

var windowLedger = ledgerTable(machines.ProjectionWindow)

// Rows of windows.
var (
	ProjectionWindows = Rows[inbound.ProjectionWindow]{windowFact, func(r *inbound.ProjectionWindow) []any {
		return []any{&r.ID, &r.Account, &r.Epoch, &r.Grouping, &r.Route, &r.Version, &r.Key, instant{&r.Deadline}}
	}}
	WindowMembers = Rows[inbound.WindowMember]{memberFact, func(r *inbound.WindowMember) []any {
		return []any{&r.Window, &r.Ordinal, &r.Account, &r.Event, &r.Route}
	}}
	WindowHeads = heads(machines.ProjectionWindowOpen, machines.ProjectionWindowSeal, windowHead, windowLedger,
		func(g *inbound.WindowHead) (*facts.AccountID, *facts.WindowID) { return &g.Account, &g.Window },
		func(g *inbound.WindowHead) []any {
			return []any{optional[facts.Digest]{&g.Grouping}, &g.Members, &g.Bytes, instant{&g.Deadline}, instant{&g.Due}}
		})
)
