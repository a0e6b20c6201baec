package trees_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Jobs of the tree. All have the time zone UTC.
const (
	settle    = "settle"     // failover, a once-listener, a calendar; brought by a program
	feed      = "feed"       // cursors, pins, a disabled item, a kill
	report    = "report"     // a retry, a backfill, a pause
	nightly   = "nightly"    // a one-off job with requests
	everybody = "everywhere" // a broadcast job
	worn      = "worn"       // its instances refuse the configuration
	declared  = "declared"   // belongs to a set of files
	removed   = "removed"
)

// jobs are those that workers serve.
var jobs = []string{settle, feed, report, nightly, everybody, worn, declared}

// work is what the handlers of a process do.
type work struct {
	// long is whether runs go on until the process ends or free is closed; else they take a second.
	long atomic.Bool
	free chan struct{}
	// cursors has those with which items of feed began first, by item.
	cursors sync.Map
}

// handlers returns the handlers of all jobs.
func (w *work) handlers() map[string]job.Handler {
	handlers := map[string]job.Handler{}
	for _, name := range jobs {
		handlers[name] = job.HandlerFunc(w.run)
	}
	return handlers
}

func (w *work) run(ctx context.Context, sc job.ShardingContext) error {
	switch {
	case sc.JobName == feed:
		at, err := job.Cursor(ctx)
		if err != nil {
			return err
		}
		w.cursors.LoadOrStore(sc.Item, at)
		n, _ := strconv.Atoi(at)
		if err := job.MoveCursor(ctx, strconv.Itoa(n+100)); err != nil {
			return err
		}
		if w.long.Load() { // a kill is not heeded
			<-w.free
		}
	case sc.JobName == report && sc.Source == job.SourceNormal && sc.Item == 1 && !w.long.Load():
		return errors.New("no paper: tray 2 is empty")
	case w.long.Load() && (sc.JobName == settle && sc.Item != 1 || sc.JobName == nightly):
		select {
		case <-w.free:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if !sleep.For(ctx, time.Second) {
		return context.Cause(ctx)
	}
	return nil
}

// tally is the once-listener of settle.
type tally struct{}

func (tally) Started(context.Context, job.Tick) error         { return nil }
func (tally) Completed(context.Context, job.TickResult) error { return nil }

// options are those of a process.
func options(labels ...string) []job.Option {
	return []job.Option{job.WithLabels(labels...), job.WithOnceListener("TALLY", tally{}, job.OnceTimes{})}
}

// require ends the test if an operation has failed.
func require(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// write plays the scenario, and returns what it has left in the store, and what package ops says of that.
func write(t *testing.T) (tree, said) {
	c, ctx := newCluster(t), t.Context()
	start := time.Now()
	o := c.Ops()
	create := func(cfg job.Config) {
		cfg.TimeZone = "UTC"
		require(t, "create "+cfg.Name, o.Create(ctx, ops.CreateRequest{Config: cfg}))
	}
	_, err := o.PutCalendar(ctx, ops.PutCalendarRequest{Name: "holidays", Document: []byte("timeZone: UTC\ndates:\n  - 12-25\nweekly:\n  - SUN\n")})
	require(t, "calendar", err)
	create(job.Config{Name: feed, Cron: "0/20 * * * * ?", ShardingTotalCount: 3, Threads: 4, Overlap: jobtype.OverlapSkip})
	create(job.Config{Name: report, Cron: "0/20 * * * * ?", MoreCrons: []string{"50 * * * * ?"}, ShardingTotalCount: 2, Jitter: 100 * time.Millisecond,
		Retry: job.Retry{Attempts: 1, InitialBackoff: 100 * time.Millisecond}, Expiry: job.Expiry{At: start.AddDate(1, 0, 0)}})
	create(job.Config{Name: nightly, Description: "by hand", ShardingTotalCount: 3, Threads: 1})
	create(job.Config{Name: everybody, Cron: "0/30 * * * * ?", Broadcast: true})
	create(job.Config{Name: worn, Cron: "0/15 * * * * ?", ShardingTotalCount: 1})
	create(job.Config{Name: removed, Cron: "0/15 * * * * ?", ShardingTotalCount: 1})
	require(t, "apply", o.Apply(ctx, ops.ApplyRequest{Set: "billing", Implementation: declared, Config: job.Config{Name: declared, Cron: "0/30 * * * * ?", TimeZone: "UTC", ShardingTotalCount: 2}}))
	require(t, "remove", o.Job(removed).Remove(ctx, ops.RemoveRequest{Why: "nobody needs it"}))

	w := &work{free: make(chan struct{})}
	a := c.Runner("10.0.0.1", w.handlers(), options("big", "blue")...)
	a.Schedule(job.Config{Name: settle, Cron: "0/10 * * * * ?", TimeZone: "UTC", ShardingTotalCount: 4, ShardingItemParameters: "0=Beijing,1=Shanghai",
		JobParameter: "all", Failover: true, Threads: 2, Listeners: []string{"TALLY"}, Calendars: []string{"holidays"}, Revision: 3,
		Props: map[string]string{"region": "east"}}, w.handlers()[settle])
	c.Advance(100 * time.Millisecond)
	b := c.Runner("10.0.0.2", w.handlers(), options()...)
	c.Advance(100 * time.Millisecond)
	require(t, "pin", o.Job(feed).Pin(ctx, 0, ops.PinRequest{Label: "big"}))
	require(t, "pin", o.Job(feed).Pin(ctx, 1, ops.PinRequest{Address: "10.0.0.1", Strict: true}))
	require(t, "disable a server", o.Job(settle).DisableServersAhead(ctx, "10.0.0.9"))
	first, err := o.Job(nightly).Trigger(ctx, jobtype.TriggerRequest{Items: []int{0, 2}, Parameter: "first", Key: "once"})
	require(t, "trigger", err)
	_, err = first.Wait(ctx)
	require(t, "the first request", err)
	c.AdvanceTo(start.Add(25 * time.Second)) // item 1 of report has failed
	_, err = o.Job(report).Retry(ctx, ops.RetryRequest{})
	require(t, "retry", err)
	c.AdvanceTo(start.Add(35 * time.Second))
	require(t, "disable an item", o.Job(feed).DisableItems(ctx, 2))
	now, err := o.Job(worn).Settings(ctx)
	require(t, "settings", err)
	now.Config.ErrorHandler = "PAGER" // no process has that
	require(t, "update", o.Job(worn).Update(ctx, ops.UpdateRequest{Config: now.Config, Version: now.Version}))
	c.AdvanceTo(start.Add(45 * time.Second))
	_, err = o.Job(report).Backfill(ctx, ops.BackfillRequest{From: start.Add(-time.Minute), To: start.Add(-time.Second), Items: []int{0}})
	require(t, "backfill", err)
	_, err = o.Job(report).Pause(ctx, ops.PauseRequest{Why: "stock-taking", MakeUp: true})
	require(t, "pause", err)

	c.AdvanceTo(start.Add(55 * time.Second))
	w.long.Store(true)
	c.AdvanceTo(start.Add(61 * time.Second))
	_, err = o.Job(nightly).Trigger(ctx, jobtype.TriggerRequest{Parameter: "second"})
	require(t, "trigger", err)
	c.Advance(2 * time.Second)
	b.Die()
	c.AdvanceTo(start.Add(75 * time.Second)) // its session has ended, and its items are run again
	_, err = o.Job(feed).Kill(ctx, ops.KillRequest{Items: []int{0}})
	require(t, "kill", err)
	c.Advance(3 * time.Second)
	tr, says := dump(c), describe(t, c)
	close(w.free)
	require(t, "shut down", a.Shutdown(time.Minute))
	return tr, says
}
