// Package owners holds the ports to the seven owners whose facts an epoch freezes, and the closed protocols in which
// they write those facts: a Catalog view, a binding's definition, a configuration generation, a credential generation.
//
// A port gives an exact generation as its owner wrote it (Exact), or one of two answers that are never confused with
// each other: it is authoritatively absent, or nobody could say. An opener (OpenView and its kin) takes an Exact apart
// and believes nothing: it checks the protocol, encodes what it decoded and compares every byte, and makes digest and
// receipt again.
//
// What implements a port must pass the suite of the package conformance. The room holds no secret, asks no database and
// decides nothing about an epoch.
//
// Spec: Ownership boundaries; Existing foundations and schema ownership. Rules R43, R44.
package owners
