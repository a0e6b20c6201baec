package guard

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Metrics count requests for Prometheus.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec   // route, method, status
	duration *prometheus.HistogramVec // route, method
	inFlight prometheus.Gauge
	streams  prometheus.Gauge
}

// NewMetrics returns metrics of a console, with those that others collect.
//
// Errors: two collectors have metrics of one name.
func NewMetrics(others ...prometheus.Collector) (*Metrics, error) {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "elasticjob_console_requests_total", Help: "Requests that were answered, streams that have ended.",
		}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "elasticjob_console_request_duration_seconds", Help: "Time to answer a request, without streams.",
			Buckets: []float64{.001, .005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route", "method"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "elasticjob_console_requests_in_flight", Help: "Requests that are being answered, without streams.",
		}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "elasticjob_console_streams", Help: "Streams that are open.",
		}),
	}
	for _, c := range append(others, m.requests, m.duration, m.inFlight, m.streams) {
		if err := m.registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Handler shows the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// begin counts a request that begins.
func (m *Metrics) begin(asked *route.Route) { m.open(asked).Inc() }

// end counts one that has ended.
func (m *Metrics) end(asked *route.Route, status int, took time.Duration) {
	m.open(asked).Dec()
	m.requests.WithLabelValues(asked.Pattern, asked.Method, strconv.Itoa(status/100)+"xx").Inc()
	if !asked.Stream {
		m.duration.WithLabelValues(asked.Pattern, asked.Method).Observe(took.Seconds())
	}
}

func (m *Metrics) open(asked *route.Route) prometheus.Gauge {
	if asked.Stream {
		return m.streams
	}
	return m.inFlight
}
