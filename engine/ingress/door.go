package ingress

import (
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/prometheus/client_golang/prometheus"

	"connectorcore/facts"
)

// Options are what a Door is made of. What has a default may be zero.
type Options struct {
	Directory Directory
	Secrets   Secrets
	Admitter  Admitter
	Clock     facts.Clock

	Registerer prometheus.Registerer // nil registers no metrics
	Log        *slog.Logger          // nil logs nothing
	// Origin is how providers reach the door, like https://hooks.example.com, for schemes that sign the address. Without
	// it the address is taken from the request, which is wrong behind a proxy that ends TLS or changes the host.
	Origin string
	// BodiesMaxBytes bounds the bodies of all running requests together: 256 MiB by default.
	BodiesMaxBytes int64
	// SecretsMax bounds how many secret versions are remembered: 256 by default.
	SecretsMax int
}

const (
	bodiesMaxBytes = 256 << 20
	secretsMax     = 256
	admitWait      = 20 * time.Second // how long a verified delivery may take until it is answered
	openWait       = 10 * time.Second // how long a channel may take until it is opened
	prepareMax     = 3                // how often a delivery is prepared, if the gate moves under it
)

// Door is the HTTP handler of POST /in/{account}/{channel}.
type Door struct {
	options Options
	author  facts.Author
	secrets *secretCache
	bodies  bodyBudget
	metrics *metrics
}

// NewDoor makes a door.
func NewDoor(options Options) (*Door, error) {
	if options.Directory == nil || options.Secrets == nil || options.Admitter == nil || options.Clock == nil {
		return nil, errors.AssertionFailedf("a door needs a Directory, Secrets, an Admitter and a Clock")
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.BodiesMaxBytes <= 0 {
		options.BodiesMaxBytes = bodiesMaxBytes
	}
	if options.SecretsMax <= 0 {
		options.SecretsMax = secretsMax
	}
	if origin, err := url.Parse(options.Origin); err != nil || options.Origin != "" && (origin.Host == "" || origin.Scheme == "" || origin.Path != "") {
		return nil, errors.Newf("ingress: origin %q: want a scheme and a host, like https://hooks.example.com", options.Origin)
	}
	author, err := facts.ProfileV2.Author()
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(options.Registerer)
	if err != nil {
		return nil, err
	}
	d := &Door{options: options, author: author, secrets: newSecretCache(options.Secrets, options.SecretsMax), metrics: m}
	d.bodies.left.Store(options.BodiesMaxBytes)
	return d, nil
}

// Close wipes the secrets that the door remembers, those that are in use as soon as they are not. Deliveries that need
// one are answered 503 from then on.
func (d *Door) Close() { d.secrets.close() }

// ServeHTTP answers one request.
//
//	202  {"receipt": ID}: admitted, after the commit
//	200  the same: this delivery was admitted before; or a handshake's answer
//	400  the body did not come whole, or gives no canonical transport key; 408 if it stood still
//	401  no signature that verifies, or the credential generation is revoked
//	404  no such account or channel; 405 another method; 413 too large; 415 another media type, or a coded body
//	409  the transport key stands for other content
//	429  the account's queue is full; 503 nobody can say now, or the gate does not serve. Both with Retry-After
//
// There is no 500: whoever sent a delivery that was not answered with 2xx should send it again.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := d.options.Clock.Now()
	v := &visit{door: d, w: w, r: r}
	defer func() { d.bodies.give(v.taken) }()
	a := v.contained()
	took := d.options.Clock.Now().Sub(start)
	d.metrics.observe(a, took)
	v.log(a, took)
	a.write(w)
}
