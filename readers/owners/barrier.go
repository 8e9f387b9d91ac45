package owners

import (
	"connectorcore/facts"
	"connectorcore/facts/serving"
)

type holdForm struct {
	Protocol facts.Protocol            `json:"protocol"`
	Owner    string                    `json:"owner"`
	Scope    hexDigest                 `json:"scope"`
	Attempt  facts.ActivationAttemptID `json:"attempt"`
	Fence    uint64                    `json:"fence"`
}

// SealHold makes the receipt of a hold. It names the fence of the barrier and not the coordinator's, so that it stays
// the same when another coordinator takes over.
func SealHold(owner serving.Owner, scope serving.Scope, attempt facts.ActivationAttemptID, fence facts.Fence) (Hold, error) {
	raw, err := encode(holdForm{HoldProtocol, owner.String(), hexDigest(scope.Digest), attempt, uint64(fence)})
	if err != nil {
		return Hold{}, err
	}
	receipt := serving.Receipt{Protocol: HoldProtocol, Bytes: serving.OpaqueOf(raw), Digest: Sum(HoldProtocol, raw)}
	return Hold{owner, scope, attempt, fence, receipt}, nil
}
