package storeclock

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a store whose clock a test sets, and the session with it.
type fake struct {
	off   atomic.Int64 // of its clock
	fails atomic.Bool
	asked atomic.Int64
	open  chan *session // the next sessions
}

type session struct {
	coord.Session
	ctx context.Context
	end context.CancelFunc
}

func (s *session) Context() context.Context { return s.ctx }

var errUnread = errors.New("not to be read")

func (f *fake) compare(context.Context) (coord.Clock, error) {
	f.asked.Add(1)
	if f.fails.Load() {
		return coord.Clock{}, errUnread
	}
	now := time.Now()
	return coord.NewClock(now, now.Add(time.Duration(f.off.Load())), 0), nil
}

// follow runs a keeper in virtual time while the test goes on.
func follow(t *testing.T, test func(t *testing.T, f *fake, k *Keeper, first *session)) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{open: make(chan *session, 1)}
		first := f.reopen(t)
		current := first
		k := New(func(ctx context.Context) (coord.Session, error) {
			if ctx.Err() == nil && current.ctx.Err() == nil {
				return current, nil
			}
			select {
			case current = <-f.open:
				return current, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}, f.compare)
		<-f.open // which is the current one
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); k.Run(ctx) }()
		synctest.Wait()
		test(t, f, k, first)
		ended := time.Now()
		end() // which is enough, also while there is a session
		<-done
		if late := time.Since(ended); late > 0 {
			t.Errorf("it went on for %v after its end", late)
		}
	})
}

// reopen makes the next session.
func (f *fake) reopen(t *testing.T) *session {
	ctx, end := context.WithCancel(t.Context())
	s := &session{ctx: ctx, end: end}
	f.open <- s
	return s
}

// in returns how often the store was asked in a time.
func (f *fake) in(t *testing.T, d time.Duration) int64 {
	t.Helper()
	before := f.asked.Load()
	if !sleep.For(t.Context(), d) {
		t.Fatal(t.Context().Err())
	}
	synctest.Wait()
	return f.asked.Load() - before
}

func within(t *testing.T, what string, n, least, most int64) {
	t.Helper()
	if n < least || n > most {
		t.Errorf("%s it was asked %d times, want %d to %d", what, n, least, most)
	}
}

func TestClocksThatAgree(t *testing.T) {
	follow(t, func(t *testing.T, f *fake, k *Keeper, first *session) {
		if !k.Clock().Known() || f.asked.Load() != 1 {
			t.Errorf("asked %d times at the start: %+v", f.asked.Load(), k.Clock())
		}
		within(t, "in half an hour", f.in(t, 30*time.Minute), 0, 0)
		within(t, "in a day", f.in(t, 24*time.Hour), 20, 32)
		first.end()
		within(t, "without a session", f.in(t, time.Hour), 0, 0)
		next := f.reopen(t)
		defer next.end()
		within(t, "as another session begins", f.in(t, 0), 0, 0) // everybody has one after an outage
		within(t, "in another session", f.in(t, 2*spread), 1, 1)
	})
}

// A step of either clock, or a wrong reading, lasts no longer than until the next look.
func TestClocksThatDiffer(t *testing.T) {
	follow(t, func(t *testing.T, f *fake, k *Keeper, _ *session) {
		for _, off := range []time.Duration{time.Minute, -time.Minute} {
			f.off.Store(int64(off))
			f.in(t, 2*time.Hour) // the store's clock is asked once an hour
			if ahead := k.Clock().Ahead(time.Now()); ahead != -off {
				t.Errorf("ahead by %v, want %v", ahead, -off)
			}
			within(t, "while they differ, in an hour", f.in(t, time.Hour), 40, 90)
			f.off.Store(0)
			f.in(t, 2*lastLook)
			if ahead := k.Clock().Ahead(time.Now()); ahead != 0 {
				t.Errorf("ahead by %v although they agree", ahead)
			}
			within(t, "when they agree again, in half an hour", f.in(t, 30*time.Minute), 0, 0)
		}
	})
}

// A clock that cannot be read is asked again with a back-off. What was known stays known.
func TestClockThatCannotBeRead(t *testing.T) {
	follow(t, func(t *testing.T, f *fake, k *Keeper, first *session) {
		f.fails.Store(true)
		first.end()
		next := f.reopen(t)
		defer next.end()
		within(t, "in a minute", f.in(t, time.Minute), 4, 8)
		within(t, "in the hour after that", f.in(t, time.Hour), 40, 90)
		if c := k.Clock(); !errors.Is(c.Err(), errUnread) || !c.Known() {
			t.Errorf("%+v", c)
		}
		f.fails.Store(false)
		f.in(t, 2*lastBackoff)
		if err := k.Clock().Err(); err != nil {
			t.Error(err)
		}
	})
}
