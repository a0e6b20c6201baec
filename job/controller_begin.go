package job

import (
	"errors"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// yieldTime bounds how long a JVM leader that deals the items holds up our fires.
const yieldTime = 30 * time.Second

// obey takes a trigger, and begins the items that triggers wait for.
func (c *controller) obey(w *world) {
	c.meetInstances(w)
	if commit, trigger := w.obey(); commit != nil && c.commit(*commit) {
		c.take(w, trigger)
	}
	var gone []int
	for _, i := range slices.Sorted(maps.Keys(c.triggers)) {
		if i >= c.settings.ShardingTotalCount || w.Item(i).Disabled {
			gone = append(gone, i)
			delete(c.triggers, i)
		}
	}
	c.yield(w)
	if len(gone) > 0 {
		c.log.Warn("trigger not obeyed: items are disabled or do not exist", someItems("items", gone))
	}
	if !c.settings.monitor {
		c.triggerUnmonitored(w)
		return
	}
	w.free = c.free()
	c.commitAll(w.manually(c.triggers))
}

// take remembers the items of a request until they are idle.
func (c *controller) take(w *world, trigger jobtree.Trigger) {
	request := trigger.Request
	switch {
	case trigger.Err != nil:
		c.log.Warn("trigger not obeyed: it cannot be read", zap.Error(trigger.Err))
	case !w.active():
		c.log.Warn("trigger not obeyed: the server is disabled, or its clock is off", zap.String("request", short(request.ID)))
	default:
		var joined []int
		for _, i := range w.requested(request) {
			if _, waiting := c.triggers[i]; waiting {
				joined = append(joined, i)
			}
			c.triggers[i] = manual{parameter: request.Parameter}
		}
		if len(joined) > 0 {
			c.log.Info("trigger joins one that waits", someItems("items", joined), zap.String("request", short(request.ID)))
		}
	}
}

// yield gives up triggers that wait for items which this instance does not own: their
// owners get them. One gets those with one parameter at a time.
func (c *controller) yield(w *world) {
	var owners []string
	items := map[string][]int{}
	for _, i := range slices.Sorted(maps.Keys(c.triggers)) {
		owner := w.Item(i).Owner
		if owner == nil || owner.ID == c.self.id {
			continue
		}
		list := items[owner.ID]
		if list == nil {
			owners = append(owners, owner.ID)
		} else if c.triggers[i] != c.triggers[list[0]] {
			continue
		}
		items[owner.ID] = append(list, i)
	}
	for _, owner := range owners {
		list := items[owner]
		commit, err := w.passOn(owner, list, c.triggers[list[0]])
		if err != nil {
			c.log.Error("trigger not passed on", someItems("items", list), zap.Error(err))
			continue
		}
		if commit != nil && c.commit(*commit) {
			for _, i := range list {
				delete(c.triggers, i)
			}
		}
	}
}

// metTime is how long an instance is remembered that has gone.
const metTime = 10 * time.Minute

// meetInstances remembers who was there.
func (c *controller) meetInstances(w *world) {
	if c.met == nil {
		c.met = map[string]time.Time{}
	}
	for id := range w.Instances {
		c.met[id] = w.now
	}
	for id, seen := range c.met {
		if w.now.Sub(seen).Abs() > metTime {
			delete(c.met, id)
		}
	}
}

// inherit takes, as leader, what instances that have ended were asked to run and had not
// taken. It is passed on like any trigger for items of others. Nobody knows how old one is
// whose instance was not there of late: it is lost.
func (c *controller) inherit(w *world) {
	lost := c.lost
	c.lost = nil
	if len(lost) == 0 {
		return
	}
	var items []int
	taken := 0
	request := zap.String("request", short(lost[0].Request.ID))
	for _, trigger := range lost {
		if trigger.Err != nil || c.met[trigger.Instance].IsZero() {
			continue
		}
		before := len(items)
		for _, i := range w.requestedOf(trigger.Instance, trigger.Request) {
			if i < c.settings.ShardingTotalCount {
				items = append(items, i)
				c.triggers[i] = manual{parameter: trigger.Request.Parameter}
			}
		}
		if len(items) > before {
			taken++
		}
	}
	if left := len(lost) - taken; left > 0 {
		c.tellLost(left, request)
	}
	if taken > 0 {
		c.log.Info("trigger taken over: its instance ended before it obeyed", someItems("items", items), zap.Int("triggers", taken), request)
		c.poke()
	}
}

// takeOver begins what waits to be run again.
func (c *controller) takeOver(w *world) {
	w.free = c.idle()
	c.commitAll(w.takeOver())
}

// fire begins what is due.
func (c *controller) fire(w *world) {
	if !c.settings.monitor {
		c.fireUnmonitored(w)
		return
	}
	if c.yields(w) {
		return
	}
	list := w.due()
	w.free = c.free()
	c.commitAll(w.fire(list))
	// The tick of those that wait for a thread is not missed, however long that takes.
	waiting := map[int]time.Time{}
	for n, d := range list {
		if d.source == SourceNormal && c.runs[d.item] == nil && (n >= w.free || w.waits(d.item, d.tick)) {
			waiting[d.item] = d.tick
		}
	}
	c.waiting = waiting
}

// yields reports whether a JVM leader is dealing the items: then what is assigned now
// is about to change. Our own leaders need no such time; they have a session node,
// which a JVM has not.
func (c *controller) yields(w *world) bool {
	deals := w.Leader != nil && (w.Necessary || w.Processing)
	if deals {
		_, ours := w.Sessions[w.Leader.ID]
		deals = !ours
	}
	held := c.yielding.hold(deals, w.now)
	if !deals || held >= yieldTime {
		return false
	}
	c.wakeIn(yieldTime - held)
	return true
}

// handBack gives up claims that have waited for a thread for too long, or that this
// instance may not begin any more.
func (c *controller) handBack(w *world) {
	var back []*run
	for _, r := range c.queue {
		waited := w.now.Sub(r.claimed)
		if waited < 0 { // the clock was set back
			waited = queueTime
		}
		switch {
		case r.token == 0:
			if !w.active() || !w.Item(r.item).Owner.Is(c.self.id) {
				back = append(back, r)
			}
		case w.standing(r) != ours:
		case !w.active(), waited >= queueTime:
			back = append(back, r)
		default:
			c.wakeIn(queueTime - waited)
		}
	}
	if len(back) == 0 {
		return
	}
	c.queue = slices.DeleteFunc(c.queue, func(r *run) bool { return slices.Contains(back, r) })
	var claimed []*run
	for _, r := range back {
		r.group.open--
		r.phase, r.cut, r.err = done, true, errHandedBack
		if r.token == 0 {
			c.drop(r)
			continue
		}
		claimed = append(claimed, r)
		if r.source == SourceManual {
			c.triggers[r.item] = manual{parameter: r.param}
		}
		if r.source == SourceNormal {
			c.waiting[r.item] = r.tick
		}
	}
	if len(claimed) > 0 {
		c.commitAll(w.handBack(claimed))
	}
}

// errHandedBack is the outcome of a run that was claimed and given back.
var errHandedBack = errors.New("job: claim handed back")
