// Package ingress is the door through which providers' deliveries come in over HTTP. It proves who sent a delivery, over
// the bytes as they were received and under the exact credential generation of the epoch that serves; it answers the
// handshakes that a channel declares; and it hands everything else to an Admitter, whose commit is the only thing that
// a 2xx answer ever follows.
//
// It must not know any provider: schemes, keys and handshakes are data of the channel. It must not know the store
// either: it reads no row, holds no transaction and decides nothing about duplicates. What it holds (bodies of running
// requests, secrets that were resolved) it can lose at any moment.
//
// The order of one delivery, which must not change: open the channel, take the whole body, verify the signature, and
// only then read anything out of the body. An answer says nothing that its reader could not know: a closed code and what
// that code means. A log line says who was refused and why, and holds no body, no value of a header and no secret.
//
// Spec: Inbound facts (ReceiptAdmissionKey, Receipt). Rules R11, R18, R43.
package ingress
