package job

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// settleAfter is how old a difference between the tree and this process may grow
// before it is no longer put down to the view being late.
const settleAfter = time.Second

// finish removes the records of runs that are done, once all of their claim are, or
// they have waited long enough for the others.
func (c *controller) finish(w *world) {
	var ready []*run
	open, unseen := false, false
	for _, i := range slices.Sorted(maps.Keys(c.runs)) {
		r := c.runs[i]
		if r.phase != done || c.leaving != nil && c.unfinished(r) {
			continue
		}
		if r.group.open > 0 {
			open = true
		}
		switch w.standing(r) {
		case ours:
			if w.Item(r.item).Running == nil && r.refused {
				c.drop(r)
				continue
			}
			ready = append(ready, r)
		case foreign:
			c.drop(r)
		case behind:
			// The view is late. If it is not that, the item is gone.
			if r.syncs < c.syncs {
				c.drop(r)
				continue
			}
			unseen = true
		}
	}
	switch {
	case !unseen:
		c.unseen = time.Time{}
	case c.unseen.IsZero():
		c.unseen = w.now
	case w.now.Sub(c.unseen) >= settleAfter:
		c.unseen, c.stale = time.Time{}, true
	}
	if w.now.Before(c.lingering) && (len(ready) == 0 || open && c.leaving == nil) {
		return
	}
	c.lingering = time.Time{} // what becomes ready later has waited long enough
	if len(ready) > 0 {
		c.commitAll(w.finish(ready))
	}
}

// cancelLost ends the context of runs whose item somebody else has claimed since.
func (c *controller) cancelLost(w *world) {
	for _, r := range c.runs {
		if r.phase == executing && r.instance == c.self.id && r.token != 0 {
			if fired := w.Item(r.item).Fired; fired != nil && fired.Modified > r.token {
				r.cancel(ErrItemLost)
			}
		}
	}
}

// settle looks after what the tree has as running here although it is not.
func (c *controller) settle(w *world) {
	left := w.leftovers()
	if len(left) == 0 {
		c.unsettled, c.suspicious = time.Time{}, false
		return
	}
	if c.unsettled.IsZero() {
		c.unsettled = w.now
	}
	if !c.suspicious && w.now.Sub(c.unsettled) < settleAfter {
		return
	}
	c.unsettled, c.suspicious = time.Time{}, false
	for _, i := range left {
		running, err := c.reg.Get(c.session.Context(), c.job.Running(i))
		switch {
		case errors.Is(err, coord.ErrNoNode) || err == nil && string(running.Value) != c.self.id:
		case err != nil:
			c.failed("settle", err)
			return
		default:
			c.commit(w.settle(i))
		}
	}
}
