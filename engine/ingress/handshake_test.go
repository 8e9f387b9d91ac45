package ingress

import (
	"strings"
	"testing"
)

func TestAnEchoIsAnsweredToItsSenderAndNeverAdmitted(t *testing.T) {
	s := opening(t)
	for body, want := range map[string]string{
		`{"type":"hello","challenge":"3eZb"}`:                          `200 {"challenge":"3eZb"}`,
		`{"challenge":"<b>&\"\u0000é","type":"\u0068ello","id":"o-1"}`: `200 {"challenge":"<b>&\"\u0000é"}`,
		`{"type":"hello"}`:                                                 "400 body_unreadable",
		`{"type":"hello","challenge":7}`:                                   "400 body_unreadable",
		`{"type":"hello","x":{"challenge":"3eZb"}}`:                        "400 body_unreadable",
		`{"type":"hello","challenge":"` + strings.Repeat("x", 1900) + `"}`: "200",
		`{"type":"hello","type":"hello","challenge":"3eZb","id":"o-1"}`:    "400 body_unreadable", // a delivery whose key cannot be read
		`{"type":"Hello","challenge":"3eZb","id":"o-2"}`:                   "202",
		`{"x":{"type":"hello","challenge":"3eZb"},"id":"o-3"}`:             "202",
		`{"type":["hello"],"challenge":"3eZb","id":"o-4"}`:                 "202",
		`{"hello":"type","challenge":"3eZb","id":"o-5"}`:                   "202",
	} {
		got := s.send(s.order(body))
		if answer := got.code(); answer != want && answer+" "+strings.TrimSpace(got.body) != want {
			t.Errorf("%s: %s %s, want %s", body, got.code(), got.body, want)
		}
		if got.status == 200 && (got.header.Get("Content-Type") != "application/json" || got.header.Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("%s: %v", body, got.header)
		}
	}
	if got := s.send(s.order(`{"type":"hello","challenge":"3eZb"}`).with("X-Signature", strings.Repeat("0", 64))); got.code() != "401 signature_invalid" || strings.Contains(got.body, "3eZb") {
		t.Errorf("a stranger's words: %+v", got)
	}
	if d := s.admitted(); len(d) != 4 {
		t.Errorf("%d were admitted, want 4", len(d))
	}
}

func TestAnOptionsRequestIsAnsweredAsTheChannelSays(t *testing.T) {
	s := opening(t)
	ask := s.order("").with("Content-Type").with("X-Signature").with("WebHook-Request-Origin", "eventemitter.example.com").with("WebHook-Request-Callback", s.server.URL+"/called").with("WebHook-Request-Rate", "5000")
	ask.method = "OPTIONS"
	got := s.send(ask)
	for name, want := range map[string]string{"WebHook-Allowed-Origin": "eventemitter.example.com", "WebHook-Allowed-Rate": "60", "Allow": "POST, OPTIONS"} {
		if got.status != 200 || got.body != "" || got.header.Get(name) != want {
			t.Errorf("%d, %s: %q", got.status, name, got.header.Get(name))
		}
	}
	for _, origin := range [][]string{nil, {""}, {"a", "b"}, {"a b"}, {"<script>"}, {"é.example.com"}, {strings.Repeat("x", 256)}} {
		if got := s.send(ask.with("WebHook-Request-Origin", origin...)); got.code() != "400 key_not_canonical" || got.header.Get("WebHook-Allowed-Origin") != "" {
			t.Errorf("origin %q: %s", origin, got.code())
		}
	}
	other := s.file("f", "")
	other.method = "OPTIONS"
	if got := s.send(other.with("WebHook-Request-Origin", "eventemitter.example.com")); got.code() != "405 method_not_allowed" || got.header.Get("Allow") != "PUT" {
		t.Errorf("a channel that does not say so: %s, %v", got.code(), got.header)
	}
	if len(s.admitted()) != 0 || s.opened != 9 {
		t.Errorf("%d admitted, %d opened: somebody called a callback", len(s.admitted()), s.opened)
	}
}
