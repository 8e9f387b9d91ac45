package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectorcore/facts"
)

// Each fault of a tenant's file is one sentence with its line, whichever command meets it, and nothing is written.
func TestP03ABadTenantFileIsOneSentenceWithItsLineAndWritesNothing(t *testing.T) {
	n := tenancyOf(t)
	account := n.configured()
	stranger, nobody := facts.Mint[facts.AccountID]().String(), facts.Mint[facts.CredentialGenerationID]().String()
	foreign := decode[brought](t, n.done(n.bring("publish", stranger, "inbound/orders", "env", "SHOP_1")...).out).Generation
	outbound := ""
	for _, l := range decode[[]listed](t, n.done("credential", "list", "--output", "json").out) {
		if l.Identity == "outbound" {
			outbound = l.Generation
		}
	}
	sound := readText(t, filepath.Join(n.dir, "tenant.yaml"))
	const inbound = "{name: inbound/orders, provider: shop, generation: current}"
	wholeInbound := "      - " + inbound + "\n"
	route := "      - {pack: shop, route: orders, version: 1}\n"
	account2 := func(text string) string { return text[strings.Index(text, "  - id:"):strings.Index(text, "limits:")] }
	for name, one := range map[string]struct{ old, now, line, want string }{
		"no YAML":                        {"accounts:\n", "accounts: [\n", "", "this is no YAML: "},
		"an unknown key":                 {"    provider: shop\n", "    providr: shop\n", "providr", `accounts[0].providr: the key is not known here; did you mean "provider"?`},
		"an anchor":                      {"    provider: shop\n", "    provider: &p shop\n", "&p", "anchors and aliases have no place in a tenant's file; "},
		"a duplicate account":            {"limits:", account2(sound) + "limits:", "!last id: " + account, "accounts[1]: the account " + account + " stands twice; line "},
		"a duplicate mapping":            {"    credentials:\n", "      - {pack: shop, mapping: order, version: 1, override: x}\n    credentials:\n", "override: x", "accounts[0].mappings[1]: the mapping order of pack shop, version 1 stands twice; line "},
		"a duplicate route":              {route, route + route, "!last route: orders", "accounts[0].routes[1]: the route orders of pack shop, version 1 stands twice; line "},
		"a route that nobody defines":    {"route: orders, version: 1", "route: oders, version: 1", "oders", `accounts[0].routes[0]: route oders 1 of pack shop: the Catalog view names no such definition; did you mean "orders 1"?`},
		"a pack that nobody authorised":  {"- {pack: shop, mapping: order", "- {pack: kiosk, mapping: order", "kiosk", "accounts[0].mappings[0]: mapping order 1 of pack kiosk: the Catalog view names no such definition; 'connector catalog show'"},
		"a credential of another one":    {inbound, strings.Replace(inbound, "current", foreign, 1), foreign, fmt.Sprintf("accounts[0].credentials[0]: credential inbound/orders at shop of account %s: generation %s is of the account %s; ", account, foreign, stranger)},
		"another identity's generation":  {inbound, strings.Replace(inbound, "current", outbound, 1), "inbound/orders", fmt.Sprintf("accounts[0].credentials[0]: credential inbound/orders at shop of account %s: generation %s is of the credential outbound; ", account, outbound)},
		"a generation that is not there": {inbound, strings.Replace(inbound, "current", nobody, 1), nobody, "accounts[0].credentials[0]: credential inbound/orders at shop of account " + account + ": its owner has no generation " + nobody + "; "},
		"no id of a generation":          {inbound, strings.Replace(inbound, "current", "latest", 1), "latest", "accounts[0].credentials[0].generation: want current, or the id of a generation"},
		"a missing credential":           {wholeInbound, "", "name: outbound", "accounts[0].credentials: credential inbound/orders at shop of account " + account + ": it is not mapped, and inbound_route orders of pack shop needs it; "},
		"a credential of nobody":         {wholeInbound, wholeInbound + "      - {name: other, provider: shop}\n", "name: other", "accounts[0].credentials[1]: credential other at shop of account " + account + ": it is mapped, and no binding of the account needs it; delete the entry"},
		"a credential without any":       {account, stranger, "name: outbound", "accounts[0].credentials[1]: credential outbound at shop of account " + stranger + ": it has no current generation; "},
		"a limit of zero":                {"depth_max: 64", "depth_max: 0", "depth_max", "limits.depth_max: it is 0; the least is 1"},
	} {
		if strings.Count(sound, one.old) != 1 {
			t.Fatalf("%s: the file has not one %q:\n%s", name, one.old, sound)
		}
		text := strings.Replace(sound, one.old, one.now, 1)
		write(t, filepath.Join(n.dir, "bad.yaml"), text)
		place := "bad.yaml:"
		if word, last := strings.CutPrefix(one.line, "!last "); last {
			place += fmt.Sprint(strings.Count(text[:strings.LastIndex(text, word)], "\n") + 1)
		} else if one.line != "" {
			place += fmt.Sprint(lineWith(t, text, one.line))
		}
		n.nothing(name, func() {
			for _, command := range []string{"validate", "publish"} {
				if one.line == "" {
					n.faulty([]string{"tenant", command, "bad.yaml"}, place)
				} else {
					n.faulty([]string{"tenant", command, "bad.yaml"}, place+": "+one.want)
				}
			}
		})
	}
	n.nothing("no file", func() {
		n.refused(exitUsage, []string{"tenant", "publish", "gone.yaml"}, "FILE is no file that can be read: gone.yaml")
	})
}

func TestG04ABadCredentialIsOneSentenceAndWritesNothing(t *testing.T) {
	n := tenancyOf(t)
	account := facts.Mint[facts.AccountID]().String()
	n = &tenancy{n.with("CONNECTORCORE_SECRET_EMPTY="+setOf(t, "", false), "CONNECTORCORE_SECRET_BLANK=", "CONNECTORCORE_SECRET_BROKEN={broken-secret", "CONNECTORCORE_SECRET_PLAIN="+setOf(t, "plain-secret", false)), n.store}
	n.secrets = append(n.secrets, "broken-secret", "plain-secret")
	version := n.seal("shop-1", "sealed-secret")
	for name, one := range map[string]struct {
		identity, backend, version string
		want                       []string
	}{
		"an empty secret":       {"inbound/orders", "env", "EMPTY", []string{"secret_unusable", "secret version EMPTY at env", "member 2026 is empty"}},
		"an empty variable":     {"inbound/orders", "env", "BLANK", []string{"secret_unusable", "it cannot be decoded"}},
		"an undecodable secret": {"inbound/orders", "env", "BROKEN", []string{"secret_unusable", "it cannot be decoded"}},
		"no such version":       {"inbound/orders", "env", "GONE", []string{"secret_unusable", "the variable CONNECTORCORE_SECRET_GONE is not set"}},
		"another file":          {"outbound", "file", "shop-1@" + strings.Repeat("0", 64), []string{"secret_unusable", "the file is another version now"}},
		"no file":               {"outbound", "file", "gone-1@" + strings.Repeat("0", 64), []string{"secret_unusable", "the folder has no file gone-1.age"}},
		"no such backend":       {"outbound", "vault", "kv/a@1", []string{"secret_unusable", "no backend of this name is configured", "secrets.vault_address"}},
		"nothing to send with":  {"outbound", "env", "PLAIN", []string{"secret_unusable", "no member is for outbound use, and callout_profile note of pack shop sends"}},
		"no such identity":      {"inbound/ordres", "env", "SHOP_1", []string{"generation_malformed", "credential inbound/ordres at shop", "known are inbound/orders at shop, outbound at shop"}},
	} {
		n.nothing(name, func() {
			n.refused(exitFailed, n.bring("publish", account, one.identity, one.backend, one.version), one.want...)
		})
	}
	good := n.bring("publish", account, "outbound", "file", version)
	n.nothing("wrong flags", func() {
		other := append([]string{}, good...)
		other[5] = "kiosk"
		n.refused(exitFailed, other, "generation_malformed", "credential outbound at kiosk")
		n.refused(exitUsage, append(good, "--account", "no-id"), "--account is not an id")
		n.refused(exitUsage, append(good, "--transport", "region"), "--transport must be NAME=VALUE")
		n.refused(exitUsage, append(good, "--transport", "a=1", "--transport", "a=2"), "--transport gives one name twice")
		n.refused(exitUsage, append(good, "--version", ""), "--version is required")
	})
	n.done(good...)
}

func TestSealingTakesNoSecretFromTheLineAndOverwritesNothing(t *testing.T) {
	sh := storeless(t).withSecrets("typed-secret")
	folder := t.TempDir()
	path, empty := filepath.Join(folder, "member"), filepath.Join(folder, "empty")
	write(t, path, "file-secret\r\n")
	write(t, empty, "\n")
	sh.secrets = append(sh.secrets, "file-secret")
	seal := func(more ...string) []string {
		return append([]string{"credential", "seal", "--name", "shop-1"}, more...)
	}
	for want, args := range map[string][]string{
		"--member is required":                       seal(),
		"--member must be NAME=FILE":                 seal("--member", "typed-secret"),
		"the file of member 2026 cannot be read":     seal("--member", "2026=typed-secret"),
		"--outbound names no member":                 seal("--member", "2026="+path, "--outbound", "2025"),
		"standard input twice":                       seal("--member", "a=-", "--member", "b=-"),
		"--name is not 1 to 512 bytes of plain text": {"credential", "seal", "--name", " shop", "--member", "2026=" + path},
		"age recipient":                              seal("--member", "2026="+path, "--recipient", "typed-secret"),
		"secret name: ":                              {"credential", "seal", "--name", "Shop", "--member", "2026=" + path},
	} {
		sh.refused(exitUsage, args, want)
	}
	sh.refused(exitFailed, seal("--member", "2026="+empty), "secret_unusable", "member 2026 is empty")
	sh.refused(exitFailed, seal("--member", "a="+path, "--member", "a="+path), "secret_unusable", "member a stands twice")
	version := strings.TrimSpace(sh.done(seal("--member", "2026="+path, "--member", "2025="+path, "--outbound", "2026")...).out)
	file := filepath.Join(sh.dir, "secrets/shop-1.age")
	kept := readText(t, file)
	if !strings.HasPrefix(version, "shop-1@") || strings.Contains(kept, "file-secret") {
		t.Errorf("sealed as %s", version)
	}
	sh.refused(exitConflict, seal("--member", "2026="+path), "content_differs", "the name is taken")
	if readText(t, file) != kept {
		t.Error("a sealed file was overwritten")
	}
	if err := os.Chmod(filepath.Join(sh.dir, "identity"), 0o640); err != nil {
		t.Fatal(err)
	}
	sh.refused(exitUsage, []string{"credential", "seal", "--name", "shop-2", "--member", "2026=" + path}, "others than its owner may read it: set its mode to 0600")
}

func TestEachFaultOfTheConfigurationIsALineOfItsOwn(t *testing.T) {
	sh := newShell(t)
	file := filepath.Join(sh.dir, "connector.yaml")
	write(t, file, "log:\n  levle: info\n  format: xml\n")
	a := sh.with("CONNECTOR_X=1").run("config", "validate", "--config", file)
	lines := strings.Split(strings.TrimSuffix(a.err, "\n"), "\n")
	if a.code != exitUsage || len(lines) != 3 {
		t.Fatalf("exit code %d, said %s", a.code, a.err)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "connector: configuration_invalid: ") {
			t.Errorf("got %s", line)
		}
	}
	for _, want := range []string{file + ":2: unknown key log.levle", file + ":3: log.format", "CONNECTOR_X: no such variable"} {
		if !strings.Contains(a.err, want) {
			t.Errorf("want %q in %s", want, a.err)
		}
	}
}

func TestAFileWithASecretThatEverybodyMayReadIsRefused(t *testing.T) {
	sh := newShell(t)
	path := filepath.Join(sh.dir, "dsn")
	write(t, path, "daemon:open-secret@tcp(127.0.0.1:1)/connector\n")
	sh.secrets = append(sh.secrets, "open-secret")
	for mode, code := range map[os.FileMode]int{0o644: exitUsage, 0o602: exitUsage, 0o604: exitUsage, 0o640: exitDone, 0o600: exitDone, 0o400: exitDone} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		a := sh.run("config", "validate", "--store-dsn-file", path)
		if a.code != code || (code == exitUsage) != strings.Contains(a.err, "everybody on this host may read or write "+path) {
			t.Errorf("mode %o: exit code %d: %s", mode, a.code, a.err)
		}
	}
}

func TestTheVersionIsAFlagToo(t *testing.T) {
	sh := newShell(t)
	if flag, command := sh.done("--version").out, sh.done("version").out; flag != command || !strings.HasPrefix(flag, "connector ") {
		t.Errorf("%q is not %q", flag, command)
	}
}
