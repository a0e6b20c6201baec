package job

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// missed reports whether a tick that came while the item runs is to be flagged: once
// for each run, and only with misfire on (B-22).
func (w *world) missed(i int, item jobtree.Item, tick time.Time) bool {
	if !w.settings.misfire || item.Misfire || item.Running == nil {
		return false
	}
	r := w.runs[i]
	return r == nil || !r.flagged && tick.After(r.last)
}

// misfireFlag sets the flag, unless the run has ended meanwhile.
func (w *world) misfireFlag(i int, item jobtree.Item) []coord.Op {
	return []coord.Op{
		coord.AtVersion(w.job.Fired(i), item.Fired.Version),
		coord.Exists(w.job.Running(i)),
		coord.Put(w.job.Misfire(i), nil),
	}
}

// makeUp says whether an item whose run has ended is run again at once, for the
// ticks that came meanwhile, and for which tick. The record of the run is kept then.
// An item that the leader would rather give to somebody else is let go: whoever gets
// it makes up.
func (w *world) makeUp(r *run, item jobtree.Item, owners func() []string) (time.Time, bool) {
	tick := w.lastTick()
	switch {
	case !w.settings.misfire, r.failover, !w.active(), item.Disabled, !item.Owner.Is(w.self.id), w.hasBegun(r.item, tick):
		return time.Time{}, false
	case w.mayTakeOver() && len(w.claimableFailovers()) > 0:
		return time.Time{}, false // its thread goes to what was cut short before
	case item.Running == nil, (item.Running.Owner == 0) != w.settings.Failover:
		return time.Time{}, false // its record would not be of the kind that is wanted now
	}
	item.Misfire = true // a tick that is due now came while the item ran
	if w.judge(item, tick) != late {
		return time.Time{}, false
	}
	wanted := owners()
	return tick, r.item < len(wanted) && wanted[r.item] == w.self.id
}
