package health

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// ReporterConfig is what a reporter is made with.
type ReporterConfig struct {
	Job       jobtree.Job
	Now       func() time.Time // the clock of the events
	Observers *Observers
	Log       *zap.Logger
	WakeIn    func(time.Duration)                         // has the job make a pass after that time
	Changes   func(before, after jobtype.Config) []string // says in words what changes
}

// Reporter tells observers, and the log, what changes about an instance of a job, and what happens to ticks and
// executions: each change once.
//
//	away ──Joined──► member: leads or not, has items, is paused or not ──Left──► away
//
// Event, Tell, TellFinished and Fault are for any goroutine, the other methods for that of the job's loop.
type Reporter struct {
	config ReporterConfig
	log    *zap.Logger

	instance string // as which it is a member; empty while it is away
	leaving  bool
	session  coord.SessionState
	pause    jobtype.Pause
	leads    bool
	items    []int

	// What observers know of the job. It stays when this process becomes another instance, so that nothing is told again.
	tick     time.Time       // the last one that was due; before the first, when this process has joined
	accepted *jobtype.Config // that they have been told of; nil if it is none
	version  int64           // of accepted
	commands commands

	unconfirmed []unconfirmedSkip
	failovers   failovers
	madeUp      RateLimit // ticks that were made up
	restored    RateLimit // records of runs that were restored
	untold      RateLimit // ends of runs that the tree cannot be told
	lost        RateLimit // triggers that nobody will take
}

// NewReporter returns a reporter of a job.
func NewReporter(c ReporterConfig) *Reporter { return &Reporter{config: c, log: c.Log} }

// Unobserved reports whether there are no observers.
func (r *Reporter) Unobserved() bool { return r.config.Observers.None() }

// Event returns an event of this moment and an instance, to be filled in.
func (r *Reporter) Event(kind jobtype.EventKind, instance string) jobtype.Event {
	return jobtype.Event{Kind: kind, Time: r.config.Now(), JobName: string(r.config.Job), InstanceID: instance}
}

// Tell tells observers of an event.
func (r *Reporter) Tell(e jobtype.Event) { r.config.Observers.Tell(e) }

// TellFinished is as that of [Observers].
func (r *Reporter) TellFinished(e jobtype.Event, errorText string) {
	r.config.Observers.TellFinished(e, errorText)
}

// Fault tells observers that a fault has begun, or is over.
func (r *Reporter) Fault(instance string, f jobtype.Fault, over bool) {
	e := r.Event(jobtype.EventFault, instance)
	e.Fault, e.Over = f, over
	r.Tell(e)
}

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

// Member is what a pass knows of an instance.
type Member struct {
	World   *decide.World
	Config  *jobtype.Config // whose rules the world has
	Zone    *time.Location  // of its schedule
	Items   []int           // that it has, in ascending order
	Leaving bool            // whoever makes it leave has logged what it gives up
}

// Follow tells what is different about this instance, before a pass acts on it.
func (r *Reporter) Follow(m Member) {
	w := m.World
	if r.instance == "" && w.IsRegistered() {
		r.joined(m)
	}
	if r.instance != w.Self.ID {
		return
	}
	r.leaving = r.leaving || m.Leaving
	r.configured(w, m.Config)
	r.paused(PauseOf(w))
	r.setLeads(w.Leads())
	r.setItems(m.Items)
	if !r.Unobserved() { // it looks at all items and requests
		r.commands.follow(w, func(e jobtype.Event) { r.Command(r.instance, e) })
	}
}

// joined tells that the process is a member now.
func (r *Reporter) joined(m Member) {
	r.instance = m.World.Self.ID
	about := []zap.Field{zap.String("instance", r.instance), zap.Int("items", m.Config.ShardingTotalCount)}
	if m.World.Rules.IsOneOff() {
		about = append(about, zap.String("cron", "none: it runs only when it is triggered"))
	} else {
		about = append(about, zap.String("cron", brief.Text(m.Config.Cron)), zap.Stringer("zone", m.Zone), zap.Time("next tick", m.World.Rules.Ticks.Next(r.config.Now())))
	}
	r.log.Info("joined", about...)
	r.Tell(r.Event(jobtype.EventJoined, r.instance))
}

// configured tells which configuration this instance goes by.
func (r *Reporter) configured(w *decide.World, c *jobtype.Config) {
	if w.Accepted == 0 || w.Accepted == r.version || r.Unobserved() { // 0: the store is not read yet, in a new session
		return
	}
	e := r.Event(jobtype.EventConfigured, r.instance)
	e.Revision, e.Version = c.Revision, w.Accepted
	if r.accepted != nil {
		e.Changes = r.config.Changes(*r.accepted, *c)
	}
	r.accepted, r.version = c, w.Accepted
	r.Tell(e)
}

// Command tells of what an operator has asked for.
func (r *Reporter) Command(instance string, e jobtype.Event) {
	e.Kind, e.Time, e.JobName, e.InstanceID = jobtype.EventCommanded, r.config.Now(), string(r.config.Job), instance
	r.Tell(e)
}

// Left tells that the process is no member any more. What holds for it is over.
func (r *Reporter) Left(err error) {
	if r.instance == "" {
		return
	}
	leaving := r.leaving
	r.leaving = true
	r.setLeads(false)
	r.setItems(nil)
	e := r.Event(jobtype.EventLeft, r.instance)
	e.Err = err
	r.Tell(e)
	r.instance, r.leaving, r.pause = "", leaving, jobtype.Pause{}
}

// setLeads tells whether the member leads, if that has changed.
func (r *Reporter) setLeads(leads bool) {
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

// setItems tells which items the member has, in ascending order, if that has changed.
func (r *Reporter) setItems(items []int) {
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

// paused tells that the job is paused, or no longer, if that has changed; the zero Pause says that it is not.
func (r *Reporter) paused(p jobtype.Pause) {
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

// PauseOf returns the pause of a job; the zero Pause if there is none.
func PauseOf(w *decide.World) jobtype.Pause {
	if !w.IsPaused() {
		return jobtype.Pause{}
	}
	p := w.Schedule.Pause
	return jobtype.Pause{Since: p.Paused, By: brief.Text(p.PausedBy), Why: brief.Text(p.PausedWhy), MakeUp: p.MakeUp}
}

// Close tells what is left, for a second at most.
func (r *Reporter) Close() { r.config.Observers.Close() }

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
