package decide

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// StepDown takes this instance out of the tree and hands leadership over, so that its idle
// items are dealt to others while what runs here comes to its end. Its session node stays
// until then: nobody takes over what still runs. (In ElasticJob others do, B-02, B-68.)
//
// It is asked in every pass: that this instance was elected may show later.
func (w *World) StepDown() *Change {
	ops := []coord.Op{w.ifMine()}
	if w.Instances[w.Self.ID].Owner == w.Self.Session {
		ops = append(ops, coord.DeleteTree(w.Job.Instance(w.Self.ID)))
	}
	if w.Leads() {
		ops = append(ops, w.ifLeader(), coord.DeleteTree(w.Job.LeaderInstance()))
	}
	if len(ops) == 1 {
		return nil
	}
	return &Change{Step: "step down", Ops: ops}
}

// HandOver removes the records of runs that were not finished and, with failover on, puts
// their items up for the others.
func (w *World) HandOver(runs []*Run) []Change {
	c := changes{step: "hand over", head: []coord.Op{w.ifMine()}}
	for _, r := range runs {
		item := w.Item(r.Item)
		ops := []coord.Op{w.ifUnclaimed(r.Item, &item), coord.DeleteTree(w.Job.Running(r.Item))}
		ops = append(ops, w.removeMarks(r)...)
		if w.Rules.Failover {
			ops = append(ops, coord.Put(w.Job.FailoverItem(r.Item), jobtree.EncodeFired(r.Tick)))
		}
		c.add(r.Item, ops...).Ends = r
	}
	return c.list
}

// HandBack gives up claims of runs that wait for a thread: the item is as it was before, so
// whoever may run it does. A failover waits again.
func (w *World) HandBack(runs []*Run) []Change {
	c := changes{step: "hand back", head: []coord.Op{w.ifMine()}}
	for _, r := range runs {
		item := w.Item(r.Item)
		ops := []coord.Op{
			coord.SetAt(w.Job.Fired(r.Item), jobtree.EncodeFired(r.Before), item.Fired.Version),
			coord.DeleteTree(w.Job.Running(r.Item)),
		}
		ops = append(ops, w.removeMarks(r)...)
		if r.Failover {
			ops = append(ops, coord.Put(w.Job.FailoverItem(r.Item), jobtree.EncodeFired(r.Tick)))
		}
		c.add(r.Item, ops...).Ends = r
	}
	return c.list
}

// SignOff removes the session's node and whatever else this instance still has: it may have
// been elected, say, without having seen it. A trigger that others obey in its place stays.
// keepSession keeps the session's node, which may forestall a registration.
func (w *World) SignOff(keepSession bool) Change {
	ops := []coord.Op{
		coord.DeleteTree(w.Job.Instance(w.Self.ID)),
		coord.DeleteTree(w.Job.Faults(w.Self.ID)),
	}
	if !w.OthersObey() {
		ops = append(ops, coord.DeleteTree(w.Job.Trigger(w.Self.ID)))
	}
	if !keepSession {
		ops = append(ops, coord.DeleteTree(w.Job.Session(w.Self.ID)))
	}
	if w.Leads() {
		ops = append(ops, w.ifLeader(), coord.DeleteTree(w.Job.LeaderInstance()))
	}
	return Change{Step: "sign off", Ops: ops}
}

// OthersObey reports whether somebody is there to take a trigger that this instance has not
// obeyed, as the leader does.
func (w *World) OthersObey() bool {
	for id, in := range w.Instances {
		if id != w.Self.ID && in.Owner != 0 {
			return w.Config != nil
		}
	}
	return false
}
