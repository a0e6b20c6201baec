package mixed

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/jvmmember"
)

// ElasticJob's master, 3.0.6-SNAPSHOT, keeps the record of an item that has failed: so that member does not
// run it any more, nor does anybody else, and a JVM leader assigns nothing. Beside Go instances that lasts for
// some seconds, if other items of the same fire have ended, or those of a later one: then it is known
// that nothing runs there.
func TestFailedItemsOfASnapshot(t *testing.T) {
	fails := func(c *cluster) {
		for _, name := range []string{"j1", "j2"} {
			c.ticks(5, -time.Second)
			c.member(name).fails.Store(true)
		}
	}
	joins := func(c *cluster) {
		fails(c)
		c.ticks(1, 1500*ms)
		c.several("g3")
	}
	onFailover := setting{release: jvmmember.V306, work: 500 * ms, failover: true}
	without := setting{release: jvmmember.V306, work: 500 * ms}
	few := onFailover
	few.total = 2
	// The failed item misses two ticks, each time; with a deal that waits for it, all items of JVM members do.
	item, all := count{missed: 4}, count{missed: 12}
	play(t, "3.0.6-SNAPSHOT", []scenario{
		{name: "an item fails, Go leads", setting: onFailover, begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: fails, allowed: item},
		{name: "an item fails, JVM leads", setting: onFailover, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: fails, allowed: item},
		{name: "an item fails, JVM leads, no failover", setting: without, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: fails, allowed: item},
		{name: "an item fails, and somebody joins, JVM leads", setting: onFailover, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: joins, allowed: all},
		// Nothing tells that it does not run: it is left to an operator, whom doctor tells.
		{name: "the only item of a JVM fails, and it is killed later", setting: few, begin: starting("g1", "j1"), leads: golang, allowed: count{missed: 14, wrong: 1, doubled: 1}, then: func(c *cluster) {
			c.ticks(5, -time.Second)
			c.member("j1").fails.Store(true)
			c.ticks(10, 1500*ms)
			c.member("j1").kill()
		}},
	})
}
