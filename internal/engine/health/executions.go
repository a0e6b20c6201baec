package health

import (
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// RunEvent returns an event of a run, to be filled in.
func (r *Reporter) RunEvent(kind jobtype.EventKind, run *decide.Run) jobtype.Event {
	e := r.Event(kind, run.Instance)
	e.Execution = jobtype.Execution{
		TaskID: run.TaskID, Item: run.Item, ScheduledTime: run.Tick, Source: jobtype.Source(run.Source),
		Token: run.Token, RequestID: run.Request, OriginalTaskID: run.Original,
	}
	return e
}

// Claimed tells that an item was claimed.
func (r *Reporter) Claimed(run *decide.Run) { r.Tell(r.RunEvent(jobtype.EventClaimed, run)) }

// Released tells that a run has ended before its handler was called.
func (r *Reporter) Released(run *decide.Run) { r.Tell(r.RunEvent(jobtype.EventReleased, run)) }

// Killed tells that an operator has ended a run before its handler was called.
func (r *Reporter) Killed(run *decide.Run) {
	e := r.RunEvent(jobtype.EventFinished, run)
	e.Outcome, e.Err = jobtype.OutcomeKilled, jobtype.ErrKilled
	r.TellFinished(e, jobtype.ErrKilled.Error())
}
