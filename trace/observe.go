package trace

import (
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/job"
)

// Observer tells the recorder what happens. It is a part of [Recorder.Option], for those who
// join it with others: lines of handlers do not come by it.
func (r *Recorder) Observer() job.Observer {
	return job.Observer{
		Joined: func(e job.JoinedEvent) { r.event(eventOf(KindJoined, e.Event)) },
		Left: func(e job.LeftEvent) {
			event := eventOf(KindLeft, e.Event)
			event.Error = errorText(e.Err)
			r.event(event)
		},
		Session: func(e job.SessionEvent) {
			event := eventOf(KindSession, e.Event)
			event.What, event.Error = e.State.String(), errorText(e.Err)
			r.event(event)
		},
		Leads: func(e job.LeadsEvent) {
			event := eventOf(KindLeads, e.Event)
			event.Over = !e.Leads
			r.event(event)
		},
		ItemsChanged: func(e job.ItemsChangedEvent) {
			event := eventOf(KindItems, e.Event)
			event.Items = e.Items
			r.event(event)
		},
		Configured: func(e job.ConfiguredEvent) {
			event := eventOf(KindConfigured, e.Event)
			event.What, event.Detail = fmt.Sprintf("revision %d, version %d", e.Revision, e.Version), bounded(strings.Join(e.Changes, "; "))
			r.event(event)
		},
		Paused: func(e job.PausedEvent) {
			event := eventOf(KindPaused, e.Event)
			event.By, event.Why, event.Over = bounded(e.By), bounded(e.Why), e.Over
			r.event(event)
		},
		Commanded: func(e job.CommandedEvent) { r.event(commandEvent(e)) },
		Due: func(e job.DueEvent) {
			event := executionEvent(KindDue, e.Event, job.Execution{ScheduledTime: e.ScheduledTime})
			event.Ticks = e.Ticks
			r.event(event)
		},
		Claimed:    func(e job.ClaimedEvent) { r.event(executionEvent(KindClaimed, e.Event, e.Execution)) },
		HandedBack: func(e job.HandedBackEvent) { r.event(executionEvent(KindHandedBack, e.Event, e.Execution)) },
		Started: func(e job.StartedEvent) {
			event := executionEvent(KindStarted, e.Event, e.Execution)
			event.Waited = e.Waited
			r.event(event)
		},
		Retried: func(e job.RetriedEvent) {
			event := executionEvent(KindRetried, e.Event, e.Execution)
			event.Attempt, event.Backoff, event.Error = e.Attempt, e.Backoff, errorText(e.Err)
			r.event(event)
		},
		Finished: r.finished,
		MadeUp: func(e job.MadeUpEvent) {
			event := executionEvent(KindMadeUp, e.Event, job.Execution{Item: e.Item, ScheduledTime: e.ScheduledTime})
			event.Ticks = e.Ticks
			r.event(event)
		},
		PassedOver: func(e job.PassedOverEvent) {
			event := executionEvent(KindPassedOver, e.Event, job.Execution{Item: e.Item, ScheduledTime: e.ScheduledTime})
			event.Ticks, event.What = e.Ticks, e.Reason.String()
			r.event(event)
		},
		Recovered: func(e job.RecoveredEvent) {
			event := eventOf(KindRecovered, e.Event)
			event.From, event.Items = e.From, e.Items
			if e.Failover {
				event.What = "failover"
			}
			r.event(event)
		},
		Fault: func(e job.FaultEvent) {
			event := eventOf(KindFault, e.Event)
			event.What, event.Error, event.Over = e.Kind.String(), errorText(e.Err), e.Over
			r.event(event)
		},
		Missed: func(e job.MissedEvent) {
			event := eventOf(KindMissed, e.Event)
			event.Ticks, event.Error = e.Events, "the job's events came faster than the recorder takes them in"
			r.mu.Lock()
			r.stats.Missed += e.Events
			r.mu.Unlock()
			r.endLogs(e.JobName, e.Time)
			r.event(event)
		},
	}
}

// finished records the end of an execution.
func (r *Recorder) finished(e job.FinishedEvent) {
	event := executionEvent(KindFinished, e.Event, e.Execution)
	event.Attempt, event.Outcome, event.Took, event.Error, event.Dropped = e.Attempts, e.Outcome, e.Took, errorText(e.Err), e.Dropped
	if most := max(r.options.MaxOutput, 0); len(e.Output) > 0 {
		event.Output = append([]byte(nil), e.Output[max(0, len(e.Output)-most):]...)
	}
	r.endLog(e.TaskID, e.Time)
	if e.Dropped {
		r.mu.Lock()
		r.stats.OutputsOut++
		r.mu.Unlock()
	}
	r.event(event)
}

func commandEvent(e job.CommandedEvent) Event {
	event := executionEvent(KindCommanded, e.Event, job.Execution{RequestID: e.RequestID, Token: e.Token})
	event.What, event.Items, event.By, event.Why, event.Over = e.Command.String(), e.Items, bounded(e.By), bounded(e.Why), e.Over
	var about []string
	for _, a := range []struct{ what, name string }{{"server", e.Server}, {"instance", e.Instance}, {"label", e.Label}} {
		if a.name != "" {
			about = append(about, a.what+" "+a.name)
		}
	}
	event.Detail = bounded(strings.Join(about, ", "))
	return event
}

func eventOf(kind Kind, e job.Event) Event {
	return Event{Time: e.Time, Kind: kind, Job: e.JobName, Instance: e.InstanceID}
}

func executionEvent(kind Kind, e job.Event, x job.Execution) Event {
	event := eventOf(kind, e)
	event.Execution = x
	return event
}
