// Package bench measures a whole deployment on a store of its own: a process that sends signed deliveries through the
// door, a daemon with the application linked in, and the embedded tidb-server. What it reports is what those processes
// and the database say of themselves, and the application's own tables tell what was applied twice or not at all.
//
// It must not know how the rooms that it measures do their work: a faster way to do it needs no other bench.
package bench
