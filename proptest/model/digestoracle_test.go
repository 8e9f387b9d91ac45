package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/facts/serving"
)

var rewrite = flag.Bool("rewrite", false, "append missing vectors to testdata/digests.json; one that stands is never changed")

// inputs is one value of everything that a digest is taken over.
type inputs struct {
	ids     [6][16]byte
	digests [3]facts.Digest
	texts   [6]string
	content []byte
	number  uint64
	replay  bool
	order   facts.SourceOrder
	ordered bool
	members []string
	grouped bool
}

// verdict is what both encoders say about one shape.
type verdict struct {
	shape string
	first facts.Digest // of the room facts
	id    [16]byte     // of the room facts; zero for what has a digest only
	model Preimage     // of this room
}

func key[T facts.AnyKey](t fatal, text string) T {
	parsed, err := facts.ParseKey[T](text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

type fatal interface{ Fatal(...any) }

func both[I facts.AnyID](shape string, first facts.Derived[I], model Preimage) verdict {
	return verdict{shape: shape, first: first.Digest, id: [16]byte(first.ID), model: model}
}

// judge derives everything from the inputs twice.
func judge(t fatal, in inputs) []verdict {
	author, err := facts.ProfileV2.Author()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(judgeInbound(t, author, in), judgeExecution(t, author, in), judgeOutbound(t, author, in), judgePack(t, author, in),
		judgeServing(t, in), judgeRuntime(in))
}

func judgeInbound(t fatal, author facts.Author, in inputs) []verdict {
	account, receipt := facts.AccountID(in.ids[0]), facts.ReceiptID(in.ids[1])
	channel, transport := key[facts.Channel](t, in.texts[0]), key[facts.TransportKey](t, in.texts[1])
	event := key[facts.SourceEventKey](t, in.texts[2])
	generation, request := facts.LiveGeneration, facts.ReplayRequestID{}
	if in.replay {
		request = facts.ReplayRequestID(in.ids[2])
		generation = facts.ReplayGeneration(request)
	}
	content := facts.EventContent{
		Kind: key[facts.EventKind](t, in.texts[0]), Payload: in.digests[0], Locator: key[facts.SourceLocator](t, in.texts[1]),
	}
	if in.ordered {
		content.Occurrence, content.Contract, content.Order = in.order.Position, in.digests[1], in.order
		content.Partition = key[facts.OrderingPartition](t, in.texts[3])
	}
	projection := facts.CanonicalProjection{Account: account, Route: key[facts.RouteID](t, in.texts[3])}
	if in.grouped {
		projection.Grouping = key[facts.GroupingKey](t, in.texts[4])
	}
	for _, member := range in.members {
		projection.Members = append(projection.Members, key[facts.SourceEventKey](t, member))
	}
	canonical := author.CanonicalProjection(projection)
	version := key[facts.DefinitionVersion](t, in.texts[5])
	epoch, opening := facts.EpochID(in.ids[3]), facts.EventID(in.ids[4])
	grouping := key[facts.GroupingKey](t, in.texts[4])
	lines := []facts.HeaderLine{{Name: "x-a", Value: in.texts[0]}, {Name: "x-b", Value: string(in.content)}}
	accounts := []facts.AccountID{facts.AccountID(in.ids[0]), facts.AccountID(in.ids[5])}
	slices.SortFunc(accounts, facts.AccountID.Compare)
	accounts = slices.Compact(accounts)
	return []verdict{
		{shape: "receipt-body", first: author.ReceiptBody(in.content), model: Content("receipt-body", in.content)},
		{shape: "admitted-content", first: author.AdmittedContent(in.content, lines), model: AdmittedContent(in.content, lines)},
		{shape: "admission-key", first: author.AdmissionKey(account, channel, transport), model: AdmissionKey(account, channel, transport)},
		both("component", author.Component(receipt, in.number), Numbered("component", receipt, in.number)),
		{shape: "event-payload", first: author.EventPayload(in.content), model: Content("event-payload", in.content)},
		both("event", author.Event(account, event, generation), Event(account, event, request)),
		{shape: "event-content", first: author.EventContent(content), model: EventContent(content)},
		{shape: "canonical-projection", first: canonical.Digest, model: CanonicalProjection(projection)},
		both("projection", author.Projection(canonical, epoch, version, generation), Projection(canonical.Digest, epoch, version, request)),
		both("window", author.Window(epoch, projection.Route, version, grouping, opening), Window(epoch, projection.Route, version, grouping, opening)),
		{shape: "epoch-shares", first: author.ShareSet(epoch, accounts), model: ShareSet(epoch, accounts)},
		both("ordering-lane", author.Lane(account, epoch, projection.Route, version, key[facts.OrderingPartition](t, in.texts[4])),
			Lane(account, epoch, projection.Route, version, key[facts.OrderingPartition](t, in.texts[4]))),
		{shape: "window-grouping", first: inbound.ProjectionWindow{Account: account, Epoch: epoch, Route: projection.Route, Version: version, Key: grouping}.GroupingDigest(facts.ProfileV2),
			model: Grouping(account, epoch, projection.Route, version, grouping)},
		{shape: "route-definition", first: inbound.RouteDefinition(facts.ProfileV2, epoch, projection.Route, version), model: RouteDefinition(epoch, projection.Route, version)},
		{shape: "window-members", first: inbound.WindowMembers(facts.ProfileV2, []facts.EventID{opening, facts.EventID(in.ids[0])}),
			model: WindowMembers([]facts.EventID{opening, facts.EventID(in.ids[0])})},
	}
}

func judgeExecution(t fatal, author facts.Author, in inputs) []verdict {
	projection, execution, command := facts.ProjectionID(in.ids[1]), facts.ExecutionID(in.ids[2]), facts.CommandID(in.ids[3])
	ref := facts.ExecutionRef{
		Execution: execution, PackGeneration: key[facts.PackGenerationID](t, in.texts[0]), Epoch: facts.EpochDigest{Digest: in.digests[0]},
		Definition: key[facts.DefinitionID](t, in.texts[1]), Version: key[facts.DefinitionVersion](t, in.texts[2]),
		Input: in.digests[1], Replay: in.replay,
	}
	return []verdict{
		both("execution", author.Execution(projection, in.number), Numbered("execution", projection, in.number)),
		{shape: "execution-input", first: author.ExecutionInput(in.content), model: Content("execution-input", in.content)},
		{shape: "execution-ref", first: author.ExecutionRef(ref).Digest, model: ExecutionRef(ref)},
		both("dependency", author.Dependency(execution, in.number), Numbered("dependency", execution, in.number)),
		both("command", author.Command(execution), Single("command", execution)),
		both("result", author.Result(command), Single("result", command)),
	}
}

func judgeOutbound(t fatal, author facts.Author, in inputs) []verdict {
	scope, slot := key[facts.ApplicationScope](t, in.texts[0]), key[facts.EffectSlotID](t, in.texts[1])
	canonical := facts.CanonicalProjectionDigest{Digest: in.digests[0]}
	root := author.EffectRoot(scope, canonical)
	generation := author.InitialEffectGeneration(scope, root, slot)
	logical := facts.LogicalEffect{Scope: scope, Root: root, Slot: slot, Generation: generation}
	idempotency := author.IdempotencyKey(logical)
	outbound, effect := facts.OutboundCommandID(in.ids[0]), facts.EffectID(in.ids[1])
	remote, owner := key[facts.RemoteIdentity](t, in.texts[2]), key[facts.OwnerSlot](t, in.texts[3])
	first := InitialEffectGeneration(scope, root, slot)
	return []verdict{
		{shape: "effect-root", first: root.Digest, model: EffectRoot(scope, canonical.Digest)},
		{shape: "initial-effect-generation", first: first.sum(t), id: generation, model: first},
		{shape: "logical-effect", first: idempotency.Digest, model: IdempotencyKey(logical)},
		both("outbound-command", author.OutboundCommand(idempotency), OutboundCommand(idempotency)),
		both("remote-effect", author.Effect(outbound), Single("remote-effect", outbound)),
		both("remote-link", author.Link(effect, remote, owner), Link(effect, remote, owner)),
	}
}

func judgePack(t fatal, author facts.Author, in inputs) []verdict {
	id, version := key[facts.DefinitionID](t, in.texts[0]), key[facts.DefinitionVersion](t, in.texts[1])
	var definitions []facts.DigestedDefinition
	for i, kind := range []facts.BindingKind{facts.CalloutProfile, facts.FieldMapping, facts.InboundRoute} {
		definitions = append(definitions, facts.DigestedDefinition{
			PackDefinition: facts.PackDefinition{Kind: kind, ID: id, Version: version}, Digest: in.digests[i]})
	}
	first := definitions[0].PackDefinition
	return []verdict{
		{shape: "pack-definition", first: author.PackDefinition(first, in.content), model: PackDefinition(first, in.content)},
		{shape: "pack-payload", first: author.PackPayload(in.content, definitions), model: PackPayload(in.content, definitions)},
		{shape: "ordering-contract", first: author.OrderingContract(in.content), model: Content("ordering-contract", in.content)},
	}
}

func (p Preimage) sum(t fatal) facts.Digest {
	raw, err := hex.DecodeString(string(p))
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(raw)
}

// version8 lays a digest out as an id by the library's own idea of a UUID's fields.
func version8(sum facts.Digest) uuid.UUID {
	id, _ := uuid.FromBytes(sum[:16])
	id[6] %= 16
	id[6] += 8 * 16
	id[8] %= 64
	id[8] += 128
	return id
}

func TestBothEncodersAgreeOnEveryShape(t *testing.T) {
	id := rapid.Custom(func(t *rapid.T) (id [16]byte) {
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		id[0] |= 1
		return id
	})
	text := rapid.StringMatching(`[a-zé€😀:/.-][ a-zé€😀:/.-]{0,40}[a-zé€😀:/.-]`)
	rapid.Check(t, func(t *rapid.T) {
		in := inputs{
			content: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "content"), number: rapid.Uint64().Draw(t, "number"),
			replay: rapid.Bool().Draw(t, "replay"), ordered: rapid.Bool().Draw(t, "ordered"), grouped: rapid.Bool().Draw(t, "grouped"),
			members: rapid.SliceOfN(text, 1, 6).Draw(t, "members"),
		}
		for i := range in.ids {
			in.ids[i] = id.Draw(t, "id")
		}
		for i := range in.digests {
			in.digests[i] = sha256.Sum256([]byte(text.Draw(t, "digest")))
		}
		for i := range in.texts {
			in.texts[i] = text.Draw(t, "text")
		}
		in.order = facts.SourceOrder{
			Position: position(t, text.Draw(t, "position")), TieBreaker: position(t, text.Draw(t, "tie-breaker")),
		}
		compare(t, judge(t, in))
	})
}

func position(t fatal, text string) facts.SourcePosition {
	p, err := facts.BytesPosition([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func compare(t interface {
	fatal
	Errorf(string, ...any)
}, verdicts []verdict) {
	for _, v := range verdicts {
		sum := v.model.sum(t)
		if sum != v.first {
			t.Errorf("%s: the room facts has %s, the second encoder %s", v.shape, v.first, sum)
		}
		if v.id != [16]byte{} && uuid.UUID(v.id) != version8(sum) {
			t.Errorf("%s: the room facts has the id %s, the second encoder %s", v.shape, uuid.UUID(v.id), version8(sum))
		}
	}
}

func TestTheSecondEncoderJudgesEveryShape(t *testing.T) {
	judged := map[string]bool{}
	for _, v := range judge(t, fixed(t)["plain"]) {
		judged[v.shape] = true
	}
	for _, shape := range slices.Concat(facts.Shapes(), serving.Shapes(), inbound.Shapes()) {
		if !judged[shape.Label()] {
			t.Errorf("nobody judges %s", shape.Label())
		}
	}
}

// fixed are the inputs of the frozen vectors.
func fixed(t fatal) map[string]inputs {
	plain := inputs{
		content: []byte(`{"id":820982911946154508}`), number: 7, members: []string{"order-1"},
		texts: [6]string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta"},
	}
	full := inputs{
		number: 1<<64 - 1, replay: true, ordered: true, grouped: true, members: []string{"b", "a", "b", "été"},
		texts: [6]string{"crm:größe", "k k", "9007199254740993", "a/b", "\U0001F600", "1.0.0"},
	}
	for i := range plain.ids {
		plain.ids[i] = [16]byte{0: byte(i + 1), 15: 0xFF}
		full.ids[i] = [16]byte(bytes.Repeat([]byte{byte(0xF0 + i)}, 16))
	}
	for i := range plain.digests {
		plain.digests[i] = sha256.Sum256([]byte{byte(i)})
		full.digests[i] = sha256.Sum256([]byte{0xFF, byte(i)})
	}
	instant, err := facts.ParseTimePosition(facts.UnixDecimal, "1531431954.000073")
	if err != nil {
		t.Fatal(err)
	}
	full.order = facts.SourceOrder{Position: instant, TieBreaker: position(t, "tie\x00")}
	return map[string]inputs{"plain": plain, "full": full}
}

// vector is one frozen line of testdata/digests.json.
type vector struct {
	Shape    string `json:"shape"`
	Case     string `json:"case"`
	Preimage string `json:"preimage"`
	Digest   string `json:"digest"`
	ID       string `json:"id,omitempty"`
}

func TestFrozenVectorsNeverChange(t *testing.T) {
	const path = "testdata/digests.json"
	var frozen []vector
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &frozen)
	}
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	stood := len(frozen)
	for _, name := range []string{"plain", "full"} {
		verdicts := judge(t, fixed(t)[name])
		compare(t, verdicts)
		for _, v := range verdicts {
			now := vector{Shape: v.shape, Case: name, Preimage: string(v.model), Digest: v.first.String()}
			if v.id != [16]byte{} {
				now.ID = uuid.UUID(v.id).String()
			}
			at := slices.IndexFunc(frozen, func(f vector) bool { return f.Shape == now.Shape && f.Case == now.Case })
			switch {
			case at >= 0 && frozen[at] != now:
				t.Errorf("%s %s was frozen as\n%+v\nand is now\n%+v\na changed shape needs another label", name, v.shape, frozen[at], now)
			case at < 0 && *rewrite:
				frozen = append(frozen, now)
			case at < 0:
				t.Errorf("%s %s is not frozen yet: run this test with -rewrite", name, v.shape)
			}
		}
	}
	if !*rewrite || t.Failed() || len(frozen) == stood {
		return
	}
	out, err := json.MarshalIndent(frozen, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(out, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFrozenVectorsHashToTheirDigests(t *testing.T) {
	raw, err := os.ReadFile("testdata/digests.json")
	if err != nil {
		t.Fatal(err)
	}
	var frozen []vector
	if err := json.Unmarshal(raw, &frozen); err != nil {
		t.Fatal(err)
	}
	if len(frozen) < 2*(len(facts.Shapes())+len(serving.Shapes())+len(inbound.Shapes())) {
		t.Errorf("%d vectors are frozen, want two a shape", len(frozen))
	}
	for _, v := range frozen {
		if sum := Preimage(v.Preimage).sum(t); sum.String() != v.Digest {
			t.Errorf("%s %s: %s", v.Case, v.Shape, sum)
		}
	}
}
