package job_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// Where clocks differ by more than the time between two ticks, an instance is behind the leader,
// which looks after the members, by whole ticks. Completed still waits for all of them, and
// says how each has ended. When an instance dies, its members end all the same.
func TestOnceListenersUnderClocksThatDiffer(t *testing.T) {
	for _, tt := range []struct {
		name           string
		leader, worker time.Duration // how far ahead the clocks are
		cron           string
		isDark         bool // nobody knows the store's clock
	}{
		{name: "by more than a second", leader: 1500 * time.Millisecond, cron: "* * * * * ?"},
		{name: "by more than three seconds", leader: 4 * time.Second, cron: "0/3 * * * * ?"},
		{name: "by as much as they may", leader: 8 * time.Second, worker: -8 * time.Second, cron: "* * * * * ?"},
		{name: "and the store's is not known", leader: 8 * time.Second, cron: "* * * * * ?", isDark: true},
		{name: "and the worker is ahead", worker: 8 * time.Second, cron: "* * * * * ?"},
	} {
		runInVirtualTime(t, tt.name, func(t *testing.T, c *cluster, _ *memory.Store) {
			l := newLedger()
			var mu sync.Mutex
			completed := map[time.Time]time.Time{} // by tick: when
			l.onCompleted = func(_ context.Context, r job.TickResult) error {
				mu.Lock()
				defer mu.Unlock()
				completed[r.ScheduledTime.UTC()] = time.Now()
				return nil
			}
			cfg := c.onceConfig(4)
			cfg.Cron = tt.cron
			work := forAWhile(100 * time.Millisecond)
			var members []*member
			for n, off := range []time.Duration{tt.leader, tt.worker} {
				clock := &setClock{}
				clock.set(off)
				m := c.dial([]string{"10.0.0.1", "10.0.0.2"}[n])
				if tt.isDark {
					m.reg = darkClock{m.reg}
				}
				c.mustSchedule(m, cfg, work, l.option(job.OnceTimes{}), setup.Clock(clock.now))
				members = append(members, m)
			}
			c.ownedBy("10.0.0.2", 4, 2)
			c.await("the first one leads", func(s *jobtree.State) bool { return s.Leader != nil && jobtree.InstanceIP(s.Leader.ID) == "10.0.0.1" })
			c.pass(time.Minute)
			members[1].crash()
			crashed := time.Now()
			c.pass(time.Minute)
			c.lastTick()
			c.await("nothing is left of the ticks", func(s *jobtree.State) bool { return len(s.Guarantees) == 0 })
			mu.Lock()
			defer mu.Unlock()
			whole := 0
			for tick, at := range completed {
				r := l.completed(tick)[0]
				if len(r.Items) == 4 && len(r.Outcomes) == 4 && r.Err == nil {
					whole++
				}
				for _, item := range r.Items {
					for _, e := range c.record.find(func(e execution) bool {
						return e.Item == item && e.ScheduledTime.Equal(tick) && !(e.ip == "10.0.0.2" && e.begin.After(crashed))
					}) {
						if e.end.IsZero() || e.end.After(at) || r.Outcomes[item] == job.OutcomeSkipped {
							t.Errorf("tick %s was completed at %s with %v for item %d, and its run ended at %s",
								tick.Format(time.TimeOnly), at.Format("05.000"), r.Outcomes[item], item, e.end.Format("05.000"))
						}
					}
				}
			}
			if whole < 25 {
				t.Errorf("%d ticks of four members were completed", whole)
			}
		})
	}
}
