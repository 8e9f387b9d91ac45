package pack

import (
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"connectorcore/facts"
)

// Every way in which the known providers sign is data. The names of headers stand for theirs.
func TestEveryKnownSchemeOfSignaturesCanBeSaid(t *testing.T) {
	for name, scheme := range map[string]string{
		"hex with a prefix":            `{algorithm: hmac-sha1, header: x-signature, prefix: sha1=, encoding: hex}`,
		"base64 of the body":           `{algorithm: hmac-sha256, header: x-signature, encoding: base64}`,
		"sha512":                       `{algorithm: hmac-sha512, header: x-signature, prefix: sha512=, encoding: hex}`,
		"several, with their time":     `{algorithm: hmac-sha256, header: x-signature, encoding: hex, list: {separator: ",", tag_separator: "=", accept: [v1], timestamp_tag: t}, content: "{timestamp}.{body}", timestamp: {format: unix_seconds}}`,
		"a version inside the content": `{algorithm: hmac-sha256, header: x-signature, prefix: v0=, encoding: hex, content: "v0:{timestamp}:{body}", timestamp: {header: x-time, format: unix_seconds}}`,
		"id and time":                  `{algorithm: hmac-sha256, header: webhook-signature, encoding: base64, list: {separator: " ", tag_separator: ",", accept: [v1]}, content: "{id}.{timestamp}.{body}", id_header: webhook-id, timestamp: {header: webhook-timestamp, format: unix_seconds}, secret: {prefix: whsec_, encoding: base64}}`,
		"a public key":                 `{algorithm: ed25519, header: webhook-signature, encoding: base64, list: {separator: " ", tag_separator: ",", accept: [v1a]}, content: "{id}.{timestamp}.{body}", id_header: webhook-id, timestamp: {header: webhook-timestamp, format: unix_seconds}, secret: {prefix: whpk_, encoding: base64}}`,
		"a bare digest":                `{algorithm: sha256, header: x-signature, encoding: hex, content: "{secret}{body}"}`,
		"a bare digest of all":         `{algorithm: sha256, header: x-signature, encoding: hex, content: "{secret}{method}{url}{body}"}`,
		"method, address and time":     `{algorithm: hmac-sha256, header: x-signature, encoding: base64, content: "{method}{url}{body}{timestamp}", timestamp: {header: x-time, format: unix_millis}}`,
		"address and sorted form":      `{algorithm: hmac-sha1, header: x-signature, encoding: base64, content: "{url}{form}", url_port: with_or_without}`,
		"a digest in the address":      `{algorithm: hmac-sha1, header: x-signature, encoding: base64, content: "{url}", body_digest: {algorithm: sha256, query: bodyHash, form: hex}}`,
		"a digest in a header":         `{algorithm: hmac-sha256, header: x-signature, encoding: base64, content: "{header:content-digest}", body_digest: {algorithm: sha512, header: content-digest, form: structured}}`,
	} {
		folder, _ := example(t)
		edit(t, folder, channel, "{algorithm: hmac-sha256, header: x-shop-signature, encoding: hex}", scheme)
		if faults := faultsOf(t, folder); len(faults) > 0 {
			t.Errorf("%s:\n%s", name, strings.Join(faults, "\n"))
		}
	}
	for name, handshake := range map[string]string{
		"echo":    `{form: json_echo, member: /type, equals: url_verification, echo: /challenge}`,
		"options": `{form: webhook_options, allowed_rate: 60}`,
	} {
		folder, _ := example(t)
		edit(t, folder, channel, "content_types: [application/json]", "handshakes: ["+handshake+"]")
		if faults := faultsOf(t, folder); len(faults) > 0 {
			t.Errorf("%s:\n%s", name, strings.Join(faults, "\n"))
		}
	}
	folder, _ := example(t)
	edit(t, folder, channel, "content_types: [application/json]", "handshakes: [{form: json_echo, member: /type}]")
	if faults := faultsOf(t, folder); len(faults) != 2 {
		t.Errorf("an echo of nothing: %q", faults)
	}
}

func TestOneChannelServesSeveralRoutesAndIsFrozenInEach(t *testing.T) {
	folder, _ := example(t)
	text := strings.Replace(string(folder[route].Data), "name: orders\nversion", "name: second\nversion", 1)
	folder["second.yaml"] = &fstest.MapFile{Data: []byte(text)}
	made := compiledPack(t, folder)
	if len(made.Channels()) != 1 || len(made.Routes()) != 2 {
		t.Errorf("%d channels of %d routes", len(made.Channels()), len(made.Routes()))
	}
	forged := strings.Replace(string(made.Canonical()), `"halt_tolerance_seconds":"86400"`, `"halt_tolerance_seconds":"86401"`, 1)
	if _, err := Load([]byte(forged)); err == nil || !strings.Contains(err.Error(), "hold two channels of one name") {
		t.Errorf("two channels of one name: %v", err)
	}
}

func TestAPackIsReadByManyAtOnce(t *testing.T) {
	author, err := facts.ProfileV2.Author()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range shipped(t) {
		made := compiledPack(t, folderOf(name))
		err := samples(folderOf(name), func(sample string, request sampleRequest, body []byte) error {
			delivery := Delivery{Body: body}
			for _, line := range request.Headers {
				delivery.Header = append(delivery.Header, Line(line))
			}
			want := traced(t, author, made, delivery)
			got := make([]string, 8)
			var readers sync.WaitGroup
			for i := range got {
				readers.Go(func() { got[i] = traced(t, author, made, delivery) })
			}
			readers.Wait()
			for _, one := range got {
				if one != want {
					t.Errorf("%s %s: a reader beside others read\n%s\nwant\n%s", name, sample, one, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
