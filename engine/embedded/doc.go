// Package embedded supervises one real tidb-server with its single-process store, as a child process on a free
// loopback port and a permanent data directory, and knows which settings such a store must have.
//
// What it promises: a transaction that was acknowledged is there, whole, after any death of the tidb-server or of the
// process that supervises it. It does not survive the loss of the host's power (the store writes its log and does not
// sync it): production is a TiDB cluster by DSN.
//
// The promise stands on settings that TiDB does not have by itself, and that nobody may change afterwards: see
// CheckSettings. Start writes them before the first connection, reads all of them back after every start of the child,
// and refuses to hand out a server that differs. A server that somebody else started is found out by Detect and held
// to the same settings.
//
// The data directory, mode 0700, holds everything that the server writes:
//
//	embedded.lock   locked by the supervisor and inherited by the child, so it is free only when both are gone
//	embedded.json   what cannot be changed after the first start
//	root.password   mode 0600; the password of root, drawn at the first start
//	tidb.toml       the configuration, written anew at every start
//	tidb.sock       the server's socket
//	store/ tmp/ log/
//
// The room knows nothing of our schema. It must not decide anything from time: its clocks only bound waiting.
package embedded
