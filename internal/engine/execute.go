package engine

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// executions are what runs in this process, or is about to.
type executions struct {
	// All runs, by item. setRun changes them, under mu: others read the keys.
	runs map[int]*run
	// What decisions know of them. Runs are the same runs. Ended: drop and tellChange.
	// Waiting: fire, releaseClaims and adopt. Begun: dispatch and world. A new session forgets all
	// but Runs (begin).
	work *decide.Work
	// The runs that are done and have a record. isDone adds; finished removes those that have
	// been dropped.
	done []*run
	// How many handlers run. dispatch and collect change it.
	busy int
	// The runs that wait for a thread. begins adds; dispatch, unqueue, unqueueSome and forget
	// remove.
	queue []*run
	// When the next run that was claimed early is to begin; zero if there is none. dispatch
	// sets it.
	beginAt time.Time
	// How fast runs end. dispatch and collect change it.
	pace pace
	// Until then finish waits for the other runs of a claim, to save commits. collect sets it,
	// finish clears it.
	lingering clocks.Moment
	// Since when handlers have to return. giveGrace sets it, identify clears it.
	cancelled since
	// What a job without records remembers. fire and adopt change it.
	unmonitored decide.Unmonitored
	// How many items run here by the tree whose claims were never answered, and how many items may run here
	// because of Config.MaxItems, 0 for any number. countItems sets both.
	strays, mostRuns int
}

// countItems notes how many items run here that no run stands for, and how many may run here, and tells the
// node how many items this instance owns.
func (c *controller) countItems(w *decide.World) {
	c.strays = len(w.Strayed(c.work))
	c.mostRuns, _ = w.MostRuns()
	w.Strays = c.strays
	c.pool.Items.Set(len(c.items()))
}

// begins takes in claims: it queues their runs, and calls the handlers of as many as there
// are threads for. token is the number of the commit that claimed them; 0 if there was no
// commit, because the job has no records.
func (c *controller) begins(claims []decide.Claim, token int64) {
	if !c.settings.rules.Monitor {
		token = 0 // of a request's progress: it fences nothing
	}
	missed := c.missedBy(claims)
	c.logClaimed(claims, missed, token)
	total := c.settings.ShardingTotalCount
	if c.settings.Broadcast {
		total = ownedItems(c.state)
	}
	g := &group{open: len(claims)}
	for n, claim := range claims {
		token := cmp.Or(claim.Since, token)
		r := &run{
			Run:   decide.Run{Claim: claim, TaskID: c.taskIDOf(&claim, token), Token: token, Instance: c.self.ID, Recorded: c.settings.rules.Monitor},
			group: g, phase: queued, total: total, claimed: c.instant(), syncs: c.syncs, missed: missed[n],
		}
		c.reporter.Tell(c.runEvent(jobtype.EventClaimed, r))
		c.setRun(r.Item, r)
		c.queue = append(c.queue, r)
	}
	c.dispatch()
}

// dispatch calls the handlers of queued runs while there are free threads. Runs whose tick
// has not come yet go on waiting.
func (c *controller) dispatch() {
	c.beginAt = time.Time{}
	now := c.now()
	rest := c.queue[:0]
	free := c.threads() - c.executing()
	for n, r := range c.queue {
		if c.isEarly(r, now) {
			c.beginAt = earlier(c.beginAt, r.Tick)
			rest = append(rest, r)
			continue
		}
		if held := c.heldUntil(r, now); !held.IsZero() {
			r.released = c.moment()
			c.beginAt = earlier(c.beginAt, held)
			rest = append(rest, r)
			continue
		}
		if free <= 0 || exec.IsOverdue(c.session) || !c.pool.Threads.Take() {
			rest = append(rest, c.queue[n:]...)
			break
		}
		if free > 1 {
			c.pace.last = c.moment()
		}
		// A tick from the future, which an external writer has recorded, will still come.
		if (r.Source == decide.Normal || r.Source == decide.Misfire) && !r.Tick.After(now) {
			c.work.Begun[r.Item] = r.Tick
			c.work.Ticked = decide.Ticked{Instance: r.Instance, Item: r.Item, Tick: r.Tick}
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
	r.cancel, r.phase, r.begun = cancel, executing, c.instant()
	r.signals.Now, r.signals.Shutdown, r.signals.Wake = &c.properties, c.shutdown, c.poke
	r.errors = c.settings.errors
	started := c.startedEvent(r)
	e := c.executionOf(r, started)
	c.reportMissed(r)
	c.reporter.Tell(started)
	c.working.Go(func() {
		end := ending{err: exec.ErrGoexit, text: exec.ErrGoexit.Error()} // if the handler does not return
		defer func() {
			if end.outcome == 0 {
				end.outcome = exec.OutcomeOf(ctx, end.err)
			}
			end.cut, end.at, end.attempts, end.output = ctx.Err() != nil && end.outcome != OutcomeKilled || end.outcome == OutcomeCut, c.instant(), e.Context.Attempt, r.signals.Output()
			defer c.returns(r, end) // also if a scope ends the goroutine
			c.reportFinished(r, end, &e.Scopes)
		}()
		defer func() {
			// A panic of the handler is an error by now (execution.once). If something panics
			// here, it is what reports that error.
			if v := recover(); v != nil {
				end = ending{err: &PanicError{Value: v, Stack: debug.Stack()}}
				end.describe()
			}
		}()
		end.outcome, end.err = e.Run(ctx)
		end.describe()
	})
}

// returns gives a run back to the controller when its handler has returned. The goroutine
// of the run calls it.
func (c *controller) returns(r *run, e ending) {
	c.pool.Threads.Done()
	c.mu.Lock()
	r.ending = e
	if e.outcome != OutcomeOK && e.outcome != OutcomeCut && e.outcome != OutcomeKilled {
		c.live.status.LastError, c.live.status.LastErrorTime = e.err, e.at.wall
	}
	c.returned = append(c.returned, r)
	c.mu.Unlock()
	c.nudge()
}

// taskIDOf returns the id of the execution of a claim.
func (c *controller) taskIDOf(claim *decide.Claim, token int64) string {
	if token == 0 { // nobody else has to find it out
		return c.newTaskID()
	}
	return claim.TaskID(c.job, c.self.ID, token)
}

// newTaskID returns the id of a new execution; "" if none can be made.
func (c *controller) newTaskID() string {
	id, err := newTaskID()
	if err != nil {
		c.log.Error("an execution has no task id", zap.Error(err))
	}
	return id
}

// executionOf copies what the goroutine of a run needs.
func (c *controller) executionOf(r *run, started Event) *exec.Execution {
	s := c.settings
	e := &exec.Execution{
		Handler: s.handler, Session: c.session, Log: c.log, Slog: c.options.Slog, Errors: s.errors, Signals: &r.signals,
		Timeout: s.Timeout, Retry: s.Retry, Listeners: s.listeners, ListenerTime: c.options.ListenerTime, Working: &c.working,
		Context: ShardingContext{
			JobName: s.Name, TaskID: r.TaskID, InstanceID: r.Instance, Properties: s.properties,
			Item: r.Item, ItemParameter: s.parameters[r.Item], JobParameter: s.JobParameter, Total: r.total,
			ScheduledTime: r.Tick.In(s.zone), Source: Source(r.Source), Attempt: 1, Token: r.Token,
		},
	}
	e.Retries = c.reportRetries(started.InstanceID, started.Execution, &e.Scopes)
	if len(c.options.Scopes) > 0 {
		e.Scopes = exec.Scopes{List: c.options.Scopes, Guard: c.guard, Started: started}
	}
	if len(c.options.LogHandlers) > 0 {
		e.Lines = &exec.Lines{List: c.options.LogHandlers, Guard: c.guard, Started: started}
	}
	if r.Parameter != "" {
		e.Context.JobParameter = r.Parameter
	}
	if r.Recorded {
		e.Cursor = &exec.Cursor{Registry: c.reg, Now: c.options.Now, Job: c.job, Item: r.Item, Token: r.Token, Lose: r.cancel}
	}
	return e
}

// collect takes in the runs whose handlers have returned since the last call, and gives
// their threads to runs that wait.
func (c *controller) collect() {
	c.mu.Lock()
	returned := c.returned
	c.returned = nil
	c.mu.Unlock()
	if len(returned) > 0 && len(c.retired) > 0 {
		defer c.flushRetired()
	}
	for _, r := range returned {
		c.pace.ended(r.ending.at.mono.Sub(r.begun.mono), c.moment())
		c.busy--
		c.isDone(r)
		r.syncs = c.syncs
		r.cancel(nil)
		r.Completed = completionOf(r)
		if !r.Recorded || r.Instance != c.self.ID {
			c.drop(r)
			c.mustTell(r)
			continue
		}
		if c.lingering.IsZero() {
			c.lingering = c.moment().Add(c.options.Linger)
		}
	}
	c.dispatch()
}

// drop forgets a run whose record is gone or is not ours any more. It remembers the token,
// so that an older snapshot, which still shows the record, is not taken for news.
func (c *controller) drop(r *run) {
	if c.runs[r.Item] == r {
		c.setRun(r.Item, nil)
		c.work.Freed[r.Item] = c.moment()
	}
	if r.Instance == c.self.ID && r.Token > c.work.Ended[r.Item] {
		c.work.Ended[r.Item] = r.Token
	}
}

// dropEnded drops a run whose record a commit of ours has removed.
func (c *controller) dropEnded(ended *decide.Run) {
	if r := c.runs[ended.Item]; r != nil && &r.Run == ended {
		c.drop(r)
	}
}

// forget drops the queued runs of an identity that is given up. A run whose handler still
// runs stays until the handler returns, although its context has ended: its item must not
// start here before that.
func (c *controller) forget() {
	for _, r := range c.queue {
		c.reporter.Tell(c.runEvent(jobtype.EventReleased, r))
		c.setRun(r.Item, nil)
	}
	c.queue = nil
	c.pool.Threads.Keep(0)
}

// unqueue ends the runs that wait for a thread, as if they had been cut short.
func (c *controller) unqueue() {
	for _, r := range c.queue {
		c.takeBack(r, ErrShutdown)
	}
	c.queue = nil
}

// takeBack ends a run whose handler was not called.
func (c *controller) takeBack(r *run, err error) {
	r.ending = ending{outcome: OutcomeCut, err: err, cut: true}
	c.isDone(r)
	c.reporter.Tell(c.runEvent(jobtype.EventReleased, r))
}

// isDone notes that nothing more happens to a run but that its record is removed.
func (c *controller) isDone(r *run) {
	r.phase = done
	r.group.open--
	c.done = append(c.done, r)
	c.notice(r.Item)
}

// cancelAll ends the contexts of all handlers that run.
func (c *controller) cancelAll(cause error) {
	for _, r := range c.runs {
		if r.phase == executing {
			r.cancel(cause)
		}
	}
}

// giveGrace returns how much is left of the time that handlers have to return after their
// contexts have ended. The time begins with the first call.
func (c *controller) giveGrace(now clocks.Moment) time.Duration {
	return max(c.options.CancelGrace-c.cancelled.hold(true, now), 0)
}

// executing is how many handlers run.
func (c *controller) executing() int { return c.busy }

// threads is how many handlers may run: as many as there are threads, and items may run here.
func (c *controller) threads() int {
	if c.mostRuns > 0 {
		return min(c.settings.threads, c.mostRuns)
	}
	return c.settings.threads
}

// idle is how many threads are left when all queued runs have one.
func (c *controller) idle() int { return c.threads() - c.executing() - len(c.queue) }

// claimable is how many more items may be claimed: a thread is free for them, or soon will
// be. Threads that jobs share are not kept for claims that wait.
func (c *controller) claimable() int {
	if c.pool.Threads != nil {
		return c.turn.MayBegin(c.work, c.idle())
	}
	return c.turn.MayBegin(c.work, c.idle()+c.pace.ahead(c.threads(), c.moment()))
}

// unqueueSome takes some runs out of the queue.
func (c *controller) unqueueSome(some []*run) {
	c.queue = slices.DeleteFunc(c.queue, func(r *run) bool { return slices.Contains(some, r) })
}
