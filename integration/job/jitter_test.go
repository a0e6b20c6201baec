package job_test

import (
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// delays returns how long after their ticks the items began, by their schedule.
func (c *cluster) delays() map[int][]time.Duration {
	delays := map[int][]time.Duration{}
	for _, e := range c.record.find(func(e execution) bool { return e.Source == job.SourceNormal }) {
		delays[e.Item] = append(delays[e.Item], e.begin.Sub(e.ScheduledTime))
	}
	return delays
}

// Each item begins some time after its tick, always the same, whoever runs it, and the items
// begin at different times.
func TestJitter(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount, cfg.Jitter = "0/20 * * * * ?", 10, 16*time.Second
		m := c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}})
		c.pass(time.Minute)
		c.join("10.0.0.2", cfg, nil)
		c.pass(40 * time.Second)
		m.leave()
		c.pass(time.Minute)
		delays, first := c.delays(), []time.Duration{}
		for item := range 10 {
			list := delays[item]
			if len(list) < 7 {
				t.Fatalf("item %d began %d times\n%s", item, len(list), c.record)
			}
			for _, d := range list {
				if diff := d - list[0]; diff.Abs() > 50*time.Millisecond {
					t.Errorf("item %d began %v after its tick, and %v after another", item, list[0], d)
				}
			}
			first = append(first, list[0])
		}
		slices.Sort(first)
		for n, d := range first {
			if d < 0 || d > cfg.Jitter || n > 0 && d-first[n-1] < 500*time.Millisecond {
				t.Errorf("the items begin %v after their ticks", first)
				break
			}
		}
		if n := len(c.record.find(func(e execution) bool { return e.Source != job.SourceNormal })); n > 0 {
			t.Errorf("%d were made up\n%s", n, c.record)
		}
		c.check()
	})
}

// An item begins before the next tick, however long the jitter is.
func TestJitterIsBoundedByTheNextTick(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Jitter = time.Hour
		for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
			c.join(ip, cfg, nil, job.WithEarlyClaims(200*time.Millisecond))
		}
		c.awaitRuns("all items", 9, func(e execution) bool { return e.Source == job.SourceNormal })
		for item, list := range c.delays() {
			for _, d := range list {
				if d < 0 || d > 1500*time.Millisecond {
					t.Errorf("item %d began %v after its tick", item, d)
				}
			}
		}
		c.check()
	})
}

// What was missed is made up; a tick whose delay falls into a pause is one of the pause; and a
// change of the jitter starts no tick twice.
func TestJitterAndMissedTicks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.Jitter = "0 * * * * ?", 50*time.Second
		m := c.join("10.0.0.1", cfg, nil)
		c.pass(2*time.Minute - time.Second)
		delays := c.delays()
		last := 0 // the item that begins last
		for item, d := range delays {
			if d[0] > delays[last][0] {
				last = item
			}
		}
		c.pass(time.Second + time.Millisecond) // to the next tick
		c.pause(true)
		c.pass(2 * time.Minute)
		if n := len(c.record.find(of(last))); n != 1 {
			t.Errorf("item %d began %d times before the pause was over\n%s", last, n, c.record)
		}
		c.resume(nil)
		c.pass(time.Second)
		if made := c.record.find(func(e execution) bool { return e.Item == last && e.Source == job.SourceMisfire }); len(made) != 1 {
			t.Errorf("made up after the pause: %+v", made)
		}
		m.leave()
		c.pass(3 * time.Minute)
		before := len(c.record.find(func(e execution) bool { return e.Source == job.SourceMisfire }))
		c.join("10.0.0.2", cfg, nil)
		c.pass(time.Second)
		if made := len(c.record.find(func(e execution) bool { return e.Source == job.SourceMisfire })) - before; made != 3 {
			t.Errorf("%d items were made up after the restart\n%s", made, c.record)
		}
		c.configure(func(cfg *job.Config) { cfg.Jitter = time.Second })
		c.pass(90 * time.Second)
		c.configure(func(cfg *job.Config) { cfg.Jitter = time.Minute })
		c.pass(2 * time.Minute)
		c.check()
	})
}

// An item of a job with jitter is late only when its own time has come, and then a fault says so.
func TestJitterIsNoFault(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.Jitter = "0 * * * * ?", 50*time.Second
		m := c.join("10.0.0.1", cfg, nil)
		other := c.join("10.0.0.2", cfg, nil)
		c.pass(3 * time.Minute)
		for _, m := range []*member{m, other} {
			for _, f := range m.awaitSound().Faults {
				t.Errorf("fault: %v", f)
			}
		}
		c.await("nothing is flagged", func(s *jobtree.State) bool {
			return !s.Item(0).Misfire && !s.Item(1).Misfire && !s.Item(2).Misfire
		})
		c.check()
	})
}
