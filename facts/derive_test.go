package facts

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"connectorcore/facts/digest"
)

// parents is every fact that a derived id or digest can stand on.
type parents struct {
	account    AccountID
	channel    Channel
	transport  TransportKey
	receipt    ReceiptID
	number     uint64
	body       []byte
	event      SourceEventKey
	generation EventGeneration
	content    EventContent
	route      RouteID
	version    DefinitionVersion
	grouping   GroupingKey
	partition  OrderingPartition
	epoch      EpochID
	canonical  CanonicalProjectionDigest
	opening    EventID
	projection ProjectionID
	execution  ExecutionID
	command    CommandID
	ref        ExecutionRef
	scope      ApplicationScope
	root       EffectRootID
	slot       EffectSlotID
	effectGen  EffectGenerationID
	key        IdempotencyKey
	outbound   OutboundCommandID
	effect     EffectID
	remote     RemoteIdentity
	owner      OwnerSlot
	shares     []AccountID
	defined    PackDefinition
	digested   []DigestedDefinition
	lines      []HeaderLine
}

func fill(seed byte) parents {
	word := string(rune('a' + seed))
	order, _ := IntegerPosition(bigInt(int64(seed)))
	sum := Digest{31: seed + 1}
	return parents{
		account: AccountID{seed + 1}, channel: Channel{word}, transport: TransportKey{word}, receipt: ReceiptID{seed + 1},
		number: uint64(seed), body: []byte{seed}, event: SourceEventKey{word},
		generation: ReplayGeneration(ReplayRequestID{seed + 1}),
		content: EventContent{
			Kind: EventKind{word}, Payload: sum, Locator: SourceLocator{word}, Occurrence: order, Contract: sum,
			Partition: OrderingPartition{word}, Order: SourceOrder{Position: order, TieBreaker: order},
		},
		partition: OrderingPartition{word}, route: RouteID{word}, version: DefinitionVersion{word}, grouping: GroupingKey{word}, epoch: EpochID{seed + 1},
		canonical: CanonicalProjectionDigest{sum}, opening: EventID{seed + 1}, projection: ProjectionID{seed + 1},
		execution: ExecutionID{seed + 1}, command: CommandID{seed + 1},
		ref: ExecutionRef{
			Execution: ExecutionID{seed + 1}, PackGeneration: PackGenerationID{word}, Epoch: EpochDigest{sum},
			Definition: DefinitionID{word}, Version: DefinitionVersion{word}, Input: sum, Replay: seed%2 == 1,
		},
		scope: ApplicationScope{word}, root: EffectRootID{sum}, slot: EffectSlotID{word},
		effectGen: EffectGenerationID{seed + 1}, key: IdempotencyKey{sum}, outbound: OutboundCommandID{seed + 1},
		effect: EffectID{seed + 1}, remote: RemoteIdentity{word}, owner: OwnerSlot{word}, shares: []AccountID{{seed + 1}, {seed + 2}},
		defined:  PackDefinition{InboundRoute, DefinitionID{word}, DefinitionVersion{word}},
		digested: []DigestedDefinition{{PackDefinition{CalloutProfile, DefinitionID{word}, DefinitionVersion{word}}, sum}},
		lines:    []HeaderLine{{word, word}},
	}
}

// derivations is each function of the Author with the parents that it stands on, and with no others.
var derivations = []struct {
	name   string
	on     string
	derive func(Author, parents) Digest
}{
	{"receipt-body", "body", func(a Author, p parents) Digest { return a.ReceiptBody(p.body) }},
	{"admitted-content", "body lines", func(a Author, p parents) Digest { return a.AdmittedContent(p.body, p.lines) }},
	{"admission-key", "account channel transport", func(a Author, p parents) Digest { return a.AdmissionKey(p.account, p.channel, p.transport) }},
	{"component", "receipt number", func(a Author, p parents) Digest { return a.Component(p.receipt, p.number).Digest }},
	{"event-payload", "body", func(a Author, p parents) Digest { return a.EventPayload(p.body) }},
	{"event", "account event generation", func(a Author, p parents) Digest { return a.Event(p.account, p.event, p.generation).Digest }},
	{"event-content", "content", func(a Author, p parents) Digest { return a.EventContent(p.content) }},
	{"canonical-projection", "account route grouping event", func(a Author, p parents) Digest {
		return a.CanonicalProjection(CanonicalProjection{p.account, p.route, p.grouping, []SourceEventKey{p.event}}).Digest
	}},
	{"projection", "canonical epoch version generation", func(a Author, p parents) Digest {
		return a.Projection(p.canonical, p.epoch, p.version, p.generation).Digest
	}},
	{"window", "epoch route version grouping opening", func(a Author, p parents) Digest {
		return a.Window(p.epoch, p.route, p.version, p.grouping, p.opening).Digest
	}},
	{"execution", "projection number", func(a Author, p parents) Digest { return a.Execution(p.projection, p.number).Digest }},
	{"execution-input", "body", func(a Author, p parents) Digest { return a.ExecutionInput(p.body) }},
	{"execution-ref", "ref", func(a Author, p parents) Digest { return a.ExecutionRef(p.ref).Digest }},
	{"dependency", "execution number", func(a Author, p parents) Digest { return a.Dependency(p.execution, p.number).Digest }},
	{"command", "execution", func(a Author, p parents) Digest { return a.Command(p.execution).Digest }},
	{"result", "command", func(a Author, p parents) Digest { return a.Result(p.command).Digest }},
	{"effect-root", "scope canonical", func(a Author, p parents) Digest { return a.EffectRoot(p.scope, p.canonical).Digest }},
	{"initial-effect-generation", "scope root slot", func(a Author, p parents) (padded Digest) {
		id := a.InitialEffectGeneration(p.scope, p.root, p.slot)
		copy(padded[:], id[:])
		return padded
	}},
	{"logical-effect", "scope root slot effectGen", func(a Author, p parents) Digest {
		return a.IdempotencyKey(LogicalEffect{p.scope, p.root, p.slot, p.effectGen}).Digest
	}},
	{"outbound-command", "key", func(a Author, p parents) Digest { return a.OutboundCommand(p.key).Digest }},
	{"remote-effect", "outbound", func(a Author, p parents) Digest { return a.Effect(p.outbound).Digest }},
	{"remote-link", "effect remote owner", func(a Author, p parents) Digest { return a.Link(p.effect, p.remote, p.owner).Digest }},
	{"pack-definition", "defined body", func(a Author, p parents) Digest { return a.PackDefinition(p.defined, p.body) }},
	{"pack-payload", "body digested", func(a Author, p parents) Digest { return a.PackPayload(p.body, p.digested) }},
	{"ordering-contract", "body", func(a Author, p parents) Digest { return a.OrderingContract(p.body) }},
	{"epoch-shares", "epoch shares", func(a Author, p parents) Digest { return a.ShareSet(p.epoch, p.shares) }},
	{"ordering-lane", "account epoch route version partition", func(a Author, p parents) Digest {
		return a.Lane(p.account, p.epoch, p.route, p.version, p.partition).Digest
	}},
}

// replacements puts one parent of b into a.
var replacements = map[string]func(a *parents, b parents){
	"account": func(a *parents, b parents) { a.account = b.account }, "channel": func(a *parents, b parents) { a.channel = b.channel },
	"transport": func(a *parents, b parents) { a.transport = b.transport }, "receipt": func(a *parents, b parents) { a.receipt = b.receipt },
	"number": func(a *parents, b parents) { a.number = b.number }, "body": func(a *parents, b parents) { a.body = b.body },
	"event": func(a *parents, b parents) { a.event = b.event }, "generation": func(a *parents, b parents) { a.generation = b.generation },
	"content": func(a *parents, b parents) { a.content = b.content }, "route": func(a *parents, b parents) { a.route = b.route },
	"version": func(a *parents, b parents) { a.version = b.version }, "grouping": func(a *parents, b parents) { a.grouping = b.grouping },
	"epoch": func(a *parents, b parents) { a.epoch = b.epoch }, "canonical": func(a *parents, b parents) { a.canonical = b.canonical },
	"opening": func(a *parents, b parents) { a.opening = b.opening }, "projection": func(a *parents, b parents) { a.projection = b.projection },
	"execution": func(a *parents, b parents) { a.execution = b.execution }, "command": func(a *parents, b parents) { a.command = b.command },
	"ref": func(a *parents, b parents) { a.ref = b.ref }, "scope": func(a *parents, b parents) { a.scope = b.scope },
	"root": func(a *parents, b parents) { a.root = b.root }, "slot": func(a *parents, b parents) { a.slot = b.slot },
	"effectGen": func(a *parents, b parents) { a.effectGen = b.effectGen }, "key": func(a *parents, b parents) { a.key = b.key },
	"outbound": func(a *parents, b parents) { a.outbound = b.outbound }, "effect": func(a *parents, b parents) { a.effect = b.effect },
	"remote": func(a *parents, b parents) { a.remote = b.remote }, "owner": func(a *parents, b parents) { a.owner = b.owner },
	"shares": func(a *parents, b parents) { a.shares = b.shares }, "lines": func(a *parents, b parents) { a.lines = b.lines }, "defined": func(a *parents, b parents) { a.defined = b.defined },
	"partition": func(a *parents, b parents) { a.partition = b.partition }, "digested": func(a *parents, b parents) { a.digested = b.digested },
}

// mayBeAbsent names, by "derivation parent", where absence is a value of its own.
var mayBeAbsent = []string{
	"receipt-body body", "admitted-content body", "admitted-content lines", "event-payload body", "execution-input body", "component number", "execution number",
	"dependency number", "canonical-projection grouping", "epoch-shares shares",
	"pack-definition body", "pack-payload body", "pack-payload digested", "ordering-contract body",
}

func v2Author(t testing.TB) Author {
	t.Helper()
	author, err := ProfileV2.Author()
	if err != nil {
		t.Fatal(err)
	}
	return author
}

func TestEachDigestStandsOnItsParentsAndOnNothingElse(t *testing.T) {
	author := v2Author(t)
	for i, shape := range Shapes() {
		if i >= len(derivations) || derivations[i].name != shape.Label() {
			t.Fatalf("the shape %s is not tried here", shape.Label())
		}
	}
	for _, derivation := range derivations {
		on := strings.Fields(derivation.on)
		base := derivation.derive(author, fill(0))
		if base.IsZero() {
			t.Errorf("%s has no digest", derivation.name)
		}
		for name, replace := range replacements {
			other := fill(0)
			replace(&other, fill(1))
			if moved := derivation.derive(author, other) != base; moved != slices.Contains(on, name) {
				t.Errorf("%s: another %s moves it: %v", derivation.name, name, moved)
			}
		}
	}
}

func TestAnAbsentParentGivesAZeroDigest(t *testing.T) {
	author := v2Author(t)
	for _, derivation := range derivations {
		for _, name := range strings.Fields(derivation.on) {
			lacking := fill(1)
			replacements[name](&lacking, parents{})
			zero := derivation.derive(author, lacking).IsZero()
			if want := !slices.Contains(mayBeAbsent, derivation.name+" "+name); zero != want {
				t.Errorf("%s without its %s is zero: %v", derivation.name, name, zero)
			}
		}
		if !derivation.derive(Author{}, fill(0)).IsZero() {
			t.Errorf("%s was authored without a profile", derivation.name)
		}
	}
}

func TestEachMemberOfAReferenceAndOfAContentMovesItsDigest(t *testing.T) {
	author, one, two := v2Author(t), fill(0), fill(1)
	refs := []func(*ExecutionRef){
		func(r *ExecutionRef) { r.Execution = two.ref.Execution }, func(r *ExecutionRef) { r.PackGeneration = two.ref.PackGeneration },
		func(r *ExecutionRef) { r.Epoch = two.ref.Epoch }, func(r *ExecutionRef) { r.Definition = two.ref.Definition },
		func(r *ExecutionRef) { r.Version = two.ref.Version }, func(r *ExecutionRef) { r.Input = two.ref.Input },
		func(r *ExecutionRef) { r.Replay = true },
	}
	seen := map[Digest]bool{author.ExecutionRef(one.ref).Digest: true}
	for i, change := range refs {
		ref := one.ref
		change(&ref)
		if sum := author.ExecutionRef(ref).Digest; seen[sum] || sum.IsZero() {
			t.Errorf("change %d of the reference did not move its digest", i)
		} else {
			seen[sum] = true
		}
	}
	contents := []func(*EventContent){
		func(c *EventContent) { c.Kind = two.content.Kind }, func(c *EventContent) { c.Payload = two.content.Payload },
		func(c *EventContent) { c.Locator = two.content.Locator }, func(c *EventContent) { c.Occurrence = two.content.Occurrence },
		func(c *EventContent) { c.Occurrence = SourcePosition{} }, func(c *EventContent) { c.Contract = two.content.Contract },
		func(c *EventContent) { c.Contract = Digest{} }, func(c *EventContent) { c.Partition = two.content.Partition },
		func(c *EventContent) { c.Partition = OrderingPartition{} }, func(c *EventContent) { c.Order.Position = two.content.Order.Position },
		func(c *EventContent) { c.Order.TieBreaker = two.content.Order.TieBreaker }, func(c *EventContent) { c.Order = SourceOrder{} },
	}
	seen = map[Digest]bool{author.EventContent(one.content): true}
	for i, change := range contents {
		content := one.content
		change(&content)
		if sum := author.EventContent(content); seen[sum] || sum.IsZero() {
			t.Errorf("change %d of the content did not move its digest", i)
		} else {
			seen[sum] = true
		}
	}
}

// Lines that could be told apart in two ways, or come in another order, would be two digests of one delivery.
func TestR18AdmittedContentTakesIdentityLinesInOneOrderOnly(t *testing.T) {
	author := v2Author(t)
	a, b := HeaderLine{"a", "1"}, HeaderLine{"b", "\xff"}
	for _, lines := range [][]HeaderLine{{b, a}, {a, a}, {{"\xff", ""}}} {
		if sum := author.AdmittedContent(nil, lines); !sum.IsZero() {
			t.Errorf("%q has the digest %s", lines, sum)
		}
	}
	seen := map[Digest]string{}
	for _, lines := range [][]HeaderLine{nil, {a}, {b}, {a, b}, {{"a", ""}}, {{"a", "1b"}}, {{"a1", "b"}}, {{"a", "1"}, {"b", "\xfe"}}} {
		sum := author.AdmittedContent([]byte("body"), lines)
		if before, twice := seen[sum]; twice || sum.IsZero() {
			t.Errorf("%q and %s have one digest", lines, before)
		}
		seen[sum] = fmt.Sprintf("%q", lines)
	}
}

func TestR15DerivedIDsAreUUIDsOfVersion8CutFromTheirDigest(t *testing.T) {
	author := v2Author(t)
	pattern := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for ordinal := uint64(0); ordinal < 64; ordinal++ {
		component := author.Component(ReceiptID{1}, ordinal)
		if !pattern.MatchString(component.ID.String()) {
			t.Errorf("%s is no UUID of version 8", component.ID)
		}
		masked := component.Digest
		masked[6], masked[8] = masked[6]&0x0F|0x80, masked[8]&0x3F|0x80
		if component.ID != ComponentID(masked[:16]) {
			t.Errorf("%s is not cut from %s", component.ID, component.Digest)
		}
	}
}

// One replay or epoch change after another: the canonical projection and so the effect root stay, and with them the
// idempotency key; projection, execution and reference all move.
func TestR17EffectRootSurvivesEpochsReplaysAndVersions(t *testing.T) {
	author := v2Author(t)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z0-9]{1,8}`)
		of := CanonicalProjection{
			Account: AccountID{rapid.ByteMin(1).Draw(t, "account")}, Route: RouteID{word.Draw(t, "route")},
			Grouping: GroupingKey{word.Draw(t, "grouping")},
		}
		for _, member := range rapid.SliceOfN(word, 1, 5).Draw(t, "members") {
			of.Members = append(of.Members, SourceEventKey{member})
		}
		scope, slot := ApplicationScope{word.Draw(t, "scope")}, EffectSlotID{word.Draw(t, "slot")}
		run := func(of CanonicalProjection, epoch EpochID, version DefinitionVersion, generation EventGeneration) (ProjectionID, IdempotencyKey) {
			canonical := author.CanonicalProjection(of)
			root := author.EffectRoot(scope, canonical)
			first := author.InitialEffectGeneration(scope, root, slot)
			return author.Projection(canonical, epoch, version, generation).ID, author.IdempotencyKey(LogicalEffect{scope, root, slot, first})
		}
		shuffled := of
		shuffled.Members = append(rapid.Permutation(of.Members).Draw(t, "shuffled"), of.Members[0])
		live, key := run(of, EpochID{1}, DefinitionVersion{"1"}, LiveGeneration)
		replayed, replayKey := run(shuffled, EpochID{2}, DefinitionVersion{"2"}, ReplayGeneration(ReplayRequestID{3}))
		if key != replayKey || key.IsZero() {
			t.Fatalf("the effect has two keys: %s and %s", key, replayKey)
		}
		if live == replayed {
			t.Fatal("a replay has the projection of the live run")
		}
	})
}

func TestShareSetsAreOrderedAndWithoutRepetition(t *testing.T) {
	author, a, b := v2Author(t), AccountID{1}, AccountID{2}
	for _, accounts := range [][]AccountID{{b, a}, {a, a}, {{}, a}} {
		if sum := author.ShareSet(EpochID{1}, accounts); !sum.IsZero() {
			t.Errorf("%v has the digest %s", accounts, sum)
		}
	}
}

func TestLabelsAreUniqueAndTheDocListsEveryShape(t *testing.T) {
	page, err := os.ReadFile("../docs/digests.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```shapes\n")
	listed, _, _ := strings.Cut(rest, "```")
	var want strings.Builder
	seen := map[string]bool{}
	for _, shape := range Shapes() {
		if seen[shape.Label()] || !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(shape.Label()) {
			t.Errorf("label %q is not one of its own, in lower case with hyphens", shape.Label())
		}
		seen[shape.Label()] = true
		want.WriteString(shape.String() + "\n")
	}
	if listed != want.String() {
		t.Errorf("the list in docs/digests.md is not that of the code, which is:\n%s", want.String())
	}
}

// The example of docs/digests.md, byte by byte, is what the writer produces.
func TestTheDocsExampleIsTheWritersBytes(t *testing.T) {
	page, err := os.ReadFile("../docs/digests.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```bytes\n")
	block, _, _ := strings.Cut(rest, "```")
	var documented strings.Builder
	for _, line := range strings.Split(block, "\n") {
		hexadecimal, _, _ := strings.Cut(line, "#")
		documented.WriteString(strings.ReplaceAll(hexadecimal, " ", ""))
	}
	var trace strings.Builder
	w := eventShape.BeginTo(digest.ProfileV2, &hexWriter{&trace})
	w.ID("account", [16]byte{0x0b, 0x9a, 0xd3, 0xa2, 0x6f, 0x3c, 0x4b, 0x7e, 0x8c, 0x51, 0x6d, 0x1f, 0x5c, 0x8a, 0x90, 0xe2})
	sum, err := w.Text("source_event_key", "évt-1").Null("replay_request").End()
	if err != nil {
		t.Fatal(err)
	}
	if documented.String() != trace.String() {
		t.Errorf("documented\n%s\nwritten\n%s", documented.String(), trace.String())
	}
	for _, text := range []string{Digest(sum).String(), idOf[EventID](sum).String()} {
		if !strings.Contains(string(page), "`"+text+"`") {
			t.Errorf("docs/digests.md does not give %s as the outcome of its example", text)
		}
	}
}

type hexWriter struct{ text *strings.Builder }

func (w *hexWriter) Write(raw []byte) (int, error) {
	w.text.WriteString(hex.EncodeToString(raw))
	return len(raw), nil
}

func bigInt(number int64) *big.Int { return big.NewInt(number) }
