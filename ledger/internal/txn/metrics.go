package txn

import (
	"github.com/cockroachdb/errors"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are this room's own. Labels are names of transactions and closed reasons, never an id.
type metrics struct {
	outcomes   *prometheus.CounterVec
	reruns     *prometheus.CounterVec
	statements *prometheus.HistogramVec
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "connector_txn_outcomes_total", Help: "Protocol transactions by how they ended."},
			[]string{"transaction", "outcome"}),
		reruns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "connector_txn_retries_total", Help: "Reruns of a transaction's closure by reason."},
			[]string{"reason"}),
		statements: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "connector_txn_statements", Help: "Statements of a transaction's last attempt.",
			Buckets: []float64{4, 8, 12, 16, 24, 32, 48, 64}},
			[]string{"transaction"}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.outcomes, m.reruns, m.statements} {
		if err := registerer.Register(c); err != nil {
			return nil, errors.Wrap(err, "metrics of ledger/internal/txn")
		}
	}
	return m, nil
}

func (db *DB) report(r Report) {
	db.metrics.outcomes.WithLabelValues(r.Transaction, string(r.Outcome)).Inc()
	db.metrics.statements.WithLabelValues(r.Transaction).Observe(float64(r.Statements))
	if db.options.Observe != nil {
		db.options.Observe(r)
	}
}
