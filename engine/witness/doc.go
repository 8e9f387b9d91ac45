// Package witness remembers outside the database how far each account has come, so that an older copy of the database that
// was brought back is told from the present one. It is one file of one process at a time. It reads no database and decides
// nothing; whoever finds a database behind its witness starts halted.
//
// Rule R41.
package witness
