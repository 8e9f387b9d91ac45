package tenant

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"connectorcore/engine/pack/form"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers/owners"

	"pgregory.net/rapid"
)

func key[T facts.AnyKey](t testing.TB, text string) T {
	t.Helper()
	parsed, err := facts.ParseKey[T](text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// anyKey draws what YAML would take for something else, and what has to be quoted.
func anyKey[T facts.AnyKey](t *rapid.T, noun string) T {
	text := rapid.OneOf(rapid.SampledFrom([]string{"null", "~", "true", "1e3", "0x1f", "2026-11-29", "a: b", "- a", "{a}", "# a", "'", `"`, `\`, "é", "a,b", "&a", "*a", "!a", "%", "@", "<<", "=", "current", "日本"}),
		rapid.StringMatching(`[ -~]{1,20}`)).Filter(func(text string) bool {
		_, err := facts.ParseKey[T](text)
		return err == nil
	}).Draw(t, noun)
	parsed, err := facts.ParseKey[T](text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func anySettings(t *rapid.T) []owners.Setting {
	var all []owners.Setting
	for _, name := range rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) facts.DefinitionID { return anyKey[facts.DefinitionID](t, "policy") }), 0, 3, rapid.ID[facts.DefinitionID]).Draw(t, "policies") {
		all = append(all, owners.Setting{Name: name, Value: rapid.String().Filter(func(v string) bool { return v != "" }).Draw(t, "value")})
	}
	slices.SortFunc(all, func(a, b owners.Setting) int { return a.Name.Compare(b.Name) })
	return all
}

func anyConfiguration(t *rapid.T) owners.Configuration {
	c := owners.Configuration{Limits: owners.DefaultLimits(), Policies: anySettings(t)}
	c.Limits.DepthMax = rapid.Uint64Range(1, 1<<60).Draw(t, "depth")
	for range rapid.IntRange(1, 3).Draw(t, "accounts") {
		a := owners.AccountConfiguration{Account: facts.Mint[facts.AccountID](), Provider: anyKey[facts.ProviderScope](t, "provider"),
			Organization: anyKey[facts.RemoteIdentity](t, "organization"), Policies: anySettings(t)}
		pack := anyKey[facts.PackName](t, "pack")
		for _, name := range rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) facts.DefinitionID { return anyKey[facts.DefinitionID](t, "definition") }), 0, 3, rapid.ID[facts.DefinitionID]).Draw(t, "definitions") {
			version := anyKey[facts.DefinitionVersion](t, "version")
			a.Routes = append(a.Routes, owners.RouteRef{Pack: pack, Route: name, Version: version})
			a.Mappings = append(a.Mappings, owners.MappingSelection{Pack: pack, Mapping: name, Version: version, Override: []byte(rapid.String().Draw(t, "override"))})
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) facts.CredentialIdentity { return anyKey[facts.CredentialIdentity](t, "identity") }), 0, 3, rapid.ID[facts.CredentialIdentity]).Draw(t, "credentials") {
			m := owners.CredentialMapping{Ref: owners.CredentialRef{Name: name, Provider: anyKey[facts.ProviderScope](t, "of")}}
			if rapid.Bool().Draw(t, "exact") {
				m.Generation = facts.Mint[facts.CredentialGenerationID]()
			}
			a.Credentials = append(a.Credentials, m)
		}
		c.Accounts = append(c.Accounts, a)
	}
	return inOrder(c)
}

func TestWhatIsWrittenIsReadAsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyConfiguration(t)
		text, err := Text(want)
		if err != nil {
			t.Fatal(err)
		}
		file, err := Read("t.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got := file.configuration(); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v\n%s", got, want, text)
		}
	})
}

func TestAnOverrideThatIsNoTextIsNotWritten(t *testing.T) {
	c := owners.Configuration{Accounts: []owners.AccountConfiguration{{Account: facts.Mint[facts.AccountID](), Mappings: []owners.MappingSelection{{
		Pack: key[facts.PackName](t, "shop"), Mapping: key[facts.DefinitionID](t, "order"), Override: []byte{0xff}}}}}}
	if text, err := Text(c); err == nil || !strings.Contains(err.Error(), "mapping order of pack shop: its override is no text") {
		t.Errorf("%s, %v", text, err)
	}
}

const least = "accounts:\n  - {id: 0b9ad3a2-6f3c-4b7e-8c51-6d1f5c8a90e2, provider: shop, organization: acme}\n"

func TestLimitsThatAreLeftOutAreTheDefaults(t *testing.T) {
	file, err := Read("t.yaml", []byte(least))
	if err != nil || file.configuration().Limits != owners.DefaultLimits() {
		t.Errorf("%+v, %v", file, err)
	}
}

// The example in the documentation is read, and shows every key that there is.
func TestTheDocumentedFileHasEveryKey(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(accounts:.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("no example")
	}
	file, err := Read("docs/commands.md", block[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range form.Keys(fileForm{}) {
		if path = strings.ReplaceAll(strings.ReplaceAll(path, "[].", "[0]."), "[]", ""); !file.places.Written(path) {
			t.Errorf("the example does not show %s", path)
		}
	}
	if got := file.configuration().Limits; got != owners.DefaultLimits() {
		t.Errorf("the example has the limits %+v, which are not the defaults", got)
	}
}

func TestATemplateEnablesAllThatTheViewNames(t *testing.T) {
	binding := func(pack string, kind serving.BindingKind, name string, refs ...string) serving.BindingIdentity {
		b := serving.BindingIdentity{Kind: kind, OwnerPack: key[facts.PackName](t, pack), BusinessKey: key[facts.DefinitionID](t, name), Version: key[facts.DefinitionVersion](t, "1")}
		var all []owners.CredentialRef
		for _, ref := range refs {
			all = append(all, owners.CredentialRef{Name: key[facts.CredentialIdentity](t, ref), Provider: key[facts.ProviderScope](t, pack)})
		}
		var err error
		if b.CredentialRefs, err = owners.EncodeRefs(all); err != nil {
			t.Fatal(err)
		}
		return b
	}
	view := owners.View{Bindings: []serving.BindingIdentity{binding("kiosk", serving.InboundRoute, "sales", "inbound/sales"), binding("shop", serving.InboundRoute, "orders", "inbound/orders"),
		binding("shop", serving.CalloutProfile, "note", "outbound"), binding("shop", serving.FieldMapping, "order"), binding("shop", serving.PushContract, "note", "outbound")}}
	c, err := Template(view)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Text(c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Read("t.yaml", []byte(text))
	if faults, are := err.(form.Faults); !are || len(faults) != 2 || !strings.Contains(faults[0].String(), "accounts[0].organization: the key has no value") {
		t.Errorf("a template lacks more than the accounts' names: %v", err)
	}
	file, err := Read("t.yaml", []byte(regexp.MustCompile("organization:.*").ReplaceAllString(text, "organization: acme")))
	if err != nil {
		t.Fatal(err)
	}
	if faults, err := owners.ConfigurationFaults(file.configuration(), view, nil); err != nil || len(faults) != 3 {
		t.Errorf("beside its three generations, which are not made yet, it lacks something: %v, %v", faults, err)
	}
	again, err := Template(view)
	if err != nil || again.Accounts[0].Account == c.Accounts[0].Account {
		t.Errorf("two templates have one account: %v", err)
	}
}

func TestAFileIsReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "t.yaml: the file is empty; 'connector tenant template'",
		"a: \xff\n":           "t.yaml: the file is not UTF-8",
		least + "---\na: 1\n": "the file holds more than one document; one tenant has one configuration",
		"policies: []\n":      "t.yaml:1: accounts: the key is missing",
		strings.Replace(least, "acme", "'acme '", 1):                                   "t.yaml:2: accounts[0].organization: ",
		strings.Replace(least, "0b9ad3a2-6f3c", "0B9AD3A2-6F3C", 1):                    "t.yaml:2: accounts[0].id: ",
		least + "policies:\n  - {name: a, value: 1}\n  - {name: a, value: 2}\n":        "t.yaml:5: policies[1]: the policy a stands twice; line 4 has it already",
		least + "limits: {depth_max: 1.5}\n":                                           `t.yaml:3: limits.depth_max: "1.5" is no plain integer`,
		strings.Replace(least, "acme}", "acme, credentials: [{name: a}]}", 1):          "t.yaml:2: accounts[0].credentials[0].provider: the key is missing",
		strings.Replace(least, "{id", "{id: 1, id", 1):                                 "the key id stands twice in one map",
		strings.Replace(least, "acme}", "acme, mappings: [{pack: a, mapping: b}]}", 1): "mappings[0].version: the key is missing",
	} {
		if _, err := Read("t.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	if _, err := Read("t.yaml", []byte(least+strings.Repeat("#", 16<<20))); err == nil || !strings.Contains(err.Error(), "the file is larger than 16 MiB") {
		t.Errorf("a huge file: %v", err)
	}
}
