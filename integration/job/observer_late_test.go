package job_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// An observer is told how late a handler is called. The delay of a job with jitter is not late.
func TestObserverIsToldOfLateness(t *testing.T) {
	const work = 5 * time.Second
	for _, c := range []struct {
		name   string
		jitter time.Duration
		late   time.Duration // of the later of two items that share a thread
	}{
		{"a thread is busy", 0, work},
		{"all begin with jitter", 30 * time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, cl *cluster, _ *memory.Store) {
				cfg := cl.config()
				cfg.Cron, cfg.ShardingTotalCount, cfg.Threads, cfg.Jitter = "0 * * * * ?", 2, 1, c.jitter
				var w witness
				cl.join("10.0.0.1", cfg, forAWhile(work), w.option())
				cl.pass(3 * time.Minute)
				var first, last time.Duration
				for _, e := range w.all() {
					if e.Kind == jobtype.EventStarted {
						first, last = last, e.Late
					}
				}
				first, last = min(first, last), max(first, last)
				if first > 100*time.Millisecond || (last-c.late).Abs() > 100*time.Millisecond {
					t.Errorf("the items of the last tick began %v and %v late, want 0 and %v", first, last, c.late)
				}
			})
		})
	}
}
