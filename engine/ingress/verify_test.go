package ingress

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"

	"connectorcore/engine/pack"
	"connectorcore/engine/platform"
	"connectorcore/facts"
)

const (
	hexScheme   = `{algorithm: hmac-sha256, header: x-signature, encoding: hex}`
	datedScheme = `{algorithm: hmac-sha256, header: x-signature, encoding: hex, list: {separator: ",", tag_separator: "=", accept: [v1], timestamp_tag: t}, content: "{timestamp}.{body}", timestamp: {format: unix_seconds}}`
	namedScheme = `{algorithm: hmac-sha256, header: webhook-signature, encoding: base64, list: {separator: " ", tag_separator: ",", accept: [v1]}, content: "{id}.{timestamp}.{body}", id_header: webhook-id, timestamp: {header: webhook-timestamp, format: unix_seconds}, secret: {prefix: whsec_, encoding: base64}}`
	keyScheme   = `{algorithm: ed25519, header: webhook-signature, encoding: base64, list: {separator: " ", tag_separator: ",", accept: [v1a]}, content: "{id}.{timestamp}.{body}", id_header: webhook-id, timestamp: {header: webhook-timestamp, format: unix_seconds}, secret: {prefix: whpk_, encoding: base64}}`
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func mac(secret, content string) []byte {
	made := hmac.New(sha256.New, []byte(secret))
	made.Write([]byte(content))
	return made.Sum(nil)
}

func posted(body string, header ...string) Request {
	r := Request{Method: "POST", URL: "https://hooks.example.com/in/a/b", Body: []byte(body)}
	for i := 0; i < len(header); i += 2 {
		r.Header = append(r.Header, facts.HeaderLine{Name: header[i], Value: header[i+1]})
	}
	return r
}

func verdict(t testing.TB, channel *pack.Channel, set platform.SecretSet, request Request) string {
	t.Helper()
	member, err := Verify(channel, set, request, fixedClock{noon})
	var refusal *facts.Refusal
	switch {
	case err == nil:
		return member.String()
	case errors.As(err, &refusal):
		return refusal.Code.String()
	default:
		return err.Error()
	}
}

func TestScenario003AnyGoodSignatureBesideBadAndUnknownOnesPasses(t *testing.T) {
	channel, set := signed(t, datedScheme), secrets(t, "secret")
	now := fmt.Sprint(noon.Unix())
	good, bad := hex.EncodeToString(mac("secret", now+".{}")), hex.EncodeToString(mac("other", now+".{}"))
	many := strings.Repeat(",v1="+bad, signaturesMax-1)
	for header, want := range map[string]string{
		"t=" + now + ",v1=" + bad + ",v1=" + good + ",v2=" + good: "a",
		"v1=" + good + ",t=" + now:                                "a", // the order says nothing
		"t=" + now + ", v1=" + good:                               "a",
		"t=" + now + many + ",v1=" + good:                         "a",
		"t=" + now + many + ",v1=" + bad + ",v1=" + good:          "signature_invalid", // one more than is tried
		"t=" + now + ",v2=" + good + ",v0=" + good:                "signature_invalid",
		"t=" + now + ",v1=" + bad:                                 "signature_invalid",
		"t=" + now + ",t=" + now + ",v1=" + good:                  "signature_invalid",
		"v1=" + good:                                              "signature_invalid",
		"t=" + now + ",v1=" + strings.ToUpper(good):               "signature_invalid",
		"t=" + now + ",v1=" + good[:62]:                           "signature_invalid",
		"t=" + now + ",v1=" + good + "00":                         "signature_invalid",
		"t=0" + now + ",v1=" + good:                               "signature_invalid",
		"t=" + now + ",v1=é":                                      "signature_invalid",
		"":                                                        "signature_invalid",
	} {
		if got := verdict(t, channel, set, posted("{}", "x-signature", header)); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
	two := posted("{}", "x-signature", "t="+now+",v1="+bad, "x-signature", "v1="+good)
	if got := verdict(t, channel, set, two); got != "a" {
		t.Errorf("a list in two lines: %s", got)
	}
}

func TestScenario005TheToleranceHoldsOnBothSides(t *testing.T) {
	set := secrets(t, "secret")
	channel := signed(t, datedScheme)
	at := func(text string) string {
		return verdict(t, channel, set, posted("{}", "x-signature", "t="+text+",v1="+hex.EncodeToString(mac("secret", text+".{}"))))
	}
	for seconds, want := range map[int64]string{0: "a", 299: "a", -299: "a", 300: "a", -300: "a", 301: "signature_invalid", -301: "signature_invalid"} {
		if got := at(fmt.Sprint(noon.Unix() + seconds)); got != want {
			t.Errorf("signed %d seconds from now: %s, want %s", seconds, got, want)
		}
	}
	for _, text := range []string{"", " ", "-1", "-0", "0", "Infinity", "NaN", "1e9", "0x10", "1764417600.0", "99999999999999999999", "9223372036854775808", "-9223372036854775808", "١"} {
		if got := at(text); got != "signature_invalid" {
			t.Errorf("the timestamp %q: %s", text, got)
		}
	}
	millis := signed(t, strings.Replace(datedScheme, "unix_seconds", "unix_millis, tolerance_seconds: 1", 1))
	for offset, want := range map[int64]string{1000: "a", 1001: "signature_invalid", -1000: "a", -1001: "signature_invalid"} {
		text := fmt.Sprint(noon.UnixMilli() + offset)
		if got := verdict(t, millis, set, posted("{}", "x-signature", "t="+text+",v1="+hex.EncodeToString(mac("secret", text+".{}")))); got != want {
			t.Errorf("signed %d ms from now: %s, want %s", offset, got, want)
		}
	}
}

// A key of zeros is the empty key to an HMAC, so it is refused like one.
func TestScenario007AnEmptyKeyVerifiesNothing(t *testing.T) {
	empty := posted("{}", "x-signature", hex.EncodeToString(mac("", "{}")))
	zeros := strings.Repeat("\x00", 64)
	for kind, texts := range map[string][]string{
		"hex}":                             {"\x00", zeros},
		"hex, secret: {prefix: s_}}":       {"s_", "s_\x00", "\x00", "secret", "S_secret"},
		"hex, secret: {encoding: hex}}":    {"\x00", zeros, "0", "00", "zz", "abc", " "},
		"hex, secret: {encoding: base64}}": {"\x00", zeros, "AA==", "AAAA", "====", "AB==", "QQ=\n=", "QQ", "-_==", " "},
	} {
		channel := signed(t, strings.Replace(hexScheme, "hex}", kind, 1))
		if got := verdict(t, channel, platform.SecretSet{}, empty); got != "secret_unusable" {
			t.Errorf("%s without a secret: %s", kind, got)
		}
		for _, text := range texts {
			if got := verdict(t, channel, secrets(t, text), empty); got != "secret_unusable" {
				t.Errorf("%s with the secret %q: %s", kind, text, got)
			}
		}
	}
	// One member that verifies nothing spoils the set: it was minted by somebody who believes that it does.
	if got := verdict(t, signed(t, strings.Replace(hexScheme, "hex}", "hex, secret: {encoding: hex}}", 1)), secrets(t, hex.EncodeToString([]byte("good")), "no hex"),
		posted("{}", "x-signature", hex.EncodeToString(mac("good", "{}")))); got != "secret_unusable" {
		t.Errorf("beside a good member: %s", got)
	}
}

func TestScenario001TheSignatureIsOverTheBytesAsReceived(t *testing.T) {
	body := "{ \"b\" : \"\\u00E9\\u00e9\\/\",\t\"a\":1.0e2 }\r\n"
	request := posted(body, "x-signature", hex.EncodeToString(mac("secret", body)))
	if got := verdict(t, signed(t, hexScheme), secrets(t, "secret"), request); got != "a" {
		t.Errorf("%s", got)
	}
	for _, other := range []string{strings.TrimSpace(body), strings.ToLower(body), `{"a":100,"b":"éé/"}`} {
		request.Body = []byte(other)
		if got := verdict(t, signed(t, hexScheme), secrets(t, "secret"), request); got != "signature_invalid" {
			t.Errorf("%q: %s", other, got)
		}
	}
}

func TestScenario009ABodyThatIsNoTextIsVerified(t *testing.T) {
	body := "\xff\xfe\x00\x80"
	if got := verdict(t, signed(t, hexScheme), secrets(t, "secret"), posted(body, "x-signature", hex.EncodeToString(mac("secret", body)))); got != "a" {
		t.Errorf("%s", got)
	}
}

func TestScenario031AnEmptyBodyIsSignedLikeAnyOther(t *testing.T) {
	channel, set := signed(t, hexScheme), secrets(t, "secret")
	if got := verdict(t, channel, set, posted("", "x-signature", hex.EncodeToString(mac("secret", "")))); got != "a" {
		t.Errorf("%s", got)
	}
	if got := verdict(t, channel, set, posted("", "x-signature", "")); got != "signature_invalid" {
		t.Errorf("an empty signature of an empty body: %s", got)
	}
}

func TestR43AnyMemberMayMatchAndIsNamed(t *testing.T) {
	set := secrets(t, "first", "second", "third")
	for member, secret := range map[string]string{"a": "first", "b": "second", "c": "third", "signature_invalid": "fourth"} {
		if got := verdict(t, signed(t, hexScheme), set, posted("{}", "x-signature", hex.EncodeToString(mac(secret, "{}")))); got != member {
			t.Errorf("signed by the %s secret: %s, want %s", secret, got, member)
		}
	}
}

// A set may hold the secrets of several schemes, each of use to its own.
func TestR43ASetServesSchemesOfDifferentKinds(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	must(t, err)
	info, err := x509.MarshalPKIXPublicKey(public)
	must(t, err)
	raw := base64.StdEncoding.EncodeToString
	set := secrets(t, "whsec_"+raw([]byte("shared")), "whpk_"+raw(public), "whpk_"+raw(info))
	channel, now := signed(t, namedScheme, keyScheme), fmt.Sprint(noon.Unix())
	content := "msg_1." + now + ".{}"
	byKey := "v1a," + raw(ed25519.Sign(private, []byte(content)))
	header := func(signature string) Request {
		return posted("{}", "webhook-id", "msg_1", "webhook-timestamp", now, "webhook-signature", signature)
	}
	for signature, want := range map[string]string{
		"v1," + raw(mac("shared", content)): "a", byKey: "b",
		"v1a," + raw(mac("shared", content)) + " v1,AAAA": "signature_invalid",
		"v1," + byKey[4:]: "signature_invalid",
		// The public key is no shared secret, whatever is made of it.
		"v1," + raw(mac(string(public), content)): "signature_invalid",
	} {
		if got := verdict(t, channel, set, header(signature)); got != want {
			t.Errorf("%s: %s, want %s", signature, got, want)
		}
	}
	if got := verdict(t, signed(t, keyScheme), secrets(t, "whpk_"+raw(make([]byte, 32))), header(byKey)); got != "secret_unusable" {
		t.Errorf("a public key of zeros: %s", got)
	}
	if got := verdict(t, signed(t, keyScheme), secrets(t, "whpk_"+raw([]byte("short"))), header(byKey)); got != "secret_unusable" {
		t.Errorf("a public key of five bytes: %s", got)
	}
}

// "id.time.body" with a dot in the id could be cut elsewhere and be a signed delivery of another body.
func TestAnIDThatHoldsItsSeparatorIsRefused(t *testing.T) {
	now := fmt.Sprint(noon.Unix())
	signature := "v1," + base64.StdEncoding.EncodeToString(mac("shared", "a.b."+now+".{}"))
	set := secrets(t, "whsec_"+base64.StdEncoding.EncodeToString([]byte("shared")))
	request := posted("{}", "webhook-id", "a.b", "webhook-timestamp", now, "webhook-signature", signature)
	if got := verdict(t, signed(t, namedScheme), set, request); got != "signature_invalid" {
		t.Errorf("%s", got)
	}
}

func TestAnAddressIsTriedWithAndWithoutItsPortWhereTheSchemeSaysSo(t *testing.T) {
	scheme := `{algorithm: hmac-sha256, header: x-signature, encoding: hex, content: "{url}{body}"}`
	lenient := strings.Replace(scheme, `hex, `, `hex, url_port: with_or_without, `, 1)
	for _, c := range [][4]string{ // what was signed, what came, the verdict as received, the verdict with or without
		{"https://a.example/in?x=1", "https://a.example/in?x=1", "a", "a"},
		{"https://a.example:443/in?x=1", "https://a.example/in?x=1", "signature_invalid", "a"},
		{"http://a.example:80/in?x=1", "http://a.example/in?x=1", "signature_invalid", "a"},
		{"https://a.example/in?x=1", "https://a.example:8443/in?x=1", "signature_invalid", "a"},
		{"https://[::1]/in", "https://[::1]:8443/in", "signature_invalid", "a"},
		{"https://a.example:80/in", "https://a.example/in", "signature_invalid", "signature_invalid"},
		{"https://a.example/IN", "https://a.example/in", "signature_invalid", "signature_invalid"},
	} {
		request := posted("{}", "x-signature", hex.EncodeToString(mac("secret", c[0]+"{}")))
		request.URL = c[1]
		for i, text := range []string{scheme, lenient} {
			if got := verdict(t, signed(t, text), secrets(t, "secret"), request); got != c[2+i] {
				t.Errorf("%s signed as %s by scheme %d: %s, want %s", c[1], c[0], i, got, c[2+i])
			}
		}
	}
}

// A digest of the body that nobody signed proves nothing about the body.
func TestASchemeThatDoesNotProveTheBodyIsRefused(t *testing.T) {
	for _, scheme := range []string{
		`{algorithm: hmac-sha256, header: x-signature, encoding: hex, content: "{method}", body_digest: {algorithm: sha256, header: content-digest, form: structured}}`,
		`{algorithm: hmac-sha256, header: x-signature, encoding: hex, content: "{method}", body_digest: {algorithm: sha256, query: digest, form: hex}}`,
		`{algorithm: hmac-sha256, header: x-signature, encoding: hex, content: "{body_digest}"}`,
	} {
		if got := verdict(t, signed(t, scheme), secrets(t, "secret"), posted("{}", "x-signature", hex.EncodeToString(mac("secret", "POST")))); got != "generation_malformed" {
			t.Errorf("%s: %s", scheme, got)
		}
	}
}

func TestADigestOfAnotherBodyIsRefusedHoweverItIsSpelled(t *testing.T) {
	sum, other := sha256.Sum256([]byte("{}")), sha256.Sum256([]byte("{ }"))
	good, bad := base64.StdEncoding.EncodeToString(sum[:]), base64.StdEncoding.EncodeToString(other[:])
	scheme := `{algorithm: hmac-sha256, header: x-signature, encoding: hex, content: "{header:content-digest}", body_digest: {algorithm: sha256, header: content-digest, form: structured}}`
	for digest, want := range map[string]string{
		"sha-256=:" + good + ":": "a", "md5=:AAAA:, sha-256=:" + good + ":": "a",
		"sha-256=:" + bad + ":": "signature_invalid", "sha-256=" + good: "signature_invalid", "sha-512=:" + good + ":": "signature_invalid",
		"sha-256=:" + good + ":, sha-256=:" + bad + ":": "signature_invalid", "": "signature_invalid",
	} {
		request := posted("{}", "content-digest", digest, "x-signature", hex.EncodeToString(mac("secret", digest)))
		if got := verdict(t, signed(t, scheme), secrets(t, "secret"), request); got != want {
			t.Errorf("%q: %s, want %s", digest, got, want)
		}
	}
}

func TestNoRefusalOfASignatureHoldsWhatItIsMadeOf(t *testing.T) {
	const secret = "s3cr3t-of-the-channel"
	good := hex.EncodeToString(mac(secret, "payload-of-somebody"))
	for _, request := range []Request{
		posted("payload-of-somebody", "x-signature", "no-signature-at-all"), posted("payload-of-somebodx", "x-signature", good), posted("payload-of-somebody"),
	} {
		_, err := Verify(signed(t, hexScheme, datedScheme), secrets(t, secret), request, fixedClock{noon})
		for _, part := range []string{secret, good, "no-signature-at-all", "payload"} {
			if err == nil || strings.Contains(err.Error(), part) {
				t.Errorf("%q holds %q", err, part)
			}
		}
	}
	_, err := Verify(signed(t, strings.Replace(hexScheme, "hex}", "hex, secret: {encoding: hex}}", 1)), secrets(t, secret), posted(""), fixedClock{noon})
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("%v", err)
	}
}

func TestVerifyingLeavesTheSecretAsItWas(t *testing.T) {
	set := secrets(t, "secret")
	for range 2 {
		if got := verdict(t, signed(t, hexScheme), set, posted("{}", "x-signature", hex.EncodeToString(mac("secret", "{}")))); got != "a" {
			t.Fatalf("%s", got)
		}
	}
	if !slices.Equal(set.Members()[0].Secret.Reveal(), []byte("secret")) {
		t.Error("the key was wiped together with its copy")
	}
}
