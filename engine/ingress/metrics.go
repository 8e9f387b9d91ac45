package ingress

import (
	"time"

	"github.com/cockroachdb/errors"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are this room's own. Labels are closed words, never an account, a channel or a key.
type metrics struct {
	receipts *prometheus.CounterVec
	refusals *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		receipts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "connector_receipts_total", Help: "Requests to the door by what became of them."},
			[]string{"outcome"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "connector_ingress_refusals_total", Help: "Requests that were answered with a problem, by its code."},
			[]string{"code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "connector_ingress_request_duration_seconds", Help: "Time from a request's header to its answer.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 3, 10, 30}},
			[]string{"outcome"}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.receipts, m.refusals, m.duration} {
		if err := registerer.Register(c); err != nil {
			return nil, errors.Wrap(err, "metrics of engine/ingress")
		}
	}
	return m, nil
}

func (m *metrics) observe(a answer, took time.Duration) {
	m.receipts.WithLabelValues(a.outcome).Inc()
	m.duration.WithLabelValues(a.outcome).Observe(took.Seconds())
	if a.code != "" {
		m.refusals.WithLabelValues(a.code).Inc()
	}
}
