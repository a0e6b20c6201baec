package prom

import (
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// Option makes a job, or all jobs of a node, tell these metrics what happens. A job that gets it twice,
// from its node, too, is counted once.
func (m *Metrics) Option() job.Option { return job.OptionsOnce(m, job.WithObserver(m.Observer())) }

// Observer counts what schedulers do. It is told beside their path, and delays no run.
func (m *Metrics) Observer() job.Observer {
	return job.Observer{
		Joined: func(e job.JoinedEvent) { m.moved(e.Event, true, nil) },
		Left:   func(e job.LeftEvent) { m.moved(e.Event, false, e.Err) },
		Leads: func(e job.LeadsEvent) {
			if label := m.label(e.Event); e.Leads {
				m.leads.WithLabelValues(label).Inc()
			}
		},
		Due: func(e job.DueEvent) {
			label := m.label(e.Event)
			m.due.WithLabelValues(label).Add(float64(e.Ticks))
			m.jitter.WithLabelValues(label).Set(e.Jitter.Seconds())
		},
		HandedBack: func(e job.HandedBackEvent) { m.handedBack.WithLabelValues(m.label(e.Event)).Inc() },
		Started:    m.beginRun,
		Retried:    func(e job.RetriedEvent) { m.retries.WithLabelValues(m.label(e.Event)).Inc() },
		Finished:   m.endRun,
		MadeUp:     func(e job.MadeUpEvent) { m.madeUp.WithLabelValues(m.label(e.Event)).Add(float64(e.Ticks)) },
		PassedOver: func(e job.PassedOverEvent) {
			m.passedOver.WithLabelValues(m.label(e.Event), word(e.Reason)).Add(float64(e.Ticks))
		},
		Recovered: func(e job.RecoveredEvent) {
			m.recovered.WithLabelValues(m.label(e.Event)).Add(float64(len(e.Items)))
		},
		Fault: func(e job.FaultEvent) {
			if label := m.label(e.Event); !e.Over {
				m.faults.WithLabelValues(label, word(e.Kind)).Inc()
			}
		},
		Missed: func(e job.MissedEvent) {
			m.missed.Add(float64(e.Events))
			m.moved(e.Event, false, nil) // Left may have been among them
		},
	}
}

func (m *Metrics) beginRun(e job.StartedEvent) {
	label := m.label(e.Event)
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

func (m *Metrics) endRun(e job.FinishedEvent) {
	label := m.label(e.Event)
	m.finished.WithLabelValues(label, word(e.Outcome)).Inc()
	m.duration.WithLabelValues(label).Observe(e.Took.Seconds())
	if e.Outcome == job.OutcomeOK {
		m.success.WithLabelValues(label).Set(unix(e.Time))
	}
}

// unix returns a time as seconds, as Prometheus has them.
func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
