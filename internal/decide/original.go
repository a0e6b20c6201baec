package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// TaskID returns the id of the execution that a claim of an instance has begun with a token.
func (c *Claim) TaskID(job jobtree.Job, instance string, token int64) string {
	run := c.Tick
	if run.IsZero() {
		run = c.Last // as who reads fired sees it
	}
	return jobtree.TaskID(job, c.Item, instance, token, run)
}

// TaskID returns the id of the execution that was cut short, or was claimed and did not begin; empty if
// the tree does not tell: a JVM member ran the item, or an external writer has written to its record.
func (o Orphan) TaskID(job jobtree.Job) string {
	if o.IsTorn() || o.State.Running.ID == "" {
		return ""
	}
	return jobtree.TaskID(job, o.Item, o.State.Running.ID, o.State.Fired.Modified, o.State.Fired.Run)
}

// first returns the task id of the first of the executions that a run repeats, with itself.
func (r *Run) first() string {
	if r.Original != "" {
		return r.Original
	}
	return r.TaskID
}

// firstOf is [Run.first] for a run of which only the tree tells.
func (w *World) firstOf(o Orphan) string {
	first := ""
	if r := w.purposeOfClaim(o.Item, &o.State, o.Runner).request; r != nil {
		first = r.OriginalOf(o.Item)
	}
	if o.State.Failovering != nil {
		first = o.State.Original.Of(claimedFor(&o.State))
	}
	if first == "" {
		first = o.TaskID(w.Job)
	}
	return first
}

// putUp returns the operations that put an item up to be run again for a tick, or for the request that p has. first
// is the task id of what was cut short first; empty if that is not known.
//
// An item waits once. Of a tick and a request the tick waits, and the request has its turn again.
func (w *World) putUp(item int, p purpose, tick time.Time, first string) []coord.Op {
	ops := []coord.Op{coord.Absent(w.Job.FailoverItem(item))}
	if waits := w.waiting(item); waits != nil {
		ops[0] = coord.AtVersion(w.Job.FailoverItem(item), waits.Version)
		before := forRequest(w.wroteFor(item, waits.Modified))
		switch {
		case before.request == p.request:
		case p.request != nil && !before.isOver:
			return append(ops, w.giveTurnBack(item, p)...)
		default:
			ops = append(ops, w.giveTurnBack(item, before)...)
		}
	}
	ops = append(append(ops, w.goesOnFor(item, p)...), coord.Put(w.Job.FailoverItem(item), jobtree.EncodeFired(tick)))
	if first != "" && !tick.IsZero() {
		ops = append(ops, coord.Put(w.Job.Original(item), jobtree.EncodeOriginal(first, tick)))
	}
	return ops
}
