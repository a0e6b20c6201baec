package memory

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Options of a store. The zero value is ready to use.
type Options struct {
	// Seed fixes the first revision and the first session id. With 0 they are random,
	// so that no test relies on small numbers.
	Seed uint64
	// Lag is how late views show what was committed. [Link.Lag] sets another lag for one
	// registry. Commits within one lag are shown together.
	Lag time.Duration
}

// Store is a simulated store. All methods may be called from any goroutine.
type Store struct {
	mu         sync.Mutex // guards all state of the store and of its registries; nobody waits while holding it
	namespaces map[string]*namespace
	leases     map[coord.SessionID]*lease
	registries map[*Registry]struct{}
	injected   []*Injection
	late       []*alarm // calls that a fault carries out late
	revision   int64
	changes    int64 // counts changes; unlike the revision, Restore does not put it back
	lastID     coord.SessionID
	lag        time.Duration
	offset     time.Duration // from the local clock to the store's
	down       bool
	closed     bool
	alarms     sync.WaitGroup // all alarms of the store itself; each registry has its own
}

// NewStore returns an empty store.
func NewStore(o Options) *Store {
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	random := rand.New(rand.NewPCG(o.Seed, o.Seed))
	return &Store{
		namespaces: map[string]*namespace{},
		leases:     map[coord.SessionID]*lease{},
		registries: map[*Registry]struct{}{},
		revision:   1 + random.Int64N(1<<40),
		lastID:     coord.SessionID(1 + random.Int64N(1<<40)),
		lag:        o.Lag,
	}
}

// Close stops the store's own timers: sessions that are not renewed do not expire any
// more. It closes no registry: whoever dialled one closes it.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	for _, l := range s.leases {
		l.expiry.stop()
	}
	for _, a := range s.late {
		a.stop()
	}
	for _, ns := range s.namespaces {
		for _, same := range ns.roots {
			for _, rt := range same {
				for _, group := range rt.lagging {
					group.due.stop()
				}
			}
		}
	}
	s.mu.Unlock()
	s.alarms.Wait()
}

// Revision returns the number of the last change.
func (s *Store) Revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// Sessions returns the number of sessions that the store holds.
func (s *Store) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.leases)
}

// Watches returns how many views are open. Each candidate of a latch has one.
func (s *Store) Watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for r := range s.registries {
		count += len(r.views)
	}
	return count
}

// Snapshot returns what a namespace holds now.
func (s *Store) Snapshot(namespace string) coord.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.namespace(namespace).snapshot()
}

func (s *Store) namespace(name string) *namespace {
	ns, ok := s.namespaces[name]
	if !ok {
		ns = &namespace{
			tree:    coord.NewTree(),
			entries: map[string]*entry{},
			roots:   map[string][]*root{},
		}
		s.namespaces[name] = ns
	}
	return ns
}

// namespace is one tree and those who follow it.
type namespace struct {
	entries map[string]*entry  // all nodes by path; parents always exist
	tree    *coord.Tree        // the same nodes, for snapshots
	shared  *coord.Snapshot    // of the tree as it is now; nil if nobody has asked since the last change
	roots   map[string][]*root // by path, one for each depth
}

type entry struct {
	node     coord.Node
	children int
}

// snapshot returns the tree as it is now. All who ask between two changes share one.
func (ns *namespace) snapshot() coord.Snapshot {
	if ns.shared == nil {
		snapshot := ns.tree.Snapshot()
		ns.shared = &snapshot
	}
	return *ns.shared
}

// lease is the store's side of a session.
type lease struct {
	id      coord.SessionID
	timeout time.Duration
	nodes   map[nodeKey]struct{}
	expiry  *alarm // armed only while no renewals come
}

type nodeKey struct {
	ns   *namespace
	path string
}

func (s *Store) newLease(timeout time.Duration) *lease {
	s.lastID++
	l := &lease{id: s.lastID, timeout: timeout, nodes: map[nodeKey]struct{}{}}
	s.leases[l.id] = l
	return l
}

// startExpiry makes a lease expire a time-out after its last renewal.
func (s *Store) startExpiry(l *lease, renewed time.Time) {
	if s.leases[l.id] != l || s.closed {
		return
	}
	l.expiry.stop()
	l.expiry = nil
	if s.down {
		return // a service that is down expires no lease; Up starts all time-outs again
	}
	l.expiry = s.arm(&s.alarms, time.Until(renewed.Add(l.timeout)), func() { s.endLease(l) })
}

// endLease removes a lease and its nodes, in one step.
func (s *Store) endLease(l *lease) {
	if s.leases[l.id] != l {
		return
	}
	l.expiry.stop()
	delete(s.leases, l.id)
	if len(l.nodes) == 0 {
		return
	}
	s.revision++
	s.changes++
	for key := range l.nodes {
		key.ns.remove(key.path)
	}
	for key := range l.nodes {
		key.ns.notifyViews(key.path, s.changes)
	}
}

// Expire ends a session at the store, as if its time-out had passed. The registry learns
// that from its next renewal. Expire reports whether there was such a session.
func (s *Store) Expire(id coord.SessionID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.leases[id]
	if !ok {
		return false
	}
	s.endLease(l)
	for r := range s.registries {
		if c := r.session; c != nil && c.lease == l && !c.noAnswers {
			c.expectRefusal()
		}
	}
	return true
}

// Disown ends a session for its registry, as somebody who removes its key on etcd: the cause is
// [coord.ErrSessionEnded], and its nodes stay until its time-out has passed. Disown reports whether a
// registry that reaches the store had such a session.
func (s *Store) Disown(id coord.SessionID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.registries {
		if c := r.session; c != nil && c.lease.id == id && r.reachable() && s.leases[id] != nil {
			r.loseBy(c, fmt.Errorf("%w: %w", coord.ErrSessionLost, coord.ErrSessionEnded))
			return true
		}
	}
	return false
}

// alarm is a timer whose action runs under the store's lock, and never after stop.
type alarm struct {
	timer *time.Timer
	owner *sync.WaitGroup
	over  bool // the action has run, or was stopped
}

// arm runs f after d. The owner's Wait waits for that, or for stop.
func (s *Store) arm(owner *sync.WaitGroup, d time.Duration, f func()) *alarm {
	a := &alarm{owner: owner}
	if s.closed && owner == &s.alarms {
		a.over = true
		return a
	}
	owner.Add(1)
	a.timer = time.AfterFunc(max(d, 0), func() {
		defer owner.Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		if !a.over {
			a.over = true
			f()
		}
	})
	return a
}

func (a *alarm) isOver() bool { return a.over }

// stop keeps the action from running, if it has not run yet. A nil alarm is allowed.
func (a *alarm) stop() {
	if a == nil || a.over {
		return
	}
	a.over = true
	if a.timer.Stop() {
		a.owner.Done()
	}
}
