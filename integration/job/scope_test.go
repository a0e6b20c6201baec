package job_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// diary keeps lines in the order in which they come.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) all() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

// trail is what scopes have put into a context.
type trail struct{}

func trailOf(ctx context.Context) string {
	at, _ := ctx.Value(trail{}).(string)
	return at
}

// scope is a scope that keeps what it is told, and adds its name to the trail.
func (d *diary) scope(name string) job.Option {
	return job.WithScope(func(ctx context.Context, e job.Event) (context.Context, func(job.Event)) {
		d.note("%s opens item %d %v", name, e.Item, e.Source)
		return context.WithValue(ctx, trail{}, trailOf(ctx)+name), func(e job.Event) {
			if e.Kind == jobtype.EventRetried {
				d.note("%s: attempt %d: %v, %v", name, e.Attempt, e.Err, e.Backoff)
				return
			}
			d.note("%s closes item %d %v, %d, %v, %q", name, e.Item, e.Outcome, e.Attempt, e.Took, e.Output)
		}
	})
}

// A scope is around all attempts of an execution, its error handlers and its listeners, which
// have its context. The first one is the outermost.
func TestScopes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		var d diary
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount, cfg.Retry = "", 1, job.Retry{Attempts: 1, InitialBackoff: time.Second}
		cfg.ErrorHandler, cfg.Listeners = "TELLS", []string{"tells"}
		no := errors.New("no")
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, _ job.ShardingContext) error {
			d.note("handler in %s", trailOf(ctx))
			job.SetOutput(ctx, []byte("out"))
			return no
		}, d.scope("A"), d.scope("B"),
			job.WithErrorHandler("TELLS", job.ErrorHandlerFunc(func(ctx context.Context, _ job.ShardingContext, _ error) { d.note("error handler in %s", trailOf(ctx)) })),
			job.WithListener("tells", job.ListenerFuncs{
				OnBefore: func(ctx context.Context, _ job.ShardingContext) error {
					d.note("before in %s", trailOf(ctx))
					return nil
				},
				OnAfter: func(ctx context.Context, _ job.ShardingContext, o job.Outcome, _ error) error {
					d.note("after in %s", trailOf(ctx))
					return nil
				},
			}))
		c.ownedBy("10.0.0.1", 1, 1)
		c.trigger(m)
		c.pass(5 * time.Second)
		want := []string{
			"A opens item 0 MANUAL", "B opens item 0 MANUAL", "before in AB",
			"handler in AB", "A: attempt 1: no, 1s", "B: attempt 1: no, 1s", "handler in AB",
			"error handler in AB", "after in AB",
			`B closes item 0 FAILED, 2, 1s, "out"`, `A closes item 0 FAILED, 2, 1s, "out"`,
		}
		if got := d.all(); !slices.Equal(got, want) {
			t.Errorf("told\n%q, want\n%q", got, want)
		}
	})
}

// A scope ends whatever becomes of its execution, and once.
func TestScopesEnd(t *testing.T) {
	returns := func(err error) job.HandlerFunc {
		return func(context.Context, job.ShardingContext) error { return err }
	}
	shutdown := func(m *member) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = m.Shutdown(ctx) // it may say that a handler still runs
	}
	for name, tc := range map[string]struct {
		handler job.HandlerFunc // nil is one that ignores its context for a minute
		then    func(c *cluster, m *member)
		want    job.Outcome
	}{
		"it succeeds":        {handler: returns(nil), want: job.OutcomeOK},
		"it panics":          {handler: func(context.Context, job.ShardingContext) error { panic("oh") }, want: job.OutcomePanic},
		"its goroutine ends": {handler: func(context.Context, job.ShardingContext) error { runtime.Goexit(); return nil }, want: job.OutcomeFailed},
		"it takes too long":  {handler: untilDone, want: job.OutcomeTimeout},
		"it is killed":       {untilDone, func(c *cluster, _ *member) { c.kill(ops.KillRequest{}) }, job.OutcomeKilled},
		"a shutdown":         {untilDone, func(_ *cluster, m *member) { shutdown(m) }, job.OutcomeCut},
		"a lost session":     {untilDone, func(_ *cluster, m *member) { m.link.Cut() }, job.OutcomeCut},
		"long after the end": {nil, func(_ *cluster, m *member) { shutdown(m) }, job.OutcomeOK},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Cron, cfg.ShardingTotalCount, cfg.Failover, cfg.Timeout = "", 1, false, 50*time.Second
			if tc.handler == nil {
				tc.handler = func(context.Context, job.ShardingContext) error { return elapse(context.Background(), 40*time.Second) }
			}
			var ends []job.Event
			var began job.Event
			m := c.join("10.0.0.1", cfg, tc.handler, job.WithScope(func(ctx context.Context, e job.Event) (context.Context, func(job.Event)) {
				began = e
				return ctx, func(e job.Event) { ends = append(ends, e) }
			}))
			c.ownedBy("10.0.0.1", 1, 1)
			c.trigger(m)
			run := c.awaitRuns("it", 1, anything)[0]
			if tc.then != nil {
				tc.then(c, m)
			}
			c.pass(time.Minute)
			synctest.Wait()
			if len(ends) != 1 || ends[0].Outcome != tc.want {
				t.Fatalf("it has ended as %+v, want %v once", ends, tc.want)
			}
			if e := ends[0]; e.Execution != began.Execution || e.TaskID != run.TaskID || e.InstanceID != run.InstanceID || e.Time.Before(began.Time) {
				t.Errorf("begun as %+v, ended as %+v, run as %+v", began, e, run)
			}
		})
	}
}

// Scopes that panic, or return a context that is not ours, harm no execution, and the log says so
// once a minute.
func TestScopesThatHarm(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		var d diary
		logged, logs := newLogbook()
		with := func(of func(context.Context) context.Context) job.Option {
			return job.WithScope(func(ctx context.Context, _ job.Event) (context.Context, func(job.Event)) {
				return of(ctx), func(job.Event) { panic("at the end") }
			})
		}
		none := func(context.Context) context.Context { return nil }
		panics := func(context.Context) context.Context { panic("at the begin") }
		foreign := func(context.Context) context.Context {
			return context.WithValue(context.Background(), trail{}, "foreign")
		}
		endless := func(ctx context.Context) context.Context {
			return context.WithValue(context.WithoutCancel(ctx), trail{}, "endless")
		}
		ended := func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(context.WithValue(ctx, trail{}, "ended"))
			cancel()
			return ctx
		}
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		c.join("10.0.0.1", cfg, func(ctx context.Context, _ job.ShardingContext) error {
			d.note("in %q: %v", trailOf(ctx), ctx.Err())
			return nil
		}, logs, with(none), with(panics), with(foreign), with(endless), with(ended), d.scope("Z"))
		c.pass(30*time.Second + 500*time.Millisecond)
		runs := c.record.find(anything)
		if len(runs) < 29 {
			t.Errorf("%d executions", len(runs))
		}
		if got := d.all(); len(got) != 3*len(runs) || slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "in") && line != `in "Z": <nil>` }) {
			t.Errorf("%d executions: %q", len(runs), got)
		}
		const left = "the context of a scope is left out: only values may be added to the one that it is given"
		if p, l := logged.says("a scope panicked"), logged.says(left); len(p) != 1 || len(l) != 1 || p[0]["panic"] != "at the begin" {
			t.Errorf("the log says %q", logged.messages())
		}
	})
}

// A scope that ends the goroutine, as FailNow of a test does, keeps no item, and hides no end from
// others.
func TestScopesThatEndTheGoroutine(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		var d diary
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		c.join("10.0.0.1", cfg, nil, d.scope("A"), job.WithScope(func(ctx context.Context, _ job.Event) (context.Context, func(job.Event)) {
			return ctx, func(job.Event) { runtime.Goexit() }
		}), job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventFinished {
				d.note("told")
			}
		}))
		c.pass(10*time.Second + 500*time.Millisecond)
		runs := c.record.find(anything)
		if len(runs) < 9 {
			t.Errorf("%d executions in 10 s", len(runs))
		}
		if got := d.all(); len(got) != 3*len(runs) { // opened, closed, told
			t.Errorf("%d executions: %q", len(runs), got)
		}
	})
}
