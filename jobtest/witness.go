package jobtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
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
	return r.observer(ownTime())
}

// ownTime returns a witness whose events happened when it says.
func ownTime() *witness { return &witness{at: func(e job.Event) time.Time { return e.Time }} }

func (r *Recorder) observer(by *witness) job.Observer {
	note := func(e job.Event, format string, args ...any) {
		r.update(by, func() {
			r.note(event{at: by.at(e), job: e.JobName, instance: e.InstanceID, text: fmt.Sprintf(format, args...)})
		})
	}
	return func(e job.Event) {
		switch e.Kind {
		case jobtype.EventJoined:
			note(e, "joined")
		case jobtype.EventLeft:
			if e.Err != nil {
				note(e, "left: %s", shown(e.Err))
				return
			}
			note(e, "left")
		case jobtype.EventSession:
			note(e, "session %v", e.Session)
		case jobtype.EventLeads:
			if !e.Over {
				note(e, "leads")
				return
			}
			note(e, "leads no more")
		case jobtype.EventItems:
			note(e, "has items %s", items(e.Items))
		case jobtype.EventConfigured:
			if len(e.Changes) > 0 { // otherwise it has just started
				note(e, "goes by another configuration: %s", brief.Text(strings.Join(e.Changes, "; ")))
			}
		case jobtype.EventPaused:
			if e.Over {
				note(e, "sees that the job is resumed")
				return
			}
			note(e, "sees that the job is paused by %s: %s", e.Pause.By, e.Pause.Why)
		case jobtype.EventCommanded:
			what := e.Command.String()
			if e.Over {
				what += ", which is over"
			}
			note(e, "is told by an operator: %s, items %s", what, items(e.Items))
		case jobtype.EventReleased:
			note(e, "releases item %d", e.Item)
		case jobtype.EventStarted:
			r.started(by, e)
		case jobtype.EventRetried:
			note(e, "retries item %d in %v, attempt %d has failed: %s", e.Item, e.Backoff, e.Attempt, shown(e.Err))
		case jobtype.EventFinished:
			r.update(by, func() { r.finish(by, e) })
		case jobtype.EventMadeUp:
			note(e, "makes up item %d for %d ticks, the last %s", e.Item, e.Count, e.ScheduledTime.Format(tickLayout))
		case jobtype.EventSkipped:
			note(e, "skips %d ticks of item %d, the last %s: %s", e.Count, e.Item, e.ScheduledTime.Format(tickLayout), e.Reason)
		case jobtype.EventRecovered:
			note(e, "has found items %s of %s, which has ended", items(e.Items), address(e.From))
		case jobtype.EventFault:
			r.update(by, func() { r.fault(by, e) })
		case jobtype.EventMissed:
			r.update(by, func() { r.missed += e.Count })
		}
	}
}

// scope returns a scope that notes handlers which return nil although their contexts have ended: the outcome does
// not tell that they may have left something undone.
func (r *Recorder) scope(by *witness) job.Scope {
	return func(ctx context.Context, _ job.Event) (context.Context, func(job.Event)) {
		return ctx, func(e job.Event) {
			if e.Kind != jobtype.EventFinished || e.Outcome != job.OutcomeOK || ctx.Err() == nil {
				return
			}
			r.update(by, func() {
				r.note(event{
					at: by.at(e), job: e.JobName, instance: e.InstanceID,
					text: fmt.Sprintf("item %d, tick %s, token %d: OK, after its context had ended: %s", e.Item, e.ScheduledTime.Format(tickLayout), e.Token, shown(context.Cause(ctx))),
				})
			})
		}
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
func (r *Recorder) started(by *witness, e job.Event) {
	r.update(nil, func() {
		switch {
		case by.died.IsZero():
			r.begin(by, e)
		case !by.at(e).After(by.died):
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

func (r *Recorder) begin(by *witness, e job.Event) {
	if len(r.executions) >= r.most {
		r.missed++
		return
	}
	begun := &execution{Execution{Execution: e.Execution, JobName: e.JobName, InstanceID: e.InstanceID, Began: by.at(e)}, by, r.count}
	r.executions = append(r.executions, begun)
	r.running[e.TaskID] = begun
}

func (r *Recorder) finish(by *witness, e job.Event) {
	ended := r.running[e.TaskID]
	if ended == nil {
		r.note(event{
			at: by.at(e), job: e.JobName, instance: e.InstanceID,
			text: fmt.Sprintf("item %d, tick %s: %s before it began", e.Item, e.ScheduledTime.Format(tickLayout), e.Outcome),
		})
		return
	}
	delete(r.running, e.TaskID)
	ended.Ended, ended.Outcome, ended.Err = by.at(e), e.Outcome, e.Err
	ended.Attempts, ended.Took = e.Attempt, e.Took
	if e.Dropped || r.output+len(e.Output) > MaxOutput {
		r.missed++
		return
	}
	ended.Output = slices.Clone(e.Output)
	r.output += len(e.Output)
}

func (r *Recorder) fault(by *witness, e job.Event) {
	key := faultKey{by, e.JobName, address(e.InstanceID), e.Fault.Kind}
	known := r.lasting[key]
	switch {
	case e.Over && known != nil:
		known.Over = by.at(e)
		delete(r.lasting, key)
	case e.Over:
	case known != nil: // the same fault, with another cause
		known.Fault.Fault = e.Fault
	case len(r.faults) >= r.most:
		r.missed++
	default:
		began := &fault{Fault{Fault: e.Fault, JobName: e.JobName, InstanceID: e.InstanceID, Began: by.at(e)}, by, r.count}
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
