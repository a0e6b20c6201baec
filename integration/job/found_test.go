package job_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// The answer to the commit that sets a job up is lost, and the commit was done, was not, or
// comes later. There is one instance in the end, and it runs the job.
func TestFirstStartWhoseAnswerIsLost(t *testing.T) {
	for name, lost := range map[string]memory.Fault{
		"done":       {After: coord.ErrUnknownOutcome},
		"not done":   {Before: coord.ErrUnknownOutcome},
		"done later": {Before: coord.ErrUnknownOutcome, Late: 20 * time.Millisecond},
		"much later": {Before: coord.ErrUnknownOutcome, Late: 5 * time.Second},
		"refused":    {Before: coord.ErrDenied},
		"too large":  {Before: coord.ErrTooLarge},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, s *memory.Store) {
			lost.Method, lost.Kind, lost.Path, lost.Times = memory.Commit, coord.OpCreateEphemeral, "settle/leader/election/instance", 1
			hits := s.Inject(lost)
			m := c.join("10.0.0.1", c.config(), nil)
			if hits.Hits() != 1 {
				t.Errorf("%d commits were lost", hits.Hits())
			}
			c.awaitRuns("all items", 6, anything)
			c.pass(10 * time.Second)
			if s := c.state(); len(s.Instances) != 1 || len(s.Sessions) > 2 { // one that fences may stay
				t.Errorf("there are\n%s", c.dump())
			}
			m.leave()
			c.check()
		})
	}
}

// A first start that ends while the store does not answer leaves nothing of its instance, when
// the store has done what it was asked.
func TestFirstStartThatFailsLeavesNoInstance(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		c.timeout = time.Minute
		m := c.dial("10.0.0.1")
		s.Inject(memory.Fault{Method: memory.Commit, Kind: coord.OpCreateEphemeral, Path: "settle/leader/election/instance", Before: coord.ErrUnknownOutcome, Late: 5 * time.Second, Times: 1})
		away := s.Inject(memory.Fault{Method: memory.Commit, Path: "settle", Before: coord.ErrUnavailable})
		time.AfterFunc(3*time.Second, away.Remove)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.schedule(ctx, c.config(), nil, job.WithStartRetry()); !errors.Is(err, coord.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		c.pass(20 * time.Second)
		if s := c.state(); len(s.Instances) > 0 || s.Leader != nil {
			t.Errorf("there are\n%s", c.dump())
		}
	})
}

// Instances that start a new job at the same time are all there, one leads, and each item has
// an owner.
func TestFirstStartsAtTheSameTime(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		const many = 4
		c := newCluster(t, s, "settle")
		var members []*member
		for i := range many {
			members = append(members, c.dial(fmt.Sprintf("10.0.0.%d", i+1)))
		}
		var all sync.WaitGroup
		for _, m := range members {
			all.Go(func() {
				c.ok(m.schedule(t.Context(), c.config(), nil))
			})
		}
		all.Wait()
		c.await("all are there, and items are assigned", func(s *jobtree.State) bool {
			got := owners(s, 3)
			return len(s.Instances) == many && s.Leader != nil && s.Schedule != nil && len(got) == 3 && len(got[""]) == 0
		})
		c.awaitRuns("all items", 6, anything)
		c.check()
	})
}

// An instance that leaves before its view shows that it was elected does not stay the leader,
// although its session goes on.
func TestLeaveBeforeTheElectionShows(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.timeout = time.Minute
		cfg := c.config()
		cfg.Cron = rarely
		a := c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		b := c.join("10.0.0.2", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		b.link.(*memory.Link).Lag(time.Second)
		a.leave()
		id := b.Status().InstanceID
		c.await("it is elected", func(s *jobtree.State) bool { return s.Leader.Is(id) })
		if b.Status().Leader {
			t.Fatal("its view shows that already")
		}
		b.leave()
		if s := c.state(); s.Leader != nil || len(s.Instances)+len(s.Sessions) > 0 {
			t.Errorf("it has left\n%s", c.dump())
		}
	})
}
