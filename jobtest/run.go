package jobtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// Case says how [Run] runs one item. The zero value is item 0 of a job with one item.
type Case struct {
	// Config is that of the job: the one that the program uses, say. Its schedule does not fire:
	// the item runs because it is asked for, also if it has no Cron. Calendars and Expiry do not
	// count.
	// Name is "job" and ShardingTotalCount is Item+1 if they are left out.
	Config job.Config
	// Item is the item that runs. No other one does.
	Item int
	// Parameter replaces Config.JobParameter if it is not empty, as that of a trigger does.
	Parameter string
	// Tick is the scheduled time, which has to be a tick of Config.Cron. The source is
	// [job.SourceBackfill] then. Without it the scheduled time is now, and the source is
	// [job.SourceManual]; other sources need a [Cluster]. time.Now does not follow it.
	Tick time.Time
	// Cursor is where the item was left off, for [job.Cursor].
	Cursor string
	// Options are those of the program that the job needs: [job.WithErrorHandler], for one.
	Options []job.Option

	// What is to happen after the execution has ended does not happen, and does not fail the test: check the
	// outcome.

	// KillAfter is how long after its begin an operator kills the execution; 0 is never.
	KillAfter time.Duration
	// ShutdownAfter is how long after its begin the process is shut down; 0 is never. The context
	// of the handler ends with [job.ErrShutdown] when the time Drain has passed since;
	// [job.StopAsked] tells it at once.
	ShutdownAfter, Drain time.Duration
	// LoseSessionAfter is how long after its begin the process loses its session, which is 1 s
	// long; 0 is never. The context ends with coord.ErrSessionLost, up to 0.8 s later.
	LoseSessionAfter time.Duration

	// Limit bounds the whole, after which the test has failed. Default 1 min; in a bubble 24 h.
	Limit time.Duration
}

// Result is how the execution has ended. Outcome, Err, Attempts, Took, Output, Token and all
// else that names it are in Execution.
type Result struct {
	Execution
	// Cursor is where the item is left off now.
	Cursor string
}

// Run runs one item once, on a simulated store, and returns when that has ended: with all its
// retries, between its listeners, as every execution of a scheduler. In a bubble of
// testing/synctest the time between retries and until time-outs passes at once; elsewhere it
// is real.
//
// It ends the test if the item cannot be run: if the configuration is wrong, for example.
func Run(t testing.TB, h job.Handler, c Case) Result {
	t.Helper()
	if c.Limit == 0 {
		c.Limit = time.Minute
		if inBubble(t) {
			c.Limit = 24 * time.Hour
		}
	}
	if c.Config.Name == "" {
		c.Config.Name = "job"
	}
	if c.Config.ShardingTotalCount == 0 && !c.Config.Broadcast {
		c.Config.ShardingTotalCount = c.Item + 1
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), c.Limit, fmt.Errorf("it takes longer than Case.Limit, %v", c.Limit))
	defer cancel()
	result, err := c.run(ctx, h)
	if err != nil {
		if inBubble(t) {
			t.Cleanup(func() { time.Sleep(lateTime) })
		}
		t.Fatalf("jobtest: run item %d of job %s: %v", c.Item, c.Config.Name, err)
	}
	return result
}
