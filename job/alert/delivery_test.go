package alert_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job/alert"
)

var errBusy = errors.New("the receiver is busy")

// When attempts come, and how many.
func TestAttempts(t *testing.T) {
	always := func(err error) func(context.Context, int) error {
		return func(context.Context, int) error { return err }
	}
	for name, tc := range map[string]struct {
		props       map[string]string
		answer      func(context.Context, int) error
		calls       int
		least, most time.Duration // from the first to the last
		delivered   bool
	}{
		"success": {answer: always(nil), calls: 1, delivered: true},
		"twice": {answer: func(_ context.Context, call int) error {
			if call < 3 {
				return errBusy
			}
			return nil
		}, calls: 3, least: 1500 * time.Millisecond, most: 3 * time.Second, delivered: true},
		"ten times":    {answer: always(errBusy), calls: 10, least: 241 * time.Second / 2, most: 243 * time.Second},
		"as asked for": {props: map[string]string{"alert.attempts": "2"}, answer: always(errBusy), calls: 2, least: time.Second / 2, most: time.Second},
		"never":        {answer: always(fmt.Errorf("wrapped: %w", alert.Permanent(errBusy))), calls: 1},
		"panic":        {answer: func(context.Context, int) error { panic("sender") }, calls: 1},
		"Goexit":       {answer: func(context.Context, int) error { runtime.Goexit(); return nil }, calls: 1},
		"Retry-After": {props: map[string]string{"alert.attempts": "2"}, answer: always(alert.RetryAfter(errBusy, time.Minute)),
			calls: 2, least: time.Minute, most: 66 * time.Second},
		"Retry-After, too long": {props: map[string]string{"alert.attempts": "2"}, answer: always(alert.RetryAfter(errBusy, 24*time.Hour)),
			calls: 2, least: 5 * time.Minute, most: 330 * time.Second},
		"Retry-After, too short": {props: map[string]string{"alert.attempts": "3"}, answer: always(alert.RetryAfter(errBusy, 0)),
			calls: 3, least: 1500 * time.Millisecond, most: 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var begin, last time.Time
				s := &sink{answer: func(ctx context.Context, call int) error {
					if last = time.Now(); call == 1 {
						begin = last
					}
					return tc.answer(ctx, call)
				}}
				var log logged
				h := newHandler(t, to(s), log.logger(), tc.props)
				h.HandleError(t.Context(), execution(0), errDisk)
				synctest.Wait()
				time.Sleep(time.Hour)
				synctest.Wait()
				if took := last.Sub(begin); s.calls != tc.calls || took < tc.least || took > tc.most {
					t.Errorf("%d attempts in %v, want %d in %v to %v", s.calls, took, tc.calls, tc.least, tc.most)
				}
				if delivered := len(s.take()) == 1; delivered != tc.delivered {
					t.Errorf("delivered is %t", delivered)
				}
				if said := strings.Contains(log.String(), "an alert was not sent"); said == tc.delivered {
					t.Errorf("the log: %s", log.String())
				}
				err := h.Flush(t.Context())
				if (err == nil) != tc.delivered {
					t.Errorf("Flush: %v", err)
				}
				if err != nil && err.Error() != "alert: job settle: no message has told of 1 failures or recoveries" {
					t.Errorf("Flush: %v", err)
				}
			})
		})
	}
}

// What was given up is said by the next message that is sent, and by the log at growing
// intervals.
func TestUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		s := &sink{answer: func(context.Context, int) error {
			if down {
				return alert.Permanent(errors.New("no such webhook"))
			}
			return nil
		}}
		var log logged
		h := newHandler(t, to(s), log.logger(), nil)
		for range 600 { // 10 hours
			h.HandleError(t.Context(), execution(0), errDisk)
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		if lines := strings.Count(log.String(), "an alert was not sent"); lines < 8 || lines > 16 {
			t.Errorf("%d lines in 10 hours", lines)
		}
		if !strings.Contains(log.String(), `msg="an alert was not sent" job=settle handler=SINK recovery=false count=1 unsent=1 error="no such webhook"`) {
			t.Errorf("the log: %.500s", log.String())
		}
		down = false
		for range 2 {
			h.HandleError(t.Context(), execution(0), errDisk)
			time.Sleep(2 * time.Minute)
			synctest.Wait()
		}
		got := s.take()
		if len(got) != 2 || got[0].Unsent != 600 || got[1].Unsent != 0 {
			t.Errorf("got %+v", got)
		}
		if err := h.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// While the receiver hangs, failures are counted, and nobody waits.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		h := newHandler(t, to(s), nil, map[string]string{"alert.recovery": "true"})
		begin := time.Now()
		for i := range 1000 {
			h.HandleError(t.Context(), execution(i), fmt.Errorf("error %d", i))
		}
		h.HandleSuccess(t.Context(), execution(0))
		if time.Since(begin) > 0 {
			t.Errorf("it took %v", time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := h.Flush(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no message has told of 1001 failures or recoveries") {
			t.Errorf("Flush: %v", err)
		}
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("Flush took %v", took)
		}
		// What is told after that is counted.
		h.HandleError(t.Context(), execution(5), errDisk)
		if err := h.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "1002") {
			t.Errorf("Flush: %v", err)
		}
	})
}

// Flush does not wait for the end of a back-off, but the attempts after that have one.
func TestFlushHurries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(_ context.Context, call int) error {
			if call < 3 {
				return alert.RetryAfter(errBusy, time.Minute)
			}
			return nil
		}}
		h := newHandler(t, to(s), nil, nil)
		h.HandleError(t.Context(), execution(0), errDisk)
		synctest.Wait()
		begin := time.Now()
		if err := h.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took < time.Minute || took > 66*time.Second || len(s.take()) != 1 {
			t.Errorf("took %v", took)
		}
	})
}

// A handler that has nothing to send has no goroutine: synctest would find one at the end.
// After Flush none begins, because nobody would wait for it.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sink
		h := newHandler(t, to(&s), nil, map[string]string{"alert.recovery": "true"})
		h.HandleSuccess(t.Context(), execution(0))
		h.HandleError(t.Context(), execution(0), errDisk)
		synctest.Wait()
		if got := s.take(); len(got) != 1 {
			t.Errorf("got %+v", got)
		}
		if err := h.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		h.HandleError(t.Context(), execution(0), errDisk)
		synctest.Wait()
		if got := s.take(); len(got) != 0 {
			t.Errorf("got %+v after Flush", got)
		}
		if err := h.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "no message has told of 1 failures") {
			t.Errorf("Flush: %v", err)
		}
	})
}

// After a sender that ended its goroutine, the next message is sent, and tells of the one before.
func TestSenderThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(_ context.Context, call int) error {
			if call == 1 {
				runtime.Goexit()
			}
			return nil
		}}
		h := newHandler(t, to(s), nil, nil)
		for range 2 {
			h.HandleError(t.Context(), execution(0), errDisk)
			time.Sleep(2 * time.Minute)
			synctest.Wait()
		}
		if got := s.take(); len(got) != 1 || got[0].Count != 1 || got[0].Unsent != 1 {
			t.Errorf("got %+v", got)
		}
		if err := h.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Many jobs that fail together send few messages at the same time, and all in the end.
func TestParallel(t *testing.T) {
	for name, tc := range map[string]struct {
		options alert.Options
		want    int
	}{
		"default":      {alert.Options{}, 8},
		"as asked for": {alert.Options{Parallel: 3}, 3},
		"wrong":        {alert.Options{Parallel: -1}, 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				now, most := 0, 0
				add := func(n int) {
					mu.Lock()
					defer mu.Unlock()
					now += n
					most = max(most, now)
				}
				s := &sink{answer: func(_ context.Context, call int) error {
					add(1)
					defer add(-1)
					time.Sleep(time.Second)
					if call <= 10 {
						return errBusy
					}
					return nil
				}}
				of := toWith(s, tc.options)
				var handlers []handler
				for range 100 {
					h := newHandler(t, of, nil, nil)
					h.HandleError(t.Context(), execution(0), errDisk)
					handlers = append(handlers, h)
				}
				synctest.Wait()
				time.Sleep(time.Hour)
				for _, h := range handlers {
					if err := h.Flush(t.Context()); err != nil {
						t.Error(err)
					}
				}
				if got := len(s.take()); got != 100 || most != tc.want {
					t.Errorf("%d messages, %d at the same time, want %d", got, most, tc.want)
				}
			})
		})
	}
}

// A message that waits for one to a receiver that hangs is given up when the time of Flush ends.
func TestFlushBehindAHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		of := toWith(s, alert.Options{Parallel: 1})
		hanging, behind := newHandler(t, of, nil, nil), newHandler(t, of, nil, nil)
		hanging.HandleError(t.Context(), execution(0), errDisk)
		synctest.Wait()
		behind.HandleError(t.Context(), execution(0), errDisk)
		synctest.Wait()
		for _, h := range []handler{behind, hanging} {
			begin := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			err := h.Flush(ctx)
			cancel()
			if took := time.Since(begin); took != 5*time.Second || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Flush took %v: %v", took, err)
			}
		}
		if s.calls != 1 {
			t.Errorf("%d calls at the same time", s.calls)
		}
	})
}
