package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// TaskID returns the task id of the execution of a claim, which an instance has committed with a token.
func (c *Claim) TaskID(job jobtree.Job, instance string, token int64) string {
	run := c.Tick
	if run.IsZero() {
		run = c.Last // as who reads fired sees it
	}
	return jobtree.TaskID(job, c.Item, instance, token, run)
}

// TaskID returns the task id of the run that was cut short; empty if the tree does not tell: a JVM member
// ran the item, or an external writer has written to its record.
func (o Orphan) TaskID(job jobtree.Job) string {
	if o.IsTorn() || o.State.Running.ID == "" {
		return ""
	}
	return jobtree.TaskID(job, o.Item, o.State.Running.ID, o.State.Fired.Modified, o.State.Fired.Run)
}

// firstTaskID returns the task id of the first execution in the chain of failovers to which a run belongs.
func (r *Run) firstTaskID() string {
	if r.Original != "" {
		return r.Original
	}
	return r.TaskID
}

// firstTaskIDOf is [Run.firstTaskID] for the run of an orphan.
func (w *World) firstTaskIDOf(o Orphan) string {
	first := ""
	if r := w.purposeOfClaim(o.Item, &o.State, o.Runner).request; r != nil {
		first = r.OriginalOf(o.Item)
	}
	if o.State.Failovering != nil {
		first = o.State.Original.Of(claimedTick(&o.State))
	}
	if first == "" {
		first = o.TaskID(w.Job)
	}
	return first
}

// addFailoverItem returns the operations that make an item await failover, for a tick or for the request
// of p. first is the task id of the run that was cut short first; empty if that is not known.
//
// An item awaits failover once. If a tick and a request both want that, the tick does, and the request is
// queued again.
func (w *World) addFailoverItem(item int, p purpose, tick time.Time, first string) []coord.Op {
	ops := []coord.Op{coord.Absent(w.Job.FailoverItem(item))}
	if waits := w.failoverItem(item); waits != nil {
		ops[0] = coord.AtVersion(w.Job.FailoverItem(item), waits.Version)
		before := purposeOfRequest(w.requestOfCommit(item, waits.Modified))
		switch {
		case before.request == p.request:
		case p.request != nil && !before.isOver:
			return append(ops, w.requeueRequest(item, p)...)
		default:
			ops = append(ops, w.requeueRequest(item, before)...)
		}
	}
	ops = append(append(ops, w.keepProgress(item, p)...), coord.Put(w.Job.FailoverItem(item), jobtree.EncodeFired(tick)))
	if first != "" && !tick.IsZero() {
		ops = append(ops, coord.Put(w.Job.Original(item), jobtree.EncodeOriginal(first, tick)))
	}
	return ops
}
