// Package schema is the one declaration of every table: columns, keys, checks, the role that may do what, the rank in
// which guards are locked, and how a fact is a row. From it come the steps that converge a database, the comparison
// of a live catalogue with the declaration, and the privileges of the four roles.
//
// It opens connections, because a session's settings are part of what the tables promise, but it runs no protocol
// transaction and knows nothing of why a row is written.
//
// Spec: Existing foundations and schema ownership; Identity rules; rules R08, R20, R42.
package schema

//go:generate go run ./internal/steps
//go:generate go run ./internal/schemadoc -out ../docs/schema.md
