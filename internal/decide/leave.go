package decide

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// Resign removes instances/{id} and gives leadership up. The leader then assigns the idle items of this instance
// to others, while its runs come to their end. sessions/{id} stays until then, so that nobody runs again what
// still runs. (ElasticJob does not wait for runs, and takes a planned stop for a crash, B-02.)
//
// JVM members take the end of instances/{id} for a crash, and run again what has a record. So beside them it goes
// when nothing runs here any more (hasRuns); until then sessions/{id} says that this instance is leaving.
//
// It is asked in every pass, because the view may show only later that this instance was elected.
func (w *World) Resign(hasRuns bool) *Change {
	ops := []coord.Op{w.ifSessionLives()}
	switch {
	case w.Instances[w.Self.ID].Owner != w.Self.Session:
	case !hasRuns || !w.IsMixed():
		ops = append(ops, coord.DeleteTree(w.Job.Instance(w.Self.ID)))
	case !w.Session(w.Self.ID).Leaving:
		says := w.OwnSession()
		says.Leaving = true
		ops = append(ops, coord.SetAt(w.Job.Session(w.Self.ID), jobtree.EncodeSession(says), w.Session(w.Self.ID).Version))
	}
	if w.Leads() {
		ops = append(append(ops, w.ifLeader(), coord.DeleteTree(w.Job.LeaderInstance())), w.reshardOnHandover()...)
	}
	if len(ops) == 1 {
		return nil
	}
	return &Change{Step: "resign", Urgency: urgency.Soonest, Ops: ops}
}

// ReleaseForFailover ends runs that were cut short because this instance leaves (see ends.go).
func (w *World) ReleaseForFailover(runs []*Run) []Change {
	c := changes{w: w, step: "release for failover", urgency: urgency.Soonest, head: (*World).sessionHead}
	for _, r := range runs {
		item := w.Item(r.Item)
		ops := []coord.Op{w.ifUnclaimed(r.Item, &item), coord.DeleteTree(w.Job.Running(r.Item))}
		ops = append(ops, w.removeMarks(r)...)
		ops = append(ops, w.failOverOrEnd(r.Item, w.purposeOf(r), r.Token, r.Tick, r.firstTaskID())...)
		if w.Killed(r) && r.Completed != nil {
			r.Completed.Outcome = jobtree.OutcomeKilled
		}
		c.add(r.Item, append(ops, w.completionOps(r)...)...).Ends = r
	}
	return c.list
}

// ReleaseClaims ends claims that have waited for a thread too long (see ends.go). A claim that was killed cannot
// be released: it has to end as such.
func (w *World) ReleaseClaims(runs []*Run) []Change {
	c := changes{w: w, step: "release", urgency: urgency.Soonest, head: (*World).sessionHead}
	for _, r := range runs {
		item, p := w.Item(r.Item), w.purposeOf(r)
		if w.Killed(r) {
			ops, skips := w.removeRecord(r, &item)
			part := c.add(r.Item, append(ops, w.endKilled(r.Item, p, r.Token, &item, r.firstTaskID())...)...)
			part.Ends, part.Skips = r, skips
			continue
		}
		ops := []coord.Op{
			coord.SetAt(w.Job.Fired(r.Item), jobtree.EncodeFired(r.Before), item.Fired.Version),
			w.ifNotKilled(r.Item),
			coord.DeleteTree(w.Job.Running(r.Item)),
		}
		ops = append(ops, w.removeMarks(r)...)
		if r.Failover && !p.isOver {
			ops = append(ops, w.addFailoverItem(r.Item, p, r.Tick, "")...)
		} else {
			ops = append(ops, w.releaseProgress(r)...)
		}
		c.add(r.Item, ops...).Ends = r
	}
	return c.list
}

// Deregister removes the session's node and whatever else this instance still has: it may have been
// elected without having seen that, for example. Its trigger stays if another instance can take it
// (OthersTakeTrigger). keepSession keeps the session's node, which may fence a registration that may still
// arrive (see FenceRegistration).
func (w *World) Deregister(keepSession bool) Change {
	return w.deregister(keepSession, coord.DeleteTree(w.Job.Trigger(w.Self.ID)))
}

// LeaveInOneCommit is [World.Deregister] for an instance that runs nothing and has not resigned. If the
// snapshot shows no trigger there must be none: the caller logs one that is lost.
func (w *World) LeaveInOneCommit() Change {
	trigger := w.Job.Trigger(w.Self.ID)
	if _, isThere := w.Triggers[w.Self.ID]; isThere {
		return w.deregister(false, coord.DeleteTree(trigger))
	}
	return w.deregister(false, coord.Absent(trigger))
}

// deregister is Deregister. dropTrigger is what is done about a trigger that nobody else will take.
func (w *World) deregister(keepSession bool, dropTrigger coord.Op) Change {
	ops := []coord.Op{
		coord.DeleteTree(w.Job.Instance(w.Self.ID)),
		coord.DeleteTree(w.Job.Faults(w.Self.ID)),
	}
	if !w.OthersTakeTrigger() {
		ops = append(ops, dropTrigger)
	}
	if !keepSession {
		ops = append(ops, coord.DeleteTree(w.Job.Session(w.Self.ID)))
	}
	if w.Leads() {
		ops = append(append(ops, w.ifLeader(), coord.DeleteTree(w.Job.LeaderInstance())), w.reshardOnHandover()...)
	}
	return Change{Step: "deregister", Urgency: urgency.Soonest, Ops: ops}
}

// OthersTakeTrigger reports whether another instance is there that can take, as leader, the trigger of
// this instance (AdoptTrigger).
func (w *World) OthersTakeTrigger() bool {
	for id, in := range w.Instances {
		if id != w.Self.ID && in.Owner != 0 {
			return w.Config != nil
		}
	}
	return false
}
