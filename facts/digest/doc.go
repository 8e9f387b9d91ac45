// Package digest frames closed preimages and hashes them, as nexuscrm.connector-digest-profile.v2 demands. It knows
// bytes, lengths and order; it knows no fact. docs/digests.md describes the framing byte by byte.
//
// A digest is never taken over something whose shape was not declared: a Shape lists its fields, and a Writer that is
// handed other fields, another order or another count ends in an assertion instead of a digest.
package digest
