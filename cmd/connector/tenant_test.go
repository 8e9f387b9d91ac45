package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/proptest/world"

	"filippo.io/age"
)

// tenancy is a founded deployment with the shop installed and authorised, and places for secrets.
type tenancy struct {
	*shell
	store *world.Store
}

func tenancyOf(t *testing.T) *tenancy {
	t.Helper()
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name)).withSecrets("token-7f")
	sh.proven("shop")
	sh.done(found...)
	sh.done("pack", "install", "shop")
	sh.done("catalog", "authorise", "shop")
	return &tenancy{sh, store}
}

// withSecrets is the shell with an age identity, a folder for sealed sets, and the set of one secret in the environment.
func (s *shell) withSecrets(secret string) *shell {
	s.t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		s.t.Fatal(err)
	}
	file, folder := filepath.Join(s.dir, "identity"), filepath.Join(s.dir, "secrets")
	if err := os.WriteFile(file, []byte(identity.String()+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		s.t.Fatal(err)
	}
	more := s.with("CONNECTOR_SECRETS_IDENTITY_FILE="+file, "CONNECTOR_SECRETS_DIR="+folder, "CONNECTORCORE_SECRET_SHOP_1="+setOf(s.t, secret, false))
	more.secrets = append(more.secrets, secret, identity.String())
	return more
}

// setOf is a set of one secret as the environment holds it.
func setOf(t *testing.T, secret string, outbound bool) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"secrets": []any{map[string]any{"name": "2026", "value": secret, "outbound": outbound}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// seal seals a secret for outbound use and gives its version.
func (s *shell) seal(name, secret string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "member")
	write(s.t, path, secret+"\n")
	return decode[sealed](s.t, s.done("credential", "seal", "--name", name, "--member", "2026="+path, "--outbound", "2026", "--output", "json").out).Version
}

// bring publishes or rotates a credential of the shop.
func (s *shell) bring(command, account, identity, backend, version string) []string {
	return []string{"credential", command, "--account", account, "--provider", "shop", "--identity", identity, "--backend", backend, "--version", version, "--output", "json"}
}

// template writes the template into a file, with the account's own name, and gives the account.
func (s *shell) template(name string) (account string) {
	s.t.Helper()
	text := s.done("tenant", "template").out
	text = regexp.MustCompile(`organization: .*`).ReplaceAllString(text, "organization: acme-shop")
	write(s.t, filepath.Join(s.dir, name), text)
	return regexp.MustCompile(`id: (\S+)`).FindStringSubmatch(text)[1]
}

// configured is a tenancy whose one account is configured and has both credentials.
func (n *tenancy) configured() (account string) {
	n.t.Helper()
	account = n.template("tenant.yaml")
	n.done(n.bring("publish", account, "inbound/orders", "env", "SHOP_1")...)
	n.done(n.bring("publish", account, "outbound", "file", n.seal("shop-1", "sealed-secret"))...)
	n.done("tenant", "publish", "tenant.yaml")
	return account
}

// rows counts every table.
func (n *tenancy) rows() map[string]int {
	n.t.Helper()
	var names strings.Builder
	appendRows(n.t, &names, n.store.Admin, "SELECT table_name FROM information_schema.tables WHERE table_schema = '"+n.store.Name+"'")
	counts := map[string]int{}
	for _, name := range strings.Fields(strings.ReplaceAll(names.String(), "|", " ")) {
		var count int
		if err := n.store.Admin.QueryRowContext(n.t.Context(), "SELECT COUNT(*) FROM `"+name+"`").Scan(&count); err != nil {
			n.t.Fatal(err)
		}
		counts[name] = count
	}
	if len(counts) < 20 {
		n.t.Fatalf("only %d tables are counted", len(counts))
	}
	return counts
}

// nothing runs something that must write nothing.
func (n *tenancy) nothing(what string, do func()) {
	n.t.Helper()
	before := n.rows()
	do()
	if after := n.rows(); !maps.Equal(before, after) {
		n.t.Errorf("%s: rows were written: %v, then %v", what, before, after)
	}
}

func TestATenantIsConfiguredByCommandsAlone(t *testing.T) {
	n := tenancyOf(t)
	shown := decode[view](t, n.done("catalog", "show", "--output", "json").out)
	if shown.Revision != 1 || len(shown.Bindings) != 5 || !slices.Equal(shown.Bindings[0].Credentials, []reference{{"inbound/orders", "shop"}}) {
		t.Errorf("the view is %+v", shown)
	}
	raw := n.done("tenant", "template").out
	write(t, filepath.Join(n.dir, "raw.yaml"), raw)
	n.faulty([]string{"tenant", "validate", "raw.yaml"}, fmt.Sprintf("raw.yaml:%d: accounts[0].organization: the key has no value; ", lineWith(t, raw, "organization:")))

	account := n.template("tenant.yaml")
	text := readText(t, filepath.Join(n.dir, "tenant.yaml"))
	lacks := func(identity string) string {
		return fmt.Sprintf("tenant.yaml:%d: accounts[0].credentials[", lineWith(t, text, "name: "+identity))
	}
	n.faulty([]string{"tenant", "validate", "tenant.yaml"}, lacks("inbound/orders"), lacks("outbound"))
	inbound := decode[brought](t, n.done(n.bring("publish", account, "inbound/orders", "env", "SHOP_1")...).out)
	n.faulty([]string{"tenant", "publish", "tenant.yaml"}, lacks("outbound"))
	version := n.seal("shop-1", "sealed-secret")
	outbound := decode[brought](t, n.done(append(n.bring("publish", account, "outbound", "file", version), "--transport", "region=eu", "--transport", "host=api.example")...).out)
	n.done("tenant", "validate", "tenant.yaml")

	first := n.done("tenant", "publish", "tenant.yaml", "--output", "json")
	published := decode[tenantPublished](t, first.out)
	if !published.Written || published.Accounts != 1 || !strings.Contains(first.err, "no epoch is active. Next: 'connector activate --principal NAME'") {
		t.Errorf("published %+v, said %s", published, first.err)
	}
	n.nothing("the same again", func() {
		again := decode[tenantPublished](t, n.done("tenant", "publish", "tenant.yaml", "--output", "json").out)
		write(t, filepath.Join(n.dir, "shown.yaml"), n.done("tenant", "show").out)
		round := decode[tenantPublished](t, n.done("tenant", "publish", "shown.yaml", "--output", "json").out)
		if again.Written || round.Written || again.Generation != published.Generation || round.Generation != published.Generation {
			t.Errorf("%+v, %+v", again, round)
		}
	})
	row := decode[tenantRow](t, n.done("tenant", "show", "--output", "json").out)
	want := []credentialRef{{"inbound/orders", "shop", inbound.Generation}, {"outbound", "shop", outbound.Generation}}
	if row.Generation != published.Generation || len(row.Accounts) != 1 || row.Accounts[0].ID != account || !slices.Equal(row.Accounts[0].Credentials, want) {
		t.Errorf("shown is %+v", row)
	}
}

func lineWith(t *testing.T, text, word string) int {
	t.Helper()
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, word) {
			return i + 1
		}
	}
	t.Fatalf("no line has %q", word)
	return 0
}

func TestG04ACredentialIsRotatedRevokedAndReenabled(t *testing.T) {
	n := tenancyOf(t)
	account := n.configured()
	n.nothing("a first generation where there is one, and a rotation where there is none", func() {
		n.refused(exitConflict, n.bring("publish", account, "inbound/orders", "env", "SHOP_1"), "wrong_state", "credential inbound/orders at shop of account "+account, "rotate it instead")
		n.refused(exitConflict, n.bring("rotate", facts.Mint[facts.AccountID]().String(), "inbound/orders", "env", "SHOP_1"), "wrong_state", "publish the first one instead")
	})
	before := decode[[]listed](t, n.done("credential", "list", "--output", "json").out)
	if len(before) != 2 || !before[0].Current || !before[1].Current || before[0].State != "enabled" || before[0].Account != account || before[0].Identity != "inbound/orders" || before[0].Fence != 1 {
		t.Fatalf("listed are %+v", before)
	}
	next := decode[brought](t, n.done(n.bring("rotate", account, "inbound/orders", "env", "SHOP_1")...).out).Generation
	after := decode[[]listed](t, n.done("credential", "list", "--output", "json").out)
	if len(after) != 3 || after[0].Generation != next || !after[0].Current || after[1].Generation != before[0].Generation || after[1].Current {
		t.Errorf("after a rotation: %+v", after)
	}
	if now := decode[tenantPublished](t, n.done("tenant", "publish", "tenant.yaml", "--output", "json").out); !now.Written {
		t.Error("a rotation brings no other configuration")
	}
	move := func(name, generation string, more ...string) []string {
		return append([]string{"credential", name, generation, "--principal", "alice", "--reason", "it leaked", "--output", "json"}, more...)
	}
	if got := decode[moved](t, n.done(move("revoke", next)...).out); got != (moved{next, "revoked", 2}) {
		t.Errorf("got %+v", got)
	}
	stranger := facts.Mint[facts.CredentialGenerationID]().String()
	n.nothing("moves that are refused", func() {
		n.refused(exitConflict, move("revoke", next), "wrong_state", next)
		n.refused(exitConflict, move("reenable", next, "--fence", "1"), "stale_credential_fence", next)
		n.refused(exitNotFound, move("revoke", stranger), "subject_missing", stranger)
		n.refused(exitUsage, move("revoke", "typed-secret"), "GENERATION is not the id")
		n.refused(exitUsage, []string{"credential", "revoke", next, "--reason", "x"}, "--principal is required")
	})
	if got := decode[moved](t, n.done(move("reenable", next, "--fence", "2")...).out); got != (moved{next, "enabled", 3}) {
		t.Errorf("got %+v", got)
	}
}

// R44: what is published says that it takes effect with a successor epoch, if one is active, and which.
func TestR44EveryPublicationSaysWhenItTakesEffect(t *testing.T) {
	n := tenancyOf(t)
	account := n.configured()
	epoch := facts.Mint[facts.EpochID]()
	if _, err := n.store.Admin.ExecContext(t.Context(), "INSERT INTO serving_epoch_guard (epoch_id, state, fence) VALUES (?, 'active', 9)", epoch); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(n.proven("next"), "pack.yaml"), "name: shop", "name: kiosk")
	text := readText(t, filepath.Join(n.dir, "tenant.yaml"))
	for _, args := range [][]string{
		{"pack", "install", "next"}, {"catalog", "authorise", "shop", "kiosk"}, n.bring("rotate", account, "inbound/orders", "env", "SHOP_1"), {"tenant", "publish", "tenant.yaml"},
	} {
		if a := n.done(args...); !strings.Contains(a.err, "it takes effect with a successor epoch: epoch "+epoch.String()+" is active") {
			t.Errorf("%v says %s", args, a.err)
		}
	}
	if readText(t, filepath.Join(n.dir, "tenant.yaml")) != text {
		t.Error("a file that was published is changed")
	}
}

func TestAPackIsAuthorisedByItsNameOrItsGeneration(t *testing.T) {
	n := tenancyOf(t)
	first := decode[digested](t, n.done("pack", "digest", "shop", "--output", "json").out).Generation
	n.nothing("the same view", func() {
		if a := n.done("catalog", "authorise", first); !strings.Contains(a.err, "nothing has changed") {
			t.Errorf("said %s", a.err)
		}
	})
	folder := filepath.Join(n.dir, "shop")
	edit(t, filepath.Join(folder, "order.mapping.yaml"), "version: 1", "version: 2")
	n.done("pack", "test", "shop", "--rewrite")
	second := decode[installed](t, n.done("pack", "install", "shop", "--output", "json").out).Generation
	n.nothing("an ambiguous name", func() {
		n.refused(exitUsage, []string{"catalog", "authorise", "shop"}, "pack shop is installed in 2 generations", first, second)
		n.refused(exitUsage, []string{"catalog", "authorise", first, first}, "named twice")
		n.refused(exitUsage, []string{"catalog", "authorise"}, "takes the packs")
	})
	if got := decode[view](t, n.done("catalog", "authorise", second, "--output", "json").out); got.Revision != 2 || len(got.Bindings) != 5 {
		t.Errorf("got %+v", got)
	}
}
