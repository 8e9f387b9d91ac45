package ingress

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"connectorcore/facts"
)

// What a sender is told is a closed code and what it means; the operator is told more, and neither is told a secret, a
// body, the value of a header or the store's own words.
func TestNobodyIsToldWhatIsNotHisBusiness(t *testing.T) {
	const payload, header = "payload-of-somebody", "value-of-a-header"
	var fail error
	s := opening(t, func(s *scene, _ *Options) {
		s.admit = func(context.Context, Delivery) error { return fail }
		s.secretsOf["2"] = nil
	})
	body := `{"id":"` + payload + `","x":"` + payload + `"}`
	good := s.order(body).with("X-Kind", header).with("Authorization", header).with("X-Other", header)
	var answers []replied
	answers = append(answers, s.send(good), s.send(good),
		s.send(s.order(`{"id":"`+payload+`"}`).with("X-Kind", header)),
		s.send(good.with("X-Signature", hex.EncodeToString([]byte(header)))),
		s.send(good.with("Content-Type", header)),
		s.send(good.with("Content-Encoding", header)),
		s.send(s.order(`{"id":"`+payload+` "}`)), s.send(s.order(payload)), s.send(s.order(`{"`+payload+`":1}`)), s.send(s.order(body+strings.Repeat(payload, 500))))
	for _, err := range []error{
		errors.Wrapf(facts.UnknownOutcome("admit", errors.Newf("dsn user:%s@tcp", payload)), "ledger of %s", payload),
		errors.AssertionFailedf("row %s is not there", payload),
		storeWords("Error 1062 (23000): Duplicate entry '" + payload + "' at 10.0.0.7:4000"),
		errors.Wrap(storeWords(payload), "ledger"),
		facts.Refuse(facts.NotServing, facts.OfAccount(s.account), "the row says %s", payload),
	} {
		fail = err
		answers = append(answers, s.send(good))
	}
	signature := hex.EncodeToString(mac(theSecret, body))
	log := s.logged()
	for i, text := range append([]string{log}, bodies(answers)...) {
		for _, part := range []string{payload, header, hex.EncodeToString([]byte(header)), theSecret, signature, "1062", "10.0.0.7", "goroutine"} {
			if strings.Contains(text, part) {
				t.Errorf("text %d holds %q:\n%s", i, part, text)
			}
		}
	}
	if lines := strings.Count(log, "\n"); lines != len(answers) || !strings.Contains(log, s.account.String()) {
		t.Errorf("%d lines of log for %d answers", lines, len(answers))
	}
	for _, part := range []string{"x-signature: no secret of the set made the signature", "outcome_unknown", "not_serving", `"level":"ERROR"`, `"level":"WARN"`} {
		if !strings.Contains(log, part) {
			t.Errorf("the log lacks %q:\n%s", part, log)
		}
	}
}

// storeWords is an error as a driver makes it.
type storeWords string

func (w storeWords) Error() string { return string(w) }

func bodies(answers []replied) []string {
	var all []string
	for _, a := range answers {
		all = append(all, a.body+fmt.Sprint(a.header))
	}
	return all
}

func TestAProblemIsADocumentOfRFC9457(t *testing.T) {
	for _, reason := range facts.Reasons() {
		a := failed(facts.Refuse(reason.Code, facts.OfInput("x"), "a detail"))
		var document struct {
			Type, Title, Code string
			Status            int
		}
		if err := json.Unmarshal(a.body, &document); err != nil {
			t.Fatalf("%s: %v", reason.Text, err)
		}
		if document.Type != "urn:connectorcore:problem:"+reason.Text || document.Code != reason.Text || document.Title != reason.Meaning || document.Status != a.status {
			t.Errorf("%+v", document)
		}
		if a.status < 400 || a.status == http.StatusInternalServerError || strings.Contains(string(a.body), "a detail") {
			t.Errorf("%s: %d %s", reason.Text, a.status, a.body)
		}
		if (a.status == 429 || a.status == 503) != (a.header.Get("Retry-After") != "") {
			t.Errorf("%s: %d with Retry-After %q", reason.Text, a.status, a.header.Get("Retry-After"))
		}
	}
}

func TestMetricsCountOutcomesAndNameNobody(t *testing.T) {
	s := opening(t)
	for _, r := range []sent{s.order(`{"id":"1"}`), s.order(`{"id":"1"}`), s.order(`{"id":"1","x":1}`), s.order("{"), s.order(`{"type":"hello","challenge":"x"}`), s.order(`{"id":"2"}`).with("X-Signature")} {
		s.send(r)
	}
	s.open = func(Opening) (Opening, error) {
		return Opening{}, facts.Refuse(facts.NotServing, facts.OfAccount(s.account), "")
	}
	s.send(s.order(`{"id":"1"}`))
	families, err := s.metrics.Gather()
	must(t, err)
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() != "outcome" && label.GetName() != "code" || strings.Contains(label.GetValue(), "-") {
					t.Errorf("%s has the label %s", family.GetName(), label)
				}
				got[family.GetName()+" "+label.GetValue()] += metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			}
		}
	}
	want := map[string]float64{
		"connector_receipts_total accepted": 1, "connector_receipts_total duplicate": 1, "connector_receipts_total conflict": 1,
		"connector_receipts_total rejected": 2, "connector_receipts_total handshake": 1, "connector_receipts_total unavailable": 1,
		"connector_ingress_refusals_total content_differs": 1, "connector_ingress_refusals_total body_unreadable": 1,
		"connector_ingress_refusals_total signature_invalid": 1, "connector_ingress_refusals_total not_serving": 1,
		"connector_ingress_request_duration_seconds rejected": 2,
	}
	for name, count := range want {
		if got[name] != count {
			t.Errorf("%s is %v, want %v", name, got[name], count)
		}
	}
	if _, err := NewDoor(Options{Directory: s, Secrets: s, Admitter: s, Clock: facts.SystemClock{}, Registerer: s.metrics}); err == nil {
		t.Error("two doors share their metrics")
	}
}

func TestAFaultOfOursIsAnOutageToTheSender(t *testing.T) {
	for name, c := range map[string]struct {
		alter func(*scene, Opening) Opening
		want  string
	}{
		"no credential": {func(_ *scene, o Opening) Opening { o.Credential = nil; return o }, "503 generation_malformed"},
		"no version": {func(s *scene, o Opening) Opening {
			o.Credential.Version = key[facts.SecretVersion](s.t, "9")
			return o
		}, "503 secret_unusable"},
		"no channel": {func(_ *scene, o Opening) Opening { o.Channel = nil; return o }, "503 unavailable"},
		"no limits":  {func(_ *scene, o Opening) Opening { o.Limits.BodyMaxBytes = 0; return o }, "503 unavailable"},
	} {
		s := opening(t, func(s *scene, _ *Options) {
			s.open = func(o Opening) (Opening, error) { return c.alter(s, o), nil }
		})
		if got := s.send(s.order(`{"id":"o-1"}`)).code(); got != c.want || len(s.admitted()) != 0 {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	closed := opening(t)
	closed.door.Close()
	if got := closed.send(closed.order(`{"id":"o-1"}`)).code(); got != "503 unavailable" {
		t.Errorf("a closed door: %s", got)
	}
	for _, origin := range []string{"hooks.example.com", "https://", "https://x/path", "://"} {
		if _, err := NewDoor(Options{Directory: closed, Secrets: closed, Admitter: closed, Clock: facts.SystemClock{}, Origin: origin}); err == nil || !strings.Contains(err.Error(), "want a scheme") {
			t.Errorf("origin %q: %v", origin, err)
		}
	}
	if _, err := NewDoor(Options{}); !errors.HasAssertionFailure(err) {
		t.Errorf("a door without anything behind it: %v", err)
	}
}
