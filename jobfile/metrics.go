package jobfile

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// meter counts what happens to executions, for metrics of type EXPVAR.
type meter struct {
	mu     sync.Mutex
	counts map[string]*counts // by job
}

const (
	// maxCounted is how many jobs have counters of their own: with node.serve, others may put in
	// more and more.
	maxCounted = 10_000
	// otherJobs has the counters of the rest. No job can have this name.
	otherJobs = "~other"
)

// counts are those of a job, since the process has started.
type counts struct {
	Started   int64            `json:"started"`
	Finished  map[string]int64 `json:"finished"` // by outcome, in small letters
	Seconds   float64          `json:"seconds"`  // that finished executions took
	Retried   int64            `json:"retried"`
	MadeUp    int64            `json:"madeUp"`    // ticks
	Skipped   int64            `json:"skipped"`   // ticks
	Recovered int64            `json:"recovered"` // items of instances that have ended
	Faults    map[string]int64 `json:"faults"`    // that have begun, by kind
	Missed    int64            `json:"missed"`    // events that are not counted
	LastTime  time.Time        `json:"lastFinished,omitzero"`
}

func newMeter() *meter { return &meter{counts: map[string]*counts{}} }

// observer counts for all jobs that it is told of.
func (m *meter) observer() job.Observer {
	count := func(e job.Event, do func(*counts)) {
		m.mu.Lock()
		defer m.mu.Unlock()
		do(m.of(e.JobName))
	}
	return func(e job.Event) {
		switch e.Kind {
		case jobtype.EventStarted:
			count(e, func(c *counts) { c.Started++ })
		case jobtype.EventRetried:
			count(e, func(c *counts) { c.Retried++ })
		case jobtype.EventFinished:
			count(e, func(c *counts) {
				c.Finished[strings.ToLower(e.Outcome.String())]++
				c.Seconds += e.Took.Seconds()
				c.LastTime = e.Time
			})
		case jobtype.EventMadeUp:
			count(e, func(c *counts) { c.MadeUp += int64(e.Count) })
		case jobtype.EventSkipped:
			count(e, func(c *counts) { c.Skipped += int64(e.Count) })
		case jobtype.EventRecovered:
			count(e, func(c *counts) { c.Recovered += int64(len(e.Items)) })
		case jobtype.EventFault:
			if !e.Over {
				count(e, func(c *counts) { c.Faults[e.Fault.Kind.String()]++ })
			}
		case jobtype.EventMissed:
			count(e, func(c *counts) { c.Missed += int64(e.Count) })
		}
	}
}

// of returns the counters of a job. The caller has the lock.
func (m *meter) of(name string) *counts {
	if m.counts[name] == nil && len(m.counts) >= maxCounted {
		name = otherJobs
	}
	c := m.counts[name]
	if c == nil {
		c = &counts{Finished: map[string]int64{}, Faults: map[string]int64{}}
		m.counts[name] = c
	}
	return c
}

// serve shows the counters as package expvar would, but only ours.
func (m *meter) serve(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	text, err := json.Marshal(m.counts)
	m.mu.Unlock() // a slow reader delays nobody
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, map[string]json.RawMessage{"elasticjob": text})
}
