package model

import "connectorcore/facts/inbound"

// RuntimeReceipt is the preimage of the Runtime's commit receipt.
func RuntimeReceipt(r inbound.RuntimeReceipt) Preimage {
	return preimage("runtime-receipt", name(r.Command), sum(r.Ref.Digest), words(r.Outcome.String()), sum(r.Result))
}
