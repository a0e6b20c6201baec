package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// pager is a type of error handlers that tells a test what happens to them.
type pager struct {
	mu    sync.Mutex
	told  []string
	made  int
	flush func(ctx context.Context) error
}

func (p *pager) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, fmt.Sprintf(format, args...))
}

// takes returns what was told since the last call.
func (p *pager) takes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	told := p.told
	p.told = nil
	return told
}

func (p *pager) ErrorHandler(c job.Config, log *slog.Logger) (job.ErrorHandler, error) {
	if log == nil {
		return nil, errors.New("no logger")
	}
	if c.Props["pager.number"] == "" {
		return nil, &job.FieldError{Field: "props: pager.number", Err: errors.New("is required")}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	return paging{p, c.Props["pager.number"]}, nil
}

type paging struct {
	*pager
	number string
}

func (p paging) HandleError(ctx context.Context, sc job.ShardingContext, err error) {
	job.Logger(ctx).Info("paging")
	p.note("%s: %d failed: %v", p.number, sc.Item, err)
}

func (p paging) HandleSuccess(_ context.Context, sc job.ShardingContext) {
	p.note("%s: %d works", p.number, sc.Item)
}

func (p paging) Flush(ctx context.Context) error {
	p.note("%s: flush", p.number)
	if p.pager.flush == nil {
		return nil
	}
	return p.pager.flush(ctx)
}

func pagedJob(number string) job.Config {
	return job.Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1, ErrorHandler: "IGNORE,PAGER", Props: map[string]string{"pager.number": number}}
}

// An error handler of a type is told of failures and successes. When its properties have
// changed another takes its place, and it is flushed when no execution uses it any more.
func TestErrorHandlerType(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		p := &pager{}
		with := job.WithErrorHandler("PAGER", p)
		m := c.dial("10.0.0.1")
		if err := m.begin(pagedJob(""), job.HandlerFunc(untilDone), with); err == nil {
			t.Error("started without a number")
		}
		fails := make(chan error)
		h := job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			select {
			case err := <-fails:
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		if err := m.begin(pagedJob(""), h, with); err == nil || !strings.Contains(err.Error(), "props: pager.number: is required") {
			t.Errorf("without a number: %v", err)
		}
		core, logged := observer.New(zap.InfoLevel)
		c.must(m.begin(pagedJob("112"), h, with, job.WithLogger(zap.New(core))))
		ends := func(err error, want ...string) {
			t.Helper()
			fails <- err
			c.pass(1500 * time.Millisecond)
			if got := p.takes(); !slices.Equal(got, want) {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		ends(errFailed, "112: 0 failed: "+errFailed.Error())
		ends(nil, "112: 0 works")
		if lines := logged.FilterMessage("paging").All(); len(lines) != 1 || lines[0].ContextMap()["item"] != int64(0) {
			t.Errorf("logged by the error handler: %v", lines)
		}
		c.configure(func(cfg *job.Config) { cfg.JobParameter = "another" })
		ends(nil, "112: 0 works")
		c.configure(func(cfg *job.Config) { cfg.Props = map[string]string{"pager.number": "110"} })
		c.pass(time.Second)
		if got := p.takes(); got != nil {
			t.Errorf("told %q while an execution uses it", got)
		}
		ends(errFailed, "112: 0 failed: "+errFailed.Error(), "112: flush")
		ends(nil, "110: 0 works")
		c.configure(func(cfg *job.Config) { cfg.Props = nil })
		m.awaitFault(jobtype.FaultConfig, "props: pager.number: is required")
		ends(nil, "110: 0 works")
		close(fails)
		m.leave()
		if got := p.takes(); len(got) == 0 || got[len(got)-1] != "110: flush" || slices.Contains(got[:len(got)-1], "110: flush") {
			t.Errorf("told %q in the end", got)
		}
	})
}

// The end of a scheduler waits for error handlers: as long as it may drain and for a second
// more, then they have to give up. The log says so.
func TestFlushInTheEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		drain time.Duration // 0: nobody asks for a shutdown, the job is removed
		needs time.Duration
		takes time.Duration
		fails bool
	}{
		"in time":            {time.Minute, 10 * time.Second, 10 * time.Second, false},
		"after the drain":    {time.Millisecond, 500 * time.Millisecond, 500 * time.Millisecond, false},
		"too late":           {5 * time.Second, time.Hour, 6 * time.Second, true},
		"never":              {time.Hour, time.Hour, 30 * time.Second, true},
		"the job is removed": {0, time.Hour, 30 * time.Second, true},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			p := &pager{}
			p.flush = func(ctx context.Context) error { return elapse(ctx, tc.needs) }
			core, logged := observer.New(zap.ErrorLevel)
			m := c.dial("10.0.0.1")
			cfg := pagedJob("112")
			cfg.Cron = "0 0 0 1 1 ?"
			if err := m.begin(cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }),
				job.WithErrorHandler("PAGER", p), job.WithLogger(zap.New(core))); err != nil {
				t.Fatal(err)
			}
			c.pass(time.Second)
			began := time.Now()
			if tc.drain > 0 {
				ctx, cancel := context.WithTimeout(t.Context(), tc.drain)
				defer cancel()
				c.ok(m.Shutdown(ctx))
			} else {
				c.commit(coord.DeleteTree(c.job.Root()))
				<-m.Done()
			}
			if took := time.Since(began); took < tc.takes || took > tc.takes+3*time.Second {
				t.Errorf("took %v, want %v", took, tc.takes)
			}
			lines := logged.FilterMessage("an error handler could not finish").All()
			if tc.fails != (len(lines) == 1) {
				t.Errorf("logged %v", lines)
			}
		})
	}
}

// THROW gives failed executions to the program. One that does not receive them misses the
// newest, and the channel is closed in the end.
func TestThrow(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.ErrorHandler = 1, "IGNORE,THROW"
		core, logged := observer.New(zap.WarnLevel)
		m := c.join("10.0.0.1", cfg, func(context.Context, job.ShardingContext) error { return errFailed }, job.WithLogger(zap.New(core)))
		first := <-m.Thrown()
		if !errors.Is(first, errFailed) || first.ShardingContext.JobName != "settle" || first.Error() != "job settle: item 0: "+errFailed.Error() {
			t.Errorf("got %v", first)
		}
		c.pass(150 * time.Second)
		if lines := logged.FilterMessageSnippet("does not receive from Scheduler.Thrown").All(); len(lines) != 1 && len(lines) != 2 {
			t.Errorf("logged %v", lines)
		}
		m.leave()
		received := 0
		for err := range m.Thrown() {
			if received++; !errors.Is(err, errFailed) {
				t.Errorf("got %v", err)
			}
		}
		if received != 100 {
			t.Errorf("%d errors have waited, want 100", received)
		}
	})
}

// Whoever asks for the channel only when the job has ended finds it closed.
func TestThrownOfAnEndedJob(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.join("10.0.0.1", c.config(), func(context.Context, job.ShardingContext) error { return errFailed })
		m.leave()
		for err := range m.Thrown() {
			t.Errorf("got %v from a job without THROW", err)
		}
	})
}

// An error handler that panics when it is flushed harms nobody.
func TestFlushThatPanics(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		p := &pager{flush: func(context.Context) error { panic("no") }}
		core, logged := observer.New(zap.ErrorLevel)
		m := c.dial("10.0.0.1")
		if err := m.begin(pagedJob("112"), job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }),
			job.WithErrorHandler("PAGER", p), job.WithLogger(zap.New(core))); err != nil {
			t.Fatal(err)
		}
		m.leave()
		if lines := logged.FilterMessage("error handler panicked").All(); len(lines) != 1 || lines[0].ContextMap()["handler"] != "PAGER" {
			t.Errorf("logged %v", logged.All())
		}
	})
}

// The record of an execution has the end of what its handler kept.
func TestSetOutput(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 3
		outputs := make(chan job.Event, 100)
		c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			switch sc.Item {
			case 0:
				text := []byte("first")
				job.SetOutput(ctx, []byte("before"))
				job.SetOutput(ctx, text)
				text[0] = 'X'
			case 1:
				job.SetOutput(ctx, append(make([]byte, job.MaxOutput), "end"...))
			}
			return nil
		}, job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventFinished {
				outputs <- e
			}
		}))
		for range 3 {
			e := <-outputs
			switch {
			case e.Item == 0 && string(e.Output) != "first",
				e.Item == 1 && (len(e.Output) != job.MaxOutput || !strings.HasSuffix(string(e.Output), "\x00end")),
				e.Item == 2 && e.Output != nil:
				t.Errorf("item %d: %d bytes, %.20q", e.Item, len(e.Output), e.Output)
			}
		}
	})
}

// An error of NoRetry ends the execution at once.
func TestNoRetry(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Retry = job.Retry{Attempts: 2}
		ends := make(chan job.Event, 100)
		c.join("10.0.0.1", cfg, func(_ context.Context, sc job.ShardingContext) error {
			switch sc.Item {
			case 0:
				return job.NoRetry(nil)
			case 1:
				return fmt.Errorf("again: %w", job.NoRetry(fmt.Errorf("never: %w", errFailed)))
			}
			return errFailed
		}, job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventFinished {
				ends <- e
			}
		}))
		seen := map[int]job.Event{}
		for len(seen) < 3 {
			e := <-ends
			if _, ok := seen[e.Item]; !ok {
				seen[e.Item] = e
			}
		}
		if e := seen[0]; e.Err != nil || e.Attempt != 1 {
			t.Errorf("nil: %+v", e)
		}
		if e := seen[1]; !errors.Is(e.Err, errFailed) || e.Err.Error() != "again: never: "+errFailed.Error() || e.Attempt != 1 {
			t.Errorf("no retry: %+v", e)
		}
		if e := seen[2]; !errors.Is(e.Err, errFailed) || e.Attempt != 3 {
			t.Errorf("a retry: %+v", e)
		}
	})
}

// An observer that is slow makes neither the output of executions nor the texts of their errors fill the memory.
func TestSlowObserver(t *testing.T) {
	output := make([]byte, job.MaxOutput)
	long := fmt.Errorf("%w: %s", errFailed, strings.Repeat("x", 1<<20))
	for name, tc := range map[string]struct {
		work job.HandlerFunc
		most int                                  // that are kept, or one more or less: one was told already
		kept func(job.Event) (isKept, isCut bool) // neither is wrong
	}{
		"outputs": {
			func(ctx context.Context, _ job.ShardingContext) error { job.SetOutput(ctx, output); return nil },
			16 << 20 / job.MaxOutput,
			func(e job.Event) (bool, bool) {
				return !e.Dropped && len(e.Output) == job.MaxOutput, e.Dropped && e.Output == nil
			},
		},
		"errors": {
			func(context.Context, job.ShardingContext) error { return long },
			15, // each has some bytes more than 1 MiB
			func(e job.Event) (bool, bool) {
				return errors.Is(e.Err, errFailed), len(e.Err.Error()) <= 510 && strings.HasPrefix(e.Err.Error(), errFailed.Error()) && !e.Dropped
			},
		},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			const many = 5 * 64
			cfg := c.config()
			cfg.ShardingTotalCount, cfg.Threads = 64, 64
			release := make(chan struct{})
			ends := make(chan job.Event, 10_000)
			c.join("10.0.0.1", cfg, tc.work, job.WithLogger(nil), job.WithObserver(func(e job.Event) {
				if e.Kind == jobtype.EventFinished {
					<-release
					ends <- e
				}
			}))
			c.awaitRuns("many", many, func(e execution) bool { return !e.end.IsZero() })
			c.pass(100 * time.Millisecond) // all ends are told
			close(release)
			kept := 0
			for range many {
				e := <-ends
				isKept, isCut := tc.kept(e)
				if isKept {
					kept++
				} else if !isCut {
					t.Errorf("dropped is %v, there are %d bytes, and the error has %d", e.Dropped, len(e.Output), len(fmt.Sprint(e.Err)))
				}
			}
			if kept < tc.most || kept > tc.most+1 {
				t.Errorf("%d were kept, want %d", kept, tc.most)
			}
		})
	}
}

// A type that panics refuses a configuration, and the job goes on with the last good one.
func TestTypesThatPanic(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		panics := func(c job.Config, what string) {
			if c.Props["panics"] == what {
				panic("a bug")
			}
		}
		kind := job.TypeFunc(func(c job.Config) (job.Handler, error) {
			panics(c, "type")
			return job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }), nil
		})
		alarm := job.ErrorHandlerTypeFunc(func(c job.Config, _ *slog.Logger) (job.ErrorHandler, error) {
			panics(c, "error handler")
			return job.ErrorHandlerFunc(func(context.Context, job.ShardingContext, error) {}), nil
		})
		cfg := job.Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1, ErrorHandler: "ALARM"}
		m := c.dial("10.0.0.1")
		c.must(m.begin(cfg, job.OfType("KIND", kind), job.WithErrorHandler("ALARM", alarm)))
		for _, what := range []string{"type", "error handler"} {
			c.configure(func(cfg *job.Config) { cfg.Props = map[string]string{"panics": what} })
			m.awaitFault(jobtype.FaultConfig, "panic: a bug")
			c.configure(func(cfg *job.Config) { cfg.Props = nil })
			m.awaitFaultOver(jobtype.FaultConfig)
		}
	})
}

// Shutdown does not wait for ever for an error handler that pays no attention to its context,
// nor for one whose place another has taken.
func TestFlushThatNeverReturns(t *testing.T) {
	for name, isReplaced := range map[string]bool{"in force": false, "replaced": true} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			release := make(chan struct{})
			p := &pager{flush: func(context.Context) error { <-release; return nil }}
			core, logged := observer.New(zap.ErrorLevel)
			m := c.dial("10.0.0.1")
			cfg := pagedJob("112")
			cfg.Cron = "0 0 0 1 1 ?"
			if err := m.begin(cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }),
				job.WithErrorHandler("PAGER", p), job.WithLogger(zap.New(core))); err != nil {
				t.Fatal(err)
			}
			if isReplaced {
				c.configure(func(cfg *job.Config) { cfg.Props = map[string]string{"pager.number": "110"} })
				c.pass(time.Second)
			}
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c.ok(m.Shutdown(ctx))
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			if lines := logged.FilterMessageSnippet("do not return from Flush").Len(); lines != 1 {
				t.Errorf("logged %v", logged.All())
			}
			close(release)
		})
	}
}
