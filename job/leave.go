package job

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// stepDown takes this instance out of the tree and hands leadership over, so that its
// idle items are dealt to others while what runs here comes to its end. Its session
// node stays until then: nobody takes over what still runs (B-02, B-68).
//
// It is asked in every pass: that this instance was elected may show later.
func (w *world) stepDown() *commit {
	ops := []coord.Op{w.mine()}
	if w.Instances[w.self.id].Owner == w.self.session {
		ops = append(ops, coord.DeleteTree(w.job.Instance(w.self.id)))
	}
	if w.leads() {
		ops = append(ops, w.leader(), coord.DeleteTree(w.job.LeaderInstance()))
	}
	if len(ops) == 1 {
		return nil
	}
	return &commit{step: "step down", ops: ops}
}

// handOver removes the records of runs that were not finished and, with failover on,
// puts their items up for the others.
func (w *world) handOver(runs []*run) []commit {
	c := chunk{step: "hand over", head: []coord.Op{w.mine()}}
	for _, r := range runs {
		item := w.Item(r.item)
		ops := []coord.Op{coord.AtVersion(w.job.Fired(r.item), item.Fired.Version), coord.DeleteTree(w.job.Running(r.item))}
		if r.failover {
			ops = append(ops, coord.DeleteTree(w.job.Failover(r.item)), coord.DeleteTree(w.job.Failovering(r.item)))
		}
		if w.settings.Failover {
			ops = append(ops, coord.Put(w.job.FailoverItem(r.item), jobtree.EncodeFired(r.tick)))
		}
		last := c.add(r.item, ops...)
		last.ends = append(last.ends, r)
	}
	return c.commits
}

// signOff removes the session's node and whatever else this instance still has: it may
// have been elected, say, without having seen it. A session's node that may forestall
// something is kept, and so is a trigger that others obey in its place.
func (w *world) signOff(forestalls bool) commit {
	ops := []coord.Op{
		coord.DeleteTree(w.job.Instance(w.self.id)),
		coord.DeleteTree(w.job.Faults(w.self.id)),
	}
	if !w.othersObey() {
		ops = append(ops, coord.DeleteTree(w.job.Trigger(w.self.id)))
	}
	if !forestalls {
		ops = append(ops, coord.DeleteTree(w.job.Session(w.self.id)))
	}
	if w.leads() {
		ops = append(ops, w.leader(), coord.DeleteTree(w.job.LeaderInstance()))
	}
	return commit{step: "sign off", ops: ops}
}

// othersObey reports whether somebody is there to take a trigger that this instance has not
// obeyed, as the leader does.
func (w *world) othersObey() bool {
	for id, in := range w.Instances {
		if id != w.self.id && in.Owner != 0 {
			return w.Config != nil
		}
	}
	return false
}

// handBack gives up claims of runs that wait for a thread: the item is as it was before,
// so whoever may run it does. A failover waits again; what was triggered is kept here.
func (w *world) handBack(runs []*run) []commit {
	c := chunk{step: "hand back", head: []coord.Op{w.mine()}}
	for _, r := range runs {
		item := w.Item(r.item)
		ops := []coord.Op{
			coord.SetAt(w.job.Fired(r.item), jobtree.EncodeFired(r.before), item.Fired.Version),
			coord.DeleteTree(w.job.Running(r.item)),
		}
		if r.failover {
			ops = append(ops,
				coord.DeleteTree(w.job.Failover(r.item)), coord.DeleteTree(w.job.Failovering(r.item)),
				coord.Put(w.job.FailoverItem(r.item), jobtree.EncodeFired(r.tick)))
		}
		last := c.add(r.item, ops...)
		last.ends = append(last.ends, r)
	}
	return c.commits
}
