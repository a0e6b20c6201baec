package job

import (
	"errors"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// doubts are differences between the tree and what runs here, which may only be a view that
// is late. The steps mend and settle change them.
type doubts struct {
	unseen     since // the view lacks the claim of a run that has begun
	unmended   since // the view lacks the record of a run, but not its claim
	unsettled  since // the tree has leftovers
	suspicious bool  // a commit of ours may have happened unseen. failed sets it
}

// settleAfter is how old such a difference may grow before it is no longer put down to the
// view being late.
const settleAfter = time.Second

// finish removes the records of runs that are done, once all of their claim are, or they
// have waited long enough for the others.
func (c *controller) finish(w *decide.World) error {
	ready, back, isOpen := c.finished(w)
	for _, r := range back {
		c.commitAll(w.HandBack([]*decide.Run{r}))
	}
	if w.Now.Before(c.lingering) && (len(ready) == 0 || isOpen && !c.isLeaving()) {
		c.wakeIn(c.lingering.Sub(w.Now))
		return nil
	}
	c.lingering = time.Time{} // what becomes ready later has waited long enough
	if len(ready) > 0 {
		c.commitAll(c.finishes(w, ready))
	}
	return nil
}

// finished sorts the runs that are done: those whose records can go, and those that are
// handed back. Those that have no record any more are dropped. isOpen is whether others of
// their claims are not done.
func (c *controller) finished(w *decide.World) (ready, back []*decide.Run, isOpen bool) {
	for _, i := range slices.Sorted(maps.Keys(c.runs)) {
		r := c.runs[i]
		if r.phase != done || (c.isLeaving() || c.registration == unsound) && r.isUnfinished() {
			continue // its record makes others run it again
		}
		isOpen = isOpen || r.group.open > 0
		switch standing := w.Standing(&r.Run); {
		case standing == decide.Foreign, standing == decide.Behind && r.syncs < c.syncs:
			c.drop(r) // after a sync the view is not late: the item is gone
		case standing == decide.Behind:
		case r.ending.err == errHandedBack: // errors.Is would call methods of the handler's error
			back = append(back, &r.Run)
		default:
			ready = append(ready, &r.Run)
		}
	}
	return ready, back, isOpen
}

// finishes asks what is to be done about runs that are done. Who should own the items
// matters only to one that is made up. A strategy that is at fault wants nobody; the leader
// reports it.
func (c *controller) finishes(w *decide.World, runs []*decide.Run) []decide.Change {
	var owners []string
	if w.MayMakeUp(c.work, runs) {
		owners, _ = c.desired(w) // an error is the leader's to report
	}
	return w.Finish(c.work, runs, owners)
}

// mend compares what runs here with its records. Where somebody else has claimed the item
// since, or the item is gone, the run's context ends. A record that somebody has removed is
// put back.
func (c *controller) mend(w *decide.World) error {
	isBehind, isMissing := false, false
	var lost []*decide.Run
	for _, i := range slices.Sorted(maps.Keys(c.runs)) {
		r := c.runs[i]
		standing := w.Standing(&r.Run)
		if r.Instance != c.self.ID || !r.Recorded {
			continue
		}
		wasSynced := r.syncs < c.syncs
		isBehind = isBehind || standing == decide.Behind
		switch {
		case r.phase != executing:
		case standing == decide.Foreign, standing == decide.Behind && wasSynced:
			r.cancel(ErrItemLost)
		case standing != decide.Ours, !w.IsUnrecorded(&r.Run):
		case wasSynced, w.Item(i).Running != nil:
			lost = append(lost, &r.Run)
		default:
			isMissing = true // or the view shows the claim in parts
		}
	}
	c.doubt(&c.unmended, isMissing, w.Now, firstPause)
	c.doubt(&c.unseen, isBehind, w.Now, settleAfter)
	if changes := w.Mend(lost); len(changes) > 0 && c.commitAll(changes) {
		if n := c.story.mended.add(len(lost)); n > 0 {
			c.log.Warn("somebody else has removed or changed the records of runs; they are put back", zap.Int("runs", n))
		}
	}
	return nil
}

// doubt makes the view catch up when a difference has lasted for too long.
func (c *controller) doubt(s *since, holds bool, now time.Time, patience time.Duration) {
	held := s.hold(holds, now)
	if !holds {
		return
	}
	if held >= patience {
		*s, c.stale = since{}, true
	}
	c.wakeIn(max(patience-held, firstPause))
}

// settle looks after what the tree has as running here although it is not.
func (c *controller) settle(w *decide.World) error {
	left := w.Leftovers(c.work)
	if len(left) == 0 {
		c.unsettled, c.suspicious = since{}, false
		return nil
	}
	c.troubles.want("settle", c.passes)
	if held := c.unsettled.hold(true, w.Now); !c.suspicious && held < settleAfter {
		c.wakeIn(settleAfter - held)
		return nil
	}
	c.unsettled, c.suspicious = since{}, false
	c.wakeIn(settleAfter)
	for _, i := range left {
		change, ok := c.admit(w.Settle(c.work, i))
		if !ok {
			continue
		}
		running, err := c.reg.Get(c.session.Context(), c.job.Running(i))
		switch {
		case errors.Is(err, coord.ErrNoNode) || err == nil && string(running.Value) != w.Items[i].Running.ID:
		case err != nil:
			c.failed(change.Step, err)
			return nil
		default:
			c.commit(change)
		}
	}
	return nil
}
