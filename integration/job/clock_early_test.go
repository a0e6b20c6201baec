package job_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// The only instance has a clock that is a minute ahead. What it begins then does not count: when
// those ticks come they begin once more, with larger tokens, wherever the items are then. From
// 15 s before it comes, each tick begins once.
func TestTicksThatAreBegunTooEarly(t *testing.T) {
	for name, ends := range map[string]func(c *cluster, clock *setClock) *member{
		"the clock is set right": func(c *cluster, clock *setClock) *member {
			clock.set(0)
			return c.members[0]
		},
		"an instance comes whose clock is right": func(c *cluster, _ *setClock) *member {
			return c.join("10.0.0.2", c.config(), nil)
		},
		"one comes, and the clock is set right": func(c *cluster, clock *setClock) *member {
			m := c.join("10.0.0.2", c.config(), nil)
			c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
			clock.set(0)
			return m
		},
		"the instance ends, and another one comes": func(c *cluster, _ *setClock) *member {
			c.members[0].leave()
			return c.join("10.0.0.2", c.config(), nil)
		},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			clock := &setClock{}
			wrong := c.join("10.0.0.1", c.config(), nil, setup.Clock(clock.now))
			c.pass(5 * time.Second)
			clock.set(time.Minute)
			wrong.awaitFault(jobtype.FaultClock, "1m0s ahead")
			c.pass(10 * time.Second)
			right := ends(c, clock)
			back := time.Now()
			c.pass(2 * time.Minute)
			right.awaitSound()
			begun := map[int]map[time.Time]execution{0: {}, 1: {}, 2: {}}
			again := 0
			for _, e := range c.record.find(anything) {
				tick := e.ScheduledTime.UTC()
				before, isAgain := begun[e.Item][tick]
				switch {
				case !isAgain:
				case before.ScheduledTime.Sub(before.begin) <= 15*time.Second, before.Token >= e.Token:
					t.Errorf("item %d, tick %s: begun at %s with token %d, and at %s with token %d", e.Item, tick.Format(time.TimeOnly),
						before.begin.Format("05.000"), before.Token, e.begin.Format("05.000"), e.Token)
				default:
					again++
				}
				begun[e.Item][tick] = e
			}
			if again < 3*5 {
				t.Errorf("%d ticks that were begun too early have begun again", again)
			}
			for item, of := range begun { // a moment passes until the items run as they should
				for tick := back.UTC().Truncate(time.Second).Add(5 * time.Second); tick.Before(back.Add(2 * time.Minute)); tick = tick.Add(time.Second) {
					if e, has := of[tick]; !has || e.begin.Before(tick) {
						t.Errorf("item %d has not begun the tick %s in its time", item, tick.Format(time.TimeOnly))
					}
				}
			}
		})
	}
}
