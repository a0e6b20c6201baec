package prom

import (
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Option makes a job, or all jobs of a node, tell these metrics what happens. A job that gets it twice,
// from its node, too, is counted once.
func (m *Metrics) Option() job.Option { return job.Options(m, job.WithObserver(m.Observer())) }

// Observer counts what schedulers do. It is told beside their path, and delays no run.
func (m *Metrics) Observer() job.Observer {
	return func(e job.Event) {
		switch e.Kind {
		case jobtype.EventJoined:
			m.moved(e, true, nil)
		case jobtype.EventLeft:
			m.moved(e, false, e.Err)
		case jobtype.EventLeads:
			if label := m.label(e); !e.Over {
				m.leads.WithLabelValues(label).Inc()
			}
		case jobtype.EventDue:
			label := m.label(e)
			m.due.WithLabelValues(label).Add(float64(e.Count))
			m.jitter.WithLabelValues(label).Set(e.Jitter.Seconds())
		case jobtype.EventReleased:
			m.released.WithLabelValues(m.label(e)).Inc()
		case jobtype.EventStarted:
			m.beginRun(e)
		case jobtype.EventRetried:
			m.retries.WithLabelValues(m.label(e)).Inc()
		case jobtype.EventFinished:
			m.endRun(e)
		case jobtype.EventMadeUp:
			m.madeUp.WithLabelValues(m.label(e)).Add(float64(e.Count))
		case jobtype.EventSkipped:
			m.skipped.WithLabelValues(m.label(e), word(e.Reason)).Add(float64(e.Count))
		case jobtype.EventRecovered:
			m.recovered.WithLabelValues(m.label(e)).Add(float64(len(e.Items)))
		case jobtype.EventFault:
			if label := m.label(e); !e.Over {
				m.faults.WithLabelValues(label, word(e.Fault.Kind)).Inc()
			}
		case jobtype.EventMissed:
			m.missed.Add(float64(e.Count))
			m.moved(e, false, nil) // Left may have been among them
		}
	}
}

func (m *Metrics) beginRun(e job.Event) {
	label := m.label(e)
	m.started.WithLabelValues(label, word(e.Source)).Inc()
	switch e.Source {
	case job.SourceNormal, job.SourceMisfire:
		m.lateness.WithLabelValues(label).Observe(e.Late.Seconds())
	case job.SourceFailover:
		if e.ScheduledTime.IsZero() {
			return // somebody has asked for it, and nobody has kept when
		}
		m.failoverLateness.WithLabelValues(label).Observe(e.Late.Seconds())
	}
}

func (m *Metrics) endRun(e job.Event) {
	label := m.label(e)
	m.finished.WithLabelValues(label, word(e.Outcome)).Inc()
	m.duration.WithLabelValues(label).Observe(e.Took.Seconds())
	if e.Outcome == job.OutcomeOK {
		m.success.WithLabelValues(label).Set(unix(e.Time))
	}
}

// unix returns a time as seconds, as Prometheus has them.
func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
