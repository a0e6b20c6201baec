package prom

import (
	"iter"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// The labels.
const (
	labelJob       = "job_name" // "job" is what Prometheus calls a group of targets
	labelNamespace = "job_namespace"
)

// counted are the metrics that are counted as things happen. Those that are read when somebody
// scrapes stand in read.
type counted struct {
	due, madeUp, skipped, started, finished, retries, released, recovered, leads, faults *prometheus.CounterVec
	duration, lateness, failoverLateness                                                 *prometheus.HistogramVec
	success, jitter                                                                      *prometheus.GaugeVec
	missed                                                                               prometheus.Counter

	requests, conflicts *prometheus.CounterVec
	requestTime         *prometheus.HistogramVec
	lag                 prometheus.Histogram
	sessions            prometheus.Counter

	collectors []prometheus.Collector
}

func newCounted(constant prometheus.Labels) *counted {
	// The buckets, in seconds. An alert asks for 10 s of lateness.
	lateness := []float64{0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 3600}
	duration := []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 7200}
	request := []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5}

	c := &counted{}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: constant}, labels)
		c.collectors = append(c.collectors, v)
		return v
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets, ConstLabels: constant}, labels)
		c.collectors = append(c.collectors, v)
		return v
	}
	c.due = counter("elasticjob_ticks_due_total", "Ticks that came due while this process was an instance of the job; each instance counts them all.", labelJob)
	c.madeUp = counter("elasticjob_ticks_made_up_total", "Missed ticks that executions here made up for, at most 1,000 each.", labelJob)
	c.skipped = counter("elasticjob_ticks_skipped_total", "Ticks of an item that nobody runs, at most 1,000 at a time.", labelJob, "reason")
	c.started = counter("elasticjob_executions_started_total", "Executions that began here.", labelJob, "source")
	c.finished = counter("elasticjob_executions_finished_total", "Executions that ended here, with all their attempts.", labelJob, "outcome")
	c.duration = histogram("elasticjob_execution_duration_seconds", "How long executions took, with the pauses between attempts.", duration, labelJob)
	c.lateness = histogram("elasticjob_start_lateness_seconds", "From the tick to the call of the handler, beyond the jitter of the job, by the local clock; of a make-up from the last tick that was missed.", lateness, labelJob)
	c.failoverLateness = histogram("elasticjob_failover_lateness_seconds", "From the tick of an execution that was cut short to the call of the handler that runs it again, by the local clock.", lateness, labelJob)
	c.retries = counter("elasticjob_retries_total", "Attempts that failed and were followed by another one.", labelJob)
	c.released = counter("elasticjob_claims_released_total", "Items that were claimed here and given up before they began.", labelJob)
	c.recovered = counter("elasticjob_items_recovered_total", "Items whose executions were cut short by the end of their instance, as found here as leader.", labelJob)
	c.leads = counter("elasticjob_leader_changes_total", "How often this process became the leader of the job.", labelJob)
	c.faults = counter("elasticjob_faults_begun_total", "Faults that began here.", labelJob, "kind")
	c.missed = prometheus.NewCounter(prometheus.CounterOpts{Name: "elasticjob_events_missed_total", Help: "Events that these metrics do not count, because too many came at once.", ConstLabels: constant})
	c.success = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "elasticjob_last_success_timestamp_seconds", Help: "When an execution succeeded here last; 0 if none has.", ConstLabels: constant}, []string{labelJob})
	c.jitter = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "elasticjob_jitter_seconds", Help: "How long after its tick an item may begin, as of the last tick; 0 before that.", ConstLabels: constant}, []string{labelJob})

	c.requests = counter("elasticjob_store_requests_total", "Calls to the registry centre.", "operation", "result")
	c.conflicts = counter("elasticjob_store_conflicts_total", "Commits of which a condition did not hold; nothing was written.", "reason")
	c.requestTime = histogram("elasticjob_store_request_duration_seconds", "How long calls to the registry centre took.", request, "operation")
	c.lag = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "elasticjob_view_lag_seconds", Help: "From the answer to a commit until a scheduler here takes a snapshot with it; one commit a second at most.", Buckets: request, ConstLabels: constant})
	c.sessions = prometheus.NewCounter(prometheus.CounterOpts{Name: "elasticjob_sessions_total", Help: "Sessions that this process has had with the registry centre.", ConstLabels: constant})
	c.collectors = append(c.collectors, c.missed, c.success, c.jitter, c.lag, c.sessions)
	return c
}

// begin makes the series of a job, as 0: Prometheus does not see the increase of a counter that
// appears as 1. Only faults and failovers, which are rare, come when they happen.
func (c *counted) begin(label string) {
	for v, values := range c.series(label) {
		if v != c.faults.MetricVec && v != c.failoverLateness.MetricVec {
			_, _ = v.GetMetricWithLabelValues(values...) // the labels are as many as they should be
		}
	}
}

// end removes the series of a job.
func (c *counted) end(label string) {
	for v, values := range c.series(label) {
		v.DeleteLabelValues(values...)
	}
}

// series goes over the series that a job may have.
func (c *counted) series(label string) iter.Seq2[*prometheus.MetricVec, []string] {
	return func(yield func(*prometheus.MetricVec, []string) bool) {
		for _, v := range []*prometheus.MetricVec{
			c.due.MetricVec, c.madeUp.MetricVec, c.retries.MetricVec, c.released.MetricVec, c.recovered.MetricVec, c.leads.MetricVec,
			c.duration.MetricVec, c.lateness.MetricVec, c.failoverLateness.MetricVec, c.success.MetricVec, c.jitter.MetricVec,
		} {
			if !yield(v, []string{label}) {
				return
			}
		}
		for source := job.SourceNormal; source <= job.SourceBackfill; source++ {
			if !yield(c.started.MetricVec, []string{label, word(source)}) {
				return
			}
		}
		for outcome := job.OutcomeOK; outcome <= job.OutcomeKilled; outcome++ {
			if !yield(c.finished.MetricVec, []string{label, word(outcome)}) {
				return
			}
		}
		for reason := jobtype.SkipItemDisabled; reason <= jobtype.SkipBegunElse; reason++ {
			if !yield(c.skipped.MetricVec, []string{label, word(reason)}) {
				return
			}
		}
		for kind := jobtype.FaultConfig; kind <= jobtype.FaultCalendar; kind++ {
			if !yield(c.faults.MetricVec, []string{label, word(kind)}) {
				return
			}
		}
	}
}

// word is what a label has for a value: "too late" is too_late.
func word(value interface{ String() string }) string {
	return strings.ReplaceAll(strings.ToLower(value.String()), " ", "_")
}
