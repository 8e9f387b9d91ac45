package model

import (
	"sort"
	"strconv"

	"connectorcore/facts"
)

// This file is the second encoder of nexuscrm.connector-digest-profile.v2, written from docs/digests.md. It spells
// every preimage as one string of hexadecimal digits and knows no shapes, tags or writers of the first encoder.

// Preimage is what a digest is taken over, in hexadecimal.
type Preimage string

const profileName = "nexuscrm.connector-digest-profile.v2"

func number(n uint64) string {
	digits := strconv.FormatUint(n, 16)
	for len(digits) < 16 {
		digits = "0" + digits
	}
	return digits
}

func hexed(raw string) string {
	const alphabet = "0123456789abcdef"
	out := ""
	for i := 0; i < len(raw); i++ {
		out += alphabet[raw[i]/16:raw[i]/16+1] + alphabet[raw[i]%16:raw[i]%16+1]
	}
	return out
}

func words(s string) string      { return "01" + number(uint64(len(s))) + hexed(s) }
func opaque(b []byte) string     { return "02" + number(uint64(len(b))) + hexed(string(b)) }
func sum(d facts.Digest) string  { return "03" + hexed(string(d[:])) }
func name(id [16]byte) string    { return "04" + hexed(string(id[:])) }
func count(n uint64) string      { return "05" + number(n) }
func missing(kind string) string { return "00" + kind }

func optionalWords(s string) string {
	if s == "" {
		return missing("01")
	}
	return words(s)
}

func optionalOpaque(p facts.SourcePosition) string {
	if p.IsZero() {
		return missing("02")
	}
	return opaque(p.Encoded())
}

func replay(id facts.ReplayRequestID) string {
	if id.IsZero() {
		return missing("04")
	}
	return name(id)
}

func list(items []string) string {
	out := "06" + number(uint64(len(items)))
	for i, item := range items {
		out += "07" + number(uint64(i)) + item
	}
	return out
}

func preimage(label string, fields ...string) Preimage {
	out := words(profileName) + words(label)
	for _, field := range fields {
		out += field
	}
	return Preimage(out + "ff")
}

// Content is the preimage of opaque content under a label: receipt-body, event-payload, execution-input.
func Content(label string, content []byte) Preimage { return preimage(label, opaque(content)) }

// AdmittedContent is the preimage of what duplicates are compared by.
func AdmittedContent(admitted []byte, identity []facts.HeaderLine) Preimage {
	lines := make([]string, 0, len(identity))
	for _, line := range identity {
		lines = append(lines, words(line.Name)+opaque([]byte(line.Value)))
	}
	return preimage("admitted-content", opaque(admitted), list(lines))
}

// AdmissionKey is the preimage of a transport identity.
func AdmissionKey(account facts.AccountID, channel facts.Channel, key facts.TransportKey) Preimage {
	return preimage("admission-key", name(account), words(channel.String()), words(key.String()))
}

// Numbered is the preimage of the nth of a parent, under a label: component, execution, dependency.
func Numbered(label string, parent [16]byte, n uint64) Preimage {
	return preimage(label, name(parent), count(n))
}

// Single is the preimage of the only one of a parent, under a label: command, result, remote-effect.
func Single(label string, parent [16]byte) Preimage { return preimage(label, name(parent)) }

// Event is the preimage of an event; a zero request is the live generation.
func Event(account facts.AccountID, key facts.SourceEventKey, request facts.ReplayRequestID) Preimage {
	return preimage("event", name(account), words(key.String()), replay(request))
}

// EventContent is the preimage of an event's content.
func EventContent(c facts.EventContent) Preimage {
	contract := missing("03")
	if !c.Contract.IsZero() {
		contract = sum(c.Contract)
	}
	return preimage("event-content", words(c.Kind.String()), sum(c.Payload), words(c.Locator.String()),
		optionalOpaque(c.Occurrence), contract, optionalWords(c.Partition.String()),
		optionalOpaque(c.Order.Position), optionalOpaque(c.Order.TieBreaker))
}

// CanonicalProjection is the preimage of an application input.
func CanonicalProjection(p facts.CanonicalProjection) Preimage {
	members := map[string]bool{}
	for _, member := range p.Members {
		members[member.String()] = true
	}
	ordered := make([]string, 0, len(members))
	for member := range members {
		ordered = append(ordered, member)
	}
	sort.Strings(ordered)
	for i := range ordered {
		ordered[i] = words(ordered[i])
	}
	return preimage("canonical-projection", name(p.Account), words(p.Route.String()), optionalWords(p.Grouping.String()), list(ordered))
}

// Projection is the preimage of a projection; a zero request is the live generation.
func Projection(canonical facts.Digest, epoch facts.EpochID, version facts.DefinitionVersion, request facts.ReplayRequestID) Preimage {
	return preimage("projection", sum(canonical), name(epoch), words(version.String()), replay(request))
}

// Window is the preimage of a window.
func Window(epoch facts.EpochID, route facts.RouteID, version facts.DefinitionVersion, grouping facts.GroupingKey, opening facts.EventID) Preimage {
	return preimage("window", name(epoch), words(route.String()), words(version.String()), words(grouping.String()), name(opening))
}

// Lane is the preimage of an ordering lane.
func Lane(account facts.AccountID, epoch facts.EpochID, route facts.RouteID, version facts.DefinitionVersion, partition facts.OrderingPartition) Preimage {
	return preimage("ordering-lane", name(account), name(epoch), words(route.String()), words(version.String()), words(partition.String()))
}

// Grouping is the preimage of what has at most one open window.
func Grouping(account facts.AccountID, epoch facts.EpochID, route facts.RouteID, version facts.DefinitionVersion, grouping facts.GroupingKey) Preimage {
	return preimage("window-grouping", name(account), name(epoch), words(route.String()), words(version.String()), words(grouping.String()))
}

// RouteDefinition is the preimage of an exact route of an epoch.
func RouteDefinition(epoch facts.EpochID, route facts.RouteID, version facts.DefinitionVersion) Preimage {
	return preimage("route-definition", name(epoch), words(route.String()), words(version.String()))
}

// WindowMembers is the preimage of a window's membership.
func WindowMembers(events []facts.EventID) Preimage {
	var members []string
	for _, event := range events {
		members = append(members, name(event))
	}
	return preimage("window-members", list(members))
}

// ExecutionRef is the preimage of an execution reference.
func ExecutionRef(r facts.ExecutionRef) Preimage {
	mode := missing("01")
	if r.Replay {
		mode = words("suppress_external_effects")
	}
	return preimage("execution-ref", name(r.Execution), words(r.PackGeneration.String()), sum(r.Epoch.Digest),
		words(r.Definition.String()), words(r.Version.String()), sum(r.Input), mode)
}

// EffectRoot is the preimage of an effect root.
func EffectRoot(scope facts.ApplicationScope, canonical facts.Digest) Preimage {
	return preimage("effect-root", words(scope.String()), sum(canonical))
}

// InitialEffectGeneration is the preimage of an effect's first generation.
func InitialEffectGeneration(scope facts.ApplicationScope, root facts.EffectRootID, slot facts.EffectSlotID) Preimage {
	return preimage("initial-effect-generation", words(scope.String()), sum(root.Digest), words(slot.String()))
}

// IdempotencyKey is the preimage of a logical-effect key.
func IdempotencyKey(e facts.LogicalEffect) Preimage {
	return preimage("logical-effect", words(e.Scope.String()), sum(e.Root.Digest), words(e.Slot.String()), name(e.Generation))
}

// OutboundCommand is the preimage of an outbound command.
func OutboundCommand(key facts.IdempotencyKey) Preimage {
	return preimage("outbound-command", sum(key.Digest))
}

// Link is the preimage of a remote link.
func Link(effect facts.EffectID, remote facts.RemoteIdentity, slot facts.OwnerSlot) Preimage {
	return preimage("remote-link", name(effect), words(remote.String()), words(slot.String()))
}

// ShareSet is the preimage of an epoch's shares, given in ascending order.
func ShareSet(epoch facts.EpochID, accounts []facts.AccountID) Preimage {
	shares := make([]string, len(accounts))
	for i, account := range accounts {
		shares[i] = name(account)
	}
	return preimage("epoch-shares", name(epoch), list(shares))
}

// PackDefinition is the preimage of a definition of a pack.
func PackDefinition(d facts.PackDefinition, canonical []byte) Preimage {
	return preimage("pack-definition", words(d.Kind.String()), words(d.ID.String()), words(d.Version.String()), opaque(canonical))
}

// PackPayload is the preimage of a pack, its definitions given in ascending order.
func PackPayload(pack []byte, definitions []facts.DigestedDefinition) Preimage {
	items := make([]string, len(definitions))
	for i, d := range definitions {
		items[i] = words(d.Kind.String()) + words(d.ID.String()) + words(d.Version.String()) + sum(d.Digest)
	}
	return preimage("pack-payload", opaque(pack), list(items))
}
