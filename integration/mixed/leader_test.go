package mixed

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// A leader of the other kind assigns as the one before did: no item moves because of it.
func TestALeaderOfTheOtherKindMovesNothing(t *testing.T) {
	for _, name := range []string{"AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN"} {
		for _, first := range []kind{golang, jvm} {
			t.Run(fmt.Sprintf("%s, %s leads first", name, first), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { changesLeader(t, name, first) })
			})
		}
	}
}

func changesLeader(t *testing.T, strategy string, first kind) {
	c := newCluster(t, newSimulated(*seed), setting{strategy: strategy, total: 10}, *seed)
	defer c.end()
	if first == golang {
		starting("g1", "g2", "j1", "j2")(c)
	} else {
		afterGo("j1", "j2", "g1", "g2")(c)
	}
	c.ticks(4, 1500*ms)
	before := c.owners()
	// Who is elected is a race that Go instances mostly win. So an operator names the next leader.
	var next string
	for id := range c.state().Instances {
		if p := c.processOf(id); p != nil && p.kind != first && id > next {
			next = id
		}
	}
	c.put(tree.LeaderInstance(), next)
	c.ticks(3, 1500*ms)
	c.put(tree.Necessary(), "") // it assigns anew
	c.ticks(3, 1500*ms)
	if after := c.owners(); !slices.Equal(before, after) {
		t.Errorf("seed %d: items move because %s leads:\nbefore %v\nafter  %v", *seed, c.leader().name, before, after)
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
