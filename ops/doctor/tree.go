package doctor

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// denied is the symptom of something that this user may not read.
func denied(path string, err error) symptom {
	return symptom{Finding: Finding{
		Kind: RightsMissing, Severity: Critical, Path: path,
		Cause:   "this user may not read it, so nothing can be said about what is there: " + brief.Error(err).Error(),
		Advice:  "examine the namespace as a user that may read all of it, or give this one the rights of a reader",
		Command: "elasticjob store-roles",
	}}
}

// unreadable is the symptom of a node whose value cannot be read.
func unreadable(name string, n coord.Node, err error) symptom {
	return symptom{mark: n.Modified, Finding: Finding{
		Kind: DocumentUnreadable, Severity: Warning, Job: name, Path: brief.Cut(n.Path, coord.MaxPathLength),
		Cause:  "its value cannot be read: " + brief.Error(err).Error(),
		Advice: "find out who has written it; write it again by the command for it, or remove the node",
	}}
}

// stale is the symptom of a node that ends with a session, and belongs to none.
func stale(name, instance string, n coord.Node) symptom {
	return symptom{mark: n.Created, Finding: Finding{
		Kind: StaleNode, Severity: Warning, Job: name, Instance: brief.Text(instance), Path: n.Path,
		Cause:  "it should end with a session, and is persistent: somebody has written it by hand, or copied the tree with it",
		Advice: "remove the node",
	}}
}

// tooLarge is the symptom of nodes of a child of the namespace that are not read for their size.
func tooLarge(name string, s *jobtree.State) symptom {
	path, sum := "", 0
	for p, size := range s.TooLarge {
		if sum += size; path == "" || p < path {
			path = p
		}
	}
	return symptom{mark: int64(len(s.TooLarge)), Finding: Finding{
		Kind: NodeTooLarge, Severity: Warning, Job: name, Path: brief.Cut(path, coord.MaxPathLength),
		Cause:  fmt.Sprintf("%d nodes have %d bytes together, such as this one with %d: more than can be theirs, so they are not read", len(s.TooLarge), sum, s.TooLarge[path]),
		Advice: "find out who has written them, and remove them by the store's own tools",
	}}
}

// tooMany is the symptom of more nodes of a child of the namespace than are read.
func tooMany(name string, s *jobtree.State) symptom {
	group, sum := "", 0
	for g, nodes := range s.LeftOut {
		if sum += nodes; group == "" || g < group {
			group = g
		}
	}
	return symptom{mark: int64(sum), Finding: Finding{
		Kind: NodeTooLarge, Severity: Warning, Job: name, Path: brief.Cut(group, coord.MaxPathLength),
		Cause:  fmt.Sprintf("there are more nodes than can be the job's, so %d of them, such as some below this one, are not read", sum),
		Advice: "find out who has written them, and remove them by the store's own tools",
	}}
}

// checkTree finds nodes that are in the way, or that nobody can read.
func (w *world) checkTree(c *collector) {
	for _, d := range w.Debris {
		c.add(symptom{mark: d.Created, Finding: Finding{
			Kind: Debris, Severity: Warning, Job: w.name, Path: d.Path,
			Cause:  "it stands below a node that has no children, and keeps that from being removed",
			Advice: "find out who has written it, and remove it",
		}})
	}
	if w.UnusableNodes > 0 {
		c.add(symptom{mark: int64(w.UnusableNodes), Finding: Finding{
			Kind: UnusableName, Severity: Warning, Job: w.name,
			Cause:  fmt.Sprintf("%d nodes have names that no program can use, and are not looked at, such as %s", w.UnusableNodes, brief.Quote(w.Unusable)),
			Advice: "remove them by the store's own tools",
		}})
	}
	check := func(n coord.Node, err error) {
		if err != nil && w.TooLarge[n.Path] == 0 {
			c.add(unreadable(w.name, n, err))
		}
	}
	for _, id := range sortedKeys(w.Instances) {
		in := w.Instances[id]
		check(in.Node, in.Err)
		if in.Owner == 0 {
			c.add(stale(w.name, id, in.Node))
		}
	}
	for _, id := range sortedKeys(w.Sessions) {
		s := w.Sessions[id]
		check(s.Node, s.Err)
		if s.Owner == 0 {
			c.add(stale(w.name, id, s.Node))
		}
	}
	if w.Leader != nil && w.Leader.Owner == 0 {
		c.add(stale(w.name, w.Leader.ID, w.Leader.Node))
	}
	if w.Schedule != nil {
		check(w.Schedule.Node, w.Schedule.Err)
	}
	for _, i := range sortedKeys(w.Pins) {
		check(w.Pins[i].Node, w.Pins[i].Err)
	}
	for _, i := range sortedKeys(w.Kills) {
		check(w.Kills[i].Node, w.Kills[i].Err)
	}
	for _, r := range w.Requests {
		check(r.Node, r.Err)
	}
	for i := range w.Items {
		if fired := w.Items[i].Fired; fired != nil {
			check(fired.Node, fired.Err)
		}
	}
}
