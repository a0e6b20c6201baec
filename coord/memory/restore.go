package memory

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Saved is what a store held at some time. The zero value is that of a store to which
// nobody has written.
type Saved struct {
	revision   int64
	namespaces map[string]map[string]entry
	leases     map[coord.SessionID]time.Duration
}

// Save returns what the store holds, as a backup would.
func (s *Store) Save() Saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	saved := Saved{revision: s.revision, namespaces: map[string]map[string]entry{}, leases: map[coord.SessionID]time.Duration{}}
	for name, ns := range s.namespaces {
		entries := map[string]entry{}
		for path, e := range ns.entries {
			entries[path] = *e
		}
		saved.namespaces[name] = entries
	}
	for id, l := range s.leases {
		saved.leases[id] = l.timeout
	}
	return saved
}

// Restore puts the store back: nodes, revision and sessions are as they were when they
// were saved. Views show that. The sessions of all registries end with ErrRestored; where
// a link is broken that happens when it heals. Nodes of these sessions that are in the
// restored tree go when the sessions' time-outs have passed.
func (s *Store) Restore(saved Saved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision = saved.revision
	s.restoreLeases(saved)
	s.changes++
	for name := range saved.namespaces {
		s.namespace(name)
	}
	for name, ns := range s.namespaces {
		ns.replaceNodes(s, saved.namespaces[name])
	}
	for r := range s.registries {
		if r.session == nil {
			continue
		}
		if r.restored = true; r.reachable() {
			r.lose(r.session)
		}
	}
}

// restoreLeases replaces the sessions with the saved ones. Those that have ended since come back, and
// expire because nobody renews them.
func (s *Store) restoreLeases(saved Saved) {
	for id, l := range s.leases {
		clear(l.nodes)
		if _, ok := saved.leases[id]; !ok {
			l.expiry.stop()
			delete(s.leases, id)
		}
	}
	for id, timeout := range saved.leases {
		if s.leases[id] == nil {
			l := &lease{id: id, timeout: timeout, nodes: map[nodeKey]struct{}{}}
			s.leases[id] = l
			s.startExpiry(l, time.Now())
		}
	}
}

// replaceNodes replaces all nodes of the namespace. Views are notified of each node of before and
// after, because any may differ.
func (ns *namespace) replaceNodes(s *Store, entries map[string]entry) {
	before := ns.entries
	ns.entries, ns.tree = map[string]*entry{}, coord.NewTree()
	for path, e := range entries {
		ns.entries[path] = &e
		ns.tree.Put(e.node)
		if e.node.Ephemeral() {
			s.leases[e.node.Owner].nodes[nodeKey{ns, path}] = struct{}{}
		}
	}
	for path := range ns.entries {
		ns.notifyViews(path, s.changes)
	}
	for path := range before {
		ns.notifyViews(path, s.changes)
	}
}
