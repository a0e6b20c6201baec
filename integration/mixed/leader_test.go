package mixed

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A leader of the other kind deals as the one before did: no item moves because of it.
func TestALeaderOfTheOtherKindMovesNothing(t *testing.T) {
	for _, first := range []kind{golang, jvm} {
		t.Run(fmt.Sprintf("%s leads first", first), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, newSimulated(*seed), setting{}, *seed)
				defer c.end()
				if first == golang {
					starting("g1", "g2", "j1", "j2")(c)
				} else {
					afterGo("j1", "j2", "g1", "g2")(c)
				}
				c.ticks(4, 1500*ms)
				before := c.owners()
				for c.leader().kind == first {
					c.remove(tree.LeaderInstance())
					c.await("somebody leads", 10*time.Second, func() bool { return c.leader() != nil })
					c.ticks(3, 1500*ms)
				}
				after := c.owners()
				for item, owner := range after {
					if before[item] != owner {
						t.Errorf("seed %d: item %d moves from %s to %s, because %s leads\nbefore %v\nafter  %v", *seed, item, before[item], owner, c.leader().name, before, after)
					}
				}
			})
		})
	}
}

// owners returns the names of the processes that own the items.
func (c *cluster) owners() []string {
	items := c.state().Items
	owners := make([]string, len(items))
	for i, item := range items {
		if item.Owner == nil {
			continue
		}
		if p := c.processOf(item.Owner.ID); p != nil {
			owners[i] = p.name
		}
	}
	return owners
}
