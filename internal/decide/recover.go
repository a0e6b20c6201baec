package decide

import (
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Orphan is an item whose run was cut short by the end of its instance.
type Orphan struct {
	Item  int
	State jobtree.Item
	Owner string // the instance that has ended
}

// Orphans lists what is to be recovered. It looks at every item, whoever owns it and
// however many instances are alive. (ElasticJob does so only when an instance finds itself
// alone, B-05, and only for items of instances whose host has another, B-01.)
func (w *World) Orphans() []Orphan {
	var list []Orphan
	for i := range w.Items {
		item := &w.Items[i]
		switch {
		case item.Running != nil:
			if id := w.runner(item); w.IsDead(id) {
				list = append(list, Orphan{Item: i, State: *item, Owner: id})
			}
		case item.Failovering != nil && w.IsDead(item.Failovering.ID):
			list = append(list, Orphan{Item: i, State: *item, Owner: item.Failovering.ID})
		}
	}
	return list
}

// runner names the instance that runs the item. ElasticJob before 3.0.2 leaves the value
// of running empty; there it is the owner.
func (w *World) runner(item *jobtree.Item) string {
	if item.Running.ID == "" && item.Owner != nil {
		return item.Owner.ID
	}
	return item.Running.ID
}

// Recover removes, as leader, the records of runs whose instance has ended, and with
// failover on puts their items up for the others. Only a run that was not finished has a
// record, so finished items are not run again (in ElasticJob they are, B-03), and a
// planned stop, which leaves none, is no crash (there it is one, B-02). A taker that
// crashed is an instance like any other (there its item is lost, B-04).
//
// The condition on its fired record makes sure that nobody has claimed the item since.
//
// An item waits once: if its next run is cut short too before the first was taken over,
// the later one stands for both.
func (w *World) Recover(orphans []Orphan) []Change {
	byOwner := map[string]*changes{}
	for _, o := range orphans {
		c, ok := byOwner[o.Owner]
		if !ok {
			c = &changes{step: "recover", head: append(w.ifLeading(), w.ifDead(o.Owner)...)}
			byOwner[o.Owner] = c
		}
		c.add(o.Item, w.recover(o)...)
	}
	var list []Change
	for _, owner := range slices.Sorted(maps.Keys(byOwner)) {
		list = append(list, byOwner[owner].list...)
	}
	return list
}

func (w *World) recover(o Orphan) []coord.Op {
	var ops []coord.Op
	if o.State.Fired != nil {
		ops = append(ops, coord.AtVersion(w.Job.Fired(o.Item), o.State.Fired.Version))
	}
	if o.State.Running != nil {
		ops = append(ops, coord.AtVersion(w.Job.Running(o.Item), o.State.Running.Version), coord.DeleteTree(w.Job.Running(o.Item)))
	}
	if o.State.Failovering != nil {
		ops = append(ops, coord.DeleteTree(w.Job.Failovering(o.Item)))
	}
	if o.State.Failover != nil {
		ops = append(ops, coord.DeleteTree(w.Job.Failover(o.Item)))
	}
	if w.Rules.Failover && o.Item < w.Rules.Total {
		ops = append(ops, coord.Put(w.Job.FailoverItem(o.Item), jobtree.EncodeFired(claimedFor(&o.State))))
	}
	return ops
}

// IsTorn reports whether the records of an orphan may be of different commits. A claim
// writes both at once, so where a snapshot shows both as of one commit, they are of the
// run that was cut short. Otherwise the snapshot may show an old record beside a new claim
// (views of ZooKeeper show a commit in parts), and must not be trusted.
func (o Orphan) IsTorn() bool {
	return o.State.Fired == nil || o.State.Running == nil || o.State.Running.Modified != o.State.Fired.Modified
}

// claimedFor is the tick that the item's latest claim was for.
func claimedFor(item *jobtree.Item) time.Time {
	if item.Fired == nil {
		return time.Time{}
	}
	return item.Fired.Run
}
