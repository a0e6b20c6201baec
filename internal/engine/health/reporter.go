package health

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Reporter tells observers, and the log, what changes about an instance of a job: each change once.
//
//	away ──Joined──► member: leads or not, has items, is paused or not ──Left──► away
//
// Tell, TellFinished and Fault are for any goroutine, the other methods for one.
type Reporter struct {
	job       string
	now       func() time.Time
	observers *Observers
	log       *zap.Logger

	instance string // as which it is a member; empty while it is away
	leaving  bool
	session  coord.SessionState
	pause    jobtype.Pause
	leads    bool
	items    []int
}

// NewReporter returns a reporter of a job; now is the clock of the events.
func NewReporter(job string, now func() time.Time, observers *Observers, log *zap.Logger) *Reporter {
	return &Reporter{job: job, now: now, observers: observers, log: log}
}

// Unobserved reports whether there are no observers.
func (r *Reporter) Unobserved() bool { return r.observers.None() }

// Event returns an event of this moment and an instance, to be filled in.
func (r *Reporter) Event(kind jobtype.EventKind, instance string) jobtype.Event {
	return jobtype.Event{Kind: kind, Time: r.now(), JobName: r.job, InstanceID: instance}
}

// Tell tells observers of an event.
func (r *Reporter) Tell(e jobtype.Event) { r.observers.Tell(e) }

// TellFinished is as that of [Observers].
func (r *Reporter) TellFinished(e jobtype.Event, errorText string) {
	r.observers.TellFinished(e, errorText)
}

// Fault tells observers that a fault has begun, or is over.
func (r *Reporter) Fault(instance string, f jobtype.Fault, over bool) {
	e := r.Event(jobtype.EventFault, instance)
	e.Fault, e.Over = f, over
	r.Tell(e)
}

// Instance returns the instance as which the process is a member; empty if it is none.
func (r *Reporter) Instance() string { return r.instance }

// Session tells of a session's state if it is another one than before.
func (r *Reporter) Session(instance string, state coord.SessionState, err error) {
	if r.session == state {
		return
	}
	r.session = state
	e := r.Event(jobtype.EventSession, instance)
	e.Session, e.Err = state, err
	r.Tell(e)
}

// Joined tells that the process is a member now; about is for the log.
func (r *Reporter) Joined(instance string, about ...zap.Field) {
	r.instance = instance
	r.log.Info("joined", append([]zap.Field{zap.String("instance", instance)}, about...)...)
	r.Tell(r.Event(jobtype.EventJoined, instance))
}

// Leaving keeps the log from saying what a member gives up from now on: whoever makes it leave has logged that.
func (r *Reporter) Leaving() { r.leaving = true }

// Left tells that the process is no member any more. What holds for it is over.
func (r *Reporter) Left(err error) {
	if r.instance == "" {
		return
	}
	leaving := r.leaving
	r.leaving = true
	r.Leads(false)
	r.Items(nil)
	e := r.Event(jobtype.EventLeft, r.instance)
	e.Err = err
	r.Tell(e)
	r.instance, r.leaving, r.pause = "", leaving, jobtype.Pause{}
}

// Leads tells whether the member leads, if that has changed.
func (r *Reporter) Leads(leads bool) {
	if r.leads == leads {
		return
	}
	r.leads = leads
	e := r.Event(jobtype.EventLeads, r.instance)
	e.Over = !leads
	r.Tell(e)
	switch {
	case r.leaving:
	case leads:
		r.log.Info("leads", zap.String("instance", r.instance))
	default:
		r.log.Info("leads no more", zap.String("instance", r.instance))
	}
}

// Items tells which items the member has, in ascending order, if that has changed.
func (r *Reporter) Items(items []int) {
	gained, lost := Difference(r.items, items)
	if len(gained)+len(lost) == 0 {
		return
	}
	r.items = items
	e := r.Event(jobtype.EventItems, r.instance)
	e.Gained, e.Lost, e.Items = gained, lost, slices.Clone(items)
	r.Tell(e)
	if !r.leaving {
		r.log.Info("items changed", zap.String("gained", brief.Items(gained)), zap.String("lost", brief.Items(lost)), zap.Int("has", len(items)))
	}
}

// Paused tells that the job is paused, or no longer, if that has changed; the zero Pause says that it is not.
func (r *Reporter) Paused(p jobtype.Pause) {
	before := r.pause
	if before == p {
		return
	}
	r.pause = p
	e := r.Event(jobtype.EventPaused, r.instance)
	if !before.Since.IsZero() {
		e.Pause, e.Over = before, true
		r.Tell(e)
	}
	if !p.Since.IsZero() {
		e.Pause, e.Over = p, false
		r.Tell(e)
	}
	switch {
	case r.leaving, before.Since.IsZero() == p.Since.IsZero():
	case p.Since.IsZero():
		r.log.Info("resumed")
	default:
		r.log.Info("paused: no tick begins until the job is resumed", zap.Time("since", p.Since), zap.String("by", p.By), zap.String("why", p.Why))
	}
}

// Close tells what is left, for a second at most.
func (r *Reporter) Close() { r.observers.Close() }

// Difference compares two ascending lists of items.
func Difference(before, after []int) (gained, lost []int) {
	for _, i := range after {
		if _, had := slices.BinarySearch(before, i); !had {
			gained = append(gained, i)
		}
	}
	for _, i := range before {
		if _, has := slices.BinarySearch(after, i); !has {
			lost = append(lost, i)
		}
	}
	return gained, lost
}
