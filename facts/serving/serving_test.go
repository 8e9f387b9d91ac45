package serving

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/digest"

	"github.com/cockroachdb/errors"
)

func keyOf[T facts.AnyKey](t testing.TB, text string) T {
	t.Helper()
	parsed, err := facts.ParseKey[T](text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func author(t testing.TB) Author {
	t.Helper()
	a, err := AuthorOf(facts.ProfileV2)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func someDeployment(t testing.TB) Deployment {
	return Deployment{ID: facts.DeploymentID{1}, Class: Conformance, Organization: keyOf[facts.Organization](t, "acme"),
		Installation: keyOf[facts.ApplicationInstallation](t, "crm"), Workload: keyOf[facts.Workload](t, "sync"), Destinations: Destinations{Loopback}}
}

// whole is a candidate with two bindings, one of them with a Runtime command, and two credential generations.
func whole(t testing.TB) Candidate {
	a := author(t)
	protocol := keyOf[facts.Protocol](t, "test.v1")
	receipt := func(text string) Receipt {
		return Receipt{protocol, OpaqueOf([]byte(text)), facts.Digest{1, byte(len(text))}}
	}
	revision := Revision{keyOf[facts.Lineage](t, "main"), 7}
	c := Candidate{
		Epoch: facts.EpochID{9}, Scope: a.Scope(someDeployment(t)),
		Catalog: CatalogAttestation{keyOf[facts.Organization](t, "acme"), keyOf[facts.ApplicationInstallation](t, "crm"), keyOf[facts.Workload](t, "sync"),
			revision, facts.Digest{2}, facts.Digest{3}, protocol, revision, 4, protocol},
		Configuration: ConfigurationProof{protocol, keyOf[facts.ServiceConfigurationGeneration](t, "c-1"), facts.Digest{5}, receipt("configuration")},
	}
	for i, kind := range []BindingKind{InboundRoute, PushContract} {
		b := Binding{Ordinal: uint64(i), BindingIdentity: BindingIdentity{Kind: kind, OwnerPack: keyOf[facts.PackName](t, "pack"),
			Installation: keyOf[facts.PackInstallationID](t, "i-1"), PackPayload: facts.Digest{6}, BusinessKey: keyOf[facts.DefinitionID](t, "contact"),
			Version: keyOf[facts.DefinitionVersion](t, "1"), CredentialRefs: OpaqueOf([]byte("[]"))}}
		if kind == InboundRoute {
			b.Runtime = RuntimeCommand{keyOf[facts.DefinitionID](t, "upsert"), keyOf[facts.DefinitionVersion](t, "2")}
		}
		b.Identity = a.BindingIdentity(b.BindingIdentity)
		b.Row = a.BindingRow(c.Epoch, b.Identity)
		c.Bindings = append(c.Bindings, b)
		c.Definitions = append(c.Definitions, DefinitionProof{b.Ordinal, b.Row, b.Identity, keyOf[facts.PackGenerationID](t, "g-1"), protocol, facts.Digest{7}, receipt(kind.String())})
	}
	for i := range 2 {
		c.Credentials = append(c.Credentials, CredentialProof{uint64(i), facts.CredentialGenerationID{byte(i + 1)}, facts.Digest{8}, receipt("credential")})
	}
	return c
}

func configured(c Candidate) (all []facts.CredentialGenerationID) {
	for _, p := range c.Credentials {
		all = append(all, p.Generation)
	}
	return append(all, all...) // a generation may serve many references
}

// changes are one change to each value of a candidate.
var changes = map[string]func(*Candidate){
	"epoch id":               func(c *Candidate) { c.Epoch[3]++ },
	"scope":                  func(c *Candidate) { c.Scope.Digest[3]++ },
	"organization":           func(c *Candidate) { c.Catalog.Organization = facts.Organization{} },
	"installation":           func(c *Candidate) { c.Catalog.Installation = facts.ApplicationInstallation{} },
	"workload":               func(c *Candidate) { c.Catalog.Workload = facts.Workload{} },
	"revision":               func(c *Candidate) { c.Catalog.Revision.Number++ },
	"snapshot":               func(c *Candidate) { c.Catalog.SourceSnapshot[0]++ },
	"view":                   func(c *Candidate) { c.Catalog.View[0]++ },
	"catalog protocol":       func(c *Candidate) { c.Catalog.ReceiptProtocol = facts.Protocol{} },
	"receipt revision":       func(c *Candidate) { c.Catalog.ReceiptRevision.Number++ },
	"security epoch":         func(c *Candidate) { c.Catalog.SecurityEpoch++ },
	"capability":             func(c *Candidate) { c.Catalog.CapabilityVersion = facts.Protocol{} },
	"configuration protocol": func(c *Candidate) { c.Configuration.Protocol = facts.Protocol{} },
	"configuration":          func(c *Candidate) { c.Configuration.Generation = facts.ServiceConfigurationGeneration{} },
	"configuration digest":   func(c *Candidate) { c.Configuration.Digest[0]++ },
	"configuration receipt":  func(c *Candidate) { c.Configuration.Receipt.Bytes = OpaqueOf([]byte("configuration ")) },
	"receipt digest":         func(c *Candidate) { c.Configuration.Receipt.Digest[0]++ },
	"a binding less":         func(c *Candidate) { c.Bindings = c.Bindings[:1] },
	"both bindings less":     func(c *Candidate) { c.Bindings, c.Definitions = c.Bindings[:1], c.Definitions[:1] },
	"two bindings in other order": func(c *Candidate) {
		slices.Reverse(c.Bindings)
		slices.Reverse(c.Definitions)
	},
	"kind":                  func(c *Candidate) { c.Bindings[1].Kind = FieldMapping },
	"pack payload":          func(c *Candidate) { c.Bindings[1].PackPayload[0]++ },
	"credential refs":       func(c *Candidate) { c.Bindings[1].CredentialRefs = OpaqueOf([]byte("[ ]")) },
	"a runtime less":        func(c *Candidate) { c.Bindings[0].Runtime = RuntimeCommand{} },
	"half a runtime":        func(c *Candidate) { c.Bindings[0].Runtime.Version = facts.DefinitionVersion{} },
	"identity":              func(c *Candidate) { c.Bindings[0].Identity[0]++ },
	"row":                   func(c *Candidate) { c.Bindings[0].Row[0]++ },
	"proofs exchanged":      func(c *Candidate) { slices.Reverse(c.Definitions) },
	"pack generation":       func(c *Candidate) { c.Definitions[0].PackGeneration = facts.PackGenerationID{} },
	"definition":            func(c *Candidate) { c.Definitions[0].Definition[0]++ },
	"definition receipt":    func(c *Candidate) { c.Definitions[0].Receipt.Bytes = OpaqueOf([]byte("x")) },
	"a credential less":     func(c *Candidate) { c.Credentials = c.Credentials[:1] },
	"a credential twice":    func(c *Candidate) { c.Credentials = append(c.Credentials, c.Credentials[1]) },
	"credentials exchanged": func(c *Candidate) { slices.Reverse(c.Credentials) },
	"credential":            func(c *Candidate) { c.Credentials[0].Generation[5]++ },
	"transport":             func(c *Candidate) { c.Credentials[0].Transport[0]++ },
	"credential receipt":    func(c *Candidate) { c.Credentials[0].Receipt.Bytes = OpaqueOf([]byte("CREDENTIAL")) },
}

// Each value of a candidate is inside its digest: no change of one keeps it.
func TestEveryValueOfACandidateIsInItsDigest(t *testing.T) {
	a := author(t)
	before := a.Epoch(whole(t))
	if before.IsZero() {
		t.Fatal("a whole candidate has no digest")
	}
	seen := map[facts.EpochDigest]string{before: "nothing"}
	for name, change := range changes {
		c := whole(t)
		change(&c)
		after := a.Epoch(c)
		if other, twice := seen[after]; twice && !after.IsZero() {
			t.Errorf("%s and %s give one digest", name, other)
		}
		seen[after] = name
	}
}

// What only a fresh read of an owner can find: the candidate agrees with itself.
var agrees = []string{"snapshot", "view", "security epoch", "configuration digest", "configuration receipt", "receipt digest",
	"definition", "definition receipt", "transport", "credential receipt", "both bindings less", "scope"}

func TestCheckRefusesEveryCandidateThatContradictsItself(t *testing.T) {
	if err := whole(t).Check(author(t), configured(whole(t))); err != nil {
		t.Fatalf("a whole candidate: %v", err)
	}
	for name, change := range changes {
		c := whole(t)
		change(&c)
		err := c.Check(author(t), configured(whole(t)))
		if slices.Contains(agrees, name) != (err == nil) || err != nil && !errors.Is(err, facts.GenerationMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	for name, want := range map[string]string{
		"a binding less":     "there are 1, and 2 definition proofs",
		"proofs exchanged":   "binding 0, inbound_route contact",
		"revision":           "repeats revision main/7, and the view is of main/8",
		"a credential twice": "credential generation 02000000-0000-0000-0000-000000000000",
		"a credential less":  "credential generation 02000000-0000-0000-0000-000000000000: a generation",
	} {
		c := whole(t)
		changes[name](&c)
		if err := c.Check(author(t), configured(whole(t))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", name, err, want)
		}
	}
	c := whole(t)
	c.Bindings[1], c.Definitions[1] = c.Bindings[0], c.Definitions[0]
	c.Bindings[1].Ordinal, c.Definitions[1].Ordinal = 1, 1
	if err := c.Check(author(t), configured(c)); err == nil || !strings.Contains(err.Error(), "it is binding 0 again") {
		t.Errorf("a binding twice: %v", err)
	}
}

func TestOnlyProfileV2AuthorsAnEpoch(t *testing.T) {
	for _, profile := range []facts.Profile{facts.ProfileV1, facts.ProfileLegacy, 0} {
		if _, err := AuthorOf(profile); err == nil {
			t.Errorf("%s authors", profile)
		}
	}
	if sum := (Author{}).Epoch(whole(t)); !sum.IsZero() {
		t.Errorf("no profile gives the digest %s", sum)
	}
}

func TestOpaqueBytesAreCopiedBothWays(t *testing.T) {
	raw := []byte("receipt")
	o := OpaqueOf(raw)
	raw[0] = 'R'
	o.Bytes()[1] = 'E'
	if got := string(o.Bytes()); got != "receipt" {
		t.Errorf("the bytes became %q", got)
	}
	if text := fmt.Sprint(o); text != "(7 bytes)" {
		t.Errorf("printed as %q", text)
	}
}

func TestR39TheClassIsInsideTheScope(t *testing.T) {
	a := author(t)
	d := someDeployment(t)
	conformance := a.Scope(d)
	d.Class, d.Destinations = Production, nil
	production := a.Scope(d)
	if conformance.IsZero() || production.IsZero() || conformance == production {
		t.Errorf("scopes %s and %s", conformance, production)
	}
	for name, change := range map[string]func(*Deployment){
		"no id": func(d *Deployment) { d.ID = facts.DeploymentID{} }, "no class": func(d *Deployment) { d.Class = 0 },
		"no workload": func(d *Deployment) { d.Workload = facts.Workload{} }, "nowhere": func(d *Deployment) { d.Destinations = nil },
		"production with a list": func(d *Deployment) { d.Class = Production },
		"a destination twice":    func(d *Deployment) { d.Destinations = Destinations{Loopback, Loopback} },
		"an empty destination":   func(d *Deployment) { d.Destinations = Destinations{{}} },
	} {
		d := someDeployment(t)
		change(&d)
		if err := d.Check(); !errors.Is(err, facts.ConfigurationInvalid) || !a.Scope(d).IsZero() {
			t.Errorf("%s: %v, scope %s", name, err, a.Scope(d))
		}
	}
}

func TestDestinationsHaveOneSpelling(t *testing.T) {
	for _, text := range []string{"loopback", "sandbox.example:443", "localhost:8080", "127.0.0.1:80", "[::1]:9000"} {
		d, err := ParseDestination(text)
		if err != nil || d.String() != text {
			t.Errorf("%q: %q, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "Loopback", "host", "host:", "host:0", "host:080", "host:65536", "Host:80", "ho st:80", "127.1:80", "127.0.0.01:80",
		"::1:80", "[::0:1]:80", "*:80", "-a.example:80", "http://a:80", "a..b:80", "a:80\n"} {
		if d, err := ParseDestination(text); err == nil {
			t.Errorf("%q was read as %q", text, d)
		}
	}
	var read Destinations
	wrote, err := Destinations{Loopback, {"sandbox.example:443"}}.Value()
	if err == nil {
		err = read.Scan(wrote)
	}
	if err != nil || len(read) != 2 || read[1].text != "sandbox.example:443" {
		t.Errorf("read back %v, %v", read, err)
	}
}

func TestOwnersAndKindsAreClosed(t *testing.T) {
	for i, o := range Owners() {
		raw, err := o.Value()
		var back Owner
		if err == nil {
			err = back.Scan(raw)
		}
		if err != nil || back != o || int(o) != i+1 {
			t.Errorf("%s reads back as %s: %v", o, back, err)
		}
	}
	for _, k := range BindingKinds() {
		if k.Owner().String() != k.String()+"s" {
			t.Errorf("%s is defined by %s", k, k.Owner())
		}
	}
	var o Owner
	var k BindingKind
	if o.Scan([]byte("Catalog")) == nil || o.Scan([]byte("")) == nil || k.UnmarshalText([]byte("inbound_route ")) == nil || k.Owner() != 0 {
		t.Error("something else was read")
	}
	if _, err := o.Value(); err == nil {
		t.Error("no owner was bound")
	}
}

func TestTheDocListsEveryServingShape(t *testing.T) {
	page, err := os.ReadFile("../../docs/digests.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```serving-shapes\n")
	listed, _, _ := strings.Cut(rest, "```")
	var want strings.Builder
	for _, shape := range Shapes() {
		want.WriteString(shape.String() + "\n")
		if slices.ContainsFunc(facts.Shapes(), func(other *digest.Shape) bool { return other.Label() == shape.Label() }) {
			t.Errorf("label %s is taken", shape.Label())
		}
	}
	if listed != want.String() {
		t.Errorf("the list in docs/digests.md is not that of the code, which is:\n%s", want.String())
	}
}
