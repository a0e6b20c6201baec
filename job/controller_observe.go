package job

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// event returns what all events have, as of this moment. It may be called in any goroutine,
// so the caller names the instance.
func (c *controller) event(instance string) Event {
	return Event{Time: c.now(), JobName: string(c.job), InstanceID: instance}
}

// observe tells the observers of an event. of chooses the function of an observer that is
// to be called; it may be nil.
func observe[E any](c *controller, event E, of func(*Observer) func(E)) {
	if !c.watchers.isDeaf() {
		tellAll(c.watchers, event, of) // where the event goes to the heap
	}
}

// executionID returns what names a run in events.
func (c *controller) executionID(r *run) Execution {
	return Execution{
		TaskID: r.TaskID, Item: r.Item, ScheduledTime: r.Tick, Source: Source(r.Source),
		Token: r.Token, RequestID: r.Request, OriginalTaskID: r.Original,
	}
}

// standing is how observers know that this instance stands.
type standing struct {
	id    string // under which it has joined; empty if it has not
	state coord.SessionState
	pause Pause
	leads bool
	items []int
}

// bulletin is what observers know of the job. It stays when this process becomes another
// instance, so that nothing is told again.
type bulletin struct {
	tick    time.Time // the last one that was due; before the first, when this process has joined
	config  *settings // that they have been told of; nil if it is none
	version int64     // of config
}

// observeStanding tells what is different about this instance, before a pass acts on it.
func (c *controller) observeStanding(w *decide.World) {
	if c.watchers.isDeaf() {
		return
	}
	if c.shown.id == "" && w.IsRegistered() {
		c.shown.id = c.self.ID
		observe(c, JoinedEvent{c.event(c.self.ID)}, func(o *Observer) func(JoinedEvent) { return o.Joined })
	}
	if c.shown.id != c.self.ID {
		return
	}
	c.observeConfiguration()
	c.observePause(pauseOf(w))
	c.observeLead(w.Leads())
	c.observeItems(c.items())
	c.observeCommands(w)
}

// observeConfiguration tells which configuration this instance goes by.
func (c *controller) observeConfiguration() {
	s, b := c.settings, &c.bulletin
	if s.modified == 0 || s.modified == b.version { // 0: the store is not read yet, in a new session
		return
	}
	event := ConfiguredEvent{Event: c.event(c.shown.id), Revision: s.Revision, Version: s.modified}
	if b.config != nil {
		event.Changes = changesOf(b.config.Config, s.Config)
	}
	b.config, b.version = s, s.modified
	observe(c, event, func(o *Observer) func(ConfiguredEvent) { return o.Configured })
}

func (c *controller) observePause(p Pause) {
	if before := c.shown.pause; before == p {
		return
	} else if !before.Since.IsZero() {
		observe(c, PausedEvent{c.event(c.shown.id), before, true}, func(o *Observer) func(PausedEvent) { return o.Paused })
	}
	if c.shown.pause = p; !p.Since.IsZero() {
		observe(c, PausedEvent{c.event(c.shown.id), p, false}, func(o *Observer) func(PausedEvent) { return o.Paused })
	}
}

// pauseOf returns the pause of the job; the zero Pause if there is none.
func pauseOf(w *decide.World) Pause {
	if !w.IsPaused() {
		return Pause{}
	}
	p := w.Schedule.Pause
	return Pause{p.Paused, short(p.PausedBy), short(p.PausedWhy), p.MakeUp}
}

// observeDue tells that ticks have come.
func (c *controller) observeDue(w *decide.World) {
	if c.watchers.isDeaf() || c.shown.id != c.self.ID || !w.IsRegistered() || w.IsPaused() {
		return
	}
	last := &c.bulletin.tick
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
	event := DueEvent{c.event(c.self.ID), tick, c.ticksBetween(from, tick), c.settings.Jitter}
	observe(c, event, func(o *Observer) func(DueEvent) { return o.Due })
}

func (c *controller) observeLead(leads bool) {
	if c.shown.leads == leads {
		return
	}
	c.shown.leads = leads
	observe(c, LeadsEvent{c.event(c.shown.id), leads}, func(o *Observer) func(LeadsEvent) { return o.Leads })
}

func (c *controller) observeItems(items []int) {
	gained, lost := differ(c.shown.items, items)
	if len(gained)+len(lost) == 0 {
		return
	}
	c.shown.items = items
	event := ItemsChangedEvent{c.event(c.shown.id), gained, lost, slices.Clone(items)}
	observe(c, event, func(o *Observer) func(ItemsChangedEvent) { return o.ItemsChanged })
}

// observeLeave tells that this instance is none any more. What holds for it is over.
func (c *controller) observeLeave(err error) {
	if c.shown.id == "" {
		return
	}
	c.observeLead(false)
	c.observeItems(nil)
	observe(c, LeftEvent{c.event(c.shown.id), err}, func(o *Observer) func(LeftEvent) { return o.Left })
	c.shown = standing{state: c.shown.state}
}

// observeOver tells that the scheduler has ended.
func (c *controller) observeOver(err error) {
	for f := range c.holding() {
		c.observeFault(f, true)
	}
	c.observeLeave(err)
}

// observeSession tells of a session's state if it is another one than before.
func (c *controller) observeSession(state coord.SessionState, err error) {
	if c.shown.state == state {
		return
	}
	c.shown.state = state
	observe(c, SessionEvent{c.event(c.self.ID), state, err}, func(o *Observer) func(SessionEvent) { return o.Session })
}

func (c *controller) observeClaim(r *run) {
	observe(c, ClaimedEvent{c.event(r.Instance), c.executionID(r)}, func(o *Observer) func(ClaimedEvent) { return o.Claimed })
}

func (c *controller) observeHandBack(r *run) {
	event := HandedBackEvent{c.event(r.Instance), c.executionID(r)}
	observe(c, event, func(o *Observer) func(HandedBackEvent) { return o.HandedBack })
}

// startedEvent returns what tells of the begin of an execution.
func (c *controller) startedEvent(r *run) StartedEvent {
	var late time.Duration
	if !r.Tick.IsZero() {
		late = r.begun.wall.Sub(r.Tick) - c.settings.Jitter
	}
	return StartedEvent{c.event(r.Instance), c.executionID(r), max(r.waited(r.begun), 0), max(late, 0)}
}

// observeRetries returns what tells scopes and observers of a failed attempt. The goroutine of
// the run calls that.
func (c *controller) observeRetries(started StartedEvent, s *scopes) func(int, error, time.Duration) {
	return func(attempt int, err error, backoff time.Duration) {
		event := RetriedEvent{c.event(started.InstanceID), started.Execution, attempt, err, backoff}
		s.retried(event)
		observe(c, event, func(o *Observer) func(RetriedEvent) { return o.Retried })
	}
}

// observeEnd tells scopes and observers that a handler has returned. The goroutine of the run
// calls it. s is nil if the handler was not called.
func (c *controller) observeEnd(r *run, e ending, s *scopes) {
	if c.watchers.isDeaf() && (s == nil || len(s.ends) == 0) {
		return
	}
	event := FinishedEvent{Event: c.event(r.Instance), Execution: c.executionID(r), Outcome: e.outcome, Err: e.err, Attempts: e.attempts, Took: e.at.mono.Sub(r.begun.mono), Output: e.output}
	defer c.watchers.tellFinished(event, e.text) // also if a scope ends the goroutine
	if s != nil {
		s.close(event)
	}
}

// observeMissed tells, as a run begins, of the ticks that its item has missed before.
func (c *controller) observeMissed(r *run) {
	switch {
	case r.missed == 0:
	case c.makesUp(&r.Claim):
		observe(c, MadeUpEvent{c.event(r.Instance), r.Item, r.missed, r.Tick}, func(o *Observer) func(MadeUpEvent) { return o.MadeUp })
	default:
		last := c.lastBefore(r.Tick)
		observe(c, PassedOverEvent{c.event(r.Instance), r.Item, r.missed, last, PassTooLate}, func(o *Observer) func(PassedOverEvent) { return o.PassedOver })
	}
}

// lastBefore returns the last tick before another one.
func (c *controller) lastBefore(tick time.Time) time.Time {
	last := c.settings.rules.Ticks.Prev(tick.Add(-1))
	if s := c.state.Schedule; s != nil && !last.After(s.Since) {
		return s.LastBefore
	}
	return last
}

// observePass tells of ticks that were passed over by the state that this pass sees.
func (c *controller) observePass(item int, p decide.Passed) {
	if !c.watchers.isDeaf() {
		observe(c, c.passedOver(item, p), func(o *Observer) func(PassedOverEvent) { return o.PassedOver })
	}
}

func (c *controller) passedOver(item int, p decide.Passed) PassedOverEvent {
	ticks := 1
	if fired := c.state.Item(item).Fired; fired != nil {
		ticks = c.ticksBetween(fired.Tick, p.Tick)
	}
	return PassedOverEvent{c.event(c.self.ID), item, ticks, p.Tick, PassReason(p.Reason)}
}

func (c *controller) observeRecovery(from string, items []int, taskIDs []string) {
	event := RecoveredEvent{c.event(c.self.ID), short(from), items, taskIDs, c.settings.Failover}
	observe(c, event, func(o *Observer) func(RecoveredEvent) { return o.Recovered })
}

func (c *controller) observeFault(f Fault, isOver bool) {
	observe(c, FaultEvent{c.event(c.self.ID), f, isOver}, func(o *Observer) func(FaultEvent) { return o.Fault })
}
