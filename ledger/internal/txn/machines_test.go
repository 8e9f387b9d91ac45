package txn

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/machines"
	"connectorcore/proptest/model"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var (
	kindBear = NewKind("test: bear")
	kindMove = NewKind("test: move")
)

// shown is evidence of any proof, for tests that are not about evidence.
type shown struct {
	proof machines.Proof
	Note  string
}

func (s shown) Proof() machines.Proof { return s.proof }
func (s shown) Version() uint16       { return 1 }

func show(t testing.TB, proof machines.Proof) facts.Evidence {
	t.Helper()
	evidence, err := facts.Prove(shown{proof, "test"})
	if err != nil {
		t.Fatal(err)
	}
	return evidence
}

// subject drives one machine of the schema through the kernel on TiDB.
type subject[R any, K comparable, G any, S machines.State, E machines.EdgeOf[S]] struct {
	rows   schema.Rows[R]
	guards schema.GuardRows[K, G, S, E]
	edges  []E
	fresh  func() R
	guard  func(R) G
	carry  func(K) *G // what a move sets the guard to carry
	lock   func(*Tx, []K) (*Guards[K, G, S, E], error)
	with   func(*Tx, R) (Write, error) // what is written together with the birth
}

func (s subject[R, K, G, S, E]) hold(tx *Tx, k K) (*Guards[K, G, S, E], error) {
	if s.lock != nil {
		return s.lock(tx, []K{k})
	}
	return Lock(tx, s.guards, []K{k})
}

// bear writes a new subject and returns its key.
func (s subject[R, K, G, S, E]) bear(t testing.TB, db *DB) K {
	t.Helper()
	fact := s.fresh()
	row := s.guard(fact)
	k := s.guards.KeyOf(&row)
	_, err := Run(t.Context(), db, kindBear, func(tx *Tx) (bool, error) {
		if _, err := Lock(tx, s.guards, []K{k}); err != nil {
			return false, err
		}
		loaded, err := Load(tx, s.rows, []R{fact})
		if err != nil {
			return false, err
		}
		writes := []Write{Born(loaded, s.guards, s.guard)}
		if s.with != nil {
			more, err := s.with(tx, fact)
			if err != nil {
				return false, err
			}
			writes = append(writes, more)
		}
		return true, tx.Apply(writes...)
	})
	if err != nil {
		t.Fatalf("%s: birth: %v", s.guards.Machine, err)
	}
	return k
}

// move takes one subject over edges in one transaction.
func (s subject[R, K, G, S, E]) move(t testing.TB, db *DB, k K, edges ...E) error {
	t.Helper()
	_, err := Run(t.Context(), db, kindMove, func(tx *Tx) (bool, error) {
		held, err := s.hold(tx, k)
		if err != nil {
			return false, err
		}
		var carried *G
		if s.carry != nil {
			carried = s.carry(k)
		}
		var steps []Step[K, G, E]
		for _, e := range edges {
			steps = append(steps, Step[K, G, E]{Key: k, Edge: e, Evidence: show(t, e.Proof()), Row: carried})
		}
		return true, tx.Apply(Move(held, steps))
	})
	return err
}

// path are edges from the start to a state, found over the hand-typed arrows.
func (s subject[R, K, G, S, E]) path(to string) []E {
	type reached struct {
		state string
		by    []E
	}
	queue := []reached{{state: s.guards.Start.String()}}
	seen := map[string]bool{queue[0].state: true}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if at.state == to {
			return at.by
		}
		for _, arrow := range model.Arrows[s.guards.Machine.String()] {
			i := slices.IndexFunc(s.edges, func(e E) bool { return e.String() == arrow.Edge })
			if arrow.From == at.state && !seen[arrow.To] {
				seen[arrow.To] = true
				queue = append(queue, reached{arrow.To, append(slices.Clone(at.by), s.edges[i])})
			}
		}
	}
	return nil
}

// standing is what the database says of a subject: its guard, none if it is gone, and its ledger.
func (s subject[R, K, G, S, E]) standing(t testing.TB, admin *sql.DB, k K) string {
	t.Helper()
	bound, err := keyFrom(s.guards.Key(&k))
	if err != nil {
		t.Fatal(err)
	}
	state, fence := "gone", uint64(0)
	query := selectByKey(s.guards.Table, schema.GuardTail, 1)
	err = admin.QueryRowContext(t.Context(), query, flat(keyValues([]key{bound}))...).Scan(&state, &fence)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	var ledger sql.NullString
	query = "SELECT GROUP_CONCAT(CONCAT(seq, ' ', edge, ' ', to_state) ORDER BY seq) FROM " + s.guards.Ledger.Name + " WHERE subject_id=?"
	if err := admin.QueryRowContext(t.Context(), query, s.guards.Subject(k)).Scan(&ledger); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s at %d after [%s]", state, fence, ledger.String)
}

// wholeProduct tries every edge in every state on TiDB: listed, it moves guard and ledger by exactly one; unlisted,
// it is refused and nothing moves.
func (s subject[R, K, G, S, E]) wholeProduct(t *testing.T) {
	store := world.Converged(t)
	db := openKernel(t, store, Options{})
	for _, state := range s.guards.Machine.States() {
		for _, edge := range s.edges {
			k := s.bear(t, db)
			path := s.path(state)
			if len(path) > 0 {
				if err := s.move(t, db, k, path...); err != nil {
					t.Fatalf("to %s: %v", state, err)
				}
			}
			before := s.standing(t, store.Admin, k)
			err := s.move(t, db, k, edge)
			listed := slices.ContainsFunc(model.Arrows[s.guards.Machine.String()], func(a model.Arrow) bool {
				return a.From == state && a.Edge == edge.String()
			})
			after := s.standing(t, store.Admin, k)
			switch {
			case !listed && !errors.HasAssertionFailure(err):
				t.Errorf("%s in %s: unlisted edge %s was not refused: %v", s.guards.Machine, state, edge, err)
			case !listed && before != after:
				t.Errorf("%s in %s: refused edge %s moved %q to %q", s.guards.Machine, state, edge, before, after)
			case listed && err != nil:
				t.Errorf("%s in %s: listed edge %s: %v", s.guards.Machine, state, edge, err)
			case listed && after != s.expected(append(slices.Clone(path), edge)):
				t.Errorf("%s in %s: edge %s left %q, want %q", s.guards.Machine, state, edge, after, s.expected(append(slices.Clone(path), edge)))
			}
		}
	}
	s.rawTriples(t, store)
	s.rawBirths(t, store)
}

// expected is what standing must say after a path, by the hand-typed arrows alone.
func (s subject[R, K, G, S, E]) expected(path []E) string {
	state, arrows := s.guards.Start.String(), model.Arrows[s.guards.Machine.String()]
	var ledger []string
	for i, e := range path {
		at := slices.IndexFunc(arrows, func(a model.Arrow) bool { return a.Edge == e.String() && a.From == state })
		state = arrows[at].To
		ledger = append(ledger, fmt.Sprintf("%d %s %s", i+1, e, state))
	}
	terminal := !slices.ContainsFunc(arrows, func(a model.Arrow) bool { return a.From == state })
	if terminal && s.guards.Deletes() {
		return fmt.Sprintf("gone at 0 after [%s]", strings.Join(ledger, ","))
	}
	return fmt.Sprintf("%s at %d after [%s]", state, len(path)+1, strings.Join(ledger, ","))
}

// rawTriples writes every (from, edge, to) with the ledger role's own hands: TiDB admits exactly the listed ones.
func (s subject[R, K, G, S, E]) rawTriples(t *testing.T, store *world.Store) {
	ledger := store.Pool(t, schema.RoleLedger)
	arrows := model.Arrows[s.guards.Machine.String()]
	states := append(s.guards.Machine.States(), "", "2", s.guards.Start.String()+" ", strings.ToUpper(s.guards.Start.String()))
	edges := []string{"", "1", s.edges[0].String() + " ", strings.ToUpper(s.edges[0].String())}
	for _, e := range s.edges {
		edges = append(edges, e.String())
	}
	admitted := 0
	for _, from := range states {
		for _, edge := range edges {
			for _, to := range states {
				listed := slices.Contains(arrows, model.Arrow{From: from, Edge: edge, To: to})
				err := insertTransition(t.Context(), ledger, s.guards.Ledger, 2, from, edge, to)
				if listed {
					admitted++
				}
				if listed != (err == nil) || err != nil && !hasCode(err, codeCheckViolated) {
					t.Fatalf("%s: raw (%q, %q, %q): listed %v, error %v", s.guards.Machine, from, edge, to, listed, err)
				}
			}
		}
	}
	if admitted != len(arrows) {
		t.Errorf("%s: TiDB admitted %d triples, the spec lists %d", s.guards.Machine, admitted, len(arrows))
	}
}

// rawBirths tries to begin a subject anywhere but in its start state, and to keep a head in a terminal one.
func (s subject[R, K, G, S, E]) rawBirths(t *testing.T, store *world.Store) {
	ledger := store.Pool(t, schema.RoleLedger)
	births := model.Births[s.guards.Machine.String()]
	for _, arrow := range model.Arrows[s.guards.Machine.String()] {
		err := insertTransition(t.Context(), ledger, s.guards.Ledger, 1, arrow.From, arrow.Edge, arrow.To)
		if starts := slices.Contains(births, arrow.From); starts != (err == nil) || err != nil && !hasCode(err, codeCheckViolated) {
			t.Errorf("%s: first transition %s from %s: %v", s.guards.Machine, arrow.Edge, arrow.From, err)
		}
	}
	if err := insertTransition(t.Context(), ledger, s.guards.Ledger, 0, births[0], s.edges[0].String(), s.edges[0].To().String()); !hasCode(err, codeCheckViolated) {
		t.Errorf("%s: a transition that consumes no fence: %v", s.guards.Machine, err)
	}
	for _, state := range append(s.guards.Machine.States(), "", "1", births[0]+" ") {
		for _, fence := range []uint64{0, 1, 2} {
			s.rawGuard(t, ledger, state, fence)
		}
	}
}

func (s subject[R, K, G, S, E]) rawGuard(t *testing.T, ledger *sql.DB, state string, fence uint64) {
	m := s.guards.Machine
	row := s.guard(s.fresh())
	bound, err := values(s.guards.Fields(&row))
	if err != nil {
		t.Fatal(err)
	}
	table := s.guards.Table
	query := "INSERT INTO " + table.Name + " (" + strings.Join(table.ColumnNames(), ",") + ") VALUES (" + strings.TrimSuffix(strings.Repeat("?,", len(table.ColumnNames())), ",") + ")"
	args := []any{}
	for _, v := range bound {
		args = append(args, v)
	}
	_, err = ledger.ExecContext(t.Context(), query, append(args, []byte(state), fence)...)
	known := slices.Contains(m.States(), state)
	born := fence == 1 && slices.Contains(model.Births[m.String()], state)
	later := fence > 1 && known && !(s.guards.Deletes() && m.TerminalState(state))
	if m == machines.AccountServingGate && strings.HasSuffix(state, "v2_serving") || strings.HasPrefix(state, "halting_v2") || state == "v2_halted" {
		later = false // a gate that serves without naming an epoch is refused too
	}
	if m == machines.OwnerPublicationBarrier && state == "held" {
		later = false // and so is a barrier that nobody holds
	}
	if m == machines.OrderingLane && state != "free" {
		later = false // and a lane that nothing has
	}
	if admitted := err == nil; admitted != (born || later) || err != nil && !hasCode(err, codeCheckViolated) {
		t.Errorf("%s: raw guard in %q at fence %d: %v", m, state, fence, err)
	}
}

const codeCheckViolated = 3819

func insertTransition(ctx context.Context, db *sql.DB, ledger *schema.Table, seq uint64, from, edge, to string) error {
	_, err := db.ExecContext(ctx, "INSERT INTO "+ledger.Name+" (subject_id, seq, from_state, edge, to_state, evidence) VALUES (?,?,?,?,?,'')",
		facts.Mint[facts.SubjectID](), seq, []byte(from), []byte(edge), []byte(to))
	return err
}

// openKernel opens the kernel over a pool of the ledger role.
func openKernel(t testing.TB, store *world.Store, options Options) *DB {
	t.Helper()
	db, err := Open(store.Pool(t, schema.RoleLedger), options)
	if err != nil {
		t.Fatal(err)
	}
	return db
}
