package job_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// An item goes where it is pinned, and comes back when the pin goes.
func TestPin(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		a := c.join("10.0.0.1", cfg, nil)
		c.join("10.0.0.2", cfg, nil, job.WithLabels("gpu"))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		pin := func(item int, r ops.PinRequest) {
			t.Helper()
			c.must(c.ops().Pin(t.Context(), item, r))
		}
		pin(0, ops.PinRequest{Address: "10.0.0.2"})
		c.awaitOwners(map[string][]int{"10.0.0.1": {2}, "10.0.0.2": {0, 1}})
		pin(2, ops.PinRequest{Label: "gpu", Strict: true})
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		pin(1, ops.PinRequest{Instance: a.Status().InstanceID})
		c.awaitOwners(map[string][]int{"10.0.0.1": {1}, "10.0.0.2": {0, 2}})
		for item := range 3 {
			c.must(c.ops().Unpin(t.Context(), item))
		}
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
	})
}

// A pin moves an item also if static sharding would leave it where it is.
func TestPinOfAStaticItem(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.StaticSharding = rarely, true
		c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.join("10.0.0.2", cfg, nil)
		if err := c.ops().Pin(t.Context(), 0, ops.PinRequest{Address: "10.0.0.2"}); err != nil {
			t.Fatal(err)
		}
		c.awaitOwners(map[string][]int{"10.0.0.1": {1, 2}, "10.0.0.2": {0}})
		if err := c.ops().Pin(t.Context(), 1, ops.PinRequest{Label: "gpu", Strict: true}); err != nil {
			t.Fatal(err)
		}
		c.awaitOwners(map[string][]int{"10.0.0.1": {2}, "10.0.0.2": {0}, "": {1}})
		c.check()
	})
}

// No instance has more items than it may.
func TestMaxItems(t *testing.T) {
	onTheSimulator(t, func(t *testing.T, s store) {
		c := newCluster(t, s, "settle")
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount, cfg.MaxItems = rarely, 5, 2
		c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1}})
		c.join("10.0.0.2", cfg, nil)
		c.await("four have owners", func(s *jobtree.State) bool {
			got := owners(s, 5)
			return len(got["10.0.0.1"]) == 2 && len(got["10.0.0.2"]) == 2 && len(got[""]) == 1
		})
		c.join("10.0.0.3", cfg, nil)
		c.await("all have owners", func(s *jobtree.State) bool {
			got := owners(s, 5)
			return len(got["10.0.0.1"]) <= 2 && len(got["10.0.0.2"]) <= 2 && len(got["10.0.0.3"]) <= 2 && len(got[""]) == 0
		})
	})
}

// With a strategy that leaves items where they are, the items are assigned as if nobody had had
// any.
func TestReshard(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.StaticSharding = rarely, true
		c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.join("10.0.0.2", cfg, nil)
		c.await("it is there", func(s *jobtree.State) bool { return len(s.Instances) == 2 })
		c.must(c.ops().Reshard(t.Context()))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.await("the request is gone", func(s *jobtree.State) bool { return !s.Necessary })
	})
}

// Disabled servers and items run nothing, until they are enabled.
func TestDisableAndEnable(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.join("10.0.0.1", c.config(), nil)
		c.join("10.0.0.2", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		op := c.ops()
		c.must(op.DisableServers(t.Context(), "10.0.0.2"))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.must(op.EnableServers(t.Context()))
		c.must(op.DisableItems(t.Context(), 0, 1))
		c.await("they are disabled", func(s *jobtree.State) bool { return s.Item(0).Disabled && s.Item(1).Disabled })
		c.must(op.EnableItems(t.Context(), 0))
		c.must(op.DisableServers(t.Context()))
		c.await("all servers are", func(s *jobtree.State) bool { return !s.ServerEnabled("10.0.0.1") && !s.ServerEnabled("10.0.0.2") })
		c.must(op.EnableServers(t.Context(), "10.0.0.1"))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.commit(coord.Exists(c.job.ItemDisabled(1)))
	})
}
