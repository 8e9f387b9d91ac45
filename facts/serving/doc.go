// Package serving holds what one frozen generation consists of, as values: the deployment and its scope, the seven
// owners whose facts an epoch freezes, and the candidate epoch with its one closed preimage.
//
// Identities, digests and receipts of owners are opaque here. They go into a preimage as the exact bytes that the owner
// handed out, and nothing of them is parsed, normalised or hashed again. The room knows no store and asks no owner.
//
// Spec: Identity rules ("The V2 ServingEpoch preimage has one closed nested order"); Generation and replay.
package serving
