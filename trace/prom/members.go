package prom

import (
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// member is a job of this process.
type member struct {
	label   string
	joined  bool      // this process is an instance, as far as was told
	removed bool      // somebody has removed the job
	touched time.Time // when it was seen last while it was not joined: by an event, or by a scrape in a node
}

// keepFor is how long the series of a job stay when this process is no instance of it any more.
// Its session may come back, and Prometheus has to see that a job was removed.
const keepFor = time.Hour

// label returns the label of the job of an event.
func (m *Metrics) label(e job.Event) string { return m.labelOf(e.JobName) }

// labelOf returns the label of a job.
func (m *Metrics) labelOf(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memberLocked(name).label
}

// moved notes that this process has become an instance of a job, or is none any more.
func (m *Metrics) moved(e job.Event, joined bool, why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.memberLocked(e.JobName)
	one.joined, one.removed, one.touched = joined, errors.Is(why, job.ErrJobRemoved), time.Now()
}

func (m *Metrics) memberLocked(name string) *member {
	one := m.members[name]
	if one == nil {
		one = &member{label: m.labelFor(name)}
		m.members[name] = one
		m.begin(one.label)
	}
	if !one.joined {
		one.touched = time.Now()
	}
	return one
}

// labelFor returns the label of a job that was not known before.
func (m *Metrics) labelFor(name string) string {
	switch {
	case m.maxJobs < 0 || !m.filter.Has(name):
		return unnamed
	case m.named == m.maxJobs:
		return others
	}
	m.named++
	return name
}

// forget forgets the jobs that this process left long ago, with their series.
func (m *Metrics) forget(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, one := range m.members {
		if one.joined || now.Sub(one.touched) < keepFor {
			continue
		}
		delete(m.members, name)
		if one.label == name {
			m.end(name)
			m.named--
		}
	}
}
