package job_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

func TestItemsFollowTheMembers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 8
		a := c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2, 3, 4, 5, 6, 7}})
		c.join("10.0.0.2", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2, 3}, "10.0.0.2": {4, 5, 6, 7}})
		d := c.join("10.0.0.10", cfg, nil) // it comes after .2, because the order is numeric
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 6}, "10.0.0.2": {2, 3, 7}, "10.0.0.10": {4, 5}})
		a.leave()
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2, 3}, "10.0.0.10": {4, 5, 6, 7}})
		d.leave()
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2, 3, 4, 5, 6, 7}})
		c.check()
	})
}

func TestTotalChangesWhileItemsRun(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		release := make(chan struct{})
		busy := func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item != 2 {
				return nil
			}
			select {
			case <-release:
			case <-ctx.Done():
			}
			return nil
		}
		c.join("10.0.0.1", c.config(), busy)
		c.join("10.0.0.2", c.config(), busy)
		running := c.awaitRuns("item 2 runs", 1, of(2))[0]
		c.configure(func(cfg *job.Config) { cfg.ShardingTotalCount = 10 })
		c.awaitRuns("item 9 runs", 1, of(9))
		c.configure(func(cfg *job.Config) { cfg.ShardingTotalCount = 2 })
		c.await("surplus items gone but the one that runs", func(s *jobtree.State) bool {
			for i := 3; i < 10; i++ {
				if s.Item(i).Exists {
					return false
				}
			}
			return s.Item(2).Running.Is(running.InstanceID)
		})
		close(release)
		c.await("the last surplus item gone", func(s *jobtree.State) bool { return !s.Item(2).Exists })
		n := len(c.record.find(func(e execution) bool { return e.Item < 2 }))
		c.awaitRuns("the others go on", n+4, func(e execution) bool { return e.Item < 2 })
		if again := c.record.find(func(e execution) bool { return e.Item == 2 && e.Token != running.Token }); len(again) > 0 {
			t.Errorf("item 2 ran again: %v", again)
		}
		c.check()
	})
}

// dying is a registry that dies after so many commits.
type dying struct {
	coord.Registry
	left atomic.Int64
	die  func()
	dies signal
}

func (d *dying) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	if d.left.Add(-1) < 0 {
		d.dies.send()
		d.die()
		return 0, fmt.Errorf("died: %w", coord.ErrUnavailable)
	}
	return d.Registry.Commit(ctx, ops...)
}

// The leader assigns 200 items in several commits. It dies before the first commit, then before
// the second, and so on, until it has done all.
func TestLeaderDiesAtEveryStepOfAnAssignment(t *testing.T) {
	onTheSimulator(t, func(t *testing.T, s store) {
		const total = 200
		for n := 0; ; n++ {
			c := newCluster(t, s, fmt.Sprintf("settle%d", n))
			c.timeout = 2 * time.Second
			cfg := c.config()
			cfg.ShardingTotalCount = total
			cfg.Cron = "0 0 0 1 1 ?"
			first := c.dial("10.0.0.1")
			reg := &dying{Registry: first.reg, dies: newSignal(), die: sync.OnceFunc(first.crash)}
			reg.left.Store(int64(n))
			first.reg = reg
			ctx, cancel := context.WithCancel(t.Context())
			var starting sync.WaitGroup
			starting.Go(func() {
				if err := first.schedule(ctx, cfg, nil); err != nil {
					t.Logf("died at commit %d: %v", n, err)
				}
			})
			dealt := false
			c.await("the leader dies, or has assigned all", func(s *jobtree.State) bool {
				dealt = len(owners(s, total)["10.0.0.1"]) == total
				return dealt || reg.left.Load() < 0
			}, reg.dies)
			cancel()
			starting.Wait()
			if dealt {
				if n < 5 {
					t.Errorf("all was assigned with %d commits", n)
				}
				return
			}
			c.timeout = lasting
			c.join("10.0.0.2", cfg, nil)
			c.await(fmt.Sprintf("all items assigned after a death at commit %d", n), func(s *jobtree.State) bool {
				return len(owners(s, total)["10.0.0.2"]) == total
			})
		}
	})
}
