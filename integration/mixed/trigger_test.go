package mixed

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// An item of a JVM member cannot run alone: ElasticJob's trigger is for all items of an instance. So
// all of them run, and the answer says so.
func TestD11TriggerOfOneItem(t *testing.T) {
	trigger := func(owner kind) func(*cluster) {
		return func(c *cluster) {
			if c.setting.alone {
				return // it is asked through a Go instance
			}
			c.ticks(5, 1500*ms)
			items := c.itemsOf(owner)
			begun := time.Now()
			request, err := c.member("g1").golang.Trigger(c.t.Context(), job.TriggerRequest{Items: items[:1]})
			if err != nil {
				c.t.Fatalf("trigger of item %d: %v", items[0], err)
			}
			results, err := request.Wait(c.t.Context())
			if err != nil {
				c.t.Fatalf("request %s: %v", request.ID, err)
			}
			c.wait(4 * time.Second) // a JVM hears of it when its cache does
			ran := c.ledger.listed(func(e *execution) bool { return e.source == asked && !e.begin.Before(begun) })
			if owner == golang {
				if len(ran) != 1 || results[0].Outcome != job.OutcomeOK {
					c.t.Errorf("of a Go instance: %d items ran, and the answer is %+v", len(ran), results)
				}
				return
			}
			if len(ran) < 2 {
				c.t.Errorf("of a JVM: %d items ran, and it has items %v", len(ran), items)
			}
			if results[0].Outcome != job.OutcomeSkipped || !strings.Contains(results[0].Error, "JVM") {
				c.t.Errorf("of a JVM: the answer is %+v, and does not say that all of its items run", results[0])
			}
		}
	}
	play(t, "D11", []scenario{
		{name: "of a Go instance's item, Go leads", begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: trigger(golang)},
		{name: "of a JVM's item, Go leads", begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: trigger(jvm)},
		{name: "of a Go instance's item, JVM leads", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: trigger(golang)},
		{name: "of a JVM's item, JVM leads", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: trigger(jvm)},
	})
}

// itemsOf returns the items that belong to the first member of a kind.
func (c *cluster) itemsOf(k kind) []int {
	var items []int
	var owner *process
	for i, item := range c.state().Items {
		if item.Owner == nil {
			continue
		}
		p := c.processOf(item.Owner.ID)
		if p != nil && p.kind == k && (owner == nil || owner == p) {
			owner = p
			items = append(items, i)
		}
	}
	if len(items) == 0 {
		c.t.Fatalf("no %s member has items\n%s", k, c.story())
	}
	return items
}
