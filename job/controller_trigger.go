package job

import (
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// requests are what this instance was asked to run. The steps obey and inherit add to
// them; those that begin triggered items, or pass them on, remove them.
type requests struct {
	pending map[int]decide.Pending
	left    []jobtree.Trigger    // by instances that have ended, until inherit takes them
	met     map[string]time.Time // instances that were there, and when they were seen last
}

// obey takes a trigger, and gives items that are others' to them.
func (c *controller) obey(w *decide.World) error {
	c.meetInstances(w)
	if change, trigger := w.Obey(); change != nil && c.commit(*change) {
		c.take(w, trigger)
	}
	var dropped []int
	for _, i := range slices.Sorted(maps.Keys(c.pending)) {
		if i >= c.settings.ShardingTotalCount || w.Item(i).Disabled {
			dropped = append(dropped, i)
			delete(c.pending, i)
		}
	}
	if len(dropped) > 0 {
		c.log.Warn("trigger not obeyed: items are disabled or do not exist", someItems("items", dropped))
	}
	c.passOn(w)
	return nil
}

// take remembers the items of a request until they are idle.
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

// passOn gives triggered items that this instance does not own to their owners. One owner
// gets those with one parameter at a time.
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

// metTime is how long an instance is remembered that has gone.
const metTime = 10 * time.Minute

// meetInstances remembers who was there.
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

// inherit takes, as leader, what instances that have ended were asked to run and had not
// taken. It is passed on like any trigger for items of others. Nobody knows how old one is
// whose instance was not there of late: it is lost.
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
