package job

import (
	"context"
	"errors"
	"runtime/debug"

	"go.uber.org/zap"
)

// start begins the runs of a claim.
func (c *controller) start(runs []*run, token int64) {
	g := &group{open: len(runs)}
	for _, r := range runs {
		r.token, r.group, r.phase = token, g, queued
		r.claimed, r.syncs = c.now(), c.syncs
		c.runs[r.item] = r
		c.queue = append(c.queue, r)
		if r.source == SourceManual {
			delete(c.triggers, r.item)
		}
	}
	c.dispatch()
}

// dispatch executes what is queued while there are free slots.
func (c *controller) dispatch() {
	for len(c.queue) > 0 && c.executing < c.settings.threads {
		r := c.queue[0]
		c.queue = c.queue[1:]
		if r.source == SourceNormal || r.source == SourceMisfire {
			c.begun[r.item] = r.tick
		}
		c.executes(r)
	}
}

func (c *controller) execute(r *run) {
	taskID, err := newTaskID()
	if err != nil {
		c.log.Error("an execution has no task id", zap.Error(err))
	}
	s := c.settings
	e := execution{
		handler: c.handler, log: c.log, errors: s.errors, timeout: s.Timeout, retry: s.Retry,
		sc: ShardingContext{
			JobName: s.Name, TaskID: taskID, InstanceID: r.instance,
			Item: r.item, ItemParameter: s.parameters[r.item], JobParameter: s.JobParameter, Total: s.ShardingTotalCount,
			ScheduledTime: r.tick.In(s.zone), Source: r.source, Attempt: 1, Token: r.token,
		},
	}
	if r.param != "" {
		e.sc.JobParameter = r.param
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(c.session.Context(), ofJob{}, c))
	r.cancel, r.phase = cancel, executing
	r.begun = c.now()
	if c.executing++; c.executing < s.threads {
		c.pace.last = r.begun
	}
	c.working.Go(func() {
		err := errGoexit // unless the handler returns
		defer func() {
			// A panic of the handler is its error by now. This is one of what tells of it.
			if v := recover(); v != nil {
				err = &PanicError{Value: v, Stack: debug.Stack()}
			}
			c.mu.Lock()
			r.err, r.cut = err, ctx.Err() != nil
			if err != nil && (!r.cut || errors.Is(context.Cause(ctx), ErrTimeout)) {
				c.live.status.LastError, c.live.status.LastErrorTime = err, c.now()
			}
			c.returned = append(c.returned, r)
			c.mu.Unlock()
			c.poke()
		}()
		err = e.do(ctx)
	})
}

// collect takes in the runs that have returned since the last time.
func (c *controller) collect() {
	c.mu.Lock()
	returned := c.returned
	c.returned = nil
	c.mu.Unlock()
	for _, r := range returned {
		c.executing--
		c.pace.ended(c.now().Sub(r.begun), c.now())
		r.phase = done
		r.group.open--
		r.syncs = c.syncs
		r.cancel(nil)
		if r.token == 0 || r.instance != c.self.id {
			c.drop(r)
			continue
		}
		if c.lingering.IsZero() {
			c.lingering = c.now().Add(c.options.linger)
		}
	}
	c.dispatch()
}

// drop forgets a run whose record is gone, or is none of ours any more.
func (c *controller) drop(r *run) {
	if c.runs[r.item] == r {
		delete(c.runs, r.item)
	}
	if r.instance == c.self.id && r.token > c.ended[r.item] {
		c.ended[r.item] = r.token
	}
}

// idle is how many threads nothing waits for.
func (c *controller) idle() int { return c.settings.threads - c.executing - len(c.queue) }

// free is how many more items may be claimed.
func (c *controller) free() int { return c.idle() + c.pace.ahead(c.settings.threads, c.now()) }

// ofJob is the key by which the context of a handler tells which controller called it.
type ofJob struct{}
