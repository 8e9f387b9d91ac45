package facts

import "connectorcore/facts/digest"

// The closed shapes of profile v2, in the order of the durable model. A shape is frozen from its first day: a change
// of meaning is a new label.
var (
	receiptBodyShape = digest.Declare("receipt-body",
		digest.OfBytes("body"))
	admittedContentShape = digest.Declare("admitted-content",
		digest.OfBytes("admitted"), digest.OfGroup("identity", digest.OfText("name"), digest.OfBytes("value")))
	admissionKeyShape = digest.Declare("admission-key",
		digest.OfID("account"), digest.OfText("channel"), digest.OfText("transport_key"))
	componentShape = digest.Declare("component",
		digest.OfID("receipt"), digest.OfUint("ordinal"))
	eventPayloadShape = digest.Declare("event-payload",
		digest.OfBytes("payload"))
	eventShape = digest.Declare("event",
		digest.OfID("account"), digest.OfText("source_event_key"), digest.Optional(digest.OfID("replay_request")))
	eventContentShape = digest.Declare("event-content",
		digest.OfText("kind"), digest.OfSum("payload"), digest.OfText("locator"),
		digest.Optional(digest.OfBytes("occurrence")), digest.Optional(digest.OfSum("ordering_contract")),
		digest.Optional(digest.OfText("partition")), digest.Optional(digest.OfBytes("position")),
		digest.Optional(digest.OfBytes("tie_breaker")))
	canonicalProjectionShape = digest.Declare("canonical-projection",
		digest.OfID("account"), digest.OfText("route"), digest.Optional(digest.OfText("grouping_key")),
		digest.OfGroup("members", digest.OfText("source_event_key")))
	projectionShape = digest.Declare("projection",
		digest.OfSum("canonical_projection"), digest.OfID("epoch"), digest.OfText("route_version"),
		digest.Optional(digest.OfID("replay_request")))
	windowShape = digest.Declare("window",
		digest.OfID("epoch"), digest.OfText("route"), digest.OfText("route_version"), digest.OfText("grouping_key"),
		digest.OfID("opening_event"))
	laneShape = digest.Declare("ordering-lane",
		digest.OfID("account"), digest.OfID("epoch"), digest.OfText("route"), digest.OfText("route_version"), digest.OfText("partition"))
	executionShape = digest.Declare("execution",
		digest.OfID("projection"), digest.OfUint("generation"))
	executionInputShape = digest.Declare("execution-input",
		digest.OfBytes("input"))
	executionRefShape = digest.Declare("execution-ref",
		digest.OfID("execution"), digest.OfText("pack_generation"), digest.OfSum("epoch_digest"),
		digest.OfText("definition"), digest.OfText("definition_version"), digest.OfSum("input"),
		digest.Optional(digest.OfText("replay_mode")))
	dependencyShape = digest.Declare("dependency",
		digest.OfID("execution"), digest.OfUint("ordinal"))
	commandShape = digest.Declare("command",
		digest.OfID("execution"))
	resultShape = digest.Declare("result",
		digest.OfID("command"))
	effectRootShape = digest.Declare("effect-root",
		digest.OfText("application_scope"), digest.OfSum("canonical_projection"))
	effectGenerationShape = digest.Declare("initial-effect-generation",
		digest.OfText("application_scope"), digest.OfSum("effect_root"), digest.OfText("effect_slot"))
	logicalEffectShape = digest.Declare("logical-effect",
		digest.OfText("application_scope"), digest.OfSum("effect_root"), digest.OfText("effect_slot"),
		digest.OfID("effect_generation"))
	outboundCommandShape = digest.Declare("outbound-command",
		digest.OfSum("idempotency_key"))
	effectShape = digest.Declare("remote-effect",
		digest.OfID("outbound_command"))
	linkShape = digest.Declare("remote-link",
		digest.OfID("effect"), digest.OfText("remote_identity"), digest.OfText("owner_slot"))
	packDefinitionShape = digest.Declare("pack-definition",
		digest.OfText("kind"), digest.OfText("definition"), digest.OfText("definition_version"), digest.OfBytes("canonical"))
	packPayloadShape = digest.Declare("pack-payload",
		digest.OfBytes("pack"), digest.OfGroup("definitions",
			digest.OfText("kind"), digest.OfText("definition"), digest.OfText("definition_version"), digest.OfSum("digest")))
	orderingContractShape = digest.Declare("ordering-contract",
		digest.OfBytes("canonical"))
	shareSetShape = digest.Declare("epoch-shares",
		digest.OfID("epoch"), digest.OfGroup("shares", digest.OfID("account")))
)

// Shapes lists every declared shape, for docs/digests.md and its test.
func Shapes() []*digest.Shape {
	return []*digest.Shape{
		receiptBodyShape, admittedContentShape, admissionKeyShape, componentShape, eventPayloadShape, eventShape, eventContentShape,
		canonicalProjectionShape, projectionShape, windowShape, executionShape, executionInputShape, executionRefShape,
		dependencyShape, commandShape, resultShape, effectRootShape, effectGenerationShape, logicalEffectShape,
		outboundCommandShape, effectShape, linkShape, packDefinitionShape, packPayloadShape, orderingContractShape,
		shareSetShape, laneShape,
	}
}
