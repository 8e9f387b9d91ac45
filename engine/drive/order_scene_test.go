package drive_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectorcore/engine/execute"
	"connectorcore/engine/pack"
	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/proptest/stage"

	"github.com/cockroachdb/errors"
)

// sequence is a pack with a route whose steps of a key are numbered one by one, and one of independent notes.
const sequence = "testdata/sequence"

// numbered is what an application writes down that sees for itself in which order it is asked: each input of a record with the
// number that the record had before. It has no key that would hide a second time.
var numbered = map[string]string{"note": notes["note"], "applied": "record varbinary(64) NOT NULL, n int NOT NULL, was int NOT NULL, KEY (record)"}

// sequenced is how an input of the pack reads.
type sequenced struct {
	Record string
	Source struct{ N *json.Number }
}

// counting applies inputs into applied; whatever is not one of the pack's it notes.
func counting(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
	input, err := readInput(c)
	if err != nil || input.Source.N == nil {
		return noting(ctx, h, c)
	}
	_, err = h.Exec(ctx, "INSERT INTO applied (record, n, was) SELECT ?, ?, IFNULL(MAX(n), 0) FROM applied WHERE record = ?", input.Record, input.Source.N.String(), input.Record)
	return execute.Answer{Outcome: execute.Applied}, err
}

func readInput(c execute.Command) (input sequenced, err error) {
	return input, errors.Wrap(json.Unmarshal(c.Input, &input), "an input")
}

// item is one of a delivery: a step or a note, of a key, with its number.
func item(kind, key string, n int) string {
	return fmt.Sprintf(`{"kind": %q, "key": %q, "n": %d}`, kind, key, n)
}

func steps(key string, numbers ...int) (all []string) {
	for _, n := range numbers {
		all = append(all, item("step", key, n))
	}
	return all
}

// carrying is a delivery of these items, another one at every call.
func carrying(t testing.TB, items ...string) stage.Delivery {
	t.Helper()
	name := fmt.Sprint("items ", made.Add(1))
	return stage.Delivery{Name: name, Channel: stage.Key[facts.Channel](t, "items"), Header: []pack.Line{{Name: "x-items-delivery", Value: name}},
		Body: []byte("[" + strings.Join(items, ",") + "]")}
}

// inOrder is what was applied of a record, in the order of its application.
func (s *scene) inOrder(record string) string {
	s.t.Helper()
	return s.words(fmt.Sprintf("SELECT IFNULL(GROUP_CONCAT(n ORDER BY was, n), '') FROM %s.applied WHERE record = '%s'", s.app.Name, record))
}

// appliedInOrder holds the application's own table against what there is to apply: each step of a record once, after the one
// before it.
func (s *scene) appliedInOrder(inputs int) {
	s.t.Helper()
	s.counts(map[string]int{
		"SELECT COUNT(*) FROM " + s.app.Name + ".applied":                     inputs,
		"SELECT COUNT(DISTINCT record, n) FROM " + s.app.Name + ".applied":    inputs,
		"SELECT COUNT(*) FROM " + s.app.Name + ".applied WHERE was <> n - 1":  0,
		"SELECT COUNT(*) FROM ordering_lane_guard WHERE state = 'held'":       0,
		"SELECT COUNT(*) FROM application_result WHERE outcome <> 'applied'":  0,
		"SELECT COUNT(*) FROM projection_ledger WHERE to_state <> 'minted'":   0,
		"SELECT COUNT(*) FROM execution_ledger WHERE to_state <> 'completed'": 0,
	})
	s.q01()
}

// drains waits until nothing is open, for as long as it becomes less.
func (s *scene) drains() {
	s.t.Helper()
	least, since := s.Count(s.t, openHeads), time.Now()
	for ; least > 0; <-time.After(50 * time.Millisecond) {
		if n := s.Count(s.t, openHeads); n < least {
			least, since = n, time.Now()
		} else if time.Since(since) > time.Minute {
			s.t.Fatalf("%d stay open", n)
		}
	}
}
