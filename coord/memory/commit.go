package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Commit implements [coord.Registry].
func (r *Registry) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	if err := coord.ValidateCommit(ops...); err != nil {
		return 0, fmt.Errorf("memory: commit: %w", err)
	}
	c := call{method: Commit, path: ops[0].Path, ops: ops}
	needsSession := slices.ContainsFunc(ops, func(op coord.Op) bool { return op.Kind.NeedsSession() })
	r.store.mu.Lock()
	session := r.session // a commit belongs to the session in which it begins
	r.store.mu.Unlock()
	var revision int64
	err := r.call(ctx, c, func() (err error) {
		var l *lease
		if needsSession {
			if session == nil || r.store.leases[session.lease.id] == nil {
				return coord.ErrSessionLost
			}
			l = session.lease
		}
		revision, err = r.store.commit(r.ns, l, ops)
		return err
	})
	if err != nil {
		return 0, err
	}
	return revision, nil
}

// commit checks all ops against the tree as it is, and then does them.
func (s *Store) commit(ns *namespace, l *lease, ops []coord.Op) (int64, error) {
	for i, op := range ops {
		if reason := ns.check(l, op); reason != nil {
			return 0, &coord.ConflictError{Index: i, Op: op, Reason: reason}
		}
	}
	if err := ns.checkParents(ops); err != nil {
		return 0, err
	}
	t := step{store: s, ns: ns, lease: l, revision: s.revision + 1}
	var revision int64
	for _, op := range ops {
		switch op.Kind {
		case coord.OpCreate, coord.OpCreateEphemeral, coord.OpPut, coord.OpSet, coord.OpSetAt:
			t.write(op)
			revision = t.revision
		case coord.OpDelete, coord.OpDeleteTree:
			t.removeTree(op.Path)
		}
	}
	if len(t.written)+len(t.removed) > 0 {
		s.revision = t.revision
		s.changes++
		t.publish()
	}
	return revision, nil
}

// check returns why an op conflicts with the tree, or nil.
func (ns *namespace) check(l *lease, op coord.Op) error {
	e, exists := ns.entries[op.Path]
	switch op.Kind {
	case coord.OpCreate, coord.OpCreateEphemeral, coord.OpAbsent:
		if exists {
			return coord.ErrNodeExists
		}
		return nil
	case coord.OpPut, coord.OpDeleteTree:
		return nil
	}
	if !exists {
		return coord.ErrNoNode
	}
	switch op.Kind {
	case coord.OpSetAt, coord.OpAtVersion:
		if e.node.Version != op.Version {
			return coord.ErrVersion
		}
	case coord.OpDelete:
		if e.children > 0 {
			return coord.ErrNotEmpty
		}
	case coord.OpOwned:
		if e.node.Owner != l.id {
			return coord.ErrNotOwner
		}
	}
	return nil
}

// checkParents refuses nodes below an ephemeral one, as ZooKeeper does.
func (ns *namespace) checkParents(ops []coord.Op) error {
	var ephemeral []string
	for _, op := range ops {
		if op.Kind == coord.OpCreateEphemeral {
			ephemeral = append(ephemeral, op.Path)
		}
	}
	for i, op := range ops {
		switch op.Kind {
		case coord.OpCreate, coord.OpCreateEphemeral, coord.OpPut:
		default:
			continue
		}
		for _, path := range ephemeral {
			if path != op.Path && coord.Within(op.Path, path) {
				return fmt.Errorf("%w: op %d (%s) is below %s, which is ephemeral", coord.ErrInvalidCommit, i, op, path)
			}
		}
		for path := coord.Parent(op.Path); path != ""; path = coord.Parent(path) {
			if e, ok := ns.entries[path]; ok {
				if e.node.Ephemeral() {
					return fmt.Errorf("%w: op %d (%s) is below %s, which is ephemeral", coord.ErrInvalidCommit, i, op, path)
				}
				break
			}
		}
	}
	return nil
}

// step is one atomic change of a namespace, and what it has written and removed so far.
type step struct {
	store            *Store
	ns               *namespace
	lease            *lease
	revision         int64
	written, removed []string
}

func (t *step) write(op coord.Op) {
	e, exists := t.ns.entries[op.Path]
	if !exists {
		e = t.insert(op.Path)
	} else if e.node.Created != t.revision { // this step may have made it as a parent: then its version stays 0
		e.node.Version++
	}
	if op.Kind == coord.OpCreateEphemeral {
		e.node.Owner = t.lease.id
		t.lease.nodes[nodeKey{t.ns, op.Path}] = struct{}{}
	}
	e.node.Value = bytes.Clone(op.Value)
	e.node.Modified = t.revision
	t.ns.tree.Put(e.node)
	t.written = append(t.written, op.Path)
}

// insert adds a node and its missing parents, without values.
func (t *step) insert(path string) *entry {
	e := &entry{node: coord.Node{Path: path, Created: t.revision, Modified: t.revision}}
	t.ns.entries[path] = e
	t.ns.tree.Put(e.node)
	if parent := coord.Parent(path); parent != "" {
		above, exists := t.ns.entries[parent]
		if !exists {
			above = t.insert(parent)
		}
		above.children++
	}
	return e
}

func (t *step) removeTree(path string) {
	e, exists := t.ns.entries[path]
	if !exists {
		return
	}
	removed := []coord.Node{e.node}
	if e.children > 0 {
		removed = slices.Collect(t.ns.tree.Snapshot().All(path))
	}
	for _, n := range removed {
		if n.Ephemeral() {
			delete(t.store.leases[n.Owner].nodes, nodeKey{t.ns, n.Path})
		}
		t.ns.remove(n.Path)
		t.removed = append(t.removed, n.Path)
	}
}

// remove removes a single node, without its children.
func (ns *namespace) remove(path string) {
	delete(ns.entries, path)
	ns.tree.Delete(path)
	if parent, ok := ns.entries[coord.Parent(path)]; ok {
		parent.children--
	}
}

func (t *step) publish() {
	for _, path := range t.written {
		t.ns.notifyViews(path, t.store.changes)
	}
	for _, path := range t.removed {
		t.ns.notifyViews(path, t.store.changes)
	}
}
