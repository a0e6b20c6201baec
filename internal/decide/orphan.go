package decide

import (
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// Orphan is an item whose run was cut short: the instance that ran it has ended.
type Orphan struct {
	Item   int
	State  jobtree.Item
	Runner string // the instance that ran the item, and has ended
}

// Orphans lists the orphans. It looks at every item, whoever owns it and however many instances are alive.
// (ElasticJob removes old records only when an instance is the only one, B-05. Up to 2.1.5 an item was
// recovered only if the host of its instance had another instance, B-01.)
func (w *World) Orphans() []Orphan {
	var list []Orphan
	for i := range w.itemsToLookAt(len(w.Items)) {
		item := &w.Items[i]
		switch {
		case item.Running != nil:
			if id := w.runnerOf(item); w.IsDead(id) {
				list = append(list, Orphan{Item: i, State: *item, Runner: id})
			}
		case item.Failovering != nil && w.IsDead(item.Failovering.ID):
			list = append(list, Orphan{Item: i, State: *item, Runner: item.Failovering.ID})
		}
	}
	return list
}

// runnerOf returns the instance that runs an item. ElasticJob before 3.0.2 leaves the value of running
// empty; then it is the owner of the item.
func (w *World) runnerOf(item *jobtree.Item) string {
	if item.Running.ID == "" && item.Owner != nil {
		return item.Owner.ID
	}
	return item.Running.ID
}

// MarkForFailover ends the runs of orphans, as the acting leader (see ends.go).
//
// A run that has ended has no record, so its item is not run again (in ElasticJob up to 3.0.1 it is,
// B-03). An instance that leaves removes its records, so that is not taken for a crash (in ElasticJob it
// is, B-02). An instance that fails over an item and then crashes is like any other (in ElasticJob up to
// 2.1.5 the item is lost, B-04).
//
// The condition on fired makes sure that nobody has claimed the item since. An item is added only once: if
// another run of it is cut short while it still awaits failover, it is run again once, for the later tick.
func (w *World) MarkForFailover(orphans []Orphan) []Change {
	byOwner := map[string]*changes{}
	for _, o := range orphans {
		c, ok := byOwner[o.Runner]
		if !ok {
			c = &changes{w: w, step: "mark for failover", urgency: urgency.Soonest, head: func(w *World) []coord.Op { return append(w.ifActingLeader(), w.ifDead(o.Runner)...) }}
			byOwner[o.Runner] = c
		}
		c.add(o.Item, w.markForFailover(o)...)
	}
	var list []Change
	for _, owner := range slices.Sorted(maps.Keys(byOwner)) {
		list = append(list, byOwner[owner].list...)
	}
	return list
}

// markForFailover returns the operations for one orphan.
func (w *World) markForFailover(o Orphan) []coord.Op {
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
	if o.Item >= w.Rules.Total {
		return ops
	}
	token := int64(0)
	if o.State.Fired != nil {
		token = o.State.Fired.Modified
	}
	p := w.purposeOfClaim(o.Item, &o.State, o.Runner)
	ops = append(ops, w.ifSamePurpose(o.Item, p)...)
	ops = append(ops, w.failOverOrEnd(o.Item, p, token, o.tick(), w.firstTaskIDOf(o))...)
	if w.Kills[o.Item].Kills(token) {
		ops = append(ops, w.writeCompletion(o.Item, w.killedCompletion(token, &o.State))...)
	}
	return ops
}

// IsTorn reports whether the snapshot may show running and fired of different claims. A claim writes both in one
// commit. If the snapshot shows both as of one commit, they belong to the run that was cut short. If not, one of
// the two may be old, because a view of ZooKeeper shows a commit in parts; then the store has to be asked.
func (o Orphan) IsTorn() bool {
	return o.State.Fired == nil || o.State.Running == nil || o.State.Running.Modified != o.State.Fired.Modified
}

// tick returns the tick of the run that was cut short; zero if that is not known: the run of a JVM member
// was not seen before it ended, so fired does not tell of it.
func (o Orphan) tick() time.Time {
	if s := o.State; s.Running != nil && s.Fired != nil && jobtree.IsJVMID(o.Runner) && s.Running.Modified > s.Fired.Modified {
		return time.Time{}
	}
	return claimedTick(&o.State)
}

// claimedTick returns the tick for which the item was claimed last; zero if that is not known.
func claimedTick(item *jobtree.Item) time.Time {
	if item.Fired == nil {
		return time.Time{}
	}
	return item.Fired.Run
}
