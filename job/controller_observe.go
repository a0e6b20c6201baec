package job

import (
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
	c.watchers.tell(func(o *Observer) {
		if told := of(o); told != nil {
			told(event)
		}
	})
}

// executionID returns what names a run in events.
func (c *controller) executionID(r *run) Execution {
	return Execution{
		TaskID: r.taskID, Item: r.Item, ScheduledTime: r.Tick, Source: Source(r.Source),
		Token: r.Token, RequestID: r.Request,
	}
}

func (c *controller) observeJoin() {
	observe(c, JoinedEvent{c.event(c.self.ID)}, func(o *Observer) func(JoinedEvent) { return o.Joined })
}

// observeSession tells observers of the session's state if it has changed.
func (c *controller) observeSession(state coord.SessionState, err error) {
	if c.toldState == state {
		return
	}
	c.toldState = state
	observe(c, SessionEvent{c.event(c.self.ID), state, err}, func(o *Observer) func(SessionEvent) { return o.Session })
}

func (c *controller) observeLead(leads bool) {
	observe(c, LeadsEvent{c.event(c.self.ID), leads}, func(o *Observer) func(LeadsEvent) { return o.Leads })
}

func (c *controller) observeItems(gained, lost, items []int) {
	observe(c, ItemsChangedEvent{c.event(c.self.ID), gained, lost, items}, func(o *Observer) func(ItemsChangedEvent) { return o.ItemsChanged })
}

func (c *controller) observeClaim(r *run) {
	observe(c, ClaimedEvent{c.event(r.Instance), c.executionID(r)}, func(o *Observer) func(ClaimedEvent) { return o.Claimed })
}

func (c *controller) observeStart(r *run) {
	event := StartedEvent{c.event(r.Instance), c.executionID(r), max(r.begun.Sub(r.claimed), 0)}
	observe(c, event, func(o *Observer) func(StartedEvent) { return o.Started })
}

// observeRetries returns what tells observers of a failed attempt. The goroutine of the run
// calls that.
func (c *controller) observeRetries(r *run) func(int, error, time.Duration) {
	instance, id := r.Instance, c.executionID(r)
	return func(attempt int, err error, backoff time.Duration) {
		observe(c, RetriedEvent{c.event(instance), id, attempt, err, backoff}, func(o *Observer) func(RetriedEvent) { return o.Retried })
	}
}

// observeEnd tells observers that a handler has returned. The goroutine of the run calls it.
func (c *controller) observeEnd(r *run, e ending) {
	event := FinishedEvent{c.event(r.Instance), c.executionID(r), e.outcome, e.err, e.attempts, max(e.at.Sub(r.begun), 0)}
	observe(c, event, func(o *Observer) func(FinishedEvent) { return o.Finished })
}

func (c *controller) observeMakeUp(claim decide.Claim, ticks int) {
	observe(c, MadeUpEvent{c.event(c.self.ID), claim.Item, ticks, claim.Tick}, func(o *Observer) func(MadeUpEvent) { return o.MadeUp })
}

func (c *controller) observePass(item int, p decide.Passed) {
	observe(c, PassedOverEvent{c.event(c.self.ID), item, p.Tick, PassReason(p.Reason)}, func(o *Observer) func(PassedOverEvent) { return o.PassedOver })
}

func (c *controller) observeRecovery(from string, items []int) {
	event := RecoveredEvent{c.event(c.self.ID), short(from), items, c.settings.Failover}
	observe(c, event, func(o *Observer) func(RecoveredEvent) { return o.Recovered })
}

func (c *controller) observeFault(f Fault, isOver bool) {
	observe(c, FaultEvent{c.event(c.self.ID), f, isOver}, func(o *Observer) func(FaultEvent) { return o.Fault })
}
