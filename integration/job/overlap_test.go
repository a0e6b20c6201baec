package job_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// Ticks that come while the item runs are skipped, although misfire is on.
func TestOverlapSkip(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Overlap = job.OverlapSkip
		c.join("10.0.0.1", cfg, longItem(2500*time.Millisecond))
		runs := c.awaitRuns("item 0", 3, of(0))
		for n, e := range runs {
			if e.Source != job.SourceNormal {
				t.Errorf("run %d is %v\n%s", n, e.Source, c.record)
			}
			if n > 0 && e.ScheduledTime.Before(runs[n-1].end.Add(-100*time.Millisecond)) {
				t.Errorf("run %d is for %s, which came while it ran\n%s", n, e.ScheduledTime, c.record)
			}
		}
		if c.state().Item(0).Misfire {
			t.Error("its misfire flag is set")
		}
		c.check()
	})
}

// What was missed for another reason is made up.
func TestOverlapSkipMakesUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Overlap, cfg.Cron = job.OverlapSkip, "0/10 * * * * ?"
		m := c.join("10.0.0.1", cfg, nil)
		c.awaitRuns("a tick", 3, anything)
		m.leave()
		c.pass(13 * time.Second)
		c.join("10.0.0.2", cfg, nil)
		c.pass(time.Second)
		if made := c.record.find(func(e execution) bool { return e.Source == job.SourceMisfire }); len(made) != 3 {
			t.Errorf("made up: %+v", made)
		}
		c.check()
	})
}

// A tick that comes while an item waits to be run again, or is run again, is skipped, too.
func TestOverlapSkipAndFailover(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		cfg := c.cluster.config()
		cfg.Overlap = job.OverlapSkip
		crashes := c.join("10.0.0.1", cfg, c.work)
		c.awaitRuns("all items", 3, anything)
		c.timeout = lasting
		c.join("10.0.0.2", cfg, c.work)
		crashes.crash()
		c.awaitRuns("they are taken over", 3, reruns)
		c.elapseTicks(2)
		released := time.Now()
		close(c.release)
		next := c.awaitRuns("the next ticks", 3, func(e execution) bool { return e.Source != job.SourceFailover && e.ip == "10.0.0.2" })
		for _, e := range next {
			if e.Source != job.SourceNormal || e.ScheduledTime.Before(released.Add(-time.Second)) {
				t.Errorf("after the failover: %+v", e)
			}
		}
		c.check()
	})
}

// A job fires when any of its expressions does, once where several do. A change of one of them
// is a change of the schedule.
func TestSeveralExpressions(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.MoreCrons, cfg.TimeZone = "0 * * * * ?", []string{"0/40 * * * * ?", "10 0 * * * ?"}, "UTC"
		c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		begun := time.Now().Truncate(time.Minute)
		c.pass(2*time.Minute + time.Second)
		var ticks []time.Duration
		for _, e := range c.record.find(of(0)) {
			ticks = append(ticks, e.ScheduledTime.Sub(begun))
		}
		want := []time.Duration{10 * time.Second, 40 * time.Second, time.Minute, 100 * time.Second, 2 * time.Minute}
		if len(ticks) != len(want) {
			t.Fatalf("ticks %v, want %v", ticks, want)
		}
		for n := range want {
			if ticks[n] != want[n] {
				t.Errorf("ticks %v, want %v", ticks, want)
			}
		}
		c.configure(func(cfg *job.Config) { cfg.MoreCrons = []string{"30 * * * * ?"} })
		c.await("it is in force", func(s *jobtree.State) bool { return s.Schedule.Cron == "0 * * * * ?\n30 * * * * ?" })
		changed := time.Now()
		c.pass(time.Minute)
		var after []time.Duration
		for _, e := range c.record.find(func(e execution) bool { return e.Item == 0 && e.ScheduledTime.After(changed) }) {
			after = append(after, e.ScheduledTime.Sub(begun)%time.Minute)
		}
		if len(after) != 2 || after[0]+after[1] != 30*time.Second {
			t.Errorf("after the change: %v", after)
		}
		c.check()
	})
}
