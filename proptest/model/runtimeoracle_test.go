package model

import (
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/machines"
)

// judgeRuntime derives what the Runtime answers.
func judgeRuntime(in inputs) []verdict {
	receipt := inbound.RuntimeReceipt{Command: facts.CommandID(in.ids[3]), Ref: facts.ExecutionRefDigest{Digest: in.digests[0]},
		Outcome: machines.ApplicationResultState(in.number%4 + 1), Result: in.digests[1]}
	return []verdict{
		{shape: "application-result", first: inbound.ResultDigest(facts.ProfileV2, in.content), model: Content("application-result", in.content)},
		{shape: "runtime-receipt", first: receipt.Digest(facts.ProfileV2), model: RuntimeReceipt(receipt)},
	}
}
