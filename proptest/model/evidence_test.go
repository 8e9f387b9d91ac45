package model

import (
	"database/sql"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

// someSubject is a subject of the kind that stands nowhere.
func someSubject(kind facts.SubjectKind) facts.Subject {
	account := facts.Mint[facts.AccountID]()
	switch kind {
	case facts.InputSubject:
		return facts.OfInput("a test")
	case facts.StoreSubject:
		return facts.OfStore("a test")
	case facts.AccountSubject:
		return facts.OfAccount(account)
	case facts.EpochSubject:
		return facts.OfEpoch(facts.Mint[facts.EpochID]())
	case facts.CredentialSubject:
		return facts.OfCredential(facts.Mint[facts.CredentialGenerationID]())
	case facts.BarrierSubject:
		return facts.OfBarrier(facts.Mint[facts.BarrierSetID]())
	case facts.WindowSubject:
		return facts.OfWindow(facts.WindowKey{Account: account, Subject: facts.Mint[facts.WindowID]()})
	case facts.ExecutionSubject:
		return facts.OfExecution(facts.ExecutionKey{Account: account, Subject: facts.Mint[facts.ExecutionID]()})
	case facts.DependencySubject:
		return facts.OfDependency(facts.DependencyKey{Account: account, Subject: facts.Mint[facts.DependencyID]()})
	case facts.EffectSubject:
		return facts.OfEffect(facts.EffectKey{Account: account, Subject: facts.Mint[facts.EffectID]()})
	case facts.PermitSubject:
		return facts.OfPermit(facts.PermitKey{Account: account, Subject: facts.Mint[facts.PermitID]()})
	case facts.OwnerSubject:
		return facts.OfOwner("catalog", facts.Mint[facts.OwnerBarrierID]())
	case facts.GenerationSubject:
		return facts.OfGeneration("catalog view 1", facts.Digest{1})
	default:
		return facts.OfLink(facts.LinkKey{Account: account, Subject: facts.Mint[facts.LinkID]()})
	}
}

// Each evidence query of the closed table runs on the declared schema under the role that only reads, and finds its
// rows by the clustered key, whatever the size of a table. A query about the store itself only has to answer.
func TestEveryEvidenceQueryIsAnExactReadOfTheSchema(t *testing.T) {
	reader := world.Converged(t).Pool(t, schema.RoleReader)
	planned := map[string]bool{}
	for _, reason := range facts.Reasons() {
		for _, kind := range reason.Subjects {
			statement, args, err := facts.Refuse(reason.Code, someSubject(kind), "").Evidence()
			if err != nil {
				t.Errorf("%s of %s: %v", reason.Text, kind, err)
			}
			if statement == "" || planned[statement] {
				continue
			}
			planned[statement] = true
			rowsOf(t, reader, statement, args)
			if kind == facts.StoreSubject {
				continue
			}
			plan := strings.Join(rowsOf(t, reader, "EXPLAIN FORMAT='brief' "+statement, args), "\n")
			exact := strings.Contains(plan, "Point_Get") || strings.Contains(plan, "TableRangeScan")
			if !exact || strings.Contains(plan, "FullScan") || strings.Contains(plan, "Index") {
				t.Errorf("%s of %s is no exact read: %s\n%s", reason.Text, kind, statement, plan)
			}
		}
	}
	if len(planned) < 30 {
		t.Errorf("only %d statements were tried", len(planned))
	}
}

// rowsOf runs a statement and gives its rows, the columns of each joined.
func rowsOf(t *testing.T, db *sql.DB, statement string, args []any) (out []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), statement, args...)
	if err != nil {
		t.Errorf("%s: %v", statement, err)
		return nil
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Error(err)
	}
	for rows.Next() {
		cells, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Error(err)
		}
		words := make([]string, len(cells))
		for i, cell := range cells {
			words[i] = string(cell)
		}
		out = append(out, strings.Join(words, " | "))
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
	return out
}
