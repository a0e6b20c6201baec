package trace

import (
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Observer tells the recorder what happens. It is a part of [Recorder.Option], for those who
// join it with others: lines of handlers do not come by it.
func (r *Recorder) Observer() jobtype.Observer { return r.observe }

func (r *Recorder) observe(e jobtype.Event) {
	event := eventOf(e)
	switch e.Kind {
	case jobtype.EventFinished:
		if most := max(r.options.MaxOutput, 0); len(e.Output) > 0 {
			event.Output = append([]byte(nil), e.Output[max(0, len(e.Output)-most):]...)
		}
		r.endLog(e.TaskID, e.Time)
		if e.Dropped {
			r.mu.Lock()
			r.stats.OutputsOut++
			r.mu.Unlock()
		}
	case jobtype.EventMissed:
		r.mu.Lock()
		r.stats.Missed += e.Count
		r.mu.Unlock()
		r.endLogs(e.JobName, e.Time)
	}
	r.event(event)
}

// eventOf returns what is kept of an event.
func eventOf(e jobtype.Event) Event {
	kept := Event{
		Time: e.Time, Kind: e.Kind, Job: e.JobName, Instance: e.InstanceID, Execution: e.Execution,
		Attempt: e.Attempt, Outcome: e.Outcome, Waited: e.Waited, Took: e.Took, Backoff: e.Backoff,
		Error: errorText(e.Err), Dropped: e.Dropped, Ticks: e.Count, Items: e.Items, From: e.From,
		By: bounded(e.By), Why: bounded(e.Why), Over: e.Over,
	}
	switch e.Kind {
	case jobtype.EventSession:
		kept.What = e.Session.String()
	case jobtype.EventConfigured:
		kept.What, kept.Detail = fmt.Sprintf("revision %d, version %d", e.Revision, e.Version), bounded(strings.Join(e.Changes, "; "))
	case jobtype.EventPaused:
		kept.By, kept.Why = bounded(e.Pause.By), bounded(e.Pause.Why)
	case jobtype.EventCommanded:
		kept.What, kept.Detail = e.Command.String(), bounded(aboutTarget(e.Target))
	case jobtype.EventSkipped:
		kept.What = e.Reason.String()
	case jobtype.EventRecovered:
		if e.Failover {
			kept.What = "failover"
		}
	case jobtype.EventFault:
		kept.What, kept.Error = e.Fault.Kind.String(), errorText(e.Fault.Err)
	case jobtype.EventMissed:
		kept.Error = "the job's events came faster than the recorder takes them in"
	}
	return kept
}

func aboutTarget(t jobtype.Target) string {
	var about []string
	for _, a := range []struct{ what, name string }{{"server", t.Server}, {"instance", t.Instance}, {"label", t.Label}} {
		if a.name != "" {
			about = append(about, a.what+" "+a.name)
		}
	}
	return strings.Join(about, ", ")
}
