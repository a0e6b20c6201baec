package decide

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Resign removes instances/{id} and gives leadership up. Others are then dealt the idle
// items of this instance, while its runs come to their end. sessions/{id} stays until then,
// so that nobody takes over what still runs. (ElasticJob does not wait for runs, and takes a
// planned stop for a crash, B-02.)
//
// JVM members take the end of instances/{id} for a crash, and run again what has a record. So beside them
// it goes when nothing runs here any more; until then sessions/{id} says that this instance is leaving.
//
// It is asked in every pass, because the view may show only later that this instance was
// elected.
func (w *World) Resign(runs bool) *Change {
	ops := []coord.Op{w.ifMine()}
	switch {
	case w.Instances[w.Self.ID].Owner != w.Self.Session:
	case !runs || !w.IsMixed():
		ops = append(ops, coord.DeleteTree(w.Job.Instance(w.Self.ID)))
	case !w.Session(w.Self.ID).Leaving:
		says := w.OwnSession()
		says.Leaving = true
		ops = append(ops, coord.SetAt(w.Job.Session(w.Self.ID), jobtree.EncodeSession(says), w.Session(w.Self.ID).Version))
	}
	if w.Leads() {
		ops = append(append(ops, w.ifLeader(), coord.DeleteTree(w.Job.LeaderInstance())), w.leaveWord()...)
	}
	if len(ops) == 1 {
		return nil
	}
	return &Change{Step: "resign", Urgency: coord.Soonest, Ops: ops}
}

// ReleaseForFailover removes the records of runs that were not finished. With failover on it puts their
// items up to be run again by others, unless they were killed. Where the handler has returned,
// it says in the tree that the run was cut short.
func (w *World) ReleaseForFailover(runs []*Run) []Change {
	c := changes{w: w, step: "release for failover", urgency: coord.Soonest, head: (*World).ifRunner}
	for _, r := range runs {
		item := w.Item(r.Item)
		ops := []coord.Op{w.ifUnclaimed(r.Item, &item), coord.DeleteTree(w.Job.Running(r.Item))}
		ops = append(ops, w.removeMarks(r)...)
		ops = append(ops, w.waitAgain(r.Item, w.purposeOf(r), r.Token, r.Tick, r.first())...)
		if w.Killed(r) && r.Completed != nil {
			r.Completed.Outcome = jobtree.OutcomeKilled
		}
		c.add(r.Item, append(ops, w.complete(r)...)...).Ends = r
	}
	return c.list
}

// ReleaseClaims gives up claims that wait for a thread. fired gets back the tick of before the
// claim, so whoever may run the item does. An item that was to be run again (failover)
// waits for that again, unless the request for which it was to run has been cancelled. A claim that was killed ends.
func (w *World) ReleaseClaims(runs []*Run) []Change {
	c := changes{w: w, step: "release", urgency: coord.Soonest, head: (*World).ifRunner}
	for _, r := range runs {
		item := w.Item(r.Item)
		if w.Killed(r) {
			part := c.add(r.Item, append(w.remove(r, &item), w.endKilled(r.Item, w.purposeOf(r), r.Token, &item, r.first())...)...)
			part.Ends, part.Skips = r, w.skipsOf(r, &item)
			continue
		}
		ops := []coord.Op{
			coord.SetAt(w.Job.Fired(r.Item), jobtree.EncodeFired(r.Before), item.Fired.Version),
			w.ifNotKilled(r.Item),
			coord.DeleteTree(w.Job.Running(r.Item)),
		}
		ops = append(ops, w.removeMarks(r)...)
		if p := w.purposeOf(r); r.Failover && !p.isOver {
			ops = append(ops, w.putUp(r.Item, p, r.Tick, "")...)
		} else {
			ops = append(ops, w.releaseProgress(r)...)
		}
		c.add(r.Item, ops...).Ends = r
	}
	return c.list
}

// Deregister removes the session's node and whatever else this instance still has: it may have
// been elected without having seen that, for example. A trigger stays if the leader is there
// to obey it instead. keepSession keeps the session's node, which may block a registration
// that is still to come (see FenceRegistration).
func (w *World) Deregister(keepSession bool) Change {
	return w.deregister(keepSession, coord.DeleteTree(w.Job.Trigger(w.Self.ID)))
}

// LeaveAtOnce is [World.Deregister] for an instance that runs nothing and has not stepped down.
// If the snapshot shows no trigger there must be none: the caller tells of one that is lost.
func (w *World) LeaveAtOnce() Change {
	trigger := w.Job.Trigger(w.Self.ID)
	if _, isThere := w.Triggers[w.Self.ID]; isThere {
		return w.deregister(false, coord.DeleteTree(trigger))
	}
	return w.deregister(false, coord.Absent(trigger))
}

// deregister is Deregister. unobeyed is what is done about a trigger that nobody else will obey.
func (w *World) deregister(keepSession bool, unobeyed coord.Op) Change {
	ops := []coord.Op{
		coord.DeleteTree(w.Job.Instance(w.Self.ID)),
		coord.DeleteTree(w.Job.Faults(w.Self.ID)),
	}
	if !w.OthersObey() {
		ops = append(ops, unobeyed)
	}
	if !keepSession {
		ops = append(ops, coord.DeleteTree(w.Job.Session(w.Self.ID)))
	}
	if w.Leads() {
		ops = append(append(ops, w.ifLeader(), coord.DeleteTree(w.Job.LeaderInstance())), w.leaveWord()...)
	}
	return Change{Step: "deregister", Urgency: coord.Soonest, Ops: ops}
}

// OthersObey reports whether there is another instance that can obey, as leader, the trigger
// that this instance has not obeyed.
func (w *World) OthersObey() bool {
	for id, in := range w.Instances {
		if id != w.Self.ID && in.Owner != 0 {
			return w.Config != nil
		}
	}
	return false
}
