package ingress

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"connectorcore/engine/platform"
	"connectorcore/facts"
)

// Whatever a stranger sends, a request without the secret is never verified, and nothing breaks.
func FuzzVerify(f *testing.F) {
	all := published(f)
	for _, v := range all.Vectors {
		header := ""
		for _, line := range v.Header {
			header += line[0] + ": " + line[1] + "\n"
		}
		f.Add(v.Scheme, header, v.URL, []byte(v.Body))
	}
	set := secrets(f, "nobody-knows-this-one")
	f.Fuzz(func(t *testing.T, scheme, header, url string, body []byte) {
		text, known := all.Schemes[scheme]
		if !known {
			text = hexScheme
		}
		request := Request{Method: "POST", URL: url, Body: body}
		for line := range strings.Lines(header) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			request.Header = append(request.Header, facts.HeaderLine{Name: name, Value: value})
		}
		member, err := Verify(signed(t, text), set, request, fixedClock{noon})
		if err == nil || !member.IsZero() || !errors.Is(err, facts.SignatureInvalid) && !errors.Is(err, facts.SecretUnusable) {
			t.Errorf("verified by %q: %v", member, err)
		}
	})
}

// A key that is made of a text is never empty and never only zeros.
func FuzzKey(f *testing.F) {
	for _, text := range []string{"", "s_", "AA==", "QUJD", "00", "616263", "s_QUJD"} {
		f.Add(text, byte(0))
		f.Add(text, byte(1))
		f.Add(text, byte(2))
	}
	f.Fuzz(func(t *testing.T, text string, kind byte) {
		encoding := []string{"text}", "hex}", "base64}"}[kind%3]
		channel := signed(t, strings.Replace(hexScheme, "hex}", "hex, secret: {prefix: s_, encoding: "+encoding+"}", 1))
		key, fault := keyOf(&channel.Signatures[0], platform.NewSecret([]byte(text)))
		if fault == "" && len(bytes.Trim(key, "\x00")) == 0 {
			t.Errorf("%q became the key %x", text, key)
		}
	})
}

// A body is answered as a handshake only if it is strict JSON that says so, and with a text that stands in it.
func FuzzHandshake(f *testing.F) {
	for _, body := range []string{`{"type":"hello","challenge":"3eZb"}`, `{"type":"hello","type":"x","challenge":"y"}`, `{"challenge":"\ud83d\ude00\u0000","type":"hello"}`, `{"type":`, "\xff", `["type","hello"]`, ""} {
		f.Add([]byte(body), "origin.example.com")
	}
	channel := opening(f).channels["orders"]
	f.Fuzz(func(t *testing.T, body []byte, origin string) {
		var strict struct{ Type, Challenge string }
		a, greeted := greetEcho(channel, body)
		valid := json.Valid(body) && json.Unmarshal(body, &strict) == nil
		if greeted && a.status == http.StatusOK {
			var echoed struct{ Challenge string }
			if err := json.Unmarshal(a.body, &echoed); err != nil || !valid || strict.Type != "hello" || echoed.Challenge != strict.Challenge {
				t.Errorf("%q was answered %q", body, a.body)
			}
		}
		b, _ := greetOptions(channel, http.Header{"Webhook-Request-Origin": {origin}})
		if sent := b.header.Get("Webhook-Allowed-Origin"); sent != "" && (sent != origin || strings.ContainsAny(sent, "\r\n <>\"")) {
			t.Errorf("%q was sent back as %q", origin, sent)
		}
	})
}

// Whatever comes to the door, the answer is one of its own, and 202 only ever follows an admission.
func FuzzDoor(f *testing.F) {
	f.Add("POST", "orders", "application/json", "", []byte(`{"id":"o-1"}`), true)
	f.Add("POST", "orders", "application/json", "", []byte(`{"id":"o-1"}`), false)
	f.Add("POST", "orders", "application/json", "gzip", []byte(`{"id":"o-1"}`), true)
	f.Add("POST", "orders", "application/json", "", []byte(`{"type":"hello","challenge":"x"}`), true)
	f.Add("PUT", "files", "a", "identity", []byte("\x00\xff"), true)
	f.Add("OPTIONS", "orders", "origin.example.com", "", []byte{}, true)
	f.Add("GET", "../x%00", "", "", []byte(strings.Repeat("[", 1000)), true)
	s := opening(f)
	f.Fuzz(func(t *testing.T, method, channel, kind, coding string, body []byte, proved bool) {
		s.t = t
		r := httptest.NewRequest("POST", "/", bytes.NewReader(body))
		r.Method, r.URL.Path, r.URL.RawPath = method, "/in/"+s.account.String()+"/"+channel, ""
		r.Header = http.Header{"Content-Type": {kind}, "X-File": {kind}, "Webhook-Request-Origin": {kind}}
		if coding != "" {
			r.Header.Set("Content-Encoding", coding)
		}
		if proved {
			r.Header.Set("X-Signature", s.order(string(body)).header.Get("X-Signature"))
		}
		before := len(s.admitted())
		w := httptest.NewRecorder()
		s.door.ServeHTTP(w, r)
		admitted := len(s.admitted()) - before
		known := map[int]bool{200: true, 202: true, 400: true, 401: true, 404: true, 405: true, 409: true, 413: true, 415: true}
		if !known[w.Code] || (w.Code == 202) != (admitted == 1) || w.Code == 202 && channel == "orders" && !proved {
			t.Errorf("%d after %d admissions: %s", w.Code, admitted, w.Body)
		}
		if last := s.admitted(); admitted == 1 && !bytes.Equal(last[len(last)-1].Body, body) {
			t.Error("another body was admitted than came")
		}
	})
}
