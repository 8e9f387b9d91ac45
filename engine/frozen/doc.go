// Package frozen makes an epoch usable: what it froze is read at the owners by exact generation, compared with the
// epoch's own proofs, and compiled. What an account's channel is, which routes take its events, and where its secrets are
// follows from the epoch alone; nothing that is current is ever asked for.
//
// The room decides nothing about a gate. It reads where an account stands and hands that on as a premise, which the
// transaction of each item compares under its locks.
//
// Spec: Generation and replay (what an epoch freezes). Rules R11, R43.
package frozen
