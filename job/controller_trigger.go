package job

import (
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// triggers are what this instance was asked to run.
type triggers struct {
	// By item, until it begins. take, inherit and handBack add; begins, passOn and obey
	// remove.
	pending map[int]decide.Pending
	// Triggers that instances have left when they ended. follow adds; inherit takes them.
	left []jobtree.Trigger
	// The instances that were there of late, and when each was seen last. meetInstances
	// changes it.
	met map[string]time.Time
}

// obey takes the trigger that is addressed to this instance. It drops items that cannot run,
// and passes items of others on to them.
func (c *controller) obey(w *decide.World) error {
	c.meetInstances(w)
	if change, trigger := w.Obey(); change != nil && c.commit(*change) {
		c.take(w, trigger)
	}
	var dropped []int
	for i := range c.pending {
		if i >= c.settings.ShardingTotalCount || w.Item(i).Disabled {
			dropped = append(dropped, i)
			delete(c.pending, i)
		}
	}
	if len(dropped) > 0 {
		slices.Sort(dropped)
		c.log.Warn("trigger not obeyed: items are disabled or do not exist", someItems("items", dropped))
	}
	c.passOn(w)
	return nil
}

// take remembers the items of a trigger until they can begin. An item waits once: for the
// trigger that came last.
func (c *controller) take(w *decide.World, trigger jobtree.Trigger) {
	request := trigger.Request
	switch {
	case trigger.Err != nil:
		c.log.Warn("trigger not obeyed: it cannot be read", zap.Error(trigger.Err))
	case !w.IsActive():
		c.log.Warn("trigger not obeyed: the server is disabled, or its clock is off", zap.String("request", short(request.ID)))
	default:
		var joined []int
		for _, i := range w.Requested(c.self.ID, request) {
			if _, waiting := c.pending[i]; waiting {
				joined = append(joined, i)
			}
			c.pending[i] = decide.Pending{Parameter: request.Parameter, Request: request.ID}
		}
		if len(joined) > 0 {
			c.log.Info("trigger joins one that waits", someItems("items", joined), zap.String("request", short(request.ID)))
		}
	}
}

// passOn passes triggered items that this instance does not own on to their owners. In one
// pass an owner gets items of one request; the others follow.
func (c *controller) passOn(w *decide.World) {
	var owners []string
	items := map[string][]int{}
	for _, i := range slices.Sorted(maps.Keys(c.pending)) {
		owner := w.Item(i).Owner
		if owner == nil || owner.ID == c.self.ID {
			continue
		}
		list := items[owner.ID]
		if list == nil {
			owners = append(owners, owner.ID)
		} else if c.pending[i] != c.pending[list[0]] {
			continue
		}
		items[owner.ID] = append(list, i)
	}
	for _, owner := range owners {
		list := items[owner]
		change, err := w.PassOn(owner, list, c.pending[list[0]])
		if err != nil {
			c.log.Error("trigger not passed on", someItems("items", list), zap.Error(err))
			continue
		}
		if change != nil && c.commit(*change) {
			for _, i := range list {
				delete(c.pending, i)
			}
		}
	}
}

// metTime is how long an instance that has gone is remembered.
const metTime = 10 * time.Minute

// meetInstances remembers which instances are there now.
func (c *controller) meetInstances(w *decide.World) {
	for id := range w.Instances {
		c.met[id] = w.Now
	}
	for id, seen := range c.met {
		if w.Now.Sub(seen).Abs() > metTime {
			delete(c.met, id)
		}
	}
}

// inherit takes, as leader, the triggers that instances had not obeyed when they ended. Their
// items are passed on like those of any trigger. If the instance was not there of late,
// nobody knows how old its trigger is: that trigger is lost.
func (c *controller) inherit(w *decide.World) error {
	left := c.left
	c.left = nil
	if len(left) == 0 {
		return nil
	}
	request := zap.String("request", short(left[0].Request.ID))
	var items []int
	taken := 0
	for _, trigger := range left {
		if trigger.Err != nil || c.met[trigger.Instance].IsZero() {
			continue
		}
		before := len(items)
		for _, i := range w.Requested(trigger.Instance, trigger.Request) {
			if i < c.settings.ShardingTotalCount {
				items = append(items, i)
				c.pending[i] = decide.Pending{Parameter: trigger.Request.Parameter, Request: trigger.Request.ID}
			}
		}
		if len(items) > before {
			taken++
		}
	}
	if lost := len(left) - taken; lost > 0 {
		c.tellLost(lost, request)
	}
	if taken > 0 {
		c.log.Info("trigger taken over: its instance ended before it obeyed", someItems("items", items), zap.Int("triggers", taken), request)
		c.poke()
	}
	return nil
}
