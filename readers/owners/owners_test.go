package owners

import (
	"slices"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"

	"github.com/cockroachdb/errors"
)

func key[T facts.AnyKey](t testing.TB, text string) T {
	t.Helper()
	parsed, err := facts.ParseKey[T](text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

var scope = serving.Scope{Digest: facts.Digest{1}}

func refOf(t testing.TB, name string) CredentialRef {
	return CredentialRef{key[facts.CredentialIdentity](t, name), key[facts.ProviderScope](t, "sandbox")}
}

func bindingOf(t testing.TB, kind serving.BindingKind, name string, refs ...CredentialRef) serving.BindingIdentity {
	blob, err := EncodeRefs(refs)
	if err != nil {
		t.Fatal(err)
	}
	return serving.BindingIdentity{Kind: kind, OwnerPack: key[facts.PackName](t, "pack"), Installation: key[facts.PackInstallationID](t, "i-1"),
		PackPayload: facts.Digest{2}, BusinessKey: key[facts.DefinitionID](t, name), Version: key[facts.DefinitionVersion](t, "1"), CredentialRefs: blob}
}

func someView(t testing.TB) View {
	return View{key[facts.Organization](t, "acme"), key[facts.ApplicationInstallation](t, "crm"), key[facts.Workload](t, "sync"),
		serving.Revision{Lineage: key[facts.Lineage](t, "main"), Number: 3}, facts.Digest{3}, 1, Capabilities,
		[]serving.BindingIdentity{
			bindingOf(t, serving.InboundRoute, "contact", refOf(t, "webhook")), bindingOf(t, serving.InboundRoute, "deal", refOf(t, "deals")),
			bindingOf(t, serving.FieldMapping, "contact"), bindingOf(t, serving.PushContract, "contact", refOf(t, "api"), refOf(t, "webhook")),
		}}
}

func generationOf(t testing.TB, n byte, name string, account byte) CredentialGeneration {
	return CredentialGeneration{ID: facts.CredentialGenerationID{n}, Identity: key[facts.CredentialIdentity](t, name), Account: facts.AccountID{account},
		Provider: key[facts.ProviderScope](t, "sandbox"), Backend: key[facts.OwnerName](t, "file"), Version: key[facts.SecretVersion](t, "v-1")}
}

// someConfiguration has two accounts with one enabled route each, and the generations that it maps.
func someConfiguration(t testing.TB) (Configuration, map[facts.CredentialGenerationID]CredentialGeneration) {
	c := Configuration{Limits: DefaultLimits(), Policies: []Setting{{key[facts.DefinitionID](t, "retention"), "P90D <&> \u2028"}}}
	generations := map[facts.CredentialGenerationID]CredentialGeneration{}
	for account := byte(1); account <= 2; account++ {
		a := AccountConfiguration{Account: facts.AccountID{account}, Provider: key[facts.ProviderScope](t, "sandbox"),
			Organization: key[facts.RemoteIdentity](t, "org-1"),
			Routes:       []RouteRef{{key[facts.PackName](t, "pack"), key[facts.DefinitionID](t, "contact"), key[facts.DefinitionVersion](t, "1")}},
			Mappings:     []MappingSelection{{key[facts.PackName](t, "pack"), key[facts.DefinitionID](t, "contact"), key[facts.DefinitionVersion](t, "1"), nil}}}
		for i, name := range []string{"api", "webhook"} {
			g := generationOf(t, account*16+byte(i), name, account)
			generations[g.ID] = g
			a.Credentials = append(a.Credentials, CredentialMapping{refOf(t, name), g.ID})
		}
		c.Accounts = append(c.Accounts, a)
	}
	return c, generations
}

func TestNoProtocolIsAbsent(t *testing.T) {
	for _, p := range []facts.Protocol{ViewProtocol, DefinitionProtocol, ConfigurationProtocol, CredentialProtocol, TransportProtocol, ReceiptProtocol, HoldProtocol, Capabilities, ManifestProtocol} {
		if p.IsZero() {
			t.Error("a protocol is absent")
		}
	}
}

// sealed are one Exact of each protocol with the opener that checks it.
func sealed(t testing.TB) map[string]struct {
	exact Exact
	open  func(Exact) error
} {
	t.Helper()
	must := func(e Exact, err error) Exact {
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	c, generations := someConfiguration(t)
	_, configuration, err := SealConfiguration(scope, c)
	return map[string]struct {
		exact Exact
		open  func(Exact) error
	}{
		"view": {must(SealView(scope, someView(t))), func(e Exact) error { _, err := OpenView(scope, e); return err }},
		"definition": {must(SealDefinition(scope, Definition{someView(t).Bindings[0], key[facts.PackGenerationID](t, "g-1"), serving.OpaqueOf([]byte("definition")), facts.Digest{7}})),
			func(e Exact) error { _, err := OpenDefinition(scope, e); return err }},
		"configuration": {must(configuration, err), func(e Exact) error { _, err := OpenConfiguration(scope, e); return err }},
		"manifest": {must(SealManifest(scope, Manifest{key[facts.PackName](t, "pack"), key[facts.PackInstallationID](t, "i-1"), facts.Digest{2},
			key[facts.PackGenerationID](t, "g-1"), someView(t).Bindings})), func(e Exact) error { _, err := OpenManifest(scope, e); return err }},
		"credential": {must(SealCredential(scope, generations[facts.CredentialGenerationID{16}])), func(e Exact) error { _, err := OpenCredential(scope, e); return err }},
	}
}

// Whatever byte of an owner's answer changes, the opener refuses the answer.
func TestAnOpenerRefusesEveryChangedByte(t *testing.T) {
	for name, s := range sealed(t) {
		if err := s.open(s.exact); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for at := range s.exact.Canonical.Len() {
			for _, by := range []byte{1, 0x20} {
				changed := s.exact
				raw := changed.Canonical.Bytes()
				raw[at] ^= by
				changed.Canonical = serving.OpaqueOf(raw)
				if s.open(changed) == nil {
					t.Fatalf("%s: byte %d of %s was changed and opened", name, at, s.exact.Canonical.Bytes())
				}
			}
		}
		for at := range s.exact.Receipt.Bytes.Len() {
			changed := s.exact
			raw := changed.Receipt.Bytes.Bytes()
			raw[at] ^= 1
			changed.Receipt.Bytes = serving.OpaqueOf(raw)
			if err := s.open(changed); !errors.Is(err, facts.GenerationMalformed) || !strings.Contains(err.Error(), "receipt") {
				t.Fatalf("%s: byte %d of the receipt: %v", name, at, err)
			}
		}
		for part, change := range map[string]func(*Exact){
			"named": func(e *Exact) { e.Name = key[serving.Name](t, "another") }, "protocol": func(e *Exact) { e.Protocol = ReceiptProtocol },
			"digest": func(e *Exact) { e.Digest[5]++ }, "receipt": func(e *Exact) { e.Receipt.Digest[5]++ },
		} {
			changed := s.exact
			change(&changed)
			if err := s.open(changed); !errors.Is(err, facts.GenerationMalformed) || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: its %s changed: %v", name, part, err)
			}
		}
	}
}

// The same content has one form: another spelling of it in JSON is refused although it says the same.
func TestAnOpenerRefusesEveryOtherSpelling(t *testing.T) {
	for name, s := range sealed(t) {
		raw := string(s.exact.Canonical.Bytes())
		for what, other := range map[string]string{
			"a blank": " " + raw, "a line end": raw + "\n", "more behind it": raw + "{}", "an unknown field": strings.Replace(raw, "{", `{"x":1,`, 1),
			"an escape": strings.Replace(raw, "p", `\u0070`, 1), "a field twice": strings.Replace(raw, `"version":"1"`, `"version":"1","version":"1"`, 1),
			"null for an empty list": strings.Replace(raw, "[]", "null", 1), "another case": strings.Replace(raw, `"version"`, `"Version"`, 1),
		} {
			changed := s.exact
			changed.Canonical = serving.OpaqueOf([]byte(other))
			changed.Digest = Sum(changed.Protocol, []byte(other))
			if other != raw && s.open(changed) == nil {
				t.Errorf("%s: %s was opened", name, what)
			}
		}
	}
}

func TestSealsAreByteStable(t *testing.T) {
	first, second := sealed(t), sealed(t)
	for name := range first {
		if first[name].exact != second[name].exact {
			t.Errorf("%s has two forms", name)
		}
	}
	// Frozen: a change of a protocol's form is another protocol.
	want := map[string]string{
		"view":          "a795444e0b08eec04abdfcc23155b551da24298de876561ae663fba09fff6dc6 79cecef055f7c058381cc676c8cdb6e40cc3165d3d9021a48d173d82873b50e5",
		"definition":    "78e5cbc37ea2596eb8633b67071ed6c4be35ba651f61337ce7ddf7244c0ce4ec c598723d8d7fafd4c772416c05ce43dee5fd55a9d4d2acbe375a89915e5780e7",
		"configuration": "6cdd7a7e400c9309d42323f297d5b109287c891536e366c66c73e37d95a93f94 df5589ca1bbaed58ed138b15e3bb38c887445db3454661e0fd2ec455cd09582a",
		"manifest":      "4b9fbd815a1e96faeabf6692222570a69bc00ce78d36a94e9506357631adbf52 2db9273ad275e7ec0e19d7d17cadb017df3ccaf5fc99b514e1894f03052ec363",
		"credential":    "750cc6c8afa608aaa13145dd7fda04cf3c6fa2c72a3fc767937afca8d43c4804 13705b6a7dc9c791c702518066fb71c3a8024fa13b9db288113b74e3ca4df976",
	}
	for name, s := range first {
		if got := s.exact.Digest.String() + " " + s.exact.Receipt.Digest.String(); got != want[name] {
			t.Errorf("%s: frozen as %s, now %s", name, want[name], got)
		}
	}
}

func TestTheOpenedValueIsTheSealedOne(t *testing.T) {
	v := someView(t)
	e, err := SealView(scope, v)
	if err != nil {
		t.Fatal(err)
	}
	back, err := OpenView(scope, e)
	if err != nil || back.Revision != v.Revision || !slices.Equal(back.Bindings, v.Bindings) || back.SourceSnapshot != v.SourceSnapshot {
		t.Errorf("read back %+v, %v", back, err)
	}
	attested, err := Attest(back, e)
	if err != nil || attested.ReceiptRevision != v.Revision || attested.View != e.Digest || attested.SecurityEpoch != 1 {
		t.Errorf("attested %+v, %v", attested, err)
	}
	if _, err := OpenView(serving.Scope{Digest: facts.Digest{9}}, e); !errors.Is(err, facts.GenerationMalformed) {
		t.Errorf("a view of another scope was opened: %v", err)
	}
}

// P03, the pure part: each fault of the relation, alone, with its account and reference.
func TestP03EveryBadMappingIsNamed(t *testing.T) {
	c, generations := someConfiguration(t)
	if err := CheckConfiguration(c, someView(t), generations); err != nil {
		t.Fatal(err)
	}
	second := facts.AccountID{2}.String()
	for name, one := range map[string]struct {
		change func(*AccountConfiguration, map[facts.CredentialGenerationID]CredentialGeneration)
		want   string
	}{
		"missing": {func(a *AccountConfiguration, _ map[facts.CredentialGenerationID]CredentialGeneration) {
			a.Credentials = a.Credentials[:1]
		}, "webhook at sandbox: a generation or a candidate is incomplete, names something twice, or contradicts itself (it is not mapped, and "},
		"extra": {func(a *AccountConfiguration, _ map[facts.CredentialGenerationID]CredentialGeneration) {
			a.Credentials = append(a.Credentials, CredentialMapping{refOf(t, "zeta"), a.Credentials[0].Generation})
		}, "zeta at sandbox"},
		"of a route that is not enabled": {func(a *AccountConfiguration, _ map[facts.CredentialGenerationID]CredentialGeneration) {
			a.Credentials = slices.Insert(a.Credentials, 1, CredentialMapping{refOf(t, "deals"), a.Credentials[0].Generation})
		}, "no binding of the account needs it"},
		"twice": {func(a *AccountConfiguration, _ map[facts.CredentialGenerationID]CredentialGeneration) {
			a.Credentials = append(a.Credentials, a.Credentials[1])
		}, "it is mapped twice"},
		"unknown generation": {func(a *AccountConfiguration, g map[facts.CredentialGenerationID]CredentialGeneration) {
			delete(g, a.Credentials[1].Generation)
		}, "its owner has no generation 21000000-0000-0000-0000-000000000000"},
		"another identity": {func(a *AccountConfiguration, _ map[facts.CredentialGenerationID]CredentialGeneration) {
			a.Credentials[1].Generation = a.Credentials[0].Generation
		}, "is of the credential api"},
		"another account": {func(a *AccountConfiguration, _ map[facts.CredentialGenerationID]CredentialGeneration) {
			a.Credentials[1].Generation = facts.CredentialGenerationID{17}
		}, "is of the account 01000000-0000-0000-0000-000000000000"},
		"another provider": {func(a *AccountConfiguration, g map[facts.CredentialGenerationID]CredentialGeneration) {
			other := g[a.Credentials[1].Generation]
			other.Provider = key[facts.ProviderScope](t, "production")
			g[other.ID] = other
		}, "is for production"},
		"unauthorised route": {func(a *AccountConfiguration, _ map[facts.CredentialGenerationID]CredentialGeneration) {
			a.Routes = append(a.Routes, RouteRef{a.Routes[0].Pack, a.Routes[0].Route, key[facts.DefinitionVersion](t, "2")})
		}, "route contact 2 of pack pack"},
		"unauthorised mapping": {func(a *AccountConfiguration, _ map[facts.CredentialGenerationID]CredentialGeneration) {
			a.Mappings[0].Mapping = key[facts.DefinitionID](t, "gone")
		}, "mapping gone 1 of pack pack"},
	} {
		c, generations := someConfiguration(t)
		one.change(&c.Accounts[1], generations)
		err := CheckConfiguration(c, someView(t), generations)
		if !errors.Is(err, facts.GenerationMalformed) || !strings.Contains(err.Error(), one.want) || !strings.Contains(err.Error(), "account "+second) {
			t.Errorf("%s: %v, want %q of account %s", name, err, one.want, second)
		}
		if n := strings.Count(err.Error(), "generation_malformed"); n != 1 {
			t.Errorf("%s: %d faults: %v", name, n, err)
		}
	}
}

func TestEveryFaultIsNamedAtOnceUpToTwenty(t *testing.T) {
	c, generations := someConfiguration(t)
	v := someView(t)
	for account := byte(3); account < 40; account++ {
		a := c.Accounts[0]
		a.Account, a.Credentials = facts.AccountID{account}, nil
		c.Accounts = append(c.Accounts, a)
	}
	err := CheckConfiguration(c, v, generations)
	if n := strings.Count(err.Error(), "generation_malformed"); n != 20 || !strings.Contains(err.Error(), "and 54 more") {
		t.Errorf("%d faults are named: %v", n, err)
	}
}

func TestNothingStandsTwiceOrOutOfOrder(t *testing.T) {
	for name, change := range map[string]func(*Configuration){
		"an account twice":   func(c *Configuration) { c.Accounts[1].Account = c.Accounts[0].Account },
		"accounts exchanged": func(c *Configuration) { slices.Reverse(c.Accounts) },
		"a route twice": func(c *Configuration) {
			c.Accounts[0].Routes = append(c.Accounts[0].Routes, c.Accounts[0].Routes[0])
		},
		"references exchanged": func(c *Configuration) { slices.Reverse(c.Accounts[0].Credentials) },
		"a policy twice":       func(c *Configuration) { c.Policies = append(c.Policies, c.Policies[0]) },
		"a policy of no text":  func(c *Configuration) { c.Policies[0].Value = "\xff" },
		"no provider":          func(c *Configuration) { c.Accounts[0].Provider = facts.ProviderScope{} },
		"a limit of zero":      func(c *Configuration) { c.Limits.DepthMax = 0 },
		"no generation":        func(c *Configuration) { c.Accounts[0].Credentials[0].Generation = facts.CredentialGenerationID{} },
	} {
		c, _ := someConfiguration(t)
		change(&c)
		if _, _, err := SealConfiguration(scope, c); !errors.Is(err, facts.GenerationMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	v := someView(t)
	slices.Reverse(v.Bindings)
	if _, err := SealView(scope, v); !errors.Is(err, facts.GenerationMalformed) || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("bindings exchanged: %v", err)
	}
	if _, err := EncodeRefs([]CredentialRef{refOf(t, "a"), refOf(t, "a")}); !errors.Is(err, facts.GenerationMalformed) {
		t.Errorf("a reference twice: %v", err)
	}
	if _, err := DecodeRefs(serving.OpaqueOf([]byte(`[{"name":"b","provider":"p"},{"name":"a","provider":"p"}]`))); err == nil {
		t.Error("references out of order were read")
	}
}

func TestAForgottenAnswerDecidesNothing(t *testing.T) {
	var forgotten Answer[int]
	if _, ok := forgotten.Value(); ok || forgotten.Standing() != Unavailable || forgotten.Cause() == nil {
		t.Errorf("a forgotten answer is %s", forgotten.Standing())
	}
	none := None[int]()
	if _, ok := none.Value(); ok || none.Standing() != Absent || none.Cause() != nil {
		t.Errorf("none is %s", none.Standing())
	}
	if v, ok := Have(7).Value(); !ok || v != 7 || Have(7).Standing() != Found {
		t.Error("what is there is not found")
	}
}
