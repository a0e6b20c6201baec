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
	if commit, trigger := w.obey(); commit != nil && c.commit(*commit) {
		c.take(w, trigger)
	}
	var gone []int
	for _, i := range slices.Sorted(maps.Keys(c.triggers)) {
		if i >= c.settings.ShardingTotalCount || w.Item(i).Disabled {
			gone = append(gone, i)
			delete(c.triggers, i)
			continue
		}
		c.yield(w, i)
	}
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

// yield gives up a trigger that waits for an item which this instance does not own: its
// owner gets it.
func (c *controller) yield(w *world, i int) {
	if w.Item(i).Owner.Is(c.self.id) {
		return
	}
	commit, err := w.passOn(i, c.triggers[i])
	if err != nil {
		c.log.Error("trigger not passed on", zap.Int("item", i), zap.Error(err))
		return
	}
	if commit != nil && c.commit(*commit) {
		delete(c.triggers, i)
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
		if d.source == Normal && c.runs[d.item] == nil && (n >= w.free || w.waits(d.item, d.tick)) {
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
		if r.source == Manual {
			c.triggers[r.item] = manual{parameter: r.param}
		}
		if r.source == Normal {
			c.waiting[r.item] = r.tick
		}
	}
	if len(claimed) > 0 {
		c.commitAll(w.handBack(claimed))
	}
}

// errHandedBack is the outcome of a run that was claimed and given back.
var errHandedBack = errors.New("job: claim handed back")
