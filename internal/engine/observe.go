package engine

import (
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// reported is what observers know of the job beside what the reporter remembers of the instance. It stays when this
// process becomes another instance, so that nothing is told again.
type reported struct {
	tick    time.Time // the last one that was due; before the first, when this process has joined
	config  *settings // that they have been told of; nil if it is none
	version int64     // of config
}

// executionID returns what names a run in events.
func (c *controller) executionID(r *run) Execution {
	return Execution{
		TaskID: r.TaskID, Item: r.Item, ScheduledTime: r.Tick, Source: Source(r.Source),
		Token: r.Token, RequestID: r.Request, OriginalTaskID: r.Original,
	}
}

// runEvent returns an event of a run, to be filled in.
func (c *controller) runEvent(kind jobtype.EventKind, r *run) Event {
	e := c.reporter.Event(kind, r.Instance)
	e.Execution = c.executionID(r)
	return e
}

// itemEvent returns an event of ticks of an item.
func (c *controller) itemEvent(kind jobtype.EventKind, item, ticks int, last time.Time) Event {
	e := c.reporter.Event(kind, c.self.ID)
	e.Item, e.Count, e.ScheduledTime = item, ticks, last
	return e
}

// reportStanding tells what is different about this instance, before a pass acts on it.
func (c *controller) reportStanding(w *decide.World) {
	if c.reporter.Instance() == "" && w.IsRegistered() {
		c.reporter.Joined(c.self.ID, c.aboutSchedule()...)
	}
	if c.reporter.Instance() != c.self.ID {
		return
	}
	if c.isLeaving() {
		c.reporter.Leaving()
	}
	c.reportConfiguration()
	c.reporter.Paused(pauseOf(w))
	c.reporter.Leads(w.Leads())
	c.reporter.Items(c.items())
	if !c.reporter.Unobserved() { // it looks at all items and requests
		c.reportCommands(w)
	}
}

func (c *controller) aboutSchedule() []zap.Field {
	fields := []zap.Field{zap.Int("items", c.settings.ShardingTotalCount)}
	if ticks := c.settings.rules.Ticks; ticks != nil {
		fields = append(fields,
			zap.String("cron", short(c.settings.Cron)), zap.Stringer("zone", c.settings.zone),
			zap.Time("next tick", ticks.Next(c.now())))
	}
	return fields
}

// reportConfiguration tells which configuration this instance goes by.
func (c *controller) reportConfiguration() {
	s, known := c.settings, &c.reported
	if s.modified == 0 || s.modified == known.version || c.reporter.Unobserved() { // 0: the store is not read yet, in a new session
		return
	}
	e := c.reporter.Event(jobtype.EventConfigured, c.self.ID)
	e.Revision, e.Version = s.Revision, s.modified
	if known.config != nil {
		e.Changes = changesOf(known.config.Config, s.Config)
	}
	known.config, known.version = s, s.modified
	c.reporter.Tell(e)
}

// pauseOf returns the pause of the job; the zero Pause if there is none.
func pauseOf(w *decide.World) Pause {
	if !w.IsPaused() {
		return Pause{}
	}
	p := w.Schedule.Pause
	return Pause{Since: p.Paused, By: short(p.PausedBy), Why: short(p.PausedWhy), MakeUp: p.MakeUp}
}

// reportDue tells that ticks have come.
func (c *controller) reportDue(w *decide.World) {
	if c.reporter.Unobserved() || c.reporter.Instance() != c.self.ID || !w.IsRegistered() || w.IsPaused() {
		return
	}
	last := &c.reported.tick
	if last.IsZero() || last.After(w.Now.Add(decide.FutureTolerance)) { // the clock was far ahead: begin anew
		*last = w.Now
	}
	tick := w.LastTick()
	if !tick.After(*last) {
		return
	}
	from := *last
	if from.Before(w.Schedule.Since) {
		from = w.Schedule.Since
	}
	*last = tick
	e := c.reporter.Event(jobtype.EventDue, c.self.ID)
	e.ScheduledTime, e.Count, e.Jitter = tick, c.ticksBetween(from, tick), c.settings.Jitter
	c.reporter.Tell(e)
}

// reportEnd tells that the scheduler has ended.
func (c *controller) reportEnd(err error) {
	for f := range c.holding() {
		c.reporter.Fault(c.self.ID, f, true)
	}
	c.reporter.Left(err)
}

// startedEvent returns what tells of the begin of an execution.
func (c *controller) startedEvent(r *run) Event {
	e := c.runEvent(jobtype.EventStarted, r)
	e.Waited = max(r.waited(r.begun), 0)
	if !r.Tick.IsZero() {
		e.Late = max(r.begun.wall.Sub(r.Tick)-c.settings.Jitter, 0)
	}
	return e
}

// reportRetries returns what tells scopes and observers of a failed attempt. The goroutine of
// the run calls that.
func (c *controller) reportRetries(instance string, of Execution, s *exec.Scopes) func(int, error, time.Duration) {
	return func(attempt int, err error, backoff time.Duration) {
		e := c.reporter.Event(jobtype.EventRetried, instance)
		e.Execution, e.Attempt, e.Err, e.Backoff = of, attempt, err, backoff
		s.Tell(e)
		c.reporter.Tell(e)
	}
}

// reportFinished tells scopes and observers that a handler has returned. The goroutine of the run
// calls it. s is nil if the handler was not called.
func (c *controller) reportFinished(r *run, end ending, s *exec.Scopes) {
	if c.reporter.Unobserved() && (s == nil || s.None()) {
		return
	}
	e := c.runEvent(jobtype.EventFinished, r)
	e.Outcome, e.Err, e.Attempt, e.Took, e.Output = end.outcome, end.err, end.attempts, end.at.mono.Sub(r.begun.mono), end.output
	defer c.reporter.TellFinished(e, end.text) // also if a scope ends the goroutine
	if s != nil {
		s.Close(e)
	}
}

// reportMissed tells, as a run begins, of the ticks that its item has missed before.
func (c *controller) reportMissed(r *run) {
	if r.missed == 0 {
		return
	}
	e := c.itemEvent(jobtype.EventMadeUp, r.Item, r.missed, r.Tick)
	if !c.makesUp(&r.Claim) {
		e = c.itemEvent(jobtype.EventSkipped, r.Item, r.missed, c.lastBefore(r.Tick))
		e.Reason = jobtype.SkipTooLate
	}
	e.InstanceID = r.Instance
	c.reporter.Tell(e)
}

// lastBefore returns the last tick before another one.
func (c *controller) lastBefore(tick time.Time) time.Time {
	last := c.settings.rules.Ticks.Prev(tick.Add(-1))
	if s := c.state.Schedule; s != nil && !last.After(s.Since) {
		return s.LastBefore
	}
	return last
}

// skippedEvent returns what tells of ticks that are skipped by the state that this pass sees.
func (c *controller) skippedEvent(item int, p decide.Skipped) Event {
	ticks := 1
	if fired := c.state.Item(item).Fired; fired != nil {
		ticks = c.ticksBetween(fired.Tick, p.Tick)
	}
	e := c.itemEvent(jobtype.EventSkipped, item, ticks, p.Tick)
	e.Reason = jobtype.SkipReason(p.Reason)
	return e
}

// reportSkipped tells of ticks that were skipped.
func (c *controller) reportSkipped(item int, p decide.Skipped) {
	if !c.reporter.Unobserved() {
		c.reporter.Tell(c.skippedEvent(item, p))
	}
}

func (c *controller) reportRecovered(from string, items []int, taskIDs []string) {
	e := c.reporter.Event(jobtype.EventRecovered, c.self.ID)
	e.From, e.Items, e.TaskIDs, e.Failover = short(from), items, taskIDs, c.settings.Failover
	c.reporter.Tell(e)
}
