package facts

import (
	"bytes"
	"slices"

	"connectorcore/facts/digest"
)

// Author derives ids and digests from their exact parents under one profile, so that recovery, which takes the
// profile of the parents' epoch, finds the same bytes again (R15). It is got from Profile.Author.
//
// INVARIANT: an id or digest of ours is zero if and only if a parent was absent or zero, or the Author was. A zero
// one is never bound to a statement, so a forgotten parent ends in an assertion and never in a row. The functions
// therefore give no error.
type Author struct{ profile string }

// Derived is a derived id with the whole digest that it was cut from. Unique keys stand on the digest.
type Derived[I AnyID] struct {
	ID     I
	Digest Digest
}

// idOf lays the first 16 bytes of a digest out as a UUID of version 8.
func idOf[I AnyID](sum Digest) I {
	if sum.IsZero() {
		return I{}
	}
	id := [16]byte(sum[:16])
	id[6] = id[6]&0x0F | 0x80
	id[8] = id[8]&0x3F | 0x80
	return I(id)
}

// DeriveID gives the id that a digest names, for shapes that a room above this one declares.
func DeriveID[I AnyID](sum Digest) Derived[I] { return derived[I](sum) }

func derived[I AnyID](sum Digest) Derived[I] { return Derived[I]{ID: idOf[I](sum), Digest: sum} }

// begin starts a preimage. An absent Author authors nothing.
func (a Author) begin(shape *digest.Shape) *digest.Writer { return shape.Begin(a.profile) }

// end gives the digest, or zero where the preimage was faulty.
func end(w *digest.Writer) Digest {
	sum, err := w.End()
	if err != nil {
		return Digest{}
	}
	return sum
}

// text writes a key. An absent one breaks the preimage, since it is never the same as an empty text.
func text[K keyKind](w *digest.Writer, name string, key Key[K]) {
	if key.IsZero() {
		w.Null(name)
		return
	}
	w.Text(name, key.text)
}

// EventGeneration is which of the deliberate generations of one source event is meant: the one live one, or that of
// a replay request. The zero EventGeneration is neither, so that a forgotten replay never becomes the live one.
type EventGeneration struct {
	live   bool
	replay ReplayRequestID
}

// LiveGeneration is the generation of live admission.
var LiveGeneration = EventGeneration{live: true}

// ReplayGeneration is the generation that a replay request authorised.
func ReplayGeneration(request ReplayRequestID) EventGeneration {
	return EventGeneration{replay: request}
}

func (g EventGeneration) write(w *digest.Writer) {
	if g.live {
		w.Null("replay_request")
		return
	}
	w.ID("replay_request", g.replay)
}

func position(w *digest.Writer, name string, value SourcePosition) {
	if value.IsZero() {
		w.Null(name)
		return
	}
	w.Bytes(name, []byte(value.encoded))
}

// ReceiptBody is the digest of a request body exactly as received. Zero bytes have a digest of their own.
func (a Author) ReceiptBody(body []byte) Digest {
	return end(a.begin(receiptBodyShape).Bytes("body", body))
}

// HeaderLine is one line of a delivery's header: its name in lower case, its value byte for byte.
type HeaderLine struct{ Name, Value string }

// AdmittedContent is the digest by which a delivery and a duplicate of its transport key are compared (R18): the body
// without the values of volatile members, and the frozen identity headers that it carries, in the ascending byte order
// of their names, each once. Lines in another order, or of one name twice, have no digest.
func (a Author) AdmittedContent(admitted []byte, identity []HeaderLine) Digest {
	for i := 1; i < len(identity); i++ {
		if identity[i-1].Name >= identity[i].Name {
			return Digest{}
		}
	}
	w := a.begin(admittedContentShape).Bytes("admitted", admitted)
	w.Group("identity", len(identity), func(item *digest.Writer, ordinal int) {
		item.Text("name", identity[ordinal].Name).Bytes("value", []byte(identity[ordinal].Value))
	})
	return end(w)
}

// AdmissionKey is the digest of a transport identity: account, channel and transport key.
func (a Author) AdmissionKey(account AccountID, channel Channel, key TransportKey) Digest {
	w := a.begin(admissionKeyShape).ID("account", account)
	text(w, "channel", channel)
	text(w, "transport_key", key)
	return end(w)
}

// Component is the component of a receipt at an ordinal, counted from zero.
func (a Author) Component(receipt ReceiptID, ordinal uint64) Derived[ComponentID] {
	return derived[ComponentID](end(a.begin(componentShape).ID("receipt", receipt).Uint("ordinal", ordinal)))
}

// EventPayload is the digest of an event's opaque payload.
func (a Author) EventPayload(payload []byte) Digest {
	return end(a.begin(eventPayloadShape).Bytes("payload", payload))
}

// Event is the event of an account's source event key in one generation (R16). Neither its receipt nor its component
// has a part in it.
func (a Author) Event(account AccountID, key SourceEventKey, generation EventGeneration) Derived[EventID] {
	w := a.begin(eventShape).ID("account", account)
	text(w, "source_event_key", key)
	generation.write(w)
	return derived[EventID](end(w))
}

// EventContent is what two components with one source event key must agree on to be duplicates (R16).
type EventContent struct {
	Kind       EventKind
	Payload    Digest // of EventPayload
	Locator    SourceLocator
	Occurrence SourcePosition    // when it happened at the source; absent where the source does not say
	Contract   Digest            // of the ordering contract; zero for an order-independent route
	Partition  OrderingPartition // absent for an order-independent route
	Order      SourceOrder       // absent for an order-independent route
}

// EventContent is the digest of a normalized event's content.
func (a Author) EventContent(content EventContent) Digest {
	w := a.begin(eventContentShape)
	text(w, "kind", content.Kind)
	w.Sum("payload", content.Payload)
	text(w, "locator", content.Locator)
	position(w, "occurrence", content.Occurrence)
	if content.Contract.IsZero() {
		w.Null("ordering_contract")
	} else {
		w.Sum("ordering_contract", content.Contract)
	}
	text(w, "partition", content.Partition)
	position(w, "position", content.Order.Position)
	position(w, "tie_breaker", content.Order.TieBreaker)
	return end(w)
}

// CanonicalProjection names one application input independently of the epoch, the route's version, the execution and
// any replay: the account, the route, the grouping key where the route has one, and the source event keys that went
// in. An immediate route has one member.
type CanonicalProjection struct {
	Account  AccountID
	Route    RouteID
	Grouping GroupingKey
	Members  []SourceEventKey // a set; their order and repetitions have no meaning
}

// CanonicalProjection is the digest on which EffectRoot and Projection stand.
func (a Author) CanonicalProjection(of CanonicalProjection) CanonicalProjectionDigest {
	members := slices.Clone(of.Members)
	slices.SortFunc(members, SourceEventKey.Compare)
	members = slices.Compact(members)
	if len(members) == 0 {
		return CanonicalProjectionDigest{}
	}
	w := a.begin(canonicalProjectionShape).ID("account", of.Account)
	text(w, "route", of.Route)
	text(w, "grouping_key", of.Grouping)
	w.Group("members", len(members), func(item *digest.Writer, ordinal int) {
		text(item, "source_event_key", members[ordinal])
	})
	return CanonicalProjectionDigest{end(w)}
}

// Projection is the projection of a canonical input under an epoch and an exact route version, in one generation.
func (a Author) Projection(canonical CanonicalProjectionDigest, epoch EpochID, version DefinitionVersion, generation EventGeneration) Derived[ProjectionID] {
	w := a.begin(projectionShape).Sum("canonical_projection", canonical.Digest).ID("epoch", epoch)
	text(w, "route_version", version)
	generation.write(w)
	return derived[ProjectionID](end(w))
}

// Window is the window that an event opened under an epoch, an exact route and a grouping key. A later window of
// the same key is opened by another event.
func (a Author) Window(epoch EpochID, route RouteID, version DefinitionVersion, grouping GroupingKey, opening EventID) Derived[WindowID] {
	w := a.begin(windowShape).ID("epoch", epoch)
	text(w, "route", route)
	text(w, "route_version", version)
	text(w, "grouping_key", grouping)
	w.ID("opening_event", opening)
	return derived[WindowID](end(w))
}

// Lane is the lane of a partition under an epoch and an exact route: two accounts of one epoch have lanes of their own.
func (a Author) Lane(account AccountID, epoch EpochID, route RouteID, version DefinitionVersion, partition OrderingPartition) Derived[LaneID] {
	w := a.begin(laneShape).ID("account", account).ID("epoch", epoch)
	text(w, "route", route)
	text(w, "route_version", version)
	text(w, "partition", partition)
	return derived[LaneID](end(w))
}

// Execution is the execution of a projection in a generation, counted from zero.
func (a Author) Execution(projection ProjectionID, generation uint64) Derived[ExecutionID] {
	return derived[ExecutionID](end(a.begin(executionShape).ID("projection", projection).Uint("generation", generation)))
}

// ExecutionInput is the digest of the exact bytes that an execution hands to the application.
func (a Author) ExecutionInput(input []byte) Digest {
	return end(a.begin(executionInputShape).Bytes("input", input))
}

// Dependency is the dependency of an execution at an ordinal, counted from zero.
func (a Author) Dependency(execution ExecutionID, ordinal uint64) Derived[DependencyID] {
	return derived[DependencyID](end(a.begin(dependencyShape).ID("execution", execution).Uint("ordinal", ordinal)))
}

// Command is Runtime's command of an execution, one each.
func (a Author) Command(execution ExecutionID) Derived[CommandID] {
	return derived[CommandID](end(a.begin(commandShape).ID("execution", execution)))
}

// Result is the application result of a command, one each.
func (a Author) Result(command CommandID) Derived[ResultID] {
	return derived[ResultID](end(a.begin(resultShape).ID("command", command)))
}

// ExecutionRef is everything that a command says about the execution behind it.
//
// Spec: Runtime-owned result.
type ExecutionRef struct {
	Execution      ExecutionID
	PackGeneration PackGenerationID
	Epoch          EpochDigest
	Definition     DefinitionID
	Version        DefinitionVersion
	Input          Digest // of ExecutionInput
	Replay         bool   // a replay, whose sole mode suppresses external effects
}

// replaySuppresses is the only mode that a replay has.
const replaySuppresses = "suppress_external_effects"

// ExecutionRef is the digest by which a result is addressed, beside its command.
func (a Author) ExecutionRef(ref ExecutionRef) ExecutionRefDigest {
	w := a.begin(executionRefShape).ID("execution", ref.Execution)
	text(w, "pack_generation", ref.PackGeneration)
	w.Sum("epoch_digest", ref.Epoch.Digest)
	text(w, "definition", ref.Definition)
	text(w, "definition_version", ref.Version)
	w.Sum("input", ref.Input)
	if ref.Replay {
		w.Text("replay_mode", replaySuppresses)
	} else {
		w.Null("replay_mode")
	}
	return ExecutionRefDigest{end(w)}
}

// EffectRoot names the application's original intent: the scope and the canonical projection, and nothing of the
// epoch, the execution or a replay (R17).
func (a Author) EffectRoot(scope ApplicationScope, canonical CanonicalProjectionDigest) EffectRootID {
	w := a.begin(effectRootShape)
	text(w, "application_scope", scope)
	return EffectRootID{end(w.Sum("canonical_projection", canonical.Digest))}
}

// InitialEffectGeneration is the first generation of an effect, the same in every retry. Another one exists only by
// an authorised successor.
func (a Author) InitialEffectGeneration(scope ApplicationScope, root EffectRootID, slot EffectSlotID) EffectGenerationID {
	w := a.begin(effectGenerationShape)
	text(w, "application_scope", scope)
	w.Sum("effect_root", root.Digest)
	text(w, "effect_slot", slot)
	return idOf[EffectGenerationID](end(w))
}

// LogicalEffect is the stable key of one external effect.
//
// Spec: Outbound facts ("stable logical-effect key").
type LogicalEffect struct {
	Scope      ApplicationScope
	Root       EffectRootID
	Slot       EffectSlotID
	Generation EffectGenerationID
}

// IdempotencyKey is the digest of the logical-effect key.
func (a Author) IdempotencyKey(effect LogicalEffect) IdempotencyKey {
	w := a.begin(logicalEffectShape)
	text(w, "application_scope", effect.Scope)
	w.Sum("effect_root", effect.Root.Digest)
	text(w, "effect_slot", effect.Slot)
	return IdempotencyKey{end(w.ID("effect_generation", effect.Generation))}
}

// OutboundCommand is the command of a logical effect, one each.
func (a Author) OutboundCommand(key IdempotencyKey) Derived[OutboundCommandID] {
	return derived[OutboundCommandID](end(a.begin(outboundCommandShape).Sum("idempotency_key", key.Digest)))
}

// Effect is the remote effect of an outbound command, one each.
func (a Author) Effect(command OutboundCommandID) Derived[EffectID] {
	return derived[EffectID](end(a.begin(effectShape).ID("outbound_command", command)))
}

// Link is the link that an effect makes between a remote identity and an owner slot.
func (a Author) Link(effect EffectID, remote RemoteIdentity, slot OwnerSlot) Derived[LinkID] {
	w := a.begin(linkShape).ID("effect", effect)
	text(w, "remote_identity", remote)
	text(w, "owner_slot", slot)
	return derived[LinkID](end(w))
}

// ShareSet is the digest of an epoch's shares: its accounts in ascending order, each once (R07). Accounts in another
// order, or twice, have no digest.
func (a Author) ShareSet(epoch EpochID, accounts []AccountID) Digest {
	for i := 1; i < len(accounts); i++ {
		if bytes.Compare(accounts[i-1][:], accounts[i][:]) >= 0 {
			return Digest{}
		}
	}
	return end(a.begin(shareSetShape).ID("epoch", epoch).Group("shares", len(accounts), func(item *digest.Writer, ordinal int) {
		item.ID("account", accounts[ordinal])
	}))
}
