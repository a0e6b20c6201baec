package prom

import (
	"errors"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/job"
)

// read are the metrics that are read when somebody scrapes.
type read struct {
	owned, running, waiting, leader, registered, enabled, paused, expired, differs, next, faultsNow *prometheus.Desc
	jobs, beyond                                                                                    *prometheus.Desc

	groupSize, commitsWaiting, sessionState, sessionLeft, clockAhead *prometheus.Desc

	traceQueued, traceWritten, traceDropped, traceFailing *prometheus.Desc

	alertsWaiting, alertsSent, alertsFailed *prometheus.Desc

	descriptions []*prometheus.Desc
}

func newRead(constant prometheus.Labels) *read {
	r := &read{}
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		d := prometheus.NewDesc(name, help, labels, constant)
		r.descriptions = append(r.descriptions, d)
		return d
	}
	r.owned = desc("elasticjob_items_owned", "Items that are assigned to this process.", labelJob)
	r.running = desc("elasticjob_items_running", "Items that run here, or wait for a thread.", labelJob)
	r.waiting = desc("elasticjob_items_waiting", "Items that should have begun and have not, at most 100: those of this process, and on the leader all.", labelJob)
	r.leader = desc("elasticjob_leader", "Whether this process leads the job.", labelJob)
	r.registered = desc("elasticjob_registered", "Whether this process is an instance of the job, with a session that can be trusted.", labelJob)
	r.enabled = desc("elasticjob_enabled", "Whether this process is an instance of the job, and its server is not disabled.", labelJob)
	r.paused = desc("elasticjob_paused", "Whether the job is paused.", labelJob)
	r.expired = desc("elasticjob_expired", "Whether the job has an end, and no tick to come.", labelJob)
	r.differs = desc("elasticjob_config_differs", "Whether the configuration of the program is another one than the registry's, which is effective.", labelJob)
	r.next = desc("elasticjob_next_tick_timestamp_seconds", "When the next tick is due, as long as this process is an instance; 0 if none is to come, or the job was removed.", labelJob)
	r.faultsNow = desc("elasticjob_faults", "Faults that the job has here now.", labelJob, "kind")
	r.jobs = desc("elasticjob_jobs", "Jobs that this process runs.")
	r.beyond = desc("elasticjob_jobs_beyond_limit", "Jobs without series of their own, because there are too many.")

	r.groupSize = desc("elasticjob_store_commit_group_size", "How many commits went together in one request.")
	r.commitsWaiting = desc("elasticjob_store_commits_waiting", "Commits that wait to be sent.")
	r.sessionState = desc("elasticjob_session_state", "1 for the state that the session is in.", "state")
	r.sessionLeft = desc("elasticjob_session_left_seconds", "How long the session lasts if it is not renewed; 0 if there is none.")
	r.clockAhead = desc("elasticjob_clock_ahead_seconds", "How far the local clock is certainly ahead of the store's; negative if it is behind, and absent as long as nobody knows.")

	r.traceQueued = desc("elasticjob_trace_queued", "Events, and lines of runs, that wait to be kept.", "what")
	r.traceWritten = desc("elasticjob_trace_written_total", "Events, and lines of runs, that were kept.", "what")
	r.traceDropped = desc("elasticjob_trace_dropped_total", "Events, and lines of runs, that were dropped because they could not be kept in time.", "what")
	r.traceFailing = desc("elasticjob_trace_failing_since_timestamp_seconds", "Since when events cannot be kept; 0 if they can.")

	r.alertsWaiting = desc("elasticjob_alerts_waiting", "Failures and recoveries of which error handlers have to tell.")
	r.alertsSent = desc("elasticjob_alerts_sent_total", "Messages that error handlers have sent.")
	r.alertsFailed = desc("elasticjob_alerts_failed_total", "Messages that error handlers have given up.")
	return r
}

func gauge(to chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func counter(to chan<- prometheus.Metric, d *prometheus.Desc, value int, labels ...string) {
	to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
}

// standing is how the jobs stand that share a label; most often one job.
type standing struct {
	jobs                                                                           int
	owned, running, waiting, leader, registered, enabled, paused, expired, differs int

	next    float64
	hasNext bool
	faults  map[string]int // by kind
}

func (s *standing) add(status job.Status) {
	s.jobs++
	s.owned += len(status.Items)
	s.running += len(status.Running)
	s.waiting += len(status.Waiting)
	s.leader += one(status.Leader)
	s.registered += one(status.Registered)
	s.enabled += one(status.Registered && status.Enabled)
	s.paused += one(!status.Paused.Since.IsZero())
	s.expired += one(status.Expired)
	s.differs += one(status.Differs)
	switch {
	case !status.Registered || status.Leaving:
	case status.NextTick.IsZero():
		s.hasNext = true
	default:
		s.hasNext, s.next = true, max(s.next, unix(status.NextTick))
	}
}

func isDone(s *job.Scheduler) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// kindStopped is the kind of fault of a job whose scheduler has stopped by itself.
const kindStopped = "stopped"

// addFault adds what [job.Node.Faults] has.
func (s *standing) addFault(err error) {
	kind := kindStopped
	if fault, ok := errors.AsType[job.Fault](err); ok {
		kind = word(fault.Kind)
	} else if errors.Is(err, job.ErrJobRemoved) || errors.Is(err, job.ErrInstanceRemoved) {
		return // an operator wanted that
	}
	if s.faults == nil {
		s.faults = map[string]int{}
	}
	s.faults[kind]++
}

// standings are how all jobs stand, by label.
type standings map[string]*standing

func (s standings) of(label string) *standing {
	if s[label] == nil {
		s[label] = &standing{}
	}
	return s[label]
}

func (m *Metrics) standings() standings {
	m.mu.Lock()
	nodes := slices.Clone(m.nodes)
	m.mu.Unlock()
	all := standings{}
	for _, n := range nodes {
		for _, s := range n.Jobs() {
			label := m.labelOf(s.Name())
			if !isDone(s) {
				all.of(label).add(s.Status())
			}
		}
		for name, err := range n.Faults() {
			label := unnamed // what concerns no single job
			if name != "" {
				label = m.labelOf(name)
			}
			all.of(label).addFault(err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.members {
		if one.removed {
			all.of(one.label).hasNext = true
		}
	}
	return all
}

func (m *Metrics) collectJobs(to chan<- prometheus.Metric) {
	jobs := 0
	for label, s := range m.standings() {
		jobs += s.jobs
		if s.jobs > 0 { // else it was removed, or has only faults
			gauge(to, m.owned, float64(s.owned), label)
			gauge(to, m.running, float64(s.running), label)
			gauge(to, m.waiting, float64(s.waiting), label)
			gauge(to, m.leader, float64(s.leader), label)
			gauge(to, m.registered, float64(s.registered), label)
			gauge(to, m.enabled, float64(s.enabled), label)
			gauge(to, m.paused, float64(s.paused), label)
			gauge(to, m.expired, float64(s.expired), label)
			gauge(to, m.differs, float64(s.differs), label)
		}
		if s.hasNext && label != unnamed && label != others {
			gauge(to, m.next, s.next, label)
		}
		for kind, n := range s.faults {
			gauge(to, m.faultsNow, float64(n), label, kind)
		}
	}
	gauge(to, m.jobs, float64(jobs))
	gauge(to, m.beyond, float64(m.beyondLimit()))
}

func (m *Metrics) beyondLimit() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.members {
		if one.label == others {
			n++
		}
	}
	return n
}

func (m *Metrics) collectTrace(to chan<- prometheus.Metric) {
	m.mu.Lock()
	r := m.trace
	m.mu.Unlock()
	if r == nil {
		return
	}
	s := r.Stats()
	for _, what := range []struct {
		is                       string
		queued, written, dropped int
	}{
		{"event", s.Queued.Events, s.Written.Events, s.Overflowed.Events + s.Left.Events + s.Missed},
		{"line", s.Queued.Lines, s.Written.Lines, s.Overflowed.Lines + s.Left.Lines},
	} {
		gauge(to, m.traceQueued, float64(what.queued), what.is)
		counter(to, m.traceWritten, what.written, what.is)
		counter(to, m.traceDropped, what.dropped, what.is)
	}
	failing := 0.0
	if !s.FailingSince.IsZero() {
		failing = unix(s.FailingSince)
	}
	gauge(to, m.traceFailing, failing)
}

func (m *Metrics) collectAlerts(to chan<- prometheus.Metric) {
	m.mu.Lock()
	a := m.alerts
	m.mu.Unlock()
	if a == nil {
		return
	}
	gauge(to, m.alertsWaiting, float64(a.Waiting()))
	counter(to, m.alertsSent, a.Sent())
	counter(to, m.alertsFailed, a.Failed())
}
