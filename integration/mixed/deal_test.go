package mixed

import (
	"testing"
	"time"
)

// A JVM leader assigns in its own fire, and then reads its cache, which is behind: so it runs what it has just
// given to Go instances that have joined. These see all that a moment later. They are not to make
// the tick up, nor to tell the JVM that it was missed: it would run all items of its fire once more, and
// be told again.
func TestAJVMLeaderRunsWhatItHasGivenAway(t *testing.T) {
	// behind is by how much each Go instance is behind: one of them is to tell that a JVM runs an item.
	joins := func(behind ...time.Duration) func(*cluster) {
		return func(c *cluster) {
			c.ticks(2, 500*ms)
			for n, d := range behind {
				g := c.start(golang, []string{"g1", "g2"}[n])
				if g.kind == golang {
					g.link.(interface{ Lag(time.Duration) }).Lag(d)
				}
			}
			c.ticks(1, 3*time.Second) // it assigns in this tick
			ran := map[int]int{}
			for _, e := range c.ledger.listed(func(e *execution) bool { return time.Since(e.begin) < 3*time.Second }) {
				if ran[e.item]++; e.member != "j1" {
					c.t.Errorf("seed %d: the cache is not behind: %v", c.seed, e)
				}
			}
			for item, owner := range c.owners() {
				if ran[item] != 1 {
					c.t.Errorf("seed %d: item %d, which is now %s's, has begun %d times for a tick", c.seed, item, owner, ran[item])
				}
			}
		}
	}
	short := setting{work: 500 * ms, lag: 2 * time.Second}
	long := setting{work: 1500 * ms, lag: 2 * time.Second}
	failover := setting{work: 1500 * ms, lag: 2 * time.Second, failover: true}
	alone := starting("j1")
	play(t, "deal in one's own fire", []scenario{
		{name: "short items", setting: short, begin: alone, leads: jvm, then: joins(200 * ms)},
		{name: "long items", setting: long, begin: alone, leads: jvm, then: joins(200 * ms)},
		{name: "long items, failover", setting: failover, begin: alone, leads: jvm, then: joins(200 * ms)},
		{name: "the first of two is the last to see it", setting: long, begin: alone, leads: jvm, then: joins(1200*ms, 200*ms)},
		{name: "the second of two is the last to see it", setting: long, begin: alone, leads: jvm, then: joins(200*ms, 1200*ms)},
	})
}
