package console

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/console/internal/live"
)

// streams are the metrics of who listens to what.
type streams struct{ live *live.Live }

var (
	listeners = prometheus.NewDesc("elasticjob_console_listeners", "Streams that there are.", nil, nil)
	watches   = prometheus.NewDesc("elasticjob_console_watches", "Namespaces and jobs that are watched for them.", nil, nil)
	cut       = prometheus.NewDesc("elasticjob_console_listeners_cut_total", "Streams that were cut off because nothing was taken for too long.", nil, nil)
	refused   = prometheus.NewDesc("elasticjob_console_listeners_refused_total", "Streams for which there was no room.", nil, nil)
)

// Describe is for prometheus.Collector.
func (streams) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{listeners, watches, cut, refused} {
		descriptions <- d
	}
}

// Collect is for prometheus.Collector.
func (s streams) Collect(metrics chan<- prometheus.Metric) {
	now := s.live.Stats()
	metrics <- prometheus.MustNewConstMetric(listeners, prometheus.GaugeValue, float64(now.Listeners))
	metrics <- prometheus.MustNewConstMetric(watches, prometheus.GaugeValue, float64(now.Watches))
	metrics <- prometheus.MustNewConstMetric(cut, prometheus.CounterValue, float64(now.Cut))
	metrics <- prometheus.MustNewConstMetric(refused, prometheus.CounterValue, float64(now.Refused))
}
