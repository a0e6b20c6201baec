package modelstore

import (
	"bytes"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Commit does all of ops or none, as [coord.Registry] has it, in the name of a session:
// any number that was not given to [Store.Expire], or 0 for somebody who has none.
//
// Errors: ErrConflict (a *coord.ConflictError with the first op that does not hold),
// ErrSessionLost, ErrInvalidPath, ErrInvalidCommit, ErrTooLarge.
func (s *Store) Commit(session coord.SessionID, ops ...coord.Op) (revision int64, err error) {
	if err := coord.ValidateCommit(ops...); err != nil {
		return 0, fmt.Errorf("modelstore: commit: %w", err)
	}
	for _, op := range ops {
		needsSession := op.Kind == coord.OpCreateEphemeral || op.Kind == coord.OpOwned
		if needsSession && (session == 0 || s.ended[session]) {
			return 0, fmt.Errorf("modelstore: commit %s: session %d: %w", op.Path, session, coord.ErrSessionLost)
		}
	}
	tree := s.Snapshot()
	for i, op := range ops {
		if reason := check(tree, session, op); reason != nil {
			return 0, fmt.Errorf("modelstore: commit: %w", &coord.ConflictError{Index: i, Op: op, Reason: reason})
		}
	}
	if err := checkParents(tree, ops); err != nil {
		return 0, fmt.Errorf("modelstore: commit: %w", err)
	}
	var changes []change
	for _, op := range ops {
		switch op.Kind {
		case coord.OpCreate, coord.OpCreateEphemeral, coord.OpPut, coord.OpSet, coord.OpSetAt:
			revision = s.revision + 1
			changes = append(changes, write(tree, session, op, revision))
		case coord.OpDelete, coord.OpDeleteTree:
			for n := range tree.All(op.Path) {
				changes = append(changes, change{before: &n})
			}
		}
	}
	s.apply(changes)
	return revision, nil
}

// Plant puts a node as [coord.Put] does, and does so below an ephemeral node too: that is
// what a stranger can do on etcd, and others have to cope with.
//
// Errors: ErrInvalidPath, ErrTooLarge.
func (s *Store) Plant(path string, value []byte) error {
	op := coord.Put(path, value)
	if err := coord.ValidateCommit(op); err != nil {
		return fmt.Errorf("modelstore: plant: %w", err)
	}
	s.apply([]change{write(s.Snapshot(), 0, op, s.revision+1)})
	return nil
}

// check returns why op does not hold in the tree, or nil.
func check(tree coord.Snapshot, session coord.SessionID, op coord.Op) error {
	n, there := tree.Get(op.Path)
	switch op.Kind {
	case coord.OpPut, coord.OpDeleteTree:
		return nil
	case coord.OpCreate, coord.OpCreateEphemeral, coord.OpAbsent:
		if there {
			return coord.ErrNodeExists
		}
		return nil
	}
	switch {
	case !there:
		return coord.ErrNoNode
	case (op.Kind == coord.OpSetAt || op.Kind == coord.OpAtVersion) && n.Version != op.Version:
		return coord.ErrVersion
	case op.Kind == coord.OpOwned && n.Owner != session:
		return coord.ErrNotOwner
	case op.Kind == coord.OpDelete && len(tree.Children(op.Path)) > 0:
		return coord.ErrNotEmpty
	}
	return nil
}

// checkParents refuses to create a node below an ephemeral one.
func checkParents(tree coord.Snapshot, ops []coord.Op) error {
	ephemeral := map[string]bool{}
	for _, op := range ops {
		if op.Kind == coord.OpCreateEphemeral {
			ephemeral[op.Path] = true
		}
	}
	for i, op := range ops {
		if op.Kind != coord.OpCreate && op.Kind != coord.OpCreateEphemeral && op.Kind != coord.OpPut {
			continue
		}
		for path := coord.Parent(op.Path); path != ""; path = coord.Parent(path) {
			if n, _ := tree.Get(path); n.Ephemeral() || ephemeral[path] {
				return fmt.Errorf("%w: op %d (%s) is below %s, which is ephemeral", coord.ErrInvalidCommit, i, op, path)
			}
		}
	}
	return nil
}

// write returns what an op that holds does to its node.
func write(tree coord.Snapshot, session coord.SessionID, op coord.Op, revision int64) change {
	was, there := tree.Get(op.Path)
	after := was
	if there {
		after.Version++ // also of a parent that nobody wrote: every write changes the version
	}
	var before *coord.Node
	if was.Modified != 0 { // somebody wrote it
		before = &was
	} else {
		after.Path, after.Created = op.Path, revision
	}
	if op.Kind == coord.OpCreateEphemeral {
		after.Owner = session
	}
	after.Value, after.Modified = bytes.Clone(op.Value), revision
	return change{before: before, after: &after}
}
