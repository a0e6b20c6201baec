package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// trial is an execution with a handler and an error handler that record how they are called.
type trial struct {
	Execution
	began    time.Time
	attempts []time.Duration // when each began
	numbers  []int           // jobtype.ShardingContext.Attempt of each
	reported []error
	told     []jobtype.ShardingContext
	logged   *observer.ObservedLogs
	outcome  jobtype.Outcome
	retried  int
}

// try returns an execution. outcome is called for each attempt, and returns its error.
func try(outcome func(ctx context.Context, n int) error) *trial {
	core, logged := observer.New(zapcore.DebugLevel)
	x := &trial{logged: logged, began: time.Now()}
	x.Execution = Execution{
		Session:  lastingSession{},
		Log:      zap.New(core),
		Reporter: health.NewReporter(health.ReporterConfig{Now: time.Now, Observers: &health.Observers{}}),
		Scopes: Scopes{open: []func(jobtype.Event){func(e jobtype.Event) {
			if e.Kind == jobtype.EventRetried {
				x.retried++
			}
		}}},
		Context: jobtype.ShardingContext{JobName: "settle", TaskID: "task", Item: 3, Attempt: 1, Token: 7, Source: jobtype.SourceNormal},
		Handler: jobtype.HandlerFunc(func(ctx context.Context, sc jobtype.ShardingContext) error {
			x.attempts = append(x.attempts, time.Since(x.began))
			x.numbers = append(x.numbers, sc.Attempt)
			return outcome(ctx, len(x.attempts))
		}),
		Errors: onlyHandler(zap.New(core), func(ctx context.Context, sc jobtype.ShardingContext, err error) {
			if ctx.Err() != nil {
				panic("the error handler's context has ended")
			}
			x.reported = append(x.reported, err)
			x.told = append(x.told, sc)
		}),
	}
	return x
}

// onlyHandler returns error handlers of which there is one.
func onlyHandler(log *zap.Logger, h jobtype.ErrorHandlerFunc) *ErrorHandlers {
	return &ErrorHandlers{log: log, list: []namedErrorHandler{{"ONLY", h}}}
}

// do runs the execution, as the goroutine of a run does.
func (x *trial) do(ctx context.Context) (err error) {
	x.outcome, err = x.Execution.callWithListeners(ctx)
	return err
}

var errHandler = errors.New("the handler failed")

func TestRetries(t *testing.T) {
	failing := func(times int) func(context.Context, int) error {
		return func(_ context.Context, n int) error {
			if n <= times {
				return fmt.Errorf("attempt %d: %w", n, errHandler)
			}
			return nil
		}
	}
	const always = 1000
	s := time.Second
	for _, c := range []struct {
		name  string
		fails int
		retry jobtype.Retry
		want  []time.Duration // when the attempts have to begin
	}{
		{"it succeeds", 0, jobtype.Retry{}, []time.Duration{0}},
		{"it succeeds, and could be tried again", 0, jobtype.Retry{Attempts: 3, InitialBackoff: s, MaxBackoff: s}, []time.Duration{0}},
		{"it is not tried again", always, jobtype.Retry{InitialBackoff: s, MaxBackoff: s}, []time.Duration{0}},
		{"it succeeds in the end", 2, jobtype.Retry{Attempts: 3, InitialBackoff: s, MaxBackoff: time.Minute}, []time.Duration{0, s, 3 * s}},
		{"it does not", always, jobtype.Retry{Attempts: 3, InitialBackoff: s, MaxBackoff: time.Minute}, []time.Duration{0, s, 3 * s, 7 * s}},
		{"the wait is bounded", always, jobtype.Retry{Attempts: 4, InitialBackoff: s, MaxBackoff: 3 * s}, []time.Duration{0, s, 3 * s, 6 * s, 9 * s}},
		{"no wait at all", always, jobtype.Retry{Attempts: 3, InitialBackoff: -1, MaxBackoff: time.Minute}, []time.Duration{0, 0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := try(failing(c.fails))
				x.Retry = c.retry
				err := x.do(t.Context())
				if !slices.Equal(x.attempts, c.want) {
					t.Errorf("attempts at %v, want %v", x.attempts, c.want)
				}
				if x.retried != len(c.want)-1 {
					t.Errorf("%d retries were told of, want %d", x.retried, len(c.want)-1)
				}
				for i, n := range x.numbers {
					if n != i+1 {
						t.Errorf("the attempts are told %v", x.numbers)
					}
				}
				if c.fails < always {
					if err != nil || len(x.reported) > 0 {
						t.Errorf("got %v, reported %v", err, x.reported)
					}
					return
				}
				last := fmt.Sprintf("attempt %d: %v", len(c.want), errHandler)
				if err == nil || err.Error() != last || !errors.Is(err, errHandler) {
					t.Errorf("got %v, want %s", err, last)
				}
				if len(x.reported) != 1 || x.reported[0] != err {
					t.Fatalf("reported %v, want %v once", x.reported, err)
				}
				if x.told[0].Attempt != len(c.want) || x.told[0].Item != 3 || x.told[0].Token != 7 {
					t.Errorf("the error handler is told %+v", x.told[0])
				}
			})
		})
	}
}

// The time-out bounds all attempts together. It is the cause with which the handler's context
// ends, and a failure of the item like any other.
func TestTimeout(t *testing.T) {
	untilDone := func(ctx context.Context, _ int) error { <-ctx.Done(); return context.Cause(ctx) }
	t.Run("of a handler", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := try(untilDone)
			x.Timeout = 10 * time.Second
			x.Retry = jobtype.Retry{Attempts: 5, InitialBackoff: time.Second, MaxBackoff: time.Second}
			if err := x.do(t.Context()); err != jobtype.ErrTimeout {
				t.Errorf("got %v", err)
			}
			if got := time.Since(x.began); got != 10*time.Second {
				t.Errorf("after %v", got)
			}
			if x.outcome != jobtype.OutcomeTimeout || len(x.attempts) != 1 || len(x.reported) != 1 || x.reported[0] != jobtype.ErrTimeout {
				t.Errorf("%v, attempts %v, reported %v", x.outcome, x.attempts, x.reported)
			}
		})
	})
	t.Run("between attempts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := try(func(context.Context, int) error { return errHandler })
			x.Timeout = 10 * time.Second
			x.Retry = jobtype.Retry{Attempts: 5, InitialBackoff: 8 * time.Second, MaxBackoff: time.Minute}
			if err := x.do(t.Context()); err != errHandler {
				t.Errorf("got %v", err)
			}
			if want := []time.Duration{0, 8 * time.Second}; !slices.Equal(x.attempts, want) || time.Since(x.began) != x.Timeout {
				t.Errorf("attempts at %v, over after %v", x.attempts, time.Since(x.began))
			}
			if len(x.reported) != 1 || x.reported[0] != errHandler {
				t.Errorf("reported %v", x.reported)
			}
		})
	})
	t.Run("of a handler that succeeds all the same", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := try(func(ctx context.Context, _ int) error { <-ctx.Done(); return nil })
			x.Timeout = time.Second
			if err := x.do(t.Context()); err != nil || len(x.reported) > 0 {
				t.Errorf("got %v, reported %v", err, x.reported)
			}
		})
	})
	t.Run("none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := try(func(ctx context.Context, _ int) error {
				if _, bounded := ctx.Deadline(); bounded {
					return errors.New("the context has a deadline")
				}
				return nil
			})
			if err := x.do(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
}

// A run whose context ends was cut short. That is not a failure: the error handler is not
// told, and the item is not tried again.
func TestCutRunsAreNotFailures(t *testing.T) {
	for _, cause := range []error{coord.ErrSessionLost, jobtype.ErrShutdown, jobtype.ErrItemLost, jobtype.ErrJobRemoved} {
		for _, timeout := range []time.Duration{0, time.Hour} {
			t.Run(fmt.Sprintf("%v within %v", cause, timeout), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					x := try(func(ctx context.Context, _ int) error { <-ctx.Done(); return context.Cause(ctx) })
					x.Timeout = timeout
					x.Retry = jobtype.Retry{Attempts: 5, InitialBackoff: time.Second, MaxBackoff: time.Second}
					time.AfterFunc(time.Minute, func() { cancel(cause) })
					if err := x.do(ctx); err != cause {
						t.Errorf("got %v", err)
					}
					if len(x.attempts) != 1 || len(x.reported) > 0 || time.Since(x.began) != time.Minute {
						t.Errorf("attempts at %v, reported %v, over after %v", x.attempts, x.reported, time.Since(x.began))
					}
				})
			})
		}
	}
	t.Run("between attempts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			x := try(func(context.Context, int) error { return errHandler })
			x.Retry = jobtype.Retry{Attempts: 5, InitialBackoff: time.Hour, MaxBackoff: time.Hour}
			time.AfterFunc(time.Minute, func() { cancel(jobtype.ErrShutdown) })
			if err := x.do(ctx); err != errHandler {
				t.Errorf("got %v", err)
			}
			if len(x.attempts) != 1 || len(x.reported) > 0 || time.Since(x.began) != time.Minute {
				t.Errorf("attempts at %v, reported %v, over after %v", x.attempts, x.reported, time.Since(x.began))
			}
		})
	})
	t.Run("before the time-out, and past it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			x := try(func(ctx context.Context, _ int) error {
				<-ctx.Done()
				<-time.After(time.Minute)
				return errHandler
			})
			x.Timeout = 2 * time.Second
			time.AfterFunc(time.Second, func() { cancel(coord.ErrSessionLost) })
			if err := x.do(ctx); err != errHandler || len(x.reported) > 0 {
				t.Errorf("got %v, reported %v", err, x.reported)
			}
		})
	})
}

func TestPanics(t *testing.T) {
	t.Run("of a handler", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := try(func(context.Context, int) error { panic("oh") })
			err := x.do(t.Context())
			p, ok := errors.AsType[*jobtype.PanicError](err)
			if !ok || p.Value != "oh" || !strings.Contains(string(p.Stack), "TestPanics") || !strings.Contains(err.Error(), "oh") {
				t.Fatalf("got %v", err)
			}
			if len(x.reported) != 1 || x.reported[0] != err {
				t.Errorf("reported %v", x.reported)
			}
		})
	})
	t.Run("of a handler that is tried again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := try(func(_ context.Context, n int) error {
				if n == 1 {
					panic(errHandler)
				}
				return nil
			})
			x.Retry = jobtype.Retry{Attempts: 1, InitialBackoff: time.Second, MaxBackoff: time.Second}
			if err := x.do(t.Context()); err != nil || len(x.attempts) != 2 || len(x.reported) > 0 {
				t.Errorf("got %v after %d attempts, reported %v", err, len(x.attempts), x.reported)
			}
		})
	})
	t.Run("of a handler that is cut short", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			x := try(func(ctx context.Context, _ int) error { cancel(jobtype.ErrShutdown); panic("oh") })
			err := x.do(ctx)
			if _, ok := errors.AsType[*jobtype.PanicError](err); !ok || len(x.reported) > 0 {
				t.Errorf("got %v, reported %v", err, x.reported)
			}
		})
	})
	t.Run("of the error handler", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := try(func(context.Context, int) error { return errHandler })
			x.Errors = onlyHandler(x.Log, func(context.Context, jobtype.ShardingContext, error) { panic("oh again") })
			if err := x.do(t.Context()); err != errHandler {
				t.Errorf("got %v", err)
			}
			entries := x.logged.FilterLevelExact(zapcore.ErrorLevel).All()
			if len(entries) != 1 {
				t.Fatalf("logged %v", entries)
			}
			fields := entries[0].ContextMap()
			if fields["panic"] != "oh again" || fields["error"] != errHandler.Error() || fields["item"] != int64(3) || fields["token"] != int64(7) {
				t.Errorf("logged %v", fields)
			}
		})
	})
}

// The default error handler logs a line that names the execution, with the stack of a panic.
func TestLogErrors(t *testing.T) {
	core, logged := observer.New(zapcore.DebugLevel)
	sc := jobtype.ShardingContext{JobName: "settle", TaskID: "task", Item: 3, Source: jobtype.SourceMisfire, Token: 7, Attempt: 2}
	h := LogErrors(zap.New(core))
	h.HandleError(t.Context(), sc, fmt.Errorf("on item 3: %w", &jobtype.PanicError{Value: "oh", Stack: []byte("goroutine 1")}))
	h.HandleError(t.Context(), sc, errHandler)
	IgnoreErrors().HandleError(t.Context(), sc, errHandler)
	entries := logged.FilterLevelExact(zapcore.ErrorLevel).All()
	if len(entries) != 2 {
		t.Fatalf("logged %v", entries)
	}
	for key, want := range map[string]any{
		"task": "task", "item": int64(3), "source": "MISFIRE", "token": int64(7), "error": "on item 3: job: panic: oh", "stack": "goroutine 1",
	} {
		if got := entries[0].ContextMap()[key]; got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	if _, has := entries[1].ContextMap()["stack"]; has {
		t.Error("a stack without a panic")
	}
}

// pausedSession is one whose process was paused: its time is over, but its context goes on.
// It may be that a renewal is read later.
type pausedSession struct {
	coord.Session
	over, renewed time.Time
}

func (s *pausedSession) Deadline() time.Time {
	if now := time.Now(); !now.Before(s.renewed) {
		return now.Add(time.Hour)
	}
	return s.over
}

// After a pause of the process its handlers wait, also for a retry, until it is clear whether
// the session lives.
func TestNoAttemptInASessionThatIsOverdue(t *testing.T) {
	const pause, clear, never = 2 * time.Second, 3 * time.Second, time.Hour
	for name, tc := range map[string]struct {
		over, renewed time.Duration // of the session
		want          []time.Duration
		outcome       jobtype.Outcome
	}{
		"lost before it begins":          {0, never, nil, jobtype.OutcomeCut},
		"lost before a retry":            {time.Second, never, []time.Duration{0}, jobtype.OutcomeCut},
		"renewed before it begins":       {0, clear, []time.Duration{clear, clear + pause}, jobtype.OutcomeOK},
		"renewed, and before the retry":  {time.Second, clear, []time.Duration{0, clear}, jobtype.OutcomeOK},
		"renewed before anybody notices": {time.Second, pause, []time.Duration{0, pause}, jobtype.OutcomeOK},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := try(func(_ context.Context, n int) error {
					if n == 1 {
						return errHandler
					}
					return nil
				})
				x.Session = &pausedSession{over: x.began.Add(tc.over), renewed: x.began.Add(tc.renewed)}
				x.Retry = jobtype.Retry{Attempts: 1, InitialBackoff: pause, MaxBackoff: pause}
				ctx, lose := context.WithCancelCause(t.Context())
				if tc.renewed == never {
					defer time.AfterFunc(clear, func() { lose(coord.ErrSessionLost) }).Stop()
				}
				defer lose(nil)
				err := x.do(ctx)
				if !slices.Equal(x.attempts, tc.want) || x.outcome != tc.outcome {
					t.Errorf("attempts at %v, want %v; outcome %v, want %v", x.attempts, tc.want, x.outcome, tc.outcome)
				}
				if lost := tc.outcome == jobtype.OutcomeCut; lost != errors.Is(err, coord.ErrSessionLost) {
					t.Errorf("got the error %v", err)
				}
			})
		})
	}
}

// lastingSession is a session that does not end.
type lastingSession struct{ coord.Session }

func (lastingSession) Deadline() time.Time { return time.Now().Add(time.Hour) }
