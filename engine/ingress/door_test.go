package ingress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/errors"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
)

func TestADeliveryIsAdmittedOnceAndItsRepeatIsAnsweredTheSame(t *testing.T) {
	s := opening(t)
	body := `{ "id": "o-1", "attempt": 1, "total": 12.50 }`
	first := s.send(s.order(body).with("X-Kind", "order").with("Authorization", "Bearer x").with("Cookie", "a=b").with("X-Other", "kept"))
	if first.status != 202 || first.header.Get("Content-Type") != "application/json" {
		t.Fatalf("%+v", first)
	}
	// A redelivery has another signature, other volatile members and other headers that identify nothing.
	again := s.send(s.order(strings.Replace(body, `"attempt": 1`, `"attempt": 27`, 1)).with("X-Kind", "order").with("User-Agent", "another"))
	if again.status != 200 || again.body != first.body {
		t.Errorf("%d %s, want 200 %s", again.status, again.body, first.body)
	}
	all := s.admitted()
	if len(all) != 1 {
		t.Fatalf("%d deliveries", len(all))
	}
	d := all[0]
	want := fmt.Sprintf("{\"receipt\":\"%s\"}\n", s.receipts[fmt.Sprintf("%s/orders/o-1", s.account)].receipt)
	if first.body != want || string(d.Body) != body || d.Key.String() != "o-1" || d.Channel.String() != "orders" || d.Account != s.account {
		t.Errorf("%s, %+v", first.body, d)
	}
	if d.Premise.Fence != 4 || d.Premise.Epoch.ID != (facts.EpochID{1}) || d.Credential != (facts.CredentialGenerationID{9}) || d.Member.String() != "b" {
		t.Errorf("premise %+v, verified by %s of %s", d.Premise, d.Member, d.Credential)
	}
	if len(d.Identity) != 1 || d.Identity[0] != (facts.HeaderLine{Name: "x-kind", Value: "order"}) {
		t.Errorf("identity %q", d.Identity)
	}
	author, err := facts.ProfileV2.Author()
	must(t, err)
	if d.Content != author.AdmittedContent([]byte(`{ "id": "o-1", "attempt", "total": 12.50 }`), d.Identity) {
		t.Error("the content is not the digest of the body without its volatile members and of the identity headers")
	}
	kept := map[string]string{}
	for _, line := range d.Header {
		kept[line.Name] = line.Value
	}
	for _, name := range []string{"x-signature", "authorization", "cookie"} {
		if value, there := kept[name]; there {
			t.Errorf("the header %s is handed on: %q", name, value)
		}
	}
	if kept["x-other"] != "kept" || kept["x-kind"] != "order" {
		t.Errorf("%q were handed on", kept)
	}
}

func TestScenario019TheSameKeyWithOtherContentIsAConflict(t *testing.T) {
	s := opening(t)
	body := `{"id":"o-1","total":1}`
	if got := s.send(s.order(body).with("X-Kind", "order")).code(); got != "202" {
		t.Fatal(got)
	}
	for name, other := range map[string]sent{
		"one byte more":     s.order(`{"id":"o-1","total":12}`).with("X-Kind", "order"),
		"a blank":           s.order(`{"id":"o-1", "total":1}`).with("X-Kind", "order"),
		"another order":     s.order(`{"total":1,"id":"o-1"}`).with("X-Kind", "order"),
		"another identity":  s.order(body).with("X-Kind", "orders"),
		"no identity":       s.order(body),
		"one more identity": s.order(body).with("X-Kind", "order").with("X-Audience", "all"),
	} {
		if got := s.send(other).code(); got != "409 content_differs" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := s.send(s.order(body).with("X-Kind", "order")).code(); got != "200" || len(s.admitted()) != 1 {
		t.Errorf("afterwards the first is answered %s", got)
	}
}

func TestEveryAnswerHasItsStatusAndItsCode(t *testing.T) {
	s := opening(t)
	good := s.order(`{"id":"o-1"}`)
	path := func(path string) sent { r := good; r.path = path; return r }
	method := func(method string) sent { r := good; r.method = method; return r }
	for name, c := range map[string]struct {
		request sent
		want    string
	}{
		"another account":       {path("/in/" + facts.Mint[facts.AccountID]().String() + "/orders"), "404 subject_missing"},
		"another channel":       {path("/in/" + s.account.String() + "/order"), "404 subject_missing"},
		"no channel":            {path("/in/" + s.account.String()), "404 subject_missing"},
		"a longer path":         {path("/in/" + s.account.String() + "/orders/"), "404 subject_missing"},
		"a doubled slash":       {path("/in//" + s.account.String() + "/orders"), "404 subject_missing"},
		"dots":                  {path("/in/../in/" + s.account.String() + "/orders"), "404 subject_missing"},
		"capitals":              {path("/in/" + strings.ToUpper(s.account.String()) + "/orders"), "404 subject_missing"},
		"a channel with NUL":    {path("/in/" + s.account.String() + "/orders%00"), "404 subject_missing"},
		"an escaped channel":    {path("/in/" + s.account.String() + "/%6Frders"), "202"},
		"GET":                   {method("GET"), "405 method_not_allowed"},
		"PUT":                   {method("PUT"), "405 method_not_allowed"},
		"no media type":         {good.with("Content-Type"), "415 media_type_unsupported"},
		"another media type":    {good.with("Content-Type", "text/plain"), "415 media_type_unsupported"},
		"two media types":       {good.with("Content-Type", "application/json", "application/json"), "415 media_type_unsupported"},
		"a media type's like":   {good.with("Content-Type", "application/json5"), "415 media_type_unsupported"},
		"gzip":                  {good.with("Content-Encoding", "gzip"), "415 media_type_unsupported"},
		"two codings":           {good.with("Content-Encoding", "identity", "gzip"), "415 media_type_unsupported"},
		"no signature":          {good.with("X-Signature"), "401 signature_invalid"},
		"another signature":     {good.with("X-Signature", strings.Repeat("00", 32)), "401 signature_invalid"},
		"two signatures":        {good.with("X-Signature", good.header.Get("X-Signature"), good.header.Get("X-Signature")), "401 signature_invalid"},
		"no key":                {s.order(`{"no":"id"}`), "400 expression_failed"},
		"a key that is no text": {s.order(`{"id":{}}`), "400 expression_type_differs"},
		"no JSON":               {s.order(`{"id":`), "400 body_unreadable"},
		"an empty body":         {s.order(``), "400 body_unreadable"},
		"too deep":              {s.order(`{"id":"o-1","x":` + strings.Repeat("[", 9) + strings.Repeat("]", 9) + `}`), "400 body_too_deep"},
	} {
		got := s.send(c.request)
		if got.code() != c.want {
			t.Errorf("%s: %s, want %s", name, got.code(), c.want)
		}
		if got.status >= 400 && got.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: a problem of type %q", name, got.header.Get("Content-Type"))
		}
		if (got.status == 405) != (got.header.Get("Allow") == "POST, OPTIONS") || (got.status == 401) != (got.header.Get("WWW-Authenticate") != "") {
			t.Errorf("%s: header %v", name, got.header)
		}
	}
	for _, header := range []string{"application/json; charset=utf-8", "Application/JSON", " application/json ;x=y"} {
		if got := s.send(good.with("Content-Type", header)).code(); got != "200" {
			t.Errorf("%s: %s", header, got)
		}
	}
	if got := s.send(good.with("Content-Encoding", "identity")).code(); got != "200" || len(s.admitted()) != 1 {
		t.Errorf("identity: %s", got)
	}
}

type busy struct{ error }

func (b busy) Unwrap() error { return b.error }

func (busy) RetryAfter() time.Duration { return 1500 * time.Millisecond }

func TestWhatTheDoorIsToldDecidesTheStatus(t *testing.T) {
	about := facts.OfInput("x")
	for name, c := range map[string]struct {
		err     error
		atOpen  bool
		want    string
		retries string
	}{
		"halted at opening":     {facts.Refuse(facts.GateHalted, about, ""), true, "503 gate_halted", "30"},
		"not serving":           {facts.Refuse(facts.NotServing, about, ""), true, "503 not_serving", "30"},
		"no active epoch":       {facts.Refuse(facts.EpochNotActive, about, ""), true, "503 epoch_not_active", "30"},
		"store away at opening": {errors.New("dial tcp 10.0.0.1: refused"), true, "503 unavailable", "30"},
		"halted at admission":   {facts.Refuse(facts.NotServing, about, ""), false, "503 not_serving", "30"},
		"revoked":               {facts.Refuse(facts.Revoked, about, ""), false, "401 revoked", ""},
		"too large for a turn":  {facts.Refuse(facts.BatchTooLarge, about, ""), false, "413 batch_too_large", ""},
		"busy":                  {facts.Refuse(facts.AccountBusy, about, ""), false, "429 account_busy", "30"},
		"busy with a hint":      {errors.Wrap(busy{facts.Refuse(facts.AccountBusy, about, "")}, "turns"), false, "429 account_busy", "2"},
		"unknown":               {facts.UnknownOutcome("admit", io.EOF), false, "503 outcome_unknown", "30"},
		"too late":              {context.DeadlineExceeded, false, "503 outcome_unknown", "30"},
		"an assertion":          {errors.AssertionFailedf("broken"), false, "503 unavailable", "30"},
		"no code of the table":  {&facts.Refusal{}, false, "503 undeclared_code", "30"},
	} {
		s := opening(t, func(s *scene, _ *Options) {
			if c.atOpen {
				s.open = func(Opening) (Opening, error) { return Opening{}, c.err }
			} else {
				s.admit = func(context.Context, Delivery) error { return c.err }
			}
		})
		got := s.send(s.order(`{"id":"o-1"}`))
		if got.code() != c.want || got.header.Get("Retry-After") != c.retries {
			t.Errorf("%s: %s after %q, want %s after %q", name, got.code(), got.header.Get("Retry-After"), c.want, c.retries)
		}
		if len(s.admitted()) != 0 {
			t.Errorf("%s: it was admitted", name)
		}
	}
}

func TestR11ADeliveryIsPreparedAgainWhenTheGateMoved(t *testing.T) {
	moves := 0
	s := opening(t, func(s *scene, _ *Options) {
		s.admit = func(context.Context, Delivery) error {
			s.lock.Lock()
			defer s.lock.Unlock()
			if moves++; moves < prepareMax {
				s.fence++ // between the opening and the admission
			}
			return nil
		}
	})
	if got := s.send(s.order(`{"id":"o-1"}`)).code(); got != "202" {
		t.Fatal(got)
	}
	if d := s.admitted(); len(d) != 1 || d[0].Premise.Fence != 6 || s.opened != prepareMax {
		t.Errorf("%d deliveries after %d openings", len(d), s.opened)
	}
	restless := opening(t, func(s *scene, _ *Options) {
		s.admit = func(context.Context, Delivery) error {
			return facts.Refuse(facts.EpochMismatch, facts.OfAccount(s.account), "")
		}
	})
	if got := restless.send(restless.order(`{"id":"o-1"}`)); got.code() != "503 stale_fence" || got.header.Get("Retry-After") == "" || restless.opened > prepareMax+1 {
		t.Errorf("a gate that never rests: %s after %d openings", got.code(), restless.opened)
	}
}

// Another epoch may hold other secrets, and its verdict is the only one that counts.
func TestR11ANewEpochVerifiesWithItsOwnSecrets(t *testing.T) {
	s := opening(t, func(s *scene, _ *Options) {
		s.secretsOf["2"] = []string{"another"}
		s.open = func(o Opening) (Opening, error) {
			if s.opened > 1 {
				o.Credential.Version = key[facts.SecretVersion](t, "2")
			}
			return o, nil
		}
		s.admit = func(_ context.Context, d Delivery) error {
			if d.Premise == (inbound.Premise{}) {
				return errors.New("no premise")
			}
			return facts.Refuse(facts.StaleFence, facts.OfAccount(s.account), "")
		}
	})
	if got := s.send(s.order(`{"id":"o-1"}`)).code(); got != "401 signature_invalid" {
		t.Error(got)
	}
}

func TestAPanicIsAnsweredLikeAnOutageAndShowsNothing(t *testing.T) {
	s := opening(t, func(s *scene, _ *Options) {
		s.admit = func(_ context.Context, d Delivery) error {
			var nobody *Delivery
			_ = nobody.Body[len(d.Body)]
			return nil
		}
	})
	got := s.send(s.order(`{"id":"the-payload"}`))
	if got.code() != "503 unavailable" || got.header.Get("Retry-After") == "" || strings.Contains(got.body, "goroutine") {
		t.Errorf("%+v", got)
	}
	if log := s.logged(); !strings.Contains(log, "runtime.") || !strings.Contains(log, `"ERROR"`) || strings.Contains(log, "the-payload") {
		t.Errorf("%s", log)
	}
	s.admit = nil
	if got := s.send(s.order(`{"id":"o-1"}`)).code(); got != "202" {
		t.Errorf("afterwards: %s", got)
	}
}

func TestASenderThatGoesAwayLosesAndDoublesNothing(t *testing.T) {
	queued, gone, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once, leaving sync.Once
	s := opening(t, func(s *scene, _ *Options) {
		s.alter = func(server *http.Server) {
			server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				context.AfterFunc(r.Context(), func() { leaving.Do(func() { close(gone) }) })
				s.door.ServeHTTP(w, r)
			})
		}
		s.admit = func(ctx context.Context, _ Delivery) error {
			once.Do(func() { close(queued) })
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-goOn:
				return nil
			}
		}
	})
	r := s.order(`{"id":"o-1"}`)
	conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
	must(t, err)
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Signature: %s\r\nContent-Length: %d\r\n\r\n%s",
		r.path, r.header.Get("X-Signature"), len(r.body), r.body)
	must(t, err)
	<-queued
	must(t, conn.Close())
	<-gone // the server knows that nobody listens any more
	close(goOn)
	wait(t, "the admission", func() bool { return len(s.admitted()) == 1 })
	if got := s.send(r).code(); got != "200" || len(s.admitted()) != 1 {
		t.Errorf("the redelivery: %s, %d receipts", got, len(s.admitted()))
	}
}

func TestManyAtOnceGetOneReceipt(t *testing.T) {
	s := opening(t)
	var group sync.WaitGroup
	answers := make([]replied, 64)
	for i := range answers {
		group.Go(func() { answers[i] = s.send(s.order(`{"id":"o-1"}`)) })
	}
	group.Wait()
	counts := map[string]int{}
	for _, a := range answers {
		counts[a.code()]++
		if a.body != answers[0].body {
			t.Errorf("two bodies: %s and %s", a.body, answers[0].body)
		}
	}
	if counts["202"] != 1 || counts["200"] != 63 || len(s.admitted()) != 1 || s.resolved != 1 {
		t.Errorf("%v, %d receipts, secrets resolved %d times", counts, len(s.admitted()), s.resolved)
	}
	wait(t, "the end of all bodies", func() bool { return s.door.bodies.left.Load() == bodiesMaxBytes })
}

func TestTwoDeliveriesOfOneConnectionAreTwo(t *testing.T) {
	s := opening(t)
	conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
	must(t, err)
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for _, id := range []string{"o-1", "o-2"} {
		r := s.order(`{"id":"` + id + `"}`)
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Signature: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
			r.path, r.header.Get("X-Signature"), len(r.body), r.body)
		must(t, err)
		response, err := http.ReadResponse(reader, nil)
		must(t, err)
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != 202 {
			t.Errorf("%s: %d, %v", id, response.StatusCode, err)
		}
	}
}

func BenchmarkDoor(b *testing.B) {
	s := opening(b, func(s *scene, o *Options) { o.Log = nil })
	r := s.order(sized(2000))
	b.ReportAllocs()
	for b.Loop() {
		request := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
		request.Header = r.header
		w := httptest.NewRecorder()
		if s.door.ServeHTTP(w, request); w.Code >= 300 {
			b.Fatal(w.Code)
		}
	}
}
