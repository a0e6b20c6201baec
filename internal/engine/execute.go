package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/engine/pace"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// executions are the runs of this process.
type executions struct {
	// All runs, by item: setRun.
	runs map[int]*run
	// What decisions know of them. Runs are the same runs. Ended: forgetRun and commitHandover.
	// Waiting: fire, releaseClaims and applySettings. Begun: dispatch and newWorld. A new session forgets all
	// but Runs (startSession).
	work *decide.Work
	// The runs that are done and have a record. markDone adds; finished removes those that have been dropped.
	done []*run
	// How many handlers run. dispatch and collect change it.
	busy int
	// The runs that wait for a thread. enqueue adds; dispatch, clearQueue, removeFromQueue and forget remove.
	queue []*run
	// When the next of the queued runs is to begin that wait for their tick, or for Started of it; zero if none does.
	// dispatch sets it.
	nextStartAt time.Time
	// How fast runs end. dispatch and collect change it.
	pace pace.Runs
	// How long claims take. noteClaims changes it.
	claims pace.Claims
	// Until then finish waits for the other runs of a claim, to save commits. collect sets it, finish clears it.
	batchUntil clocks.Moment
	// Since when handlers have to return. graceLeft sets it, identify clears it.
	cancelled clocks.Condition
	// What a job without records remembers. fire and applySettings change it.
	unmonitored decide.Unmonitored
	// How many items run here by the tree although the answers to their claims were lost; and how many may run
	// here because of Config.MaxItems, 0 for any number. countItems sets both.
	unansweredClaims, mostRuns int
}

// countItems updates unansweredClaims and mostRuns, and tells the pool how many items this instance owns.
func (c *controller) countItems(w *decide.World) {
	c.unansweredClaims = len(w.UnansweredLeftovers(c.work))
	c.mostRuns = w.MaxRuns()
	w.UnansweredClaims = c.unansweredClaims
	c.pool.Items.Set(len(c.items()))
}

// enqueue makes runs of claims, queues them, and calls the handlers of as many as there are
// threads for (dispatch). token is the number of the commit that claimed them; 0 if there was no
// commit, because the job has no records.
func (c *controller) enqueue(claims []decide.Claim, token int64) {
	if !c.settings.Rules.Monitor {
		token = 0 // it is that of a request's progress, and fences nothing
	}
	missed := health.MissedBy(&c.current, claims)
	c.reporter.LogClaims(&c.current, claims, missed, token)
	total := c.settings.ShardingTotalCount
	if c.settings.Broadcast {
		total = countOwned(c.state)
	}
	g := &group{open: len(claims)}
	for n, claim := range claims {
		token := cmp.Or(claim.Since, token)
		r := &run{
			Run:   decide.Run{Claim: claim, TaskID: c.taskIDOf(&claim, token), Token: token, Instance: c.self.ID, Recorded: c.settings.Rules.Monitor},
			group: g, phase: exec.Queued, total: total, claimed: c.instant(), syncs: c.commits.Syncs(), missed: missed[n],
		}
		c.reporter.Claimed(&r.Run)
		c.setRun(r.Item, r)
		c.queue = append(c.queue, r)
	}
	c.dispatch()
}

// dispatch calls the handlers of queued runs while there are free threads. Runs whose tick has not come
// yet, or that wait for Started of it, stay in the queue.
func (c *controller) dispatch() {
	c.nextStartAt = time.Time{}
	now := c.now()
	rest := c.queue[:0]
	free := c.threads() - c.busy
	for n, r := range c.queue {
		if c.isEarly(r, now) {
			c.nextStartAt = earlier(c.nextStartAt, r.Tick)
			rest = append(rest, r)
			continue
		}
		if held := c.heldUntil(r, now); !held.IsZero() {
			r.heldAt = c.moment()
			c.nextStartAt = earlier(c.nextStartAt, held)
			rest = append(rest, r)
			continue
		}
		if free <= 0 || exec.IsOverdue(c.session) || !c.pool.Threads.Take() {
			rest = append(rest, c.queue[n:]...)
			c.wakeIn(pace.QueueTime)
			break
		}
		if free > 1 {
			c.pace.Free(c.moment())
		}
		// A tick from the future, which an external writer has recorded, will still come.
		if (r.Source == decide.Normal || r.Source == decide.Misfire) && !r.Tick.After(now) {
			c.work.Begun[r.Item] = r.Tick
			c.work.LastBegun = decide.LastBegun{Instance: r.Instance, Item: r.Item, Tick: r.Tick}
		}
		free--
		c.busy++
		c.seams.execute(r)
	}
	clear(c.queue[len(rest):])
	c.queue = rest
}

// execute calls the handler of a run in a goroutine of its own.
func (c *controller) execute(r *run) {
	ctx, cancel := context.WithCancelCause(exec.WithOwner(c.session.Context(), c))
	r.cancel, r.phase, r.begun = cancel, exec.Executing, c.instant()
	r.signals.Now, r.signals.Shutdown, r.signals.Wake = &c.properties, c.shutdown, c.requestFullPass
	r.errors = c.settings.Errors
	c.reporter.Missed(&c.current, &r.Run, r.missed)
	c.executionOf(r).Start(ctx, func(end exec.Ending) { c.giveBackRun(r, end) })
}

// giveBackRun hands a run over to the controller when its handler has returned. The goroutine of the run calls it.
func (c *controller) giveBackRun(r *run, end exec.Ending) {
	c.pool.Threads.Done()
	if end.Outcome != jobtype.OutcomeOK && end.Outcome != jobtype.OutcomeCut && end.Outcome != jobtype.OutcomeKilled {
		c.live.SetError(end.Err, end.At.Wall)
	}
	c.mu.Lock()
	r.ending = end
	c.returned = append(c.returned, r)
	c.mu.Unlock()
	c.wakeUp()
}

// taskIDOf returns the id of the execution of a claim.
func (c *controller) taskIDOf(claim *decide.Claim, token int64) string {
	if token == 0 { // nobody else has to find it out
		return c.newTaskID()
	}
	return claim.TaskID(c.job, c.self.ID, token)
}

// newTaskID returns the id of a new execution, which is unique and sorts by time; "" if none can be made.
func (c *controller) newTaskID() string {
	id, err := uuid.NewV7()
	if err != nil {
		c.log.Error("an execution has no task id", zap.Error(err))
		return ""
	}
	return id.String()
}

// executionOf returns what the goroutine of a run needs, as copies.
func (c *controller) executionOf(r *run) *exec.Execution {
	s := c.settings
	started := c.reporter.RunEvent(jobtype.EventStarted, &r.Run)
	started.Waited = max(r.waited(r.begun), 0)
	if !r.Tick.IsZero() {
		started.Late = max(r.begun.Wall.Sub(r.Tick)-s.Jitter, 0)
	}
	e := &exec.Execution{
		Handler: s.Handler, Session: c.session, Begun: r.begun, Now: c.instant, Reporter: c.reporter, Log: c.log, Slog: c.options.Slog, Errors: s.Errors, Signals: &r.signals,
		Timeout: s.Timeout, Retry: s.Retry, Listeners: s.ItemListeners, ListenerTime: c.options.ListenerTime, Working: &c.working,
		Scopes: exec.Scopes{List: c.options.Scopes, Guard: c.guard, Started: started},
		Context: jobtype.ShardingContext{
			JobName: s.Name, TaskID: r.TaskID, InstanceID: r.Instance, Properties: s.Properties,
			Item: r.Item, ItemParameter: s.Parameters[r.Item], JobParameter: s.JobParameter, Total: r.total,
			ScheduledTime: r.Tick.In(s.Zone), Source: jobtype.Source(r.Source), Attempt: 1, Token: r.Token,
		},
	}
	if r.Parameter != "" {
		e.Context.JobParameter = r.Parameter
	}
	if r.Recorded {
		e.Cursor = &exec.Cursor{Registry: c.reg, Now: c.options.Now, Job: c.job, Item: r.Item, Token: r.Token, CancelRun: r.cancel}
	}
	return e
}

// collect takes in the runs whose handlers have returned since the last call, and dispatches queued ones
// to their threads.
func (c *controller) collect() {
	c.mu.Lock()
	returned := c.returned
	c.returned = nil
	c.mu.Unlock()
	if len(returned) > 0 {
		defer c.flusher.FlushUnused()
	}
	for _, r := range returned {
		c.pace.Ended(r.ending.At.Mono.Sub(r.begun.Mono), c.moment())
		c.busy--
		c.markDone(r)
		r.syncs = c.commits.Syncs()
		r.cancel(nil)
		r.Completed = completionOf(r)
		if !r.Recorded || r.Instance != c.self.ID {
			c.forgetRun(r)
			c.addUnrecordedEnd(r)
			continue
		}
		if c.batchUntil.IsZero() {
			c.batchUntil = c.moment().Add(c.options.Linger)
		}
	}
	c.dispatch()
}

// uses reports whether a run here, or a call of once-listeners, reports to these error handlers. They are
// not flushed before.
func (c *controller) uses(e *exec.ErrorHandlers) bool {
	for _, r := range c.runs {
		if r.phase == exec.Executing && r.errors == e {
			return true
		}
	}
	return c.calls.Uses(e)
}

// forgetRun forgets a run whose record is gone or is not ours any more. It remembers the token, so that an
// older snapshot, which still shows the record, is not taken for a leftover.
func (c *controller) forgetRun(r *run) {
	if c.runs[r.Item] == r {
		c.setRun(r.Item, nil)
		c.work.LastEnded[r.Item] = c.moment()
	}
	if r.Instance == c.self.ID && r.Token > c.work.Ended[r.Item] {
		c.work.Ended[r.Item] = r.Token
	}
}

// dropQueue forgets the queued runs of an identity that is given up. A run whose handler still runs stays until
// the handler returns, although its context has ended: its item must not start here before that.
func (c *controller) dropQueue() {
	for _, r := range c.queue {
		c.reporter.Released(&r.Run)
		c.setRun(r.Item, nil)
	}
	c.queue = nil
	c.pool.Threads.Keep(0)
}

// clearQueue ends the runs that wait for a thread, as cut short.
func (c *controller) clearQueue() {
	for _, r := range c.queue {
		c.endUnstarted(r, jobtype.ErrShutdown)
	}
	c.queue = nil
}

// endUnstarted ends a run whose handler was not called.
func (c *controller) endUnstarted(r *run, err error) {
	r.ending = exec.Ending{Outcome: jobtype.OutcomeCut, Err: err, IsCut: true}
	c.markDone(r)
	c.reporter.Released(&r.Run)
}

// markDone notes that a run has ended. Only its record is left to be removed.
func (c *controller) markDone(r *run) {
	r.phase = exec.Done
	r.group.open--
	c.done = append(c.done, r)
	c.markDirty(r.Item)
}

// cancelAll ends the contexts of all handlers that run.
func (c *controller) cancelAll(cause error) {
	for _, r := range c.runs {
		if r.phase == exec.Executing {
			r.cancel(cause)
		}
	}
}

// graceLeft returns how much is left of CancelGrace, the time that handlers have to return after their
// contexts have ended. It begins with the first call.
func (c *controller) graceLeft(now clocks.Moment) time.Duration {
	return max(c.options.CancelGrace-c.cancelled.Track(true, now), 0)
}

// threads is how many handlers may run: ThreadCount, or with MaxItems as many items as may run here, if
// these are fewer.
func (c *controller) threads() int {
	if c.mostRuns > 0 {
		return min(c.settings.ThreadCount, c.mostRuns)
	}
	return c.settings.ThreadCount
}

// idle is how many threads are left when all queued runs have got one.
func (c *controller) idle() int { return c.threads() - c.busy - len(c.queue) }

// claimable is how many more items may be claimed: those for which a thread is free, and those that will
// get one soon (package pace). Threads that jobs share are reserved before a claim, so no claim waits for them.
func (c *controller) claimable() int {
	if c.pool.Threads != nil {
		return c.current.ClaimCapacity(c.work, c.idle())
	}
	return c.current.ClaimCapacity(c.work, c.idle()+c.pace.Ahead(c.threads(), c.moment()))
}

// removeFromQueue removes some runs from the queue.
func (c *controller) removeFromQueue(some []*run) {
	if len(some) == 0 {
		return
	}
	c.allClaimedFor = time.Time{}
	c.queue = slices.DeleteFunc(c.queue, func(r *run) bool { return slices.Contains(some, r) })
}
