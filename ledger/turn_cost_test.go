package ledger_test

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/turn"

	"github.com/cockroachdb/errors"
)

// history lets an account live on until it has had so many operations, each admitted, claimed at its birth and completed, by
// turns of their own: their heads were inserted and deleted.
func (s *scene) history(premise inbound.Premise, done, operations int) {
	for done < operations {
		var admits, completes []turn.Item
		for range min(turn.MaxItems, operations-done) {
			key := fmt.Sprintf("past-%d", done)
			admits = append(admits, turn.Item{Admit: delivery(s.t, premise, key, "a body", eventsOf(s.t, true, key))})
			done++
		}
		for _, v := range s.turn(admits...) {
			completes = append(completes, turn.Item{Complete: completion(v.Born[0])})
		}
		for _, v := range s.turn(completes...) {
			if v.Refusal != nil {
				s.t.Fatal(v.Refusal)
			}
		}
	}
}

// access is how one command of a turn reached its rows: the table, and for each operator that reads from the store its kind
// and how many rows it read.
type access struct {
	command string
	reads   []string
}

func (a access) String() string { return a.command + " " + strings.Join(a.reads, " ") }

var (
	reader = regexp.MustCompile(`(Point_Get|Batch_Point_Get|TableRangeScan|TableFullScan|TableRowIDScan|IndexRangeScan|IndexFullScan|IndexLookUp|IndexMerge)`)
	onWhat = regexp.MustCompile(`(?:FROM|UPDATE) (\w+)`)
)

// explained asks the server, on the connection of a command and in its transaction, how it carries the command out. What it
// measures is the rows that each reading operator returned, actRows of EXPLAIN ANALYZE, before any filter above it. The
// server on its own store counts no keys, so that versions and deleted rows that lie under a range are not in the number:
// that is why a range is admitted below an exact parent of facts only, where nothing is ever deleted.
func explained(one step) (access, error) {
	verb := strings.Fields(one.query)[0]
	a := access{command: verb}
	if table := onWhat.FindStringSubmatch(one.query); table != nil {
		a.command += " " + table[1]
	}
	reads := verb == "SELECT"
	if !reads && verb != "UPDATE" && verb != "DELETE" {
		return a, nil // an insert reads the exact keys that it writes, and nothing else
	}
	ctx := context.Background()
	if !reads { // it is carried out here, and then undone
		if _, err := one.conn.ExecContext(ctx, "SAVEPOINT explained", nil); err != nil {
			return a, err
		}
	}
	rows, err := one.conn.QueryContext(ctx, "EXPLAIN ANALYZE "+one.query, one.args)
	if err != nil {
		return a, err
	}
	line := make([]driver.Value, len(rows.Columns()))
	for err = rows.Next(line); err == nil; err = rows.Next(line) {
		operator := reader.FindString(fmt.Sprintf("%s", line[0]))
		if operator == "" {
			continue
		}
		n, parsed := strconv.Atoi(fmt.Sprintf("%s", line[2]))
		if parsed != nil {
			return a, errors.CombineErrors(parsed, rows.Close())
		}
		info := fmt.Sprintf("%s", line[6])
		if at := strings.Index(info, "range:["); operator == "TableRangeScan" && at >= 0 && oneParent(info[at+len("range:["):]) {
			operator = "TableRangeScan-of-one-parent"
		}
		a.reads = append(a.reads, fmt.Sprintf("%s:%d", operator, n))
	}
	if err = errors.CombineErrors(rows.Close(), err); !errors.Is(err, io.EOF) {
		return a, err
	}
	if !reads {
		_, err = one.conn.ExecContext(ctx, "ROLLBACK TO explained", nil)
		return a, err
	}
	return a, nil
}

// oneParent tells whether a range begins and ends at the same key, as "x,x], ..." says it.
func oneParent(text string) bool {
	end := strings.Index(text, "], keep order")
	return end > 0 && end%2 == 1 && text[:end/2] == text[end/2+1:end]
}

// costs are the commands of one turn for each kind of item, with how each reached its rows.
func (s *scene) costs(premise inbound.Premise, prefix string) map[string][]string {
	l, commands := s.tapped()
	all := map[string][]string{}
	items := s.modeItems(premise, prefix)
	for i, kind := range kinds {
		commands.watch(func(one step) error {
			a, err := explained(one)
			all[kind] = append(all[kind], a.String())
			return err
		})
		if v := s.turnBy(l, items[i])[0]; v.Refusal != nil && kind != "conflict" {
			s.t.Errorf("%s: %v", kind, v.Refusal)
		}
	}
	return all
}

// P56: the statements of a turn, and the rows that each of them reads, are the same on an account without a past and on one
// that has completed 20,000 operations. Nothing reads a head or an index by a range, in which deleted rows would lie.
func TestP56AdmissionClaimAndRetryDoNotDependOnHistory(t *testing.T) {
	s, premise := turnScene(t)
	young := s.costs(premise, "young")
	began := time.Now()
	s.history(premise, 0, 20_000)
	t.Logf("20,000 operations in %.1f s", time.Since(began).Seconds())
	if n := s.count("SELECT COUNT(*) FROM execution_ledger WHERE edge='complete'"); n != 20_001 {
		t.Fatalf("the account has completed %d operations", n)
	}
	old := s.costs(premise, "old")
	for _, kind := range kinds {
		t.Logf("%-11s %2d statements: %s", kind, len(young[kind]), strings.Join(young[kind], "; "))
		if !slices.Equal(young[kind], old[kind]) {
			t.Errorf("%s costs more with a past:\n%q\nwithout one:\n%q", kind, old[kind], young[kind])
		}
		for _, command := range old[kind] {
			for _, read := range strings.Fields(command)[1:] {
				operator, _, measured := strings.Cut(read, ":")
				exact := operator == "Point_Get" || operator == "Batch_Point_Get"
				if measured && !exact && (operator != "TableRangeScan-of-one-parent" || strings.Contains(command, "_head ")) {
					t.Errorf("%s reads by %s: %s", kind, operator, command)
				}
			}
		}
	}
}

// R12: what a turn costs in statements depends on its items through their size class only: up to 256 of them share every
// statement, and up to 500 take two of each that writes or reads them by key, whatever they carry.
func TestR12StatementsDependOnTheSizeClassAlone(t *testing.T) {
	s, premise := turnScene(t)
	l, commands := s.tapped()
	// Of these are one for all items: BEGIN, gate, share, epoch, its state, COMMIT; but a turn that writes nothing has none.
	const once = 6
	want := map[string]int{"admit": 16, "bare": 10, "materialize": 16, "duplicate": 9, "claim": 9, "end": 10, "complete": 10}
	for _, n := range []int{1, 8, 64, 256, 500} {
		for kind, items := range s.batches(premise, n) {
			commands.watch(nil)
			for i, v := range s.turnBy(l, items...) {
				if v.Refusal != nil {
					t.Fatalf("%d %s, item %d: %v", n, kind, i, v.Refusal)
				}
			}
			statements := want[kind]
			if n > 256 {
				statements += statements - once
			}
			if got := commands.count(); got != statements {
				t.Errorf("%d items %s: %d statements, want %d", n, kind, got, statements)
			}
		}
	}
}

// batches yields turns of n items of one kind, each item unlike its neighbours in everything that may differ.
func (s *scene) batches(premise inbound.Premise, n int) func(func(string, []turn.Item) bool) {
	key := func(kind string, i int) string { return fmt.Sprintf("%s-%d-%d", kind, n, i) }
	batch := func(of func(i int) turn.Item) (items []turn.Item) {
		for i := range n {
			items = append(items, of(i))
		}
		return items
	}
	bare := batch(func(i int) turn.Item { return turn.Item{Admit: delivery(s.t, premise, key("bare", i), "a body", nil)} })
	admit := batch(func(i int) turn.Item {
		ask := delivery(s.t, premise, key("admit", i), "a body", eventsOf(s.t, true, key("admit", i)))
		ask.Claim = &turn.Holding{Holder: facts.Mint[facts.HolderID](), Lease: time.Minute + time.Duration(i)*time.Second}
		return turn.Item{Admit: ask}
	})
	born := func(i int) turn.Born {
		author, err := facts.ProfileV2.Author()
		ok(s.t, err)
		derived := admit[i].Admit.Content.Components[0].Event
		canonical := author.CanonicalProjection(facts.CanonicalProjection{Account: s.accounts[0], Route: derived.Inputs[0].Route, Members: []facts.SourceEventKey{derived.Key}})
		execution := author.Execution(author.Projection(canonical, premise.Epoch.ID, derived.Inputs[0].Version, facts.LiveGeneration).ID, 0).ID
		ref := author.ExecutionRef(facts.ExecutionRef{Execution: execution, PackGeneration: derived.Inputs[0].PackGeneration, Epoch: facts.EpochDigest{Digest: premise.Epoch.Digest},
			Definition: derived.Inputs[0].Command, Version: derived.Inputs[0].CommandVersion, Input: author.ExecutionInput(derived.Inputs[0].Bytes)})
		return turn.Born{Execution: execution, Command: author.Command(execution).ID, Ref: ref}
	}
	return func(yield func(string, []turn.Item) bool) {
		_ = yield("bare", bare) &&
			yield("materialize", batch(func(i int) turn.Item {
				return turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare[i].Admit.Receipt, Content: *eventsOf(s.t, true, key("later", i))}}
			})) &&
			yield("admit", admit) &&
			yield("duplicate", batch(func(i int) turn.Item {
				again := *admit[i].Admit
				again.Receipt, again.Body = facts.Mint[facts.ReceiptID](), []byte("retry")
				return turn.Item{Admit: &again}
			})) &&
			yield("end", batch(func(i int) turn.Item {
				return turn.Item{End: &turn.End{Execution: born(i).Execution, Attempt: 1, Holder: admit[i].Admit.Claim.Holder, Reason: facts.ExecutionFailing,
					Delay: -time.Duration(i) * time.Millisecond}}
			})) &&
			yield("claim", batch(func(i int) turn.Item {
				return turn.Item{Claim: &turn.Claim{Premise: premise, Execution: born(i).Execution,
					Holding: turn.Holding{Holder: facts.Mint[facts.HolderID](), Lease: time.Minute + time.Duration(i)*time.Second}}}
			})) &&
			yield("complete", batch(func(i int) turn.Item { return turn.Item{Complete: completion(born(i))} }))
	}
}

// BenchmarkTurnOverHistory is what one item costs in a turn of its own, for each kind, on one account as its past grows: the
// time of its turn, the statements and the rows that their operators read. The last two must not grow, and fail the
// benchmark if they do. Run it once, with -benchtime=1x and a timeout of an hour: the greatest past takes minutes to make.
func BenchmarkTurnOverHistory(b *testing.B) {
	s, premise := servingScene(b)
	var young map[string][]string
	lived, runs := 0, 0
	for _, operations := range []int{0, 20_000, 200_000} {
		b.Run(strconv.Itoa(operations), func(b *testing.B) {
			began := time.Now()
			s.history(premise, lived, operations)
			b.Logf("%d operations more in %.0f s", operations-lived, time.Since(began).Seconds())
			if lived = operations; s.count("SELECT COUNT(*) FROM execution_ledger WHERE edge='complete'") < operations {
				b.Fatal("the account has not completed its past")
			}
			for range b.N {
				runs++
				costs := s.costs(premise, fmt.Sprintf("costs-%d", runs))
				if young == nil {
					young = costs
				}
				took := s.times(premise, fmt.Sprintf("times-%d", runs))
				for _, kind := range kinds {
					if !slices.Equal(costs[kind], young[kind]) {
						b.Errorf("%s costs more after %d operations:\n%q\nand before:\n%q", kind, operations, costs[kind], young[kind])
					}
					b.ReportMetric(float64(len(costs[kind])), kind+"-statements")
					b.ReportMetric(float64(rowsOf(costs[kind])), kind+"-rows")
					b.ReportMetric(float64(took[kind].Microseconds())/1000, kind+"-ms")
				}
			}
		})
	}
}

// times are how long a turn of one item takes, for each kind, in the mean of so many turns.
func (s *scene) times(premise inbound.Premise, prefix string) map[string]time.Duration {
	const turns = 50
	took := map[string]time.Duration{}
	for i := range turns {
		items := s.modeItems(premise, fmt.Sprintf("%s-%d", prefix, i))
		for at, kind := range kinds {
			began := time.Now()
			s.turn(items[at])
			took[kind] += time.Since(began) / turns
		}
	}
	return took
}

// rowsOf is how many rows the operators of all commands read.
func rowsOf(commands []string) (rows int) {
	for _, command := range commands {
		for _, read := range strings.Fields(command)[1:] {
			if _, number, measured := strings.Cut(read, ":"); measured {
				n, _ := strconv.Atoi(number)
				rows += n
			}
		}
	}
	return rows
}
