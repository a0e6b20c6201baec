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
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// minutes collects lines, in their order.
type minutes struct {
	mu    sync.Mutex
	lines []string
	more  chan struct{}
}

func newMinutes() *minutes { return &minutes{more: make(chan struct{})} }

func (m *minutes) add(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, fmt.Sprintf(format, args...))
	close(m.more)
	m.more = make(chan struct{})
}

func (m *minutes) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.lines)
}

// await waits until the lines are as wanted, and returns them.
func (m *minutes) await(t *testing.T, what string, ok func([]string) bool) []string {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		m.mu.Lock()
		lines, more := slices.Clone(m.lines), m.more
		m.mu.Unlock()
		if ok(lines) {
			return lines
		}
		select {
		case <-more:
		case <-timeout.C:
			t.Fatalf("not seen: %s; there is\n%s", what, strings.Join(lines, "\n"))
		}
	}
}

// has reports whether there is a line that begins with a text.
func has(prefix string) func([]string) bool {
	return func(lines []string) bool {
		return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) })
	}
}

// listens returns a listener that writes down what it is told.
func (m *minutes) listens(name string) job.ListenerFuncs {
	return job.ListenerFuncs{
		OnBefore: func(_ context.Context, sc job.ShardingContext) error {
			m.add("%s before %d", name, sc.Item)
			return nil
		},
		OnAfter: func(ctx context.Context, sc job.ShardingContext, outcome job.Outcome, err error) error {
			m.add("%s after %d attempt %d: %v %v, %v", name, sc.Item, sc.Attempt, outcome, err, ctx.Err())
			return nil
		},
	}
}

// errorsTo is an error handler that writes down what it is told.
func (m *minutes) errorsTo() job.Option {
	return job.WithErrorHandler("LOG", job.ErrorHandlerFunc(func(_ context.Context, sc job.ShardingContext, err error) {
		m.add("error of %d: %v", sc.Item, err)
	}))
}

// Listeners are called in their order, and backwards afterwards, around all attempts. They are
// told the outcome, whatever it is. A change of their names counts from the next execution on.
func TestListenersAreToldInOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		told := newMinutes()
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount, cfg.Listeners, cfg.ErrorHandler = rarely, 1, []string{"second", "first"}, "IGNORE"
		cfg.Retry = job.Retry{Attempts: 1, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond}
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			told.add("attempt %d", sc.Attempt)
			switch sc.JobParameter {
			case "bad":
				return errors.New("no disk")
			case "panic":
				panic("no memory")
			case "end":
				runtime.Goexit()
			case "long":
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return nil
		}, job.WithListener("first", told.listens("first")), job.WithListener("second", told.listens("second")))
		for _, tc := range []struct {
			parameter string
			attempts  int
			outcome   string
		}{
			{"good", 1, "OK <nil>, <nil>"},
			{"bad", 2, "FAILED no disk, <nil>"},
			{"panic", 2, "PANIC job: panic: no memory, <nil>"},
			{"end", 1, "FAILED job: handler called runtime.Goexit, <nil>"},
			{"long", 1, "KILLED job: execution killed, <nil>"},
		} {
			before := len(told.all())
			result, err := m.Trigger(t.Context(), job.TriggerRequest{Parameter: tc.parameter})
			c.must(err)
			if tc.parameter == "long" {
				told.await(t, "it runs", func(lines []string) bool { return len(lines) == before+3 })
				c.kill(ops.KillRequest{})
			}
			c.wait(result)
			want := []string{"second before 0", "first before 0"}
			for n := range tc.attempts {
				want = append(want, fmt.Sprintf("attempt %d", n+1))
			}
			for _, name := range []string{"first", "second"} {
				want = append(want, fmt.Sprintf("%s after 0 attempt %d: %s", name, tc.attempts, tc.outcome))
			}
			if got := told.all()[before:]; !slices.Equal(got, want) {
				t.Errorf("%s: told\n%s\nwant\n%s", tc.parameter, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		c.configure(func(cfg *job.Config) { cfg.Listeners = []string{"first"} })
		c.until("the change is in force", func() bool { return c.says(m).Accepted == c.configured() })
		before := len(told.all())
		result := c.trigger(m)
		c.wait(result)
		if got, want := told.all()[before:], []string{"first before 0", "attempt 1", "first after 0 attempt 1: OK <nil>, <nil>"}; !slices.Equal(got, want) {
			t.Errorf("after the change: %q", got)
		}
	})
}

// An error, a panic, and a listener that does not return hold nothing up, and change no outcome.
func TestListenersHoldNothingUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		told := newMinutes()
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount = rarely, 1
		cfg.Listeners = []string{"fails", "panics", "ends", "late", "deaf", "last"}
		never := make(chan struct{})
		defer close(never)
		m := c.join("10.0.0.1", cfg, nil, told.errorsTo(), job.WithListenerTimeout(time.Second),
			job.WithListener("fails", job.ListenerFuncs{OnBefore: func(context.Context, job.ShardingContext) error { return errors.New("no disk") }}),
			job.WithListener("panics", job.ListenerFuncs{OnBefore: func(context.Context, job.ShardingContext) error { panic("no memory") }}),
			job.WithListener("ends", job.ListenerFuncs{OnAfter: func(context.Context, job.ShardingContext, job.Outcome, error) error {
				runtime.Goexit()
				return nil
			}}),
			job.WithListener("late", job.ListenerFuncs{OnBefore: func(ctx context.Context, _ job.ShardingContext) error {
				<-ctx.Done()
				return ctx.Err()
			}}),
			job.WithListener("deaf", job.ListenerFuncs{OnBefore: func(context.Context, job.ShardingContext) error {
				<-never
				return nil
			}}),
			job.WithListener("last", told.listens("last")))
		begun := time.Now()
		result := c.trigger(m)
		if got := resultsOf(c.wait(result)); !slices.Equal(got, []job.Outcome{job.OutcomeOK}) {
			t.Errorf("outcomes %v", got)
		}
		if took := time.Since(begun); took > 4*time.Second {
			t.Errorf("it took %v", took)
		}
		want := []string{
			`error of 0: job: listener "fails": Before: no disk`,
			`error of 0: job: listener "panics": Before: job: panic: no memory`,
			`error of 0: job: listener "late": Before: job: listener did not return in time: context deadline exceeded`,
			`error of 0: job: listener "deaf": Before: job: listener did not return in time: the call is left behind, 1s after its context has ended: job: listener did not return in time`,
			"last before 0",
			"last after 0 attempt 1: OK <nil>, <nil>",
			`error of 0: job: listener "ends": After: job: handler called runtime.Goexit`,
		}
		if got := told.all(); !slices.Equal(got, want) {
			t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for range 110 {
			result := c.trigger(m)
			c.wait(result)
		}
		if !has(`error of 0: job: listener "deaf": Before: job: listener did not return in time: it was not called, because 100 earlier calls`)(told.all()) {
			t.Error("calls that do not return are not bounded")
		}
	})
}

// A name that is not known refuses the configuration, at the start and later.
func TestUnknownListener(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Listeners = []string{"audit", "gone"}
		for says, opts := range map[string][]job.Option{
			`jobListenerTypes "audit": not known here; WithListener and WithOnceListener`: nil,
			`jobListenerTypes "gone": not known here, audit are`:                          {job.WithListener("audit", job.ListenerFuncs{})},
		} {
			var refused *job.ConfigError
			if err := c.dial("10.0.0.9").schedule(t.Context(), cfg, nil, opts...); !errors.As(err, &refused) || !strings.Contains(err.Error(), says) {
				t.Errorf("%v, want %s", err, says)
			}
		}
		cfg.Listeners = nil
		m := c.join("10.0.0.1", cfg, nil)
		c.configure(func(cfg *job.Config) { cfg.Listeners = []string{"gone"} })
		m.awaitFault(jobtype.FaultConfig, `jobListenerTypes "gone"`)
		c.configure(func(cfg *job.Config) { cfg.Listeners = nil })
		m.awaitFaultOver(jobtype.FaultConfig)
	})
}
