package ops_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// coarse is a registry whose store tells whole seconds, as etcd does.
type coarse struct{ coord.Registry }

func (c coarse) Clock() coord.Clock {
	now := time.Now()
	return coord.NewClock(now, now.Add(-400*time.Millisecond), 500*time.Millisecond)
}

// A tick that came shortly before the end of a pause is skipped, however coarse the store's
// clock is.
func TestPauseWithACoarseClock(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		cfg := settle()
		cfg.Cron = "0/10 * * * * ?"
		begun := make(chan time.Time, 100)
		s := runs(t, d, cfg, "10.0.0.1", func(_ context.Context, sc job.ShardingContext) error {
			begun <- sc.ScheduledTime
			return nil
		})
		owns(t, s, 3)
		steer := ops.New(coarse{open(t, d)}).Job("settle")
		pass(time.Until(time.Now().Truncate(10 * time.Second).Add(15 * time.Second)))
		for len(begun) > 0 {
			<-begun
		}
		if _, err := steer.Pause(t.Context(), ops.PauseRequest{}); err != nil {
			t.Fatal(err)
		}
		pass(5*time.Second + 200*time.Millisecond)
		if err := steer.Resume(t.Context(), ops.ResumeRequest{}); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		for len(begun) > 0 {
			t.Errorf("tick %v has begun, which came in the pause", <-begun)
		}
	})
}

// pass lets time pass in the bubble. It panics outside of one, where a test must not sleep.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
