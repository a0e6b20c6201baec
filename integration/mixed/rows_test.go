package mixed

import "testing"

func TestGoAlone(t *testing.T) {
	play(t, "Go alone", []scenario{{
		name: "nothing happens", begin: func(c *cluster) { c.several("g1", "g2", "g3", "g4") }, leads: golang,
	}, {
		name: "kills", setting: setting{failover: true, work: 1e9}, begin: func(c *cluster) { c.several("g1", "g2", "g3", "g4") }, leads: golang,
		then: func(c *cluster) {
			c.ticks(5, 500e6)
			c.alive()[0].kill()
			c.ticks(5, 0)
			c.several("g5")
			c.ticks(5, 500e6)
			c.alive()[2].kill()
			c.ticks(5, 0)
			c.alive()[0].leave()
		},
	}})
}
