// Package modelstore is a store that keeps the contract of package coord and nothing
// else: a commit, the end of a session, and a snapshot. It has no registries, views,
// time or faults. A test that plays them itself, such as a model of a cluster, decides
// so when and on which state every call happens.
//
// Its test plays the same random calls on it and on coord/memory, and compares the two.
// Where stores may differ it is like ZooKeeper in this: versions count from 0 in each
// life of a node, a commit creates nothing below an ephemeral node, and Create conflicts
// on a parent that nobody wrote. It is like etcd in one thing: a parent that nobody wrote
// is no node of its own. [coord.Snapshot.All] leaves it out, and it goes with the last
// node below it.
package modelstore

import "github.com/elasticjob-go/elasticjob/coord"

// Store is one namespace and the sessions that have ended. It is for one goroutine;
// its snapshots are for any.
type Store struct {
	// Written, if it is set, is told of each node that a commit or the end of a session
	// has written or removed. It is called when all of that is done. before is nil for a
	// node that was not there, after for one that is gone. It must not change the store,
	// or the nodes.
	Written func(before, after *coord.Node)

	tree     *coord.Tree
	revision int64
	ended    map[coord.SessionID]bool
}

// New returns an empty store.
func New() *Store {
	const first = 1000 // no revision that a test could take for a count
	return &Store{tree: coord.NewTree(), revision: first, ended: map[coord.SessionID]bool{}}
}

// Snapshot returns the tree as it is now.
func (s *Store) Snapshot() coord.Snapshot { return s.tree.Snapshot() }

// Revision returns the number of the last change. A commit that changes nothing, and the
// end of a session without nodes, have none.
func (s *Store) Revision() int64 { return s.revision }

// Expire ends a session for good: its ephemeral nodes go in one step.
func (s *Store) Expire(session coord.SessionID) {
	s.ended[session] = true
	var changes []change
	for n := range s.Snapshot().All("") {
		if n.Ephemeral() && n.Owner == session {
			changes = append(changes, change{before: &n})
		}
	}
	s.apply(changes)
}

// change is what happens to one node. A nil stands for a node that is not there.
type change struct{ before, after *coord.Node }

func (s *Store) apply(changes []change) {
	if len(changes) == 0 {
		return
	}
	s.revision++
	for _, c := range changes {
		if c.after != nil {
			s.tree.Put(*c.after)
		} else {
			s.tree.Delete(c.before.Path)
		}
	}
	if s.Written == nil {
		return
	}
	for _, c := range changes {
		s.Written(c.before, c.after)
	}
}
