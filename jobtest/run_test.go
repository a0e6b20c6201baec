package jobtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

// untilDone works until its context ends, and returns why that was.
func untilDone(ctx context.Context, _ job.ShardingContext) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestRunOutcomes(t *testing.T) {
	failed := errors.New("no such account")
	for _, tc := range []struct {
		name    string
		handler job.HandlerFunc
		run     jobtest.Case
		outcome job.Outcome
		err     error
		took    time.Duration
		tries   int
	}{
		{name: "succeeds", handler: func(context.Context, job.ShardingContext) error { return nil }, outcome: job.OutcomeOK, tries: 1},
		{
			name: "fails", handler: func(context.Context, job.ShardingContext) error { return failed },
			outcome: job.OutcomeFailed, err: failed, tries: 1,
		},
		{
			name: "is tried again, with pauses that double", handler: func(context.Context, job.ShardingContext) error { return failed },
			run:     jobtest.Case{Config: job.Config{Retry: job.Retry{Attempts: 3, InitialBackoff: time.Minute, MaxBackoff: time.Hour}}},
			outcome: job.OutcomeFailed, err: failed, tries: 4, took: 7 * time.Minute,
		},
		{
			name: "is not tried again", handler: func(context.Context, job.ShardingContext) error { return job.NoRetry(failed) },
			run:     jobtest.Case{Config: job.Config{Retry: job.Retry{Attempts: 3}}},
			outcome: job.OutcomeFailed, err: failed, tries: 1,
		},
		{
			name: "takes too long", handler: untilDone,
			run:     jobtest.Case{Config: job.Config{Timeout: time.Hour}},
			outcome: job.OutcomeTimeout, err: job.ErrTimeout, tries: 1, took: time.Hour,
		},
		{
			name: "is killed", handler: untilDone, run: jobtest.Case{KillAfter: time.Minute},
			outcome: job.OutcomeKilled, err: job.ErrKilled, tries: 1, took: time.Minute,
		},
		{
			name: "is shut down", handler: untilDone, run: jobtest.Case{ShutdownAfter: time.Minute, Drain: time.Second},
			outcome: job.OutcomeCut, err: job.ErrShutdown, tries: 1, took: time.Minute + time.Second,
		},
		{
			name: "stops when it is asked to", run: jobtest.Case{ShutdownAfter: 59500 * time.Millisecond, Drain: time.Hour},
			handler: func(ctx context.Context, _ job.ShardingContext) error {
				for job.StopAsked(ctx) == nil {
					time.Sleep(time.Second)
				}
				return job.StopAsked(ctx)
			},
			outcome: job.OutcomeCut, err: job.ErrShutdown, tries: 1, took: time.Minute,
		},
		{
			name: "loses its session", handler: untilDone, run: jobtest.Case{Config: job.Config{Failover: true}, LoseSessionAfter: time.Minute},
			outcome: job.OutcomeCut, err: coord.ErrSessionLost, tries: 1, took: time.Minute,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				res := jobtest.Run(t, tc.handler, tc.run)
				if res.Outcome != tc.outcome || !errors.Is(res.Err, tc.err) || tc.err == nil && res.Err != nil || res.Attempts != tc.tries ||
					res.Took.Truncate(time.Second) != tc.took {
					t.Errorf("got %+v: %v", res, res)
				}
				if res.Token == 0 || res.Source != job.SourceManual || res.IsRunning() {
					t.Errorf("got %+v", res)
				}
			})
		})
	}
}

func TestRunPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		res := jobtest.Run(t, job.HandlerFunc(func(context.Context, job.ShardingContext) error { panic("no such account") }), jobtest.Case{})
		if p, ok := errors.AsType[*job.PanicError](res.Err); res.Outcome != job.OutcomePanic || !ok || p.Value != "no such account" {
			t.Errorf("got %v", res)
		}
	})
}

// What the handler is told is what the case says, in a bubble and outside of one.
func TestRunTellsTheHandler(t *testing.T) {
	tick := time.Date(2026, 3, 1, 2, 30, 0, 0, time.UTC)
	run := func(t *testing.T) {
		var got job.ShardingContext
		h := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			got = sc
			at, err := job.Cursor(ctx)
			if err != nil {
				return err
			}
			job.SetOutput(ctx, []byte("came from "+at))
			return job.MoveCursor(ctx, "page 8")
		})
		res := jobtest.Run(t, h, jobtest.Case{
			Config: job.Config{
				Name: "report", Cron: "0 30 2 * * ?", TimeZone: "UTC", ShardingTotalCount: 5, ShardingItemParameters: "2=Paris",
				JobParameter: "all", Props: map[string]string{"format": "csv"}, Label: "gpu", Calendars: []string{"holidays"},
				Expiry: job.Expiry{Ticks: 1, Remove: true},
			},
			Item: 2, Parameter: "march", Tick: tick, Cursor: "page 7",
		})
		if res.Outcome != job.OutcomeOK || string(res.Output) != "came from page 7" || res.Cursor != "page 8" {
			t.Errorf("got %v, output %q, cursor %q", res, res.Output, res.Cursor)
		}
		if format, _ := got.Properties.Get("format"); format != "csv" || got.JobName != "report" || got.Item != 2 || got.Total != 5 ||
			got.ItemParameter != "Paris" || got.JobParameter != "march" || !got.ScheduledTime.Equal(tick) || got.Source != job.SourceBackfill ||
			got.Token != res.Token || got.TaskID != res.TaskID {
			t.Errorf("the handler was told %+v", got)
		}
	}
	t.Run("in a bubble", func(t *testing.T) { synctest.Test(t, run) })
	t.Run("in real time", run)
}

// Nothing but the item that was asked for runs, although the job fires all the time.
func TestRunRunsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		res := jobtest.Run(t, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			runs++
			time.Sleep(time.Minute)
			return nil
		}), jobtest.Case{Config: job.Config{Cron: "* * * * * ?", ShardingTotalCount: 3}, Item: 1})
		if res.Outcome != job.OutcomeOK || runs != 1 || res.Item != 1 {
			t.Errorf("%d runs, the last %v", runs, res)
		}
	})
}

// A type, and a handler that is one.
func TestRunTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		greet := job.TypeFunc(func(c job.Config) (job.Handler, error) {
			if c.Props["greeting"] == "" {
				return nil, errors.New("greeting: needed")
			}
			return job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
				job.SetOutput(ctx, []byte(c.Props["greeting"]+", "+sc.JobParameter))
				return nil
			}), nil
		})
		res := jobtest.Run(t, job.OfType("GREET", greet), jobtest.Case{
			Config:    job.Config{Props: map[string]string{"greeting": "hello"}},
			Parameter: "anna",
		})
		if string(res.Output) != "hello, anna" {
			t.Errorf("got %v, output %q", res, res.Output)
		}

		var sum int
		flow := dataflow.WithCursor(
			func(_ context.Context, _ job.ShardingContext, after int, size int) ([]int, int, error) {
				if after >= 30 {
					return nil, after, nil
				}
				return []int{after + 1}, after + 1, nil
			},
			func(_ context.Context, _ job.ShardingContext, rows []int) error {
				sum += rows[0]
				return nil
			})
		res = jobtest.Run(t, flow, jobtest.Case{Config: job.Config{Props: map[string]string{"streaming.process": "true"}}, Cursor: "27"})
		if res.Outcome != job.OutcomeOK || sum != 28+29+30 || res.Cursor != "30" {
			t.Errorf("got %v, cursor %q, sum %d", res, res.Cursor, sum)
		}
	})
}

// What cannot be run ends the test, and says why.
func TestRunRefuses(t *testing.T) {
	ok := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	for _, tc := range []struct {
		name    string
		handler job.Handler
		run     jobtest.Case
		says    []string
	}{
		{"a wrong configuration", ok, jobtest.Case{Config: job.Config{Cron: "every day"}}, []string{`cron expression "every day"`}},
		{"an item that is not there", ok, jobtest.Case{Config: job.Config{ShardingTotalCount: 2}, Item: 2}, []string{"item 2", "0 to 1"}},
		{"a negative item", ok, jobtest.Case{Item: -1}, []string{"items begin at 0"}},
		{"a time that is no tick", ok, jobtest.Case{Config: job.Config{Cron: "0 0 0 * * ?"}, Tick: time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)}, []string{"no tick"}},
		{"a tick of a job without a schedule", ok, jobtest.Case{Tick: time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)}, []string{"a one-off job has no ticks"}},
		{"a type that is nil", job.OfType("SCRIPT", nil), jobtest.Case{}, []string{`type "SCRIPT" is nil`}},
		{"an unknown strategy", ok, jobtest.Case{Config: job.Config{Strategy: "BEST"}}, []string{`"BEST"`}},
		{"a handler that takes too long", job.HandlerFunc(untilDone), jobtest.Case{Limit: time.Hour}, []string{"Case.Limit", "item 0, tick", ": runs"}},
		{"a handler that does not watch its context", job.HandlerFunc(sleeps), jobtest.Case{Limit: time.Second}, []string{"Case.Limit", ": runs"}},
		{"a negative time", ok, jobtest.Case{KillAfter: -time.Second}, []string{"-1s", "not negative"}},
		{"an item that a broadcast job has on another instance", ok, jobtest.Case{Config: job.Config{Broadcast: true}, Item: 1}, []string{"item 0 only"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failure := failureOf(t, func(t testing.TB) { jobtest.Run(t, tc.handler, tc.run) })
				for _, says := range tc.says {
					if !strings.Contains(failure, says) {
						t.Errorf("the failure does not say %q: %s", says, failure)
					}
				}
			})
		})
	}
}

// One item in real time, with the store, the scheduler and all.
func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		jobtest.Run(b, lasts(0), jobtest.Case{})
	}
}
