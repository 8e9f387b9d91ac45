package ingress

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"connectorcore/readers/owners"
)

// raw writes a request by hand and reads its answer. A nil answer means that the connection was ended without one.
func (s *scene) raw(text string) *replied {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
	must(s.t, err)
	defer conn.Close()
	must(s.t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = io.WriteString(conn, text)
	must(s.t, err)
	return s.reply(conn)
}

func (s *scene) reply(conn net.Conn) *replied {
	s.t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil
	}
	body, err := io.ReadAll(response.Body)
	must(s.t, err)
	return &replied{response.StatusCode, response.Header, string(body)}
}

// head is the head of a good order by hand, with the fields that say how long its body is.
func (s *scene) head(body string, length string) string {
	r := s.order(body)
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Signature: %s\r\n%s\r\n\r\n",
		r.path, r.header.Get("X-Signature"), length)
}

func sized(size int) string {
	const frame = `{"id":"o-1","x":""}`
	return strings.Replace(frame, `""`, `"`+strings.Repeat("x", size-len(frame))+`"`, 1)
}

func TestScenario033ABodyMayBeAsLargeAsItsLimitAndNoLarger(t *testing.T) {
	for limit, limits := range map[int]owners.Limits{
		2000: owners.DefaultLimits(),                                            // the channel's
		1500: {BodyMaxBytes: 1500, DepthMax: 64, ComponentsMax: 1000},           // the tenant's
		2001: {BodyMaxBytes: 1<<64 - 1, DepthMax: 64, ComponentsMax: 1_000_000}, // no tenant raises the channel's
	} {
		s := opening(t, func(s *scene, _ *Options) {
			s.open = func(o Opening) (Opening, error) { o.Limits = limits; return o, nil }
		})
		limit = min(limit, 2000)
		for size, want := range map[int]string{limit - 1: "202", limit: "409 content_differs", limit + 1: "413 body_too_large", 10 * limit: "413 body_too_large"} {
			if size == limit-1 {
				continue
			}
			if got := s.send(s.order(sized(limit - 1))).code(); got != "202" && got != "200" {
				t.Errorf("limit %d, one less: %s", limit, got)
			}
			if got := s.send(s.order(sized(size))).code(); got != want {
				t.Errorf("limit %d, %d bytes: %s, want %s", limit, size, got, want)
			}
			body := sized(size)
			chunked := s.raw(s.head(body, "Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body))
			if chunked == nil || chunked.code() != want {
				t.Errorf("limit %d, %d bytes in chunks: %+v, want %s", limit, size, chunked, want)
			}
		}
		wait(t, "the end of all bodies", func() bool { return s.door.bodies.left.Load() == bodiesMaxBytes })
	}
}

// A length is a claim: one that is too large is refused unread, and one that is too small ends the body where it says.
func TestALengthThatLiesGainsNothing(t *testing.T) {
	s := opening(t)
	body := `{"id":"o-1"}`
	if got := s.raw(s.head(body, "Content-Length: 999999999999") + body); got == nil || got.code() != "413 body_too_large" {
		t.Errorf("a great claim: %+v", got)
	}
	if got := s.raw(s.head(body, fmt.Sprintf("Content-Length: %d", len(body)-1)) + body); got == nil || got.code() != "401 signature_invalid" {
		t.Errorf("a small claim: %+v", got)
	}
	for _, odd := range []string{"Content-Length: -1", "Content-Length: 1\r\nContent-Length: 2", "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip"} {
		if got := s.raw(s.head(body, odd) + body); got == nil || got.status < 400 || got.status >= 500 && got.status != 501 {
			t.Errorf("%s: %+v", odd, got)
		}
	}
	if got := s.raw(s.head(body, "Transfer-Encoding: chunked") + "zz\r\n"); got == nil || got.code() != "400 body_incomplete" {
		t.Errorf("a chunk without a length: %+v", got)
	}
	if len(s.admitted()) != 0 {
		t.Errorf("%d were admitted", len(s.admitted()))
	}
}

func TestAHalfSentBodyIsNeverAdmitted(t *testing.T) {
	s := opening(t)
	body := `{"id":"o-1"}`
	for _, text := range []string{s.head(body, fmt.Sprintf("Content-Length: %d", len(body)+5)) + body, s.head(body, "Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n%s\r\n", len(body), body)} {
		conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
		must(t, err)
		_, err = io.WriteString(conn, text)
		must(t, err)
		must(t, conn.(*net.TCPConn).CloseWrite())
		if got := s.reply(conn); got == nil || got.code() != "400 body_incomplete" {
			t.Errorf("%+v", got)
		}
		must(t, conn.Close())
	}
	if len(s.admitted()) != 0 {
		t.Errorf("%d were admitted", len(s.admitted()))
	}
}

func TestABodyOrAHeaderThatStandsStillIsGivenUp(t *testing.T) {
	s := opening(t, func(s *scene, _ *Options) {
		s.alter = func(server *http.Server) {
			if server.ReadHeaderTimeout <= 0 || server.ReadTimeout <= 0 || server.WriteTimeout <= server.ReadTimeout+admitWait || server.IdleTimeout <= 0 || server.MaxHeaderBytes <= 0 {
				t.Errorf("a server without bounds: %+v", server)
			}
			server.ReadHeaderTimeout, server.ReadTimeout = 200*time.Millisecond, 300*time.Millisecond
		}
	})
	if got := s.raw(s.head("{}", "Content-Length: 100") + "{"); got == nil || got.code() != "408 body_incomplete" {
		t.Errorf("a body: %+v", got)
	}
	if got := s.raw("POST /in/x HTTP/1.1\r\nHost: x\r\n"); got != nil {
		t.Errorf("a header: %+v", got)
	}
	if got := s.raw("POST /in/x HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n"); got == nil || got.status != 431 {
		t.Errorf("a large header: %+v", got)
	}
	if got := s.send(s.order(`{"id":"o-1"}`)).code(); got != "202" {
		t.Errorf("a quick one: %s", got)
	}
}

// Bodies that come slowly hold what they have sent, and the door refuses the next one when that fills the budget.
func TestTheBodiesOfAllRequestsTogetherAreBounded(t *testing.T) {
	s := opening(t, func(_ *scene, o *Options) { o.BodiesMaxBytes = 5000 })
	var held []net.Conn
	for range 2 {
		conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
		must(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, s.head("{}", "Content-Length: 1000")+"{")
		must(t, err)
		held = append(held, conn)
	}
	wait(t, "two slow bodies", func() bool { return s.door.bodies.left.Load() < 2000 })
	if got := s.send(s.order(`{"id":"o-1"}`)); got.code() != "429 account_busy" || got.header.Get("Retry-After") == "" {
		t.Errorf("%s", got.code())
	}
	for _, conn := range held {
		must(t, conn.Close())
	}
	wait(t, "the end of the slow bodies", func() bool { return s.door.bodies.left.Load() == 5000 })
	if got := s.send(s.order(`{"id":"o-1"}`)).code(); got != "202" {
		t.Errorf("afterwards: %s", got)
	}
}

func TestScenario029ADeepBodyHarmsNobody(t *testing.T) {
	s := opening(t, func(s *scene, _ *Options) { s.channels["orders"].Limits.BodyBytes = 4 << 20 })
	var group sync.WaitGroup
	for _, body := range []string{strings.Repeat("[", 200_000), strings.Repeat(`{"a":`, 200_000), `{"id":"deep","x":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + "}"} {
		group.Go(func() {
			if got := s.send(s.order(body)); got.status != 400 {
				t.Errorf("%s", got.code())
			}
		})
		group.Go(func() {
			if got := s.send(s.file(fmt.Sprint(len(body)), body)).code(); got != "202" { // its key is no part of the body
				t.Errorf("%s", got)
			}
		})
		group.Go(func() {
			if got := s.send(s.order(`{"id":"o-1"}`)).status; got != 202 && got != 200 {
				t.Errorf("a neighbour: %d", got)
			}
		})
	}
	group.Wait()
}

func TestScenario001BytesAreHandedOnAsReceived(t *testing.T) {
	s := opening(t)
	body := "{ \"attempt\" : 1,\"id\":\"\\u00E9\\u00e9\",\t\"a\":1.0e2, \"nul\":\"\\u0000\" }\r\n"
	if got := s.send(s.order(body)).code(); got != "202" || string(s.admitted()[0].Body) != body {
		t.Errorf("%s", got)
	}
	if d := s.admitted()[0]; d.Key.String() != "éé" {
		t.Errorf("the key %q", d.Key)
	}
}

func TestScenario009And031AnyBytesAndNoBytesAreABody(t *testing.T) {
	s := opening(t)
	for i, body := range []string{"", "\xff\xfe\x00\x80", "\x00", "\r\n"} {
		if got := s.send(s.file(fmt.Sprintf("f-%d", i), body)).code(); got != "202" {
			t.Errorf("%q: %s", body, got)
			continue
		}
		if d := s.admitted()[i]; string(d.Body) != body || d.Body == nil || !d.Credential.IsZero() || !d.Member.IsZero() {
			t.Errorf("%q was handed on as %q, verified by %s", body, d.Body, d.Credential)
		}
	}
	if got := s.send(s.file("f-0", " ")).code(); got != "409 content_differs" {
		t.Errorf("an absent body and a blank one: %s", got)
	}
	signedWell := s.order("\xff\xfe\x00\x80") // the channel takes its key from the body, so there is none
	if got := s.send(signedWell).code(); got != "400 body_unreadable" {
		t.Errorf("%s", got)
	}
	if hex.EncodeToString(mac(theSecret, "\xff\xfe\x00\x80")) != signedWell.header.Get("X-Signature") {
		t.Error("the delivery was not signed over its bytes")
	}
}

// Keys are taken as they stand or refused, whichever way they come: nothing trims or folds them.
func TestScenario023And025And027And035And037And039KeysAreCanonicalOrRefused(t *testing.T) {
	s := opening(t)
	if got := s.send(s.order(`{"id":"k"}`)).code(); got != "202" {
		t.Fatal(got)
	}
	for body, want := range map[string]string{
		`{"id":"k "}`: "400 key_not_canonical", `{"id":" k"}`: "400 key_not_canonical", `{"id":""}`: "400 key_not_canonical",
		`{"id":" "}`: "400 key_not_canonical", `{"id":"\t"}`: "400 key_not_canonical", `{"id":"\u00a0"}`: "400 key_not_canonical",
		`{"id":"\u200b"}`: "400 key_not_canonical", `{"id":"e\u0301"}`: "400 key_not_canonical", `{"id":"\u0000"}`: "400 key_not_canonical",
		`{"id":"a\u0000b"}`: "400 key_not_canonical", `{"id":"K"}`: "202", `{"id":"\u00e9"}`: "202", `{"id":null}`: "400 expression_type_differs",
		`{"id":"` + strings.Repeat("x", 513) + `"}`: "400 key_not_canonical", `{"id":"` + strings.Repeat("x", 512) + `"}`: "202",
		`{"id":"A","id":"B"}`: "400 body_unreadable", `{"id":"A","\u0069d":"B"}`: "400 body_unreadable", `{"id":"A","ID":"B"}`: "400 expression_failed",
		`{"id":9007199254740993}`: "202", `{"id":9007199254740992}`: "202", `{"id":1e3}`: "400 number_not_integer", `{"id":-0}`: "400 number_not_integer", `{"id":1e400}`: "400 number_not_integer", "{\"id\":\"\xff\"}": "400 body_unreadable", `{"id":"\ud800"}`: "400 body_unreadable",
	} {
		if got := s.send(s.order(body)).code(); got != want {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
	for name, want := range map[string]string{"k": "202", "e\u0301": "400 key_not_canonical", "\u00e9": "202", "\u00a0": "400 key_not_canonical", "\xff": "400 key_not_canonical"} {
		if got := s.send(s.file(name, "{}")).code(); got != want {
			t.Errorf("header %q: %s, want %s", name, got, want)
		}
	}
	if got := s.raw("PUT /in/" + s.account.String() + "/files HTTP/1.1\r\nHost: x\r\nX-File: a\x00b\r\nContent-Length: 0\r\n\r\n"); got == nil || got.status != 400 {
		t.Errorf("NUL in a header: %+v", got)
	}
	if got := s.send(s.file("k", "{}").with("X-File", "k", "k")).code(); got != "400 key_not_canonical" { // else "k, k" would be another key
		t.Errorf("two lines: %s", got)
	}
	if got := s.send(s.order(`{"id":"m"}`).with("X-Kind", "paid", "paid")).code(); got != "400 key_not_canonical" {
		t.Errorf("two lines of an identity header: %s", got)
	}
	if got := s.send(s.order(`{"id":"m"}`).with("X-Other", "x", "x")).code(); got != "202" {
		t.Errorf("two lines of a header that identifies nothing: %s", got)
	}
}
