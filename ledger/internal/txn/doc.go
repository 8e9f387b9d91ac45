// Package txn runs one fenced transaction: lock in the one order, load by exact keys, decide, then write whole or not
// at all. It alone holds *sql.Tx.
//
// A transaction has three phases that cannot be mixed up. Locks come first and their rank only rises (R08). Loads
// need a lock, because a value read before it never decides (R06, R09). Apply is the line: everything is checked
// above it, and below it there are only writes, so that nothing is written on a guess.
//
// A commit ends in one of three ways. Done is a clean acknowledgement. Refused left nothing behind. Unknown is
// neither, and is settled by running the same closure again with the same minted ids (R05): the rerun waits for the
// first guard, finds what the original left or writes it, and writes on that guard in any case, so that an original
// that is still on its way can no longer commit. The closure must therefore be repeatable: no call to the outside,
// no send on a channel and no change of a counter inside it.
//
// A hosted transaction begins with the application's own code, which has a Handle and nothing else of it: other role, other
// database, a savepoint that tells whether the transaction still stands, and a deadline. Then the ledger's part runs as
// above, in the account's turn.
//
// Rules R05 to R09, R13, R28. Spec: Transaction and crash rules.
package txn
