// Package activate drives a deployment from what its owners have published to a serving epoch: it prepares an epoch,
// verifies it by asking every owner again, and carries out the first activation of a conformance deployment under held
// publication barriers.
//
// It decides nothing. Each step is a transaction of the ledger or a request to an owner's port, and each refuses by
// itself what is not due. What the room adds is the order, and what to do next from wherever an earlier process stopped:
// everything that it needs for that stands in rows, so any process may go on, and one that was overtaken is refused by
// its fence. It must not know how an owner stores its facts, a secret, a provider, or the time: no wait ends an attempt,
// and none lets one pass.
//
// Spec: Ownership boundaries (ServingPublicationBarrierSet); State machines ("prepared -> verified | rejected"). Rules R39,
// R41.
package activate
