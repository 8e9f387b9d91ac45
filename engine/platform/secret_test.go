package platform

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectorcore/facts"

	"filippo.io/age"
	"github.com/cockroachdb/errors"
)

// theSecret is what no text may hold, in any of its usual forms.
const theSecret = "s3cr3t-Zq7!-bytes"

// leaks tells whether a text holds the secret.
func leaks(text string) bool {
	for _, form := range []string{theSecret, hex.EncodeToString([]byte(theSecret)), strings.ToUpper(hex.EncodeToString([]byte(theSecret))),
		base64.StdEncoding.EncodeToString([]byte(theSecret))[:20], fmt.Sprint([]byte(theSecret)), fmt.Sprintf("%#v", []byte(theSecret))} {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}

func someSecret() Secret { return NewSecret([]byte(theSecret)) }

func memberOf(t testing.TB, name, secret string, outbound bool) SecretMember {
	return SecretMember{key[SecretKey](t, name), NewSecret([]byte(secret)), outbound}
}

func setOf(t testing.TB) SecretSet {
	t.Helper()
	set, err := NewSecretSet([]SecretMember{memberOf(t, "new", theSecret, true), memberOf(t, "old", "former", false)})
	must(t, err)
	return set
}

func TestNothingPrintsASecret(t *testing.T) {
	type around struct{ hidden Secret }
	type shown struct{ Shown Secret }
	values := map[string]any{"secret": someSecret(), "pointer": new(someSecret()), "set": setOf(t), "member": setOf(t).Members()[0], "members": setOf(t).Members(),
		"unexported field": around{someSecret()}, "its pointer": &around{someSecret()}, "exported field": shown{someSecret()}, "map": map[string]Secret{"x": someSecret()}}
	for name, value := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%b", "%o", "%c", "%U", "%T", "%08v", "% x"} {
			if text := fmt.Sprintf(verb, value); leaks(text) {
				t.Errorf("%s by %s: %s", name, verb, text)
			}
		}
		if raw, err := json.Marshal(value); err == nil && leaks(string(raw)) {
			t.Errorf("%s as JSON: %s", name, raw)
		}
		var log, lines bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "value", value)
		slog.New(slog.NewTextHandler(&lines, nil)).Info("x", "value", value)
		if leaks(log.String()) || leaks(lines.String()) {
			t.Errorf("%s in a log: %s%s", name, log.String(), lines.String())
		}
		err := errors.Wrapf(errors.Newf("with %v", value), "around %+v", value)
		if leaks(err.Error()) || leaks(fmt.Sprintf("%+v", err)) || leaks(fmt.Sprint(errors.GetAllSafeDetails(err))) {
			t.Errorf("%s in an error: %+v", name, err)
		}
		var encoded bytes.Buffer
		if err := gob.NewEncoder(&encoded).Encode(value); err == nil && leaks(encoded.String()) {
			t.Errorf("%s was encoded", name)
		}
	}
	if !leaks(fmt.Sprint([]byte(theSecret))) || !leaks(theSecret) {
		t.Error("the search finds nothing")
	}
}

func TestWipeZeroesTheBytesOfEveryCopy(t *testing.T) {
	set := setOf(t)
	secret, marked := set.Outbound()
	if !marked || string(secret.Reveal()) != theSecret {
		t.Fatalf("the outbound member: %v", marked)
	}
	raw := secret.Reveal()
	set.Wipe()
	if !secret.IsZero() || strings.Trim(string(raw), "\x00") != "" {
		t.Errorf("after the wipe %d bytes are left", len(secret.Reveal()))
	}
	Secret{}.Wipe()
}

func TestR43ASetIsClosedAndMarksAtMostOneForOutboundUse(t *testing.T) {
	var many []SecretMember
	for i := range secretMembersMax + 1 {
		many = append(many, memberOf(t, fmt.Sprint("m", i), theSecret, false))
	}
	for name, members := range map[string][]SecretMember{
		"no member": nil, "too many": many, "an empty one": {memberOf(t, "a", "", false)}, "a name twice": {memberOf(t, "a", theSecret, false), memberOf(t, "a", "y", false)},
		"two for outbound": {memberOf(t, "a", theSecret, true), memberOf(t, "b", "y", true)}, "no name": {{Secret: someSecret()}},
		"overlong": {memberOf(t, "a", strings.Repeat(theSecret, 1<<13), false)},
	} {
		if _, err := NewSecretSet(members); !errors.Is(err, facts.SecretUnusable) || leaks(err.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	set := setOf(t)
	set.Members()[0].Name = key[SecretKey](t, "other")
	if set.Members()[0].Name != key[SecretKey](t, "new") {
		t.Error("a set was changed from outside")
	}
	if _, marked := (SecretSet{[]SecretMember{memberOf(t, "a", "x", false)}}).Outbound(); marked {
		t.Error("a set for verification alone has an outbound member")
	}
}

// resolver resolves from an environment of the test's own.
func resolver(t testing.TB, values map[string]string) *Secrets {
	return OpenSecrets(map[facts.OwnerName]SecretBackend{key[facts.OwnerName](t, "env"): EnvSecrets{LookUp: func(name string) (string, bool) {
		value, set := values[name]
		return value, set
	}}})
}

func TestAnEmptyOrUndecodableSecretIsRefusedBeforeUse(t *testing.T) {
	for name, encoded := range map[string]string{
		"nothing": "", "no JSON": theSecret, "no member": `{"secrets":[]}`, "an empty value": `{"secrets":[{"name":"a","value":""}]}`, "no value": `{"secrets":[{"name":"a"}]}`,
		"a misspelt field": `{"secrets":[{"name":"a","valeu":"` + theSecret + `"}]}`, "a field twice": `{"secrets":[{"name":"a","value":"` + theSecret + `","value":"x"}]}`,
		"bad base64": `{"secrets":[{"name":"a","base64":"` + theSecret + `"}]}`, "both": `{"secrets":[{"name":"a","value":"` + theSecret + `","base64":"eA=="}]}`,
		"a name that is no key": `{"secrets":[{"name":" a","value":"` + theSecret + `"}]}`, "more behind it": `{"secrets":[{"name":"a","value":"` + theSecret + `"}]}{}`,
		"invalid UTF-8": `{"secrets":[{"name":"a","value":"` + theSecret + "\xff" + `"}]}`, "a number": `{"secrets":[{"name":"a","value":12345678}]}`,
		"cut off": `{"secrets":[{"name":"a","value":"` + theSecret,
	} {
		_, err := resolver(t, map[string]string{EnvSecretPrefix + "A": encoded}).Resolve(t.Context(), key[facts.OwnerName](t, "env"), key[facts.SecretVersion](t, "A"))
		if !errors.Is(err, facts.SecretUnusable) || leaks(fmt.Sprintf("%+v", err)) || !strings.Contains(err.Error(), "secret version A at env") {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

func TestEnvSecretsResolveExactVersions(t *testing.T) {
	secrets := resolver(t, map[string]string{EnvSecretPrefix + "A_1": `{"secrets":[{"name":"new","value":"` + theSecret + `","outbound":true},{"name":"raw","base64":"AAH/"}]}`})
	set, err := secrets.Resolve(t.Context(), key[facts.OwnerName](t, "env"), key[facts.SecretVersion](t, "A_1"))
	must(t, err)
	outbound, _ := set.Outbound()
	if string(outbound.Reveal()) != theSecret || string(set.Members()[1].Secret.Reveal()) != "\x00\x01\xff" {
		t.Error("the members are not those of the version")
	}
	for _, version := range []string{"A", "a_1", "A-1", "A_1 B", "../A"} {
		if _, err := secrets.Resolve(t.Context(), key[facts.OwnerName](t, "env"), key[facts.SecretVersion](t, version)); !errors.Is(err, facts.SecretUnusable) {
			t.Errorf("%s: %v", version, err)
		}
	}
	if _, err := secrets.Resolve(t.Context(), key[facts.OwnerName](t, "other"), key[facts.SecretVersion](t, "A_1")); !errors.Is(err, facts.SecretUnusable) || !strings.Contains(err.Error(), "at other") {
		t.Errorf("another backend: %v", err)
	}
}

// vault is a folder of sealed secrets with its identity.
type vaultFolder struct {
	folder, identity, recipient string
	version                     facts.SecretVersion
}

func sealedFolder(t testing.TB) vaultFolder {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	f := vaultFolder{folder: t.TempDir(), identity: filepath.Join(t.TempDir(), "identity.txt"), recipient: identity.Recipient().String()}
	must(t, os.WriteFile(f.identity, []byte(identity.String()+"\n"), 0o600))
	f.version, err = SealSecrets(f.folder, key[SecretKey](t, "webhook-1"), f.recipient, setOf(t))
	must(t, err)
	return f
}

func (f vaultFolder) resolve(t testing.TB, version facts.SecretVersion) (SecretSet, error) {
	t.Helper()
	backend, err := OpenFileSecrets(f.folder, f.identity)
	must(t, err)
	return OpenSecrets(map[facts.OwnerName]SecretBackend{key[facts.OwnerName](t, "file"): backend}).Resolve(t.Context(), key[facts.OwnerName](t, "file"), version)
}

func TestFileSecretsAreSealedAndResolvedByTheirExactVersion(t *testing.T) {
	f := sealedFolder(t)
	set, err := f.resolve(t, f.version)
	must(t, err)
	outbound, _ := set.Outbound()
	if string(outbound.Reveal()) != theSecret || len(set.Members()) != 2 {
		t.Error("another set came back")
	}
	path := filepath.Join(f.folder, "webhook-1.age")
	raw, err := os.ReadFile(path)
	must(t, err)
	if leaks(string(raw)) {
		t.Error("the file holds the secret")
	}
	if _, err := SealSecrets(f.folder, key[SecretKey](t, "webhook-1"), f.recipient, setOf(t)); !errors.Is(err, facts.ContentDiffers) {
		t.Errorf("a version was overwritten: %v", err)
	}
	for _, name := range []string{"UP", "../x", "a/b", ".hidden"} {
		if _, err := SealSecrets(f.folder, key[SecretKey](t, name), f.recipient, setOf(t)); !errors.Is(err, facts.ConfigurationInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, version := range []string{"webhook-1", "webhook-1@" + strings.Repeat("0", 64), "other@" + strings.Repeat("0", 64), "../webhook-1@" + strings.Repeat("0", 64), "webhook-1@latest"} {
		if _, err := f.resolve(t, key[facts.SecretVersion](t, version)); !errors.Is(err, facts.SecretUnusable) {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// P02, the secret's part: a file that was replaced under its name is not the version, whoever encrypted it.
func TestAReplacedSecretFileIsNotTheVersion(t *testing.T) {
	f := sealedFolder(t)
	path := filepath.Join(f.folder, "webhook-1.age")
	must(t, os.Remove(path))
	_, err := SealSecrets(f.folder, key[SecretKey](t, "webhook-1"), f.recipient, setOf(t))
	must(t, err)
	if _, err := f.resolve(t, f.version); !errors.Is(err, facts.SecretUnusable) || !strings.Contains(err.Error(), "another version now") {
		t.Errorf("the replaced file: %v", err)
	}
	must(t, os.Remove(path))
	if _, err := f.resolve(t, f.version); !errors.Is(err, facts.SecretUnusable) || !strings.Contains(err.Error(), "no file webhook-1.age") {
		t.Errorf("the removed file: %v", err)
	}
	must(t, os.Remove(f.folder))
	if _, err := f.resolve(t, f.version); !errors.Is(err, facts.OwnerUnavailable) {
		t.Errorf("without its folder nobody can say: %v", err)
	}
	other := sealedFolder(t)
	other.identity = f.identity
	if _, err := other.resolve(t, other.version); !errors.Is(err, facts.SecretUnusable) || !strings.Contains(err.Error(), "cannot be decrypted") {
		t.Errorf("with another's identity: %v", err)
	}
}

func TestAnIdentityFileMustBePrivate(t *testing.T) {
	f := sealedFolder(t)
	must(t, os.Chmod(f.identity, 0o640))
	if _, err := OpenFileSecrets(f.folder, f.identity); !errors.Is(err, facts.ConfigurationInvalid) || !strings.Contains(err.Error(), "0600") {
		t.Errorf("readable by a group: %v", err)
	}
	bad := filepath.Join(t.TempDir(), "identity.txt")
	must(t, os.WriteFile(bad, []byte("AGE-SECRET-KEY-"+theSecret), 0o600))
	if _, err := OpenFileSecrets(f.folder, bad); !errors.Is(err, facts.ConfigurationInvalid) || leaks(fmt.Sprintf("%+v", err)) {
		t.Errorf("no identity: %+v", err)
	}
	if _, err := OpenFileSecrets(f.folder, bad+".none"); !errors.Is(err, facts.ConfigurationInvalid) {
		t.Errorf("no file: %v", err)
	}
}

// double answers as the KV engine of version 2 documents it. It is a double: no real engine takes part in these tests.
func double(t testing.TB, answer func(w http.ResponseWriter, r *http.Request)) *Secrets {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(server.Close)
	backend, err := OpenKVSecrets(server.URL, NewSecret([]byte("token-1")), "team")
	must(t, err)
	return OpenSecrets(map[facts.OwnerName]SecretBackend{key[facts.OwnerName](t, "vault"): backend})
}

func kvBody(data string, version int) string {
	return fmt.Sprintf(`{"request_id":"r","lease_id":"","renewable":false,"data":{"data":%s,"metadata":{"created_time":"2026-11-01T00:00:00Z",`+
		`"custom_metadata":null,"deletion_time":"","destroyed":false,"version":%d}},"warnings":null,"mount_type":"kv"}`, data, version)
}

const kvSet = `{"secrets":[{"name":"new","value":"` + theSecret + `","outbound":true}]}`

func (s *Secrets) kv(t testing.TB, version string) (SecretSet, error) {
	return s.Resolve(t.Context(), key[facts.OwnerName](t, "vault"), key[facts.SecretVersion](t, version))
}

func TestKVSecretsAskForOneExactVersion(t *testing.T) {
	var asked []string
	secrets := double(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, strings.Join([]string{r.Method, r.URL.String(), r.Header.Get("X-Vault-Token"), r.Header.Get("X-Vault-Namespace")}, " "))
		_, _ = fmt.Fprint(w, kvBody(kvSet, 7))
	})
	set, err := secrets.kv(t, "secret/crm/webhook@7")
	must(t, err)
	if outbound, _ := set.Outbound(); string(outbound.Reveal()) != theSecret {
		t.Error("another set came back")
	}
	if len(asked) != 1 || asked[0] != "GET /v1/secret/data/crm/webhook?version=7 token-1 team" {
		t.Errorf("asked %q", asked)
	}
	for _, version := range []string{"secret/crm", "secret/crm@latest", "secret/crm@0", "secret/crm@07", "secret/../sys@1", "/crm@1", "secret/crm@1?x=y", "secret//crm@1"} {
		if _, err := secrets.kv(t, version); !errors.Is(err, facts.SecretUnusable) {
			t.Errorf("%s: %v", version, err)
		}
	}
	if len(asked) != 1 {
		t.Errorf("a version that cannot be was asked for: %q", asked)
	}
}

func TestKVAnswersAreKeptApart(t *testing.T) {
	elsewhere := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere = true }))
	defer other.Close()
	for name, one := range map[string]struct {
		status int
		body   string
		want   facts.Code
	}{
		"absent": {404, `{"errors":[]}`, facts.SecretUnusable}, "deleted": {404, kvBody("null", 7), facts.SecretUnusable}, "deleted, with 200": {200, kvBody("null", 7), facts.SecretUnusable},
		"another version": {200, kvBody(kvSet, 8), facts.SecretUnusable}, "undecodable": {200, kvBody(`{"password":"`+theSecret+`"}`, 7), facts.SecretUnusable},
		"sealed": {503, `{"errors":["Vault is sealed"]}`, facts.OwnerUnavailable}, "no permission": {403, `{"errors":["permission denied ` + theSecret + `"]}`, facts.OwnerUnavailable},
		"a redirect": {307, "", facts.OwnerUnavailable}, "a standby": {429, "", facts.OwnerUnavailable}, "a proxy's page": {200, "<html>" + theSecret, facts.OwnerUnavailable},
		"endless": {200, strings.Repeat(" ", secretSetMax+2), facts.SecretUnusable},
	} {
		secrets := double(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", other.URL)
			w.WriteHeader(one.status)
			_, _ = fmt.Fprint(w, one.body)
		})
		if _, err := secrets.kv(t, "secret/crm/webhook@7"); !errors.Is(err, one.want) || leaks(fmt.Sprintf("%+v", err)) || strings.Contains(err.Error(), "token-1") {
			t.Errorf("%s: %+v, want %s", name, err, one.want)
		}
	}
	if elsewhere {
		t.Error("the redirect was followed")
	}
	secrets := double(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if _, err := secrets.kv(t, "secret/crm@7"); !errors.Is(err, facts.OwnerUnavailable) {
		t.Errorf("a broken connection: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := secrets.Resolve(ended, key[facts.OwnerName](t, "vault"), key[facts.SecretVersion](t, "secret/crm@7")); !errors.Is(err, facts.OwnerUnavailable) {
		t.Errorf("a context that ended: %v", err)
	}
}

func TestKVAddressesThatWouldShowTheTokenAreRefused(t *testing.T) {
	for _, address := range []string{"http://vault.example:8200", "vault.example:8200", "https://", "https://user:pass@vault.example", "https://vault.example/v1", "https://vault.example?x=y", "ftp://127.0.0.1"} {
		if _, err := OpenKVSecrets(address, NewSecret([]byte("token-1")), ""); !errors.Is(err, facts.ConfigurationInvalid) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, token := range []string{"", "two lines\n"} {
		if _, err := OpenKVSecrets("https://vault.example:8200", NewSecret([]byte(token)), ""); !errors.Is(err, facts.ConfigurationInvalid) {
			t.Errorf("token %q: %v", token, err)
		}
	}
}
