// Package ledger holds the protocol transactions, one a file: each locks, loads, decides by a pure function, and
// writes whole or not at all. It is the only writer of facts, transitions and guards.
//
// Every method takes a slice and answers each item; a refusal of one never fails its neighbours. What a caller may do
// after an unknown outcome is R05: call again with the same minted ids.
//
// This room calls nothing outside the database but the application's code that ApplyOnce was given, and knows no provider,
// no HTTP and no file.
package ledger
