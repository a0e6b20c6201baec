package prom

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace"
)

// Metrics are those of the jobs of one registry centre in this process. It is a
// [prometheus.Collector]: register it once. Its methods may be called from any goroutine.
type Metrics struct {
	*counted
	*read
	filter  trace.Filter // of the jobs that have series of their own
	maxJobs int

	mu      sync.Mutex
	members map[string]*member // the jobs of this process, and those that it left a short time ago
	named   int                // how many of them have series of their own
	nodes   []*job.Node
	store   *registry // nil until it is given
	trace   Recorder
	alerts  Alerts
}

// New returns metrics that show nothing yet.
func New(o Options) (*Metrics, error) {
	o, filter, err := o.check()
	if err != nil {
		return nil, err
	}
	constant := prometheus.Labels{}
	if o.Namespace != "" {
		constant[labelNamespace] = o.Namespace
	}
	return &Metrics{counted: newCounted(constant), read: newRead(constant), filter: filter, maxJobs: o.MaxJobs, members: map[string]*member{}}, nil
}

// Watch shows the jobs of a node, as they stand when somebody scrapes. Of a Runner, that is
// Runner.Node.
func (m *Metrics) Watch(n *job.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nodes = append(m.nodes, n)
}

// Recorder is what is asked of a [trace.Recorder].
type Recorder interface{ Stats() trace.Stats }

// WatchTrace shows a recorder of events. The metrics show the last one that was given.
func (m *Metrics) WatchTrace(r Recorder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trace = r
}

// Alerts is what is asked of an alert.Counts, of package job/alert.
type Alerts interface {
	Waiting() int
	Sent() int
	Failed() int
}

// WatchAlerts shows the error handlers that send messages: alert.Options.Counts. The metrics show
// the last one that was given.
func (m *Metrics) WatchAlerts(a Alerts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alerts = a
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.collectors {
		c.Describe(to)
	}
	for _, d := range m.descriptions {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	now := time.Now()
	m.collectJobs(to)
	m.collectStore(to, now)
	m.collectTrace(to)
	m.collectAlerts(to)
	m.forget(now)
	for _, c := range m.collectors {
		c.Collect(to)
	}
}
