package job_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A pin moves an item also if static sharding would leave it where it is.
func TestPinOfAStaticItem(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.StaticSharding = rarely, true
		c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.join("10.0.0.2", cfg, nil)
		c.must(c.ops().Pin(t.Context(), 0, ops.PinRequest{Address: "10.0.0.2"}))
		c.awaitOwners(map[string][]int{"10.0.0.1": {1, 2}, "10.0.0.2": {0}})
		c.must(c.ops().Pin(t.Context(), 1, ops.PinRequest{Label: "gpu", Strict: true}))
		c.awaitOwners(map[string][]int{"10.0.0.1": {2}, "10.0.0.2": {0}, "": {1}})
		c.check()
	})
}

// No instance has more items than it may.
func TestMaxItems(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
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
