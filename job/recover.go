package job

import (
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// orphan is an item whose run was cut short by the end of its instance.
type orphan struct {
	item  int
	state jobtree.Item
	owner string // the instance that has ended
}

// orphans lists what is to be recovered. It looks at every item, whoever owns it and
// however many instances are alive: ElasticJob does so only when an instance finds
// itself alone (B-05), and only for items of instances whose host has another (B-01).
func (w *world) orphans() []orphan {
	var list []orphan
	for i := range w.Items {
		item := &w.Items[i]
		switch {
		case item.Running != nil:
			if id := w.runner(*item); w.dead(id) {
				list = append(list, orphan{item: i, state: *item, owner: id})
			}
		case item.Failovering != nil && w.dead(item.Failovering.ID):
			list = append(list, orphan{item: i, state: *item, owner: item.Failovering.ID})
		}
	}
	return list
}

// runner names the instance that runs the item. ElasticJob before 3.0.2 leaves the
// value of running empty; there it is the owner.
func (w *world) runner(item jobtree.Item) string {
	if item.Running.ID == "" && item.Owner != nil {
		return item.Owner.ID
	}
	return item.Running.ID
}

// recover removes, as leader, the records of runs whose instance has ended, and with
// failover on puts their items up for the others. Only a run that was not finished
// has a record, so finished items are not run again (B-03), and a planned stop, which
// leaves none, is no crash (B-02). A taker that crashed is an instance like any other
// (B-04).
//
// The condition on its fired record makes sure that nobody has claimed the item since.
//
// An item waits once: if its next run is cut short too before the first was taken
// over, the later one stands for both.
func (w *world) recover(orphans []orphan) []commit {
	byOwner := map[string]*chunk{}
	for _, o := range orphans {
		c, ok := byOwner[o.owner]
		if !ok {
			c = &chunk{step: "recover", head: append(w.asLeader(), w.stillDead(o.owner)...)}
			byOwner[o.owner] = c
		}
		var ops []coord.Op
		if o.state.Fired != nil {
			ops = append(ops, coord.AtVersion(w.job.Fired(o.item), o.state.Fired.Version))
		}
		if o.state.Running != nil {
			ops = append(ops, coord.AtVersion(w.job.Running(o.item), o.state.Running.Version), coord.DeleteTree(w.job.Running(o.item)))
		}
		if o.state.Failovering != nil {
			ops = append(ops, coord.DeleteTree(w.job.Failovering(o.item)))
		}
		if o.state.Failover != nil {
			ops = append(ops, coord.DeleteTree(w.job.Failover(o.item)))
		}
		if w.settings.Failover && o.item < w.settings.ShardingTotalCount {
			ops = append(ops, coord.Put(w.job.FailoverItem(o.item), jobtree.EncodeFired(claimed(o.state))))
		}
		c.add(o.item, ops...)
	}
	var commits []commit
	for _, owner := range slices.Sorted(maps.Keys(byOwner)) {
		commits = append(commits, byOwner[owner].commits...)
	}
	return commits
}

// torn reports whether the records of an orphan may be of different commits. A claim
// writes both at once, so where a snapshot shows both as of one commit, they are of the
// run that was cut short. Otherwise the snapshot may show an old record beside a new
// claim (views of ZooKeeper show a commit in parts), and must not be trusted.
func (o orphan) torn() bool {
	return o.state.Fired == nil || o.state.Running == nil || o.state.Running.Modified != o.state.Fired.Modified
}

// claimed is the tick that the item's latest claim was for.
func claimed(item jobtree.Item) time.Time {
	if item.Fired == nil {
		return time.Time{}
	}
	return item.Fired.Run
}
