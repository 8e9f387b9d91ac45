// Package pack compiles and interprets packs. A pack is a folder of YAML which says, as data, how a provider's input
// becomes events and application inputs, in which order, and how effects go back. Everything that depends on a
// provider stands in a pack; this package knows none of them.
//
// Compile reads a folder whole and finds every fault in it. What it makes has one canonical form: the same folder
// gives the same bytes and the same digests on every machine, and Load makes the same Pack of those bytes alone. The
// interpreters (Extract, Normalize, Project) are pure functions of a Pack and their input; they do no I/O, and
// whatever they cannot read ends in a closed refusal.
//
// Spec: Layer contract (what L1 owns). docs/packs.md describes the format key by key.
package pack
