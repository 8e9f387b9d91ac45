package ingress

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"connectorcore/engine/pack"
	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/readers/owners"
)

// The pack of these tests. Orders are named by a member, files by a header; a greeting and a whole door without
// signatures stand beside them.
var testPack = fstest.MapFS{
	"pack.yaml": {Data: []byte("format: 1\nname: tried\ntitle: Tried at the door\nrequires: [webhook]\n")},
	"orders.channel.yaml": {Data: []byte(`kind: channel
name: orders
content_types: [application/json]
signatures:
  - {algorithm: hmac-sha256, header: x-signature, encoding: hex}
handshakes:
  - {form: json_echo, member: /type, equals: hello, echo: /challenge}
  - {form: webhook_options, allowed_rate: 60}
transport_key: body.id
identity_headers: [x-kind, x-audience]
volatile_members: [/attempt]
redelivery: by_itself
halt_tolerance_seconds: 86400
limits: {body_bytes: 2000, depth: 8}
events:
  - {name: order, kind: '"order"', key: body.id, locator: body.id}
`)},
	"files.channel.yaml": {Data: []byte(`kind: channel
name: files
method: PUT
transport_key: headers["x-file"]
redelivery: never
halt_tolerance_seconds: 0
events:
  - {name: file, kind: '"file"', key: 'headers["x-file"]', locator: 'headers["x-file"]'}
`)},
	"input.mapping.yaml": {Data: []byte("kind: field_mapping\nname: input\nversion: 1\nrecord: event.locator\nfields:\n  - {name: kind, owner: source, value: event.kind}\n")},
	"orders.route.yaml":  {Data: []byte(routeText("orders"))},
	"files.route.yaml":   {Data: []byte(routeText("files"))},
}

func routeText(name string) string {
	return "kind: inbound_route\nname: " + name + "\nversion: 1\nchannel: " + name +
		"\nordering: {contract: order_independent, proof: commutes}\nmapping: input\ncommand: {definition: take, version: 1}\n"
}

const theSecret = "s3cr3t-of-the-door"

// scene is a door with a world in memory behind it. Its hooks are set before the first request.
type scene struct {
	t         testing.TB
	door      *Door
	server    *httptest.Server
	account   facts.AccountID
	channels  map[string]*pack.Channel
	secretsOf map[string][]string // by version
	metrics   *prometheus.Registry

	open  func(Opening) (Opening, error)
	admit func(context.Context, Delivery) error
	alter func(*http.Server)

	lock       sync.Mutex
	log        bytes.Buffer
	opened     int
	resolved   int
	fence      facts.Fence
	deliveries []Delivery
	receipts   map[string]stored
}

type stored struct {
	receipt facts.ReceiptID
	content facts.Digest
}

// Open implements Directory.
func (s *scene) Open(_ context.Context, account facts.AccountID, channel facts.Channel) (Opening, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.opened++
	at, known := s.channels[channel.String()]
	if account != s.account || !known {
		return Opening{}, facts.Refuse(facts.SubjectMissing, facts.OfInput("channel"), "")
	}
	opening := Opening{Channel: at, Limits: owners.DefaultLimits(),
		Premise: inbound.Premise{Fence: s.fence, Epoch: facts.EpochRef{ID: facts.EpochID{1}, Digest: facts.Digest{1}}}}
	if len(at.Signatures) > 0 {
		opening.Credential = &Credential{Generation: facts.CredentialGenerationID{9}, Backend: key[facts.OwnerName](s.t, "memory"), Version: key[facts.SecretVersion](s.t, "1")}
	}
	if s.open != nil {
		return s.open(opening)
	}
	return opening, nil
}

// Resolve implements Secrets. Each call gives bytes of its own, as a backend does.
func (s *scene) Resolve(_ context.Context, _ facts.OwnerName, version facts.SecretVersion) (platform.SecretSet, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.resolved++
	texts, known := s.secretsOf[version.String()]
	if !known {
		return platform.SecretSet{}, facts.Refuse(facts.SecretUnusable, facts.OfInput("secret version "+version.String()), "there is none")
	}
	return secrets(s.t, texts...), nil
}

// Admit implements Admitter: in memory, but by the rules of the real one.
func (s *scene) Admit(ctx context.Context, d Delivery) (Admitted, error) {
	if s.admit != nil {
		if err := s.admit(ctx, d); err != nil {
			return Admitted{}, err
		}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if d.Premise.Fence != s.fence {
		return Admitted{}, facts.Refuse(facts.StaleFence, facts.OfAccount(d.Account), "")
	}
	at := fmt.Sprintf("%s/%s/%s", d.Account, d.Channel, d.Key)
	if before, known := s.receipts[at]; known {
		if before.content != d.Content {
			return Admitted{}, facts.Refuse(facts.ContentDiffers, facts.OfInput("transport key"), "the key was %s", d.Key)
		}
		return Admitted{before.receipt, false}, nil
	}
	receipt := facts.Mint[facts.ReceiptID]()
	s.receipts[at] = stored{receipt, d.Content}
	s.deliveries = append(s.deliveries, d)
	return Admitted{receipt, true}, nil
}

func (s *scene) Write(line []byte) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.log.Write(line)
}

func (s *scene) logged() string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.log.String()
}

// admitted is what was admitted so far.
func (s *scene) admitted() []Delivery {
	s.lock.Lock()
	defer s.lock.Unlock()
	return append([]Delivery(nil), s.deliveries...)
}

// opening makes a door with a server on a port of its own. The hooks alter the scene before it opens.
func opening(t testing.TB, before ...func(*scene, *Options)) *scene {
	t.Helper()
	compiled, err := pack.Compile(testPack)
	must(t, err)
	s := &scene{t: t, account: facts.Mint[facts.AccountID](), channels: map[string]*pack.Channel{}, fence: 4,
		secretsOf: map[string][]string{"1": {"older", theSecret}}, receipts: map[string]stored{}, metrics: prometheus.NewRegistry()}
	for _, channel := range compiled.Channels() {
		s.channels[channel.Name.String()] = channel
	}
	options := Options{Directory: s, Secrets: s, Admitter: s, Clock: facts.SystemClock{}, Registerer: s.metrics,
		Log: slog.New(slog.NewJSONHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, alter := range before {
		alter(s, &options)
	}
	s.door, err = NewDoor(options)
	must(t, err)
	t.Cleanup(s.door.Close)
	s.server = httptest.NewUnstartedServer(nil)
	s.server.Config = NewServer(s.door, options.Log)
	if s.alter != nil {
		s.alter(s.server.Config)
	}
	s.server.Start()
	t.Cleanup(s.server.Close)
	return s
}

// sent is a request to the door before it is sent.
type sent struct {
	method, path, body string
	header             http.Header
}

// order is a good delivery of the channel orders.
func (s *scene) order(body string) sent {
	return sent{"POST", "/in/" + s.account.String() + "/orders", body, http.Header{
		"Content-Type": {"application/json"}, "X-Signature": {hex.EncodeToString(mac(theSecret, body))}}}
}

// file is a good delivery of the channel files, which has no signatures.
func (s *scene) file(name, body string) sent {
	return sent{"PUT", "/in/" + s.account.String() + "/files", body, http.Header{"X-File": {name}}}
}

func (r sent) with(name string, values ...string) sent {
	r.header = r.header.Clone()
	r.header[http.CanonicalHeaderKey(name)] = values
	if len(values) == 0 {
		r.header.Del(name)
	}
	return r
}

type replied struct {
	status int
	header http.Header
	body   string
}

// code is what stands in the problem, or the status of what is none.
func (a replied) code() string {
	_, rest, found := strings.Cut(a.body, `"code":"`)
	code, _, _ := strings.Cut(rest, `"`)
	if !found {
		return fmt.Sprint(a.status)
	}
	return fmt.Sprintf("%d %s", a.status, code)
}

func (s *scene) send(r sent) replied {
	s.t.Helper()
	request, err := http.NewRequest(r.method, s.server.URL+r.path, strings.NewReader(r.body))
	must(s.t, err)
	request.Header = r.header.Clone()
	response, err := s.server.Client().Do(request)
	must(s.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(s.t, err)
	return replied{response.StatusCode, response.Header, string(body)}
}

// wait polls until a condition holds.
func wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come about", what)
		}
	}
}
