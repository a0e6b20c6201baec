package job

import (
	"errors"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// settleAfter is how old a difference between the tree and this process may grow
// before it is no longer put down to the view being late.
const settleAfter = time.Second

// finish removes the records of runs that are done, once all of their claim are, or
// they have waited long enough for the others.
func (c *controller) finish(w *world) {
	var ready []*run
	open := false
	for _, i := range slices.Sorted(maps.Keys(c.runs)) {
		r := c.runs[i]
		if r.phase != done || (c.leaving != nil || c.unsound != nil) && c.unfinished(r) {
			continue // its record makes others run it again
		}
		if r.group.open > 0 {
			open = true
		}
		switch w.standing(r) {
		case ours:
			if errors.Is(r.err, errHandedBack) {
				c.commitAll(w.handBack([]*run{r}))
				continue
			}
			ready = append(ready, r)
		case foreign:
			c.drop(r)
		case behind:
			// The view is late. If it is not that, the item is gone.
			if r.syncs < c.syncs {
				c.drop(r)
			}
		}
	}
	if w.now.Before(c.lingering) && (len(ready) == 0 || open && c.leaving == nil) {
		c.wakeIn(c.lingering.Sub(w.now))
		return
	}
	c.lingering = time.Time{} // what becomes ready later has waited long enough
	if len(ready) > 0 {
		c.commitAll(w.finish(ready))
	}
}

// lookAfterRuns compares what runs here with its records. Where somebody else has claimed
// the item since, or the item is gone, the run's context ends. A record of a run that
// somebody has removed is put back: as long as it is not there, the item may start
// elsewhere, and nobody would run it again if this instance ended.
func (c *controller) lookAfterRuns(w *world) {
	behindView, missing := false, false
	mend := chunk{step: "mend", heals: true, head: []coord.Op{w.mine()}}
	for _, r := range c.runs {
		if r.instance != c.self.id || r.token == 0 {
			continue
		}
		standing := w.standing(r)
		if standing == behind {
			behindView = true
		}
		if r.phase != executing {
			continue
		}
		switch {
		case standing == foreign, standing == behind && r.syncs < c.syncs:
			r.cancel(ErrItemLost)
		case standing != ours, !c.settings.monitor, w.Item(r.item).Running.Is(c.self.id):
		case r.syncs < c.syncs, w.Item(r.item).Running != nil:
			mend.add(r.item, w.mend(r.item)...)
		default:
			missing = true // or the view shows the claim in parts
		}
	}
	if held := c.unmended.hold(missing, w.now); missing {
		if held >= firstPause {
			c.unmended, c.stale = since{}, true
		}
		c.wakeIn(firstPause)
	}
	if held := c.unseen.hold(behindView, w.now); behindView {
		if held >= settleAfter {
			c.unseen, c.stale = since{}, true
		}
		c.wakeIn(max(settleAfter-held, firstPause))
	}
	if len(mend.commits) > 0 && c.commitAll(mend.commits) {
		if n := c.story.mended.add(len(mend.commits[0].parts)); n > 0 {
			c.log.Warn("the records of runs were removed or changed by somebody else, and are put back", zap.Int("runs", n))
		}
	}
}

// settle looks after what the tree has as running here although it is not.
func (c *controller) settle(w *world) {
	left := w.leftovers()
	if len(left) == 0 {
		c.unsettled, c.suspicious = since{}, false
		return
	}
	c.troubles.want("settle", c.passes)
	if held := c.unsettled.hold(true, w.now); !c.suspicious && held < settleAfter {
		c.wakeIn(settleAfter - held)
		return
	}
	c.unsettled, c.suspicious = since{}, false
	c.wakeIn(settleAfter)
	for _, i := range left {
		cm, ok := c.admit(w.settle(i))
		if !ok {
			continue
		}
		running, err := c.reg.Get(c.session.Context(), c.job.Running(i))
		switch {
		case errors.Is(err, coord.ErrNoNode) || err == nil && string(running.Value) != w.Items[i].Running.ID:
		case err != nil:
			c.failed(cm.step, err)
			return
		default:
			c.commit(cm)
		}
	}
}
