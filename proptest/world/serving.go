package world

import (
	"database/sql/driver"
	"strings"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/machines"
	"connectorcore/schema"
)

// Serving makes an account whose gate serves under an active epoch of its own, written past the protocol: for tests of what
// comes after an activation. A test of the protocol itself activates.
func (s *Store) Serving(t testing.TB) (facts.AccountID, inbound.Premise) {
	t.Helper()
	account := facts.Mint[facts.AccountID]()
	epoch := facts.ServingEpoch{ID: facts.Mint[facts.EpochID](), Profile: facts.ProfileV2, Digest: facts.Digest{1}, ShareCount: 1}
	author, err := epoch.Profile.Author()
	if err != nil {
		t.Fatal(err)
	}
	epoch.SharesDigest = author.ShareSet(epoch.ID, []facts.AccountID{account})
	ref := facts.EpochRef{ID: epoch.ID, Digest: epoch.Digest}
	fence := uint64(6)
	s.insert(t, schema.ServingEpochs.Table, schema.ServingEpochs.Fields(&epoch))
	s.insert(t, schema.Epochs.Table, append(schema.Epochs.Fields(&facts.EpochGuard{Epoch: epoch.ID}), machines.ServingEpochActive, uint64(3)))
	s.insert(t, schema.EpochShares.Table, schema.EpochShares.Fields(&facts.EpochShare{Epoch: epoch.ID, Account: account}))
	s.insert(t, schema.Gates.Table, append(schema.Gates.Fields(&facts.Gate{Account: account, Epoch: ref}), machines.AccountServingGateV2Serving, fence))
	return account, inbound.Premise{Fence: facts.Fence(fence), Epoch: ref}
}

// Execution makes a ready execution of an account, written past the protocol, and its command. The reference is a digest
// that no two of them share.
func (s *Store) Execution(t testing.TB, account facts.AccountID, premise inbound.Premise) inbound.CommandRef {
	t.Helper()
	author, err := facts.ProfileV2.Author()
	if err != nil {
		t.Fatal(err)
	}
	execution := inbound.Execution{Account: account, Projection: facts.Mint[facts.ProjectionID](), Epoch: premise.Epoch.ID}
	execution.ID = author.Execution(execution.Projection, 0).ID
	execution.Ref = facts.ExecutionRefDigest{Digest: author.ExecutionInput(execution.ID[:])}
	head := inbound.ExecutionHead{Account: account, Execution: execution.ID, Projection: execution.Projection, Due: time.Unix(1, 0)}
	s.insert(t, schema.Executions.Table, schema.Executions.Fields(&execution))
	s.insert(t, schema.ExecutionHeads.Table, append(schema.ExecutionHeads.Fields(&head), machines.ExecutionReady, uint64(1)))
	return inbound.CommandRef{Account: account, Execution: execution.ID, Command: author.Command(execution.ID).ID, Ref: execution.Ref}
}

// insert writes one row as the administrator.
func (s *Store) insert(t testing.TB, table *schema.Table, fields []any) {
	t.Helper()
	bound := make([]any, len(fields))
	for i, field := range fields {
		value, err := driver.DefaultParameterConverter.ConvertValue(field)
		if err != nil {
			t.Fatalf("world: column %d of %s: %v", i, table.Name, err)
		}
		bound[i] = value
	}
	query := "INSERT INTO " + table.Name + " (" + strings.Join(table.ColumnNames()[:len(bound)], ",") + ") VALUES (?" + strings.Repeat(",?", len(bound)-1) + ")"
	if _, err := s.Admin.ExecContext(t.Context(), query, bound...); err != nil {
		t.Fatalf("world: %s: %v", table.Name, err)
	}
}
