package job_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// Fifty instances, far from the store, take over 400 items. They do not all try to get the
// same ones, and no regular tick is lost meanwhile.
func TestManyTakersSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takers, waiting = 50, 400
		c := newCluster(t, newMemoryStore(t), "settle")
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.Threads, cfg.Cron = waiting+takers, 4, "0/5 * * * * ?"
		cfg.Misfire = job.Off
		var o outcomes
		work := forAWhile(200 * time.Millisecond)
		for i := range takers {
			o.join(c, fmt.Sprintf("10.0.1.%d", i), 15*time.Millisecond, cfg, work)
		}
		c.await("all items assigned", func(s *jobtree.State) bool { return len(owners(s, waiting+takers)) == takers })
		c.awaitRuns("some ticks", 3*(waiting+takers), anything)
		c.settled()
		o.commits.Store(0)
		o.conflicts.Store(0)
		var ops []coord.Op
		for i := range waiting {
			ops = append(ops, coord.Put(c.job.FailoverItem(i), nil))
		}
		c.commitInChunks(coord.MaxOps, ops)
		c.awaitRuns("all of them again", waiting, reruns)
		c.settled()
		commits, conflicts := o.commits.Load(), o.conflicts.Load()
		t.Logf("%d commits, %d conflicts", commits, conflicts)
		if conflicts > commits*15/100 {
			t.Errorf("%d of %d commits conflicted", conflicts, commits)
		}
		ticks := map[time.Time]int{}
		for _, e := range c.record.find(func(e execution) bool { return e.Source == job.SourceNormal }) {
			ticks[e.ScheduledTime]++
		}
		t.Log(len(ticks), "ticks")
		c.check()
	})
}

// A process that leads many jobs leaves. Other processes become leaders of the jobs: they do
// not all try to get each job, and no single one gets all.
func TestLeadersOfManyJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const processes, jobs = 20, 50
		s := newMemoryStore(t)
		c := newCluster(t, s, "jobs")
		all, err := c.admin.View(t.Context(), "", coord.AllLevels)
		c.must(err)
		t.Cleanup(all.Close)
		var o outcomes
		schedulers := make([][]*job.Scheduler, processes)
		for p := range processes {
			m := c.dial(fmt.Sprintf("10.0.1.%d", p))
			m.link.(*memory.Link).Delay(5 * time.Millisecond)
			for j := range jobs {
				one, err := job.Schedule(t.Context(), &counted{m.reg, &o}, job.Config{
					Name: fmt.Sprintf("job%d", j), Cron: rarely, ShardingTotalCount: 3,
				}, job.HandlerFunc(untilDone), job.WithIP(m.ip), job.WithLogger(zap.NewNop()))
				c.must(err)
				schedulers[p] = append(schedulers[p], one)
			}
		}
		leaders := func() map[string]int {
			led := map[string]int{}
			for j := range jobs {
				if leader := jobtree.Read(all.Snapshot(), jobtree.Job(fmt.Sprintf("job%d", j))).Leader; leader != nil {
					led[jobtree.InstanceIP(leader.ID)]++
				}
			}
			return led
		}
		c.pass(10 * time.Second)
		if led := leaders(); led["10.0.1.0"] != jobs {
			t.Fatalf("the first process leads %d jobs: %v", led["10.0.1.0"], led)
		}
		o.commits.Store(0)
		o.conflicts.Store(0)
		for _, one := range schedulers[0] {
			c.ok(one.Shutdown(t.Context()))
		}
		c.pass(10 * time.Second)
		commits, conflicts, led := o.commits.Load(), o.conflicts.Load(), leaders()
		t.Logf("%d commits, %d conflicts; %v", commits, conflicts, led)
		if conflicts > commits/10 {
			t.Errorf("%d of %d commits conflicted", conflicts, commits)
		}
		sum, most := 0, 0
		for _, n := range led {
			sum += n
			most = max(most, n)
		}
		if sum != jobs || most > jobs/4 {
			t.Errorf("%d jobs are led, %d by one process: %v", sum, most, led)
		}
		for p := 1; p < processes; p++ {
			for _, one := range schedulers[p] {
				c.ok(one.Shutdown(t.Context()))
			}
		}
	})
}
