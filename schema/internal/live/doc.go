// Package live reads what a database says of its own tables and compares that with what somebody declared. Both sides
// are described in the same words, line by line: a difference is found by comparing text, and told by showing it.
//
// It takes plain values and knows no declaration, no role and no step. Those are schema's, and so is the error that
// the differences become.
//
// Spec: Existing foundations and schema ownership.
package live
