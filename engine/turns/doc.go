// Package turns is the one queue of a process for each account (R13): whatever takes an account's gate waits here for
// its turn, so that the row lock in the database is left to arbitrate between processes.
//
// A turn is one transaction over a batch of items. Batches form by load and by nothing else: an item of an account that
// nobody works on starts at once, and what arrives while a turn runs is the next turn. One item pays for one item, and a
// flood pays for a transaction in five hundred.
//
// The room knows no SQL and no fact but an account's id. What an item means, and what two items with one key come to,
// is the business of the Take that the caller gives. It decides nothing by time; its clock measures and delays.
//
// # Who goes first
//
// An account's items are of kinds, listed in the order of what they free: what ends work before what begins it. While
// more waits than a turn holds, each waiting kind is given room in proportion to its weight, ties to the kind listed
// first, and items of one kind never overtake one another. Between any two kinds that wait all the while, what they
// were given, each divided by its weight, never differs by more than three turns divided by the smallest weight: no
// kind starves, however much of the others arrives.
//
// Between accounts the oldest waiting item goes first, and a bounded number of turns runs at once. An account costs
// nothing while it has no items.
//
// # How a turn ends
//
// By verdicts: each item has its own. By an error: each item of this turn gets it, and the account goes on. By an
// assertion, which a panic and a wrong number of verdicts are too: the same, but the account's next turn begins only a
// second later, so that a bug that meets every turn neither spins nor floods the log.
//
// By an unknown outcome (R05): the account is in doubt. The very same items are taken again, in the same order, until
// there are verdicts or a refusal, and nothing else of this account runs before that. Any other error of such a try,
// an assertion included, leaves the doubt where it was. A caller may leave; the item stays.
//
// A turn that panicked may have been committed. Its callers get an assertion, and its rows decide.
//
// REQUIRES: a Take, a function given to Exclusive and a done given to Post never wait for a turn of their own account.
package turns
