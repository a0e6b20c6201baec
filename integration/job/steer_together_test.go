package job_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Many operators ask at the same time. No request is lost, and none runs twice.
func TestManyOperatorsTrigger(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		const operators = 20
		c := newCluster(t, s, "settle")
		cfg := c.config()
		cfg.Cron = rarely
		c.join("10.0.0.1", cfg, nil)
		c.join("10.0.0.2", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		var asking sync.WaitGroup
		var mu sync.Mutex
		var got []waiter
		for n := range operators {
			asking.Go(func() {
				r, err := c.ops().Trigger(t.Context(), job.TriggerRequest{Parameter: fmt.Sprint(n)})
				if err != nil {
					t.Errorf("operator %d: %v", n, err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				got = append(got, r)
			})
		}
		asking.Wait()
		for _, r := range got {
			if results := resultsOf(c.wait(r)); !slices.Equal(results, []job.Outcome{job.OutcomeOK, job.OutcomeOK, job.OutcomeOK}) {
				t.Errorf("outcomes %v", results)
			}
		}
		ran := map[string]int{}
		for _, e := range c.record.find(anything) {
			ran[fmt.Sprint(e.Item, " for ", e.JobParameter)]++
		}
		if len(ran) != 3*operators || len(c.record.find(anything)) != 3*operators {
			t.Errorf("ran %v", ran)
		}
		c.check()
	})
}

// A kill meets an item that waits to be run again, because nobody has a thread for it.
func TestKillOfWhatWaitsToBeRunAgain(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		cfg := c.config()
		cfg.Threads = 1
		crashes := c.join("10.0.0.1", cfg, c.work)
		c.timeout = lasting
		c.join("10.0.0.2", cfg, c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		first := c.request(0, 1)
		c.awaitRuns("both are busy", 2, anything)
		crashes.crash()
		c.await("item 0 waits", func(s *jobtree.State) bool { return len(s.FailoverItems) == 1 })
		killed := c.kill(ops.KillRequest{Items: []int{0}})
		if len(killed) != 1 || killed[0].Item != 0 || killed[0].Instance != "" {
			t.Errorf("killed %+v", killed)
		}
		close(c.release)
		results := c.wait(first)
		if results[0].Outcome == job.OutcomeOK || results[1].Outcome != job.OutcomeOK {
			t.Errorf("results %+v", results)
		}
		c.settled()
		if again := c.record.find(reruns); len(again) > 0 {
			t.Errorf("run again: %+v", again)
		}
		c.check()
	})
}

// A backfill for which a job that is always late has no time is a fault that names it.
func TestBackfillOfAJobThatIsAlwaysLate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			return elapse(ctx, 1500*time.Millisecond)
		})
		c.awaitRuns("it makes up", 2, func(e execution) bool { return e.Source == job.SourceMisfire })
		to := time.Now().Add(-time.Minute)
		r, err := c.ops().Backfill(t.Context(), ops.BackfillRequest{From: to.Add(-5 * time.Second), To: to})
		c.must(err)
		m.awaitFault(jobtype.FaultStarvation, "request "+r.ID+" waits for it")
		c.must(c.ops().Cancel(t.Context(), r.ID))
		m.awaitStatus("the fault is over", func(s job.Status) bool {
			err := faultOf(s, jobtype.FaultStarvation)
			return err == nil || !strings.Contains(err.Error(), "request")
		})
	})
}
