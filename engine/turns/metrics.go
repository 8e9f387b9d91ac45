package turns

import (
	"github.com/cockroachdb/errors"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are this room's own. The only label is a kind's name, never an account; those by kind stand in the order of
// Turns.rules.
type metrics struct {
	waiting    []prometheus.Gauge
	refused    []prometheus.Counter
	wait       []prometheus.Observer
	items      prometheus.Histogram
	took       prometheus.Histogram
	doubts     prometheus.Counter
	doubtful   prometheus.Gauge
	assertions prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer, rules []KindRule) (*metrics, error) {
	kind := []string{"kind"}
	seconds := prometheus.ExponentialBuckets(0.001, 2, 16)
	waiting := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "connector_turns_waiting", Help: "Items that no turn has taken yet."}, kind)
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "connector_turns_refused_total", Help: "Items that were refused because too much was waiting."}, kind)
	wait := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "connector_turns_wait_seconds", Help: "From an item's arrival to the beginning of its turn.", Buckets: seconds}, kind)
	m := &metrics{
		items: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "connector_turns_items", Help: "Items of a turn.", Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 500}}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "connector_turns_seconds", Help: "One try of a turn.", Buckets: seconds}),
		doubts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "connector_turns_unknown_total", Help: "Tries of a turn whose outcome is unknown."}),
		doubtful: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "connector_turns_doubtful", Help: "Accounts whose turn is tried again until its outcome is known."}),
		assertions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "connector_turns_assertions_total", Help: "Turns that met a defect of this program."}),
	}
	for _, rule := range rules { // made before the first item, so that a scrape shows what is zero
		m.waiting = append(m.waiting, waiting.WithLabelValues(rule.Name))
		m.refused = append(m.refused, refused.WithLabelValues(rule.Name))
		m.wait = append(m.wait, wait.WithLabelValues(rule.Name))
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{waiting, refused, wait, m.items, m.took, m.doubts, m.doubtful, m.assertions} {
		if err := registerer.Register(c); err != nil {
			return nil, errors.Wrap(err, "metrics of engine/turns")
		}
	}
	return m, nil
}
