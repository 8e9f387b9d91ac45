package inbound

import "connectorcore/facts"

// Premise is what an item of a turn was prepared under: the gate's fence and the exact epoch. An item whose premise is
// not what its transaction finds is refused, and is prepared again under what stands now (R11).
type Premise struct {
	Fence facts.Fence
	Epoch facts.EpochRef
}
