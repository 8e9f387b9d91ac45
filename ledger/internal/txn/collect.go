package txn

import (
	"connectorcore/machines"
	"connectorcore/schema"
)

// Collected are writes that are loaded one after another, until one fails.
type Collected struct {
	tx     *Tx
	Writes []Write
	Err    error // the first failure; nothing is collected after it
}

// Collect begins to collect writes.
func Collect(tx *Tx) *Collected { return &Collected{tx: tx} }

// Add adds a write that needs no loading.
func (c *Collected) Add(w Write) { c.Writes = append(c.Writes, w) }

// AddFresh adds facts that cannot be there; see Fresh.
func AddFresh[R any](c *Collected, rows schema.Rows[R], brings []R) {
	if c.Err != nil || len(brings) == 0 {
		return
	}
	one, err := Fresh(c.tx, rows, brings)
	if c.Err = err; err == nil {
		c.Add(Append(one))
	}
}

// AddLoaded adds facts that may be there, and gives what it loaded; nil if there is nothing, or an error.
func AddLoaded[R any](c *Collected, rows schema.Rows[R], brings []R) *Loaded[R] {
	if c.Err != nil || len(brings) == 0 {
		return nil
	}
	one, err := Load(c.tx, rows, brings)
	if c.Err = err; err != nil {
		return nil
	}
	c.Add(Append(one))
	return one
}

// AddBorn adds facts that cannot be there, each with its guard; see Born.
func AddBorn[R any, K comparable, G any, S machines.State, E machines.EdgeOf[S]](c *Collected, rows schema.Rows[R], brings []R, guards schema.GuardRows[K, G, S, E], guard func(R) G, steps ...Step[K, G, E]) {
	if c.Err != nil || len(brings) == 0 {
		return
	}
	one, err := Fresh(c.tx, rows, brings)
	if c.Err = err; err == nil {
		c.Add(Born(one, guards, guard, steps...))
	}
}

// AddMove adds the steps of held guards, if there are any.
func AddMove[K comparable, G any, S machines.State, E machines.EdgeOf[S]](c *Collected, guards *Guards[K, G, S, E], steps []Step[K, G, E]) {
	if len(steps) > 0 {
		c.Add(Move(guards, steps))
	}
}

// AddCarry adds what held guards carry, if there are any.
func AddCarry[K comparable, G any, S machines.State, E machines.EdgeOf[S]](c *Collected, guards *Guards[K, G, S, E], rows []G) {
	if len(rows) > 0 {
		c.Add(Carry(guards, rows...))
	}
}
