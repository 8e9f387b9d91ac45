// Package readers is the one read path: a row by its exact key, or the rows below one exact parent. A read here decides
// nothing; what decides is loaded by a transaction under its locks.
package readers
