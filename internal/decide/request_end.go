package decide

import (
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// IsCoordinator reports whether this instance looks after requests: as the leader, or if who leads
// knows no requests (a JVM member, or an old one of ours), as the first of those that do. If two
// take themselves for it, the conditions of what they commit keep them apart.
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

// EndRequests brings requests to an end, as the coordinator: items whose runner has ended, items
// that cannot run, and requests whose items are all through. It removes requests that nobody
// waits for.
func (w *World) EndRequests() []Change {
	if len(w.Requests) == 0 || !w.IsCoordinator() {
		return nil
	}
	c := changes{w: w, step: "end requests", urgency: coord.Sooner, head: (*World).ifRunner}
	w.endStranded(&c)
	w.endCancelled(&c)
	w.endThrough(&c)
	w.dropRequests(&c)
	return c.list
}

// endStranded ends what cannot go on by itself.
func (w *World) endStranded(c *changes) {
	jvm := map[string]bool{}
	for _, r := range w.Requests {
		for _, i := range r.Items {
			if w.turnOf(i) != r {
				continue
			}
			item := w.Item(i)
			p := r.Progress(i)
			isBegun := p != nil && p.Runner != ""
			switch {
			case isBegun:
				w.endLost(c, r, i)
			case i >= w.Rules.Total && w.isCurrent():
				c.add(i, append(w.skip(r, i, "the job has no such item any more"), w.ifConfigured())...) // a view may show a request before the items that it is for
			case w.Rules.Broadcast && item.Owner == nil && item.Running == nil && w.isCurrent():
				c.add(i, append(w.skip(r, i, "no instance has the item"), coord.Absent(w.Job.ItemInstance(i)))...)
			case item.Disabled && item.Running == nil:
				c.add(i, append(w.skip(r, i, "the item is disabled"), coord.Exists(w.Job.ItemDisabled(i)))...)
			case item.Owner != nil && item.Running == nil && w.isJVM(item.Owner.ID):
				id := item.Owner.ID
				ops := w.skip(r, i, fmt.Sprintf("the JVM member %s was asked to run all of its items, and does not tell how they end", id))
				if !jvm[id] {
					ops = append(ops, coord.Exists(w.Job.Instance(id)), coord.Put(w.Job.Trigger(id), nil))
					jvm[id] = true
				}
				c.add(i, ops...)
			}
		}
	}
}

// endCancelled ends what was cut short for requests that have been cancelled, or waits to be run again for them.
func (w *World) endCancelled(c *changes) {
	for _, r := range w.Requests {
		if r.Err != nil || r.Ended.IsZero() {
			continue
		}
		for n, i := range r.Items {
			if r.RunsAt(n) {
				w.endLost(c, r, i)
			}
		}
	}
}

// endLost notes that a run for a request was cut short, if nobody runs the item for it any more, and
// nobody will, although its progress says so.
func (w *World) endLost(c *changes, r *jobtree.Request, i int) {
	item, p, f := w.Item(i), r.Progress(i), w.waiting(i)
	ops := w.cutProgress(i, forRequest(r), jobtree.OutcomeCut)
	switch {
	case !w.Rules.Monitor:
		if w.IsDead(p.Runner) {
			c.add(i, ops...)
		}
		return
	case item.Fired != nil && item.Fired.Modified > p.Modified && (item.Running != nil && !w.isJVM(w.runner(&item)) || item.Running == nil && item.Failovering == nil):
		ops = append(ops, w.ifUnclaimed(i, &item)) // it was claimed for something else since
	case item.Running == nil && item.Failovering == nil && w.IsDead(p.Runner): // who lives writes a record again that an external writer has removed
		ops = append(ops, coord.Absent(w.Job.Running(i)))
	case item.Running == nil && item.Failovering == nil && item.Fired != nil && item.Fired.Modified < p.Modified: // it had been put up to be run again
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

// skip returns the operations that note that an item is not run for a request, and why.
func (w *World) skip(r *jobtree.Request, item int, why string) []coord.Op {
	done := 0
	if p := r.Progress(item); p != nil {
		done = p.Done
	}
	return w.writeProgress(r, item, jobtree.ProgressDocument{Done: done, Outcome: jobtree.OutcomeSkipped, Ended: w.time(), Error: why})
}

// endThrough marks requests whose items are all through.
func (w *World) endThrough(c *changes) {
	for _, r := range w.Requests {
		if r.Err != nil || !r.Ended.IsZero() || slices.ContainsFunc(r.Items, func(i int) bool { return !r.IsThrough(i) }) {
			continue
		}
		d := r.RequestDocument
		d.Ended = w.time()
		if value, err := jobtree.EncodeRequest(d); err == nil { // it was read, so it can be written
			c.add(NoItem, coord.SetAt(w.Job.Request(r.ID), value, r.Version))
		}
	}
}

// dropRequests removes requests that have ended, and those that nobody can read. As long as an item runs
// for one that was cancelled, it stays: it says what the run is for. What is large
// goes in parts: first the progress, and nobody begins anew, because the request has ended.
func (w *World) dropRequests(c *changes) {
	const partly = 50
	kept, items := 0, 0
	for _, r := range slices.Backward(w.Requests) {
		if r.HasRunner() {
			continue
		}
		if r.Err == nil && (r.Ended.IsZero() || r.Kept && w.time().Sub(r.Ended) < keptTime) {
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
