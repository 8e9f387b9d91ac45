// Package machines says which transitions exist and which proof each demands. It is generated from tables.txt, the
// one place where a transition is written, and imports nothing.
//
// An edge's identity is its name, not its pair of states: two different proofs for the same pair are two edges, so
// that a ledger row says why its subject moved and not merely that it did.
//
// What this room does not know: whether a subject stands in the state that an edge leaves. That is the guarded
// append's business, under the lock of the subject's guard.
//
// Spec: State machines.
package machines

//go:generate go run ./internal/generate
