package txn

import (
	"database/sql/driver"
	"slices"
	"strings"

	"connectorcore/facts"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Write is one kind of write of a transaction. Its check runs above the line, with every other write's, and its run
// below it.
type Write interface {
	check(*Tx) error
	run(*Tx) error
}

// Apply is the line. Every write is checked; then they are run, and the transaction commits whole or not at all. It
// is called at most once, last.
func (tx *Tx) Apply(writes ...Write) error {
	if !tx.applying.TryLock() {
		return errors.AssertionFailedf("transaction %q: writes by another goroutine, or after its closure returned", tx.kind)
	}
	defer tx.applying.Unlock()
	if err := tx.open("a second Apply"); err != nil {
		return err
	}
	for _, w := range writes {
		if err := w.check(tx); err != nil {
			return tx.fail(err)
		}
	}
	tx.phase = writing
	if tx.settling {
		if err := tx.touchFirst(); err != nil {
			return err
		}
	}
	for _, w := range writes {
		if err := w.run(tx); err != nil {
			return tx.fail(err)
		}
	}
	return nil
}

// Append writes the loaded facts that are missing.
func Append[R any](loaded *Loaded[R]) Write { return appendWrite[R]{loaded} }

type appendWrite[R any] struct{ loaded *Loaded[R] }

func (w appendWrite[R]) check(tx *Tx) error {
	if w.loaded.tx != tx {
		return errors.AssertionFailedf("transaction %q: appends to %s what another transaction loaded", tx.kind, w.loaded.rows.Table.Name)
	}
	return nil
}

func (w appendWrite[R]) run(tx *Tx) error {
	var rows [][]driver.Value
	for _, i := range w.loaded.missing() {
		rows = append(rows, w.loaded.values[i])
	}
	return tx.insert(w.loaded.rows.Table, rows)
}

// Born writes the loaded facts that are missing, each with its guard in the machine's start state at fence 1. A fact
// that was there gets no guard, whatever became of its own: what has ended is not born again (R02).
//
// Steps take subjects over edges at once that are born here, each with its ledger row.
func Born[R any, K comparable, G any, S machines.State, E machines.EdgeOf[S]](loaded *Loaded[R], rows schema.GuardRows[K, G, S, E], guard func(R) G, steps ...Step[K, G, E]) Write {
	return &bornWrite[R, K, G, S, E]{appendWrite: appendWrite[R]{loaded}, guard: guard, path: path[K, G, S, E]{rows: rows}, steps: steps}
}

type bornWrite[R any, K comparable, G any, S machines.State, E machines.EdgeOf[S]] struct {
	appendWrite[R]
	path[K, G, S, E]
	guard func(R) G
	steps []Step[K, G, E]
	born  [][]driver.Value
}

// check asks that each fact bears its own guard: a fresh fact could otherwise bring back what has ended.
func (w *bornWrite[R, K, G, S, E]) check(tx *Tx) error {
	if err := w.appendWrite.check(tx); err != nil {
		return err
	}
	steps := map[K][]Step[K, G, E]{}
	for _, step := range w.steps {
		steps[step.Key] = append(steps[step.Key], step)
	}
	for _, i := range w.loaded.missing() {
		guard := Guard[G, S]{Row: w.guard(w.loaded.brings[i]), State: w.rows.Start, Fence: 1}
		k := w.rows.KeyOf(&guard.Row)
		subject := w.rows.Subject(k)
		if own := w.loaded.values[i][:len(w.loaded.rows.Table.Primary)]; !sameRow(own, []driver.Value{subject[:]}) {
			return errors.AssertionFailedf("transaction %q: a fact of %s bears another's guard in %s, of %s", tx.kind, w.loaded.rows.Table.Name, w.rows.Table.Name, subject)
		}
		for _, step := range steps[k] {
			if err := w.step(step, &guard); err != nil {
				return errors.Wrapf(err, "transaction %q", tx.kind)
			}
		}
		delete(steps, k)
		if w.rows.Deletes() && guard.State.Terminal() {
			continue // born and ended at once
		}
		bound, err := values(append(w.rows.Fields(&guard.Row), guard.State, uint64(guard.Fence)))
		if err != nil {
			return errors.Wrapf(err, "a row of %s", w.rows.Table.Name)
		}
		w.born = append(w.born, bound)
	}
	if len(steps) > 0 {
		return errors.AssertionFailedf("transaction %q: takes %d %s over an edge that are not born here", tx.kind, len(steps), w.rows.Machine)
	}
	return nil
}

func (w *bornWrite[R, K, G, S, E]) run(tx *Tx) error {
	if err := w.appendWrite.run(tx); err != nil {
		return err
	}
	if err := tx.insert(w.rows.Table, w.born); err != nil {
		return err
	}
	return tx.insert(w.rows.Ledger, w.ledger)
}

// Step takes one subject over one edge.
type Step[K comparable, G any, E machines.Edge] struct {
	Key      K
	Edge     E
	Evidence facts.Evidence
	Row      *G // what the guard carries from here on; nil leaves it
}

// Move takes held guards over edges, each with its ledger row. Several steps of one subject are taken in their order.
// A head that reaches a terminal state is deleted; a standing guard stays.
//
// That the subject stands where the edge begins is the decision's to know: a step that does not fit is an assertion.
func Move[K comparable, G any, S machines.State, E machines.EdgeOf[S]](guards *Guards[K, G, S, E], steps []Step[K, G, E]) Write {
	return &moveWrite[K, G, S, E]{guards: guards, path: path[K, G, S, E]{rows: guards.rows}, steps: steps}
}

type moveWrite[K comparable, G any, S machines.State, E machines.EdgeOf[S]] struct {
	path[K, G, S, E]
	guards *Guards[K, G, S, E]
	steps  []Step[K, G, E]
	moved  []moved
}

// moved is where a guard goes: one UPDATE or DELETE takes all that go alike.
type moved struct {
	to    driver.Value
	edges uint64
	row   []driver.Value // what the guard carries beside its key; nil leaves it
	ends  bool
	where []driver.Value // key and fence
}

func (w *moveWrite[K, G, S, E]) check(tx *Tx) error {
	if w.guards.tx != tx {
		return errors.AssertionFailedf("transaction %q: moves guards that another transaction holds", tx.kind)
	}
	if !w.guards.whole {
		return errors.AssertionFailedf("transaction %q: moves an epoch without all its shares; lock it by LockEpochs", tx.kind)
	}
	stands := make(map[K]Guard[G, S], len(w.steps))
	var order []K
	for _, step := range w.steps {
		guard, held := stands[step.Key]
		if !held {
			if guard, held = w.guards.held[step.Key]; !held {
				return errors.AssertionFailedf("transaction %q: edge %s of a %s that it does not hold", tx.kind, step.Edge, step.Edge.Machine())
			}
			order = append(order, step.Key)
		}
		if err := w.step(step, &guard); err != nil {
			return errors.Wrapf(err, "transaction %q", tx.kind)
		}
		stands[step.Key] = guard
	}
	for _, k := range order {
		if w.guards.moved[k] {
			return errors.AssertionFailedf("transaction %q: two Moves of one %s; give one of them all steps", tx.kind, w.guards.rows.Machine)
		}
		w.guards.moved[k] = true
		if err := w.end(k, stands[k]); err != nil {
			return err
		}
	}
	return nil
}

func (w *moveWrite[K, G, S, E]) end(k K, guard Guard[G, S]) error {
	bound, err := keyFrom(w.guards.rows.Key(&k))
	if err != nil {
		return err
	}
	to, err := guard.State.Value()
	if err != nil {
		return err
	}
	held := w.guards.held[k]
	from := held.Fence
	row, err := w.carried(held.Row, guard.Row)
	if err != nil {
		return err
	}
	w.moved = append(w.moved, moved{
		to: to, edges: uint64(guard.Fence - from), row: row,
		ends:  w.guards.rows.Deletes() && guard.State.Terminal(),
		where: append(slices.Clone(bound.values), int64(from)),
	})
	return nil
}

// carried is what the guard carries beside its key, if that changes.
func (w *moveWrite[K, G, S, E]) carried(before, after G) ([]driver.Value, error) {
	old, err := values(w.guards.rows.Fields(&before))
	if err != nil {
		return nil, err
	}
	row, err := values(w.guards.rows.Fields(&after))
	if err != nil || sameRow(old, row) {
		return nil, err
	}
	return row[len(w.guards.rows.Table.Primary):], nil
}

func (w *moveWrite[K, G, S, E]) run(tx *Tx) error {
	for rest := w.moved; len(rest) > 0; {
		first := rest[0]
		alike, others := split(rest, func(m moved) bool { return sameMove(first, m) })
		rest = others
		for chunk := range slices.Chunk(alike, maxRows) {
			if err := w.together(tx, first, chunk); err != nil {
				return err
			}
		}
	}
	return tx.insert(w.guards.rows.Ledger, w.ledger)
}

// together moves guards that go alike, each compared with the fence that its lock returned.
func (w *moveWrite[K, G, S, E]) together(tx *Tx, like moved, chunk []moved) error {
	table := w.guards.rows.Table
	var where [][]driver.Value
	for _, m := range chunk {
		where = append(where, m.where)
	}
	var set []any
	query := "DELETE FROM " + table.Name
	if !like.ends {
		query = "UPDATE " + table.Name + " SET state=?, fence=fence+?"
		set = []any{like.to, int64(like.edges)}
		if like.row != nil {
			gets := make([]carried, len(chunk))
			for i, m := range chunk {
				gets[i] = carried{m.row, m.where}
			}
			text, args := assignments(table, gets)
			query, set = query+", "+text, append(set, args...)
		}
	}
	query += " WHERE " + names(append(slices.Clone(table.Primary), "fence")...) + " IN (" + tuples(len(chunk), len(table.Primary)+1) + ")"
	return tx.exec(query, append(set, flat(where)...), len(chunk))
}

// sameMove tells whether one statement can move both; what each of them carries may differ.
func sameMove(a, b moved) bool {
	return a.ends && b.ends || a.ends == b.ends && a.edges == b.edges && (a.row == nil) == (b.row == nil) &&
		sameRow([]driver.Value{a.to}, []driver.Value{b.to})
}

func split[T any](all []T, in func(T) bool) (yes, no []T) {
	for _, t := range all {
		if in(t) {
			yes = append(yes, t)
		} else {
			no = append(no, t)
		}
	}
	return yes, no
}

// insert writes rows with one statement for each 256 of them. A duplicate here is a lost race (R09).
func (tx *Tx) insert(table *schema.Table, rows [][]driver.Value) error {
	columns := table.ColumnNames()
	for chunk := range slices.Chunk(rows, maxRows) {
		query := "INSERT INTO " + table.Name + " (" + strings.Join(columns, ",") + ") VALUES " + inserted(len(chunk), len(columns))
		if err := tx.exec(query, flat(chunk), len(chunk)); err != nil {
			return err
		}
	}
	return nil
}

// path are edges that subjects of one machine take, with the ledger's rows of them.
type path[K comparable, G any, S machines.State, E machines.EdgeOf[S]] struct {
	rows   schema.GuardRows[K, G, S, E]
	ledger [][]driver.Value
}

// step checks one edge against where its subject stands and prepares its ledger row.
func (w *path[K, G, S, E]) step(step Step[K, G, E], guard *Guard[G, S]) error {
	subject := w.rows.Subject(step.Key)
	switch {
	case !step.Edge.Valid():
		return errors.AssertionFailedf("%s %s: %s", step.Edge.Machine(), subject, step.Edge)
	case any(step.Edge.From()) != any(guard.State):
		return errors.AssertionFailedf("%s %s: edge %s leaves %s, and it stands in %s", step.Edge.Machine(), subject, step.Edge, step.Edge.From(), guard.State)
	case step.Evidence.Proof() != step.Edge.Proof():
		return errors.AssertionFailedf("%s %s: edge %s demands proof %q and got %q", step.Edge.Machine(), subject, step.Edge, step.Edge.Proof(), step.Evidence.Proof())
	}
	row, err := values([]any{subject, uint64(guard.Fence), step.Edge.From(), step.Edge, step.Edge.To(), step.Evidence.Bytes()})
	if err != nil {
		return errors.Wrapf(err, "a row of %s", w.rows.Ledger.Name)
	}
	w.ledger = append(w.ledger, row)
	guard.State = step.Edge.To()
	guard.Fence++
	if step.Row == nil {
		return nil
	}
	if w.rows.KeyOf(step.Row) != step.Key {
		return errors.AssertionFailedf("%s %s: edge %s would give it another's row", step.Edge.Machine(), subject, step.Edge)
	}
	guard.Row = *step.Row
	return nil
}
