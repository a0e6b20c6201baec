package memory

import (
	"bytes"
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Commit implements [coord.Registry].
func (r *Registry) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	if err := coord.ValidateCommit(ops...); err != nil {
		return 0, fmt.Errorf("memory: commit: %w", err)
	}
	c := call{method: Commit, path: ops[0].Path, ops: ops}
	needsSession := false
	for _, op := range ops {
		needsSession = needsSession || op.Kind == coord.OpCreateEphemeral || op.Kind == coord.OpOwned
	}
	r.store.mu.Lock()
	session := r.session // the commit belongs to the session in which it begins
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
		t.publish()
	}
	return revision, nil
}

// check returns why a condition of op does not hold, or nil.
func (ns *namespace) check(l *lease, op coord.Op) error {
	n, exists := ns.tree.Get(op.Path)
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
		if n.Version != op.Version {
			return coord.ErrVersion
		}
	case coord.OpDelete:
		if ns.children[op.Path] > 0 {
			return coord.ErrNotEmpty
		}
	case coord.OpOwned:
		if n.Owner != l.id {
			return coord.ErrNotOwner
		}
	}
	return nil
}

// checkParents refuses what would get an ephemeral parent, as ZooKeeper does.
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
			if n, ok := ns.tree.Get(path); ok {
				if n.Ephemeral() {
					return fmt.Errorf("%w: op %d (%s) is below %s, which is ephemeral", coord.ErrInvalidCommit, i, op, path)
				}
				break
			}
		}
	}
	return nil
}

// step is one atomic change of a namespace.
type step struct {
	store            *Store
	ns               *namespace
	lease            *lease
	revision         int64
	written, removed []string
}

func (t *step) write(op coord.Op) {
	n, exists := t.ns.tree.Get(op.Path)
	switch {
	case !exists:
		t.insert(op.Path)
		n = coord.Node{Path: op.Path, Created: t.revision}
	case n.Created != t.revision: // else this step made it, as a parent
		n.Version++
	}
	if op.Kind == coord.OpCreateEphemeral {
		n.Owner = t.lease.id
		t.lease.nodes[nodeKey{t.ns, op.Path}] = struct{}{}
	}
	n.Value = bytes.Clone(op.Value)
	n.Modified = t.revision
	t.ns.tree.Put(n)
	t.written = append(t.written, op.Path)
}

// insert counts a new node and makes its parents.
func (t *step) insert(path string) {
	for {
		parent := coord.Parent(path)
		t.ns.children[parent]++
		if parent == "" {
			return
		}
		if _, ok := t.ns.tree.Get(parent); ok {
			return
		}
		t.ns.tree.Put(coord.Node{Path: parent, Created: t.revision, Modified: t.revision})
		path = parent
	}
}

func (t *step) removeTree(path string) {
	n, exists := t.ns.tree.Get(path)
	if !exists {
		return
	}
	doomed := []coord.Node{n}
	if t.ns.children[path] > 0 {
		doomed = doomed[:0]
		for n := range t.ns.tree.Snapshot().All(path) {
			doomed = append(doomed, n)
		}
	}
	for _, n := range doomed {
		if n.Ephemeral() {
			delete(t.store.leases[n.Owner].nodes, nodeKey{t.ns, n.Path})
		}
		t.ns.remove(n.Path)
		t.removed = append(t.removed, n.Path)
	}
}

// remove takes a single node out of the tree.
func (ns *namespace) remove(path string) {
	if !ns.tree.Delete(path) {
		return
	}
	parent := coord.Parent(path)
	if ns.children[parent]--; ns.children[parent] == 0 {
		delete(ns.children, parent)
	}
}

func (t *step) publish() {
	for _, path := range t.written {
		t.ns.touch(path, t.revision)
	}
	for _, path := range t.removed {
		t.ns.touch(path, t.revision)
		t.ns.gone(path)
	}
}

// gone fires the watches for the removal of a node.
func (ns *namespace) gone(path string) {
	watches := ns.watches[path]
	delete(ns.watches, path)
	for _, w := range watches {
		w.registry.deliver(w.fire)
	}
}
