package decide

import (
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// IsCoordinator reports whether this instance is the coordinator: the leader, or if a JVM member or an old
// one leads, the first of our members that is not old and not leaving. If two take themselves for it, the
// conditions of what they commit keep them apart.
func (w *World) IsCoordinator() bool {
	if !w.JVMLeads() && (w.Leader == nil || !w.IsOld(w.Leader.ID)) {
		return w.Leads()
	}
	for id := range w.Instances {
		if w.Sessions[id] != nil && !w.IsOld(id) && !w.isLeaving(id) && w.compare(id, w.Self.ID) < 0 {
			return false
		}
	}
	return true
}

// EndRequests brings requests to an end, as the coordinator: items that no instance can run for them any
// more, and requests whose items have all ended. It removes requests that nobody waits for.
func (w *World) EndRequests() []Change {
	if len(w.Requests) == 0 || !w.IsCoordinator() {
		return nil
	}
	c := changes{w: w, step: "end requests", urgency: urgency.Sooner, head: (*World).sessionHead}
	w.endStuck(&c)
	w.endCancelled(&c)
	w.endCompleted(&c)
	w.removeRequests(&c)
	return c.list
}

// endStuck ends, for the requests whose turn it is, the items that cannot run for them or whose run was cut short.
func (w *World) endStuck(c *changes) {
	jvm := map[string]bool{}
	for _, r := range w.Requests {
		for _, i := range r.Items {
			if w.currentRequest(i) != r {
				continue
			}
			item := w.Item(i)
			p := r.Progress(i)
			isBegun := p != nil && p.Runner != ""
			switch {
			case isBegun:
				w.endIfLost(c, r, i)
			case i >= w.Rules.Total && w.hasCurrentRules():
				c.add(i, append(w.skipRequest(r, i, "the job has no such item any more"), w.ifSameConfig())...) // a view may show a request before the items that it is for
			case w.Rules.Broadcast && item.Owner == nil && item.Running == nil && w.hasCurrentRules():
				c.add(i, append(w.skipRequest(r, i, "no instance has the item"), coord.Absent(w.Job.ItemInstance(i)))...)
			case item.Disabled && item.Running == nil:
				c.add(i, append(w.skipRequest(r, i, "the item is disabled"), coord.Exists(w.Job.ItemDisabled(i)))...)
			case item.Owner != nil && item.Running == nil && w.isJVM(item.Owner.ID):
				id := item.Owner.ID
				ops := w.skipRequest(r, i, fmt.Sprintf("the JVM member %s was asked to run all of its items, and does not tell how they end", id))
				if !jvm[id] {
					ops = append(ops, coord.Exists(w.Job.Instance(id)), coord.Put(w.Job.Trigger(id), nil))
					jvm[id] = true
				}
				c.add(i, ops...)
			}
		}
	}
}

// endCancelled does so for requests that have been cancelled, whose turn is over.
func (w *World) endCancelled(c *changes) {
	for _, r := range w.Requests {
		if r.Err != nil || r.Ended.IsZero() {
			continue
		}
		for n, i := range r.Items {
			if r.RunsAt(n) {
				w.endIfLost(c, r, i)
			}
		}
	}
}

// endIfLost notes that a run for a request was cut short, if the progress of the item says that it runs,
// but no instance runs it for that, and none will.
func (w *World) endIfLost(c *changes, r *jobtree.Request, i int) {
	item, p, f := w.Item(i), r.Progress(i), w.failoverItem(i)
	ops := w.cutProgress(i, purposeOfRequest(r), jobtree.OutcomeCut)
	switch {
	case !w.Rules.Monitor:
		if w.IsDead(p.Runner) {
			c.add(i, ops...)
		}
		return
	case item.Fired != nil && item.Fired.Modified > p.Modified && (item.Running != nil && !w.isJVM(w.runnerOf(&item)) || item.Running == nil && item.Failovering == nil):
		ops = append(ops, w.ifUnclaimed(i, &item)) // it was claimed for something else since
	case item.Running == nil && item.Failovering == nil && w.IsDead(p.Runner): // who lives writes a record again that an external writer has removed
		ops = append(ops, coord.Absent(w.Job.Running(i)))
	case item.Running == nil && item.Failovering == nil && (item.Fired == nil || item.Fired.Modified < p.Modified): // it was to be run again, and may be gone since
		ops = append(ops, w.ifUnclaimed(i, &item), coord.Absent(w.Job.Running(i)))
	default:
		return
	}
	switch {
	case f == nil:
		ops = append(ops, coord.Absent(w.Job.FailoverItem(i)))
	case r.Ended.IsZero():
		return // it runs for that
	case w.purposeOfWaiting(f).request == r:
		ops = append(ops, coord.AtVersion(w.Job.FailoverItem(i), f.Version), coord.DeleteTree(w.Job.FailoverItem(i)))
	default:
		ops = append(ops, coord.AtVersion(w.Job.FailoverItem(i), f.Version))
	}
	c.add(i, ops...)
}

// skipRequest returns the operations that note that an item is not run for a request, and why.
func (w *World) skipRequest(r *jobtree.Request, item int, why string) []coord.Op {
	return w.writeProgress(r, item, jobtree.ProgressDocument{Done: progressOf(r, item).Done, Outcome: jobtree.OutcomeSkipped, Ended: w.correctedTime(), Error: why})
}

// endCompleted marks requests as ended whose items have all ended.
func (w *World) endCompleted(c *changes) {
	for _, r := range w.Requests {
		if r.Err != nil || !r.Ended.IsZero() || slices.ContainsFunc(r.Items, func(i int) bool { return !r.IsThrough(i) }) {
			continue
		}
		d := r.RequestDocument
		d.Ended = w.correctedTime()
		if value, err := jobtree.EncodeRequest(d); err == nil { // it was read, so it can be written
			c.add(NoItem, coord.SetAt(w.Job.Request(r.ID), value, r.Version))
		}
	}
}

// removeRequests removes requests that have ended, and those that nobody can read. A request that was
// cancelled stays as long as an item runs for it: it says what the run is for. A large one is removed in
// parts: first the progress, which nobody writes anew, because the request has ended.
func (w *World) removeRequests(c *changes) {
	const partly = 50
	kept, items := 0, 0
	for _, r := range slices.Backward(w.Requests) {
		if r.HasRunner() {
			continue
		}
		if r.Err == nil && (r.Ended.IsZero() || r.Kept && w.correctedTime().Sub(r.Ended) < keptTime) {
			if !r.Ended.IsZero() {
				kept, items = kept+1, items+len(r.Items)
			}
			if r.Ended.IsZero() || kept == 1 || kept <= maxKept && items <= maxKeptItems {
				continue
			}
		}
		isLarge := false
		if len(r.Items) > partly {
			for _, i := range r.Items {
				if r.Progress(i) != nil {
					isLarge = true
					c.add(i, coord.DeleteTree(w.Job.Progress(r.ID, i)))
				}
			}
		}
		if isLarge {
			continue
		}
		ops := []coord.Op{coord.AtVersion(w.Job.Request(r.ID), r.Version)}
		for _, i := range r.Items[:min(len(r.Items), partly)] {
			if r.Progress(i) == nil { // a view may show that a request was cancelled before it shows that an item was claimed for it
				ops = append(ops, coord.Absent(w.Job.Progress(r.ID, i)))
			}
		}
		c.add(NoItem, append(ops, coord.DeleteTree(w.Job.Request(r.ID)))...)
	}
}
