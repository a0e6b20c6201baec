package jobtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// witness is one observer of the recorder.
type witness struct {
	// at is when an event happened.
	at func(job.Event) time.Time
	// died is when the process has died; zero while it lives. What it still tells did not
	// happen. The recorder's lock guards it.
	died time.Time
}

// Observer returns an observer for [job.WithObserver]. One is enough for several schedulers.
func (r *Recorder) Observer() job.Observer {
	return r.observer(&witness{at: func(e job.Event) time.Time { return e.Time }})
}

func (r *Recorder) observer(by *witness) job.Observer {
	note := func(e job.Event, format string, args ...any) {
		r.update(by, func() {
			r.note(event{at: by.at(e), job: e.JobName, instance: e.InstanceID, text: fmt.Sprintf(format, args...)})
		})
	}
	return job.Observer{
		Joined: func(e job.JoinedEvent) { note(e.Event, "joined") },
		Left: func(e job.LeftEvent) {
			if e.Err != nil {
				note(e.Event, "left: %s", shown(e.Err))
				return
			}
			note(e.Event, "left")
		},
		Session: func(e job.SessionEvent) { note(e.Event, "session %v", e.State) },
		Leads: func(e job.LeadsEvent) {
			if e.Leads {
				note(e.Event, "leads")
				return
			}
			note(e.Event, "leads no more")
		},
		ItemsChanged: func(e job.ItemsChangedEvent) { note(e.Event, "has items %s", items(e.Items)) },
		Paused: func(e job.PausedEvent) {
			if e.Over {
				note(e.Event, "sees that the job is resumed")
				return
			}
			note(e.Event, "sees that the job is paused by %s: %s", e.By, e.Why)
		},
		Commanded: func(e job.CommandedEvent) {
			what := e.Command.String()
			if e.Over {
				what += ", which is over"
			}
			note(e.Event, "is told by an operator: %s, items %s", what, items(e.Items))
		},
		HandedBack: func(e job.HandedBackEvent) { note(e.Event, "hands item %d back", e.Item) },
		Started:    func(e job.StartedEvent) { r.started(by, e) },
		Retried: func(e job.RetriedEvent) {
			note(e.Event, "retries item %d in %v, attempt %d has failed: %s", e.Item, e.Backoff, e.Attempt, shown(e.Err))
		},
		Finished: func(e job.FinishedEvent) { r.update(by, func() { r.finish(by, e) }) },
		MadeUp: func(e job.MadeUpEvent) {
			note(e.Event, "makes up item %d for %d ticks, the last %s", e.Item, e.Ticks, e.ScheduledTime.Format(tickLayout))
		},
		PassedOver: func(e job.PassedOverEvent) {
			note(e.Event, "passes over %d ticks of item %d, the last %s: %s", e.Ticks, e.Item, e.ScheduledTime.Format(tickLayout), e.Reason)
		},
		Recovered: func(e job.RecoveredEvent) {
			note(e.Event, "has found items %s of %s, which has ended", items(e.Items), address(e.From))
		},
		Fault: func(e job.FaultEvent) { r.update(by, func() { r.fault(by, e) }) },
		Missed: func(e job.MissedEvent) {
			r.update(by, func() { r.missed += e.Events })
		},
	}
}

// update changes the record, unless who tells it has died.
func (r *Recorder) update(by *witness, change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if by != nil && !by.died.IsZero() {
		return
	}
	r.count++
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Recorder) note(e event) {
	if len(r.events) >= r.most {
		r.missed++
		return
	}
	e.number = r.count
	r.events = append(r.events, e)
}

// started keeps the begin of an execution. A handler may have let its process die before the
// observer was told of that begin: it has happened.
func (r *Recorder) started(by *witness, e job.StartedEvent) {
	r.update(nil, func() {
		switch {
		case by.died.IsZero():
			r.begin(by, e)
		case !by.at(e.Event).After(by.died):
			r.begin(by, e)
			r.cut(r.running[e.TaskID])
		}
	})
}

// cut ends an execution whose instance has died. It may be nil.
func (r *Recorder) cut(e *execution) {
	if e == nil {
		return
	}
	e.Ended, e.Took, e.Outcome, e.Err = e.by.died, e.by.died.Sub(e.Began), job.OutcomeCut, ErrDied
	delete(r.running, e.TaskID)
}

func (r *Recorder) begin(by *witness, e job.StartedEvent) {
	if len(r.executions) >= r.most {
		r.missed++
		return
	}
	begun := &execution{Execution{Execution: e.Execution, JobName: e.JobName, InstanceID: e.InstanceID, Began: by.at(e.Event)}, by, r.count}
	r.executions = append(r.executions, begun)
	r.running[e.TaskID] = begun
}

func (r *Recorder) finish(by *witness, e job.FinishedEvent) {
	ended := r.running[e.TaskID]
	if ended == nil {
		r.note(event{
			at: by.at(e.Event), job: e.JobName, instance: e.InstanceID,
			text: fmt.Sprintf("item %d, tick %s: %s before it began", e.Item, e.ScheduledTime.Format(tickLayout), e.Outcome),
		})
		return
	}
	delete(r.running, e.TaskID)
	ended.Ended, ended.Outcome, ended.Err = by.at(e.Event), e.Outcome, e.Err
	ended.Attempts, ended.Took = e.Attempts, e.Took
	if e.Dropped || r.output+len(e.Output) > MaxOutput {
		r.missed++
		return
	}
	ended.Output = slices.Clone(e.Output)
	r.output += len(e.Output)
}

func (r *Recorder) fault(by *witness, e job.FaultEvent) {
	key := faultKey{by, e.JobName, address(e.InstanceID), e.Kind}
	known := r.lasting[key]
	switch {
	case e.Over && known != nil:
		known.Over = by.at(e.Event)
		delete(r.lasting, key)
	case e.Over:
	case known != nil: // the same fault, with another cause
		known.Fault.Fault = e.Fault
	case len(r.faults) >= r.most:
		r.missed++
	default:
		began := &fault{Fault{Fault: e.Fault, JobName: e.JobName, InstanceID: e.InstanceID, Began: by.at(e.Event)}, by, r.count}
		r.faults = append(r.faults, began)
		r.lasting[key] = began
	}
}

// bury ends all that a witness has told of: its process dies at this moment.
func (r *Recorder) bury(by *witness, who string) {
	now := time.Now()
	r.update(by, func() {
		by.died = now
		for _, e := range r.running {
			if e.by == by {
				r.cut(e)
			}
		}
		for key, f := range r.lasting {
			if f.by == by {
				f.Over = now
				delete(r.lasting, key)
			}
		}
		r.note(event{at: now, instance: who, text: "dies"})
	})
}

// tell notes what a test does.
func (r *Recorder) tell(who, text string) {
	r.update(nil, func() { r.note(event{at: time.Now(), instance: who, text: text}) })
}
