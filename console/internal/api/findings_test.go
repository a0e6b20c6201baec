package api

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// Of a namespace there is one examination at a time, whose report all get who ask meanwhile and soon after.
func TestExaminationsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e examinations
		begun := 0
		examine := func(ctx context.Context) (doctor.Report, error) {
			begun++
			sleep.For(ctx, 5*time.Second)
			return doctor.Report{Looks: begun}, nil
		}
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				sleep.For(t.Context(), time.Duration(i)*time.Second)
				if r, err := e.of(t.Context(), "a", examine); r.Looks != 1 || err != nil {
					t.Errorf("%d: %+v, %v", i, r, err)
				}
			})
		}
		all.Wait()
		if r, err := e.of(t.Context(), "b", examine); r.Looks != 2 || err != nil {
			t.Errorf("another namespace: %+v, %v", r, err)
		}
		pass(keepReport)
		if r, err := e.of(t.Context(), "a", examine); r.Looks != 3 || err != nil {
			t.Errorf("later: %+v, %v", r, err)
		}
		if len(e.known) != 1 {
			t.Errorf("%d reports are kept", len(e.known))
		}
	})
}

// If whoever has begun goes away, another one who waits begins anew; an error is for all who wait, and not kept.
func TestExaminationsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e examinations
		gone, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			_, err := e.of(gone, "a", func(ctx context.Context) (doctor.Report, error) {
				<-ctx.Done()
				return doctor.Report{}, context.Cause(ctx)
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("who goes away: %v", err)
			}
		})
		synctest.Wait()
		broken := errors.New("broken")
		examine := func(ctx context.Context) (doctor.Report, error) {
			sleep.For(ctx, time.Second)
			return doctor.Report{}, broken
		}
		for range 3 {
			all.Go(func() {
				if _, err := e.of(t.Context(), "a", examine); !errors.Is(err, broken) {
					t.Errorf("who waits: %v", err)
				}
			})
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := e.of(short, "a", examine); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who does not wait for long: %v", err)
		}
		leave()
		all.Wait()
		if r, err := e.of(t.Context(), "a", func(context.Context) (doctor.Report, error) { return doctor.Report{Looks: 1}, nil }); r.Looks != 1 || err != nil {
			t.Errorf("afterwards: %+v, %v", r, err)
		}
	})
}
