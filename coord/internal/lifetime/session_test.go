package lifetime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/lifetime"
)

// A session ends a tenth of its time-out, at least 200 ms, before the store can drop it, counted
// from when the last renewal was sent.
func TestSessionEndsAtItsDeadline(t *testing.T) {
	for name, test := range map[string]struct {
		renew func(s *lifetime.Session, begin time.Time)
		ends  time.Duration
	}{
		"not renewed":             {func(*lifetime.Session, time.Time) {}, 9 * time.Second},
		"renewed":                 {func(s *lifetime.Session, begin time.Time) { s.Renew(begin.Add(3*time.Second), 0) }, 12 * time.Second},
		"an answer of long ago":   {func(s *lifetime.Session, begin time.Time) { s.Renew(begin.Add(-time.Second), 0) }, 9 * time.Second},
		"a shorter time-out":      {func(s *lifetime.Session, begin time.Time) { s.Renew(begin.Add(time.Second), 5*time.Second) }, 5500 * time.Millisecond},
		"a longer time-out":       {func(s *lifetime.Session, begin time.Time) { s.Renew(begin.Add(time.Second), 20*time.Second) }, 19 * time.Second},
		"the least margin":        {func(s *lifetime.Session, begin time.Time) { s.Renew(begin.Add(3*time.Second), time.Second) }, 3800 * time.Millisecond},
		"suspended":               {func(s *lifetime.Session, _ time.Time) { s.Suspend() }, 9 * time.Second},
		"ended for another cause": {func(s *lifetime.Session, _ time.Time) { s.End(lifetime.ErrRestored) }, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				s := lifetime.New(t.Context())
				s.Renew(begin, 10*time.Second)
				<-time.After(3 * time.Second)
				test.renew(s, begin)
				<-s.Context().Done()
				if took := time.Since(begin); took != test.ends {
					t.Errorf("ended after %v, want %v", took, test.ends)
				}
				if cause := context.Cause(s.Context()); !errors.Is(cause, coord.ErrSessionLost) || s.Alive() {
					t.Errorf("ended with %v, alive: %v", cause, s.Alive())
				}
				if s.Renew(time.Now(), 0) != coord.Lost || s.Alive() {
					t.Error("a lost session came back")
				}
			})
		})
	}
}

func TestSessionStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lifetime.New(t.Context())
		defer s.End(coord.ErrClosed)
		s.SetID(7)
		s.Renew(time.Now(), 10*time.Second)
		for _, step := range []struct {
			do            func() coord.SessionState
			before, after coord.SessionState
		}{
			{s.Suspend, coord.Connected, coord.Suspended},
			{s.Suspend, coord.Suspended, coord.Suspended},
			{func() coord.SessionState { return s.Renew(time.Now(), 0) }, coord.Suspended, coord.Connected},
			{func() coord.SessionState { return s.Renew(time.Now(), 0) }, coord.Connected, coord.Connected},
		} {
			_, changed := s.State()
			before := step.do()
			after, _ := s.State()
			woken := false
			select {
			case <-changed:
				woken = true
			default:
			}
			if before != step.before || after != step.after || woken != (before != after) {
				t.Errorf("from %v to %v, woken %v; want from %v to %v", before, after, woken, step.before, step.after)
			}
		}
		if s.ID() != 7 || s.Interval() != 10*time.Second/3 || !s.Expiry().Equal(s.Renewed().Add(s.Timeout())) {
			t.Errorf("id %v, interval %v, expires at %v", s.ID(), s.Interval(), s.Expiry())
		}
	})
}
