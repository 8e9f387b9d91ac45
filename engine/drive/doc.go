// Package drive moves the work of accounts on: a delivery becomes an item of its account's turn, what that turn brings is
// handed to the application, and what the application answers becomes an item again. In the steady state each step hands
// the next one over inside the process; a bounded sweep over heads that are due finds what a dead process left.
//
// It decides nothing about an item. Whether something is admitted, claimed or completed is decided by the turn's
// transaction; a driver that loses everything it holds loses nothing but time.
//
// Rules R05, R11 to R14, R22, R27. Spec: Transaction and crash rules.
package drive
