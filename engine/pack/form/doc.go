// Package form reads and writes the data of a pack: YAML with the line of every value, and the one canonical form
// that is digested and stored. What a definition may hold is declared by the tags of a Go struct; everything else is
// a fault, and every fault is found in one reading. Other files that a person writes may be read the same way.
//
// It knows no definition.
package form
